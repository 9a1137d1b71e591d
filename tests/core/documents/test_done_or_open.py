"""Ledger and handoff agree: whatever happened in a session, nothing is done in one and open in either."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.documents.handoff import TITLES, HandoffHead
from holdfast.core.documents.handoff_content import HandoffWords, fill_handoff
from holdfast.core.documents.ledger import key_of
from holdfast.core.documents.ledger_content import SessionContent, fill_ledger, ledger_in_words
from holdfast.core.events.event import Action, Event, Origin, Todo, TodosChanged
from holdfast.core.work.compute import work_state
from tests.core.scenes import KEY, MINUTE, NOON, after, called, prompt, returned, said, session

TASKS = st.sampled_from(
    (
        "Document the tax rates",
        "Round the totals half up",
        "All 12 tests pass",
        "Close the epic",
        "Passed: `pytest -q`",
        "Write the report of the whole quarter, with every total and its tax, " * 6,
        "Write the report of the whole quarter, with every total and its tax, " * 6 + "and its owner",
    )
)
STATUSES = st.sampled_from(("pending", "in_progress", "completed"))
SENTENCES = st.sampled_from(
    (
        "{}.",
        "Next: {}.",
        "Next steps:\n1. {}\n2. Send it",
        "Done: {}.",
        "{} is done.",
        "- [x] {}",
        "- [ ] {}",
        "## Remaining\n- {}",
        "All done. The entire epic is complete.",
    )
)
STEPS = st.one_of(
    st.tuples(st.just("said"), SENTENCES, TASKS),
    st.tuples(st.just("asked"), SENTENCES, TASKS),
    st.tuples(st.just("todo"), STATUSES, TASKS),
    st.tuples(
        st.just("ran"), st.sampled_from(("0", "1")), st.sampled_from(("pytest -q", "make lint | tail"))
    ),
)
LABELS = st.sampled_from(("Done", "State", "Next", "Decisions", "Open questions"))
DIGESTS = st.lists(st.tuples(LABELS, TASKS), max_size=4).map(
    lambda rows: "\n\n".join(f"{label}:\n- {task}" for label, task in rows)
)


def events(steps: list[tuple[str, str, str]]) -> list[Event]:
    made: list[Event] = []
    todos: dict[str, Todo] = {}
    for number, (what, how, task) in enumerate(steps):
        at = NOON + number * MINUTE
        match what:
            case "said":
                made.append(said(how.format(task), f"a{number}", at))
            case "asked":
                made.append(prompt(how.format(task), f"p{number}", at))
            case "todo":
                # The same text may stand in the list twice, once done and once open.
                todos[f"{task}{number % 2}"] = Todo(task, how)
                made.append(
                    TodosChanged(
                        session=KEY,
                        record=f"t{number}",
                        at=at,
                        origin=Origin.ASSISTANT,
                        todos=tuple(todos.values()),
                    )
                )
            case _:
                made.append(called(f"c{number}", Action.RUN, task, at))
                made.append(returned(f"c{number}", ok=how == "0", exit_status=int(how), at=at))
    return made


@example([("todo", "completed", "Close the epic"), ("said", "Next: {}.", "Close the epic")], "")
@example([("todo", "completed", "Close the epic")], "Next:\n- Close the epic")
@given(st.lists(STEPS, max_size=14), DIGESTS)
def test_nothing_is_done_in_one_document_and_open_in_another(
    steps: list[tuple[str, str, str]], digest: str
) -> None:
    of = after(session(), *events(steps))
    content = SessionContent(of, work_state(of.trail), ledger_in_words(digest))
    ledger = fill_ledger(content)
    handoff = fill_handoff(content, events(steps), HandoffHead("go on"), HandoffWords())
    sections = dict(zip(TITLES, handoff.sections, strict=True))
    done = {key_of(entry.text) for entry in ledger.done} | set(map(key_of, sections["Problems Solved"]))
    still_open = {key_of(entry.text) for entry in (*ledger.now, *ledger.next)}
    for title in ("Pending", "Current Work", "Next Step"):
        still_open |= set(map(key_of, sections[title]))
    # A document may show less of a text than the other.
    assert not {text[:250] for text in done} & {text[:250] for text in still_open}
