"""The four rules by which something is unconfirmed, and what takes a doubt back."""

from __future__ import annotations

import pytest

from holdfast.core.documents.ledger import Entry, Ledger
from holdfast.core.documents.unconfirmed import CHANGED, GONE, doubted, file_doubts, is_settled, uncertainty
from holdfast.core.events.event import Origin, Replied
from holdfast.core.events.world import FileState
from holdfast.core.evidence.trail import Trail
from tests.core.scenes import MINUTE, NOON, after, prompt, said, session
from tests.tables import every_row

DECISION = "I decided to use Decimal for all totals."


def trail(*words: str) -> Trail:
    """A conversation that begins with the user, a minute for each turn."""
    events = [
        prompt(text, f"p{turn}", NOON + turn * MINUTE)
        if turn % 2 == 0
        else said(text, f"a{turn}", NOON + turn * MINUTE)
        for turn, text in enumerate(words)
    ]
    return after(session(), *events).trail


@every_row(
    ("answer", "settled"),
    [
        ("yes", True),
        ("Yes, do that.", True),
        ("ok", True),
        ("sounds good, thanks", True),
        ("go ahead", True),
        ("LGTM. Now the report, but fast", True),
        ("好的", True),
        ("可以。", True),
        ("yes but use fractions", False),
        ("ok, wait", False),
        ("no", False),
        ("对于总额用小数", False),
        ("now the report", False),
        ("continue", False),
        ("use Decimal for all totals", True),
    ],
)
def test_a_decision_is_approved_by_the_next_that_the_user_says(answer: str, settled: bool) -> None:  # noqa: FBT001
    story = trail("Mend the sums.", DECISION, answer)
    assert is_settled(DECISION, story) is settled
    (entry,) = doubted(Ledger(decisions=(Entry(DECISION),)), story).decisions
    assert entry == (Entry(DECISION) if settled else Entry(DECISION, unconfirmed=True, why="not approved"))


def test_what_nobody_answered_is_not_approved() -> None:
    assert not is_settled(DECISION, trail("Mend the sums.", DECISION))


def test_an_answer_to_something_else_approves_nothing() -> None:
    story = trail("Mend the sums.", DECISION, "And the tests?", "Shall I write them in pytest?", "yes")
    assert not is_settled(DECISION, story)


def test_a_confirmed_question_confirms_what_it_asked_about() -> None:
    story = trail(
        "hello there",
        "I see the assumption that Ada wants tabs marked UNCONFIRMED: can you confirm it?",
        "Yes.",
    )
    assert is_settled("Ada wants tabs", story)
    assert not is_settled("Ada wants spaces everywhere", story)


@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        ("tabs for indentation", Entry("tabs for indentation")),
        ("Use tabs for indentation", Entry("Use tabs for indentation")),
        ("short names", Entry("short names", unconfirmed=True, why="inferred")),
    ],
)
def test_a_preference_is_unconfirmed_unless_the_user_stated_it(rule: str, entry: Entry) -> None:
    story = trail("Mend the sums; I want tabs for indentation in every file.")
    assert doubted(Ledger(constraints=(Entry(rule),)), story).constraints == (entry,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The rates API is down", "status outside"),
        ("The deploy to staging is pending", "status outside"),
        ("https://rates.example returns 503", "status outside"),
        ("The fix should work now", "assumed"),
        ("Python 3.11 is probably enough", "assumed"),
        ("这可能是缓存", "assumed"),
        ("I haven't tested it", "assumed"),
        ("total() rounds half up", ""),
        ("The API client is in client.py", ""),
        ("All 12 tests pass", ""),
    ],
)
def test_what_is_uncertain_by_its_words(text: str, why: str) -> None:
    assert uncertainty(text) == why
    expected = Entry(text, unconfirmed=bool(why), why=why)
    assert doubted(Ledger(done=(Entry(text),), questions=(Entry(text),)), Trail()) == Ledger(
        done=(expected,), questions=(expected,)
    )


def test_a_mark_with_a_reason_of_its_own_stays() -> None:
    own = Entry("use tabs", unconfirmed=True, why="Ada will say")
    assert doubted(Ledger(constraints=(own,)), Trail()).constraints == (own,)


SAVED, LEFT = NOON, NOON + 10 * MINUTE


@pytest.mark.parametrize(
    ("entry", "touched_at", "modified_at", "doubt"),
    [
        (Entry("a.py"), NOON, NOON, ""),
        (Entry("a.py"), NOON, LEFT + MINUTE, CHANGED),
        (None, NOON, LEFT + MINUTE, CHANGED),
        (None, NOON, LEFT, ""),
        (Entry("a.py"), 0, SAVED + MINUTE, CHANGED),
        (Entry("a.py"), 0, SAVED, ""),
        (Entry("a.py", unconfirmed=True), NOON, NOON + MINUTE, CHANGED),
        (Entry("a.py", unconfirmed=True), NOON + MINUTE, NOON + MINUTE, ""),
        (Entry("a.py", unconfirmed=True), 0, NOON, CHANGED),
        (Entry("`a.py`"), NOON, 0, GONE),
    ],
    ids=[
        "as the session left it",
        "written after the session's last work",
        "not in the ledger yet, written after the session's last work",
        "not in the ledger yet, and as it was left",
        "never touched, written after the ledger",
        "never touched, older than the ledger",
        "in doubt, and not looked at since",
        "in doubt, and looked at since",
        "in doubt, and never touched",
        "gone",
    ],
)
def test_a_file_is_in_doubt(entry: Entry | None, touched_at: int, modified_at: int, doubt: str) -> None:
    state = FileState("a.py", exists=bool(modified_at), modified_at=modified_at)
    touched = {"a.py": touched_at} if touched_at else {}
    assert file_doubts([entry] if entry else [], touched, [state], LEFT, SAVED) == {"a.py": doubt}


def test_of_a_file_whose_state_nobody_can_tell_nothing_is_said() -> None:
    assert file_doubts([Entry("a.py")], {}, [], LEFT, SAVED) == {}


@pytest.mark.parametrize(
    "decision",
    ["The user answered “PostgreSQL” to “Which database do we use?”", "Use PostgreSQL as database"],
)
def test_what_the_user_answered_is_approved(decision: str) -> None:
    answer = Replied(
        session="s1",
        record="r1",
        at=NOON,
        origin=Origin.HUMAN,
        call="c1",
        text="PostgreSQL",
        question="Which database do we use?",
    )
    given = Ledger(decisions=(Entry(decision), Entry("Drop the cache table")))
    ledger = doubted(given, after(session(), answer).trail)
    assert [entry.unconfirmed for entry in ledger.decisions] == [False, True]
