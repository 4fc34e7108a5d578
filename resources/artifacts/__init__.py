"""Artifact stores: content-addressed bytes, in a local folder or at any URL of fsspec.

Implements ``fabric_dagster.artifacts.ports``; ``place.py`` opens the store of a workspace and branch,
``collect.py`` removes what nothing refers to. Must never hand out bytes that are not what their name says,
change stored bytes, follow a link, leave a half-written file under a digest's name, or remove what an event
of any branch refers to.
"""
