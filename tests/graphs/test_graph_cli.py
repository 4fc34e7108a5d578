"""``fabric graph`` and ``fabric schema``: what they print, and how they end."""

from __future__ import annotations

import json
import shutil

import pytest
from jsonschema import Draft202012Validator

from fabric_dagster.capabilities import registry as registry_module
from fabric_dagster.cli.main import main
from fabric_dagster.contracts import documents


@pytest.fixture
def fabric(monkeypatch, registry, capsys):
    """Runs the program with the tests' registry; answers exit code, standard output, standard error."""
    monkeypatch.setattr(registry_module, "capabilities", lambda: registry)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def packs(tmp_path, good_bytes):
    """A packs folder with one valid graph, one that is broken and one that is no graph."""
    folder = tmp_path / "packs" / "sample" / "graphs"
    folder.mkdir(parents=True)
    (folder / "good.yaml").write_bytes(good_bytes)
    broken = good_bytes.replace(b"name: ExportAndImport", b"name: Broken").replace(b"1.2.0", b"1.2")
    (folder / "broken.yaml").write_bytes(broken)
    (folder / "noise.yaml").write_bytes(b"\xff")
    return folder.parents[1]


def test_show_prints_nodes_partitions_validators_recovery_and_digest(fabric, packs):
    """A person sees the whole graph in one table each, with its digest."""
    code, out, err = fabric("graph", "show", "ExportAndImport@1", "--packs", packs)
    assert (code, err) == (0, "")
    for part in ("ExportAndImport@1", "sha256:", "photoshop_1", "png_valid@1", "photoshop.worker_died"):
        assert part in out


def test_show_reads_the_same_graph_from_a_file(fabric, packs):
    """A reference and its file give the same JSON document, and nothing else on standard output."""
    _, by_name, _ = fabric("graph", "show", "ExportAndImport@1", "--packs", packs, "--json")
    _, by_file, _ = fabric("graph", "show", packs / "sample" / "graphs" / "good.yaml", "--json")
    document = json.loads(by_name)
    assert document == json.loads(by_file)
    assert [part["id"] for part in document["partitions"]] == [
        "brief",
        "decision",
        "photoshop_1",
        "handoff",
        "unity_1",
        "verdict",
    ]


def test_seal_prints_the_graphs_and_the_nodes_digests(fabric, packs):
    """Sealing shows the digest that ``show`` shows, and writes nothing."""
    before = sorted(packs.rglob("*"))
    _, out, _ = fabric("graph", "seal", "ExportAndImport@1", "--packs", packs, "--json")
    _, shown, _ = fabric("graph", "show", "ExportAndImport@1", "--packs", packs, "--json")
    sealed = json.loads(out)
    assert json.loads(shown)["digest"] == sealed["digest"]
    assert set(sealed["nodes"]) == {"brief", "decision", "open", "export", "handoff", "import", "verdict"}
    assert before == sorted(packs.rglob("*"))
    code, text, _ = fabric("graph", "seal", "ExportAndImport@1", "--packs", packs)
    assert (code, sealed["digest"] in text) == (0, True)


def test_compile_prints_the_plan_templates(fabric, packs):
    """Each application partition has its operations, references kept."""
    _, out, _ = fabric("graph", "compile", "ExportAndImport@1", "--packs", packs, "--json")
    (part,) = [item for item in json.loads(out)["partitions"] if item["id"] == "photoshop_1"]
    assert part["template"]["operations"][0]["args"]["source"] == {"$ref": "decision.template"}
    code, text, _ = fabric("graph", "compile", "ExportAndImport@1", "--packs", packs)
    assert (code, "photoshop.open_duplicate@1" in text) == (0, True)


@pytest.mark.parametrize("verb", ["show", "compile"])
def test_a_graph_can_be_drawn(fabric, packs, verb):
    """``--mermaid`` prints a flowchart, alone or within JSON."""
    code, out, _ = fabric("graph", verb, "ExportAndImport@1", "--packs", packs, "--mermaid")
    assert (code, out.splitlines()[0]) == (0, "flowchart LR")
    _, document, _ = fabric("graph", verb, "ExportAndImport@1", "--packs", packs, "--mermaid", "--json")
    assert json.loads(document)["mermaid"] == out


def test_a_bad_graph_ends_with_1_and_every_fault(fabric, packs):
    """Faults of shape and of meaning stand on standard error, a line each, and no traceback."""
    path = packs / "sample" / "graphs" / "broken.yaml"
    path.write_bytes(path.read_bytes().replace(b"out: icon.png", b"out: 7"))
    for wanted in (path, "Broken@1"):
        code, out, err = fabric("graph", "show", wanted, "--packs", packs)
        assert (code, out) == (1, "")
        assert len(err.splitlines()) == 2
        assert all(line.startswith("fabric: ") and "broken.yaml:" in line for line in err.splitlines())


@pytest.mark.parametrize("wanted", ["Nobody@1", "ExportAndImport@2", "nowhere.yaml", ".", "a\0b", ""])
def test_a_graph_that_is_not_there_ends_with_2(fabric, packs, wanted):
    """A wrong word in the call is said in one line, with what there is."""
    code, out, err = fabric("graph", "show", wanted, "--packs", packs)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "graph.not_found" in err


def test_a_reference_that_two_packs_have_is_refused(fabric, packs):
    """Neither of two graphs is guessed."""
    shutil.copytree(packs / "sample", packs / "other")
    code, _, err = fabric("graph", "show", "ExportAndImport@1", "--packs", packs)
    assert (code, "graph.ambiguous" in err) == (2, True)


def test_a_link_in_a_pack_is_not_followed(fabric, packs, tmp_path):
    """A graph file of a pack that is a symbolic link is not read."""
    path = packs / "sample" / "graphs" / "good.yaml"
    path.rename(tmp_path / "outside.yaml")
    try:
        path.symlink_to(tmp_path / "outside.yaml")
    except OSError:
        pytest.skip("this system makes no symbolic links")
    code, _, _ = fabric("graph", "show", "ExportAndImport@1", "--packs", packs)
    assert code == 2


def test_every_contract_and_capability_has_a_schema(fabric, registry):
    """Each listed name prints a valid JSON Schema of its own."""
    _, out, _ = fabric("schema", "--json")
    names = [row["name"] for row in json.loads(out)]
    assert set(names) == {*documents(), *registry}
    for name in names:
        code, text, _ = fabric("schema", name)
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        assert (code, schema["type"], schema["additionalProperties"]) == (0, "object", False)


def test_a_contracts_schema_speaks_the_documents_own_keys(fabric):
    """The schema names ``schema``, not what Python calls the field, and takes a plan written by hand."""
    _, text, _ = fabric("schema", "fabric.physical-plan.v1")
    plan = {
        "schema": "fabric.physical-plan.v1",
        "application": "photoshop",
        "operations": [{"capability": "photoshop.export_png@1", "args": {"preset": {}, "out": "a.png"}}],
    }
    Draft202012Validator(json.loads(text)).validate(plan)


def test_schemas_are_listed_for_people(fabric):
    """Without a name each contract and capability is a line."""
    code, out, _ = fabric("schema")
    assert code == 0
    assert "fabric.skill-graph.v1" in out
    assert "photoshop.export_png@1" in out


def test_an_unknown_schema_ends_with_2_and_near_names(fabric):
    """A slip of the pen is answered with what it may have meant."""
    code, _, err = fabric("schema", "fabric.skill-graf.v1")
    assert (code, "fabric.skill-graph.v1" in err) == (2, True)
