"""``fabric bench`` finds what lies in ``benchmarks/`` and says what cannot be found."""

import json
import sys

import pytest

from fabric_dagster.cli.main import main
from resources.home import CHECKOUT

sys.path.insert(0, str(CHECKOUT))


def run(*arguments):
    """The exit code of ``fabric`` with ``arguments``."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return left.value.code or 0


def test_every_module_of_the_folder_is_a_benchmark(capsys):
    """Without a name they are listed: being there registers one, helpers begin with an underscore."""
    assert run("bench", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {path.stem for path in (CHECKOUT / "benchmarks").glob("[!_]*.py")} == set(listed)
    assert {"governed_run", "code_location", "cli_start"} <= set(listed)


def test_an_unknown_name_lists_the_known_ones(capsys):
    """Exit code 2 and the names."""
    assert run("bench", "nothing") == 2
    assert "governed_run" in capsys.readouterr().err


def test_ratios_are_those_of_the_rounds():
    """Round by round: a slow round of both sides is no difference."""
    from benchmarks._report import ratios

    found = ratios([2.0, 20.0, 4.0], [1.0, 10.0, 2.0])
    assert (2.0, 2.0, 2.0, 3) == (found.least, found.median, found.most, found.count)


def test_own_time_adds_up_and_wrapping_leaves_nothing_behind():
    """Nested categories share the time; afterwards the functions are the same objects as before."""
    from benchmarks._timing import watched

    class Work:
        def outer(self):
            return self.inner() + 1

        @staticmethod
        def inner():
            return 1

    before = dict(vars(Work))
    with watched([(Work, "outer", "out"), (Work, "inner", "in")]) as watch:
        assert Work().outer() == 2
    assert before == dict(vars(Work))
    assert {"out": 1, "in": 1} == dict(watch.calls)


def test_generated_packs_load(tmp_path):
    """The packs of the code-location benchmark are whole: as many graphs as asked for."""
    from benchmarks.code_location import generate
    from fabric_dagster.supervisor.workflows import load_workflows

    generate(CHECKOUT / "packs" / "offers", tmp_path, 12)
    assert {f"MakeIcon{number:04}@1" for number in range(12)} == set(load_workflows([tmp_path]))
