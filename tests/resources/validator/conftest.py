"""Evidence that a program can judge without pictures: every check asks for a file that lies there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, FileFact
from fabric_dagster.contracts.ticket import Ticket
from fabric_dagster.digests import digest_bytes
from fabric_dagster.validators.keys import make_key
from resources.validator.client import ValidatorClient

ANY = digest_bytes(b"any")


@pytest.fixture
def evidence(tmp_path: Path) -> BlindEvidence:
    """Evidence without a pack: its one check fails quickly, and says so."""
    return BlindEvidence(
        schema_="fabric.blind-evidence.v1",
        run=ANY,
        graph=ANY,
        side="photoshop_1",
        pack=str(tmp_path / "no-pack"),
        pack_digest=ANY,
        ticket=Ticket(schema_="fabric.ticket.v1", key="ART-1", graph="SomeGraph@1", inputs={}),
        ticket_files={},
        commission=Commission(
            schema_="fabric.commission.v1",
            workspace="test",
            reference="SomeGraph@1",
            graph=ANY,
            pack=ANY,
            certificate=ANY,
            scope=Scope(project="project", templates={}, writes=()),
            effects=(),
            sops={},
            providers={},
            expires="2999-01-01T00:00:00Z",
            commissioner="commissioner",
        ),
        templates={},
        project=str(tmp_path),
        manifest_before=FileFact(path=str(tmp_path / "manifest.json"), digest=ANY),
        artifacts={},
        checks=(CheckRequest(id="source_untouched@1", after="export_icon", blocking=True),),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A validator's home with a key."""
    make_key(tmp_path / "validator")
    return tmp_path / "validator"


@pytest.fixture
def client(home: Path) -> Iterator[ValidatorClient]:
    """A client whose program ends with the test."""
    made = ValidatorClient(home)
    yield made
    made.close()
