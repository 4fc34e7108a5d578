"""Puts the hands together: a home's ledger, artifact store, keys and providers as the supervisor's services.

Plain Python, used by the command line and by Dagster's steps alike; only ``dagster.py`` here imports
Dagster. Holds no rules of its own, decides nothing, and is never handed the validator's key.
"""
