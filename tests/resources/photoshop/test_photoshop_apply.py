"""``fabric photoshop``: plans on copies, every fault at once, sources never touched."""

from __future__ import annotations

import json
import os

import pytest
from text_builders import FONT_NAME, small_font, with_text

from fabric_dagster.cli.main import main
from fabric_dagster.digests import digest_file

REPLACE = {
    "capability": "photoshop.replace_smart_object@1",
    "args": {"layer": {"path": "Art/Art"}, "contents": "art.png", "scope": "layer"},
}
EXPORT = {"capability": "photoshop.export_png@1", "args": {"preset": "icon_256", "out": "icon.png"}}


def plan(folder, *operations, **extra) -> str:
    """Write a plan file."""
    body = {"schema": "fabric.physical-plan.v1", "application": "photoshop", "operations": list(operations)}
    (folder / "plan.json").write_text(json.dumps({**body, **extra}), encoding="utf-8")
    return str(folder / "plan.json")


def run(capsys, *words) -> tuple[int, str, list[str]]:
    """Exit code, standard output, lines of standard error."""
    with pytest.raises(SystemExit) as caught:
        main(["photoshop", *map(str, words)])
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err.splitlines()


def test_a_plan_makes_a_copy_and_its_export(files, capsys):
    """The copy and the PNG are there, the report says which blocks differ, the source is what it was."""
    before = digest_file(files / "icon.psd")
    out = files / "done" / "icon.psd"
    out.parent.mkdir()
    code, text, err = run(capsys, "apply", files / "icon.psd", plan(files, REPLACE, EXPORT), out, "--json")
    report = json.loads(text)
    assert (0, []) == (code, err)
    assert before == digest_file(files / "icon.psd") == report["document"]["source_digest"]
    assert {"global/lnk2", "merged_image"} < {change["block"] for change in report["document"]["changes"]}
    assert {
        str(out): digest_file(out),
        str(out.parent / "icon.png"): digest_file(out.parent / "icon.png"),
    } == (report["written"])
    assert sorted(path.name for path in out.parent.iterdir()) == ["icon.png", "icon.psd"]


def test_the_same_plan_makes_the_same_bytes(files, capsys):
    """Nothing in a copy depends on time or chance."""
    for name in ("a", "b"):
        (files / name).mkdir()
        run(capsys, "apply", files / "icon.psd", plan(files, REPLACE, EXPORT), files / name / "icon.psd")
    for name in ("icon.psd", "icon.png"):
        assert (files / "a" / name).read_bytes() == (files / "b" / name).read_bytes()


