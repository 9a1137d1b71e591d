"""The form of every brief, whatever happened in the session: a person can read it and type its commands.

No line lists more than six bare names, no command in backticks is shortened, and no heading stands alone. The
same over real transcripts, if HOLDFAST_DATA names a folder of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast import harnesses
from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import compose
from holdfast.core.events.event import Action, Event
from holdfast.core.session.session import Policy, Session, advance, begin
from tests.core.scenes import MINUTE, NOON, PROJECT, after, called, prompt, returned, said, session

DATA: Final = os.environ.get("HOLDFAST_DATA", "")
BUDGETS: Final = (400, 600, 1_000, 2_000, 6_000)
REASONS: Final = (Reason.COMPACT, Reason.STARTUP, Reason.SUMMARY)
NAMES_MOST: Final = 6

_NAME: Final = re.compile(r"[\w@~.-]*(?:[/_.]\w|[a-z][A-Z]|::)[\w/.@:-]*")
"""A word that is no plain English one: a path, a file, an identifier."""
_JOINT: Final = re.compile(r",\s*(?:and |or )?|\s+(?:and|or)\s+")
_BESIDE_NAMES: Final = re.compile(r"[`{}()*“”]")
_CODE: Final = re.compile(r"`([^`\n]*)`")


def faults(text: str) -> list[str]:
    """Every line of a brief whose form is wrong, with the reason."""
    lines = text.splitlines()
    return [
        *(
            f"heading alone: {line}"
            for line, below in zip_longest(lines, lines[1:], fillvalue="")
            if line.startswith("### ") and not below.startswith("- ")
        ),
        *(f"{count} names: {line}" for line in lines if (count := names_listed(line)) > NAMES_MOST),
        *(f"shortened command: {line}" for line in lines for code in _CODE.findall(line) if "…" in code),
    ]


def names_listed(line: str) -> int:
    """The longest run of names with nothing but commas between them."""
    longest = run = 0
    for part in _JOINT.split(_BESIDE_NAMES.sub("", line.removeprefix("- "))):
        words = part.split()
        # The first name of a list stands behind other words, the last before them.
        run = run + 1 if run and words and _NAME.fullmatch(words[0]) else 0
        longest = max(longest, run)
        if len(words) != 1 or not run:
            run = int(bool(words) and _NAME.fullmatch(words[-1]) is not None)
    return longest


def briefs(of: Session) -> Iterator[str]:
    for reason in REASONS:
        for budget in BUDGETS:
            yield compose(BriefInput(reason, of, of.last_event_at), budget).text


def faults_of(of: Session) -> list[str]:
    return sorted({fault for text in briefs(of) for fault in faults(text)})


# ---------------------------------------------------------------- the checks themselves


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Goal\n- Round the totals\n", []),
        ("### Goal\n\n### Rules\n- Never\n", ["heading alone: ### Goal"]),
        ("### Goal", ["heading alone: ### Goal"]),
        ("- Changed: a.py, b.py, c.py, d.py, e.py, f.py", []),
        ("- Changed: src/{a.py, b.py, c.py, d.py, e.py, f.py}, g.py", ["7 names"]),
        ("- aName, bName, cName, dName, eName, fName, gName", ["7 names"]),
        ("- Bread, milk, eggs, tea, salt, oil, rice and some sugar", []),
        ("- `make test` passed … in the end", []),
        ("- `make test … | tail` failed", ["shortened command"]),
    ],
)
def test_a_fault_is_found(text: str, expected: list[str]) -> None:
    found = faults(text)
    assert len(found) == len(expected)
    assert all(fault.startswith(start) for fault, start in zip(found, expected, strict=True))


# ---------------------------------------------------------------- made-up sessions

FILES: Final = tuple(f"/home/you/app/src/part{number % 3}/module_{number}.py" for number in range(20))
LONG: Final = "python -m tool " + " ".join(f"--option-{number} value_{number}" for number in range(30))
COMMANDS: Final = (
    "pytest -q",
    "make test 2>&1 | tail -5",
    LONG,
    f"cd /home/you/app && {LONG} && pytest -q",
    "cat <<'EOF' > notes.md\nsome text\nEOF",
    "for file in *.py; do python -m py_compile $file; done",
)
NAMES: Final = ", ".join(f"`compute_total_{number}`" for number in range(9))
SENTENCES: Final = (
    "Decision: totals are rounded once, because lines add up their errors.",
    "I run the tests next.",
    f"Run `{LONG}` first.",
    "Next: describe keep_months in docs/retention.md.",
    "The cause is in module_3.py: it rounds twice.",
    "Should I also change the receipt?",
    f"The functions that changed are {NAMES}.",
)
Step = tuple[str, str, bool]


def steps() -> st.SearchStrategy[list[Step]]:
    passes = st.sampled_from((True,))
    one = st.one_of(
        st.tuples(st.just("edited"), st.sampled_from(FILES), passes),
        st.tuples(st.just("ran"), st.sampled_from(COMMANDS), st.booleans()),
        st.tuples(st.sampled_from(("said", "asked")), st.sampled_from(SENTENCES), passes),
    )
    return st.lists(one, max_size=30)


def events_of(happened: list[Step]) -> Iterator[Event]:
    for number, (what, text, ok) in enumerate(happened):
        at = NOON + number * MINUTE
        match what:
            case "said":
                yield said(text, f"a{number}", at)
            case "asked":
                yield prompt(text, f"p{number}", at)
            case _:
                yield called(f"c{number}", Action.RUN if what == "ran" else Action.EDIT, text, at)
                yield returned(f"c{number}", ok=ok, exit_status=0 if ok else 1, at=at)


@example([("edited", path, True) for path in FILES])
@example([("ran", command, False) for command in COMMANDS])
@example([("said", sentence, True) for sentence in SENTENCES])
@given(steps())
@settings(deadline=None)
def test_every_brief_of_a_made_up_session_has_the_form(happened: list[Step]) -> None:
    assert faults_of(after(session(), *events_of(happened))) == []


# ---------------------------------------------------------------- real sessions


@pytest.mark.skipif(not DATA, reason="HOLDFAST_DATA names no folder")
@pytest.mark.parametrize("harness", harnesses.names())
def test_every_brief_of_a_real_session_has_the_form(harness: str) -> None:
    wrong: dict[str, list[str]] = {}
    for path in sorted((Path(DATA) / harness).rglob("*.jsonl")):
        events = [*harnesses.get(harness).read_transcript(path, "s1", "", 1 << 30).events]
        of = begin("s1", harness, PROJECT, NOON)
        cuts = {len(events) * quarter // 4 for quarter in range(1, 5)}
        for number, event in enumerate(events, 1):
            of, _ = advance(of, event, Policy())
            if number in cuts and (shown := faults_of(of)):
                wrong[f"{path.name} at {number}"] = shown
    assert wrong == {}
