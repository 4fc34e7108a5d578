"""Writes ``docs/_generated/`` and the generated blocks of the other pages; ``--check`` only compares.

    python docs/generate.py            write what differs
    python docs/generate.py --check    exit 1 and name what is stale

A page holds a generated block between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from generator.commands import command_page  # noqa: E402 - the path is set first
from generator.house import picture  # noqa: E402
from generator.reference import capability_page, error_page, validator_page  # noqa: E402
from generator.states import decisions, diagram, page  # noqa: E402
from generator.unity import unity_operations  # noqa: E402

from fabric_dagster.supervisor.machine import RUN, TASK  # noqa: E402

NOTE = "<!-- Made by docs/generate.py from the code. Do not edit. -->\n\n"
BLOCK = re.compile(r"(<!-- generated: ([a-z_]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def wanted() -> dict[Path, str]:
    """Path → the text that it must hold."""
    pages = {
        "states.md": page(),
        "capabilities.md": capability_page(),
        "validators.md": validator_page(),
        "errors.md": error_page(),
        "cli.md": command_page(),
    }
    made = {HERE / "_generated" / name: NOTE + text.rstrip("\n") + "\n" for name, text in pages.items()}
    made[HERE / "_generated" / "house.svg"] = picture()
    blocks = {"run_states": diagram(RUN), "task_states": diagram(TASK), "decisions": decisions()}
    blocks["unity_operations"] = unity_operations()
    for path in sorted(HERE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if BLOCK.search(text):
            made[path] = BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]]}\n\n{found[3]}", text)
    return made


def main(words: list[str]) -> int:
    """Write or compare; the number of stale files is what ``--check`` complains about."""
    if words not in ([], ["--check"]):
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    stale = 0
    for path, text in wanted().items():
        shown = path.relative_to(HERE.parent).as_posix()
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        stale += 1
        if words:
            print(f"{shown} is stale: run `python docs/generate.py`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            print(f"{shown} written")
    return min(stale, 1) if words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
