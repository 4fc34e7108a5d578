"""Many certifiers, one receipt: one winner."""

import json
import subprocess
import sys

import pytest

RACER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify
from fabric_dagster.governance.trust import TrustRoot
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

url, trust_file, receipt_file = sys.argv[1:]
trust = TrustRoot.parse(open(trust_file, "rb").read(), trust_file)
receipt = json.load(open(receipt_file))
certifier = signer_of("certifier", Ed25519PrivateKey.from_private_bytes(b"certifier".ljust(32, b".")))
print("ready", flush=True)
sys.stdin.readline()

def race(_number):
    store = SqlEventStore(url, "default", trust)
    try:
        certify(store, certifier, receipt, trust)
    except Refused as fault:
        return fault.code
    return "won"

with ThreadPoolExecutor(2) as pool:
    print(*pool.map(race, range(2)), sep="\\n")
"""


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_sixteen_racers_consume_one_receipt_once(request, world, tmp_path, database):
    """Eight processes of two threads: one certificate; the others are told that the receipt is consumed."""
    if database == "postgresql":
        world.url = request.getfixturevalue("postgres_url")
        world.reopen()
    receipt = world.receipt(world.qualify())
    (tmp_path / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    (tmp_path / "trust.json").write_bytes(world.trust.to_bytes())
    words = [world.url, str(tmp_path / "trust.json"), str(tmp_path / "receipt.json")]
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said = sorted(line for racer in racers for line in racer.communicate(timeout=120)[0].split())
    assert said == ["authority.receipt_consumed"] * 15 + ["won"]
    assert len(list(world.store.read(types=["graph.certified"]))) == 1
