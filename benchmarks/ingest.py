"""What reading costs: transcripts of every harness, read, folded into a session and told again as a brief.

Everything is measured beside two floors, in turn in every round: the bytes alone, and the cheapest complete
parse of the same lines. Times are those of the processor, so that what else the machine does weighs less. The
transcripts are made up and the same in every run; `--data` adds the largest of a folder of real ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from holdfast import harnesses
from holdfast.core.brief.budget import Budget
from holdfast.core.brief.compose import compose_for_start
from holdfast.core.events.event import Event, map_text
from holdfast.core.redaction.redact import redact
from holdfast.core.session.session import Policy, Session, advance
from holdfast.engine.evaluation.survival import Transcript, session_after, transcripts
from holdfast.engine.recording.preview import preview
from holdfast.engine.recording.transcripts import BATCH_BYTES

MB = 1_000_000
BUDGET = 2_000
READINGS = 5  # Reading is quick, and measured so many times as often as the rest.
LARGEST = 3  # How many real transcripts of each harness are read.
MORE = 30  # How many records are added, one after the other, to a session of each length.
Json: TypeAlias = dict[str, Any]
Probe: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    sizes: tuple[float, ...]
    """Of the transcripts, in megabytes."""
    brief_size: float
    lengths: tuple[int, ...]
    """Of the sessions that grow by one more record, in records."""


WHOLE: Final = Plan(3, (1, 2, 4, 8), 4, (100, 1_000, 10_000))
QUICK: Final = Plan(1, (0.25, 0.5), 0.25, (20, 200))


@dataclass(frozen=True, slots=True)
class Speed:
    """One transcript: medians in megabytes a second, and how often the reader's time holds its floor's."""

    harness: str
    name: str
    megabytes: float
    bytes_alone: float
    json_alone: float
    reader: float
    to_json: float
    folded: float


@dataclass(frozen=True, slots=True)
class BriefTime:
    """Milliseconds to a brief: from the file, and from the session's state as the daemon keeps it."""

    harness: str
    from_file: float
    from_state: float


@dataclass(frozen=True, slots=True)
class Update:
    """Microseconds for one more record: to read it, and to redact it and fold what it tells."""

    harness: str
    records: int
    read: float
    fold: float


@dataclass(frozen=True, slots=True)
class Report:
    speeds: list[Speed]
    growth: dict[str, dict[str, float]]
    """The speed on the largest transcript over that on the smallest: 1 where the time grows as the size."""
    briefs: list[BriefTime]
    updates: list[Update]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--data", type=Path, metavar="DIR", help="real transcripts, below folders by harness")
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    plan = QUICK if options.quick else WHOLE
    plan = Plan(options.rounds or plan.rounds, plan.sizes, plan.brief_size, plan.lengths)
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        report = measured(plan, Path(folder), largest(options.data) if options.data else [])
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


def measured(plan: Plan, folder: Path, real: Iterable[Transcript]) -> Report:
    invented = [of_size(harness, size, folder) for harness in DIALECTS for size in plan.sizes]
    rows = speeds([*invented, *real], plan.rounds)
    briefs = [brief_time(of_size(harness, plan.brief_size, folder), plan.rounds) for harness in DIALECTS]
    updates = [update(harness, plan, folder, length) for harness in DIALECTS for length in plan.lengths]
    grown = {harness: growth(harness, rows[: len(invented)]) for harness in DIALECTS}
    return Report(rows, grown, briefs, updates)


def growth(harness: str, rows: Iterable[Speed]) -> dict[str, float]:
    first, *_, last = (row for row in rows if row.harness == harness)
    return {"reader": last.reader / first.reader, "folded": last.folded / first.folded}


def speeds(found: Sequence[Transcript], rounds: int) -> list[Speed]:
    reading = iter(in_turn([run for one in found for run in readings(one)], rounds * READINGS))
    folding = in_turn([partial(fold, one) for one in found], rounds)
    return [speed(one, *islice(reading, 3), folding[number]) for number, one in enumerate(found)]


