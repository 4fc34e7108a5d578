"""Artifact stores: content-addressed bytes, a local folder by default.

Implements ``fabric_dagster.artifacts.ports``. Must never hand out bytes that are not what their name says,
change stored bytes, follow a link, or leave a half-written file under a digest's name.
"""
