"""The intake sensor: what is requested once, what is refused with reasons, and what is looked at again."""

import json
import os
import shutil

import dagster as dg
import pytest
from governed import EXAMPLES, GRAPH, go, write_ticket

from fabric_dagster.governance.commissioning import revoke
from resources.supervision.demonstration import make_executable
from sensors import inbox


def keys(result):
    """The run keys that a tick asks for."""
    return [request.run_key for request in result.run_requests]


def test_requested_once(floor):
    """A good ticket becomes one run request with everything that leads to its run; then silence."""
    write_ticket(floor.hall.home.inbox)
    first = floor.tick()
    (request,) = first.run_requests
    run = request.tags["fabric/run"]
    record = floor.hall.services.reload(run)
    assert ("OFFER-101", "opened") == (request.partition_key, record.state)
    assert ("OFFER-101", floor.graph.digest) == (request.tags["fabric/ticket"], request.tags["fabric/graph"])
    assert {floor.key(node.id) for node in floor.graph.graph.nodes} == set(request.asset_selection)
    assert (
        "tickets__create_offer_icon_and_integrate" == first.dynamic_partitions_requests[0].partitions_def_name
    )
    head = floor.hall.services.store.head()
    second = floor.tick(first.cursor)
    assert ([], first.cursor, head) == (keys(second), second.cursor, floor.hall.services.store.head())


def test_touched_file_is_the_same_run(floor):
    """A file that was only touched is looked at, and asks for the same run key: Dagster runs it once."""
    path = write_ticket(floor.hall.home.inbox)
    first = floor.tick()
    os.utime(path, ns=(1, 1))
    assert keys(first) == keys(floor.tick(first.cursor))


def test_lost_cursor(floor):
    """A cursor that was lost or damaged means: look at everything; run keys stay the same."""
    write_ticket(floor.hall.home.inbox)
    first = floor.tick()
    for cursor in (None, "", "no json", "[1]", "null"):
        assert keys(first) == keys(floor.tick(cursor))


def test_completed_is_not_requested(floor):
    """A ticket whose run is completed asks for nothing, whatever became of the cursor."""
    write_ticket(floor.hall.home.inbox)
    (request,) = floor.tick().run_requests
    go(floor.hall, request.tags["fabric/run"])
    assert [] == keys(floor.tick())


def test_changed_block_is_another_run(floor):
    """Another title asks for another run; the same one again for a third."""
    inbox_ = floor.hall.home.inbox
    seen, cursor = [], None
    for title in ("A", "B", "A"):
        write_ticket(inbox_, title=title)
        tick = floor.tick(cursor)
        cursor = tick.cursor
        seen += keys(tick)
    assert len(set(seen)) == 3


def test_bad_tickets_and_a_good_one(floor):
    """Each bad ticket is an event and an observation with all reasons; the good one still runs."""
    home = floor.hall.home
    bad = sorted((EXAMPLES / "bad").glob("*.json"))
    for path in bad:
        shutil.copyfile(path, home.inbox / path.name)
        if (folder := path.with_suffix("")).is_dir():
            shutil.copytree(folder, home.inbox / folder.name)
    write_ticket(home.inbox, "ZZZ-1")
    tick = floor.tick()
    assert ["ZZZ-1"] == [request.partition_key for request in tick.run_requests]
    assert len(bad) == len(tick.asset_events)
    assert all(isinstance(event, dg.AssetObservation) for event in tick.asset_events)
    assert all(event.metadata["reasons"].value.records for event in tick.asset_events)
    refused = list(floor.hall.services.store.read(types=["ticket.refused"]))
    assert len(bad) == len(refused)
    assert all(event.body["faults"] for event in refused)
    again = floor.tick(tick.cursor)
    assert ([], []) == (keys(again), again.asset_events)


