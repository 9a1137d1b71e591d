"""A user's home with old transcripts in it, and a store to import them into."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast import harnesses
from holdfast.config import Config
from holdfast.engine.engine import Engine
from holdfast.engine.hook_events import receive_hook_event
from holdfast.engine.recording.importing import ImportChoice, ImportResult, Survey, survey, take_in
from holdfast.harnesses.base import Envelope, Reader
from holdfast.stores.base import RECORDS, SearchDocument, Within
from holdfast.stores.sqlite import SqliteStore, open_in_memory
from tests.harnesses import claude_code_records as claude

NOW = claude.AT + 3_600_000
SPACE_LEFT = 1 << 40


class Killed(Exception):
    """What cuts an import off."""


@dataclass
class Attic:
    """A user's home with old transcripts in it, and a store."""

    root: Path
    store: SqliteStore = field(default_factory=open_in_memory)
    config: Config = field(default_factory=Config)
    now: int = NOW
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def project(self) -> str:
        path = self.root / "app"
        path.mkdir(exist_ok=True)
        return str(path)

    def engine(self) -> Engine:
        return Engine(
            store=self.store,
            harness=harnesses.get,
            config=lambda _: self.config,
            user_home=self.root,
            clock=lambda: self.now,
            new_id=lambda: f"id-{next(self.numbers)}",
            new_secret=lambda: b"attic",
        )

    def keeps(
        self, key: str, *turns: tuple[str, str], at: int = NOW, cwd: str = "", said: str = claude.TIME
    ) -> Path:
        """A transcript with these turns, last changed at that time; more of them if it is there already."""
        path = self.root / ".claude" / "projects" / "p" / f"{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        about: claude.Json = {"cwd": cwd or self.project, "sessionId": key, "timestamp": said}
        with path.open("a", encoding="utf-8") as file:
            for asked, answered in turns:
                number = next(self.numbers)
                lines = (
                    claude.user(asked, f"u{number}", **about),
                    claude.assistant(claude.text(answered), uuid=f"a{number}", **about),
                )
                file.writelines(json.dumps(line) + "\n" for line in lines)
        os.utime(path, (at / 1000, at / 1000))
        return path

    def edits(
        self, key: str, asked: str, why: str, file: str, text: str, said: str = claude.TIME, at: int = NOW
    ) -> Path:
        """A transcript with a turn in which the agent says why and edits a file; more if it is there."""
        path = self.root / ".claude" / "projects" / "p" / f"{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        about: claude.Json = {"cwd": self.project, "sessionId": key, "timestamp": said}
        number, call = next(self.numbers), f"toolu_{next(self.numbers)}"
        name = file if file.startswith("/") else f"{self.project}/{file}"
        edit = claude.tool_use("Edit", call, file_path=name, old_string="x", new_string=text)
        lines = (
            claude.user(asked, f"u{number}", **about),
            claude.assistant(claude.text(why), uuid=f"a{number}", request=f"m{number}", **about),
            claude.assistant(edit, uuid=f"b{number}", request=f"n{number}", **about),
            claude.user([claude.tool_result("done", call)], f"r{number}", **about),
        )
        with path.open("a", encoding="utf-8") as transcript:
            transcript.writelines(json.dumps(line) + "\n" for line in lines)
        os.utime(path, (at / 1000, at / 1000))
        return path

    def survey(self, since: int = 0, project_id: str = "") -> Survey:
        return survey(self.engine(), self.candidates(), ImportChoice(since, project_id))

    def candidates(self) -> Iterator[tuple[Reader, Path]]:
        for harness in map(harnesses.reader, harnesses.readable()):
            for root in harness.transcript_roots(self.root, {}):
                yield from ((harness, path) for path in harness.transcripts(root))

    def imported(self) -> ImportResult:
        return take_in(self.engine(), self.survey().sessions, SPACE_LEFT, lambda _: None)

    def documents(self) -> list[SearchDocument]:
        """The passages and digests of sessions."""
        said = self.store.documents(Within(None, kinds=RECORDS), 10_000)
        return sorted(said, key=lambda one: (one.session, one.place))

    def payload(self, key: str, event: str, **fields: str) -> str:
        path = self.root / ".claude" / "projects" / "p" / f"{key}.jsonl"
        body = {"session_id": key, "transcript_path": str(path), "cwd": self.project, **fields}
        payload = json.dumps({**body, "hook_event_name": event}).encode()
        envelope = Envelope(f"e{next(self.numbers)}", "claude-code", NOW)
        return receive_hook_event(self.engine(), envelope, payload, lambda: True).decode()
