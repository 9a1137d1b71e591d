"""Record the session that `holdfast demo` replays. Run `python -m scripts.record_demo` in the repository.

The real Claude Code works through a small story against the scripted model server of `tests/clients`, is
compacted, and goes on. What it wrote and what its hooks were told is kept as it came, but for records that
say nothing about the work and paths of this machine. Replaying is `cli.demo_session`'s work.
"""
# ruff: noqa: INP001, T201

from __future__ import annotations

import json
import platform
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast.cli.demo_session.questions import DemoQuestion
from holdfast.cli.demo_session.recording import HOME
from tests.clients import install
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, Reply, Step, Usage, call, plain_text, say, together

Json: TypeAlias = dict[str, Any]

TARGET: Final = Path(__file__).resolve().parents[1] / "src" / "holdfast" / "cli" / "demo_session"
HARNESS: Final = "claude-code"
PROJECT: Final = f"{HOME}/shop"
LARGEST: Final = 60_000
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd")

# ---------------------------------------------------------------- the story

FILES: Final = {
    "cart.py": '''"""A shopping cart. Other teams import this module."""

from pricing import total_cents


class Cart:
    def __init__(self):
        self.lines = []

    def add(self, name, cents, quantity=1):
        self.lines.append((name, cents, quantity))

    def total(self, discount_percent=0):
        return total_cents(self.lines, discount_percent)
''',
    "pricing.py": '''"""Prices, in cents."""


def total_cents(lines, discount_percent):
    return sum(cents * quantity * (100 - discount_percent) / 100 for _, cents, quantity in lines)
''',
    "refunds.py": '''"""Refunds, in cents."""


def refund_cents(paid, asked):
    return asked
''',
    "receipt.py": '''"""What is printed for the customer."""


def receipt(cart):
    return "\\n".join(f"{quantity} x {name}" for name, _, quantity in cart.lines)
''',
    "test_pricing.py": """from cart import Cart


def test_the_total_is_in_whole_cents():
    cart = Cart()
    cart.add("pencil", 30)
    assert cart.total(discount_percent=5) == 29


def test_three_half_cents():
    cart = Cart()
    for name in ("red", "green", "blue"):
        cart.add(name, 30)
    assert cart.total(discount_percent=5) == 86
""",
    "test_refunds.py": """import pytest
from refunds import refund_cents


def test_no_more_than_was_paid():
    with pytest.raises(ValueError):
        refund_cents(paid=100, asked=101)
""",
}

FIRST_PROMPT: Final = """Please do these three things in the shop:
1. Round order totals to whole cents in pricing.py.
2. Refuse refunds beyond what was paid, in refunds.py, with a ValueError.
3. Print the discount on the receipt, in receipt.py.

Never change the public API of cart.py: the mobile team imports it."""
CORRECTION: Final = (
    "No: the total must be rounded only once, half up. Never round line items: "
    "three half cents must not become two cents too many."
)
GO_ON: Final = "Good, go on."
NEXT_PROMPT: Final = "Go on with what is open."
POOR_SUMMARY: Final = (
    "The user asked for some changes to a small shop. The assistant rounds each line item in pricing.py, "
    "then reworked the rounding after feedback. It is now editing refunds.py."
)

BY_NOTHING: Final = (
    "    return sum(cents * quantity * (100 - discount_percent) / 100 for _, cents, quantity in lines)\n"
)
BY_LINE: Final = (
    "    lines_cents = (cents * quantity * (100 - discount_percent) for _, cents, quantity in lines)\n"
    "    return sum((hundredths + 50) // 100 for hundredths in lines_cents)\n"
)
BY_TOTAL: Final = """    total = sum(cents * quantity for _, cents, quantity in lines)
    return (total * (100 - discount_percent) + 50) // 100
"""
WITH_LIMIT: Final = """    if asked > paid:
        raise ValueError("a refund beyond what was paid")
    return asked
"""
TEST_PRICING: Final = "python -m pytest -q test_pricing.py"
TEST_REFUNDS: Final = "python -m pytest -q test_refunds.py"

