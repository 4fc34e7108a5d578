"""One issue and one graph in, one typed ticket out; or every fault of it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, TypeAlias

from fabric_dagster.contracts.skill_graph import SkillGraph
from fabric_dagster.contracts.ticket import Ticket, TicketFile
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError, Fault, InvalidDocument
from fabric_dagster.tickets.fence import MARKER, MAX_FAULTS, Fence, open_fence
from fabric_dagster.tickets.files import read_at_most
from fabric_dagster.tickets.inputs import complaints, key_faults
from fabric_dagster.tickets.pictures import prove_whole, recognise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fabric_dagster.contracts.expert_pack import ExpertPack
    from fabric_dagster.tickets.files import TicketFiles
    from fabric_dagster.tickets.issue import Issue


#: The inputs that are sound so far → (key, code, what, mend) of whatever else is wrong with them.
MoreRules: TypeAlias = "Callable[[Mapping[str, str]], Iterable[tuple[str, str, str, str]]]"


def named_graph(issue: Issue) -> str:
    """``Name@MAJOR`` that the issue's block names, so that the caller can find graph and pack.

    Raises ``InvalidDocument`` where there is no one block, or it names no graph.
    """
    fence = open_fence(issue)
    if fence.reference is None:
        raise InvalidDocument.of(fence.faults[:MAX_FAULTS])
    return fence.reference


def unknown_graph(issue: Issue, fault: InvalidDocument) -> FabricError:
    """What a ticket is refused with when no pack knows its graph: ``fault``'s words, at the block's line."""
    fence = open_fence(issue)
    unknown = Fault(
        "ticket.unknown_graph", fault.faults[0].what, fence.where(), fault.faults[0].mend, fence.reference
    )
    return InvalidDocument.of(_ordered([*fence.faults, unknown]))


def parse_ticket(
    issue: Issue,
    graph: SkillGraph,
    pack: ExpertPack,
    files: TicketFiles,
    served: frozenset[str] | None,
    also: MoreRules | None = None,
) -> Ticket:
    """The ticket for ``graph`` in ``issue``. Raises ``InvalidDocument`` with all faults at once.

    ``served`` holds the capability ids that the providers at hand serve; ``None`` leaves that unchecked.
    ``also`` looks at the inputs that are sound so far (``intelligence.targets.project_rules``).
    """
    fence = open_fence(issue)
    faults = list(fence.faults)
    if fence.reference is not None and fence.reference != graph.reference:
        what, mend = f"the block is for another graph than {graph.reference}", "file it for its own workflow"
        faults.append(Fault("ticket.other_graph", what, fence.where(), mend, fence.reference))
        raise InvalidDocument.of(_ordered(faults))  # its keys are another graph's business
    given = {key: value for key, value in fence.values.items() if key != MARKER}
    meant = {_spelling(key): value for key, value in given.items() if key in fence.spoiled}
    known = {key: value for key, value in given.items() if key not in fence.spoiled}
    faults += key_faults({**meant, **known}, graph.inputs, fence.where)
    sound = {key: value for key, value in given.items() if key not in fence.tainted}
    inputs, found, more = check_inputs(sound, graph, pack, files, served, fence)
    faults += [*more, *_cut_off(fence, graph)]
    for key, code, what, mend in also(inputs) if also is not None else ():
        faults.append(Fault(code, f"key {key!r}: {what}", fence.where(key), mend, inputs.get(key)))
    if faults:
        raise InvalidDocument.of(_ordered(faults))
    return Ticket(
        schema_="fabric.ticket.v1",
        key=issue.key,
        summary=issue.summary,
        graph=graph.reference,
        inputs=inputs,
        files=found,
    )


def check_inputs(
    values: Mapping[str, Any],
    graph: SkillGraph,
    pack: ExpertPack,
    files: TicketFiles,
    served: frozenset[str] | None,
    fence: Fence | None = None,
    *,
    look: bool = True,
) -> tuple[dict[str, str], dict[str, TicketFile], list[Fault]]:
    """Type the known keys among ``values``: (inputs, files, faults).

    With ``look=False`` paths are only checked for how they are spelled, and no file is opened.
    """
    inputs: dict[str, str] = {}
    found: dict[str, TicketFile] = {}
    faults: list[Fault] = []
    where = fence.where if fence is not None else lambda key=None: key or ""
    for key, value in values.items():
        rule = graph.inputs.get(key)
        if rule is None:
            continue
        wrong = list(complaints(value, rule, pack))
        if rule.requires is not None and served is not None and rule.requires not in served:
            what = f"no provider here serves {rule.requires}, which this key needs"
            wrong.append(("ticket.capability_unavailable", what, "remove the key"))
        faults += [
            Fault(code, f"key {key!r}: {what}", where(key), mend, str(value)) for code, what, mend in wrong
        ]
        if wrong:
            continue
        inputs[key] = value if rule.type == "picture" else unicodedata.normalize("NFC", value)
        if rule.type == "picture":
            try:
                files.check_spelling(value)
                if look:
                    found[key] = read_picture(value, pack, files)
            except InvalidDocument as fault:
                faults += [
                    Fault(f.code, f"key {key!r}: {f.what}", where(key), f.mend, value) for f in fault.faults
                ]
    return inputs, found, faults


def read_picture(value: str, pack: ExpertPack, files: TicketFiles) -> TicketFile:
    """The picture that ``value`` names, proven to be what its name says, whole, and within the limits."""
    limits = pack.pictures
    data = read_at_most(files.resolve(value), limits.max_bytes)
    if len(data) > limits.max_bytes:
        raise _too_large(f"it has more than {limits.max_bytes} bytes")
    facts = recognise(data)
    named = value.rpartition(".")[2].casefold() if "." in value else ""
    if facts.format not in limits.formats or named != facts.format:
        raise InvalidDocument(
            "ticket.file_format",
            f"its bytes are {facts.format.upper()}, its name says {named or 'nothing'!r}",
            mend=f"use a {' or '.join(f.upper() for f in limits.formats)} file with its own ending",
        )
    if facts.width * facts.height > limits.max_pixels:
        raise _too_large(
            f"it has {facts.width}x{facts.height} pixels; at most {limits.max_pixels} are allowed"
        )
    if min(facts.width, facts.height) < limits.min_side:
        raise InvalidDocument(
            "ticket.file_too_small",
            f"it is {facts.width}x{facts.height} pixels; each side needs at least {limits.min_side}",
            mend="deliver the art larger",
        )
    prove_whole(data, facts)
    return TicketFile(
        path=value,
        digest=digest_bytes(data),
        size=len(data),
        format=facts.format,
        width=facts.width,
        height=facts.height,
    )


def _too_large(what: str) -> InvalidDocument:
    return InvalidDocument("ticket.file_too_large", what, mend="deliver the art smaller")


def _cut_off(fence: Fence, graph: SkillGraph) -> list[Fault]:
    """Text that a ``#`` cuts off: YAML reads a comment there, its author may not have meant one."""
    return [
        Fault(
            "ticket.cut_off",
            f"key {key!r}: ' #' begins a comment, so the text ends before it",
            fence.where(key),
            "quote the text if it holds a '#', or give the comment a line of its own",
            str(fence.values.get(key)),
        )
        for key in sorted(fence.commented)
        if (rule := graph.inputs.get(key)) is not None and rule.type == "text"
    ]


def _spelling(key: str) -> str:
    """A spoiled key without what spoiled it."""
    return "".join(c for c in key if c.isascii() and (c.isalnum() or c == "_"))


def _ordered(faults: list[Fault]) -> list[Fault]:
    """By line of the block; no more than people read."""

    def line(fault: Fault) -> int:
        tail = fault.where.rpartition(":")[2]
        return int(tail) if tail.isdigit() else 0

    kept = sorted(faults, key=line)
    if len(kept) <= MAX_FAULTS:
        return kept
    rest = len(kept) - MAX_FAULTS
    return [*kept[:MAX_FAULTS], Fault("ticket.more_faults", f"and {rest} more faults", kept[0].where)]
