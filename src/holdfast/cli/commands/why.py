"""Why a file is as it is: the sessions that changed it, what was asked of each, and the reason given."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, current_view
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give, give_json, say
from holdfast.core.text.strings import ago, one_line, shortened
from holdfast.core.text.untrusted import printable

WIDTH: Final = 80
TURNS_SHOWN: Final = 3
ASKED_CHARS: Final = 160
REASON_CHARS: Final = 240
TITLE_CHARS: Final = 60

_LINE: Final = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d{0,6})")
_REASONS: Final = {"why": "why", "decision": "decided", "said": "said then"}
_ACTIONS: Final = {"write": "wrote it", "edit": "edited it", "delete": "deleted it", "move": "moved it"}


@command("holdfast why src/app.py", "holdfast why src/app.py:42", "holdfast why src/app.py --json")
@click.argument("file", metavar="FILE[:LINE]")
@project_option()
@json_option()
def why(*, file: str, project: Path | None, as_json: bool) -> None:
    """Show which sessions changed a file, what was asked, and why.

    The newest first, each with its title, the prompt before the change, and the sentence nearest to it that
    says why. Where none does, it is what the agent said then, or nothing. With a line, the sessions that
    wrote its text come first; where that cannot be told, it says so. Imported sessions are included, and
    moves are followed.
    """
    match = None if Path(file).exists() else _LINE.fullmatch(file)
    name, line = (match["file"], int(match["line"])) if match else (file, 0)
    place, path = _place(name, project)
    answer = current_view("why", ProjectChoice(place), path=path, line=line)
    if as_json:
        give_json(answer)
        return
    if answer["note"]:
        say(answer["note"])
    if answer["sessions"]:
        give("\n".join(_lines(answer)).rstrip())
    elif not answer["note"]:
        say(f"no session is known to have changed `{name}`")


def _place(name: str, project: Path | None) -> tuple[Path | None, str]:
    """The directory whose project the file is in, and the path: of a named project, from its top."""
    if project is not None:
        return project, name
    whole = Path.cwd() / name
    folder = next((each for each in whole.parents if each.is_dir()), None)
    return folder, str(whole)


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    sessions: Sequence[Mapping[str, Any]] = answer["sessions"]
    writers = [row for row in sessions if row["wrote_line"]]
    if answer["text"]:
        yield f"{answer['line']}: {shortened(printable(answer['text']), WIDTH - 8)}"
        yield ""
    shown = writers or sessions
    for row in shown:
        yield from _session_lines(row, is_of_line=bool(writers))
        yield ""
    if others := len(sessions) - len(shown):
        others_changed = "1 other session" if others == 1 else f"{others} other sessions"
        yield f"{others_changed} changed the file: `holdfast why {answer['path']}`"


def _session_lines(row: Mapping[str, Any], *, is_of_line: bool) -> Iterator[str]:
    age = ago(daemon_requests.now() - _moment(row["at"]))
    facts = [age, row["harness"], row["short_id"], "imported" if row["imported"] else ""]
    yield shortened(_plain(row["title"]), TITLE_CHARS) or "(no title)"
    yield f"  {' · '.join(filter(None, facts))}"
    turns = [turn for turn in row["turns"] if turn["wrote_line"] or not is_of_line]
    for turn in turns[:TURNS_SHOWN]:
        yield from _turn_lines(turn)
    if more := len(row["turns"]) - len(turns[:TURNS_SHOWN]):
        yield f"  and {more} more request{'s' if more > 1 else ''} that changed it; `--json` lists them"


def _turn_lines(turn: Mapping[str, Any]) -> Iterator[str]:
    deed = _ACTIONS.get(turn["action"], turn["action"])
    if turn["renamed_to"]:
        deed = f"moved it from {turn['path']}"
    times = f" {turn['edits']} times" if turn["edits"] > 1 else ""
    by = ", by a subagent" if turn["by_subagent"] else ""
    yield from _entry("asked", shortened(_plain(turn["asked"]), ASKED_CHARS) or "(not known)")
    yield from _entry("", f"{deed}{times}{by}")
    if turn["reason"]:
        yield from _entry(_REASONS[turn["reason_kind"]], shortened(_plain(turn["reason"]), REASON_CHARS))
    else:
        yield from _entry("why", "(no reason was stated)")


def _entry(name: str, text: str) -> Iterator[str]:
    head = f"  {name:10}"
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )


def _plain(text: str) -> str:
    return one_line(printable(text))


def _moment(iso: str) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(iso).timestamp() * 1000)
