"""A bundle is accepted by a verifier without our code, and no changed one is, by it or by us."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import FabricError
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.bundle import verify_bundle
from fabric_dagster.spine.checkpoints import Checkpoint, sign_checkpoint
from fabric_dagster.spine.events import message
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of
from resources.ledger.bundles import export_log, prove_bundle
from resources.ledger.store import SqlEventStore

RUNTIME = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"r" * 32))
ADMIN = signer_of("admin", Ed25519PrivateKey.from_private_bytes(b"a" * 32))
TRUST = TrustRoot.of({"runtime": RUNTIME.public, "admin": ADMIN.public})
SCRIPT = Path(__file__).with_name("independent_verifier.py")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The lines of a bundle of six events by two identities."""
    folder = tmp_path_factory.mktemp("bundle")
    store = SqlEventStore(f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", "default", TRUST)
    for number in range(6):
        event = NewEvent(
            f"run:sha256:{number % 2}", "task.issued", {"number": number, "text": "ü"}, f"k{number}"
        )
        store.append([event], signer=(RUNTIME, ADMIN)[number % 3 == 0])
    assert export_log(store, folder / "log.ndjson") == 6
    store.close()
    return [json.loads(line) for line in (folder / "log.ndjson").read_bytes().splitlines()]


@pytest.fixture
def judged(tmp_path):
    """What the independent verifier, and ours, say of a bundle: (accepted, code of our first fault)."""
    (tmp_path / "trust.json").write_bytes(TRUST.to_bytes())

    def judge(lines):
        path = tmp_path / "log.ndjson"
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        done = subprocess.run(
            [sys.executable, SCRIPT, path, tmp_path / "trust.json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == "" or done.stderr.startswith("refused: "), done.stderr
        try:
            faults = prove_bundle(path, TRUST)[0].faults
        except FabricError as fault:
            faults = fault.faults
        return done.returncode == 0, faults[0].code if faults else None

    return judge


def payload_of(line):
    """The event in an envelope."""
    return json.loads(base64.b64decode(line["payload"]))


def with_payload(line, document, signer=None):
    """The envelope around another event; signed again where somebody has a key."""
    payload = canonical(document)
    (entry,) = line["signatures"]
    if signer is not None:
        entry = {"keyid": signer.keyid, "sig": base64.b64encode(signer.sign(message(payload))).decode()}
    return line | {"payload": base64.b64encode(payload).decode(), "signatures": [entry]}


def edit_body(lines):
    """A value in the middle."""
    lines[4] = with_payload(lines[4], payload_of(lines[4]) | {"body": {"number": 99}})


def swap(lines):
    """Two neighbours change places."""
    lines[3], lines[4] = lines[4], lines[3]


def delete(lines):
    """One is left out, and the count agrees."""
    del lines[4]
    lines[0] = lines[0] | {"events": 5}


def cut(lines):
    """The last one is left out, and the count agrees."""
    del lines[-2]
    lines[0] = lines[0] | {"events": 5}


def repeat(lines):
    """The last one stands twice."""
    lines.insert(-1, lines[-2])
    lines[0] = lines[0] | {"events": 7}


def rechain(lines):
    """Everything from the third on is written anew under a key of the attacker's own."""
    thief = signer_of("runtime", Ed25519PrivateKey.generate())
    previous = digest_bytes(base64.b64decode(lines[3]["payload"]))
    for at in range(4, 8):
        document = payload_of(lines[at]) | {"previous": previous, "actor": "runtime", "keyid": thief.keyid}
        lines[at] = with_payload(lines[at], document, thief)
        previous = digest_bytes(base64.b64decode(lines[at]["payload"]))


def act_for_another(lines):
    """The runtime signs as the admin."""
    lines[2] = with_payload(lines[2], payload_of(lines[2]) | {"actor": "admin"}, RUNTIME)


def no_checkpoint(lines):
    """Its end could be anywhere."""
    del lines[-1]


def foreign_checkpoint(lines):
    """A head signed by nobody who is trusted."""
    thief = signer_of("runtime", Ed25519PrivateKey.generate())
    lines[-1] = {"checkpoint": json.loads(sign_checkpoint(Checkpoint("default", "main", 6, "x"), thief))}


def older_checkpoint(lines):
    """An honest head of a shorter log."""
    digest = digest_bytes(base64.b64decode(lines[4]["payload"]))
    point = sign_checkpoint(Checkpoint("default", "main", 3, digest), RUNTIME)
    lines[-1] = {"checkpoint": json.loads(point)}


def other_log(lines):
    """The same events said to be another branch's."""
    lines[0] = lines[0] | {"branch": "trial"}


def other_trust(lines):
    """A trust root that knows the attacker."""
    thief = signer_of("runtime", Ed25519PrivateKey.generate())
    lines[1] = {"trust": TrustRoot.of({"runtime": thief.public}).body()}


def two_signatures(lines):
    """DSSE allows it, the format does not."""
    lines[2] = lines[2] | {"signatures": lines[2]["signatures"] * 2}


def other_type(lines):
    """A checkpoint's type on an event."""
    lines[2] = lines[2] | {"payloadType": "application/vnd.fabric.checkpoint.v1+json"}


TAMPERED = {
    edit_body: "spine.signature",
    swap: "spine.column",
    delete: "spine.column",
    cut: "spine.cut",
    repeat: "spine.column",
    rechain: "spine.signature",
    act_for_another: "spine.signature",
    no_checkpoint: "spine.unanchored",
    foreign_checkpoint: "spine.checkpoint",
    older_checkpoint: "spine.replaced",
    other_log: "spine.column",
    other_trust: "spine.other_trust",
    two_signatures: "spine.bytes",
    other_type: "spine.bytes",
}


def test_the_good_bundle_is_accepted_by_both(good, judged):
    """Only cryptography, securesystemslib and the page of the format are needed."""
    assert judged(good) == (True, None)
    assert "fabric_dagster" not in SCRIPT.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("tamper", "code"), TAMPERED.items())
def test_every_tampered_bundle_is_refused_by_both(good, judged, tamper, code):
    """With a code of ours that names the kind."""
    lines = list(good)
    tamper(lines)
    assert judged(lines) == (False, code)


@pytest.mark.parametrize("data", [b"", b"[]\n", b"\xff\n", b"{" * 2_000_000, b'{"schema":"other"}\n'])
def test_a_file_that_is_no_bundle_is_a_finding(data):
    """Whatever stands in the file, never a traceback."""
    report = verify_bundle(data.splitlines(keepends=True), TRUST)
    assert report.faults[0].code == "spine.bad_bundle"


def test_a_target_without_a_folder_is_refused_and_nothing_is_left(tmp_path):
    """One clear error."""
    store = SqlEventStore(f"sqlite:///{(tmp_path / 'ledger.sqlite').as_posix()}", "default", TRUST)
    with pytest.raises(FabricError) as none:
        export_log(store, tmp_path / "log.ndjson")
    assert none.value.code == "spine.unanchored"
    store.append([NewEvent("home", "test.noted", {})], signer=RUNTIME)
    for target in (tmp_path / "none/log.ndjson", tmp_path):
        with pytest.raises(FabricError) as caught:
            export_log(store, target)
        assert caught.value.code == "spine.bad_target"
    store.close()
    assert not list(tmp_path.glob("*log.ndjson*"))
