"""The signed event log: what an event's bytes are, and what makes a chain of them sound.

``ports.py`` says what the law asks of a store, ``events.py`` makes and opens events, ``checkpoints.py`` the
signed heads that lie outside the store. Pure functions over bytes. Must never open a database or a file,
re-canonicalise what was signed, or skip an event that it cannot read.
"""
