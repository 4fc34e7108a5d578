"""The example tickets have the shape that Jira's own documents give them."""

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

ROOT = Path(__file__).parents[2]
TICKETS = sorted((ROOT / "packs" / "offers" / "tickets").rglob("OFFER-*.json"))


@pytest.fixture(scope="module")
def jira():
    """The corpus' Jira documents; tests that need them skip without."""
    folder = Path(os.environ.get("FABRIC_CORPUS", ROOT.parent / "shared" / "corpus")) / "jira"
    if not folder.is_dir():
        pytest.skip("no corpus of real files here: set FABRIC_CORPUS")
    return folder


def test_issue_shape(jira):
    """Every example is an IssueBean, and each attachment an Attachment, by Atlassian's OpenAPI document."""
    document = json.loads((jira / "swagger-v3.v3.json").read_bytes())
    schemas = {"components": document["components"]}
    for name, parts in (("IssueBean", lambda i: [i]), ("Attachment", lambda i: i["fields"]["attachment"])):
        validator = Draft202012Validator({"$ref": f"#/components/schemas/{name}", **schemas})
        for path in TICKETS:
            for part in parts(json.loads(path.read_bytes())):
                assert [] == [error.message for error in validator.iter_errors(part)], path.name


def test_description_shape(jira):
    """Every v3 description is a document by Atlassian's ADF schema."""
    validator = Draft4Validator(json.loads((jira / "adf" / "full.json").read_bytes()))
    looked_at = 0
    for path in TICKETS:
        description = json.loads(path.read_bytes())["fields"]["description"]
        if isinstance(description, dict):
            looked_at += 1
            assert [] == [error.message for error in validator.iter_errors(description)], path.name
    assert looked_at > 20


def test_attachments_are_listed():
    """Jira lists exactly the files that lie beside the issue, with their sizes."""
    for path in TICKETS:
        issue = json.loads(path.read_bytes())
        listed = {item["filename"]: item["size"] for item in issue["fields"]["attachment"]}
        folder = path.parent / issue["key"]
        found = {file.name: file.stat().st_size for file in folder.iterdir()} if folder.is_dir() else {}
        assert found == listed, path.name
