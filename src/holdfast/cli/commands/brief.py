"""The brief that the next session of a project, or one that continues a transcript, would get."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, current_view
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give, give_json, quoted, say, working
from holdfast.core.text.strings import ago, elapsed, one_line, shortened
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

ID_CHARS = 8
LEFT_OUT_SHOWN = 12
"""A long session leaves out hundreds of names; a person wants to see what came close."""


REPEATED = "said already"
"""The reason that `core.brief.compose` gives if another item says the same."""
MODEL = "Written by a model"
"""Its section for what a model wrote and the brief does not use."""


class _Time(click.ParamType[int]):
    """A time by ISO 8601, in UTC unless it says otherwise, as milliseconds since 1970."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"`{value}` is no time; write it like 2026-01-31T12:00:00Z", param, ctx)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


_FILE = click.Path(path_type=Path)
_LINE = click.IntRange(min=1)
_SIZE = click.IntRange(min=0)
_START = click.Choice(["startup", "clear", "compact"])
_SESSION = "Of this session, by its id or how that begins; with --transcript, the session in the file."
_STARTS = "How the session starts: startup, clear or compact; else startup."


@command(
    "holdfast brief",
    "holdfast brief --project ~/src/thing --json",
    "holdfast brief --reason compact",
    "holdfast brief --session 3f2a",
    "holdfast brief --given 3f2a",
    "holdfast brief --harness HARNESS --transcript session.jsonl --until-line 200",
    "holdfast brief --harness HARNESS --transcript s.jsonl --ask > question.txt",
    "holdfast brief --harness HARNESS --transcript s.jsonl --answer answer.md",
)
@project_option()
@click.option("--harness", "name", metavar="HARNESS", help="Whose transcript it is.")
@click.option("--transcript", type=_FILE, metavar="FILE", help="Make the brief from this file alone.")
@click.option("--session", default="", metavar="SESSION", help=_SESSION)
@click.option("--given", "given_to", default="", metavar="SESSION", help="Show what this session was given.")
@click.option("--until-line", type=_LINE, metavar="N", help="Read only the first N lines.")
@click.option("--at", type=_Time(), metavar="TIME", help="Count ages from then; else from the last record.")
@click.option("--budget", type=_SIZE, metavar="N", help="At most so many characters; else 2000, or as set.")
@click.option("--ask", "asks", is_flag=True, help="Print what a model would be asked about the transcript.")
@click.option("--answer", type=_FILE, metavar="FILE", help="Make the brief with a model's answer to that.")
@click.option("--reason", type=_START, metavar="REASON", help=_STARTS)
@json_option("Print brief and receipt as one JSON document.")
def brief(
    *,
    project: Path | None,
    budget: int | None,
    reason: str | None,
    given_to: str,
    as_json: bool,
    **reading: Any,  # noqa: ANN401 - the fields of _Reading
) -> None:
    """Show what the next session would be given back.

    With `--reason clear` or `compact` it is what the newest session here would be given after `/clear` or a
    compaction.

    With `--session` it is what a session would be given that continued that one, however old it is; with
    `--given`, the briefs that a session was in fact given.

    The brief goes to stdout, its receipt (from where, how old, what was left out) to stderr. With
    --transcript it is made from that file alone: no daemon is needed, nothing is stored, and the same file
    gives the same brief.

    --ask prints the question, of at most 60,000 characters, that the model in `checkpoint.model` is asked
    after a turn; nobody is asked by this command. --answer takes an answer to it: each sentence is checked
    against the session, and the receipt says which were left out, and why.
    """
    source = _Reading(**reading)
    if given_to:
        _give_briefs(current_view("briefs_given", None, session=given_to), as_json=as_json)
        return
    if source.asks:
        _ask(source, as_json=as_json)
        return
    if source.transcript is None:
        if source.answer is not None:
            raise click.UsageError(_OF_A_FILE.format("--answer"))
        place = ProjectChoice(project)
        options = {"reason": reason or "startup", "budget": budget, "session": source.session}
        row = current_view("brief", place, **options)
    elif reason is not None:
        raise click.UsageError("--reason is for the stored sessions, not for a --transcript.")
    else:
        row = _from_file(source, budget)
    if as_json:
        give_json(row)
    else:
        _print(row)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Which transcript to read, and how much of it."""

    name: str | None
    transcript: Path | None
    session: str
    until_line: int | None
    at: int | None
    asks: bool
    answer: Path | None


_OF_A_FILE = "{} needs --transcript FILE and --harness HARNESS."
ANSWER_BYTES = 1 << 20
"""The largest file that is read as an answer."""


def _ask(reading: _Reading, *, as_json: bool) -> None:
    """Print the question about a transcript."""
    if reading.answer is not None:
        raise click.UsageError("Give either --ask or --answer.")
    if reading.name is None or reading.transcript is None:
        raise click.UsageError(_OF_A_FILE.format("--ask"))
    from holdfast import harnesses
    from holdfast.engine.recording.preview import handover_question

    harness = harnesses.reader(reading.name)
    with working("reading the transcript"):
        question = handover_question(harness, reading.transcript, reading.session, reading.until_line)
    if as_json:
        give_json({"question": question, "characters": len(question)})
    else:
        give(question)


def _answer_in(path: Path | None) -> str | None:
    """The text of the file with an answer."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(ANSWER_BYTES + 1)
    except OSError as error:
        hint = "name the file that holds the model's answer"
        raise HoldfastError(f"`{path}` cannot be read: {error.strerror or error}", hint) from error
    if len(data) > ANSWER_BYTES:
        raise HoldfastError(f"`{path}` is larger than {ANSWER_BYTES >> 20} MB, which no answer is")
    return data.decode("utf-8", "replace")


