"""Several programs that meet in a home where Dagster has not worked yet."""

import subprocess
import sys

from governed import make_home

OPEN = """
import sys
from pathlib import Path
from fabric_dagster.cli.driving import Driver
from resources.supervision.assembly import Hall
from resources.home import Home
with Driver(Hall(Home(Path(sys.argv[1])))) as driver:
    driver.instance.get_runs()
"""


def test_first_openers_of_dagsters_databases_take_turns(tmp_path):
    """Nobody is told that Dagster's folder is damaged because another is just making it."""
    make_home(tmp_path / "home")
    command = [sys.executable, "-c", OPEN, str(tmp_path / "home")]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [program.communicate(timeout=120)[1] for program in programs]
    assert [0, 0, 0] == [program.returncode for program in programs], told