def speed(one: Transcript, *seconds: float) -> Speed:
    megabytes = one.path.stat().st_size / MB
    read, parsed, told, kept = (megabytes / taken for taken in seconds)
    return Speed(one.harness.name, one.path.stem, megabytes, read, parsed, told, parsed / told, kept)


def readings(one: Transcript) -> tuple[Probe, Probe, Probe]:
    return one.path.read_bytes, partial(parse, one.path), lambda: deque(events_of(one), maxlen=0)


def fold(one: Transcript) -> Session | None:
    return session_after(events_of(one), one.harness.name)


def parse(path: Path) -> None:
    """The floor of every reader: each line into plain values."""
    with path.open("rb") as file:
        for line in file:
            try:
                msgspec.json.decode(line)
            except ValueError:
                continue  # A real transcript may end in half a line.


def events_of(one: Transcript) -> Iterator[Event]:
    """What the transcript tells, batch by batch as the daemon reads it."""
    cursor, done = "", False
    while not done:
        batch = one.harness.read_transcript(one.path, one.path.stem, cursor, BATCH_BYTES)
        done = batch.done or batch.cursor == cursor
        cursor = batch.cursor
        yield from batch.events


def in_turn(runs: Sequence[Probe], rounds: int) -> list[float]:
    """Seconds of each, the median of all rounds; every round measures all of them once."""
    times: list[list[float]] = []
    for number in range(rounds):
        print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        times.append([seconds_of(run) for run in runs])
    print("\r", end="\033[K", file=sys.stderr)
    return [statistics.median(samples) for samples in zip(*times, strict=True)]


def seconds_of(run: Probe) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def brief_time(one: Transcript, rounds: int) -> BriefTime:
    told = preview(one.harness, one.path, budget=BUDGET).brief_input
    runs = (
        lambda: preview(one.harness, one.path, budget=BUDGET),
        lambda: compose_for_start(told, Budget(BUDGET, BUDGET)),
    )
    from_file, from_state = (seconds * 1000 for seconds in in_turn(runs, rounds))
    return BriefTime(one.harness.name, from_file, from_state)


def update(harness: str, plan: Plan, folder: Path, length: int) -> Update:
    """What one more record costs a session of this length; those that are added are the same for all."""
    one = Transcript(harnesses.reader(harness), folder / f"{harness}-{length}-records.jsonl")
    one.path.write_bytes(b"".join(islice(lines(harness), length)))
    size = one.path.stat().st_size
    session = fold(one)
    assert session is not None
    cursor = one.harness.read_transcript(one.path, one.path.stem, "", size).cursor
    more = [*islice(lines(harness, first=10_000), MORE)]
    means: list[list[float]] = []
    for _ in range(plan.rounds):
        os.truncate(one.path, size)
        columns = zip(*added(one, session, cursor, more), strict=True)
        means.append([statistics.mean(column) for column in columns])
    return Update(harness, length, *(statistics.median(column) * 1e6 for column in zip(*means, strict=True)))


def added(one: Transcript, session: Session, cursor: str, more: Iterable[bytes]) -> Iterator[list[float]]:
    """The seconds to read each of these records after it was added, and to fold it."""
    for line in more:
        with one.path.open("ab") as file:
            file.write(line)
        began = time.process_time()
        batch = one.harness.read_transcript(one.path, one.path.stem, cursor, BATCH_BYTES)
        is_read = time.process_time()
        for event in batch.events:
            session, _ = advance(session, map_text(event, redact), Policy())
        yield [is_read - began, time.process_time() - is_read]
        cursor = batch.cursor


def largest(data: Path) -> list[Transcript]:
    """The largest real transcripts of each harness."""
    found = sorted(transcripts(data), key=lambda one: one.path.stat().st_size, reverse=True)
    return [one for name in DIALECTS for one in [one for one in found if one.harness.name == name][:LARGEST]]


