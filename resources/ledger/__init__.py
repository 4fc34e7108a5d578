"""The ledger: the event spine's store on SQLAlchemy Core, in SQLite or PostgreSQL.

``database.py`` opens either and takes its write lock, ``migrations`` makes the one table, ``store.py`` is the
event store, ``verify.py`` proves it, ``anchors.py`` keeps signed heads outside, ``bundles.py`` hands it on.
Plain Python; only a ``dagster.py`` would import Dagster. Must never change or delete a row, hand out an event
that it did not prove, or begin a new log where an anchor knows of an old one.
"""
