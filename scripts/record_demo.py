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

from holdfast.cli.demo_session.recording import HOME, Fact
from tests.clients import install
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, Reply, Step, call, plain_text, say, together

Json: TypeAlias = dict[str, Any]

TARGET: Final = Path(__file__).resolve().parents[1] / "src" / "holdfast" / "cli" / "demo_session"
HARNESS: Final = "claude-code"
PROJECT: Final = f"{HOME}/orders"
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
    total = sum(cents * quantity for _, cents, quantity in lines)
    return round(total * (100 - discount_percent) / 100)


def refund_cents(paid, asked):
    return asked
''',
    "test_pricing.py": """from cart import Cart


def test_half_a_cent_is_rounded_up():
    cart = Cart()
    cart.add("pencil", 30)
    assert cart.total(discount_percent=5) == 29
""",
    "test_refund.py": """import pytest
from pricing import refund_cents


def test_refund_limit():
    with pytest.raises(ValueError):
        refund_cents(paid=100, asked=101)
""",
}

FIRST_PROMPT: Final = (
    "test_pricing.py fails for a cart with a discount. Find out why and fix it. "
    "One rule: never change the public API of cart.py, the mobile team imports it."
)
CORRECTION: Final = (
    "Not with floats: money is Decimal with ROUND_HALF_UP. "
    "And count how many totals the old rounding got wrong, support needs the number."
)
QUESTION: Final = "Is cart.py still as it was?"
NEXT_PROMPT: Final = "Go on with what is open."
POOR_SUMMARY: Final = (
    "The user asked for help with a failing test in a small Python project. The assistant changed the "
    "rounding in pricing.py and the test passes now. The user also wanted some statistics, which were given."
)

BY_FLOAT: Final = "    return int(total * (100 - discount_percent) / 100 + 0.5)\n"
BY_DECIMAL: Final = """    exact = Decimal(total) * (100 - discount_percent) / 100
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))
"""
WITH_LIMIT: Final = """    if asked > paid:
        raise ValueError("a refund beyond the order")
    return asked
"""
COUNT_WRONG: Final = '''"""How many totals the old rounding got wrong."""

from pricing import total_cents

