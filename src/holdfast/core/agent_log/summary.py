"""Summary: what a model is told of a session to summarise it, and what becomes of its answer.

The question and the check of an answer are those of every handover, in `core.work`. Here are the material,
the result, and the parts of questions that other documents share. For providers that enforce a schema,
`strict_schema` has the form that they require: every field is required, and no other is allowed. Answers are
still parsed leniently, because not every provider enforces it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from holdfast.core.agent_log.context import AgentTurn, Result, Text, ToolCall, Turn, UserTurn
from holdfast.core.events.event import Action
from holdfast.core.events.world import GitState
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.rolling import topics_of
from holdfast.core.text.markdown import blocks
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.answer import Refused, RejectedSentence, check_answer, session_facts
from holdfast.core.work.compute import work_state
from holdfast.core.work.lines import statements_shown
from holdfast.core.work.question import SessionMessage, Speaker
from holdfast.core.work.question import question as handover_question
from holdfast.lazy_dataclass import dataclass

BUCKET: Final = 8
"""How many rows each bucket of evidence holds at most."""
ROW_CHARS: Final = 200
PART_CHARS: Final = 2_000
CONVERSATION_CHARS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Material:
    """What to summarise: the previous summary, the turns since, and the rule-based evidence."""

    earlier: str
    turns: tuple[Turn, ...]
    trail: Trail
    main_model: str = ""
    """The model that the session itself uses."""
    git: GitState | None = None
    said_before: tuple[str, ...] = ()
    """Texts of the session that are not in these turns; an answer may name what is in them."""


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a model wrote."""

    text: str
    model: str
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    left_out: tuple[RejectedSentence, ...] = ()
    """Sentences of the model that the session contradicts, or that were too many."""


@dataclass(frozen=True, slots=True)
class ByRule:
    """A summary made by rule, without a model."""

    text: str
    reason: str = ""
    """Why no model wrote it, if one should have."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no summary, and why."""

    reason: str


def question(material: Material) -> str:
    """The question for a model; `answer` checks what it returns."""
    state = work_state(material.trail, material.git)
    return handover_question(state, tuple(messages_in(material.turns)), material.earlier)


def answer(text: str, material: Material, model: str) -> Written | Failed:
    """The summary in a model's answer; `Failed` with the reason if it is not usable."""
    state = work_state(material.trail, material.git)
    messages = (message.text for message in messages_in(material.turns))
    texts = (*material.said_before, material.earlier, *messages)
    checked = check_answer(text, session_facts(state, material.trail, texts))
    if isinstance(checked, Refused):
        return Failed(checked.reason)
    return Written(
        checked.text,
        model,
        topics=topics_of(material.trail),
        open_questions=checked.of(Section.QUESTIONS),
        key_decisions=checked.of(Section.DECISIONS),
        left_out=checked.left_out,
    )


def messages_in(turns: Sequence[Turn]) -> Iterator[SessionMessage]:
    """The messages, calls and results in these turns."""
    for turn in turns:
        returned = {result.call: result for result in turn.results} if isinstance(turn, AgentTurn) else {}
        speaker = Speaker.AGENT if isinstance(turn, AgentTurn) else Speaker.USER
        for part in turn.parts:
            if isinstance(part, Text):
                yield SessionMessage(speaker, part.text)
            elif isinstance(part, ToolCall):
                result = returned[part.id]
                yield SessionMessage(Speaker.CALL, f"{part.name} {part.arguments}")
                yield SessionMessage(Speaker.RESULT if result.ok else Speaker.FAILED, _output(result))


def answer_schema() -> str:
    """The answer's schema as JSON Schema."""
    fields = [(section.value, list[str]) for section in Section]
    return strict_schema(msgspec.defstruct("Sections", fields))


def conversation(turns: Sequence[Turn]) -> str:
    """The turns as text, each part and the whole within limits; messages are left out in the middle."""
    lines = [line for turn in turns for line in _lines(turn)]
    head, tail = _ends(lines, CONVERSATION_CHARS)
    left_out = len(lines) - len(head) - len(tail)
    between = [f"[… {left_out} messages left out …]"] if left_out else []
    return "\n\n".join([*head, *between, *tail])


