"""``fabric pack`` and ``fabric ticket``: what they print, how they end, and that they leave no trace."""

import json
import shutil
from pathlib import Path

import pytest

from fabric_dagster.documents import load_yaml

TICKETS = Path(__file__).parents[2] / "packs" / "offers" / "tickets"
NEW = (
    "ticket",
    "new",
    "CreateOfferIconAndIntegrate@1",
    "--set",
    "offer_id=mega_bundle",
    "--set",
    "category=offer.bundle",
    "--set",
    "art=attachment:mega.png",
)


def tree(folder):
    """Every file below ``folder`` with its bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_good_ticket(fabric):
    """A good ticket ends with 0 and says what was read and decided."""
    code, out, err = fabric("ticket", "check", TICKETS / "OFFER-101.json")
    assert 0 == code
    assert "bundle_icon" in out
    assert "not checked against a project" in err


def test_good_ticket_as_json(fabric):
    """With --json there is one document, and nothing else on standard output."""
    code, out, _ = fabric("ticket", "check", TICKETS / "OFFER-103.json", "--json")
    document = json.loads(out)
    assert (0, True, "mega_bundle", False) == (
        code, document["accepted"], document["ticket"]["inputs"]["offer_id"], document["project_checked"],
    )  # fmt: skip
    assert "Assets/Art/Offers/mega_bundle.png" == document["decision"]["values"]["destination"]


@pytest.mark.parametrize("path", sorted(TICKETS.glob("bad/*.json")), ids=lambda path: path.stem)
def test_bad_ticket(fabric, path):
    """Every bad example ends with 1, a line a fault on standard error, no traceback, nothing written."""
    expected = load_yaml((TICKETS / "expected.yaml").read_bytes(), "").value["tickets"][f"bad/{path.name}"]
    if path.stem.startswith(("OFFER-204", "OFFER-205")):  # the program finds the graph by the block itself
        expected = ["ticket.unknown_graph"]
    before = tree(path.parent)
    code, out, err = fabric("ticket", "check", path)
    assert (1, "") == (code, out)
    assert sorted(expected) == sorted(line.rpartition("[")[2].rstrip("]") for line in err.splitlines())
    assert before == tree(path.parent)
    code, out, _ = fabric("ticket", "check", path, "--json")
    assert (1, sorted(expected)) == (code, sorted(fault["code"] for fault in json.loads(out)["faults"]))


def test_ticket_that_is_not_there(fabric, tmp_path):
    """A wrong file name is the call's own fault."""
    assert 2 == fabric("ticket", "check", tmp_path / "nothing.json")[0]
    assert 2 == fabric("ticket", "check", tmp_path)[0]


def test_input_roots(fabric, tmp_path):
    """A folder given with --inputs is a root for paths."""
    issue = json.loads((TICKETS / "OFFER-101.json").read_bytes())
    block = issue["fields"]["description"]["content"][1]["content"][0]
    block["text"] = block["text"].replace("attachment:starter_pack.png", "art/chest.png")
    (tmp_path / "roots" / "art").mkdir(parents=True)
    shutil.copy(TICKETS / "OFFER-101" / "starter_pack.png", tmp_path / "roots" / "art" / "chest.png")
    path = tmp_path / "OFFER-101.json"
    path.write_text(json.dumps(issue), encoding="utf-8")
    assert 1 == fabric("ticket", "check", path)[0]
    assert 0 == fabric("ticket", "check", path, "--inputs", tmp_path / "roots")[0]


