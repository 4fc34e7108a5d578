"""Where everything is: ``FABRIC_HOME``, its folders and its one configuration file.

Rules kept here:

* The home is a real folder: no link on the way to it (but the system's own, directly under the root), and
  it belongs to its owner alone, since keys lie in it.
* ``home.yaml`` is validated as a whole; relative paths in it are relative to the home.
* Looking makes nothing; only ``fabric init`` does.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Document
from fabric_dagster.contracts.specialist import Budget
from fabric_dagster.digests import digest_of
from fabric_dagster.errors import UsageFault
from resources.files.paths import is_link

if TYPE_CHECKING:
    from fabric_dagster.governance.trust import TrustRoot
    from resources.artifacts.place import AnyArtifactStore
    from resources.keys import KeySigner
    from resources.ledger.store import SqlEventStore

CHECKOUT = Path(__file__).resolve().parent.parent
CONFIG = "home.yaml"
MAX_BYTES = 1 << 20


class HomeConfig(Document):
    """``home.yaml``. Paths are relative to the home, or absolute."""

    SCHEMA: ClassVar[str] = "fabric.home.v1"

    schema_: Literal["fabric.home.v1"] = Field(alias="schema")
    #: drawn once by ``fabric init``; with the folder's path it is the home's identity.
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    workspace: str = Field(default="default", pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")
    project: str = "project"
    templates: str = "templates"
    inbox: str = "inbox"
    inputs: tuple[str, ...] = Field(default=("inputs",), strict=False)
    #: folders of packs; empty means the checkout's own.
    packs: tuple[str, ...] = Field(default=(), strict=False)
    #: the ledger's database URL, without a password; none given means SQLite in the home.
    ledger: str | None = None
    #: where the event log's signed heads lie besides: a folder, or a URL of fsspec. Best on another machine.
    anchors: str = "anchors"
    #: the artifact store: a folder, or a URL of fsspec.
    artifacts: str = "artifacts"
    #: who edits documents: our own engine, or a running Photoshop with the paired plugin.
    photoshop: Literal["headless", "uxp"] = "headless"
    #: who edits the project: our own engine, or that engine with an editor's eyes (batch, or a running one).
    unity: Literal["headless", "live"] = "headless"
    #: the editor's executable, for compile, test and build.
    unity_editor: str | None = None
    #: an MCP server on this machine that reaches the running editor, instead of lending it our package.
    unity_mcp: str | None = Field(default=None, pattern=r"^http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]+/")
    #: the limits of every specialist's task.
    budget: Budget = Budget()


class Home:
    """A home at ``path``; it may not exist yet (``exists``, ``require``)."""

    def __init__(self, path: Path) -> None:
        self.path = _real(path)

    @classmethod
    def find(cls, explicit: Path | None = None) -> Home:
        """``explicit``, else ``$FABRIC_HOME``, else ``.fabric`` in the checkout."""
        if explicit is not None:
            return cls(explicit)
        named = os.environ.get("FABRIC_HOME")
        return cls(Path(named) if named else CHECKOUT / ".fabric")

    @property
    def exists(self) -> bool:
        """Whether ``fabric init`` began here."""
        return self.config_file.is_file()

    def require(self) -> Home:
        """This home, or ``UsageFault`` (``home.missing``)."""
        if not (self.exists and self.trust.is_file()):
            raise UsageFault(
                "home.missing", "there is no home here", where=str(self.path), mend="run `fabric init`"
            )
        return self

    # -- configuration

    @property
    def config_file(self) -> Path:
        """``home.yaml``."""
        return self.path / CONFIG

    @cached_property
    def config(self) -> HomeConfig:
        """The validated configuration; ``InvalidDocument`` with every fault's line."""
        from fabric_dagster.documents import check, load_yaml

        if not self.exists:
            self.require()
        return check(HomeConfig, load_yaml(_read(self.config_file), str(self.config_file)))

    @cached_property
    def id(self) -> str:
        """The home's identity: its drawn id at this very path. A copy elsewhere is another home."""
        return digest_of("fabric.home-id.v1", {"id": self.config.id, "path": self.path.as_posix()})

    @property
    def workspace(self) -> str:
        """The workspace whose events and runs this home holds."""
        return self.config.workspace

    def _configured(self, text: str) -> Path:
        return self.path / text

    @property
    def project(self) -> Path:
        """The Unity project."""
        return self._configured(self.config.project)

    @property
    def templates(self) -> Path:
        """The folder of approved templates."""
        return self._configured(self.config.templates)

    @property
    def fonts(self) -> Path:
        """Fonts that text is drawn with; they come before the system's. The folder need not exist."""
        return self.path / "fonts"

    @property
    def inbox(self) -> Path:
        """The folder into which tickets are dropped."""
        return self._configured(self.config.inbox)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The explicit roots that a ticket's paths may lie under."""
        return tuple(self._configured(text) for text in self.config.inputs)

    @property
    def packs(self) -> tuple[Path, ...]:
        """The folders that hold packs."""
        return tuple(self._configured(text) for text in self.config.packs) or (CHECKOUT / "packs",)

    # -- fixed places

    @property
    def keys(self) -> Path:
        """The identities' keys, without the validator's."""
        return self.path / "keys"

    @property
    def validator(self) -> Path:
        """The validator program's own home; its key lies in ``keys`` below it."""
        return self.path / "validator"

    @property
    def trust(self) -> Path:
        """The pinned trust root."""
        return self.path / "trust.json"

    @property
    def ledger(self) -> Path:
        """The ledger's folder: the database and, beside it, the checkpoints."""
        return self.path / "ledger"

    @property
    def ledger_url(self) -> str:
        """The ledger's database URL. A SQLite file's path is relative to the home, or absolute."""
        prefix, given = "sqlite:///", self.config.ledger
        if given is None:
            return f"{prefix}{(self.ledger / 'ledger.sqlite').as_posix()}"
        if given.startswith(prefix) and given != prefix:
            return f"{prefix}{self._configured(given.removeprefix(prefix)).as_posix()}"
        return given

    @property
    def anchors(self) -> tuple[str, ...]:
        """Where the log's signed heads lie: the ledger's folder, and the place that is configured."""
        given = self.config.anchors
        return str(self.ledger), given if _is_url(given) else str(self._configured(given))

    @property
    def artifacts(self) -> Path:
        """The artifact store's folder; for a store elsewhere, its cache on this machine."""
        given = self.config.artifacts
        return self.path / "artifacts" if _is_url(given) else self._configured(given)

    @property
    def deliveries(self) -> Path:
        """Exported pictures and edited copies, a folder a run."""
        return self.path / "deliveries"

    @property
    def unity(self) -> Path:
        """The live editor's snapshots, ledger of requests, package and caches."""
        return self.path / "unity"

    @property
    def stages(self) -> Path:
        """Private folders in which plans are executed."""
        return self.path / "stages"

    @property
    def transactions(self) -> Path:
        """Undo journals."""
        return self.path / "transactions"

    @property
    def dagster(self) -> Path:
        """``DAGSTER_HOME``."""
        return self.path / "dagster"

    # -- opened

    def trust_root(self) -> TrustRoot:
        """The pinned trust root, parsed."""
        from fabric_dagster.governance.trust import TrustRoot

        self.require()
        return TrustRoot.parse(_read(self.trust), str(self.trust))

    def signer(self, identity: str) -> KeySigner:
        """The signer of ``identity``; the validator's key is not in this home's ``keys``."""
        from resources.keys import load_signer

        self.require()
        return load_signer(self.keys, identity)

    def open_ledger(
        self,
        branch: str = "main",
        *,
        create: bool = False,
    ) -> SqlEventStore:
        """The event store of this home's workspace. Only who says ``create`` may bring one into being."""
        from resources.ledger.store import SqlEventStore
        from resources.pinned import opened_under

        return opened_under(
            self.trust_root(),
            lambda root: SqlEventStore(
                self.ledger_url,
                self.workspace,
                root,
                branch,
                anchors=self.anchors,
                create=create,
            ),
        )

    def migrate_ledger(self) -> str:
        """Bring the ledger's database to the newest schema; the one that it had."""
        from resources.ledger.database import Database
        from resources.ledger.faults import missing

        def refuse() -> None:
            raise missing(self.ledger_url)

        self.require()
        database = Database(self.ledger_url, refuse, migrate=True)
        database.close()
        return str(database.found)

    def open_artifacts(self, branch: str = "main") -> AnyArtifactStore:
        """The artifact store of this home's workspace."""
        from resources.artifacts.place import open_store

        self.require()
        given = self.config.artifacts
        return open_store(self.artifacts, given if _is_url(given) else None, self.workspace, branch)


def _is_url(text: str) -> bool:
    return "://" in text


def _read(path: Path) -> bytes:
    with path.open("rb") as reader:
        return reader.read(MAX_BYTES + 1)


def _real(path: Path) -> Path:
    """``path`` made absolute, with every existing part of it proven to be a folder and no link."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links that we refuse
    here = Path(absolute.anchor)
    for index, part in enumerate(absolute.parts[1:]):
        here /= part
        try:
            found = here.lstat()
        except FileNotFoundError:
            break
        except NotADirectoryError:
            raise _bad_home(here.parent, "a file stands where a folder must") from None
        except OSError as fault:
            raise _bad_home(here, f"it cannot be looked at ({fault.strerror})") from None
        if is_link(found):
            # Directly under the root, links are the system's own (/tmp and /var on macOS).
            if index == 0:
                here = here.resolve()
                continue
            raise _bad_home(here, "a link stands on the way to the home")
        if not here.is_dir():
            raise _bad_home(here, "a file stands where a folder must")
    return absolute


def _bad_home(where: Path, what: str) -> UsageFault:
    return UsageFault(
        "home.unusable", what, where=str(where), mend="give a real folder with --home or FABRIC_HOME"
    )
