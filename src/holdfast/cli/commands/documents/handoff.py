"""Handoffs on the command line: pass work on, give it to another harness, list what waits, pick it up."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Final, NoReturn

import click

from holdfast import harnesses, system
from holdfast.cli import access
from holdfast.cli.options import command, group, json_option, project_option
from holdfast.cli.printing import (
    WIDEST,
    give,
    give_ends,
    give_json,
    give_table,
    line_width,
    quoted,
    say,
    working,
)
from holdfast.core.documents.handoff import pickup_prompt
from holdfast.core.documents.handoff_content import HandoffWords
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.session.session import Session, is_imported, title_of
from holdfast.core.sharing.provenance import provenance_row, shown_name
from holdfast.core.text.strings import ago, one_line
from holdfast.core.text.untrusted import fence, from_repository
from holdfast.engine.documents import handoff as handoffs
from holdfast.engine.documents.handoff import HandoffFile, HandoffFinding, Verdict
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SHORTEST, session_named, short_id
from holdfast.engine.recording.imported_work import with_work
from holdfast.engine.recording.preview import session_and_events
from holdfast.errors import Declined, HoldfastError
from holdfast.harnesses.base import Opening
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import START, RowKind


@dataclass(frozen=True, slots=True)
class Receiver:
    """The harness that a handoff goes to; `program` is where it is, empty if it is not to be started."""

    name: str
    title: str
    program: str = ""


@dataclass(frozen=True, slots=True)
class Teammate:
    """The person whom a handoff is for."""

    name: str


def to_options(function: Callable[..., None]) -> Callable[..., None]:
    """--to and --start, given to the command as the `receiver` that they mean."""

    @wraps(function)
    def with_receiver(*, to: str, start: bool, **others: object) -> None:
        if start and others.get("as_json"):
            raise click.UsageError("--start and --json do not go together.")
        function(receiver=_receiver(to, start=start), **others)

    starts = click.option("--start", is_flag=True, help="Start the harness of --to with it, here.")
    prints = click.option(
        "--to", default="", metavar="HARNESS", help="Print what to paste into that harness."
    )
    return prints(starts(with_receiver))


def to_someone_options(function: Callable[..., None]) -> Callable[..., None]:
    """The same for a new handoff, whose `receiver` may also be a person."""

    @wraps(function)
    def with_receiver(*, to: str, start: bool, **others: object) -> None:
        if start and others.get("as_json"):
            raise click.UsageError("--start and --json do not go together.")
        is_person = bool(to) and not start and to not in harnesses.readable()
        function(receiver=Teammate(one_line(to)) if is_person else _receiver(to, start=start), **others)

    starts = click.option("--start", is_flag=True, help="Start the harness of --to with it, here.")
    prints = click.option(
        "--to",
        default="",
        metavar="NAME",
        help="For this person of your team; of a harness: print what to paste into it.",
    )
    return prints(starts(with_receiver))


def _receiver(to: str, *, start: bool) -> Receiver | None:
    """The harness that the options name; None if none. Errors are raised before anything is written."""
    if not to:
        if start:
            raise click.UsageError("--start needs --to HARNESS.")
        return None
    reader = harnesses.reader(to)
    if not start:
        return Receiver(reader.name, reader.title)
    harness = harnesses.get(to)
    program = shutil.which(harness.program)
    if program is None:
        raise HoldfastError(
            f"`{harness.program}` is not on your search path",
            f"install {harness.title}, or leave out `--start` and paste what is printed",
        )
    return Receiver(reader.name, reader.title, program)


def give_to(chosen: Receiver, file: HandoffFile, directory: Path | None) -> None:
    """Print what to paste, or become that harness."""
    place = f"what `holdfast handoff show {file.name}` prints" if file.provenance else str(file.path)
    text = pickup_prompt(file.text, file.name, place, chosen.title)
    if not chosen.program:
        give(text)
        return
    opening = harnesses.get(chosen.name).opening(text)
    say(f"handoff {file.path}: starting {chosen.title}")
    _become(chosen.program, opening, directory)


def _become(program: str, opening: Opening, directory: Path | None) -> NoReturn:
    """Replace this process by the program, in the project, without the surrounding session's variables."""
    words = opening.at_terminal if sys.stdin.isatty() and sys.stdout.isatty() else opening.alone
    sessions = {
        name
        for harness in map(harnesses.get, harnesses.names())
        for name in harness.hook_variables
        if name.endswith("SESSION_ID")
    }
    environment = {name: value for name, value in os.environ.items() if name not in sessions}
    os.chdir(directory or Path.cwd())
    sys.stdout.flush()
    sys.stderr.flush()
    system.become([program, *words[1:]], environment)


