"""The Dagster resource ``fabric``: a home's supervisor, for steps and sensors."""

from pathlib import Path

import dagster as dg

from fabric_dagster.digests import digest_file
from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.services import Services
from fabric_dagster.supervisor.workflows import Workflow
from resources.home import Home
from resources.supervision.assembly import Hall, hall

#: Where `fabric dev` serves pictures of the artifact store, read-only, on loopback.
PICTURES = "http://127.0.0.1:3070"


class FabricResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The governed surroundings of every step (``assets.office.Office``).

    ``home`` is the folder that `fabric init` made; empty means ``$FABRIC_HOME``, else ``.fabric`` in the
    checkout. ``pictures`` is the address of the picture server (``$FABRIC_PICTURES``, else where `fabric dev`
    serves); empty shows no pictures.
    """

    home: str = ""
    pictures: str = PICTURES

    def hall(self) -> Hall:
        """The opened home, once a process."""
        return hall(Home.find(Path(self.home) if self.home else None).path)

    def services(self) -> Services:
        """The supervisor's services."""
        return self.hall().services

    def workflow(self, reference: str) -> Workflow:
        """The workflow ``Name@MAJOR``."""
        return self.hall().workflow(reference)

    def template_digest(self, file: str) -> str:
        """The digest of a template as it lies there now."""
        path = self.hall().home.templates / file
        if not path.is_file() or path.is_symlink():
            raise OperationFailed(
                "template.missing", "the template is not there", where=str(path), mend="run `fabric init`"
            )
        return digest_file(path)

    def picture(self, digest: str) -> str | None:
        """The picture's address on the picture server."""
        return f"{self.pictures}/{digest[7:]}.png" if self.pictures else None