QUESTIONS: Final = (
    DemoQuestion(
        "How are totals rounded?",
        below=("Rules", "Decisions"),
        words=("round",),
        right=(r"\btotal\b[^.\n]*\bonce\b",),
        wrong=(r"\brounds? each line", r"\beach line item\b[^.\n]* is rounded"),
    ),
    DemoQuestion(
        "What is still to do?",
        below=("Now", "Next"),
        words=("to do", "next", "remain", "still open"),
        right=("Refuse refunds", "Print the discount"),
        wrong=("Round order totals",),
    ),
    DemoQuestion(
        "Where was I?",
        below=("Now", "Failures"),
        words=("editing", "not run since"),
        right=(r"\brefunds\.py", "not run since the last edit"),
        wrong=(r"not committed: .*\bpricing\.py",),
    ),
)


def first_turn(project: Path) -> Iterator[Step]:
    """The agent rounds in a way that the user will not like."""
    pricing = str(project / "pricing.py")
    yield together(call("Read", file_path=pricing), call("Read", file_path=str(project / "cart.py")))
    yield together(
        say(
            "Decision: each line item of an order is rounded to whole cents, because a receipt then adds up."
        ),
        _edit(pricing, BY_NOTHING, BY_LINE),
    )
    yield call("Bash", command=TEST_PRICING)
    yield say(
        "Each line item is rounded now. One test still fails: three half cents give 87, "
        "and test_three_half_cents wants 86. Shall I change that test?"
    )


def second_turn(project: Path) -> Iterator[Step]:
    """The agent does as it was told, and the first item is finished."""
    yield _edit(str(project / "pricing.py"), BY_LINE, BY_TOTAL)
    yield call("Bash", command=TEST_PRICING)
    yield call("Bash", command='git commit -qam "Round totals"')
    yield say(
        "Decision: the total of an order is rounded to whole cents once, half up, not each line item, "
        "because their errors add up. "
        "Item 1 is done: both tests of test_pricing.py pass, and it is committed."
    )


def third_turn(project: Path) -> Iterator[Step]:
    """The window is full in the middle of the second item."""
    refunds = str(project / "refunds.py")
    yield together(say("Now item 2."), call("Bash", command=TEST_REFUNDS), call("Read", file_path=refunds))
    yield together(
        say("I give refund_cents its limit, then I run its test again."),
        _edit(refunds, "    return asked\n", WITH_LIMIT),
        usage=FULL,
    )
    yield call("Bash", command=TEST_REFUNDS)
    yield say("Item 2 is done: test_refunds.py passes. Item 3 is next.")


FULL: Final = Usage(input=150_000)
"""What makes the harness compact before its next request, with the flag below."""
FLAGS: Final = ("--allowedTools", "Bash", "Edit", "Read", "--autocompact", "100k")


def _edit(path: str, old: str, new: str) -> Reply:
    return call("Edit", file_path=path, old_string=old, new_string=new)


# ---------------------------------------------------------------- recording

HOOK: Final = r"""
import json, os, sys, time
letter = json.load(sys.stdin)
if letter["hook_event_name"] == "PreCompact":
    time.sleep(0.5)  # a real model takes longer for its last words, and the harness writes its records late
at = time.time_ns() // 1_000_000
path = letter["transcript_path"]
shown = open(path, "rb").read().count(b"\n") if os.path.exists(path) else 0
with open(sys.argv[1], "a") as log:
    log.write(json.dumps({"at": at, "shown": shown, "payload": letter}) + "\n")
if letter.get("source") == "compact":
    text = "<holdfast-recall>\n(here stood the brief)\n</holdfast-recall>"
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}))
"""
"""Stands in for our own hook: keeps the letter, and how many lines the transcript had when it came."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the harness left behind."""

    hook_events: list[Json]
    records: list[Json]
    files: Mapping[str, str]
    window: str
    """All that the model was sent first after the compaction."""


