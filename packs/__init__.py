"""The knowledge: one folder an Expert Pack, found by its ``pack.yaml``; adding a pack is adding a folder.

Data first: YAML, cited SOP texts, example tickets, corpora; Python only where a pack's own validator needs
it, under ``validators/``. Nothing here is executed as prose, nothing here grants authority, and nothing here
touches an application, a network or a person's files.
"""
