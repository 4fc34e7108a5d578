"""Random edits of the files that the project makes itself: each reads as meant, each is undone."""

from random_edits import run

from resources.unity.sample import files


def test_seeded_edits_read_as_meant_and_are_undone():
    """Scalars, references and list items of the sample project, 400 times."""
    pool = {n: d for n, d in files().items() if n.endswith((".asset", ".meta", ".prefab", ".unity"))}
    made = run(pool, 400, seed=5)
    assert sum(made.values()) == 400
    assert min(made.values()) > 10
