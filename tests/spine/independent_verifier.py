"""Verifies a fabric.spine-bundle.v1 without our code: DSSE by securesystemslib, the rest is docs/spine.md."""

import base64
import hashlib
import json
import sys

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

EVENT = "application/vnd.fabric.event.v1+json"
CHECKPOINT = "application/vnd.fabric.checkpoint.v1+json"


def need(condition, what):
    """Stop at the first thing that is not so."""
    if not condition:
        sys.exit(f"refused: {what}")


def opened(envelope, kind, keys):
    """The payload of an envelope that exactly one trusted key signed, its digest, and whose key it is."""
    need(envelope["payloadType"] == kind and len(envelope["signatures"]) == 1, "not one signature")
    keyid = envelope["signatures"][0]["keyid"]
    need(keyid in keys, "a key that is not trusted")
    owner, key = keys[keyid]
    try:
        Envelope.from_dict(envelope).verify([key], 1)
    except VerificationError:
        sys.exit("refused: a signature does not verify")
    payload = base64.b64decode(envelope["payload"], validate=True)
    return json.loads(payload), "sha256:" + hashlib.sha256(payload).hexdigest(), (owner, keyid)


def main(bundle, trust):
    """Check everything that the format promises."""
    with open(trust, encoding="utf-8") as file:  # noqa: PTH123 - as a stranger would write it
        root = json.load(file)
    keys = {}
    for owner, identity in root["identities"].items():
        for key in identity["keys"]:
            raw = base64.b64decode(key["public"])
            need(key["keyid"] == "sha256:" + hashlib.sha256(raw).hexdigest(), "a key is not what it says")
            need("ended" not in key, "ended keys are beyond this script")
            keys[key["keyid"]] = (owner, SSlibKey(key["keyid"], "ed25519", "ed25519", {"public": raw.hex()}))
    with open(bundle, encoding="utf-8") as file:  # noqa: PTH123 - as a stranger would write it
        head, own, *envelopes, last = [json.loads(line) for line in file]
    need("checkpoint" in last, "no signed end")
    need(own["trust"] == root and len(envelopes) == head["events"], "another trust root, or a wrong count")
    previous, versions, used = "", {}, set()
    for position, envelope in enumerate(envelopes, 1):
        event, digest, owner = opened(envelope, EVENT, keys)
        need((event["workspace"], event["branch"]) == (head["workspace"], head["branch"]), "another log")
        need((event["actor"], event["keyid"]) == owner, "another actor")
        need((event["position"], event["previous"]) == (position, previous), "not the next in the chain")
        versions[event["stream"]] = versions.get(event["stream"], 0) + 1
        need(event["version"] == versions[event["stream"]], "not the next of its stream")
        need(event.get("idempotency_key") not in used, "a key was used twice")
        used |= {event["idempotency_key"]} if "idempotency_key" in event else set()
        previous = digest
    point, _, _ = opened(last["checkpoint"], CHECKPOINT, keys)
    need((point["workspace"], point["branch"]) == (head["workspace"], head["branch"]), "another log's end")
    need((point["position"], point["head"]) == (len(envelopes), previous), "not the end that was signed")


if __name__ == "__main__":
    main(*sys.argv[1:])
