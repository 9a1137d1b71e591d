"""An engine to act on: a store in memory, a clock that is set by hand, and a harness made for tests.

The harness's letters are JSON, its transcripts one JSON object a line: {"id", "kind", "at", "text"}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.config import Config
from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.events.event import (
    Action,
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionImminent,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    SessionEnded,
    SessionStarted,
    Skipped,
    Source,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Usage,
)
from holdfast.core.events.install_request import WantedEntry, WantedMember
from holdfast.core.session.pressure import AutoCompact
from holdfast.core.session.session import Process
from holdfast.core.text.untrusted import TITLE, fence
from holdfast.engine.engine import Engine
from holdfast.engine.hook_events import receive_hook_event, record_hook_event
from holdfast.harnesses.base import (
    Ask,
    Batch,
    Envelope,
    Harness,
    HookEvent,
    Opening,
    SetupBlocker,
    StatusInput,
)
from holdfast.models.base import Count
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_in_memory

NOON = 1_800_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE


_ASKS = {
    "start": Ask.START,
    "prompt": Ask.PROMPT,
    "compaction": Ask.COMPACTION,
    "stop": Ask.STOP,
    "tools": Ask.TOOLS,
    "request": Ask.REQUEST,
}


class Playhouse:
    """A harness that says exactly what a test has it say."""

    name: str = "playhouse"
    title: str = "Playhouse"
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ()
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "playhouse"
    recorded_with: str = "1.0"
    hook_variables: tuple[str, ...] = ()
    rarely_answered: tuple[str, ...] = ()
    answer_limit: int = 10_000
    stores_injected_text: bool = True

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        try:
            fields = json.loads(payload)
        except ValueError:
            return Skipped("not JSON")
        told = _events_of(fields, envelope)
        return HookEvent(
            session=fields["session"],
            cwd=fields["cwd"],
            transcript=fields.get("transcript", ""),
            ask=_ASKS.get(fields["kind"], Ask.NOTHING),
            events=() if fields["kind"] == "prompt" else told,
            stand_ins=told if fields["kind"] == "prompt" else (),
            source=Source(fields["source"]) if fields["kind"] == "start" else None,
            previous=fields.get("previous", ""),
        )

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return brief.encode()

    def answer_size(self, answer: str) -> int:
        return len(answer.encode())

    def is_shared(self, command: Sequence[str]) -> bool:
        return "shared" in command

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        return (home / "transcripts",)

    def transcripts(self, folder: Path) -> Iterator[Path]:
        yield from sorted(folder.glob("*.jsonl"))

    def session_of(self, path: Path) -> str:
        return path.stem

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return ()

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        """One that is named `parent.child` points to its parent's."""
        parent, _, child = path.stem.rpartition(".")
        return (path.with_stem(parent),) if parent and child else ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        start = int(cursor or 0)
        whole = path.read_bytes()[start:].rpartition(b"\n")[0]
        lines = [json.loads(line) for line in whole.splitlines()]
        events = tuple(event for line in lines for event in _shown(line, session))
        return Batch(events, (), str(start + len(whole) + 1 if whole else start), done=True)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return self.read_transcript(path, session, cursor, limit)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:
        return str(environment.get("SESSION") or meta.get("session", ""))

    def call_id(self, meta: Mapping[str, object]) -> str:
        return str(meta.get("call", ""))

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        return AutoCompact()

    def parse_status(self, payload: bytes) -> StatusInput | Skipped:
        try:
            fields = json.loads(payload)
            return StatusInput(
                fields["session"], fields["cwd"], fields.get("used", 0), fields.get("window", 0)
            )
        except (ValueError, KeyError, TypeError):
            return Skipped("no session")

    def status_line_entries(self, command: str, home: Path) -> tuple[WantedMember, ...]:
        return ()

    def present(self, home: Path, search_path: str) -> bool:
        return False

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, prompt), (self.program, "--alone", prompt))

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:
        return None

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return ()


def _events_of(fields: Mapping[str, str], envelope: Envelope) -> tuple[Event, ...]:
    session, at, id = fields["session"], envelope.at, envelope.id
    match fields["kind"]:
        case "start":
            source = Source(fields["source"])
            start = SessionStarted(
                session=session, record=f"start:{id}", at=at, origin=Origin.HARNESS, source=source
            )
            if source is Source.COMPACT:
                return (
                    start,
                    Compacted(
                        session=session,
                        record=f"c:{id}",
                        at=at,
                        origin=Origin.HARNESS,
                        sign=CompactionSign.START,
                    ),
                )
            return (start,)
        case "prompt":
            text, turn = fields["text"], fields.get("turn", "")
            return (
                Prompt(
                    session=session, record=f"hook:{id}", at=at, origin=Origin.HUMAN, text=text, turn=turn
                ),
            )
        case "compaction":
            words = fields.get("text", "")
            return (
                CompactionImminent(
                    session=session,
                    record=f"i:{id}",
                    at=at,
                    origin=Origin.HARNESS,
                    trigger="auto",
                    instructions=words,
                    session_context=fields.get("context", ""),
                ),
            )
        case "stop":
            return (TurnEnded(session=session, record=f"s:{id}", at=at, origin=Origin.HARNESS),)
        case "end":
            return (
                SessionEnded(
                    session=session, record=f"e:{id}", at=at, origin=Origin.HARNESS, reason=fields["reason"]
                ),
            )
        case _:
            return ()


