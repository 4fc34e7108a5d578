"""docs/invalidation.md says of every code of authority what brings it about; no more, no less."""

import re
from pathlib import Path

from fabric_dagster.governance.authority import CODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "invalidation.md"
ROW = re.compile(r"^\|[^|]+\| `(authority\.\w+)` \|[^|]*\|[^|]*\|$", re.MULTILINE)


def test_the_page_and_the_code_hold_the_same_codes():
    """Each once."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert sorted(found) == sorted(CODES)
