"""A governed world on real parts: a home, tickets, and the steps of a run one by one, without Dagster."""

import json
import shutil
from pathlib import Path

from fabric_dagster.digests import digest_file
from fabric_dagster.governance.commissioning import commission
from fabric_dagster.supervisor import controls
from fabric_dagster.supervisor.execution import run_partition
from fabric_dagster.supervisor.judging import judge_side
from resources.home import Home
from resources.setup import initialise
from resources.supervision.assembly import Hall, hall
from resources.supervision.demonstration import make_executable
from resources.validator.client import ValidatorClient
from sensors.inbox import take

GRAPH = "CreateOfferIconAndIntegrate@1"
EXAMPLES = Path(__file__).resolve().parent.parent / "packs/offers/tickets"
ICON = "Assets/Art/Offers/{}.png"
ASSET = "Assets/Data/Offers/{}.asset"
STEPS = (
    "ticket_brief",
    "asset_decision",
    "photoshop_1",
    "photoshop_1 checks",
    "icon_handoff",
    "unity_1",
    "unity_1 checks",
    "verdict",
)


def make_home(path):
    """A home as the demo makes it, up to the commission."""
    initialise(Home(path))
    opened = Hall(Home(path))
    make_executable(opened, opened.workflow(GRAPH), lambda _line: None)
    opened.services.store.close()


def ask_for_approval(hall_):
    """Commission the sample graph again, with visual approval of its pictures."""
    standing = hall_.authorize(hall_.workflow(GRAPH))
    services, signer = hall_.services, hall_.home.signer("commissioner")
    commission(services.store, signer, standing.model_copy(update={"approval": "visual"}), services.trust)


def restore(place):
    """The home at ``place / "home"``, back to its snapshot; freshly opened."""
    shutil.rmtree(place / "home")
    shutil.copytree(place / "snapshot", place / "home", symlinks=True)
    hall.cache_clear()
    return hall(Home(place / "home").path)


def end_validator(home):
    """End the warm validator program of ``home``."""
    ValidatorClient(home / "validator").close()


def write_ticket(folder, key="OFFER-101", *, art=None, text=None, **inputs):
    """Write the issue ``key`` as JSON, with its attachment; ``inputs`` replace those of the example.

    ``text`` is the block as it stands, for blocks that are off. Returns the JSON file.
    """
    given = {
        "offer_id": "starter_pack",
        "category": "offer.bundle",
        "art": "attachment:starter_pack.png",
        "title": "Starter Pack",
        **inputs,
    }
    block = text or "\n".join([f"fabric: {GRAPH}", *(f"{name}: {value}" for name, value in given.items())])
    issue = json.loads((EXAMPLES / "OFFER-101.json").read_text(encoding="utf-8"))
    issue["key"] = key
    for part in issue["fields"]["description"]["content"]:
        if part["type"] == "codeBlock":
            part["content"][0]["text"] = block
    (folder / key).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(art or EXAMPLES / "OFFER-101/starter_pack.png", folder / key / "starter_pack.png")
    path = folder / f"{key}.json"
    path.write_text(json.dumps(issue), encoding="utf-8")
    return path


def opened(hall_, path):
    """Take the ticket in; its run's digest."""
    return take(hall_, path, GRAPH).opened.run.run


def do(hall_, run, step):
    """One step of the line, as a Dagster step would ask for it."""
    services, workflow = hall_.services, hall_.workflow(GRAPH)
    if step.endswith(" checks"):
        return judge_side(services, workflow, run, step.partition(" ")[0])
    if step == "ticket_brief":
        return controls.lay_brief(services, workflow, run)
    if step == "asset_decision":
        return controls.make_decision(services, workflow, run)
    if step == "icon_handoff":
        return controls.seal_handoff(services, workflow, run, step)
    if step == "verdict":
        return controls.complete(services, workflow, run, step)
    return run_partition(services, workflow, run, step)


def go(hall_, run, until="verdict"):
    """Every step up to and including ``until``; the run as the spine has it afterwards."""
    for step in STEPS[: STEPS.index(until) + 1]:
        do(hall_, run, step)
    return hall_.services.reload(run)


def kinds(record):
    """The types of a run's events, in order."""
    return [event.type for event in record.events]


def tree(folder):
    """``{posix path: digest}`` of every file under ``folder``, without our own state in it."""
    return {
        path.relative_to(folder).as_posix(): digest_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "Library" not in path.relative_to(folder).parts
    }


def leftovers(home):
    """Files that a finished run must not leave: stages, journals, temporary files."""
    found = [
        path.relative_to(home).as_posix()
        for folder in (home / "stages", home / "transactions", home / "project/Library")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    ]
    found += [path.relative_to(home).as_posix() for path in home.rglob("*.tmp")]
    return sorted(set(found) | {p.relative_to(home).as_posix() for p in (home / "stages").iterdir()})
