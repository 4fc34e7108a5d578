"""The supervisor: one governed run, exactly once, across applications.

Holds the run's state machine (tables), the seven steps around every sealed partition, the controls
between partitions, judging by the independent validator, and reconciliation. It talks to the outside
through ``ports.py`` only and never imports Dagster; it holds no validator key.
"""
