"""Asset Intelligence: what an Expert Pack knows, and the decisions that follow from it.

Loads a pack's folder whole and names every fault with file and line; decides template, destination and
profiles by the one rule whose cited evidence holds word for word. Data only: it never executes prose,
never imports a pack's Python, never guesses where no rule applies, and never writes.
"""

from fabric_dagster.intelligence.decide import Decision, decide
from fabric_dagster.intelligence.packs import LoadedPack, load_pack

__all__ = ["Decision", "LoadedPack", "decide", "load_pack"]