def object_in(text: str) -> str:
    """The JSON object in an answer; some models put it in a code block, or add words around it."""
    code = (block for block in blocks(text) if block.is_fenced)
    inside = next((block.text for block in code if block.language.lower() in ("", "json")), text)
    start, end = inside.find("{"), inside.rfind("}")
    return inside[start : end + 1] if 0 <= start < end else inside


def buckets(trail: Trail) -> Iterator[str]:
    """The rule-based evidence, as a short list for each kind."""
    for title, rows in _evidence(trail):
        if rows:
            lines = [f"- {shortened(one_line(row), ROW_CHARS)}" for row in rows[-BUCKET:]]
            yield "\n".join((f"## {title}", *lines))


def _evidence(trail: Trail) -> Iterator[tuple[str, list[str]]]:
    """The five buckets of rule-based evidence: title and rows."""
    runs, state = trail.commands, work_state(trail)
    yield "Commands that succeeded", [_command(run.command) for run in runs if run.ok is True]
    failed = [f"{_command(run.command)}: {run.reason}" for run in runs if has_failed(run)]
    yield "Commands that failed", failed
    yield "Files written", [touch.path for touch in trail.files if touch.action is not Action.READ]
    following = (*statements_shown(state, Section.NOW), *statements_shown(state, Section.NEXT))
    yield "Next steps that were named", [one.text for one in following if one.kind is not NoteKind.UNTRIED]
    untried = [one.text for one in following if one.kind is NoteKind.UNTRIED]
    yield "Ideas that were named and not tried", untried


def _command(command: str) -> str:
    return f"`{shell.display_form(one_line(command), ROW_CHARS)}`"


def _lines(turn: Turn) -> Iterator[str]:
    match turn:
        case UserTurn(parts=parts):
            yield from (
                f"USER: {shortened(part.text, PART_CHARS)}" for part in parts if isinstance(part, Text)
            )
        case AgentTurn(parts=parts, results=results):
            returned = {result.call: result for result in results}
            for part in parts:
                if isinstance(part, Text):
                    yield f"AGENT: {shortened(part.text, PART_CHARS)}"
                elif isinstance(part, ToolCall):
                    yield f"CALL {part.name} {shortened(part.arguments, ROW_CHARS * 2)}"
                    yield _result(returned[part.id])


def _result(result: Result) -> str:
    return f"{'RESULT' if result.ok else 'FAILED'}: {shortened(_output(result), PART_CHARS // 2)}"


def _output(result: Result) -> str:
    return "\n".join(part.text for part in result.parts if isinstance(part, Text))


def _ends(lines: list[str], limit: int) -> tuple[list[str], list[str]]:
    """The first lines within a quarter of the limit, and the last lines within the rest."""
    head: list[str] = []
    room = limit // 4
    while len(head) < len(lines) and len(lines[len(head)]) <= room:
        room -= len(lines[len(head)])
        head.append(lines[len(head)])
    tail: list[str] = []
    room += limit - limit // 4
    while len(head) + len(tail) < len(lines) and len(lines[-1 - len(tail)]) <= room:
        room -= len(lines[-1 - len(tail)])
        tail.append(lines[-1 - len(tail)])
    return head, tail[::-1]


Schema: TypeAlias = dict[str, Any]


def strict_schema(answer: type[msgspec.Struct]) -> str:
    """The schema of an answer of that type, as JSON."""
    whole: Schema = msgspec.json.schema(answer)
    return msgspec.json.encode(_strict(whole, whole.get("$defs", {}))).decode()


def _strict(part: Schema, named: Schema) -> Schema:
    """A part of a schema with references resolved and descriptions left out."""
    if "$ref" in part:
        return _strict(named[part["$ref"].rpartition("/")[2]], named)
    if part.get("type") == "array":
        return {"type": "array", "items": _strict(part["items"], named)}
    if part.get("type") != "object":
        return {"type": part["type"]}
    fields = {name: _strict(field, named) for name, field in part["properties"].items()}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
