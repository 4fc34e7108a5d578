"""Whether an editor that imports the project leaves the touched metas as they are.

Only this sees a ``.meta`` that every editor would write anew: a stub, another importer's block, one of a
later editor, mixed line ends; where asked, also a script that changes textures as they are imported.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.project import PICTURES, importer_of
from fabric_dagster.validators.kernels.sheets import block
from fabric_dagster.validators.kernels.touched import META, touched

if TYPE_CHECKING:
    from fabric_dagster.validators.kernels.project import Tree
    from fabric_dagster.validators.view import EvidenceView

#: suffix → the importer whose block its ``.meta`` has
IMPORTERS = {
    **dict.fromkeys(PICTURES - {".exr", ".psb"}, "TextureImporter"),
    **dict.fromkeys((".asset", ".mat", ".anim", ".controller", ".spriteatlas"), "NativeFormatImporter"),
    ".prefab": "PrefabImporter",
    ".unity": "DefaultImporter",
    ".cs": "MonoImporter",
    ".asmdef": "AssemblyDefinitionImporter",
    ".spriteatlasv2": "SpriteAtlasImporter",
}
#: first editor (major, minor) → the newest TextureImporter that it knows
KNOWN = (((2018, 0), 9), ((2019, 0), 11), ((2020, 0), 12), ((2022, 0), 13))
VERSION_FILE = "ProjectSettings/ProjectVersion.txt"
VERSION = re.compile(rb"m_EditorVersion:\s*(\d+)\.(\d+)")
POSTPROCESSOR = b"AssetPostprocessor"
TEXTURE_HOOK = re.compile(rb"\bOn(?:Pre|Post)processTexture\s*\(")


class ImportSettles(Params):
    """``refuse_postprocessors``: whether a script that changes textures on import is a fault."""

    refuse_postprocessors: bool = False


def judge(view: EvidenceView, params: ImportSettles) -> Outcome:
    """Look at every touched ``.meta`` as its importer would."""
    outcome = Outcome()
    found = touched(view)
    newest = _newest(found.tree)
    metas = [path for path in found.present if path.endswith(META)]
    for path in metas:
        data = found.tree.read(path)
        outcome.must(
            data.startswith((b"fileFormatVersion: 2\n", b"fileFormatVersion: 2\r\n")),
            "a .meta's head",
            "another",
            path,
        )
        outcome.must(data.endswith(b"\n"), "a final line end", "none", path)
        mixed = b"\r\n" in data and data.count(b"\r\n") != data.count(b"\n")
        outcome.must(not mixed, "one kind of line end", "both kinds" if mixed else "so", path)
        meta = found.tree.unity(path)
        importer = importer_of(meta)
        asset = path.removesuffix(META)
        wanted = (
            "DefaultImporter"
            if asset in found.tree.folders
            else IMPORTERS.get(PurePosixPath(asset).suffix.lower())
        )
        scripted = importer == "ScriptedImporter"
        outcome.must(
            importer and (wanted in {None, importer} or scripted),
            wanted or "an importer",
            importer or "none",
            path,
        )
        version = str(block(meta).get("serializedVersion", "0"))
        outcome.must(
            version.isdigit() and int(version) <= newest,
            f"an importer of version {newest} at most",
            version,
            path,
        )
    changing = [path for path in sorted(found.tree.files) if _changes_textures(found.tree, path)]
    textures = found.metas(PICTURES)
    if params.refuse_postprocessors and textures:
        outcome.must(
            not changing, "no script that changes textures on import", ", ".join(changing), textures[0]
        )
    outcome.must(holds=True, expected="every touched .meta looked at", found=str(len(metas)), where="project")
    outcome.figures["postprocessors"] = str(len(changing))
    return outcome


def _changes_textures(tree: Tree, path: str) -> bool:
    if not path.endswith(".cs"):
        return False
    code = tree.read(path)
    return POSTPROCESSOR in code and TEXTURE_HOOK.search(code) is not None


def _newest(tree: Tree) -> int:
    """The newest TextureImporter that the project's editor knows; any where it is not said."""
    match = VERSION.search(tree.read(VERSION_FILE)) if VERSION_FILE in tree.files else None
    if match is None:
        return KNOWN[-1][1]
    editor = (int(match[1]), int(match[2]))
    return max((version for first, version in KNOWN if first <= editor), default=KNOWN[0][1])


VALIDATOR = Validator(
    id="import_settles@1",
    summary="Every touched .meta is whole and of the project's editor, so that importing leaves it as it is.",
    params=ImportSettles,
    judge=judge,
)
