"""The ledger on the command line: save a worktree's state, look at it, edit it, check it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Final

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command, group, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.documents.ledger import Ledger, LedgerEntry, LedgerPart, entry_of, is_ledger
from holdfast.core.documents.ledger_brief import ledger_questions, save_confirmation
from holdfast.core.documents.ledger_content import ledger_in_words
from holdfast.core.events.world import Project
from holdfast.core.text.strings import ago, elapsed
from holdfast.engine.documents import ledger as ledgers
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError
from holdfast.files import ledger as files
from holdfast.files.ledger import LedgerPlace
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso

_WORDS: Final = (
    (LedgerPart.GOAL, "--goal", "What is being worked on, and when it is done."),
    (
        LedgerPart.CONSTRAINTS,
        "--constraint",
        "A limit or an assumption; several may be given, as of all below.",
    ),
    (LedgerPart.DECISIONS, "--decision", "A choice that was made."),
    (LedgerPart.DONE, "--done", "What is complete."),
    (LedgerPart.NOW, "--now", "What is being done now; takes the place of what stands there."),
    (LedgerPart.NEXT, "--next", "What comes next; takes the place of what stands there."),
    (LedgerPart.QUESTIONS, "--question", "What is open."),
    (LedgerPart.FILES, "--file", "A file that the work is about."),
)


_HELP: Final = """Keep a worktree's state in a file that you and the agent edit.

\b
         for                     where                      written by
ledger   going on after /clear   .agents/session_ledger.md  agent, you, itself
         or a crash
handoff  passing work on,        .agents/handoffs/ in the   agent, you
         on purpose              main worktree
tasks    the steps of a session  the harness's own files    agent
memory   what stays true         Holdfast's store, memory/  agent, you

\b
It is off until `.agents.yml` in the project says so:
  session:
    ledger: true