def show(report: Report) -> None:
    print(f"{'MB/s':12} {'':24} {'MB':>6} {'bytes':>7} {'json':>7} {'reader':>7} {'x json':>7} {'folded':>7}")
    for row in report.speeds:
        floors = f"{row.megabytes:6.2f} {row.bytes_alone:7.0f} {row.json_alone:7.0f}"
        ours = f"{row.reader:7.1f} {row.to_json:7.2f} {row.folded:7.1f}"
        print(f"{row.harness:12} {row.name:24.24} {floors} {ours}")
    print("\ngrowth: the speed on the largest over that on the smallest")
    for harness, grown in report.growth.items():
        print(f"{harness:12} reader {grown['reader']:5.2f}  folded {grown['folded']:5.2f}")
    print("\na brief, milliseconds")
    for brief in report.briefs:
        print(f"{brief.harness:12} from file {brief.from_file:8.1f}  from state {brief.from_state:6.1f}")
    print("\none more record, microseconds")
    for more in report.updates:
        print(f"{more.harness:12} after {more.records:6}: read {more.read:7.0f}  folded {more.fold:7.0f}")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a made-up session, which each harness tells in its own dialect: a call and its outcome."""

    number: int
    prompt: str
    """Empty where nobody asked for anything new."""
    said: str
    path: str
    command: str
    """Empty where the file is edited instead."""
    output: str
    ok: bool

    @property
    def time(self) -> str:
        at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=9 * self.number)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def call(self) -> str:
        return f"call_{self.number:024x}"


WORDS: Final = """parser lexer cache store index reader writer cursor session ledger budget window timeout
retry queue worker socket token digest filter layout column record header schema fixture release""".split()
ROWS: Final = (0, 1, 2, 3, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 55, 75, 100, 150, 250, 600)
"""How many lines an output has: mostly few. Taken in turn, so that a long transcript is like a short one."""
COMMANDS: Final = ("pytest -q tests/{a}", "git diff src/{a}", "make {a}", "rg -n {a} src", "cat src/{a}.py")


def of_size(harness: str, megabytes: float, folder: Path) -> Transcript:
    path = folder / harness / f"{megabytes:g} MB.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.writelines(takewhile(lambda _: file.tell() < megabytes * MB, lines(harness)))
    return Transcript(harnesses.reader(harness), path)


def lines(harness: str, first: int = 0) -> Iterator[bytes]:
    """The lines of a session without an end, from one of its steps on."""
    for number in count(first):
        for record in DIALECTS[harness](made_up(number)):
            yield json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def made_up(number: int) -> Step:
    draw = random.Random(number)
    a, b = draw.sample(WORDS, 2)
    is_edit, ok = draw.random() < 0.2, draw.random() < 0.9
    prompt = f"Make the {a} of `src/{a}/{b}.py` faster. Never touch the {b}; use {a}, not {b}."
    said = " ".join(f"The {x} {y} is what the {b} needs." for x, y in pairs(draw, 4))
    printed = "".join(
        f'src/{x}.py:{draw.randrange(999)}:\treturn {{"{x}": {y}}}  # …\n'
        for x, y in pairs(draw, ROWS[number * 7 % len(ROWS)])
    )
    return Step(
        number,
        prompt if number % 12 == 0 else "",
        said,
        f"/home/you/proj/src/{a}/{b}.py",
        "" if is_edit else draw.choice(COMMANDS).format(a=a),
        printed if ok else f"{printed}E  AssertionError: {a} != {b}\n1 failed in 0.3s",
        ok,
    )


def pairs(draw: random.Random, number: int) -> Iterator[tuple[str, str]]:
    return ((draw.choice(WORDS), draw.choice(WORDS)) for _ in range(number))


def claude_code(step: Step) -> Iterator[Json]:
    about = {"parentUuid": "p", "isSidechain": False, "cwd": "/home/you/proj", "timestamp": step.time}

    def record(kind: str, part: str, message: Json, **more: object) -> Json:
        return {**about, "type": kind, "message": message, **more, "uuid": f"{step.call}-{part}"}

    if step.prompt:
        yield record("user", "u", {"role": "user", "content": step.prompt}, promptId=step.call)
    edit = {"file_path": step.path, "old_string": step.output[:300], "new_string": step.output[:400]}
    given = {"command": step.command, "description": step.said[:40]} if step.command else edit
    asked = {"type": "tool_use", "id": step.call, "name": "Bash" if step.command else "Edit", "input": given}
    usage = {"input_tokens": 9, "output_tokens": 90, "cache_read_input_tokens": 1_000 + step.number}
    request = {"id": f"msg_{step.number}", "model": "model-x", "role": "assistant", "usage": usage}
    for part, block in (("a", {"type": "text", "text": step.said}), ("b", asked)):
        yield record("assistant", part, {**request, "content": [block]})
    answer = {"tool_use_id": step.call, "content": step.output, "is_error": not step.ok}
    result = [{"type": "tool_result", **answer}]
    ran = {"stdout": step.output, "stderr": "", "interrupted": False}
    outcome = ran if step.command else {**edit, "originalFile": step.output}
    yield record("user", "r", {"role": "user", "content": result}, toolUseResult=outcome)


def codex(step: Step) -> Iterator[Json]:
    def record(envelope: str, kind: str, **payload: object) -> Json:
        return {"timestamp": step.time, "type": envelope, "payload": {"type": kind, **payload}}

    def message(role: str, words: str) -> Json:
        return record("response_item", "message", role=role, content=[{"type": "text", "text": words}])

    if step.prompt:
        yield message("user", step.prompt)
        yield record("event_msg", "user_message", message=step.prompt)
    yield record("response_item", "reasoning", summary=[], encrypted_content="gAAA" * 200)
    yield record("event_msg", "agent_message", message=step.said)
    yield message("assistant", step.said)
    known: Json = {"call_id": step.call}
    patch = f"*** Begin Patch\n*** Update File: {step.path}\n@@\n+{step.said}\n*** End Patch"
    given = json.dumps({"cmd": step.command, "workdir": "/home/you/proj"})
    if step.command:
        yield record("response_item", "function_call", name="exec_command", arguments=given, **known)
    else:
        yield record("response_item", "custom_tool_call", name="apply_patch", input=patch, **known)
    last = {"input_tokens": 900 + step.number, "output_tokens": 90, "total_tokens": 990 + step.number}
    info = {"total_token_usage": {"total_tokens": 990 * step.number}, "last_token_usage": last}
    yield record("event_msg", "token_count", info=info)
    kind = "function_call_output" if step.command else "custom_tool_call_output"
    output = f"Wall time: 0.1 seconds\nProcess exited with code {int(not step.ok)}\nOutput:\n{step.output}"
    yield record("response_item", kind, output=output, **known)


def openclaw(step: Step) -> Iterator[Json]:
    about = {"type": "message", "parentId": "p", "timestamp": step.time}

    def record(part: str, role: str, *content: Json, **more: object) -> Json:
        message = {"role": role, "content": content, **more}
        return {**about, "id": f"{step.number:x}{part}", "message": message}

    if step.prompt:
        yield record("u", "user", {"type": "text", "text": step.prompt})
    tool = "bash" if step.command else "edit"
    given = {"command": step.command} if step.command else {"path": step.path, "newText": step.output[:400]}
    thinking = {"type": "thinking", "thinking": step.said, "thinkingSignature": "gAAA" * 80}
    asked = {"type": "toolCall", "id": step.call, "name": tool, "arguments": given}
    usage = {"input": 9, "output": 90, "cacheRead": 1_000 + step.number, "cacheWrite": 40}
    yield record("a", "assistant", thinking, {"type": "text", "text": step.said}, asked, usage=usage)
    output = step.output if step.ok else f"{step.output}\n\nCommand exited with code 1"
    result = {"toolCallId": step.call, "toolName": tool, "isError": not step.ok}
    yield record("r", "toolResult", {"type": "text", "text": output}, **result)


DIALECTS: Final = {"claude-code": claude_code, "codex": codex, "openclaw": openclaw}


if __name__ == "__main__":
    main()