def main() -> int:
    """Play the story, strip what came of it, and put it into the package."""
    with tempfile.TemporaryDirectory(prefix="record-demo-") as scratch, ModelServer() as server:
        root = Path(scratch).resolve()
        claude = Claude(install.CLAUDE_CODE.install(), root, server, env=_environment())
        recorded = play(claude, server, root)
        texts = {name: _neutral(text, claude, root) for name, text in _texts(recorded).items()}
        _refuse_traces(texts, root)
    TARGET.mkdir(exist_ok=True)
    for name, text in texts.items():
        (TARGET / name).write_text(text, encoding="utf-8")
        print(f"{len(text.encode()):7,} bytes  {name}")
    return 0


def play(claude: Claude, server: ModelServer, root: Path) -> Recorded:
    """The story from its first prompt to its end."""
    _make_project(claude)
    log = root / "hook_events.jsonl"
    (root / "hook.py").write_text(HOOK, encoding="utf-8")
    claude.install_hooks(_hook_command(root), EVENTS)
    server.summarize_as(POOR_SUMMARY)
    with claude.start_stream(*FLAGS) as stream:
        for prompt, turn in ((FIRST_PROMPT, first_turn), (CORRECTION, second_turn), (GO_ON, third_turn)):
            server.script(*turn(claude.project))
            stream.ask(prompt)
        session = stream.session
        stream.close()
    _require(not server.unused(), "some of the story was not played")
    _require(len(server.compactions()) == 1, "the window was not compacted once")
    compaction = server.requests.index(server.compactions()[0])
    window = plain_text(server.requests[compaction + 1].body["messages"])
    server.script(say("Which list do you mean?"))
    _require(claude.prompt(NEXT_PROMPT).code == 0, "no other session starts")
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(claude.project.glob("*.py"))}
    return Recorded(_lines(log), claude.records(session), files, window)


def _hook_command(root: Path) -> str:
    return f"{sys.executable} -I -S {root}/hook.py {root}/hook_events.jsonl"


def _make_project(claude: Claude) -> None:
    for name, text in FILES.items():
        (claude.project / name).write_text(text, encoding="utf-8")
    claude.make_repository()


