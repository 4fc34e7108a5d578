"""A frozen corpus: tickets of a pack and what must come of each, without writing anything.

``corpora/NAME.yaml`` lists cases. The corpus' digest covers the list and the bytes of every ticket and
attachment that its cases name, so results are bound to exactly what was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Document
from fabric_dagster.digests import digest_of
from fabric_dagster.documents import check, load_yaml
from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from fabric_dagster.intelligence.packs import LoadedPack

FOLDER = "corpora"


class Expectation(Contract):
    """Either a decision (``rule`` and any of its ``values``) or the codes of a refusal."""

    rule: str | None = None
    values: dict[str, Any] = Field(default_factory=dict)
    #: exactly the codes with which the ticket is refused, sorted; empty for an accepted one.
    refused: tuple[str, ...] = Field(default=(), strict=False)


class Case(Contract):
    """One ticket file of the pack, as a POSIX path in its folder."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")
    ticket: str
    expect: Expectation


class Corpus(Document):
    """The cases for one graph."""

    SCHEMA: ClassVar[str] = "fabric.qualification-corpus.v1"

    schema_: Literal["fabric.qualification-corpus.v1"] = Field(alias="schema")
    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")
    graph: str
    description: str = ""
    cases: tuple[Case, ...] = Field(min_length=1, strict=False)


def corpus_names(pack: LoadedPack) -> tuple[str, ...]:
    """The corpora that the pack holds."""
    prefix, suffix = f"{FOLDER}/", ".yaml"
    return tuple(
        p[len(prefix) : -len(suffix)] for p in pack.files if p.startswith(prefix) and p.endswith(suffix)
    )


def load_corpus(pack: LoadedPack, name: str = "qualification") -> Corpus:
    """The corpus ``name`` of ``pack``. Raises ``InvalidDocument`` with every fault and its line."""
    path = f"{FOLDER}/{name}.yaml"
    if path not in pack.files:
        known = ", ".join(corpus_names(pack)) or "none"
        raise InvalidDocument(
            "corpus.unknown", f"pack {pack.pack.name!r} has no corpus {name!r}", mend=f"it has: {known}"
        )
    source = load_yaml((pack.folder / path).read_bytes(), f"{pack.folder.name}/{path}")
    corpus = check(Corpus, source)
    faults = []
    if corpus.graph not in pack.graphs:
        what, at = "the pack has no such graph", source.where(("graph",))
        faults.append(
            Fault("corpus.unknown_graph", what, at, f"use one of: {', '.join(pack.graphs)}", corpus.graph)
        )
    rules = {rule.id for rule in pack.pack.rules if rule.graph == corpus.graph}
    ids = [case.id for case in corpus.cases]
    for index, case in enumerate(corpus.cases):
        at = source.where(("cases", index, "ticket"))
        if case.id in ids[:index]:
            faults.append(Fault("corpus.duplicate_case", "two cases have this id", at, "rename one", case.id))
        if case.ticket not in pack.files:
            faults.append(Fault("corpus.missing_ticket", "the pack holds no such file", at, "", case.ticket))
        if (case.expect.rule is None) == (not case.expect.refused):
            what = "a case expects either a rule or a refusal"
            faults.append(Fault("corpus.bad_case", what, at, "give 'rule' or 'refused'", case.id))
        if case.expect.rule is not None and case.expect.rule not in rules:
            what = "the pack has no such rule for this graph"
            faults.append(
                Fault("corpus.unknown_rule", what, at, f"use one of: {', '.join(rules)}", case.expect.rule)
            )
    if faults:
        raise InvalidDocument.of(faults)
    return corpus


def corpus_digest(pack: LoadedPack, corpus: Corpus) -> str:
    """Identity of the cases together with the files in their tickets' folders."""
    folders = {"".join(case.ticket.rpartition("/")[:2]) for case in corpus.cases}
    files = {path: digest for path, digest in pack.files.items() if path.startswith(tuple(folders))}
    return digest_of(Corpus.SCHEMA, {"corpus": corpus.digest, "files": files})
