"""The ledger's schema, one module a step, run by Alembic from ``resources/ledger/migrate.py``.

A fresh database runs them all; an older one runs what it lacks when a person says `fabric spine migrate`.
Each step is one transaction under the write lock, whole or not at all. A step may add tables, indexes and
walls; it must never touch a stored event, and a step that was released is never changed.
"""