@pytest.mark.parametrize(
    "title", ["Mega Bundle", "Deal: Coins", "Pack #1", "2026", "null", "'x'", '"x"', "a\\b", "- x", "Ünï"]
)
@pytest.mark.parametrize("markup", ["markdown", "wiki"])
def test_new_block_reads_back(fabric, tmp_path, title, markup):
    """The printed block, pasted into an issue, is accepted with exactly the given values."""
    code, out, err = fabric(*NEW, "--set", f"title={title}", "--markup", markup)
    assert (0, "") == (code, err)
    lines = out.splitlines()
    assert ({"markdown": "```", "wiki": "{code}"}[markup],) * 2 == (lines[0], lines[-1])
    issue = json.loads((TICKETS / "OFFER-103.json").read_bytes())
    issue["fields"]["description"] = "{code}\n" + "\n".join(lines[1:-1]) + "\n{code}"
    shutil.copytree(TICKETS / "OFFER-103", tmp_path / "OFFER-103")
    (tmp_path / "OFFER-103" / "mega_bundle.png").rename(tmp_path / "OFFER-103" / "mega.png")
    (tmp_path / "OFFER-103.json").write_text(json.dumps(issue), encoding="utf-8")
    code, out, _ = fabric("ticket", "check", tmp_path / "OFFER-103.json", "--json")
    assert title == json.loads(out)["ticket"]["inputs"]["title"]


@pytest.mark.parametrize(
    ("more", "code", "fault"),
    [
        ((), 1, "ticket.missing_key"),
        (("--set", "title=" + "x" * 41), 1, "ticket.bad_length"),
        (("--set", "title=A", "--set", "price=1"), 1, "ticket.unknown_key"),
        (("--set", "title=A", "--set", "badge=NEW"), 1, "ticket.capability_unavailable"),
        (("--set", "title=A\tB"), 1, "ticket.tab"),
        (("--set", "title"), 2, "usage.set"),
        (("--set", "title=A", "--set", "title=B"), 2, "usage.set"),
        (("--set", "title=A", "--markup", "html"), 2, "usage.markup"),
    ],
)
def test_new_block_refused(fabric, more, code, fault):
    """What a ticket would be refused for is not printed in the first place."""
    ended, out, err = fabric(*NEW, *more)
    assert (code, "") == (ended, out)
    assert f"[{fault}]" in err


def test_new_block_paths(fabric):
    """Paths are checked as they are spelled, without looking for the file."""
    words = ["--set", "title=A"]
    for value, fault in (
        ("attachment:../x.png", "path_climbs"),
        ("/etc/x.png", "outside_roots"),
        ("x.png", "outside_roots"),
    ):
        call = [f"art={value}" if word == "art=attachment:mega.png" else word for word in NEW]
        assert f"[ticket.{fault}]" in fabric(*call, *words)[2]


def test_unknown_graph(fabric):
    """An unknown graph is the call's own fault, and the known ones are listed."""
    code, _, err = fabric("ticket", "new", "Nothing@1")
    assert 2 == code
    assert "CreateOfferIconAndIntegrate@1" in err


def test_pack_list_and_check(fabric, copy):
    """A sound pack ends with 0; a spoiled one with 1 and every fault."""
    packs = ("--packs", copy.folder.parent)
    code, out, _ = fabric("pack", "list", "--json", *packs)
    assert (0, "locked") == (code, json.loads(out)["packs"][0]["lock"])
    assert 0 == fabric("pack", "check", *packs)[0]
    copy.edit("preset: icon_256\n", "preset: icon_1\n")
    code, out, err = fabric("pack", "check", "offers", "--json", *packs)
    assert (1, 1, False) == (code, len(err.splitlines()), json.loads(out)["packs"][0]["sound"])
    assert 0 == fabric("pack", "list", *packs)[0]


def test_pack_lock(fabric, copy):
    """An edit drifts from the lock, file by file, until it is locked again; locking twice writes once."""
    packs = ("--packs", copy.folder.parent)
    copy.edit("title: Offers", "title: Deals")
    (copy.folder / "sop" / "new.md").write_text("new", encoding="utf-8")
    (copy.folder / "README.md").unlink()
    code, _, err = fabric("pack", "check", "offers", *packs)
    assert 1 == code
    assert ["offers/README.md", "offers/pack.yaml", "offers/sop/new.md"] == [
        line.split(": ")[1] for line in err.splitlines()
    ]
    written = [
        json.loads(fabric("pack", "lock", "--json", *packs)[1])["packs"][0]["written"] for _ in range(2)
    ]
    assert [True, False] == written
    assert 0 == fabric("pack", "check", "offers", *packs)[0]
    assert not list(copy.folder.glob(".*"))