def test_half_written(floor):
    """A file that is still being written is refused as it is, and taken when it is whole."""
    path = write_ticket(floor.hall.home.inbox)
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[: len(whole) // 2], encoding="utf-8")
    first = floor.tick()
    assert ([], 1) == (keys(first), len(first.asset_events))
    path.write_text(whole, encoding="utf-8")
    second = floor.tick(first.cursor)
    assert (1, 0) == (len(keys(second)), len(second.asset_events))


def test_attachment_comes_later(floor):
    """A ticket whose picture is not there yet is refused, and taken when the picture has come."""
    path = write_ticket(floor.hall.home.inbox)
    picture = path.with_suffix("") / "starter_pack.png"
    data = picture.read_bytes()
    picture.unlink()
    first = floor.tick()
    assert [] == keys(first)
    picture.write_bytes(data)
    assert 1 == len(keys(floor.tick(first.cursor)))


@pytest.mark.skipif(os.name == "nt", reason="links and pipes as POSIX has them")
def test_hostile_files(floor, tmp_path):
    """A link, a pipe, a folder, an unreadable or huge file: each refused by itself, and the tick goes on."""
    home = floor.hall.home
    elsewhere = write_ticket(tmp_path / "elsewhere")
    (home.inbox / "A-1.json").symlink_to(elsewhere)
    os.mkfifo(home.inbox / "A-2.json")
    (home.inbox / "A-3.json").mkdir()
    (home.inbox / "A-4.json").write_bytes(b"[" * 100_000)
    (home.inbox / "A-5.json").write_bytes(b" " * (inbox.MAX_BYTES + 10))
    (home.inbox / "A-6.json").symlink_to(home.inbox / "nowhere.json")
    (home.inbox / "A-7.json").write_bytes(b"\xff\xfe\x00")
    write_ticket(home.inbox, "B-1")
    tick = floor.tick()
    assert ["B-1"] == [request.partition_key for request in tick.run_requests]
    refused = [event.metadata["ticket"].value for event in tick.asset_events]
    assert [f"A-{n}.json" for n in range(1, 8)] == refused
    assert [] == floor.tick(tick.cursor).asset_events


def test_unreadable_file(floor, monkeypatch):
    """What the system refuses to open is refused with that reason, and the next one still runs."""
    write_ticket(floor.hall.home.inbox, "A-1")
    write_ticket(floor.hall.home.inbox, "B-1")
    plain = inbox.take

    def take(hall, path, reference=None):
        if path.name == "A-1.json":
            raise PermissionError(13, "Permission denied", str(path))
        return plain(hall, path, reference)

    monkeypatch.setattr(inbox, "take", take)
    tick = floor.tick()
    assert ["B-1"] == [request.partition_key for request in tick.run_requests]
    assert "ticket.unreadable" in str(tick.asset_events[0].metadata["reasons"].value)


def test_at_most_fifty(floor, monkeypatch):
    """A tick asks for fifty runs at most; the rest comes with the next ones, each once."""
    assert 50 == inbox.AT_MOST
    monkeypatch.setattr(inbox, "AT_MOST", 3)
    for number in range(7):
        write_ticket(floor.hall.home.inbox, f"OFFER-{number + 1}")
    cursor, seen = None, []
    for expected in (3, 3, 1, 0):
        tick = floor.tick(cursor)
        cursor = tick.cursor
        assert expected == len(tick.run_requests)
        seen += [request.partition_key for request in tick.run_requests]
    assert [f"OFFER-{number}" for number in range(1, 8)] == seen


def test_refused_by_authority_is_looked_at_again(floor):
    """A ticket that was refused for want of a commission runs after commissioning, with nothing touched."""
    hall, services = floor.hall, floor.hall.services
    workflow = hall.workflow(GRAPH)
    commissioner = hall.home.signer("commissioner")
    revoke(services.store, commissioner, workflow.compiled.digest, GRAPH, "for the test", services.trust)
    write_ticket(hall.home.inbox, "A-1")
    write_ticket(hall.home.inbox, "A-2")
    first = floor.tick()
    assert ([], 2) == (keys(first), len(first.asset_events))
    cursor, head = first.cursor, None
    for _ in range(3):  # it comes to rest: no event, no observation
        tick = floor.tick(cursor)
        cursor, head = tick.cursor, services.store.head()
    assert ([], head) == (tick.asset_events, services.store.head())
    make_executable(hall, workflow, lambda _line: None)
    assert ["A-1", "A-2"] == [item.partition_key for item in floor.tick(cursor).run_requests]


def test_gone_while_looking(floor, monkeypatch):
    """A file that vanishes between listing and reading is nothing at all."""
    path = write_ticket(floor.hall.home.inbox)
    plain = inbox._signature

    def signature(item):
        found = plain(item)
        path.unlink()
        return found

    monkeypatch.setattr(inbox, "_signature", signature)
    tick = floor.tick()
    assert ([], [], "{}") == (keys(tick), tick.asset_events, tick.cursor)
    assert json.loads(tick.cursor) == {}
