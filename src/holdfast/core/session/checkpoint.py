"""Checkpoint: the durable picture of a session at one moment; its text is its digest.

A checkpoint is taken, never edited.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2s

from holdfast.core.evidence.fact_lines import command_line, file_line, git_lines
from holdfast.core.evidence.kinds import KINDS, KindTable, NoteKind
from holdfast.core.evidence.notes import notes_to_show
from holdfast.core.evidence.trail import Trail
from holdfast.core.memory.memory import Memory
from holdfast.core.session.rolling import Outline, outline_of
from holdfast.core.session.session import Session, Trigger, consume
from holdfast.core.text.strings import elapsed, one_line, shortened
from holdfast.lazy_dataclass import dataclass

HEAD = "## Session Checkpoint"
"""How a rule-based digest begins."""
_PROMPTS = "### Last Prompts"
PROMPTS_SHOWN = 5
STATEMENTS_SHOWN = 3
NOTES_SHOWN = 12
FILES_SHOWN = 20
COMMANDS_SHOWN = 10
ID_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A row of `session_checkpoints`."""

    id: str
    session: str
    harness: str
    project: str
    project_normalized: str
    project_id: str
    worktree_id: str
    trigger: Trigger
    digest: str
    prompt_count: int
    memory_queries: tuple[str, ...]
    recent_remembers: tuple[str, ...]
    window: int
    created_at: int
    words: str = ""
    """The words of the agent, the user or the harness, if any."""
    outline: Outline = Outline()


def take(
    session: Session, trigger: Trigger, words: str, id: str, at: int, accessed: Sequence[Memory] = ()
) -> tuple[Session, Checkpoint]:
    """The session with nothing pending, and a checkpoint of its current state.

    `accessed` are the memories recalled most often since the last one.
    """
    checkpoint = Checkpoint(
        id=id,
        session=session.key,
        harness=session.harness,
        project=session.project.path,
        project_normalized=session.project.normalized,
        project_id=session.project.project_id,
        worktree_id=session.project.worktree_id,
        trigger=trigger,
        digest=digest(session, trigger, words, at, accessed),
        prompt_count=session.prompts_known,
        memory_queries=session.pending_queries,
        recent_remembers=session.pending_remembers,
        window=session.window,
        created_at=at,
        words=words,
        outline=outline_of(session.trail, session.pressure.used, session.messages),
    )
    return consume(session, at), checkpoint


def gist(digest: str) -> str:
    """What distinguishes a digest in a list: the last prompt of a rule-based one, otherwise all of it."""
    if not digest.startswith(HEAD):
        return digest
    _, _, prompts = digest.partition(f"\n{_PROMPTS}\n")
    rows = [line.removeprefix("- ") for line in prompts.partition("\n\n")[0].split("\n")]
    # Without prompts: the evidence below the head, which is the same in all digests.
    return rows[-1] or digest.partition("\n\n")[2] or digest


def record_id(at: int, unique: str) -> str:
    """A unique id for a checkpoint among a session's records; it begins with the time."""
    return f"{at}_{blake2s(unique.encode(), digest_size=4).hexdigest()}"


def digest(
    session: Session,
    trigger: Trigger,
    words: str,
    at: int,
    accessed: Sequence[Memory] = (),
    kinds: KindTable = KINDS,
) -> str:
    """The checkpoint's text: the agent's own words, otherwise the evidence and the harness's words."""
    if trigger in (Trigger.AGENT, Trigger.EXPLICIT) and words:
        return words
    git = _rows("### Git", git_lines(session.git))
    sections = [
        _head(session, at),
        _memory_activity(session, accessed),
        *_evidence(session.trail, kinds),
        git,
    ]
    if words:
        sections.append(f"### Session Context\n{words.strip()}")
    return "\n\n".join(section for section in sections if section)


def _head(session: Session, at: int) -> str:
    return (
        f"{HEAD}\n"
        f"Project: {session.project.path}\n"
        f"Prompts: {session.prompts_known} | Duration: {elapsed(at - session.started_at)}"
    )


def _memory_activity(session: Session, accessed: Sequence[Memory]) -> str:
    lines = ["### Memory Activity Since Last Checkpoint"]
    if session.pending_queries:
        lines.append("Queries: " + "; ".join(session.pending_queries))
    if session.pending_remembers:
        lines.append("Remembered: " + "; ".join(one_line(text) for text in session.pending_remembers))
    if accessed:
        memories = (f"{memory.id[:ID_SHOWN]} “{_line(memory.text, 80)}”" for memory in accessed)
        lines.append("Top memories accessed: " + "; ".join(memories))
    return "\n".join(lines) if len(lines) > 1 else ""


def _evidence(trail: Trail, kinds: KindTable) -> list[str]:
    return [
        _rows(_PROMPTS, [_line(prompt.text, 300) for prompt in trail.prompts[-PROMPTS_SHOWN:]]),
        *(_rows(f"### {row.heading}", _notes(trail, row.kind)) for row in kinds.values() if row.heading),
        _rows("### Files", [file_line(touch) for touch in reversed(trail.files[-FILES_SHOWN:])]),
        _rows("### Commands", [command_line(run) for run in reversed(trail.commands[-COMMANDS_SHOWN:])]),
        _rows("### To-dos", [f"[{todo.status}] {one_line(todo.text)}" for todo in trail.todos]),
        _rows(
            "### Last Statements",
            [_line(statement.text, 600) for statement in trail.statements[-STATEMENTS_SHOWN:]],
        ),
    ]


def _notes(trail: Trail, kind: NoteKind) -> list[str]:
    return [_line(note.text, 300) for note in notes_to_show(kind, trail)[-NOTES_SHOWN:]]


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text), limit)


def _rows(title: str, rows: list[str]) -> str:
    return "\n".join([title, *(f"- {row}" for row in rows)]) if rows else ""
