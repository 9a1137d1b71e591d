"""While a setting that protects cannot be read, nothing gets in; once it can, nothing is missing."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeVar

import pytest

from holdfast import harnesses, hook
from holdfast.core.documents.continuity_log import AuditScope, AuditTrigger
from holdfast.core.documents.handoff_content import HandoffWords
from holdfast.core.documents.ledger import Ledger, LedgerEntry
from holdfast.daemon.local import spool, wire
from holdfast.daemon.mcp.calls import Mcp
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.documents import continuity, handoff, ledger
from holdfast.engine.documents.continuity_source import ContinuitySource, SourceChoice
from holdfast.engine.engine import Engine
from holdfast.engine.memory import remember
from holdfast.engine.models import Means
from holdfast.engine.recording import importing
from holdfast.engine.recording.memorize import MemoryRequest
from holdfast.engine.repository.git import identity
from holdfast.engine.tools import session_tools
from holdfast.engine.tools.caller import CallContext
from holdfast.engine.upkeep import maintain
from holdfast.errors import ProtectionUnreadable

T = TypeVar("T")
DENIED: Final = "Xanadu-Meridian"
"""A word that only the user's own settings call a secret."""
GOOD: Final = f'[redact]\ndeny = ["{DENIED}"]\n[capture]\nexclude = ["private"]\n'


@dataclass
class Place:
    """A user's directory: a home of Holdfast's, a project, one that is excluded, and their transcripts."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "holdfast"

    @property
    def settings(self) -> Path:
        return self.home / "config.toml"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def private(self) -> Path:
        return self.root / "private"

    def transcript(self, session: str, cwd: Path, text: str) -> Path:
        path = self.root / ".claude" / "projects" / "p" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp = {"timestamp": "2026-11-15T12:00:00.000Z", "sessionId": session, "cwd": str(cwd)}
        said = {"role": "user", "content": text}
        with path.open("a") as file:
            number = len(path.read_text().splitlines())
            file.write(
                json.dumps({"type": "user", "uuid": f"{session}-{number}", **stamp, "message": said}) + "\n"
            )
        return path

    def everything(self) -> bytes:
        """Every byte of the home but the user's own settings."""
        files = [path for path in self.home.rglob("*") if path.is_file() and path.name != "config.toml"]
        return b"\0".join(path.read_bytes() for path in files)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    for folder in (found.home / "run", found.project, found.private):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(found.home))
    return found


def event(name: str, session: str, cwd: Path, transcript: Path | None, **more: str) -> bytes:
    fields = {"session_id": session, "cwd": str(cwd), "hook_event_name": name, **more}
    fields |= {"transcript_path": str(transcript)} if transcript else {}
    return json.dumps(fields).encode()


