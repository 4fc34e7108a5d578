"""The index: what a second look reads, what it is kept in, and the references around one asset."""

import json
import os
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fabric_dagster.cli.main import main
from fabric_dagster.errors import UsageFault
from resources.unity import sample
from resources.unity.index import IndexCache, index_project
from resources.unity.index.contents import contents
from resources.unity.index.folder import SETTLED_NS
from resources.unity.index.graph import References
from resources.unity.index.picture import draw
from resources.unity.project import open_project

ICON = "Assets/Art/Offers/Default/offer_icon.png"


@pytest.fixture
def project(tmp_path):
    """The sample project, its files older than what an index calls settled."""
    root = tmp_path / "project"
    sample.build(root)
    age(root)
    return open_project(root)


@pytest.fixture
def cache(tmp_path):
    """A cache beside the project."""
    return IndexCache(tmp_path / "cache")


def age(root: Path) -> None:
    """Make the change times of ``root`` look settled: what the index calls now lies ahead."""
    assert SETTLED_NS > 0
    for path in root.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


@pytest.fixture(autouse=True)
def later(monkeypatch):
    """The index's clock runs ten seconds ahead, so that what a test just wrote counts as settled."""
    import time

    plain = time.time_ns
    monkeypatch.setattr("resources.unity.index.project.time.time_ns", lambda: plain() + 5 * SETTLED_NS)


def same(one, two):
    """Two indexes say the same of the project."""
    names = ("guids", "assets", "held", "files", "links", "orphan_metas", "missing_metas", "stub_metas")
    return {name: getattr(one, name) for name in names} == {name: getattr(two, name) for name in names}


def test_a_second_look_reads_nothing_and_says_the_same(project, cache):
    """Nothing changed, so nothing is opened."""
    first = index_project(project, cache=cache)
    second = index_project(project, cache=cache)
    assert (first.read > 0, second.read, second.changed) == (True, 0, [])
    assert same(first, second)
    assert same(index_project(project), second)


def test_a_changed_file_is_read_again_and_named(project, cache):
    """Its folder is read, its bytes' hash tells that it changed; its neighbours' say that they did not."""
    first = index_project(project, cache=cache)
    path = next(p for p in first.held if p.endswith(".asset"))
    file = project.root / path
    data = file.read_bytes()
    guid = next(first.uses_in(path)).guid
    file.write_bytes(data.replace(guid.encode(), b"0123456789abcdeffedcba9876543210"))
    second = index_project(project, cache=cache)
    assert [path] == second.changed
    assert 0 < second.read < first.read
    assert path not in second.users_of(guid)
    assert same(index_project(project), second)


