"""A pack's files: everything counts, but what tools leave behind and the lock itself."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.intelligence.manifest import (
    files_digest,
    lock_bytes,
    lock_document,
    lock_faults,
    pack_files,
)

SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = ("pack.yaml", "sop/a.md", "validators/extra.py", "tickets/bad/x.json")


@pytest.fixture
def folder(tmp_path):
    """A small pack's folder."""
    for name in NAMES:
        path = tmp_path / "deals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path / "deals"


def test_what_counts(folder):
    """Python and hidden files are part of a pack; caches, desktop droppings and the lock are not."""
    before = pack_files(folder)
    assert sorted(NAMES) == list(before)
    for junk in (
        "validators/__pycache__/extra.pyc",
        "sop/.DS_Store",
        "Thumbs.db",
        "pack.lock",
        ".ruff_cache/x",
    ):
        (folder / junk).parent.mkdir(exist_ok=True)
        (folder / junk).write_bytes(b"junk")
    assert before == pack_files(folder)
    for part in ("validators/.hidden.py", "validators/loose.pyc", "sop/pack.lock"):
        (folder / part).write_bytes(b"part")
        assert part in pack_files(folder)


@SETTINGS
@given(st.sampled_from(NAMES), st.binary(max_size=20))
def test_digest_follows_every_byte(folder, name, data):
    """The digest is another exactly when a file's bytes are."""
    before = files_digest(pack_files(folder))
    old = (folder / name).read_bytes()
    (folder / name).write_bytes(data)
    assert (old == data) == (before == files_digest(pack_files(folder)))
    (folder / name).write_bytes(old)


def test_lock(folder):
    """A lock agrees with its files, and says of each file how it differs."""
    files = pack_files(folder)
    assert ["pack.no_lock"] == [fault.code for fault in lock_faults(folder, files)]
    (folder / "pack.lock").write_bytes(lock_bytes(lock_document("deals", "1.0.0", files)))
    assert [] == lock_faults(folder, pack_files(folder))
    (folder / "sop" / "a.md").write_bytes(b"other")
    (folder / "sop" / "b.md").write_bytes(b"new")
    (folder / "tickets" / "bad" / "x.json").unlink()
    found = [(fault.where, fault.what) for fault in lock_faults(folder, pack_files(folder))]
    assert [
        ("deals/sop/a.md", "the file differs from the lock"),
        ("deals/sop/b.md", "the file is new since the lock"),
        ("deals/tickets/bad/x.json", "the file is gone since the lock"),
    ] == found


def test_limits(folder, monkeypatch):
    """A pack is not a place for everything."""
    monkeypatch.setattr("fabric_dagster.intelligence.manifest.MAX_FILE_BYTES", 8)
    with pytest.raises(InvalidDocument) as caught:
        pack_files(folder)
    assert {"pack.too_large"} == {fault.code for fault in caught.value.faults}
    monkeypatch.setattr("fabric_dagster.intelligence.manifest.MAX_FILE_BYTES", 1 << 20)
    monkeypatch.setattr("fabric_dagster.intelligence.manifest.MAX_FILES", 2)
    with pytest.raises(InvalidDocument) as caught:
        pack_files(folder)
    assert ["pack.too_large"] == [fault.code for fault in caught.value.faults]