class InProcessDaemon:
    """The daemon's reception, without its process."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.worker = Worker(asyncio.get_running_loop())
        self.log = logging.getLogger(f"test.{place.root.name}")
        self.dispatcher = Dispatcher(place.home, self.worker, asyncio.Event(), self.log, "")
        self.mcp = Mcp(self.dispatcher, self.log)
        self.numbers = 0

    async def __aenter__(self) -> Self:
        await self.worker.do(Urgency.CONTROL, lambda: self.dispatcher.open(0))
        self.dispatcher.is_ready.set()
        await self.dispatcher.look_at_settings()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.worker.do(Urgency.CONTROL, self.dispatcher.close)
        self.worker.stop()

    async def sends(self, payload: bytes, **fields: str) -> bytes:
        self.numbers += 1
        head = {"id": f"id-{self.numbers}", "harness": "claude-code", "at": "1800000000000", **fields}
        return await self.dispatcher.answer(wire.Request("hook-event", head, payload))

    async def works(self, work: Callable[[Engine], T]) -> T:
        return await self.worker.do(Urgency.CONTROL, lambda: work(self.dispatcher.engine))

    async def calls(self, tool: str, **given: object) -> str:
        return (await self.mcp.call(CallContext(cwd=str(self.place.project)), tool, given)).problem


def syntax_error(place: Place) -> None:
    place.settings.write_text(f"{GOOD}\n[brief\n")


def bad_exclude(place: Place) -> None:
    place.settings.write_text(GOOD.replace('["private"]', '"private"'))


def bad_deny(place: Place) -> None:
    place.settings.write_text(GOOD.replace(f'["{DENIED}"]', f'["{DENIED}", 1]'))


def misspelled(place: Place) -> None:
    place.settings.write_text(GOOD.replace("exclude", "exlude"))


def capture_off_by_a_text(place: Place) -> None:
    place.settings.write_text(f'{GOOD}[continuity]\nenabled = "no"\n')


def directory(place: Place) -> None:
    place.settings.mkdir()


def fifo(place: Place) -> None:
    os.mkfifo(place.settings)


def too_large(place: Place) -> None:
    place.settings.write_text(GOOD + "#" * (2 << 20))


def not_readable(place: Place) -> None:
    place.settings.write_text(GOOD)
    place.settings.chmod(0)


def variable(place: Place) -> None:
    place.settings.write_text(GOOD)
    os.environ["HOLDFAST_REDACT_DENY"] = f"{DENIED},,"


def mend(place: Place) -> None:
    os.environ.pop("HOLDFAST_REDACT_DENY", None)
    if place.settings.is_dir():
        shutil.rmtree(place.settings)
    place.settings.unlink(missing_ok=True)
    place.settings.write_text(GOOD)


BREAKAGES: Final = (
    *(syntax_error, bad_exclude, bad_deny, misspelled, capture_off_by_a_text),
    *(directory, fifo, too_large, not_readable, variable),
)


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(ProtectionUnreadable, match="nothing is captured, stored or shared"):
        work()


def try_every_engine_verb(engine: Engine, place: Place, transcript: Path) -> None:
    """Remembering, a digest, a ledger, a handoff, the continuity and an import, all refused."""
    project, words = identity(str(place.project)), f"the code name is {DENIED}"
    session = engine.store.session("before")
    assert session is not None
    refused(lambda: remember.remember(engine, project, MemoryRequest(words), source="cli"))
    refused(lambda: session_tools.give_digest(engine, session.key, session_tools.Digest(words)))
    spot = ledger.place_of(place.home, project, "LEDGER.md")
    refused(lambda: ledger.save(engine, spot, project, session, Ledger(goal=(LedgerEntry(words),))))
    refused(lambda: handoff.create(engine, project, session, (), words, HandoffWords()))
    room = continuity.continuity_files(engine, place.home, project)
    source = ContinuitySource(SourceChoice.EXPLICIT, "claude-code", transcript, "s1")
    task = continuity.SaveTask(AuditScope.BOTH, source, AuditTrigger.SAVE)
    means = Means({}, lambda seconds: None)
    refused(lambda: continuity.save(engine, room, task, means))
    refused(lambda: continuity.refresh(engine, room, task, means))
    candidates = [(harnesses.reader("claude-code"), transcript)]
    refused(lambda: importing.survey(engine, candidates, importing.ImportChoice()))


async def tells_a_good_session(executor: InProcessDaemon) -> None:
    """A session from before the settings broke."""
    path = executor.place.transcript("before", executor.place.project, "the beginning")
    await executor.sends(event("SessionStart", "before", executor.place.project, path, source="startup"))


async def send_every_kind(executor: InProcessDaemon) -> None:
    """Hook events of all kinds, transcripts, the spool, housekeeping, agents' tools and engine verbs."""
    place = executor.place
    words = f"call it {DENIED}"
    private = place.transcript("p1", place.private, f"a private matter, {words}")
    path = place.transcript("s1", place.project, f"an open matter, {words}")
    old = place.transcript("before", place.project, f"what went on, {words}")
    # A prompt without a transcript, sessions with one, an end, and what a hook left in the spool.
    await executor.sends(event("UserPromptSubmit", "s2", place.project, None, prompt=words))
    await executor.sends(event("SessionStart", "p1", place.private, private, source="startup"))
    await executor.sends(event("SessionStart", "s1", place.project, path, source="startup"))
    await executor.sends(event("UserPromptSubmit", "s1", place.project, path, prompt=words))
    await executor.sends(event("PreCompact", "s1", place.project, path, custom_instructions=words))
    left = event("UserPromptSubmit", "s3", place.project, None, prompt=words)
    header = hook.write_header("1-1", "claude-code", (), "-")
    spooled = place.home / "spool" / "1-1.event"
    spooled.parent.mkdir(exist_ok=True)
    spooled.write_bytes(b"%blength: %d\n\n%b" % (header, len(left), left))
    await executor.dispatcher.drain()
    await executor.dispatcher.transcripts_changed({old})
    await executor.dispatcher.take_due_checkpoints(0)
    await executor.dispatcher.finalise_orphans()
    await executor.dispatcher.index()
    await executor.dispatcher.prune()
    for tool, given in (
        ("remember", {"text": words}),
        ("session_digest", {"summary": words}),
        ("recall", {"query": "beginning"}),
    ):
        assert "nothing is captured, stored or shared" in await executor.calls(tool, **given)
    await executor.works(lambda engine: try_every_engine_verb(engine, place, path))


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.__name__)
def test_nothing_gets_in_while_settings_are_broken_and_nothing_is_missing_afterwards(
    place: Place, breakage: Callable[[Place], None]
) -> None:
    if breakage is not_readable and os.geteuid() == 0:
        pytest.skip("root reads everything")

    async def story() -> None:
        mend(place)
        async with InProcessDaemon(place) as executor:
            await tells_a_good_session(executor)
            place.settings.unlink()
            breakage(place)
            await executor.dispatcher.look_at_settings()
            await send_every_kind(executor)
            assert DENIED.encode() not in place.everything()
            assert b"private matter" not in place.everything()
            assert await executor.works(lambda engine: [one.key for one in engine.store.sessions(9)]) == [
                "before"
            ]
            assert not list(place.project.rglob("*.md"))

            mend(place)
            await executor.dispatcher.look_at_settings()
            kept = await executor.works(lambda engine: {one.key for one in engine.store.sessions(9)})
            assert {"before", "s1"} <= kept
            assert "p1" not in kept
            await executor.works(lambda engine: maintain.take_due_checkpoints(engine, 0))
            for key, said in (("s1", "an open matter"), ("before", "what went on")):
                events = str(await executor.works(lambda engine, key=key: engine.store.events(key, 99)))  # type: ignore[misc]
                assert said in events
                assert "[REDACTED" in events
            assert spool.waiting(place.home) == 0
            assert DENIED.encode() not in place.everything()
            assert b"private matter" not in place.everything()

    asyncio.run(story())