def _from_file(reading: _Reading, budget: int | None) -> dict[str, Any]:
    if reading.name is None or reading.transcript is None:
        raise click.UsageError("--transcript needs --harness HARNESS.")
    # The harnesses load most of the package, which is not needed if a daemon answers.
    from holdfast import harnesses
    from holdfast.core.brief.budget import FILE_CHARS
    from holdfast.engine.recording.preview import preview
    from holdfast.engine.views.serialisation import brief_row

    harness = harnesses.reader(reading.name)
    size = FILE_CHARS if budget is None else budget
    with working("reading the transcript"):
        result = preview(
            harness,
            reading.transcript,
            reading.session,
            reading.until_line,
            reading.at,
            size,
            _answer_in(reading.answer),
        )
    return brief_row(result.brief_input, result.brief, size)


def _print(row: Mapping[str, Any]) -> None:
    text, receipt = row["brief"], row["receipt"]
    if receipt is None or not text:
        say(
            f"there is nothing to give back: {row['why']}"
            if row.get("why")
            else "there is nothing to give back"
        )
        return
    give(text)
    items = receipt["items"]
    # What is wrong with a model's answer comes first, and items that another one repeats last: nothing of
    # them is missing.
    left_out = sorted(
        (item for item in items if not item["rendered"]),
        key=lambda item: (item["section"] != MODEL, item["omitted"] == REPEATED),
    )
    say(
        f"\nreceipt: {receipt['reason']}, from session {receipt['predecessor']}{quoted(receipt['title'])}, "
        f"whose work is {elapsed(receipt['age_ms'])} old"
    )
    say(f"{receipt['size']} of {receipt['budget']} characters, {len(items) - len(left_out)} items in it")
    for item in left_out[:LEFT_OUT_SHOWN]:
        say(f"left out ({item['omitted']}): {item['section']}: {shortened(one_line(item['text']), 80)}")
    if len(left_out) > LEFT_OUT_SHOWN:
        say(
            f"left out too: {len(left_out) - LEFT_OUT_SHOWN} items that were needed less; `--json` lists them"
        )


def _give_briefs(view: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the briefs that a session was given, the earliest first."""
    if as_json:
        give_json(view)
        return
    if not view["briefs"]:
        say(f"session {view['session_key']}{quoted(view['title'])} was given no brief")
    for row in reversed(view["briefs"]):
        source = f"{row['predecessor'][:ID_CHARS]}{quoted(row['predecessor_title'])}"
        source = "its own work" if row["predecessor"] == row["session_key"] else source
        size = f"{row['size']:,} of {row['budget']:,} characters"
        say(f"{_age(row['created_at'])}: {row['reason']}, from {source}, {size}")
        give(row["text"])
        say("")


def _age(iso: str) -> str:
    return ago(daemon_requests.now() - round(datetime.fromisoformat(iso).timestamp() * 1000))