carts = [(cents, percent) for cents in range(1, 1001) for percent in range(1, 100)]
wrong = sum(
    round(cents * (100 - percent) / 100) != total_cents([("x", cents, 1)], percent)
    for cents, percent in carts
)
print(f"{wrong:,} of {len(carts):,} totals were wrong")
'''
NUMBER: Final = "1,300 of 99,000"
TEST_PRICING: Final = "python -m pytest -q test_pricing.py"
TEST_ALL: Final = "python -m pytest -q"


FACTS: Final = (
    Fact("the user's rule", "never change the public API of cart.py", ("public API of cart.py",)),
    Fact("the user's correction", "not with floats", ("not with floats",)),
    Fact("the decision", "Decimal, rounded once per cart", ("Decimal", "rounded once per cart")),
    Fact("the number measured", f"{NUMBER} totals were wrong", (NUMBER,)),
    Fact("the file that was changed", "pricing.py", ("pricing.py",)),
    Fact("the test that passes", TEST_PRICING, (TEST_PRICING,)),
    Fact(
        "the test that fails", "test_refund_limit, it DID NOT RAISE", ("test_refund_limit", "DID NOT RAISE")
    ),
    Fact("the next step", "refund_cents must raise ValueError", ("refund_cents must raise ValueError",)),
)
LEFT: Final = "a summary, the last message, and the files read last"


def first_turn(project: Path) -> Iterator[Step]:
    """The agent finds the cause and mends it in a way that the user will not like."""
    pricing = str(project / "pricing.py")
    yield together(say("I run the failing test first."), call("Bash", command=TEST_PRICING))
    yield together(call("Read", file_path=pricing), call("Read", file_path=str(project / "cart.py")))
    yield together(
        say("The cause: `round` rounds half to even, so 28.5 becomes 28."),
        _edit(pricing, "    return round(total * (100 - discount_percent) / 100)\n", BY_FLOAT),
    )
    yield call("Bash", command=TEST_PRICING)
    yield say("Half a cent is rounded up now and test_pricing.py passes. cart.py is untouched.")


def second_turn(project: Path) -> Iterator[Step]:
    """The agent does as it was told, counts, and finds what is still broken."""
    pricing, count = str(project / "pricing.py"), str(project / "count_wrong.py")
    yield _edit(pricing, BY_FLOAT, BY_DECIMAL)
    yield _edit(
        pricing,
        '"""Prices, in cents."""\n',
        '"""Prices, in cents."""\n\nfrom decimal import ROUND_HALF_UP, Decimal\n',
    )
    yield call("Bash", command=TEST_PRICING)
    yield call("Write", file_path=count, content=COUNT_WRONG)
    yield call("Bash", command="python count_wrong.py")
    yield call("Bash", command=TEST_ALL)
    yield say(
        "Decision: totals are Decimal with ROUND_HALF_UP, rounded once per cart and not per line. "
        f"Measured: the old rounding got {NUMBER} totals wrong. "
        "Next: refund_cents must raise ValueError beyond the order, one test still fails on that."
    )


def third_turn(_: Path) -> Iterator[Step]:
    """A short answer, so that the last message says nothing of the work."""
    yield call("Bash", command="git diff --stat -- cart.py")
    yield say("Yes, it has no changes.")


def next_turn(project: Path) -> Iterator[Step]:
    """After the compaction: the agent goes on with what was open."""
    pricing = str(project / "pricing.py")
    yield call("Read", file_path=pricing)
    yield _edit(pricing, "    return asked\n", WITH_LIMIT)
    yield call("Bash", command=TEST_ALL)
    yield say("refund_cents raises ValueError beyond the order, and all tests pass. cart.py is as it was.")


def _edit(path: str, old: str, new: str) -> Reply:
    return call("Edit", file_path=path, old_string=old, new_string=new)


# ---------------------------------------------------------------- recording

HOOK: Final = r"""
import json, os, sys, time
letter = json.load(sys.stdin)
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
        claude = Claude(install.install(), root, server, env=_environment())
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
    with claude.start_stream("--allowedTools", "Bash", "Edit", "Read", "Write") as stream:
        for prompt, turn in ((FIRST_PROMPT, first_turn), (CORRECTION, second_turn), (QUESTION, third_turn)):
            server.script(*turn(claude.project))
            stream.ask(prompt)
        _require(f"{NUMBER} totals were wrong" in server.last().text, f"the count is not {NUMBER}")
        stream.ask("/compact")
        server.script(*next_turn(claude.project))
        stream.ask(NEXT_PROMPT)
        session = stream.session
        stream.close()
    compaction = server.requests.index(server.compactions()[0])
    window = plain_text(server.requests[compaction + 1].body["messages"])
    _require(not server.unused(), "some of the story was not played")
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
    hook_events = [_hook_event(row, kept) for row in recorded.hook_events]
    story = {
        "harness": HARNESS,
        "session": recorded.hook_events[0]["payload"]["session_id"],
        "project": PROJECT,
        "transcript": recorded.hook_events[0]["payload"]["transcript_path"],
        "left": LEFT,
        "last_message": _last_message(recorded),
        "facts": [asdict(fact) for fact in FACTS],
        "files": recorded.files,
    }
    return {
        "story.json": json.dumps(story, indent=1) + "\n",
        "hook_events.jsonl": "".join(f"{json.dumps(payload)}\n" for payload in hook_events),
        "transcript.jsonl": "".join(f"{json.dumps(record)}\n" for record in kept if record),
    }


def _last_message(recorded: Recorded) -> str:
    """What the harness kept beside its summary, proven to be all of the facts that the model still had."""
    boundary = next(record for record in recorded.records if record.get("subtype") == "compact_boundary")
    kept = boundary["compactMetadata"]["preservedMessages"]["uuids"]
    said = [record for record in recorded.records if record["type"] == "assistant" and record["uuid"] in kept]
    blocks = [block for record in said for block in record["message"]["content"]]
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    for fact in FACTS:
        as_told = fact.is_in(f"{POOR_SUMMARY}\n{text}") == fact.is_in(recorded.window)
        _require(as_told, f"what the model was sent says otherwise: {fact.name}")
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