def _shown(line: Mapping[str, str], session: str) -> tuple[Event, ...]:
    at, id, text = int(line["at"]), line["id"], line.get("text", "")
    match line["kind"]:
        case "prompt":
            turn = line.get("turn", "")
            return (Prompt(session=session, record=id, at=at, origin=Origin.HUMAN, text=text, turn=turn),)
        case "says":
            return (AssistantText(session=session, record=id, at=at, origin=Origin.ASSISTANT, text=text),)
        case "edits":
            return _tool(session, id, at, Action.EDIT, text, ok=True)
        case "runs" | "fails":
            return _tool(session, id, at, Action.RUN, text, ok=line["kind"] == "runs")
        case "boundary":
            return (
                Compacted(
                    session=session, record=id, at=at, origin=Origin.HARNESS, sign=CompactionSign.BOUNDARY
                ),
            )
        case "model":
            return (ModelChanged(session=session, record=id, at=at, origin=Origin.HARNESS, model=text),)
        case "usage":
            return (
                Usage(session=session, record=id, at=at, origin=Origin.HARNESS, input=int(text), output=0),
            )
        case "output":
            return (
                ToolReturned(
                    session=session, record=id, at=at, origin=Origin.TOOL, call=id, ok=True, text=text
                ),
            )
        case "brief":
            seen = text or fence(TITLE)
            return (BriefSeen(session=session, record=id, at=at, origin=Origin.HOLDFAST, text=seen),)
        case _:
            return ()


def _tool(session: str, id: str, at: int, action: Action, subject: str, *, ok: bool) -> tuple[Event, ...]:
    call = ToolCalled(
        session=session,
        record=f"{id}/0",
        at=at,
        origin=Origin.ASSISTANT,
        call=id,
        tool="t",
        action=action,
        subject=subject,
    )
    text = "" if ok else f"Error: {subject} broke"
    status = 0 if ok else 1
    done = ToolReturned(
        session=session,
        record=f"{id}/1",
        at=at,
        origin=Origin.TOOL,
        call=id,
        ok=ok,
        exit_status=status,
        text=text,
    )
    return (call, done)


@dataclass
class Stage:
    """What a test acts on."""

    home: Path
    store: Store = field(default_factory=open_in_memory)
    now: int = NOON
    config: Config = field(default_factory=Config)
    counter: Count | None = None
    numbers: int = 0

    def engine(self) -> Engine:
        return Engine(
            store=self.store,
            harness=lambda name: _PLAYHOUSE,
            config=lambda project: self.config,
            user_home=self.home,
            clock=lambda: self.now,
            new_id=self._next_id,
            home=self.home / "holdfast",
            counter=lambda: self.counter,
        )

    def payload(self, session: str, kind: str, *, process: Process | None = None, **fields: str) -> str:
        """Send a hook event now; returns the answer."""
        envelope, payload = self._sealed(session, kind, process, fields)
        return receive_hook_event(self.engine(), envelope, payload, lambda: True).decode()

    def spooled(self, session: str, kind: str, *, process: Process | None = None, **fields: str) -> None:
        """Send a hook event through the spool: it is recorded, and no hook waits for an answer."""
        envelope, payload = self._sealed(session, kind, process, fields)
        record_hook_event(self.engine(), envelope, payload, lambda: True)

    def write(self, session: str, *lines: tuple[str, str], turn: str = "") -> Path:
        """More lines in a session's transcript, each (kind, text)."""
        path = self.transcript(session)
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for kind, text in lines:
                line = {"id": self._next_id(), "kind": kind, "at": self.now, "text": text, "turn": turn}
                file.write(json.dumps(line) + "\n")
        return path

    def file(self, name: str) -> str:
        """A file of the project, written now."""
        path = Path(self.project("app")) / name
        path.write_text("int x;", encoding="utf-8")
        os.utime(path, (self.now / 1000, self.now / 1000))
        return str(path)

    def transcript(self, session: str) -> Path:
        return self.home / "transcripts" / f"{session}.jsonl"

    def project(self, name: str) -> str:
        path = self.home / name
        path.mkdir(exist_ok=True)
        return str(path)

    def _sealed(
        self, session: str, kind: str, process: Process | None, fields: Mapping[str, str]
    ) -> tuple[Envelope, bytes]:
        body = {"session": session, "kind": kind, "cwd": self.project("app"), **fields}
        body.setdefault("transcript", str(self.transcript(session)))
        return Envelope(self._next_id(), "playhouse", self.now, process), json.dumps(body).encode()

    def _next_id(self) -> str:
        self.numbers += 1
        return f"id-{self.numbers}"


_PLAYHOUSE: Harness = Playhouse()