def _environment() -> dict[str, str]:
    """So that `python -m pytest` is the one that this runs with, and leaves nothing in the project."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        **{f"GIT_{who}_{what}": "you" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


def _lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# ---------------------------------------------------------------- stripping

KEPT_KEYS: Final = frozenset(
    """type subtype uuid parentUuid logicalParentUuid timestamp sessionId cwd isSidechain isMeta promptId
    promptSource isCompactSummary message toolUseResult compactMetadata attachment content""".split()
)
KEPT_ATTACHMENTS: Final = frozenset({"hook_additional_context"})
KEPT_RESULT_KEYS: Final = frozenset({"stdout", "stderr", "interrupted", "exitCode", "type", "filePath"})
KEPT_USAGE_KEYS: Final = frozenset(
    {"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}
)
KEPT_LETTER_KEYS: Final = frozenset(
    """session_id transcript_path cwd prompt_id hook_event_name source model prompt stop_hook_active
    last_assistant_message trigger custom_instructions compact_summary reason""".split()
)


def _texts(recorded: Recorded) -> dict[str, str]:
    kept = [_told(record) for record in recorded.records]
    first = recorded.hook_events[0]["payload"]
    of_session = [row for row in recorded.hook_events if row["payload"]["session_id"] == first["session_id"]]
    others = [row for row in recorded.hook_events if row not in of_session]
    names = [row["payload"]["hook_event_name"] for row in of_session]
    boundary = next(
        place for place, record in enumerate(recorded.records) if record.get("subtype") == "compact_boundary"
    )
    story = {
        "harness": HARNESS,
        "session": first["session_id"],
        "project": PROJECT,
        "transcript": first["transcript_path"],
        "hook_events_before": names.index("PreCompact"),
        "shown_before": sum(record is not None for record in kept[:boundary]),
        "last_words": _last_words(recorded),
        "questions": [asdict(question) for question in QUESTIONS],
        "files": recorded.files,
        "next_start": _hook_event(others[0], []),
    }
    hook_events = [_hook_event(row, kept) for row in of_session]
    return {
        "story.json": json.dumps(story, indent=1) + "\n",
        "hook_events.jsonl": "".join(f"{json.dumps(payload)}\n" for payload in hook_events),
        "transcript.jsonl": "".join(f"{json.dumps(record)}\n" for record in kept if record),
    }


def _last_words(recorded: Recorded) -> str:
    """What the harness kept beside its summary; with the summary it is all that answers the questions."""
    boundary = next(record for record in recorded.records if record.get("subtype") == "compact_boundary")
    kept = boundary["compactMetadata"]["preservedMessages"]["uuids"]
    said = [record for record in recorded.records if record["type"] == "assistant" and record["uuid"] in kept]
    blocks = [block for record in said for block in record["message"]["content"]]
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    for question in QUESTIONS:
        for sign in question.right:
            is_left = re.search(sign, f"{POOR_SUMMARY}\n{text}", re.IGNORECASE)
            is_sent = re.search(sign, recorded.window, re.IGNORECASE)
            _require(bool(is_left) == bool(is_sent), f"what the model was sent answers: {question.text}")
    return text


def _hook_event(row: Json, kept: list[Json | None]) -> Json:
    shown = sum(record is not None for record in kept[: row["shown"]])
    payload = {name: value for name, value in row["payload"].items() if name in KEPT_LETTER_KEYS}
    return {"at": row["at"], "shown": shown, "payload": payload}


def _told(record: Json) -> Json | None:
    """The record with what it tells about the work; None where that is nothing."""
    if record["type"] not in ("user", "assistant", "system", "attachment"):
        return None
    if record["type"] == "system" and record.get("subtype") != "compact_boundary":
        return None
    if record["type"] == "attachment" and record["attachment"]["type"] not in KEPT_ATTACHMENTS:
        return None
    told = {name: value for name, value in record.items() if name in KEPT_KEYS}
    _strip(told.get("toolUseResult"), KEPT_RESULT_KEYS)
    _strip(told.get("message", {}).get("usage"), KEPT_USAGE_KEYS)
    return told


def _strip(value: object, kept: frozenset[str]) -> None:
    if isinstance(value, dict):
        for name in value.keys() - kept:
            del value[name]


def _neutral(text: str, claude: Claude, root: Path) -> str:
    """The text with a person's usual paths in the place of ours."""
    folder = re.compile(r"(?<=/projects/)[A-Za-z0-9-]+(?=/)")
    # The harness writes down which commands it called about a compaction.
    text = text.replace(_hook_command(root), "holdfast-hook")
    text = text.replace(str(claude.project), PROJECT).replace(str(claude.home), HOME)
    return folder.sub(re.sub(r"[^A-Za-z0-9]", "-", PROJECT), text)


def _refuse_traces(texts: Mapping[str, str], root: Path) -> None:
    traces = (str(root), root.name, str(Path.home()), sys.prefix, platform.node())
    for name, text in texts.items():
        found = [trace for trace in traces if trace in text]
        _require(not found, f"{name} names this machine: {found}")
    size = sum(len(text.encode()) for text in texts.values())
    _require(size < LARGEST, f"the recording has {size:,} bytes; keep fewer of the records")


def _require(holds: bool, says: str) -> None:  # noqa: FBT001 - it reads like `assert`, and is not switched off
    if not holds:
        raise SystemExit(f"error: {says}")


if __name__ == "__main__":
    sys.exit(main())
