"""Artifacts: bytes under their digest, whole or not there, verified every time."""

import hashlib
import os
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import CheckFailed, InvalidDocument, OperationFailed
from resources.artifacts.store import FolderArtifactStore

posix = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def digest(data):
    """What the store calls some bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return FolderArtifactStore(tmp_path / "artifacts")


def blob(store, name):
    """The file of a digest."""
    return store.root / "sha256" / name[7:9] / name[7:]


def files(store):
    """Everything that lies in the store, without its lock."""
    return [p for p in store.root.rglob("*") if p.is_file() and p.suffix != ".lock"]


@given(data=st.binary(max_size=2000))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_put_is_what_is_got(store, data):
    """By its digest, as often as one likes."""
    name = store.put_bytes(data)
    assert name == digest(data) == store.put_bytes(data)
    assert store.get(name) == data == store.path(name).read_bytes()
    assert store.has(name)


def test_a_file_is_stored_by_its_bytes(store, tmp_path):
    """Larger than a chunk; the source stays as it is and stays one's own."""
    source = tmp_path / "big.bin"
    source.write_bytes(os.urandom(1 << 20) * 2 + b"end")
    name = store.put_file(source)
    assert name == digest(source.read_bytes())
    source.write_bytes(b"changed later")
    assert store.path(name).stat().st_size == (2 << 20) + 3
    assert store.has(name)


def test_stored_files_are_read_only_and_nothing_else_is_left(store):
    """No temporary file stays behind."""
    name = store.put_bytes(b"data")
    assert not blob(store, name).stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    assert files(store) == [blob(store, name)]


def test_damaged_bytes_are_never_handed_out_and_can_be_put_again(store):
    """Found when read; mended when the right bytes come."""
    name = store.put_bytes(b"data")
    blob(store, name).chmod(0o644)
    blob(store, name).write_bytes(b"Data")
    assert not store.has(name)
    for read in (store.get, store.path):
        with pytest.raises(CheckFailed) as caught:
            read(name)
        assert caught.value.code == "artifact.corrupt"
    store.put_bytes(b"data")
    assert store.get(name) == b"data"


def test_missing_bytes_and_names_that_are_none(store):
    """Each with its code."""
    with pytest.raises(CheckFailed) as caught:
        store.get(digest(b"never put"))
    assert caught.value.code == "artifact.missing"
    for name in ("", "sha256:", "sha256:../../etc/passwd", "sha256:" + "A" * 64, "md5:" + "0" * 64):
        with pytest.raises(InvalidDocument) as bad:
            store.get(name)
        assert bad.value.code == "artifact.bad_digest"


@posix
def test_links_are_not_followed(store, tmp_path):
    """A linked artifact, a linked folder, a linked source, a linked store."""
    name = store.put_bytes(b"data")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"data")
    blob(store, name).unlink()
    blob(store, name).symlink_to(elsewhere)
    with pytest.raises(CheckFailed) as caught:
        store.get(name)
    assert caught.value.code == "artifact.corrupt"
    link = tmp_path / "link"
    link.symlink_to(elsewhere)
    with pytest.raises(OperationFailed) as irregular:
        store.put_file(link)
    assert irregular.value.code == "artifact.irregular"
    (tmp_path / "linked").symlink_to(store.root)
    with pytest.raises(OperationFailed) as linked:
        FolderArtifactStore(tmp_path / "linked")
    assert linked.value.code == "artifact.symlink"


def test_old_leftovers_are_removed_on_opening_and_fresh_ones_are_not(store):
    """A put that runs right now elsewhere keeps its temporary file."""
    old, fresh = store.root / "incoming" / "old.tmp", store.root / "incoming" / "fresh.tmp"
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    FolderArtifactStore(store.root)
    assert not old.exists()
    assert fresh.exists()


def test_a_failed_put_leaves_nothing(store, monkeypatch):
    """A full disk at the flush: no file under the digest, no temporary one."""

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.put_bytes(b"data")
    assert files(store) == []


@pytest.mark.slow
def test_many_processes_put_the_same_bytes(store):
    """All succeed, one file stands."""
    code = (
        "import sys; from pathlib import Path; from resources.artifacts.store import FolderArtifactStore;"
        "s = FolderArtifactStore(Path(sys.argv[1]));"
        "print({s.put_bytes(b'%d' % (n % 20)) and n % 20 for n in range(200)} == set(range(20)))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(store.root)], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    assert {process.communicate(timeout=60)[0].strip() for process in running} == {"True"}
    assert len(files(store)) == 20
