"""The law: what a run may do, in which order, and what counts as proof.

Plain Python. No Dagster, no network, no application files in any room but the four named below.
``definitions.py`` (the composition root), ``cli/`` and ``defs/`` sit here by Dagster's convention
and are not law: they may import every room, and nothing imports them.
"""

__version__ = "0.1.0"
