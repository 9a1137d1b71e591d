"""What was forgotten is in no byte of the home, whoever was told of it, and does not come back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from holdfast.engine.privacy import forget
from holdfast.stores.sqlite import open_store
from holdfast.stores.sqlite.recovery.backups import back_up
from tests import fork_server
from tests.daemon.conftest import LIMIT_S, Lodging, request, wait_until

CANARY = "Rumpelstilzchen"
"""What only the forgotten session says."""
FORGOTTEN, OTHER = "1f2e3d4c-forgotten", "5b6a7980-other"
SET_ASIDE = f"store.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db"
"""A damaged store, set aside just now: the daemon removes one after 90 days."""


class Tale:
    """A session that leaves its word everywhere, and another one that goes on from it."""

    def __init__(self, lodging: Lodging) -> None:
        self.lodging = lodging
        self.home = lodging.home
        self.project = lodging.root / "project"
        self.project.mkdir()
        (lodging.root / ".claude" / "projects" / "p" / FORGOTTEN / "subagents").mkdir(parents=True)
        self._numbers = 0

    def transcript(self, session: str) -> Path:
        return self.lodging.root / ".claude" / "projects" / "p" / f"{session}.jsonl"

    def writes(self, session: str, text: str, **more: object) -> None:
        """One more prompt, and an answer to it, in a session's transcript and in that of a subagent."""
        own = self.transcript(session)
        for path in (own, own.with_suffix("") / "subagents" / "agent-1.jsonl"):
            if path.parent.is_dir():
                with path.open("a", encoding="utf-8") as file:
                    for kind in ("user", "assistant"):
                        content = text if kind == "user" else [{"type": "text", "text": f"Yes: {text}"}]
                        file.write(json.dumps(self._record(kind, content) | more) + "\n")

    def rings(self, session: str, event: str, **fields: object) -> str:
        """A letter of that session; what the harness is given for it."""
        self._numbers += 1
        path = str(self.transcript(session))
        place = {"session_id": session, "cwd": str(self.project), "transcript_path": path}
        payload: dict[str, object] = {**place, "hook_event_name": event, **fields}
        process = f"{os.getpid()} 0"
        at = str(time.time_ns() // 1_000_000)
        sent = self.lodging.payload(json.dumps(payload), f"id-{self._numbers}", process=process, at=at)
        return (sent or b"").decode()

    def play(self) -> None:
        """The forgotten session works and ends; the other starts, is given its brief, and works too."""
        self.writes(FORGOTTEN, f"Find out about {CANARY}, never tell {CANARY}")
        self.rings(FORGOTTEN, "UserPromptSubmit", prompt=f"and {CANARY}", prompt_id="p2")
        self.types("checkpoint", "--session", FORGOTTEN, "--digest", f"half way to {CANARY}")
        self.rings(FORGOTTEN, "PreCompact", trigger="manual", custom_instructions=CANARY)
        self.rings(FORGOTTEN, "SessionEnd", reason="other")
        brief = self.rings(OTHER, "SessionStart", source="startup")
        assert CANARY in brief
        given = json.loads(brief)["hookSpecificOutput"]["additionalContext"]
        self.writes(OTHER, "Spin straw into gold")
        with self.transcript(OTHER).open("a", encoding="utf-8") as file:
            shown = {"hookEvent": "SessionStart", "content": given, "type": "hook_additional_context"}
            file.write(json.dumps({**self._record("attachment", ""), "attachment": shown}) + "\n")
        self.rings(OTHER, "Stop")
        self.lodging.send(request("{", "bad", harness=f"a harness named {CANARY}"))
        wait_until(lambda: CANARY in self.lodging.log())

    def leaves_files(self) -> None:
        """Copies of the store, a damaged one, and letters that nobody took in."""
        # Not a copy of the file alone: what was written last may still be in the log beside it.
        # Made elsewhere and moved: soon after its start a daemon removes every copy once.
        whole = back_up(self.home / "store.db", self.lodging.root / "copies", 1, time.time_ns() // 1_000_000)
        shutil.copy(whole, self.home / SET_ASIDE)
        (self.home / "backups").mkdir(exist_ok=True)
        whole.replace(self.home / "backups" / whole.name)
        spool = self.home / "spool"
        spool.mkdir(exist_ok=True)
        payload = {"session_id": FORGOTTEN, "cwd": str(self.project), "prompt": CANARY}
        (spool / "0.event").write_bytes(request(json.dumps(payload), "spooled"))

    def types(self, *words: str) -> str:
        own = {"HOME": str(self.lodging.root), "HOLDFAST_HOME": str(self.home), "PATH": os.environ["PATH"]}
        done = fork_server.run(
            [sys.executable, "-m", "holdfast.cli", *words],
            capture_output=True,
            text=True,
            env=own,
            cwd=self.project,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def holding(self, word: str) -> list[str]:
        """The files of the home in which a word stands, byte for byte."""
        found: list[str] = []
        for file in sorted(self.home.rglob("*")):
            with contextlib.suppress(FileNotFoundError):  # a daemon is at work
                if file.is_file() and word.encode() in file.read_bytes():
                    found.append(str(file.relative_to(self.home)))
        return found

    def _record(self, kind: str, content: object) -> dict[str, object]:
        self._numbers += 1
        stamp = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 1_000_000 % 1000:03}Z"
        )
        message = {"role": kind, "content": content}
        return {"type": kind, "uuid": f"u{self._numbers}", "timestamp": stamp, "message": message}


@pytest.fixture
def tale(lodging: Lodging) -> Tale:
    return Tale(lodging)


CHOICES = (
    ("--session", FORGOTTEN),
    ("--session", FORGOTTEN[:4]),
    ("--project", "."),
    ("--before", "2999-12-31"),
    ("--all",),
)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_no_byte_of_it_is_left_with_a_daemon(tale: Tale, choice: tuple[str, ...]) -> None:
    tale.lodging.start()
    tale.play()
    tale.leaves_files()
    before = tale.holding(CANARY)
    # The letter in the spool may have been taken in by now: then it is in the store.
    assert {"logs/daemon.log", SET_ASIDE, "store.db"} <= {name.removesuffix("-wal") for name in before}
    tale.types("forget", *choice, "--yes")
    assert tale.holding(CANARY) == []
    assert tale.holding(FORGOTTEN) == []
    assert bool(tale.holding("straw into gold")) is (choice[0] == "--session")


@pytest.mark.parametrize("choice", [CHOICES[0], CHOICES[-1]], ids=" ".join)
def test_nor_without_one(tale: Tale, choice: tuple[str, ...]) -> None:
    daemon = tale.lodging.start()
    tale.play()
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(LIMIT_S)
    tale.leaves_files()
    (tale.home / "spool" / "0.event").unlink()
    tale.types("forget", *choice, "--yes")
    assert tale.holding(CANARY) == []
    assert tale.holding(FORGOTTEN) == []


def test_a_session_that_lives_goes_on_and_its_past_does_not_come_back(tale: Tale) -> None:
    daemon = tale.lodging.start()
    tale.play()
    tale.types("forget", "--session", FORGOTTEN, "--yes")
    tale.writes(FORGOTTEN, "Now for something new: the miller's daughter")
    tale.rings(FORGOTTEN, "Stop")
    wait_until(lambda: bool(tale.holding("daughter")))
    # A file that is another one by now is read from its start.
    path = tale.transcript(FORGOTTEN)
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    copy.replace(path)
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(LIMIT_S)
    tale.lodging.start()
    tale.rings(FORGOTTEN, "Stop")
    tale.lodging.ask("flush")
    assert tale.holding("daughter")
    assert tale.holding(CANARY) == []


def test_what_was_cut_off_is_finished_by_the_next_daemon(tale: Tale) -> None:
    daemon = tale.lodging.start()
    tale.play()
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(LIMIT_S)
    tale.leaves_files()
    (tale.home / "spool" / "0.event").unlink()
    store = open_store(tale.home / "store.db", tale.home / "backups", 0)
    with store.writing_durably():
        store.forget([FORGOTTEN], time.time_ns() // 1_000_000)
        store.put_fact(forget.OWED, forget.AFTER_FORGETTING)
    store.close()
    assert tale.holding(CANARY), "killed here, much is left"
    tale.lodging.start()
    wait_until(lambda: not tale.holding(CANARY))


def test_what_setup_keeps_of_a_harness_is_not_ours_to_forget(tale: Tale) -> None:
    settings = tale.lodging.root / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"model": "mine"}')
    tale.types("setup", "claude-code", "--yes")
    (kept,) = (tale.home / "backups").iterdir()
    tale.types("forget", "--all", "--yes")
    assert kept.read_text() == '{"model": "mine"}'
    tale.types("unsetup", "--yes")
    assert settings.read_text() == '{"model": "mine"}'
