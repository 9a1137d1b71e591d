"""The brief that the README shows is what its command prints.

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

ROOT: Final = Path(__file__).resolve().parents[1]
README: Final = ROOT / "README.md"
RENEW: Final = "HOLDFAST_RENEW"
_SHOWN: Final = re.compile(
    r"```sh\n(holdfast brief --harness .*)\n```\n\n```text\n(<holdfast-recall>\n.*?</holdfast-recall>)\n```",
    re.DOTALL,
)


@pytest.fixture
def shown() -> re.Match[str]:
    """The command and the brief below it."""
    (found,) = _SHOWN.finditer(README.read_text(encoding="utf-8"))
    return found


def test_the_readme_shows_a_brief_as_its_command_prints_it(
    shown: re.Match[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(holdfast, shlex.split(shown[1])[1:])
    assert printed.exit_code == 0
    text = printed.stdout.rstrip("\n")
    if os.environ.get(RENEW):
        whole = README.read_text(encoding="utf-8")
        README.write_text(whole[: shown.start(2)] + text + whole[shown.end(2) :], encoding="utf-8")
    else:
        assert shown[2] == text, f"{RENEW}=1 writes it anew"


def test_the_readme_explains_every_section_of_its_brief(shown: re.Match[str]) -> None:
    explained = set(re.findall(r"^\| (\w+) \| ", README.read_text(encoding="utf-8"), re.MULTILINE))
    headings = set(re.findall(r"^### (.+)$", shown[2], re.MULTILINE))
    assert headings <= explained & set(SECTIONS)


def test_the_session_that_the_readme_shows_is_small(shown: re.Match[str]) -> None:
    words = shlex.split(shown[1])
    transcript = ROOT / words[words.index("--transcript") + 1]
    assert transcript.stat().st_size < 60_000
