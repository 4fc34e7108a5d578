"""Whether the parts of a pack fit each other: a table of checks over one loaded contract.

Each check yields its faults with the line in ``pack.yaml``; none stops another. What a graph is in itself
is ``fabric_dagster.graphs``' to say; whether a validator is installed is its registry's.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter, ValidationError

from fabric_dagster.capabilities.registry import capabilities, failure_codes
from fabric_dagster.contracts.importer_profile import ImporterProfile
from fabric_dagster.errors import Fault
from fabric_dagster.graphs.ranges import parse_range
from fabric_dagster.intelligence.decide import PLACEHOLDER, ROLE, decision_node, unity_path_fault
from fabric_dagster.intelligence.evidence import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fabric_dagster.contracts.expert_pack import DecisionRule, ExpertPack
    from fabric_dagster.contracts.skill_graph import Node, SkillGraph
    from fabric_dagster.documents import Path, Source
    from fabric_dagster.graphs.source import GraphSource

_CATEGORY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
_TEMPLATE_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.(psd|psb)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: input types whose values cannot hold a separator or a dot-dot, so that a path may be filled from them.
_PATH_SAFE = frozenset({"slug"})


class _Pack:
    """What every check looks at, and how it complains."""

    def __init__(
        self,
        pack: ExpertPack,
        source: Source,
        folder: str,
        graphs: Mapping[str, GraphSource],
        sops: Mapping[str, str],
    ) -> None:
        self.pack, self.source, self.folder, self.sops = pack, source, folder, sops
        self.graphs: Mapping[str, SkillGraph] = {name: read.graph for name, read in graphs.items()}

    def fault(self, code: str, what: str, at: Path, mend: str = "", value: Any = None) -> Fault:  # noqa: ANN401
        return Fault(f"pack.{code}", what, self.source.where(at), mend, None if value is None else str(value))


def pack_faults(
    pack: ExpertPack,
    source: Source,
    folder: str,
    graphs: Mapping[str, GraphSource],
    sops: Mapping[str, str],
) -> list[Fault]:
    """Every fault between the parts of ``pack``. ``sops`` holds only texts of the cited digest."""
    looked_at = _Pack(pack, source, folder, graphs, sops)
    return [fault for look in _CHECKS for fault in look(looked_at)]


def _identity(p: _Pack) -> Iterator[Fault]:
    if p.pack.name != p.folder:
        mend = "give both one name"
        yield p.fault("name_mismatch", f"the folder is called {p.folder!r}", ("name",), mend, p.pack.name)
    for application, text in p.pack.compatibility.items():
        try:
            parse_range(text)
        except ValueError as fault:
            at = ("compatibility", application)
            yield p.fault("bad_range", f"no version range: {fault}", at, "write '>=1,<2'", text)


def _names(p: _Pack) -> Iterator[Fault]:
    for category in p.pack.taxonomy:
        if not _CATEGORY.fullmatch(category):
            mend = "use lower-case words joined by dots"
            yield p.fault("bad_category", "this is no taxonomy id", ("taxonomy", category), mend, category)
    for name, template in p.pack.templates.items():
        if not _TEMPLATE_FILE.fullmatch(template.file):
            at = ("templates", name, "file")
            yield p.fault(
                "bad_template", "this is no PSD's plain file name", at, "write NAME.psd", template.file
            )


def _bindings(p: _Pack) -> Iterator[Fault]:
    bound = {binding.id for graph in p.graphs.values() for binding in graph.validators}
    for name in p.pack.checks:
        if name not in bound:
            mend = f"name one of: {', '.join(sorted(bound))}"
            yield p.fault(
                "unbound_check", "no graph of the pack binds this validator", ("checks", name), mend, name
            )
    known = failure_codes()
    for code in p.pack.failures:
        if code not in known:
            mend = "use a code that a registered capability declares"
            yield p.fault("unknown_failure", "no capability fails like this", ("failures", code), mend, code)


def _rules(p: _Pack) -> Iterator[Fault]:
    ids = [rule.id for rule in p.pack.rules]
    for index, rule in enumerate(p.pack.rules):
        at: Path = ("rules", index)
        if rule.id in ids[:index]:
            yield p.fault("duplicate_rule", "two rules have this id", (*at, "id"), "rename one", rule.id)
        graph = p.graphs.get(rule.graph)
        if graph is None:
            mend = f"use one of: {', '.join(p.graphs) or 'none loads'}"
            yield p.fault("unknown_graph", "the pack has no such graph", (*at, "graph"), mend, rule.graph)
            continue
        yield from _when(p, rule, graph, at)
        yield from _outputs(p, rule, graph, at)
        yield from _sizes(p, rule, graph, at)


def _when(p: _Pack, rule: DecisionRule, graph: SkillGraph, at: Path) -> Iterator[Fault]:
    for key, value in rule.when.items():
        field = graph.inputs.get(key)
        if field is None:
            mend = f"use one of: {', '.join(graph.inputs)}"
            yield p.fault("unknown_input", f"the graph has no input {key!r}", (*at, "when", key), mend, key)
        elif field.type == "taxonomy_id" and value not in p.pack.taxonomy:
            mend = f"use one of: {', '.join(p.pack.taxonomy)}"
            yield p.fault("unknown_category", "the taxonomy has no such id", (*at, "when", key), mend, value)


def _outputs(p: _Pack, rule: DecisionRule, graph: SkillGraph, at: Path) -> Iterator[Fault]:
    node = decision_node(graph)
    if node is None:
        what = f"{rule.graph} has no node that decides"
        yield p.fault("undecided_graph", what, (*at, "graph"), "remove the rule", rule.graph)
        return
    for name in node.outputs:
        if name not in rule.decide:
            what = f"rule {rule.id!r} does not decide {name!r}, which {rule.graph} asks for"
            yield p.fault("undecided_output", what, (*at, "decide"), f"add '{name}: …'")
    for name, value in rule.decide.items():
        place = (*at, "decide", name)
        if (kind := node.outputs.get(name)) is None:
            what = f"{rule.graph} asks for no {name!r}"
            yield p.fault("unknown_output", what, place, f"use only: {', '.join(node.outputs)}", name)
        else:
            yield from _decided(p, rule, graph, kind, value, place)


def _sizes(p: _Pack, rule: DecisionRule, graph: SkillGraph, at: Path) -> Iterator[Fault]:
    """A decided preset exports what the decided profile takes."""
    node = decision_node(graph)
    kinds = {kind: name for name, kind in node.outputs.items()} if node else {}
    decided = {kind: rule.decide.get(kinds.get(kind, "")) for kind in ("preset", "profile")}
    preset = p.pack.presets.get(str(decided["preset"]), {})
    width, height = preset.get("width"), preset.get("height")
    try:
        profile = ImporterProfile.model_validate(p.pack.profiles.get(str(decided["profile"]), {}))
    except ValidationError:
        return  # complained of where the profile stands
    if not (isinstance(width, int) and isinstance(height, int)):
        return
    if why := "; ".join(profile.dimensions.faults(width, height)):
        what = f"{width} x {height} is nothing that profile {decided['profile']!r} takes: {why}"
        mend = "decide a preset and a profile that fit each other"
        yield p.fault("preset_misfits", what, (*at, "decide", kinds["preset"]), mend, decided["preset"])


def _decided(
    p: _Pack,
    rule: DecisionRule,
    graph: SkillGraph,
    kind: str,
    value: Any,  # noqa: ANN401 - whatever the YAML holds
    at: Path,
) -> Iterator[Fault]:
    node = decision_node(graph)
    named = next((rule.decide.get(n) for n, k in node.outputs.items() if k == "psd"), None) if node else None
    template = p.pack.templates.get(named) if isinstance(named, str) else None
    tables: dict[str, tuple[Mapping[str, Any], str]] = {
        "psd": (p.pack.templates, "template"),
        "preset": (p.pack.presets, "preset"),
        "profile": (p.pack.profiles, "profile"),
    }
    if kind in tables:
        table, word = tables[kind]
        if not isinstance(value, str) or value not in table:
            mend = f"use one of: {', '.join(table)}"
            yield p.fault(f"unknown_{word}", f"the pack has no such {word}", at, mend, value)
    elif kind == "layer":
        role = value.removeprefix(ROLE) if isinstance(value, str) and value.startswith(ROLE) else None
        if template is not None and role not in template.roles:
            mend = f"write role:NAME with one of: {', '.join(template.roles)}"
            yield p.fault("unknown_role", f"template {named!r} has no such role", at, mend, value)
    elif isinstance(value, str):
        yield from _placeholders(p, graph, kind, value, at)


def _placeholders(p: _Pack, graph: SkillGraph, kind: str, value: str, at: Path) -> Iterator[Fault]:
    if set(PLACEHOLDER.sub("", value)) & set("{}"):
        yield p.fault("bad_placeholder", "a brace stands alone", at, "write {input_name}", value)
        return
    for name in PLACEHOLDER.findall(value):
        field = graph.inputs.get(name)
        if field is None or not field.required:
            mend = f"use one of: {', '.join(n for n, f in graph.inputs.items() if f.required)}"
            yield p.fault("unknown_placeholder", f"no required input is called {name!r}", at, mend, value)
        elif kind == "unity_path" and field.type not in _PATH_SAFE:
            what = f"a path is not filled from {name!r}, which is a {field.type}"
            yield p.fault("unsafe_placeholder", what, at, "use an input of type slug", value)
    if kind == "unity_path" and (why := unity_path_fault(PLACEHOLDER.sub("x", value))):
        yield p.fault("bad_path", f"the decided path is refused: {why}", at, "write Assets/…", value)


def _exclusive(p: _Pack) -> Iterator[Fault]:
    for (_, first), (index, second) in combinations(enumerate(p.pack.rules), 2):
        shared = set(first.when) & set(second.when)
        if first.graph == second.graph and all(first.when[key] == second.when[key] for key in shared):
            what = f"rules {first.id!r} and {second.id!r} can both apply to one ticket"
            yield p.fault("rules_overlap", what, ("rules", index, "when"), "make them exclude each other")


def _evidence(p: _Pack) -> Iterator[Fault]:
    for index, rule in enumerate(p.pack.rules):
        for number, evidence in enumerate(rule.evidence):
            at: Path = ("rules", index, "evidence", number)
            if evidence.citation not in p.pack.citations:
                mend = f"use one of: {', '.join(p.pack.citations)}"
                place = (*at, "citation")
                yield p.fault(
                    "unknown_citation", "the pack cites no such text", place, mend, evidence.citation
                )
            elif evidence.citation in p.sops and not holds(evidence, p.sops):
                what = f"the quote does not stand in {p.pack.citations[evidence.citation].file}"
                mend = "quote a sentence word for word"
                yield p.fault("evidence_missing", what, (*at, "quote"), mend, evidence.quote)


def _presets(p: _Pack) -> Iterator[Fault]:
    for kind, table in (("presets", p.pack.presets), ("profiles", p.pack.profiles)):
        for name in table:
            if not _NAME.fullmatch(name):
                yield p.fault("bad_name", "this is no plain name", (kind, name), "use a-z, 0-9 and _", name)


def _typed(p: _Pack) -> Iterator[Fault]:
    """Roles, presets and profiles against the very arguments that the graphs' decisions feed."""
    for (kind, _), adapter in sorted(_fed_arguments(p).items()):
        for at, value in _of_kind(p.pack, kind):
            try:
                adapter.validate_python(value)
            except ValidationError as fault:
                for problem in fault.errors(include_url=False):
                    place = (*at, *(step for step in problem["loc"] if step in value))
                    found = problem.get("input")
                    shown = None if isinstance(found, dict | list) else found
                    name = ".".join(str(step) for step in problem["loc"] if step in value)
                    what = f"{name}: {problem['msg']}" if name else str(problem["msg"])
                    yield p.fault(f"bad_{kind}", what, place, f"see the arguments that take a {kind}", shown)