def test_a_bad_value_elsewhere_leaves_protection_on(place: Place) -> None:
    async def story() -> None:
        place.settings.write_text(f"{GOOD}[brief]\ntotal_chars = 100\n")
        async with InProcessDaemon(place) as executor:
            private = place.transcript("p1", place.private, "a private matter")
            path = place.transcript("s1", place.project, f"an open matter, {DENIED}")
            await executor.sends(event("UserPromptSubmit", "p1", place.private, private, prompt="x"))
            await executor.sends(event("UserPromptSubmit", "s1", place.project, path, prompt="x"))
            assert await executor.works(lambda engine: [one.key for one in engine.store.sessions(9)]) == [
                "s1"
            ]
            assert DENIED.encode() not in place.everything()

    asyncio.run(story())


def test_a_session_is_told_once_in_one_line_and_gets_no_brief(place: Place) -> None:
    async def story() -> None:
        mend(place)
        async with InProcessDaemon(place) as executor:
            await tells_a_good_session(executor)
            await executor.sends(event("SessionEnd", "before", place.project, None, reason="other"))
            syntax_error(place)
            path = place.transcript("s1", place.project, "an open matter")
            prompt = event("UserPromptSubmit", "s1", place.project, path, prompt="x")
            first = await executor.sends(event("SessionStart", "s1", place.project, path, source="startup"))
            told = json.loads(first)["hookSpecificOutput"]["additionalContext"]
            assert "\n" not in told
            assert f"nothing is captured, stored or shared: {place.settings} is not valid TOML" in told
            assert "line 6" in told
            assert "Session Recovery Context" not in told
            assert await executor.sends(prompt) == b""
            assert await executor.sends(prompt) == b""
            other = event("UserPromptSubmit", "s2", place.project, None, prompt="x")
            assert b"not valid TOML" in await executor.sends(other)
        # Neither another daemon nor another mistake says it again.
        async with InProcessDaemon(place) as executor:
            bad_exclude(place)
            assert await executor.sends(prompt) == b""

    asyncio.run(story())


