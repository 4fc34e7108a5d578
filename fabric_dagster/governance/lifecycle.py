"""The lifecycle of one exact graph, as a table: what may follow what.

Rules kept here:

* A state follows from signed events and this table alone; what a document or a caller says about a graph's
  state is read by nobody. An event that the table does not list, or that does not hold (``history.py``),
  changes nothing.
* Each step up is another verb by another identity (``separation.py``).
* ``suspended`` is a pause: the same commission goes on after ``graph.resumed``. ``revoked`` is the end of
  everything that stood: the graph is qualified, reviewed, certified, published and commissioned anew.
* The diagram in ``docs/`` is generated from this table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabric_dagster.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

LifecycleState = Literal[
    "candidate", "qualified", "certified", "published", "commissioned", "suspended", "revoked"
]

QUALIFIED = "graph.qualified"
CERTIFIED = "graph.certified"
PUBLISHED = "graph.published"
COMMISSIONED = "graph.commissioned"
SUSPENDED = "graph.suspended"
RESUMED = "graph.resumed"
REVOKED = "graph.revoked"

#: (state, event type) → state
LIFECYCLE: Mapping[tuple[LifecycleState, str], LifecycleState] = {
    ("candidate", QUALIFIED): "qualified",
    ("qualified", QUALIFIED): "qualified",
    ("qualified", CERTIFIED): "certified",
    ("certified", QUALIFIED): "certified",
    ("certified", CERTIFIED): "certified",
    ("certified", PUBLISHED): "published",
    ("certified", REVOKED): "revoked",
    # A new certificate beside what stands takes nothing away: what stands stays until it is replaced.
    ("published", QUALIFIED): "published",
    ("published", CERTIFIED): "published",
    ("published", PUBLISHED): "published",
    ("published", COMMISSIONED): "commissioned",
    ("published", REVOKED): "revoked",
    ("commissioned", QUALIFIED): "commissioned",
    ("commissioned", CERTIFIED): "commissioned",
    ("commissioned", PUBLISHED): "commissioned",
    ("commissioned", COMMISSIONED): "commissioned",
    ("commissioned", SUSPENDED): "suspended",
    ("commissioned", REVOKED): "revoked",
    ("suspended", QUALIFIED): "suspended",
    ("suspended", CERTIFIED): "suspended",
    ("suspended", PUBLISHED): "suspended",
    ("suspended", RESUMED): "commissioned",
    ("suspended", REVOKED): "revoked",
    ("revoked", QUALIFIED): "qualified",
}

#: event type → its verb, for people
VERBS: Mapping[str, str] = {
    QUALIFIED: "qualified",
    CERTIFIED: "certified",
    PUBLISHED: "published",
    COMMISSIONED: "commissioned",
    SUSPENDED: "suspended",
    RESUMED: "resumed",
    REVOKED: "revoked",
}

#: state → what a person does next, with ``{graph}`` for the reference
NEXT: Mapping[LifecycleState, str] = {
    "candidate": "`fabric qualify {graph}`",
    "qualified": "`fabric validator review {graph}` and `sign {graph}`, then `fabric certify {graph}`",
    "certified": "`fabric publish {graph}`",
    "published": "`fabric commission {graph} --scope FILE`",
    "commissioned": "`fabric run {graph} --ticket FILE`",
    "suspended": "`fabric resume {graph} --reason TEXT`, or `fabric revoke {graph} --reason TEXT`",
    "revoked": "`fabric qualify {graph}`: everything begins anew",
}


def follows(state: LifecycleState, event: str) -> LifecycleState | None:
    """The state after ``event``, or ``None`` where it may not follow."""
    return LIFECYCLE.get((state, event))


def require_step(state: LifecycleState, event: str, reference: str) -> None:
    """Refuse (``authority.lifecycle``) an act that may not follow the graph's state."""
    if follows(state, event) is None:
        verb = VERBS[event]
        raise Refused(
            "authority.lifecycle",
            f"a graph that is {state if state != 'candidate' else 'a candidate'} cannot be {verb}",
            where=reference,
            mend=f"next comes {NEXT[state].format(graph=reference)}",
        )
