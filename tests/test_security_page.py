"""SECURITY.md names the tests that show what it says: each of them is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.tables import every_row

ROOT: Final = Path(__file__).parent.parent
NAMED: Final = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text())))


def test_the_page_names_tests_for_every_kind_of_attacker() -> None:
    model = (ROOT / "SECURITY.md").read_text().partition("## Threat model")[2].partition("\n## ")[0]
    _, *attackers = model.split("\n**")
    assert len(attackers) == 5
    assert all("::test_" in attacker for attacker in attackers)


@every_row(("file", "name"), NAMED)
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert re.search(rf"^\s*(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)
