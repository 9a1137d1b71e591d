"""The README and docs/brief.md show a brief as its command prints it, and the recording what was replayed.

`HOLDFAST_RENEW=1 .venv/bin/python -m pytest tests/test_readme.py` writes it anew; read the difference before
it is committed.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast
from holdfast.core.brief.brief_input import SECTIONS
from scripts import record_terminal

ROOT: Final = Path(__file__).resolve().parents[1]
README: Final = ROOT / "README.md"
PAGE: Final = ROOT / "docs" / "brief.md"
BOTH: Final = (README, PAGE)
RENEW: Final = "HOLDFAST_RENEW"
_SHOWN: Final = re.compile(
    r"```sh\n(holdfast brief --harness .*)\n```\n\n```text\n(<holdfast-recall>\n.*?</holdfast-recall>)\n```",
    re.DOTALL,
)


def shown_on(page: Path) -> re.Match[str]:
    """The command and the brief below it."""
    (found,) = _SHOWN.finditer(page.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("page", BOTH, ids=lambda page: page.name)
def test_a_page_shows_a_brief_as_its_command_prints_it(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shown_on(page)
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(holdfast, shlex.split(shown[1])[1:])
    assert printed.exit_code == 0
    text = printed.stdout.rstrip("\n")
    if os.environ.get(RENEW):
        whole = page.read_text(encoding="utf-8")
        page.write_text(whole[: shown.start(2)] + text + whole[shown.end(2) :], encoding="utf-8")
    else:
        assert shown[2] == text, f"{RENEW}=1 writes it anew"


def test_every_section_of_the_brief_is_explained() -> None:
    explained = set(re.findall(r"^\| (\w+) \| ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    headings = set(re.findall(r"^### (.+)$", shown_on(PAGE)[2], re.MULTILINE))
    assert headings <= explained & set(SECTIONS)


def test_the_session_that_is_shown_is_small() -> None:
    words = shlex.split(shown_on(README)[1])
    transcript = ROOT / words[words.index("--transcript") + 1]
    assert transcript.stat().st_size < 60_000


class TestTheRecording:
    def test_it_shows_what_is_replayed_today(self) -> None:
        assert record_terminal.TARGET.read_text(encoding="utf-8") == record_terminal.draw(
            record_terminal.scenes()
        ), "`python -m scripts.record_terminal` draws it anew"

    def test_it_ends_with_right_answers_that_were_wrong_before(self) -> None:
        without, with_brief = ({row.style for row in scene.rows} for scene in record_terminal.scenes()[1:])
        assert "wrong" in without
        assert "right" not in without
        assert "right" in with_brief
        assert "wrong" not in with_brief

    def test_every_line_fits_the_screen(self) -> None:
        for scene in record_terminal.scenes():
            assert all(row.indent + len(row.text) <= record_terminal.COLUMNS for row in scene.rows)

    def test_it_moves_without_scripts_and_loads_nothing(self) -> None:
        text = record_terminal.TARGET.read_text(encoding="utf-8")
        assert "@keyframes" in text
        assert "prefers-reduced-motion" in text
        assert not re.search(r"<script|href=|url\((?!#)|<image|<foreignObject", text)
