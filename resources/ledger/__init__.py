"""The ledger: the event spine's store on SQLAlchemy Core, SQLite by default.

``database.py`` opens the database and takes its write lock, ``schema.py`` is the one table, ``store.py`` the
event store over both, ``checkpoint.py`` the signed head beside them. Plain Python; only a ``dagster.py``
would import Dagster. Must never change or delete a row, or hand out an event that it did not prove.
"""