def test_broken_pack_is_not_locked(fabric, copy):
    """A pack that does not load keeps the lock that it has."""
    before = (copy.folder / "pack.lock").read_bytes()
    copy.edit("title: Offers", "titel: Offers")
    assert 1 == fabric("pack", "lock", "--packs", copy.folder.parent)[0]
    assert before == (copy.folder / "pack.lock").read_bytes()


@pytest.mark.parametrize("lock", [b"", b"[]", b'{"files": {}}', b"\xff", b"[" * 100_000])
def test_unreadable_lock(fabric, copy, lock):
    """A lock that cannot be read is one fault."""
    (copy.folder / "pack.lock").write_bytes(lock)
    code, _, err = fabric("pack", "check", "--packs", copy.folder.parent)
    assert 1 == code
    assert "[pack.bad_lock]" in err


def test_unknown_pack(fabric, copy):
    """A wrong name is the call's own fault, and the known ones are listed."""
    code, _, err = fabric("pack", "check", "deals", "--packs", copy.folder.parent)
    assert 2 == code
    assert "offers" in err


def test_example_that_differs(fabric, copy):
    """A ticket that no longer comes to what the pack says of it is a fault of the pack."""
    copy.edit("OFFER-101.json: accepted", "OFFER-101.json: [ticket.no_block]", "tickets/expected.yaml")
    copy.edit("rule: daily_icon", "rule: single_icon", "corpora/qualification.yaml")
    err = fabric("pack", "check", "--packs", copy.folder.parent)[2]
    assert "[pack.example_differs]" in err
    assert "[corpus.case_differs]" in err


def test_unknown_validator(fabric, copy):
    """A validator that nobody has, and parameters that it does not take, are faults with a line."""
    graph = "graphs/create_offer_icon_and_integrate.yaml"
    copy.edit("alpha_clean@1", "alpha_lean@1", graph)
    copy.edit("max_bytes: 1048576", "max_byte: 1048576")
    err = fabric("pack", "check", "--packs", copy.folder.parent)[2]
    assert "[pack.unknown_validator]" in err
    assert "[document.unknown_key]" in err


def test_unknown_offer(fabric, tmp_path):
    """With a home, the offer must be in its project, and says so beside the other faults."""
    from resources.home import Home

    home = tmp_path / "home"
    (home / "project" / "Assets" / "Data" / "Offers").mkdir(parents=True)
    (home / "trust.json").write_text("{}", encoding="utf-8")
    (home / "home.yaml").write_text(f"schema: fabric.home.v1\nid: {'0' * 32}\n", encoding="utf-8")
    assert Home(home).exists
    words = ("ticket", "check", TICKETS / "OFFER-101.json", "--home", home)
    code, _, err = fabric(*words)
    assert 1 == code
    assert "OFFER-101.json:block:2: key 'offer_id'" in err
    assert "[ticket.not_in_project]" in err
    err = fabric("ticket", "check", TICKETS / "bad" / "OFFER-213_number_as_title.json", "--home", home)[2]
    assert ["ticket.not_in_project", "ticket.wrong_type"] == [
        line.rpartition("[")[2].rstrip("]") for line in err.splitlines()
    ]
    (home / "project" / "Assets" / "Data" / "Offers" / "starter_pack.asset").write_text("x", encoding="utf-8")
    code, out, err = fabric(*words, "--json")
    assert (0, "", True) == (code, err, json.loads(out)["project_checked"])
