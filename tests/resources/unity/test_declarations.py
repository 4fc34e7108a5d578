"""What the Unity capabilities declare is what their operations do."""

import re
from pathlib import Path

import pytest

from fabric_dagster.capabilities.registry import capabilities
from resources.unity import operations as room
from resources.unity.operations.base import operations
from resources.unity.operations.workspace import FAILURES

CODE = re.compile(r'"(unity\.[a-z_]+)"')
PAGE = Path(__file__).parents[3] / "docs" / "unity.md"


@pytest.mark.parametrize("identifier", operations())
def test_every_failure_that_an_operation_names_is_declared(identifier):
    """By its own module, and by what every edit goes through."""
    declared = {failure.code for failure in capabilities()[identifier].failures}
    source = Path(room.__path__[0]) / f"{identifier.removeprefix('unity.').partition('@')[0]}.py"
    text = source.read_text(encoding="utf-8")
    named = set(CODE.findall(text)) | {"unity.case_clash", "unity.destination_refused"}
    if "mapped(" in text or "write_value" in text:
        named |= {code for code in FAILURES.values() if code != "unity.path_ambiguous"}
    assert named - declared == set()


def test_every_operation_has_its_example_on_the_page():
    """Under a heading of its own, with the exact diff."""
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in operations() if f"### `{name}`" not in text] == []
