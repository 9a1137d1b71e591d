"""What `.agents.yml` says of the ledger, in the spellings that people use, and what counts for nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.documents.agents_yml import (
    LedgerSetting,
    Unclear,
    combine_ledger_settings,
    parse_ledger_setting,
)
from tests.tables import every_row

PATH = ".agents/session_ledger.md"


@every_row(
    ("text", "said"),
    [
        ("", LedgerSetting()),
        ("app: web\n", LedgerSetting()),
        ("session:\n  ledger: true\n", LedgerSetting(ledger=True)),
        ("session:\n  ledger: false\n", LedgerSetting(ledger=False)),
        (
            f"session:\n  ledger: true\n  ledger_path: {PATH}  # optional\n",
            LedgerSetting(ledger=True, ledger_path=PATH),
        ),
        (
            f"session:\n    ledger_path: '{PATH}'\n    ledger: True",
            LedgerSetting(ledger=True, ledger_path=PATH),
        ),
        (f'session:\n  ledger_path: "{PATH}"\n', LedgerSetting(ledger_path=PATH)),
        ("session:\r\n  ledger: true\r\n", LedgerSetting(ledger=True)),
        ("\ufeffsession:\n  ledger: true", LedgerSetting(ledger=True)),
        ("# ours\n---\nsession:\n\n  # on\n  ledger: true # yes\nother: 1\n", LedgerSetting(ledger=True)),
        ("session: {ledger: true, ledger_path: a/b.md}\n", LedgerSetting(ledger=True, ledger_path="a/b.md")),
        ("session: # below\n  ledger: true\n", LedgerSetting(ledger=True)),
        ("session:\n", LedgerSetting()),
        ("session: ~\n", LedgerSetting()),
        ("session:\n  ledger:\n  ledger_path: null\n", LedgerSetting()),
        ("session:\n  flush:\n    at: [50, 75]\n  ledger: true\n", LedgerSetting(ledger=True)),
        ("stack:\n  session:\n    ledger: true\n", LedgerSetting()),
        ("note: |\n  session:\n    ledger: true\n", LedgerSetting()),
        ("sessions:\n  ledger: true\n", LedgerSetting()),
        ("{sessions: {ledger: true}}\n", LedgerSetting()),
        ("a: 1\n---\nsession:\n  ledger: true\n", LedgerSetting()),
    ],
)
def test_what_a_file_says(text: str, said: LedgerSetting) -> None:
    assert parse_ledger_setting(text) == said


@every_row(
    "text",
    [
        "session: true",
        "{session: {ledger: true}}",
        '# of ours\n{"session": {"ledger": true}}\n',
        "session:\n  - ledger: true",
        "session:\n  ledger: yes please",
        "session:\n  ledger: 'true'",
        "session:\n  ledger: *on",
        "session:\n  ledger: !!bool true",
        "session:\n  ledger:\n    true",
        "session:\n  ledger: true\n  ledger: false",
        "session:\n  ledger: true\nsession:\n  ledger: false",
        "session:\n\tledger: true",
        "session:\n    a: 1\n  ledger: true",
        "session: {ledger: true",
        "session: {ledger: {a: 1}}",
        "session:\n  ledger_path: |\n    a.md",
        "session:\n  ledger_path: [a.md]",
        "session:\n  <<: *other\n  ledger: true",
        'session:\n  ledger_path: "a\\x00.md"',
    ],
)
def test_what_is_too_clever_is_unclear(text: str) -> None:
    assert isinstance(parse_ledger_setting(text), Unclear)


@pytest.mark.parametrize(
    ("files", "together"),
    [
        ([], LedgerSetting()),
        (
            [LedgerSetting(ledger=True, ledger_path="a.md"), LedgerSetting(ledger=False)],
            LedgerSetting(ledger=False, ledger_path="a.md"),
        ),
        (
            [LedgerSetting(ledger=True), LedgerSetting(ledger_path="b.md")],
            LedgerSetting(ledger=True, ledger_path="b.md"),
        ),
    ],
)
def test_a_later_file_wins_key_by_key(files: list[LedgerSetting], together: LedgerSetting) -> None:
    assert combine_ledger_settings(files) == together


@given(st.text(alphabet=" \t\n#:{}[]&*!|>'\"-~abc/.", max_size=80))
def test_no_text_breaks_it_or_turns_the_ledger_on_by_accident(text: str) -> None:
    said = parse_ledger_setting(f"session:\n  {text}")
    assert isinstance(said, Unclear) or said.ledger is None


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    assert isinstance(parse_ledger_setting(text), LedgerSetting | Unclear)
