"""Summary: the question is bounded whatever was said, and an answer is of use or refused with a reason."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.agent_log import summary
from holdfast.core.agent_log.context import AgentTurn, Image, Result, Text, ToolCall, UserTurn, turns_of
from holdfast.core.agent_log.records import Log, path_to
from holdfast.core.agent_log.summary import (
    BUCKET,
    CONVERSATION_CHARS,
    Failed,
    Material,
    Written,
    answer,
    buckets,
    conversation,
    question,
    strict_schema,
)
from holdfast.core.documents import continuity_model
from holdfast.core.events.event import Action, Todo
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.trail import CommandRun, FileTouch, Note, Trail
from holdfast.core.work.question import ASSIGNMENT, QUESTION_CHARS
from tests.core.logs import LOGS, NOON

TRAIL = Trail(
    commands=(
        CommandRun("make build", NOON, ok=True),
        CommandRun("make test", NOON, ok=False, reason="2 failed"),
        CommandRun("make slow", NOON),
    ),
    files=(FileTouch("a.py", Action.READ, 1, NOON), FileTouch("b.py", Action.EDIT, 1, NOON)),
    notes=(
        Note(NoteKind.NEXT, "Next I mend the loop.", NOON, "r"),
        Note(NoteKind.UNTRIED, "A regex might do.", NOON, "r"),
    ),
    todos=(Todo("write docs", "pending"), Todo("begin", "completed")),
)


def test_the_evidence_stands_in_five_buckets() -> None:
    assert "\n\n".join(buckets(TRAIL)) == (
        "## Commands that succeeded\n- `make build`\n\n"
        "## Commands that failed\n- `make test`: 2 failed\n\n"
        "## Files written\n- b.py\n\n"
        "## Next steps that were named\n- write docs\n- Next I mend the loop.\n\n"
        "## Ideas that were named and not tried\n- A regex might do."
    )


def test_a_bucket_holds_the_last_few() -> None:
    runs = tuple(CommandRun(f"make {number}", NOON, ok=True) for number in range(20))
    (bucket,) = buckets(Trail(commands=runs))
    assert bucket.count("- `make ") == BUCKET
    assert "`make 19`" in bucket
    assert "`make 11`" not in bucket


def test_a_question_holds_the_work_state_the_earlier_summary_and_what_was_said() -> None:
    turns = (
        UserTurn((Text("Fix the loop."),)),
        AgentTurn((Text("I look."), ToolCall("c", "bash", "{}")), (Result("c", (Text("ok"),), ok=True),)),
    )
    asked = question(Material("It began well.", turns, TRAIL))
    marks = (
        *(ASSIGNMENT, "# Work state by rule", "- Next I mend the loop.", "# All candidates"),
        *("# Summary of what came before\n\nIt began well.", "USER: Fix the loop.", "AGENT: I look."),
        *("CALL: bash {}", "RESULT: ok"),
    )
    places = [asked.index(mark) for mark in marks]
    assert places == sorted(places)


def test_an_answer_may_name_what_was_said_before_the_turns_that_are_shown() -> None:
    said = "## Done\n- `old_reader` is gone.\n- `make build` passed."
    unknown = answer(said, Material("", (), TRAIL), "m")
    assert isinstance(unknown, Written)
    assert [one.text for one in unknown.left_out] == ["`old_reader` is gone."]
    known = answer(said, Material("", (), TRAIL, said_before=("I removed old_reader",)), "m")
    assert isinstance(known, Written)
    assert (known.text, known.left_out) == (said, ())


def test_decisions_and_questions_of_an_answer_are_fields_of_their_own() -> None:
    said = "## Decisions\n- The loop is mended by hand.\n## Questions\n- Which encoding?"
    written = answer(said, Material("", (), TRAIL), "m")
    assert isinstance(written, Written)
    assert (written.key_decisions, written.open_questions, written.model) == (
        *(("The loop is mended by hand.",), ("Which encoding?",), "m"),
    )


def test_a_long_conversation_keeps_its_beginning_and_its_end() -> None:
    turns = tuple(UserTurn((Text(f"{number}: " + "word " * 100),)) for number in range(1_000))
    told = conversation(turns)
    assert len(told) <= CONVERSATION_CHARS + 100_000 // 50
    assert told.startswith("USER: 0: ")
    assert "USER: 999: " in told
    assert "messages left out …]" in told


def test_an_image_is_not_shown_and_a_failure_is_called_one() -> None:
    turns = (
        UserTurn((Text("look"), Image("image/png", "AAAA"))),
        AgentTurn((ToolCall("c", "see", '{"n":1}'),), (Result("c", (Text("boom"),), ok=False),)),
    )
    assert conversation(turns) == 'USER: look\n\nCALL see {"n":1}\n\nFAILED: boom'


@given(LOGS, st.text(max_size=50).map(lambda text: text * 400))
def test_the_question_has_its_bounds_whatever_was_said(log: Log, earlier: str) -> None:
    asked = question(Material(earlier, turns_of(path_to(log.records)), TRAIL))
    assert len(asked) <= QUESTION_CHARS


@given(st.text() | st.binary().map(lambda some: some.decode("latin-1")))
def test_any_answer_is_of_use_or_refused_with_a_reason(text: str) -> None:
    result = answer(text, Material("", (), TRAIL), "m")
    assert isinstance(result, Written) or result.reason


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
def test_any_document_is_of_use_or_refused_with_a_reason(document: object) -> None:
    result = answer(json.dumps({"goal": document, "done": document}), Material("", (), Trail()), "m")
    assert isinstance(result, Written | Failed)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "```"}',
        'Here it is:\n```json\n{"a": "```"}\n```\nThat is {all}.',
        '~~~~\n{"a": "```"}\n~~~~',
        'First:\n```py\n{1}\n```\nthen\n```JSON\n{"a": "```"}\n```',
        '```json\n{"a": "```"}',
        'Here: ```{"a": "```"}```',
    ],
)
def test_the_object_in_an_answer_is_found_in_code_and_among_words(text: str) -> None:
    assert summary.object_in(text) == '{"a": "```"}'


class Inner(msgspec.Struct):
    number: int
    words: list[str] = msgspec.field(default_factory=list[str])


class Outer(msgspec.Struct, rename="camel"):
    """What is said of it is nobody's business."""

    one_inner: Inner
    title: str = ""


def test_what_it_is_made_of_is_written_out_and_all_of_it_is_required() -> None:
    inner = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "words": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["number", "words"],
        "additionalProperties": False,
    }
    assert json.loads(strict_schema(Outer)) == {
        "type": "object",
        "properties": {"oneInner": inner, "title": {"type": "string"}},
        "required": ["oneInner", "title"],
        "additionalProperties": False,
    }


def test_the_schemas_of_our_questions_name_what_the_questions_ask_for() -> None:
    assert list(json.loads(summary.answer_schema())["properties"]) == [section.value for section in Section]
    assert set(json.loads(continuity_model.answer_schema())["properties"]) == {"project", "projectLocal"}