def _of_kind(pack: ExpertPack, kind: str) -> Iterator[tuple[Path, Any]]:
    if kind == "layer":
        for name, template in pack.templates.items():
            yield from ((("templates", name, "roles", role), layer) for role, layer in template.roles.items())
    else:
        table = pack.presets if kind == "preset" else pack.profiles
        yield from (((f"{kind}s", name), value) for name, value in table.items())


def _fed_arguments(p: _Pack) -> dict[tuple[str, str], TypeAdapter[Any]]:
    """(kind, annotation) → adapter, of every argument that takes a decided layer, preset or profile."""
    found: dict[tuple[str, str], TypeAdapter[Any]] = {}
    for graph in p.graphs.values():
        deciding = decision_node(graph)
        for node in graph.nodes:
            declared = capabilities().get(node.capability)
            for name, argument in node.args.items():
                kind = _decided_kind(deciding, argument)
                field = declared.arguments.model_fields.get(name) if declared else None
                if kind in {"layer", "preset", "profile"} and field is not None:
                    # A pack gives the thing itself; the name of a built-in is for plans written by hand.
                    options = [o for o in get_args(field.annotation) if o is not str] or [field.annotation]
                    found[kind, str(options[0])] = TypeAdapter(options[0])
    return found


def _decided_kind(deciding: Node | None, argument: Any) -> str:  # noqa: ANN401 - any YAML value
    reference = argument.get("$ref") if isinstance(argument, dict) else None
    if deciding is None or not isinstance(reference, str):
        return ""
    source, _, name = reference.partition(".")
    return deciding.outputs.get(name, "") if source == deciding.id else ""


_CHECKS: tuple[Callable[[_Pack], Iterator[Fault]], ...] = (
    _identity,
    _names,
    _bindings,
    _presets,
    _typed,
    _rules,
    _exclusive,
    _evidence,
)
