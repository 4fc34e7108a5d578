"""An artifact store at a URL of fsspec: what a folder promises, with a verified cache on this machine."""

import hashlib
import os
import time

import fsspec
import pytest

from fabric_dagster.errors import CheckFailed, OperationFailed, UsageFault
from resources.artifacts.collect import faults_of
from resources.artifacts.place import open_store


def digest(data):
    """What a store calls some bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.fixture(params=["memory", "file"])
def url(request, tmp_path):
    """A place of each kind, empty."""
    if request.param == "file":
        return f"file://{(tmp_path / 'there').as_posix()}"
    return f"memory://artifacts-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}"


@pytest.fixture
def store(url, tmp_path):
    """The store of one branch there."""
    return open_store(tmp_path / "cache", url, "default", "main")


def away(store, name):
    """The file system and the path of an artifact at the URL."""
    return store._system, store._name(name)


def test_what_is_put_is_got_from_another_machine(store, url, tmp_path):
    """By its digest, verified, as a file of that machine."""
    name = store.put_bytes(b"data")
    (tmp_path / "picture.png").write_bytes(b"picture" * 1000)
    other = store.put_file(tmp_path / "picture.png")
    elsewhere = open_store(tmp_path / "other", url, "default", "main")
    assert name == digest(b"data")
    assert elsewhere.get(name) == b"data"
    assert elsewhere.path(other).read_bytes() == b"picture" * 1000
    assert sorted(elsewhere.digests()) == sorted([name, other])
    assert elsewhere.has(name)
    assert faults_of(elsewhere) == (2, [])


def test_nothing_is_left_under_a_temporary_name(store):
    """A name never holds half of its bytes."""
    store.put_bytes(b"data")
    system, _ = fsspec.core.url_to_fs(store.url)
    assert len(system.find(store._root)) == 1


def test_swapped_bytes_are_never_handed_out(store, url, tmp_path):
    """They are found when read without a cache, and by verifying."""
    name = store.put_bytes(b"data")
    system, path = away(store, name)
    system.pipe_file(path, b"Data")
    elsewhere = open_store(tmp_path / "other", url, "default", "main")
    for read in (elsewhere.get, elsewhere.path):
        with pytest.raises(CheckFailed) as caught:
            read(name)
        assert caught.value.code == "artifact.corrupt"
    assert not elsewhere.has(name)
    assert [fault.code for fault in faults_of(store)[1]] == ["artifact.corrupt"]
    assert store.get(name) == b"data"
    assert not [p for p in (tmp_path / "other").rglob("*") if p.is_file() and p.suffix != ".lock"]


def test_missing_bytes_are_named(store):
    """As in a folder."""
    with pytest.raises(CheckFailed) as caught:
        store.get(digest(b"never put"))
    assert caught.value.code == "artifact.missing"


def test_branches_and_workspaces_are_apart(store, url, tmp_path):
    """One place, several stores."""
    name = store.put_bytes(b"data")
    for workspace, branch in (("default", "trial"), ("other", "main")):
        assert not open_store(tmp_path / "cache", url, workspace, branch).has(name)
    with pytest.raises(UsageFault):
        open_store(tmp_path / "cache", url, "default", "../main")


def test_putting_again_makes_it_young(store):
    """What was put long ago counts as just put when the same bytes come again."""
    name = store.put_bytes(b"data")
    system, path = away(store, name)
    long_ago = time.time() - 10 * 86400
    if store.url.startswith("file"):
        os.utime(path, (long_ago, long_ago))
        assert store.modified(name) == pytest.approx(long_ago)
    now = time.time()
    assert store.put_bytes(b"data") == name
    assert store.modified(name) > now - 5
    assert not store.discard(name, now - 5)
    assert store.discard(name, time.time() + 5)
    assert not system.exists(path)
    assert not store.cache.has(name)


def test_a_scheme_without_a_driver_is_a_clear_error(tmp_path):
    """Not an import error."""
    with pytest.raises(UsageFault) as caught:
        open_store(tmp_path, "nosuch://bucket", "default", "main")
    assert caught.value.code == "storage.no_driver"


def test_a_foreign_file_stops_listing(store):
    """Nobody but the store writes there."""
    store.put_bytes(b"data")
    store._system.pipe_file(f"{store._root}/sha256/readme.txt", b"x")
    with pytest.raises(OperationFailed) as caught:
        list(store.digests())
    assert caught.value.code == "artifact.foreign"
