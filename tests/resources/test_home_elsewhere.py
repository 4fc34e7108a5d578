"""A home whose ledger, anchors and artifacts lie elsewhere: PostgreSQL and URLs of fsspec."""

import shutil

import governed
import pytest

from fabric_dagster.errors import CheckFailed, UsageFault
from resources.artifacts.collect import collect, faults_of
from resources.home import Home
from resources.setup import CONFIG, initialise
from resources.supervision.assembly import Hall, hall
from resources.supervision.demonstration import make_executable


def configured(path, **keys):
    """A home with nothing but its configuration, ``keys`` changed."""
    path.mkdir(mode=0o700)
    lines = [line for line in CONFIG.format(id="0" * 32).splitlines() if line.partition(":")[0] not in keys]
    lines += [f"{name}: {value!r}" for name, value in keys.items()]
    (path / "home.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Home(path)


def test_the_defaults_are_in_the_home(tmp_path):
    """SQLite, a folder of anchors, a folder of artifacts."""
    home = configured(tmp_path / "home")
    assert home.ledger_url == f"sqlite:///{(home.path / 'ledger/ledger.sqlite').as_posix()}"
    assert home.anchors == (str(home.path / "ledger"), str(home.path / "anchors"))
    assert home.artifacts == home.path / "artifacts"


def test_paths_are_relative_to_the_home_and_urls_are_not(tmp_path):
    """Each of the three keys."""
    home = configured(
        tmp_path / "home", ledger="sqlite:///x/log.sqlite", anchors="memory://anchors", artifacts="blobs"
    )
    assert home.ledger_url == f"sqlite:///{(home.path / 'x/log.sqlite').as_posix()}"
    assert home.anchors == (str(home.path / "ledger"), "memory://anchors")
    assert home.artifacts == home.path / "blobs"
    elsewhere = configured(tmp_path / "other", artifacts="memory://blobs", anchors=str(tmp_path / "safe"))
    assert elsewhere.artifacts == elsewhere.path / "artifacts"
    assert elsewhere.anchors[1] == str(tmp_path / "safe")


def test_a_password_in_home_yaml_is_refused(tmp_path):
    """It is named, and not repeated."""
    home = configured(tmp_path / "home", ledger="postgresql+psycopg://fabric:s3cret@host/db")
    with pytest.raises(UsageFault) as caught:
        initialise(home)
    assert caught.value.code == "spine.password_in_url"
    assert "s3cret" not in str(caught.value)


@pytest.mark.proof
def test_a_ticket_goes_through_on_postgres_and_a_remote_store(tmp_path, postgres_url, ticket):
    """From init to the verdict; everything is proven, and nothing that a run stored is collected."""
    home = configured(
        tmp_path / "home",
        ledger=postgres_url,
        artifacts=f"memory://{tmp_path.name}/artifacts",
        anchors=f"file://{(tmp_path / 'anchors').as_posix()}",
    )
    initialise(home)
    world = Hall(home)
    make_executable(world, world.workflow(governed.GRAPH), lambda _line: None)
    run = governed.opened(world, ticket)
    done = governed.go(world, run)
    assert done.state == "completed"
    store = world.services.store
    assert store.verify().sound
    assert (home.path / "ledger/checkpoint.default.main.json").is_file()
    count, faults = faults_of(world.services.artifacts)
    assert (count > 5, faults) == (True, [])
    before = set(world.services.artifacts.digests())
    kept = collect(world.services.artifacts, [store], before=4e9)
    assert world.services.reload(run).state == "completed"
    assert {done.verdicts[0].evidence, done.verdicts[0].envelope} <= before - set(kept.removed)
    assert (kept.removed, kept.kept) == ([], count)
    store.close()
    assert [path.name for path in (tmp_path / "anchors").iterdir()] == ["checkpoint.default.main.json"]
    shutil.rmtree(home.path / "ledger")
    assert Home(home.path).open_ledger().head()[0] > 10
    with store._database._engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE events, alembic_version CASCADE")
    with pytest.raises(CheckFailed) as caught:
        Home(home.path).open_ledger(create=True)
    assert caught.value.code == "spine.lost"
    governed.end_validator(home.path)
    hall.cache_clear()
