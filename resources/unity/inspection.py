"""What ``fabric unity inspect`` reports, as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from resources.unity.index import ProjectIndex
from resources.unity.index.contents import contents


def summary(index: ProjectIndex, known: Mapping[str, str] | None = None) -> dict[str, object]:
    """The JSON form of what a person asks ``inspect`` for."""
    outside = index.outside(known)
    unresolved = [*outside["broken"], *outside["unknown"]]
    total = sum(1 for _ in index.uses)
    inside = contents(index)
    suffixes = Counter(PurePosixPath(path).suffix or "folder" for path in index.guids)
    return {
        "project": index.project.root.name,
        "unity_version": index.project.version,
        "force_text": index.project.forces_text,
        "packages": inside.packages,
        "embedded_packages": inside.embedded,
        "assemblies": inside.assemblies,
        "unreadable_manifests": inside.unreadable,
        "files": index.files,
        "files_read": index.read,
        "changed": index.changed,
        "assets": len(index.guids),
        "guids": len(index.assets),
        "kinds": dict(sorted(suffixes.items(), key=lambda pair: (-pair[1], pair[0]))),
        "duplicate_guids": index.duplicates,
        "orphan_metas": index.orphan_metas,
        "missing_metas": index.missing_metas,
        "stub_metas": index.stub_metas,
        "broken_metas": index.broken_metas,
        "suspicious_guids": index.suspicious_guids,
        "case_twins": [list(pair) for pair in index.case_twins],
        "links": index.links,
        "references": {
            "total": total,
            "within_project": total - sum(map(len, outside.values())),
            **{kind: len(uses) for kind, uses in outside.items()},
        },
        "unresolved": [
            {
                "in": use.path,
                "fileID": use.file_id,
                "guid": use.guid,
                "type": use.kind,
                "class": index.classify(use.guid, known),
            }
            for use in unresolved
        ],
    }