def test_all_faults_of_a_plan_come_at_once(files, capsys):
    """Unknown capability, missing, unknown and bad arguments: a line each, with the JSON path."""
    bad = plan(
        files,
        {"capability": "photoshop.fly@1"},
        {"capability": "unity.set_property@1", "args": {}},
        {
            "capability": "photoshop.replace_smart_object@1",
            "args": {"layer": {"path": "A", "id": 1}, "scop": 1},
        },
        {"capability": "photoshop.export_png@1", "args": {"preset": {"padding": -1}, "out": "x.jpg"}},
    )
    code, _, err = run(capsys, "apply", files / "icon.psd", bad, files / "out.psd")
    assert code == 1
    places = [line.split(bad + ": ")[1].split(": ")[0] for line in err]
    assert places == [
        "operations[0].capability",
        "operations[1].capability",
        "operations[2].args.layer",
        "operations[2].args.contents",
        "operations[2].args.scop",
        "operations[3].args.preset.padding",
        "operations[3].args.out",
    ]
    assert not (files / "out.psd").exists()


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"schema": 1, "schema": 2}', '{"a": NaN}',
        "\ud800".encode("utf-8", "surrogatepass"), "[" * 9999, '{"schema": ' + "9" * 9999 + "}",
        json.dumps({
            "schema": "fabric.physical-plan.v1", "application": "photoshop", "operations": [EXPORT] * 1001
        }),
    ],
    ids=["empty", "a list", "cut", "twice", "NaN", "no UTF-8", "deep", "many digits", "many operations"],
)  # fmt: skip
def test_what_is_no_plan_is_one_clear_error(files, capsys, text):
    """Broken JSON of any kind is a line, not a traceback."""
    (files / "plan.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, _, err = run(capsys, "apply", files / "icon.psd", files / "plan.json", files / "out.psd")
    assert code == 1
    assert all("[plan." in line for line in err)


@pytest.mark.parametrize("kind", ["same", "symlink", "hardlink"])
def test_the_source_is_never_the_target(files, capsys, kind):
    """Under its own name, through a symlink or as a hard link: a usage error."""
    out = files / "icon.psd"
    if kind != "same":
        out = files / "other.psd"
        (os.symlink if kind == "symlink" else os.link)(files / "icon.psd", out)
    before = digest_file(files / "icon.psd")
    code, _, (line,) = run(capsys, "apply", files / "icon.psd", plan(files, EXPORT), out)
    assert code == 2
    assert "[photoshop.out_is_source]" in line
    assert before == digest_file(files / "icon.psd")


def test_what_the_plan_reads_is_never_the_target(files, capsys):
    """The picture that goes into the smart object stays, too."""
    before = digest_file(files / "art.png")
    code, _, (line,) = run(capsys, "apply", files / "icon.psd", plan(files, REPLACE), files / "art.png")
    assert (1, True) == (code, "operations[0].args.contents: the target is this input itself" in line)
    assert before == digest_file(files / "art.png")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX pipes")
@pytest.mark.parametrize("kind", ["pipe", "dangling", "loop"])
def test_what_is_no_file_is_never_replaced(files, capsys, kind):
    """A device, a pipe or a link to nowhere as a target is a usage error and stays."""
    out = files / "out"
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to("out" if kind == "loop" else "nowhere/at/all")
    before = out.lstat()
    for words in (
        ("apply", files / "icon.psd", plan(files, EXPORT), out),
        ("render", files / "icon.psd", out),
    ):
        code, _, (line,) = run(capsys, *words)
        assert (2, True) == (code, line.endswith("[photoshop.out_is_no_file]"))
    assert (before.st_ino, before.st_mode) == (out.lstat().st_ino, out.lstat().st_mode)


@pytest.mark.parametrize(
    ("out", "code"),
    [
        ("art.png", "photoshop.out_is_source"),
        ("../x.png", "path.unsafe"),
        ("/x.png", "path.unsafe"),
        ("a/../../x.png", "path.unsafe"),
        ("link/x.png", "path.symlink"),
    ],
)
def test_exports_stay_beside_the_copy_and_off_the_inputs(files, capsys, out, code):
    """An export can't climb, follow a link, or overwrite what the plan reads."""
    (files / "elsewhere").mkdir()
    (files / "link").symlink_to(files / "elsewhere")
    export = {**EXPORT, "args": {"out": out}}
    status, _, err = run(capsys, "apply", files / "icon.psd", plan(files, REPLACE, export), files / "out.psd")
    assert status == 1
    assert any(code in line for line in err)
    assert not (files / "out.psd").exists()


def test_a_failing_operation_leaves_nothing(files, capsys):
    """The second operation fails: no copy, no export, no temporary folder."""
    before = sorted(path.name for path in files.iterdir())
    wrong = {**REPLACE, "args": {**REPLACE["args"], "layer": {"id": 2}}}
    code, _, (line,) = run(capsys, "apply", files / "icon.psd", plan(files, EXPORT, wrong), files / "out.psd")
    assert code == 1
    assert "operations[1]" in line
    assert "[photoshop.not_a_smart_object]" in line
    assert sorted([*before, "plan.json"]) == sorted(path.name for path in files.iterdir())


def test_a_failing_operation_names_the_plan(files, capsys):
    """The error's place is a file that a person has: the plan, and the layer in it."""
    hidden = {
        "capability": "photoshop.replace_smart_object@1",
        "args": {**REPLACE["args"], "contents": "no.png"},
    }
    (files / "no.png").write_bytes(b"no picture")
    _, _, (line,) = run(capsys, "apply", files / "icon.psd", plan(files, hidden), files / "out.psd")
    assert f"fabric: {files / 'plan.json'}: operations[0]" == line[: line.index("]") + 1]


def test_a_file_beyond_the_limit_is_refused_unread(files, capsys):
    """A file of four gigabytes takes no time: its size alone is looked at, and named once."""
    with (files / "icon.psd").open("r+b") as stream:
        stream.truncate(1 << 32)
    for words in (
        ("inspect", files / "icon.psd"),
        ("apply", files / "icon.psd", plan(files, EXPORT), files / "out.psd"),
    ):
        code, _, (line,) = run(capsys, *words)
        assert (1, 1) == (code, line.count(str(files)))
        assert line.endswith("[psd.too_large]")


def test_opening_a_duplicate_has_no_place_here(files, capsys):
    """FILE and OUT play that part."""
    opened = {"capability": "photoshop.open_duplicate@1", "args": {"source": "icon.psd", "copy": "x.psd"}}
    code, _, (line,) = run(capsys, "apply", files / "icon.psd", plan(files, opened), files / "out.psd")
    assert (1, True) == (code, "[plan.not_here]" in line)


def test_inspect_and_render_name_the_file(files, capsys):
    """Damage is told with file and byte; a missing file is a usage error; render writes one picture."""
    (files / "cut.psd").write_bytes((files / "icon.psd").read_bytes()[:1000])
    for words in (("inspect", files / "cut.psd"), ("render", files / "cut.psd", files / "x.png")):
        code, _, (line,) = run(capsys, *words)
        assert code == 1
        assert "cut.psd, byte" in line
    assert run(capsys, "inspect", files / "none.psd")[0] == 2
    assert run(capsys, "render", files / "icon.psd", files / "x.png", "--preset", "huge")[0] == 2
    code, out, _ = run(capsys, "render", files / "icon.psd", files / "x.png", "--layer", "Art/Art", "--json")
    facts = json.loads(out)
    assert facts["digest"] == digest_file(files / "x.png")
    assert not (files / "cut.png").exists()


def test_inspect_resolves_a_role_map(files, capsys):
    """Roles from a YAML file; what can't be resolved is reported together."""
    (files / "roles.yaml").write_text("art: Art/Art\nlabel: {id: 11}\n", encoding="utf-8")
    code, out, _ = run(capsys, "inspect", files / "icon.psd", "--roles", files / "roles.yaml", "--json")
    assert (0, {"art": 3, "label": 11}) == (
        code,
        {role: layer["id"] for role, layer in json.loads(out)["roles"].items()},
    )
    (files / "roles.yaml").write_text("art: Art/Artt\nlabel: 99\n", encoding="utf-8")
    code, _, err = run(capsys, "inspect", files / "icon.psd", "--roles", files / "roles.yaml")
    assert (1, 2) == (code, len(err))


def test_a_plan_reads_fonts_masks_and_profiles_beside_it(files, capsys):
    """Files that operations read are found like contents and never a target; redrawn text is told."""
    (files / "fonts").mkdir()
    (files / "fonts" / "x.ttf").write_bytes(small_font())
    (files / "icon.psd").write_bytes(with_text((files / "icon.psd").read_bytes(), 11, font=FONT_NAME))
    mask = {"capability": "photoshop.replace_mask@1", "args": {"layer": {"id": 10}, "mask": "art.png"}}
    text = {"capability": "photoshop.set_text@1", "args": {"layer": {"id": 11}, "text": "DAB"}}
    words = ("apply", files / "icon.psd", plan(files, mask, text), files / "out.psd")
    code, out, err = run(capsys, *words, "--fonts", files / "fonts")
    assert (0, []) == (code, err)
    assert "warning: photoshop.set_text@1: text redrawn headlessly in FabricTest-Block" in out
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "[photoshop.font_missing]" in err[0]
    bad = {"capability": "photoshop.assign_profile@1", "args": {"file": "nowhere.icc"}}
    code, _, err = run(capsys, "apply", files / "icon.psd", plan(files, bad), files / "out.psd")
    assert code == 1
    assert "operations[0].args.file" in err[0]
    code, _, err = run(capsys, "apply", files / "icon.psd", plan(files, mask), files / "art.png")
    assert (1, True) == (code, "[photoshop.out_is_source]" in err[0])
