"""The index and its reports, on small trees made here and on real projects."""

import json
import os

import pytest
from unity_world import STARTER

from fabric_dagster.digests import digest_of
from fabric_dagster.errors import InvalidDocument
from resources.unity import sample
from resources.unity.index import index_project, patterned
from resources.unity.inspection import summary
from resources.unity.manifest import tree_manifest
from resources.unity.project import Project, open_project

GUID = "5f0c2d1e7a3b4c6d8e9fa0b1c2d3e4f5"
SAMPLE = "sha256:2f78afedb039e0c39c25a4c602f48b43d72c9f72ba6e2a39728ecdd0c7dfc963"
FULL = "fileFormatVersion: 2\nguid: {}\nDefaultImporter:\n  externalObjects: {{}}\n"


def put(project, path, text):
    """Write a text file of the project."""
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8")


def test_the_sample_project_is_sound_and_the_same_bytes_every_time(project, tmp_path):
    """Nothing to report; a second build is equal; an occupied folder is refused."""
    found = summary(index_project(open_project(project)))
    faults = (
        "duplicate_guids",
        "orphan_metas",
        "missing_metas",
        "stub_metas",
        "suspicious_guids",
        "unresolved",
        "case_twins",
    )
    assert {key: len(found[key]) for key in faults} == dict.fromkeys(faults, 0)
    assert found["references"]["within_project"] == 13
    sample.build(tmp_path / "again")
    assert tree_manifest(tmp_path / "again") == tree_manifest(project)
    assert digest_of("tree", tree_manifest(project)) == SAMPLE
    with pytest.raises(Exception, match=r"unity\.sample_target"):
        sample.build(project)


def test_each_fault_of_a_tree_is_found(project):
    """One of every kind."""
    put(project, "Assets/one.txt", "1")
    put(project, "Assets/one.txt.meta", FULL.format(GUID))
    put(project, "Assets/two.txt", "2")
    put(project, "Assets/two.txt.meta", FULL.format(GUID))
    put(project, "Assets/gone.txt.meta", FULL.format("6" + GUID[1:]))
    put(project, "Assets/bare/none.txt", "3")
    put(project, "Assets/stub.txt", "4")
    put(project, "Assets/stub.txt.meta", f"fileFormatVersion: 2\nguid: {'7' + GUID[1:]}\n")
    put(project, "Assets/lost.txt", "5")
    put(project, "Assets/lost.txt.meta", "fileFormatVersion: 2\n")
    put(project, "Assets/typed.txt", "6")
    put(project, "Assets/typed.txt.meta", FULL.format("12345678901234567890123456789012"))
    put(project, "Assets/near.txt", "7")
    put(project, "Assets/near.txt.meta", FULL.format("7" + GUID[1:-1] + "0"))
    outside = "type: 3}\n  x: {fileID: 1, guid: d41d8cd98f00b204e9800998ecf8427e, type: 2}\n"
    outside += "  y: {fileID: 10303, guid: 0000000000000000f000000000000000, type: 0}\n  m_Name"
    offer = (project / STARTER).read_text(encoding="utf-8").replace("type: 3}\n  m_Name", outside)
    put(project, STARTER.replace("starter_pack", "odd"), offer)
    put(project, "Assets/Twin.txt", "8")
    put(project, "Assets/.hidden/x.txt", "ignored")
    put(project, "Assets/Samples~/x.txt", "ignored")
    if os.name == "posix":
        put(project, "Assets/twin.txt", "9")
    found = summary(index_project(open_project(project)))
    assert found["duplicate_guids"] == {GUID: ["Assets/one.txt", "Assets/two.txt"]}
    assert found["orphan_metas"] == ["Assets/gone.txt.meta"]
    bare = {"Assets/bare", "Assets/bare/none.txt", "Assets/Data/Offers/odd.asset", "Assets/Twin.txt"}
    assert bare <= set(found["missing_metas"])
    assert found["stub_metas"] == ["Assets/stub.txt.meta"]
    assert found["broken_metas"] == ["Assets/lost.txt.meta"]
    assert found["suspicious_guids"] == ["Assets/near.txt", "Assets/stub.txt", "Assets/typed.txt"]
    assert [item["guid"] for item in found["unresolved"]] == ["d41d8cd98f00b204e9800998ecf8427e"]
    assert found["references"]["built_in"] == 1
    if os.name == "posix" and (project / "Assets/twin.txt").read_text(encoding="utf-8") == "9":
        assert found["case_twins"] == [["Assets/Twin.txt", "Assets/twin.txt"]]
    assert not any("hidden" in path or "Samples~" in path for path in found["missing_metas"])