def test_a_repositorys_broken_file_stops_its_own_project_only(place: Place) -> None:
    async def story() -> None:
        mend(place)
        broken = place.root / "broken"
        broken.mkdir()
        (broken / "holdfast.toml").write_text("[capture\n")
        async with InProcessDaemon(place) as executor:
            one = place.transcript("s1", broken, "in the broken one")
            two = place.transcript("s2", place.project, "in the other one")
            told = await executor.sends(event("SessionStart", "s1", broken, one, source="startup"))
            assert b"nothing of this project is captured" in told
            for number in range(3):
                body = event("UserPromptSubmit", "s1", broken, one, prompt="x", prompt_id=f"p{number}")
                await executor.sends(body)
            await executor.sends(event("SessionEnd", "s1", broken, one, reason="other"))
            assert spool.waiting(place.home) == 3, "one for each kind of event"
            assert [one.everywhere for one in executor.dispatcher.unreadable()] == [False]
            await executor.sends(event("SessionStart", "s2", place.project, two, source="startup"))
            assert await executor.works(lambda engine: [each.key for each in engine.store.sessions(9)]) == [
                "s2"
            ]
            assert b"in the broken one" not in place.everything()
            candidates = [(harnesses.reader("claude-code"), one)]
            survey = await executor.works(
                lambda engine: importing.survey(engine, candidates, importing.ImportChoice())
            )
            assert survey.left_out == {importing.LeftOut.STOPPED: 1}
            (broken / "holdfast.toml").unlink()
            head = {"verb": "flush"}
            await executor.dispatcher.answer(wire.Request("control", head, b""))
            assert await executor.works(lambda engine: "broken one" in str(engine.store.events("s1", 9)))
            assert spool.waiting(place.home) == 0
            assert executor.dispatcher.unreadable() == []

    asyncio.run(story())


def test_what_is_wrong_is_logged_once_until_it_changes(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        place.settings.write_text("[brief]\ntotal_chars = 100\n")
        async with InProcessDaemon(place) as executor:
            path = place.transcript("s1", place.project, "x")
            prompt = event("UserPromptSubmit", "s1", place.project, path, prompt="x")
            for _ in range(3):
                await executor.sends(prompt)
                await executor.dispatcher.look_at_settings()
            syntax_error(place)
            for _ in range(3):
                await executor.sends(prompt)
                await executor.dispatcher.look_at_settings()
            mend(place)
            await executor.dispatcher.look_at_settings()
            await executor.sends(prompt)

    with caplog.at_level(logging.INFO):
        asyncio.run(story())
    said = [record.getMessage() for record in caplog.records]
    (warning,) = [line for line in said if "must be a whole number" in line]
    assert warning.startswith(f"{place.settings}, line 2: `brief.total_chars` must be")
    assert warning.endswith("not 100; 500 is used")
    assert sum("not valid TOML" in line for line in said) == 1
    assert sum("can be used again" in line for line in said) >= 1


def test_a_hook_that_finds_no_daemon_spools_no_words_while_settings_are_broken(place: Place) -> None:
    async def noticed() -> None:
        async with InProcessDaemon(place) as executor:
            await executor.dispatcher.look_at_settings()

    hook_body = event("UserPromptSubmit", "s2", place.project, None, prompt=f"call it {DENIED}")
    header = hook.write_header("2-1", "claude-code", (), "-")
    syntax_error(place)
    asyncio.run(noticed())
    hook.keep(str(place.home), "2-1", header, hook_body)
    assert DENIED.encode() not in place.everything()
    assert (place.home / "spool" / "2-1.event").exists()
    mend(place)
    asyncio.run(noticed())
    hook.keep(str(place.home), "2-2", header, hook_body)
    assert DENIED.encode() in (place.home / "spool" / "2-2.event").read_bytes()