It is then given back to the session after a /clear. Your own settings (`session.ledger = true`) have it
saved before a compaction and on /clear too.
"""


@group("holdfast ledger save --now 'the report'", "holdfast ledger check", says=_HELP)
def ledger() -> None:
    """The commands of the ledger."""


def _words_options(function: click.decorators.FC) -> click.decorators.FC:
    for part, name, says in reversed(_WORDS):
        function = click.option(name, part.value, multiple=True, metavar="TEXT", help=says)(function)
    return function


@dataclass(frozen=True, slots=True)
class _Opened:
    """An engine, and the ledger that it is about."""

    engine: Engine
    project: Project
    place: LedgerPlace


@command(
    "holdfast ledger save",
    "holdfast ledger save --now 'rounding' --next 'tax' --decision 'no floats'",
    "holdfast ledger save --from - < notes.md",
)
@_words_options
@click.option(
    "--from", "source", type=click.File("rb"), metavar="FILE", help="A whole ledger; - reads stdin."
)
@click.option("--session", default="", metavar="KEY", help="Of this session, by its key or how that begins.")
@project_option()
@json_option()
def save(
    *, source: IO[bytes] | None, session: str, project: Path | None, as_json: bool, **words: tuple[str, ...]
) -> None:
    """Write where the work stands into the ledger.

    From what was seen of the session, from its agent's last digest and from the words given here, merged with
    what stands in the file. What someone wrote there by hand stays; past versions are kept. What nobody has
    confirmed is marked `UNCONFIRMED`.
    """
    new_entries = _ledger_of_words(source, words)
    try:
        with _opened(project) as opened:
            chosen = access.pick_session(opened.engine.store, opened.project, session)
            if chosen is not None and access.surrounding_session():
                # A command that runs within a session comes from its agent, not its user.
                new_entries = ledgers.by_agent(new_entries, chosen)
            saved = ledgers.save(opened.engine, opened.place, opened.project, chosen, new_entries)
    except _LedgerOff as off:
        # An agent may ask for it anywhere, so this is an answer and no error.
        if as_json:
            give_json({"saved": False, "reason": ledgers.OFF})
        else:
            give(ledgers.OFF)
            say(f"hint: {off.hint}")
        return
    if as_json:
        give_json({"saved": True, "path": saved.path, **_as_json(saved.ledger)})
    else:
        give(save_confirmation(saved.path, saved.ledger))


@command("holdfast ledger show", "holdfast ledger show --json")
@project_option()
@json_option()
def show(*, project: Path | None, as_json: bool) -> None:
    """Print the ledger as it stands."""
    with _opened(project) as opened:
        current = _current_ledger(opened)
        if as_json:
            give_json({"path": opened.place.path, "text": current.text, **_as_json(current.ledger)})
        else:
            give(current.text.rstrip("\n"))


@command("holdfast ledger edit", "holdfast ledger edit --confirm 'Decimal, not float'")
@click.option("--confirm", multiple=True, metavar="TEXT", help="Take the mark off what says this; no editor.")
@project_option()
def edit(*, confirm: tuple[str, ...], project: Path | None) -> None:
    """Open the ledger in your editor, or say that something in it is confirmed.

    What you write is put in place when the editor is closed, if it is still a ledger.
    """
    with _opened(project) as opened:
        if confirm:
            saved = ledgers.confirm(opened.engine, opened.place, opened.project, confirm)
            give(save_confirmation(saved.path, saved.ledger))
            return
        before = _current_ledger(opened).text
        after = _edited(before)
        if after == before:
            say("nothing was changed")
            return
        if not is_ledger(after):
            raise HoldfastError("what you wrote is no ledger any more", "it begins with `# Session Ledger`")
        with opened.place.alone():
            if files.read(opened.place) != before:
                raise HoldfastError("someone else wrote the ledger meanwhile", "edit it once more")
            ledgers.rewrite(opened.engine, opened.place, opened.project, after)
    give(f"{opened.place.path} is changed")


@command("holdfast ledger history", "holdfast ledger history 2", "holdfast ledger history --json")
@click.argument("number", type=click.IntRange(min=1), required=False)
@project_option()
@json_option()
def history(*, number: int | None, project: Path | None, as_json: bool) -> None:
    """List the past versions of the ledger, the newest first, or print one of them."""
    with _opened(project) as opened:
        versions = files.versions(opened.place)
        if number is not None and number > len(versions):
            raise HoldfastError(
                f"there is no version {number}", "`holdfast ledger history` lists those there are"
            )
        if as_json:
            chosen = [versions[number - 1]] if number else versions
            give_json(
                [
                    {"at": to_iso(version.at), "writer": version.writer, "text": version.text()}
                    for version in chosen
                ]
            )
        elif number is not None:
            give(versions[number - 1].text().rstrip("\n"))
        elif versions:
            now, names = opened.engine.clock(), _names_of_writers(opened)
            rows = [
                (
                    str(n),
                    ago(now - version.at),
                    names.get(version.writer, "a session that is gone"),
                )
                for n, version in enumerate(versions, 1)
            ]
            give_table(("number", "written", "by"), rows)
        else:
            say("there is no past version")


@command("holdfast ledger check", "holdfast ledger check --json")
@project_option()
@json_option()
def check(*, project: Path | None, as_json: bool) -> None:
    """Hold the ledger against the files and the branch as they are now; writes nothing.

    The exit status is 1 if anything in it is unconfirmed.
    """
    with _opened(project) as opened:
        current = _current_ledger(opened)
        unconfirmed = current.ledger.unconfirmed()
        has_findings = bool(unconfirmed or current.notices or current.conflict)
        if as_json:
            give_json(
                {
                    "path": opened.place.path,
                    "saved_at": to_iso(current.saved_at),
                    "unconfirmed": [_entry(entry) for entry in unconfirmed],
                    "notices": list(current.notices),
                    "questions": list(ledger_questions(current.ledger)),
                    "came_with_the_clone": current.came_with_the_clone,
                    "conflict_line": current.conflict or None,
                }
            )
        else:
            _print_check(opened, current)
    click.get_current_context().exit(1 if has_findings else 0)


def _print_check(opened: _Opened, current: ledgers.CheckedLedger) -> None:
    age = elapsed(opened.engine.clock() - current.saved_at)
    give(f"{opened.place.path}, saved {age} ago")
    for entry in current.ledger.unconfirmed():
        give(f"UNCONFIRMED: {entry.text}{f' ({entry.why})' if entry.why else ''}")
    for notice in current.notices:
        give(f"UNCONFIRMED: {notice}")
    if current.conflict:
        give(f"line {current.conflict}: a merge conflict begins here")
    if current.came_with_the_clone:
        say("note: it may have come with the clone, so it does not lead a brief")
    for question in ledger_questions(current.ledger):
        say(f"ask: {question}")


class _LedgerOff(HoldfastError):
    """The project has no ledger."""


@contextmanager
def _opened(project: Path | None) -> Generator[_Opened]:
    """The ledger of a project; raises _LedgerOff if it is not enabled."""
    where = access.project_at(project)
    loaded = config.load(access.home(), Path(where.root), where.project_id, os.environ)
    is_configured = "session.ledger" in loaded.sources
    rules = ledgers.rules(
        loaded.config.session, decided=is_configured, root=Path(where.root), environment=os.environ
    )
    for warning in rules.warnings:
        say(f"note: {warning}")
    if not rules.allowed:
        raise _LedgerOff(
            "the ledger is off in this project", "`holdfast ledger --help` says how a project enables it"
        )
    with access.current_engine() as engine:
        access.register_project(engine, project)
        yield _Opened(engine, where, ledgers.place_of(access.home(), where, rules.path))


def _current_ledger(opened: _Opened) -> ledgers.CheckedLedger:
    current = ledgers.look(opened.engine, opened.place, opened.project)
    if current is None:
        raise HoldfastError(f"there is no `{opened.place.path}` yet", "`holdfast ledger save` writes it")
    return current


def _names_of_writers(opened: _Opened) -> dict[str, str]:
    """The readable names of a version's possible writers: a file name holds only a session's hash."""
    sessions = opened.engine.store.sessions_of_project(opened.project.project_id, 0, access.SESSIONS_SEARCHED)
    return {files.BY_HAND: "hand"} | {
        files.writer(session.key): f"session {session.key[:8]}" for session in sessions
    }


def _ledger_of_words(source: IO[bytes] | None, words: dict[str, tuple[str, ...]]) -> Ledger:
    """The ledger that the options give: a whole one from a file, and single entries."""
    ledger = ledger_in_words(source.read(files.LARGEST).decode("utf-8", "replace")) if source else Ledger()
    for part, _, _ in _WORDS:
        entries = (entry_of(text) for text in words[part.value])
        new_entries = [
            _quoted(entry) if part is LedgerPart.FILES else entry for entry in entries if entry.text
        ]
        ledger = ledger.having(part, (*ledger.of(part), *new_entries))
    return ledger


def _quoted(file: LedgerEntry) -> LedgerEntry:
    return file if "`" in file.text else replace(file, text=f"`{file.text}`")


def _edited(text: str) -> str:
    """The text after the user edited it."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise HoldfastError(
            "no editor is set", "set $EDITOR, or edit the file that `holdfast ledger show` prints"
        )
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        draft = Path(folder, "session_ledger.md")
        draft.write_bytes(text.encode())
        done = subprocess.run([*editor.split(), str(draft)], check=False)
        if done.returncode:
            raise HoldfastError(f"the editor ended with status {done.returncode}", "nothing was changed")
        return draft.read_bytes().decode("utf-8", "replace")


def _as_json(ledger: Ledger) -> dict[str, object]:
    return {part.value: [_entry(entry) for entry in ledger.of(part)] for part in LedgerPart}


def _entry(entry: LedgerEntry) -> dict[str, object]:
    return {"text": entry.text, "unconfirmed": entry.unconfirmed, "why": entry.why}


for _command in (save, show, edit, history, check):
    ledger.add_command(_command)
