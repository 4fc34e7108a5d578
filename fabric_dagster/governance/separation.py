"""Separation of duties: the acts that lead to execution come of different identities and different keys.

Rules kept here:

* Builder, validator, certifier, publisher and commissioner of one graph are five identities with five keys.
  Roles may be shared by an identity; acts on one graph may not.
* The runtime holds none of these roles; the trust root does not parse where it does (``trust.py``).
"""

from __future__ import annotations

from fabric_dagster.errors import Refused

#: (identity, keyid) of whoever did an act
Who = tuple[str, str]


def separate(**acts: Who) -> None:
    """Refuse (``authority.same_identity``) where two acts come of one identity or one key."""
    seen: dict[str, str] = {}
    for act, names in acts.items():
        for name in names:
            other = seen.setdefault(name, act)
            if other != act:
                raise Refused(
                    "authority.same_identity",
                    f"{act} and {other} are one: {names[0]}",
                    mend="let another identity do it: nobody promotes what they made",
                )


def separated(**acts: Who) -> bool:
    """Whether all acts come of different identities with different keys."""
    try:
        separate(**acts)
    except Refused:
        return False
    return True
