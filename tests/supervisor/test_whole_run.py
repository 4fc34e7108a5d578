"""A run from the first step to the last, and again."""

from governed import ASSET, ICON, go, kinds, leftovers, opened, tree


def test_run_completes(hall, ticket):
    """A run does each effect once, changes only what was asked for and leaves nothing else behind."""
    before = tree(hall.home.project)
    record = go(hall, opened(hall, ticket))
    after = tree(hall.home.project)
    assert record.state == "completed"
    assert kinds(record).count("commit.begun") == 2
    assert {
        ICON.format("starter_pack"),
        ICON.format("starter_pack") + ".meta",
    } == after.keys() - before.keys()
    assert {ASSET.format("starter_pack")} == {path for path in before if before[path] != after[path]}
    assert leftovers(hall.home.path) == []
    assert hall.services.store.verify().sound
