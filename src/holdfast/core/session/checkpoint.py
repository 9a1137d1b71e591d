"""Checkpoint: the durable picture of a session at one moment; its text is its digest.

A checkpoint is taken, never edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2s

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.lineage import without_inherited
from holdfast.core.evidence.trail import Utterance, fast_replace
from holdfast.core.memory.memory import Memory
from holdfast.core.session.rolling import Outline, outline_of
from holdfast.core.session.session import Session, Trigger, consume, work_of
from holdfast.core.text.strings import elapsed, one_line, shortened
from holdfast.core.work.lines import SECTION_TITLES, section_lines
from holdfast.core.work.state import WorkState
from holdfast.lazy_dataclass import dataclass

HEAD = "## Session Checkpoint"
"""How a rule-based digest begins."""
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
    """The words of the agent, the user, the harness or a model, if any."""
    outline: Outline = Outline()


def take(
    session: Session, trigger: Trigger, words: str, id: str, at: int, accessed: Sequence[Memory] = ()
) -> tuple[Session, Checkpoint]:
    """The session with nothing pending, and a checkpoint of its current state.

    It says nothing that the session inherited: its predecessor's checkpoints do. `accessed` are the memories
    recalled most often since the last one.
    """
    own = fast_replace(session, trail=without_inherited(session.trail))
    state = work_of(own)
    checkpoint = Checkpoint(
        id=id,
        session=session.key,
        harness=session.harness,
        project=session.project.path,
        project_normalized=session.project.normalized,
        project_id=session.project.project_id,
        worktree_id=session.project.worktree_id,
        trigger=trigger,
        digest=digest(own, state, trigger, words, at, accessed),
        prompt_count=session.prompts_known,
        memory_queries=session.pending_queries,
        recent_remembers=session.pending_remembers,
        window=session.window,
        created_at=at,
        words=words,
        outline=outline_of(state, own.trail, session.pressure.used, session.messages),
    )
    return consume(session, at), checkpoint


def own_words(checkpoint: Checkpoint) -> Utterance | None:
    """What the agent, the user or a model wrote down in this checkpoint; None if it was made by rule."""
    is_written = checkpoint.trigger in (Trigger.AGENT, Trigger.EXPLICIT) or checkpoint.outline.model
    if not checkpoint.words or not is_written:
        return None
    return Utterance(checkpoint.words, checkpoint.created_at, checkpoint.id, author=checkpoint.outline.model)


def gist(digest: str) -> str:
    """What distinguishes a digest in a list: what was going on or, if it does not say, the goal."""
    if not digest.startswith(HEAD):
        return digest
    for section in (Section.NOW, Section.GOAL):
        _, _, below = digest.partition(f"\n{_heading(section)}\n")
        if below:
            return below.partition("\n\n")[0].split("\n")[-1].removeprefix("- ")
    # Without either: the evidence below the head, which is the same in all digests.
    return digest.partition("\n\n")[2] or digest


def record_id(at: int, unique: str) -> str:
    """A unique id for a checkpoint among a session's records; it begins with the time."""
    return f"{at}_{blake2s(unique.encode(), digest_size=4).hexdigest()}"


def digest(
    session: Session,
    state: WorkState,
    trigger: Trigger,
    words: str,
    at: int,
    accessed: Sequence[Memory] = (),
) -> str:
    """The checkpoint's text: the agent's own words, otherwise the work state and the harness's words."""
    if trigger in (Trigger.AGENT, Trigger.EXPLICIT) and words:
        return words
    sections = [
        _head(session, at),
        _memory_activity(session, accessed),
        *(_rows(_heading(section), section_lines(state, section)) for section in Section),
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


def _heading(section: Section) -> str:
    return f"### {SECTION_TITLES[section]}"


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text), limit)


def _rows(title: str, rows: Iterable[str]) -> str:
    lines = [f"- {row}" for row in rows]
    return "\n".join([title, *lines]) if lines else ""
