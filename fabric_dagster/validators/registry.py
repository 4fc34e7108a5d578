"""Every validator there is: the built-in ones and those of a pack, found by being there.

Rules kept here:

* A pack's Python runs only after the pack's digest was compared with the evidence's (``view.py``).
* Two modules that declare one id are a fault of the pack: neither runs.
* A validator's digest covers its source, its parameters' schema and the shared measures, with line ends
  normalised, so that a checkout on Windows gives the same one.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabric_dagster.digests import digest_bytes, digest_of
from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.validators import checks, kernels
from fabric_dagster.validators.base import AnyValidator, Validator
from resources.unity import text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

FOLDER = "validators"


@dataclass(frozen=True)
class Registered:
    """A validator and where it stands."""

    validator: AnyValidator
    source: Path

    @cached_property
    def _params(self) -> str:
        """Digest of the parameters' schema; a class does not change while it is loaded."""
        return digest_of("fabric.validator-params.v1", _floatless(self.validator.params.model_json_schema()))

    @property
    def digest(self) -> str:
        """Identity for certificates: another digest is another validator."""
        return digest_of(
            "fabric.validator.v1",
            {
                "id": self.validator.id,
                "source": digest_bytes(_text(self.source)),
                "params": self._params,
                "measures": _measures(),
            },
        )


def validators(pack: Path | None = None) -> Mapping[str, Registered]:
    """Id → validator, sorted by id: the built-in ones and ``pack``'s.

    Raises ``InvalidDocument`` (``validator.duplicate``, ``validator.broken``) with all faults of the pack.
    """
    found = dict(_built_in())
    if pack is not None:
        found.update(_of_pack(pack.resolve(), found))
    return dict(sorted(found.items()))


def digests(pack: Path | None = None) -> dict[str, str]:
    """Id → digest of every validator that ``pack`` can bind."""
    return {identifier: item.digest for identifier, item in validators(pack).items()}


@cache
def _built_in() -> Mapping[str, Registered]:
    found: dict[str, Registered] = {}
    for entry in pkgutil.iter_modules(checks.__path__):
        module = importlib.import_module(f"{checks.__name__}.{entry.name}")
        declared = _declared(module)
        if declared is None or declared.id in found:
            msg = f"{module.__name__} declares no VALIDATOR, or one whose id is taken"
            raise TypeError(msg)
        found[declared.id] = Registered(declared, Path(str(module.__file__)))
    return found


def _of_pack(pack: Path, taken: Mapping[str, Registered]) -> dict[str, Registered]:
    found: dict[str, Registered] = {}
    faults: list[Fault] = []
    for path in sorted((pack / FOLDER).glob("*.py")):
        if path.name.startswith("_"):
            continue
        where = f"{FOLDER}/{path.name}"
        try:
            declared = _declared(_load(path, hashlib.sha256(path.read_bytes()).hexdigest()))
        except (Exception, SystemExit) as fault:  # a pack's module may raise anything at import  # noqa: BLE001
            faults.append(
                Fault("validator.broken", f"the module cannot be imported: {fault}", where, "mend the module")
            )
            continue
        if declared is None:
            faults.append(
                Fault("validator.broken", "the module exports no VALIDATOR", where, "export one Validator")
            )
        elif declared.id in taken or declared.id in found:
            faults.append(
                Fault("validator.duplicate", "this id is taken", where, "choose another id", declared.id)
            )
        else:
            found[declared.id] = Registered(declared, path)
    if faults:
        raise InvalidDocument.of(faults)
    return found


@cache
def _load(path: Path, digest: str) -> ModuleType:
    """Import a file under a name of its own; ``digest`` makes changed bytes another module."""
    name = f"fabric_pack_validator_{digest[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path.name} is no Python module"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks up annotations there
    try:
        spec.loader.exec_module(module)
    except BaseException:  # whatever ends it, an interrupt too: no half-made module stays registered
        del sys.modules[name]
        raise
    return module


def _declared(module: ModuleType) -> AnyValidator | None:
    declared = getattr(module, "VALIDATOR", None)
    return declared if isinstance(declared, Validator) else None


@cache
def _measures() -> str:
    """Digest of the shared readers, measures and rules of judging."""
    room = Path(__file__).parent
    folders = {"kernels": Path(kernels.__path__[0]), "text": Path(text.__path__[0])}
    paths = {"base.py": room / "base.py", "view.py": room / "view.py"}
    for name, folder in folders.items():
        paths |= {f"{name}/{path.name}": path for path in folder.glob("*.py")}
    return digest_of(
        "fabric.validator-measures.v1", {name: digest_bytes(_text(path)) for name, path in paths.items()}
    )


def _text(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _floatless(value: object) -> object:
    """A JSON Schema with its floating-point defaults as text: canonical JSON holds no floats."""
    if isinstance(value, dict):
        return {str(key): _floatless(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floatless(item) for item in value]
    return repr(value) if isinstance(value, float) else value