_FILE: Final = click.Path(path_type=Path)
_WORDS: Final = {
    "request": "What was asked for, and why.",
    "concepts": "What one has to know to follow.",
    "files": "A file, and what matters in it.",
    "solved": "A problem, and how it was solved.",
    "pending": "What is left to do.",
    "current": "What was being done just now.",
    "next": "What to do first.",
}


@group("holdfast handoff create 'Finish the report'", "holdfast handoff pickup")
def handoff() -> None:
    """Pass work on to another session, on purpose.

    A handoff is a document in `.agents/handoffs/` of the main worktree: what was asked, what was done and
    found, what is left. Whoever picks it up is told first what of it is no longer so. `holdfast ledger
    --help` says when a ledger, a task or a memory serves better.
    """


def _words_options(function: click.decorators.FC) -> click.decorators.FC:
    for name, says in reversed(_WORDS.items()):
        function = click.option(f"--{name}", name, multiple=True, metavar="TEXT", help=says)(function)
    return function


@dataclass(frozen=True, slots=True)
class _Source:
    """The session to hand over, and its events."""

    session: Session
    events: Sequence[Event]


@command(
    "holdfast handoff create 'Finish the report'",
    "holdfast handoff create 'Finish it' --next 'the totals row' --pending 'tax'",
    "holdfast handoff create 'Finish the report' --to ann",
    "holdfast handoff create 'Finish the report' --to HARNESS --start",
    "holdfast handoff create 'Go on' --harness HARNESS --transcript session.jsonl",
)
@click.argument("purpose")
@_words_options
@to_someone_options
@click.option("--session", default="", metavar="KEY", help="Of this session, by its key or how that begins.")
@click.option("--harness", default="", metavar="HARNESS", help="Whose transcript it is.")
@click.option("--transcript", type=_FILE, metavar="FILE", help="Of the session in this file.")
@project_option()
@json_option()
def create(
    *,
    purpose: str,
    receiver: Receiver | Teammate | None,
    session: str,
    harness: str,
    transcript: Path | None,
    project: Path | None,
    as_json: bool,
    **words: tuple[str, ...],
) -> None:
    """Write a handoff of a session for this purpose.

    From what was seen of the session, and from the words given here, which stand first in each section; each
    may be given several times. Without --session it is that of the session whose shell runs this, or of the
    newest one of this worktree, else of the last one of the project. --to HARNESS prints what to paste there;
    with --start that harness is started with it, to work on its own where no terminal is.

    --to NAME with the name of a person is for that one member of your team, where the handoffs of this
    project are shared through a hub.
    """
    where = access.project_at(project)
    own = HandoffWords(**{field.name: words[field.name] for field in fields(HandoffWords)})
    to_person = receiver.name if isinstance(receiver, Teammate) else ""
    with access.current_engine() as engine, working("writing the handoff"):
        if to_person and not handoffs.are_shared(engine, where):
            raise HoldfastError(
                f"`{to_person}` is no harness, and the handoffs of this project are not shared with people",
                f"the harnesses are {', '.join(harnesses.readable())}; see docs/teams.md on sharing",
            )
        source = (
            _from_transcript(harness, transcript) if transcript else _from_store(engine, where, session, own)
        )
        made = handoffs.create(engine, where, source.session, source.events, purpose, own, to_person)
    if as_json:
        give_json(_row(made) | {"text": made.text})
    elif isinstance(receiver, Receiver):
        give_to(receiver, made, project)
    else:
        give(str(made.path))
        if to_person:
            say(f"it is for {to_person}")
            return
        say(f"\nhint: the next session runs `holdfast handoff pickup {made.name.removesuffix('.md')}`")


