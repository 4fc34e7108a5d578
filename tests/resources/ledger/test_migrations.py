"""The schema: what the migrations make is what the program says, and nobody migrates by accident."""

import threading

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, inspect, text

from fabric_dagster.errors import OperationFailed
from fabric_dagster.spine.ports import NewEvent
from resources.ledger.database import Database
from resources.ledger.migrate import MIGRATIONS
from resources.ledger.schema import EVENTS, REVISION
from resources.ledger.store import SqlEventStore


@pytest.fixture
def run(url):
    """Runs statements on the test's database, past the program."""
    engine = create_engine(url)

    def run_one(*statements):
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))

    run_one.engine = engine
    yield run_one
    engine.dispose()


def test_the_newest_migration_is_the_one_that_the_program_needs():
    """One line of steps, without branches."""
    script = ScriptDirectory(str(MIGRATIONS))
    assert script.get_heads() == [REVISION]
    assert [step.revision for step in script.walk_revisions()] == ["0002", "0001"]


@pytest.mark.usefixtures("store")
def test_a_fresh_database_has_the_tables_that_the_program_says(run):
    """Columns, key, unique constraints and index, in both databases."""
    found = inspect(run.engine)
    columns = {column["name"]: column["nullable"] for column in found.get_columns("events")}
    assert columns == {column.name: column.nullable for column in EVENTS.columns}
    assert found.get_pk_constraint("events")["constrained_columns"] == ["workspace", "branch", "position"]
    unique = {tuple(item["column_names"]) for item in found.get_unique_constraints("events")}
    assert unique == {
        ("workspace", "branch", "stream", "version"),
        ("workspace", "branch", "idempotency_key"),
    }
    (index,) = [item for item in found.get_indexes("events") if item["name"] == "events_by_type"]
    assert index["column_names"] == ["workspace", "branch", "type", "position"]


def older(run, url):
    """Take the database back to the first schema, from before schemas had a name."""
    wall = "DROP TRIGGER events_no_gap" + ("" if url.startswith("sqlite") else " ON events")
    run(wall, "DROP TABLE alembic_version")
    if not url.startswith("sqlite"):
        run("DROP FUNCTION events_contiguous()")


@pytest.mark.usefixtures("filled")
def test_an_older_database_is_refused_and_migrated_on_purpose(run, url, open_store):
    """Every event is there afterwards, and the new wall stands."""
    older(run, url)
    with pytest.raises(OperationFailed) as caught:
        open_store()
    assert caught.value.code == "spine.older_schema"
    database = Database(url, migrate=True)
    assert (database.found, database._revision()) == ("0001", REVISION)
    database.close()
    store = open_store()
    assert (store.verify().sound, store.head()[0]) == (True, 10)
    with pytest.raises(OperationFailed, match="contiguous"), store._database.write("x") as connection:
        connection.exec_driver_sql(
            "INSERT INTO events SELECT workspace, branch, 99, 'a', 99, 'a.b', NULL, 'd', payload, signature"
            " FROM events WHERE position = 1"
        )


@pytest.mark.usefixtures("filled")
def test_a_newer_database_is_left_alone(run, url, open_store):
    """By opening and by migrating."""
    run("UPDATE alembic_version SET version_num = '9999'")
    for attempt in (open_store, lambda: Database(url, migrate=True)):
        with pytest.raises(OperationFailed) as caught:
            attempt()
        assert caught.value.code == "spine.newer_schema"


@pytest.mark.usefixtures("filled")
def test_a_migration_that_fails_changes_nothing(run, url, open_store):
    """It is one transaction: a wall of the same name is in the way, and the schema stays."""
    older(run, url)
    if url.startswith("sqlite"):
        in_the_way = "CREATE TRIGGER events_no_gap BEFORE INSERT ON events BEGIN SELECT 1; END"
    else:
        in_the_way = (
            "CREATE TRIGGER events_no_gap BEFORE INSERT ON events FOR EACH STATEMENT "
            "EXECUTE FUNCTION events_append_only()"
        )
    run(in_the_way)
    with pytest.raises(OperationFailed):
        Database(url, migrate=True)
    with pytest.raises(OperationFailed) as caught:
        open_store()
    assert caught.value.code == "spine.older_schema"


def test_first_openers_take_turns(url, trust, anchor, runtime):
    """Eight threads open a database that is not there yet, and write."""
    faults = []

    def work(number):
        try:
            store = SqlEventStore(url, "default", trust, anchors=(anchor.parent,))
            store.append([NewEvent("home", "test.noted", {"n": number})], signer=runtime)
            store.close()
        except Exception as fault:  # noqa: BLE001 - collected and asserted on
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    store = SqlEventStore(url, "default", trust, anchors=(anchor.parent,))
    assert (store.head()[0], store.verify().sound) == (8, True)
    store.close()


def test_reads_go_by_index(filled, url):
    """No question that a run asks looks at every event, however little the planner knows."""
    queries = filled._queries
    asked = [
        (queries.page(of_stream=True, of_types=False), {"of": "run:1", "version": 0, "after": 0, "most": 10}),
        (queries.page(of_stream=False, of_types=True), {"types": ["x"], "after": 0, "most": 10}),
        (queries.by_keys, {"keys": ["key-1"]}),
        (queries.last, {}),
        (queries.version, {"of": "run:1"}),
        (queries.streams, {"least": "run:", "most": "run:~~"}),
    ]
    lite = url.startswith("sqlite")

    def explain(_connection, _cursor, statement, values, _context, _many):
        return ("EXPLAIN QUERY PLAN " if lite else "EXPLAIN ") + statement, values

    with filled._database.read() as connection:
        if not lite:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        event.listen(connection, "before_cursor_execute", explain, retval=True)
        for query, values in asked:
            rows = connection.execute(query, values).cursor.fetchall()
            plan = " ".join(str(row[-1]) for row in rows)
            assert "Seq Scan" not in plan, plan
            assert "SCAN events" not in plan, plan
            assert ("SEARCH events USING" if lite else "Index") in plan, plan
