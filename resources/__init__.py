"""The hands: everything that touches the outside, each behind a port that the law defines.

One folder a port; ``home.py`` says where things are, ``keys.py`` holds the identities' keys. Plain Python:
only a ``dagster.py`` imports Dagster. Must never decide who may do what, or believe its own success.
"""