def test_a_change_that_keeps_size_and_time_is_seen(project, cache):
    """Where the system has change times, setting the modification time back hides nothing."""
    if os.name == "nt":
        pytest.skip("Windows gives no change time")
    first = index_project(project, cache=cache)
    path = next(p for p in first.held if p.endswith(".asset"))
    file = project.root / path
    before = file.stat()
    guid = next(first.uses_in(path)).guid
    file.write_bytes(file.read_bytes().replace(guid.encode(), b"0123456789abcdeffedcba9876543210"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [path] == index_project(project, cache=cache).changed


def test_what_was_just_written_is_not_believed(project, cache, monkeypatch):
    """A file written within two seconds of the look is read again the next time."""
    monkeypatch.undo()
    (project.root / "Assets/now.asset").write_bytes(b"%YAML 1.1\n")
    index_project(project, cache=cache)
    assert index_project(project, cache=cache).read > 0


def test_new_and_removed_folders_are_seen(project, cache):
    """The cache is no memory of what is gone."""
    index_project(project, cache=cache)
    shutil.copytree(project.root / "Assets/Art", project.root / "Assets/Art2")
    more = index_project(project, cache=cache)
    assert same(index_project(project), more)
    assert more.duplicates
    shutil.rmtree(project.root / "Assets/Art2")
    assert same(index_project(project), index_project(project, cache=cache))


@pytest.mark.parametrize("spoil", [b"", b"{", b"[1]", b'{"schema": "fabric.unity-index.v1"}', b"\xff" * 9])
def test_a_damaged_cache_costs_time_and_nothing_else(project, cache, spoil):
    """What is kept is believed only in its exact shape."""
    first = index_project(project, cache=cache)
    cache.path(project.root).write_bytes(spoil)
    assert same(first, index_project(project, cache=cache))


def test_rows_of_another_shape_are_not_believed(project, cache):
    """A row with a list where a text belongs means that nothing is known."""
    first = index_project(project, cache=cache)
    file = cache.path(project.root)
    document = json.loads(file.read_bytes())
    document["folders"][0][4] = "seven"
    file.write_text(json.dumps(document), encoding="utf-8")
    second = index_project(project, cache=cache)
    assert first.read == second.read
    assert same(first, second)


def test_the_project_itself_is_not_written_to(project, cache):
    """Not a file, not a time."""
    before = {p: p.stat().st_mtime_ns for p in project.root.rglob("*")}
    index_project(project, cache=cache)
    assert before == {p: p.stat().st_mtime_ns for p in project.root.rglob("*")}


def test_contents_name_packages_and_assemblies(project):
    """From manifest.json and the asmdefs; a damaged one is named and hides nothing else."""
    found = contents(index_project(project))
    assert "com.unity.2d.sprite" in found.packages or found.packages
    assert "Game.Offers" in found.assemblies.values()
    (project.root / "Packages/manifest.json").write_text("{,", encoding="utf-8")
    assert ["Packages/manifest.json"] == contents(index_project(project)).unreadable


def test_users_and_needs_of_an_asset(project):
    """A picture's users are the assets that show it; an asset needs its script and its picture."""
    index = index_project(project)
    picture = next(p for p in index.guids if p.endswith(".png") and index.users_of(index.guids[p]))
    user = index.users_of(index.guids[picture])[0]
    graph = References(index)
    assert user in graph.around(picture).users[1]
    assert picture in graph.around(user).needs[1]
    assert (user, picture) in graph.around(picture).edges


def test_an_unknown_asset_names_its_namesakes(project):
    """With the paths of assets of that name."""
    index = index_project(project)
    path = next(p for p in index.guids if p.endswith(".png"))
    with pytest.raises(UsageFault) as caught:
        References(index).around("Assets/Elsewhere/" + path.rpartition("/")[2].upper())
    assert path in caught.value.faults[0].mend


def test_the_picture_is_svg_and_names_every_neighbour(project):
    """Well-formed, one box an asset, names escaped."""
    index = index_project(project)
    user = next(p for p in index.held if p.endswith(".asset"))
    around = References(index).around(user)
    around.asset, around.users = (
        user,
        {1: ['Assets/a<&"b.prefab'] * 1 + [f"Assets/{n}.mat" for n in range(40)]},
    )
    document = ET.fromstring(draw(around))  # noqa: S314 - our own picture
    titles = [item.text for item in document.iter("{http://www.w3.org/2000/svg}title")]
    assert {user, 'Assets/a<&"b.prefab'} <= set(titles)
    assert "… and 17 more" in "".join(document.itertext())


def test_the_command_draws_and_refuses_a_cache_inside(project, tmp_path, capsys, monkeypatch):
    """`--asset`, `--graph`, `--json`; a cache within the project is refused."""
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "none"))
    index = index_project(project)
    asset = next(p for p in index.held if p.endswith(".asset"))
    words = ["unity", "inspect", str(project.root), "--asset", asset]
    with pytest.raises(SystemExit) as end:
        main([*words, "--graph", str(tmp_path / "out.svg"), "--json"])
    assert end.value.code in {0, None}
    assert asset == json.loads(capsys.readouterr().out)["asset"]
    assert (tmp_path / "out.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(SystemExit) as end:
        main([*words, "--cache", str(project.root / "Library/x")])
    assert end.value.code == 2
    assert "unity.cache_inside" in capsys.readouterr().err