def test_references_out_of_the_project_are_told_apart(project):
    """Known package, cached package, broken, unknown."""
    put(project, "Assets/x.asset", "%YAML 1.1\n--- !u!1 &1\nA:\n" + "".join(
        f"  r{i}: {{fileID: 1, guid: {i}{GUID[1:]}, type: 3}}\n" for i in (1, 2)))  # fmt: skip
    index = index_project(open_project(project))
    assert [index.classify(f"{i}{GUID[1:]}", {f"1{GUID[1:]}": "com.example/x"}) for i in (1, 2)] == [
        "package",
        "unknown",
    ]
    put(project, "Library/PackageCache/com.example@1/x.meta", FULL.format(f"1{GUID[1:]}"))
    index = index_project(open_project(project))
    assert [index.classify(f"{i}{GUID[1:]}") for i in (1, 2)] == ["package", "broken"]


def test_an_asmdef_reference_counts_as_a_use(project):
    """A GUID change must follow into it."""
    guid = index_project(open_project(project)).guids["Assets/Scripts/Offers/Game.Offers.asmdef"]
    put(project, "Assets/Other.asmdef", json.dumps({"name": "Other", "references": [f"GUID:{guid}"]}))
    assert index_project(open_project(project)).users_of(guid) == ["Assets/Other.asmdef"]


@pytest.mark.parametrize(
    ("guid", "typed"),
    [
        ("0" * 32, True),
        ("0123456789abcdef0123456789abcdef", True),
        ("fedcba98" + GUID[8:], True),
        ("aaaaaaaa" + GUID[8:], True),
        ("abababababababababababababababab", True),
        (GUID, False),
        ("d41d8cd98f00b204e9800998ecf8427e", False),
    ],
)
def test_hand_typed_guids_are_told_from_random_ones(guid, typed):
    """Runs, ladders and few digits."""
    assert patterned(guid) is typed


def test_of_real_guids_only_the_typed_ones_are_marked(corpus):
    """1,900 GUIDs of real projects: the eight marked ones count ``…7890abcdef123456789…``."""
    marked, count = [], 0
    for folder in sorted(corpus.iterdir()):
        if (folder / "Assets").is_dir():
            index = index_project(Project(folder), references=False)
            count += len(index.assets)
            marked += [guid for guid in index.assets if patterned(guid)]
    assert count > 1500
    assert all("90abcdef123456789" in guid or "0abcdef12345678" in guid for guid in marked)


def test_the_index_counts_what_the_corpus_states(corpus):
    """GUIDs, duplicates, orphans, built-in and known package references of six real projects."""
    known = json.loads((corpus / "known_package_guids.json").read_text(encoding="utf-8"))
    listing = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    for stated in listing["projects"]:
        project = open_project(corpus / stated["name"])
        index = index_project(project)
        # The listing counts references of assets, not those of metas and assembly definitions.
        index.held = {p: held for p, held in index.held.items() if not p.endswith((".asmdef", ".meta"))}
        outside = index.outside(known)
        assert {
            "unity_version": stated["unity_version"],
            "guids": stated["guids"],
            "duplicate_guids": stated["duplicate_guids"],
            "orphan_metas": stated["orphan_metas"],
            "refs_to_known_packages": stated["refs_to_known_packages"],
            "refs_unknown_external": stated["refs_unknown_external"],
        } == {
            "unity_version": project.version,
            "guids": len(index.assets),
            "duplicate_guids": index.duplicates,
            "orphan_metas": len(index.orphan_metas),
            "refs_to_known_packages": len(outside["package"]),
            "refs_unknown_external": len(outside["unknown"]),
        }, stated["name"]


def test_links_are_listed_and_not_followed(project, tmp_path):
    """A link that leads out of the project is no way into it."""
    put(tmp_path, "secret/x.txt", "s")
    try:
        (project / "Assets/Link").symlink_to(tmp_path / "secret", target_is_directory=True)
    except OSError:
        pytest.skip("this system does not allow symlinks here")
    index = index_project(open_project(project))
    assert index.links == ["Assets/Link"]
    assert tree_manifest(project)["Assets/Link"].startswith("link:")
    assert not any("x.txt" in path for path in tree_manifest(project))


def test_a_folder_without_assets_is_no_project(tmp_path):
    """One fault, with the mend."""
    with pytest.raises(InvalidDocument, match=r"unity\.no_project"):
        open_project(tmp_path)
