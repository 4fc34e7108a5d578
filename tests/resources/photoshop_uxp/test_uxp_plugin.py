"""The plugin as shipped: generated from the contracts, built from its sources, closed to script."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess

import jsonschema
import pytest
from fake_photoshop import PLUGIN, ROOT, node_missing
from plans import OPEN, bound

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.errors import InvalidDocument, OperationFailed
from resources.photoshop.connection import RECORD, record
from resources.photoshop.uxp.methods import METHODS, OPERATIONS
from resources.photoshop.uxp.pairing import PORT
from resources.photoshop.uxp.schema import files, protocol_schema

SOURCES = sorted((PLUGIN / "src").rglob("*.ts"))
#: names under which a person, or a model, would hand over code
SCRIPT = re.compile(
    r"script|jsx|javascript|(^|_)code|eval|command|descriptor|expression|batchplay|menu", re.IGNORECASE
)


def test_the_generated_files_are_what_the_contracts_say():
    """`python -m resources.photoshop.uxp.schema` would change nothing."""
    assert {path: path.read_text(encoding="utf-8") for path in files()} == files()


def test_the_schema_is_a_schema():
    """It is valid, and says yes and no as the Pydantic contracts do."""
    schema = protocol_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, method in METHODS.items():
        whole = {"$defs": schema["$defs"], "$ref": schema["methods"][name]["arguments"]}
        check = jsonschema.Draft202012Validator(whole)
        assert not check.is_valid({"anything": 1})
        assert not check.is_valid([])
        assert method.read_only == schema["methods"][name]["readOnly"]


def test_one_method_a_capability():
    """Operations are capabilities of Photoshop by their own ids; the rest is a fixed handful."""
    assert set(OPERATIONS) <= {
        name for name, item in capabilities().items() if item.application == "photoshop"
    }
    rest = {"partition.begin", "partition.finish", "partition.abandon"}
    inspections = {"inspect.host", "inspect.documents", "inspect.requests"}
    assert rest | inspections == set(METHODS) - set(OPERATIONS)
    assert inspections == {name for name, item in METHODS.items() if item.read_only}


def test_the_manifest_allows_one_address():
    """Version 5, Photoshop 23.3, one exact loopback address, no other permission."""
    manifest = json.loads((PLUGIN / "manifest.json").read_text(encoding="utf-8"))
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    assert 5 == manifest["manifestVersion"]
    assert "23.3.0" == manifest["host"]["minVersion"]
    assert package["version"] == manifest["version"]
    wanted = {"localFileSystem": "fullAccess", "network": {"domains": [f"ws://127.0.0.1:{PORT}"]}}
    assert wanted == manifest["requiredPermissions"]


def test_the_lock_is_exact_and_without_addresses():
    """Every tool is pinned by version and by its bytes; no registry is named."""
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())
    assert "dependencies" not in package
    text = (PLUGIN / "package-lock.json").read_text(encoding="utf-8")
    lock = json.loads(text)
    assert '"resolved"' not in text
    assert all("integrity" in item for name, item in lock["packages"].items() if name)


def test_two_doors_into_photoshop():
    """The calls batchPlay and executeAsModal stand in one module; nothing is made from text."""
    for name in ("batchPlay", "executeAsModal"):
        calls = [path.name for path in SOURCES if f".{name}(" in path.read_text(encoding="utf-8")]
        assert ["host.ts"] == calls
    bundle = (PLUGIN / "dist" / "main.js").read_text(encoding="utf-8")
    assert 1 == bundle.count(".batchPlay(")
    assert 1 == bundle.count(".executeAsModal(")
    for forbidden in (r"\beval\(", r"\bFunction\(", "evaluateScript", "performMenuCommand", r"\bimport\("):
        assert not re.search(forbidden, bundle), forbidden


def built(folder) -> bytes | None:
    """The bundle, built with the locked tools in ``folder`` (made if they can be had); else ``None``."""
    place = PLUGIN
    if not (PLUGIN / "node_modules" / "esbuild").is_dir():
        place = folder
        for name in ("package.json", "package-lock.json", ".npmrc", "tsconfig.json"):
            shutil.copy(PLUGIN / name, folder / name)
        if not (folder / "node_modules" / "esbuild").is_dir():
            words = [
                "npm",
                "ci",
                "--ignore-scripts",
                "--prefer-offline",
                "--fetch-retries=0",
                "--fetch-timeout=8000",
            ]
            if shutil.which("npm") is None:
                return None
            got = subprocess.run(
                [shutil.which("npm"), *words[1:]], cwd=folder, capture_output=True, check=False
            )
            if got.returncode != 0:
                return None
        shutil.copytree(PLUGIN / "src", folder / "src", dirs_exist_ok=True)
    script = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))["scripts"]["build"]
    words = [word for word in script.split()[1:] if not word.startswith("--outfile")]
    program = place / "node_modules" / "esbuild" / "bin" / "esbuild"
    done = subprocess.run(
        [shutil.which("node"), str(program), *words], cwd=place, capture_output=True, check=True
    )
    return done.stdout


def test_the_bundle_is_built_from_the_sources(request):
    """Whoever builds it again gets the very bytes that are shipped."""
    if why := node_missing():
        pytest.skip(why)
    made = built(request.config.cache.mkdir("fabric-plugin"))
    if made is None:
        pytest.skip(
            "the locked tools are not here and no registry answers: the shipped bundle is used as it is"
        )
    assert (PLUGIN / "dist" / "main.js").read_bytes() == made


@pytest.mark.parametrize(
    "words", [["typescript/bin/tsc", "--noEmit"], ["eslint/bin/eslint.js", "src", "types"]]
)
@pytest.mark.proof
def test_the_sources_compile_strictly_and_lint(words):
    """Strict tsc against Photoshop's own types, and eslint with type information."""
    program = PLUGIN / "node_modules" / words[0]
    if node_missing() or not program.is_file():
        pytest.skip(node_missing() or "run `npm ci` in the plugin's folder first")
    done = subprocess.run(
        [shutil.which("node"), str(program), *words[1:]],
        cwd=PLUGIN,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stdout
    assert 0 == done.returncode


def test_the_other_connection_is_a_record():
    """photoshop-connection is pinned by revision, serves nothing and is not executable."""
    found = record()
    assert "cae91338879a546b94cb3c699d083397ef0286de" == found.revision
    assert () == found.serves
    assert {"refused"} == {item.decision for item in found.surfaces if "execute" in item.why}
    text = RECORD.read_text(encoding="utf-8")
    from fabric_dagster.documents import check, load_yaml
    from resources.provider_record import ProviderRecord

    for old, new in (
        ("executable: false", "executable: true"),
        ("serves: []", "serves: [photoshop.execute@1]"),
    ):
        with pytest.raises(InvalidDocument):
            check(ProviderRecord, load_yaml(text.replace(old, new), "record.yaml"))


def test_no_plan_can_carry_script():
    """No capability takes any, by name or by kind; no module imports a library that would run it."""
    named = []
    for name, item in capabilities().items():
        for field, kind in item.arguments.kinds().items():
            if item.application == "photoshop" and (SCRIPT.search(field) or SCRIPT.search(kind)):
                named.append(f"{name}: {field}")
    assert [] == named
    foreign = {"photoshop", "photoshop_connection", "pyps", "win32com", "comtypes", "appscript"}
    imported = []
    for room in ("fabric_dagster", "resources", "assets", "sensors", "packs"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                imported += [f"{path}: {name}" for name in names if name.split(".")[0] in foreign]
    assert [] == imported
    assert "photoshop-connection" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["photoshop.execute@1", "photoshop.run_script@1", "photoshop.batch_play@1"])
def test_a_plan_that_asks_for_script_is_refused(name, stage, headless, live):
    """By every provider, whatever it calls it."""
    for provider in (headless, live):
        with pytest.raises(OperationFailed) as caught:
            provider.stage(bound(stage, provider, (OPEN, (name, {"script": "alert(1)"}))), stage)
        assert "capability_unavailable" == caught.value.code