@command("holdfast handoff list", "holdfast handoff list --json")
@project_option()
@json_option()
def list_(*, project: Path | None, as_json: bool) -> None:
    """List the handoffs of a project, the newest first."""
    where = access.project_at(project)
    with access.stored_engine() as engine:
        files = handoffs.handoffs_here(engine, where)
    if as_json:
        give_json([_row(file) for file in files])
    elif files:
        now = access.now()
        print_handoffs(
            [
                (file.head.purpose, _shown_state(file, now), _age(file.head.created, now), file.name)
                for file in files
            ]
        )
    else:
        say("there are no handoffs; `holdfast handoff create PURPOSE` writes one")


def print_handoffs(rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Two lines for each handoff in a terminal, with the whole name to copy; a table anywhere else."""
    width = line_width()
    if width is None:
        give_table(("purpose", "status", "created", "name"), rows)
        return
    for purpose, status, created, name in rows:
        give_ends(purpose, created, min(width, WIDEST))
        line = f"  {status}  {name}"
        give(line if len(line) <= width else f"  {status}\n  {name}")


def _shown_state(file: HandoffFile, now: int) -> str:
    """The status of a handoff, with whom it is from and for, where it was shared."""
    sender = f", from {file.provenance.label}" if file.provenance else ""
    receiver = f", for {shown_name(file.head.to)}" if file.head.to else ""
    return f"{_state(file.head.status, now)}{sender}{receiver}"


def _state(status: str, now: int) -> str:
    """The status of a handoff with its time as in other lists: `consumed 5 min ago by session 7c1e2a90`."""
    words = status.split(" ")
    if len(words) < 2:
        return status
    *by, last = words[2:] or [""]
    is_key = bool(by) and by[-1] == "session"
    return " ".join((words[0], _age(words[1], now), *by, last[:SHORTEST] if is_key else last)).rstrip()


def _age(created: str, now: int) -> str:
    """How long ago a handoff was made; its own words where they are no date."""
    try:
        at = round(datetime.fromisoformat(created).timestamp() * 1000)
    except (ValueError, OverflowError):
        return created
    return ago(now - at)


@command("holdfast handoff show", "holdfast handoff show report --to HARNESS --start")
@click.argument("name", default="")
@to_options
@project_option()
@json_option()
def show(*, name: str, receiver: Receiver | None, project: Path | None, as_json: bool) -> None:
    """Print a handoff, by its name, its slug or a part of it; without one, the newest that is open."""
    where = access.project_at(project)
    with access.stored_engine() as engine:
        file = handoffs.find(handoffs.handoffs_here(engine, where), name)
    if as_json:
        give_json(_row(file) | {"text": file.text})
    elif receiver is not None:
        give_to(receiver, file, project)
    elif file.provenance:
        say(f"from {file.provenance.label}, {ago(access.now() - file.provenance.at)}")
        give(fence(file.text.rstrip("\n")) if file.is_from_stranger else file.text.rstrip("\n"))
    else:
        give(file.text.rstrip("\n"))


@command("holdfast handoff pickup", "holdfast handoff pickup report --yes")
@click.argument("name", default="")
@click.option("--yes", is_flag=True, help="Go on although something drifted, without asking.")
@click.option("--session", default="", metavar="KEY", help="The session that picks it up.")
@project_option()
@json_option("Print one JSON document; nothing is asked, and only --yes goes on over drift.")
def pickup(*, name: str, yes: bool, session: str, project: Path | None, as_json: bool) -> None:
    """Check a handoff against this worktree, print it, and mark it as taken.

    By its name, its slug or a part of it; without one, the newest that is open. What it says of files,
    branch, commit and key lines is Verified, Drift, or Unable to verify. Over drift it asks before it goes
    on; where nobody can be asked, it stops with exit status 1, so that an agent asks its user.
    """
    where = access.project_at(project)
    with access.stored_engine() as engine:
        file = handoffs.find(handoffs.handoffs_here(engine, where), name)
    findings = handoffs.verify_handoff(where, file)
    drifted = handoffs.verdict(findings) is Verdict.DRIFT
    if as_json and drifted and not yes:
        give_json(_verified_row(file, findings))
        click.get_current_context().exit(1)
    if not as_json:
        _print_findings(file, findings)
    if drifted and not yes:
        _agree()
    with access.current_engine() as engine:
        around = engine.store.session(access.surrounding_session())
        chosen = session_named(engine.store, session) if session else around
        picked_up = handoffs.pick_up(engine, file, chosen)
    if as_json:
        give_json(_verified_row(picked_up, findings) | {"text": picked_up.text})
    else:
        give(fence(picked_up.text.rstrip("\n")))


def _print_findings(file: HandoffFile, findings: Sequence[HandoffFinding]) -> None:
    label = f"{file.place}: {handoffs.verdict(findings)}"
    give(from_repository(label) if file.is_tracked else label)
    if not file.head.is_open:
        say(f"note: it is {file.head.status}")
    for finding in findings:
        give(finding.line)


def _agree() -> None:
    if not sys.stdin.isatty():
        raise HoldfastError(
            "something in the handoff is no longer so, and nobody is there to be asked",
            "ask the user whether to go on; then add `--yes`",
        )
    if not click.confirm("Something drifted since then. Go on?", err=True):
        raise Declined("the handoff was not picked up")


def _from_store(engine: Engine, project: Project, key: str, own: HandoffWords) -> _Source:
    session = access.pick_session(engine.store, project, key)
    if session is None:
        # A person hands over the last work here, however old it is.
        session = next(iter(engine.store.page_of_sessions(project.project_id, START, 1)), None)
        if session is not None:
            last = ago(engine.clock() - session.last_event_at)
            short = short_id(engine.store, RowKind.SESSION, session.key)
            say(f"note: of the last session here: {short}{quoted(title_of(session))}, {last}")
    if session is not None:
        return _with_events(engine, session)
    if own == HandoffWords():
        raise HoldfastError(
            f"no session was seen in `{project.path}`",
            "name one with `--session`, or a `--transcript`, or say yourself what is to be done (`--next`)",
        )
    # A person hands over work that no agent did.
    return _Source(Session("", "", project, started_at=engine.clock(), last_event_at=engine.clock()), ())


def _with_events(engine: Engine, session: Session) -> _Source:
    """The session and its events; an imported one's are in its transcript, if that is still there."""
    if not is_imported(session):
        return _Source(session, engine.store.events(session.key, handoffs.EVENTS_READ))
    imported = with_work(engine, session)
    if imported.note:
        say(f"note: {imported.note}")
    try:
        _, events = session_and_events(
            harnesses.reader(session.harness), Path(session.transcript), session.key
        )
    except HoldfastError:
        events = ()
    return _Source(imported.session, events)


def _from_transcript(harness: str, transcript: Path) -> _Source:
    if not harness:
        raise click.UsageError("--transcript needs --harness HARNESS.")
    return _Source(*session_and_events(harnesses.reader(harness), transcript))


def _row(file: HandoffFile) -> dict[str, object]:
    head = file.head
    return {
        "name": file.name,
        "path": None if file.provenance else str(file.path),
        "purpose": head.purpose,
        "status": head.status,
        "created": head.created,
        "session": head.session,
        "harness": head.harness,
        "branch": head.branch,
        "commit": head.commit,
        "to": head.to or None,
        "from_repository": file.is_tracked,
        **provenance_row(file.provenance),
    }


def _verified_row(file: HandoffFile, findings: Sequence[HandoffFinding]) -> dict[str, object]:
    rows = [
        {"what": finding.what, "verdict": finding.verdict, "detail": finding.detail} for finding in findings
    ]
    return _row(file) | {"verdict": handoffs.verdict(findings), "findings": rows}


for _name, _command in {"create": create, "list": list_, "show": show, "pickup": pickup}.items():
    handoff.add_command(_command, _name)
