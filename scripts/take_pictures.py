"""Take the README's pictures of the dashboard: `make pictures`.

A home of its own is filled with the work of an afternoon, told as a harness tells it, and looked at with the
system's chromium. The same story each time; only its times are those of the moment.
"""

# ruff: noqa: INP001

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.install import chromium

TARGET = Path(__file__).resolve().parents[1] / "docs" / "pictures"
STEPS = (
    ("prompt", "Move the importer to the new API. Never touch files below vendor/; use pnpm, not npm."),
    ("says", "I will keep the old CSV reader because the new one drops escaped quotes."),
    ("edit", "src/importer.py"),
    (
        "fails",
        "pytest tests/test_importer.py",
        "FAILED test_quotes - AssertionError: 3 != 4\n1 failed, 11 passed",
    ),
    ("edit", "src/rows.py"),
    ("says", "split_row now handles escaped quotes. A parse of 10,000 rows takes 340 ms."),
    ("runs", "pytest tests/test_importer.py", "12 passed in 0.81s"),
    ("prompt", "Good. Now the report, and keep its totals in cents."),
    ("edit", "src/report.py"),
    ("edit", "tests/test_report.py"),
    ("fails", "pytest tests/test_report.py", "E   KeyError: 'currency'\n1 failed, 4 passed"),
    ("says", "The fixture has no currency. Next step: add it to make_order in tests/orders.py."),
)
SHORT_STEPS = (
    ("prompt", "Limit each client to 100 requests a minute. Answer 429 with Retry-After."),
    ("says", "I decided to count in Redis, because the workers share no memory."),
    ("edit", "src/limits.py"),
    ("runs", "pytest tests/test_limits.py", "8 passed in 0.42s"),
    ("says", "The limit works. Next step: switch it on for a tenth of the clients."),
)
MEMORIES = (
    "critical: the staging database is reset every night at 02:00",
    "[db]: pgbouncer runs in transaction mode, so no prepared statements",
    "decision: totals are kept in cents, because floats drifted in the old report",
)


class Afternoon:
    """A user's home, and a session whose transcript grows in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}
        self.goes_to("api", 150)

    def goes_to(self, project: str, minutes: int) -> None:
        """From now on the user works in this project, in a session that began so many minutes ago."""
        self.project, self.key = self.root / project, f"{project}-1"
        self.project.mkdir()
        self.transcript = self.root / ".claude" / "projects" / project / f"{self.key}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.records: list[dict[str, Any]] = []
        self.began = datetime.now(UTC) - timedelta(minutes=minutes)

    def types(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli", *words],
            input=given,
            env=self.environment,
            cwd=self.project,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def hears(self, event: str, **more: str) -> None:
        payload = {"session_id": self.key, "cwd": str(self.project), "hook_event_name": event, **more}
        self.types(
            "hook",
            "--harness",
            "claude-code",
            given=json.dumps(payload | {"transcript_path": str(self.transcript)}),
        )

    def lives(self) -> None:
        """Tell the whole afternoon: a short session, and one whose window fills and is compacted twice."""
        self.types("setup", "claude-code", "--yes")
        self.hears("SessionStart", source="startup")
        for step in SHORT_STEPS:
            self.notes(*step, tokens=30_000)
            if step[0] == "prompt":
                self.hears("UserPromptSubmit", prompt=step[1])
        self.hears("SessionEnd", reason="prompt_input_exit")
        self.types("handoff", "create", "Roll the rate limit out")
        self.goes_to("shop", 110)
        self.hears("SessionStart", source="startup")
        for number in range(3):
            for place, step in enumerate(STEPS):
                if number == 2 and place == len(STEPS) - 1:
                    # What the window holds now was counted after its compaction.
                    self.began = datetime.now(UTC) - timedelta(minutes=len(self.records))
                share = (place + 1) / len(STEPS)
                self.notes(*step, tokens=round(160_000 * share * (0.4 if number == 2 else 1)))
                if step[0] == "prompt":
                    self.hears("UserPromptSubmit", prompt=step[1])
            self.hears("Stop")
            if number < 2:
                self.hears("PreCompact", trigger="auto")
                self.hears("SessionStart", source="compact")
        for memory in MEMORIES:
            self.types("remember", memory)
        self.types("session", "save")
        self.types("dream", "build")

    def notes(self, kind: str, text: str, output: str = "", tokens: int = 0) -> None:
        """One step of work, as the harness writes it down."""
        now = self.began + timedelta(minutes=len(self.records))
        call = f"t{len(self.records)}"
        for role, content in _told(kind, text, output, call, str(self.project), now):
            usage = {"input_tokens": tokens, "output_tokens": 400} if role == "assistant" else None
            at = self.began + timedelta(minutes=len(self.records))
            self.records.append(
                {
                    "type": role,
                    "uuid": f"u{len(self.records)}",
                    "parentUuid": f"u{len(self.records) - 1}" if self.records else None,
                    "sessionId": self.key,
                    "cwd": str(self.project),
                    "isSidechain": False,
                    "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                    "message": {
                        "role": role,
                        "content": content,
                        **({"id": f"m{len(self.records)}", "model": "claude-haiku-4-5"} if usage else {}),
                        **({"usage": usage} if usage else {}),
                    },
                }
            )
        self.transcript.write_text("".join(json.dumps(record) + "\n" for record in self.records))


def _touched(file: Path, at: datetime) -> None:
    """A file that was changed at that time."""
    file.parent.mkdir(exist_ok=True)
    file.touch()
    os.utime(file, (at.timestamp(), at.timestamp()))


def _told(
    kind: str, text: str, output: str, call: str, project: str, at: datetime
) -> Iterator[tuple[str, object]]:
    match kind:
        case "prompt":
            yield "user", text
        case "says":
            yield "assistant", [{"type": "text", "text": text}]
        case "edit":
            _touched(Path(project, text), at)
            given = {"file_path": f"{project}/{text}", "old_string": "a", "new_string": "b"}
            yield "assistant", [{"type": "tool_use", "id": call, "name": "Edit", "input": given}]
            yield "user", [{"type": "tool_result", "tool_use_id": call, "content": "done"}]
        case _:
            yield "assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text}}]
            failed = kind == "fails"
            said = f"Exit code 1\n{output}" if failed else output
            result = {"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed}
            yield "user", [result]


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    TARGET.mkdir(exist_ok=True)
    afternoon = Afternoon(root)
    try:
        afternoon.lives()
        link = afternoon.types("dashboard", "--print").split()[0]
        take(link)
    finally:
        afternoon.types("down")
        shutil.rmtree(root)


def take(link: str) -> None:
    """Look at some pages, and keep what is seen."""
    from playwright.sync_api import sync_playwright  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    base = link.partition("/open")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        page.goto(link)
        page.wait_for_url(f"{base}/")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{base}/sessions/shop-1")
            page.locator("#pulse.on").wait_for()
            page.screenshot(path=TARGET / f"session-{scheme}.png")
        page.emulate_media(color_scheme="light")
        for name, path in (("home", "/"), ("search", "/search?q=escaped+quotes")):
            page.goto(f"{base}{path}")
            page.locator("#pulse.on").wait_for()
            page.screenshot(path=TARGET / f"{name}.png")
        page.goto(f"{base}/briefs")
        page.locator("main td a").first.click()
        page.locator("#text").wait_for()
        page.locator("#pulse.on").wait_for()
        page.screenshot(path=TARGET / "brief.png")
        browser.close()


if __name__ == "__main__":
    main()
