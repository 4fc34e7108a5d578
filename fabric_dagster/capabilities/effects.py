"""The closed list of effects that a capability may declare and a commission may allow."""

EFFECTS: dict[str, str] = {
    "photoshop.document.write": "edit a duplicate of a template; the source is never written",
    "photoshop.export.write": "write exported pictures into the run's delivery folder",
    "artifact.seal": "seal bytes into the artifact store",
    "unity.asset.write": "create or change an asset file under Assets/",
    "unity.meta.write": "create or change a .meta file",
    "unity.serialized.write": "change a serialized property of an existing asset",
    "unity.transaction.undo": "restore what this run wrote, where the bytes are still ours",
}
