"""A harness's name stands in its own folder and in one registry line: deleting those removes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.architecture.source import Finding, Source, assert_holds, findings_in, package

NAMES = {
    "claude_code": re.compile(r"claude", re.IGNORECASE),
    "codex": re.compile(r"codex", re.IGNORECASE),
    "opencode": re.compile(r"open[-_]?code(?!c)", re.IGNORECASE),
    "openclaw": re.compile(r"open[-_]?claw", re.IGNORECASE),
    "gemini": re.compile(r"gemini", re.IGNORECASE),
}
"""Each harness's folder, and every spelling of its name. Comments and docstrings count as well."""

REGISTRY = "harnesses/__init__.py"


def harness_names_at_home(source: Source) -> Iterator[Finding]:
    """No package but harnesses says which harnesses there are."""
    registered = Counter[str]()
    for number, line in enumerate(source.text.split("\n"), 1):
        for folder, name in NAMES.items():
            if not name.search(line) or source.path.startswith(f"harnesses/{folder}/"):
                continue
            registered[folder] += 1
            if source.path != REGISTRY:
                yield Finding(
                    source.path,
                    number,
                    f"`{_name_in(name, line)}` may be named in `harnesses/{folder}/` only; "
                    "make what differs part of the contract in `harnesses/base.py`",
                )
            elif registered[folder] > 1:
                yield Finding(
                    source.path, number, f"one line registers `{folder}`; this is another that names it"
                )


def _name_in(name: re.Pattern[str], line: str) -> str:
    match = name.search(line)
    return match.group() if match else ""


def test_harness_names_stay_at_home() -> None:
    assert_holds(harness_names_at_home, package())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/recording/record.py", "if harness == 'claude-code': ..."),
        ("engine/recording/record.py", "from holdfast.harnesses.claude_code import hooks"),
        ("core/events/event.py", '"""As Claude Code tells it."""'),
        ("core/events/event.py", "x = 1  # Codex does this too"),
        ("cli/commands/setup.py", "OPEN_CODE = 1"),
        ("files/editor.py", "class OpenClawEditor: ..."),
        ("hook.py", "gemini = 1"),
        ("harnesses/base.py", "# Claude Code cuts at 10,000"),
        ("harnesses/codex/hooks.py", "# unlike claude"),
        ("harnesses/__init__.py", "from holdfast.harnesses import claude_code\nALL = (claude_code,)"),
    ],
)
def test_a_name_away_from_home_is_found(path: str, text: str) -> None:
    assert findings_in(harness_names_at_home, path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("harnesses/claude_code/hooks.py", "TITLE = 'Claude Code'"),
        ("harnesses/__init__.py", "FOLDERS = (\n    'claude_code',\n    'codex',\n)"),
        ("stores/codec.py", "def open_codec(): ..."),
    ],
)
def test_a_name_at_home_is_fine(path: str, text: str) -> None:
    assert findings_in(harness_names_at_home, path, text) == ""
