"""Ledger: save a worktree's state to a file that people edit, check it, and let it lead a brief.

Saving merges the session's evidence and its agent's words with the file. A ledger that came with a clone may
have an unknown author: it may be read and added to, but never leads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from holdfast.core.brief.compose import BriefInput, Reason
from holdfast.core.documents.ledger import (
    Ledger,
    LedgerDocument,
    LedgerEntry,
    LedgerPart,
    confirm_statement,
    conflict,
    key_of,
    last_updated,
    parse,
    read,
    render,
)
from holdfast.core.documents.ledger_brief import LeadingLedger, RepositoryLedger
from holdfast.core.documents.ledger_content import SessionContent, fill_ledger, ledger_in_words
from holdfast.core.documents.ledger_update import (
    LedgerInput,
    calls_for_saving,
    file_doubts,
    is_settled,
    mark_unconfirmed,
    merge_ledger,
    reason_not_to_save,
    staleness,
)
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.checkpoint import own_words
from holdfast.core.session.session import Session, work_of
from holdfast.engine.documents.git_exclude import keep_out_of_git
from holdfast.engine.engine import Engine
from holdfast.engine.liveness import Liveness, liveness_of
from holdfast.engine.repository import git
from holdfast.engine.repository.projects import root_now
from holdfast.engine.repository.world import compare_brief, file_states, git_position
from holdfast.errors import HoldfastError
from holdfast.files import ledger
from holdfast.files import ledger as files
from holdfast.files.ledger import LedgerPlace
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import Session as Settings

DEFAULT_PATH: Final = ".agents/session_ledger.md"
SETTING: Final = "session.ledger"
OFF: Final = "Checkpoint skipped - session.ledger not enabled in .agents.yml"
CHECKPOINTS_LOOKED_AT: Final = 50


@dataclass(frozen=True, slots=True)
class Rules:
    """Whether the ledger is enabled and where it is, by the user's settings and the project's own files."""

    allowed: bool
    path: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedLedger:
    """A ledger that was just written, and its content."""

    path: str
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class CheckedLedger:
    """A ledger, compared with the current files and branch."""

    text: str
    ledger: Ledger
    """The ledger with marks on files that have changed."""
    saved_at: int
    notices: tuple[str, ...]
    by_hand: bool
    """Whether the text is not the one that Holdfast saved last."""
    came_with_the_clone: bool
    conflict: int
    """The line at which a merge conflict begins; 0 if there is none."""


def rules(own: Settings, *, decided: bool, root: Path, environment: Mapping[str, str]) -> Rules:
    """The rules that hold for a worktree; `decided` if the user's own settings turn the ledger on or off."""
    project_file = ledger.read_agents_files(root, environment)
    allowed = own.ledger if decided else bool(project_file.ledger_setting.ledger)
    return Rules(
        allowed,
        own.ledger_path or project_file.ledger_setting.ledger_path or DEFAULT_PATH,
        project_file.warnings,
    )


def place_of(home: Path, project: Project, path: str) -> LedgerPlace:
    """Where the ledger of a project's worktree is."""
    # As git would name it, so that a tracked file cannot pass for an untracked one.
    plain = PurePosixPath(path).as_posix()
    return files.place(home, project.project_id, project.worktree_id, Path(project.root), plain)


def save(
    engine: Engine, place: LedgerPlace, project: Project, session: Session | None, entries: Ledger
) -> SavedLedger:
    """Write the session's work state, and any explicit words, into the ledger."""
    at = engine.clock()
    redact = engine.redactor(project).of_session(session.key if session else "")
    with place.alone():
        text = files.read_to_change(place) or ""
        own_entries = _own_entries(place, session)
        ledger_input = _ledger_input(
            engine, project, session, read(parse(text)), _saved_at(place, parse(text))
        )
        ledger_input = replace(
            ledger_input,
            explicit=_redacted(entries, redact),
            own=own_entries,
            evidence=_redacted(ledger_input.evidence, redact),
        )
        after = merge_ledger(parse(text), ledger_input, _iso(at))
        keep_out_of_git(engine, project, place.path)
        files.write(place, render(after.document), after.own, at, session.key if session else "", redact)
    return SavedLedger(place.path, read(after.document))


def confirm(engine: Engine, place: LedgerPlace, project: Project, texts: tuple[str, ...]) -> SavedLedger:
    """Remove the UNCONFIRMED mark from every entry with one of these texts."""
    with place.alone():
        before = parse(files.read_to_change(place) or "")
        document = before
        for text in texts:
            document = confirm_statement(document, text)
        if document == before:
            hint = "`holdfast ledger check` lists what is unconfirmed"
            raise HoldfastError("nothing that is unconfirmed says that", hint)
        rewrite(engine, place, project, render(document))
    return SavedLedger(place.path, read(document))


def rewrite(engine: Engine, place: LedgerPlace, project: Project, text: str) -> None:
    """Replace the ledger with an edited text; the old one becomes a past version. Call it under the lock."""
    redact = engine.redactor(project).of_session("")
    files.write(place, text, files.own_part(place), engine.clock(), "", redact)


def look(engine: Engine, place: LedgerPlace, project: Project) -> CheckedLedger | None:
    """The ledger, compared with the worktree; None if there is none."""
    text = files.read(place)
    if text is None:
        return None
    document = parse(text)
    ledger, saved_at = read(document), _saved_at(place, document)
    states = file_states(project.root, map(_path, ledger.files))
    doubts = file_doubts(ledger.files, {}, states, 0, saved_at)
    marked = tuple(_doubted(entry, doubts.get(key_of(entry.text), "")) for entry in ledger.files)
    redact = engine.redactor_to_show(project).of_session("")
    last = next((version.text() for version in files.versions(place)), None)
    by_hand = last != redact(text)
    return CheckedLedger(
        text=text,
        ledger=ledger.having(LedgerPart.FILES, marked),
        saved_at=saved_at,
        notices=tuple(_moves(project, ledger, redact)),
        by_hand=by_hand,
        came_with_the_clone=by_hand and _may_be_a_strangers(place, project, was_saved=last is not None),
        conflict=conflict(text),
    )


def keep_up(
    engine: Engine, session: Session, events: tuple[Event, ...], *, handed_off: Callable[[], bool]
) -> None:
    """Save the ledger automatically before the window is lost, if the user's own settings ask for it."""
    if not calls_for_saving(events):
        return
    place = _automatic(engine, session.project)
    if place is None:
        return
    try:
        again = any(version.writer == files.writer(session.key) for version in files.versions(place))
        if (again or not reason_not_to_save(session, engine.clock())) and not handed_off():
            save(engine, place, session.project, session, Ledger())
    except HoldfastError as error:
        # The harness is waiting, so this must not fail: `doctor` shows what was refused.
        with engine.store.writing():
            engine.store.count_skipped(f"ledger: {error.message}", 1)


def is_enabled(engine: Engine, project: Project) -> bool:
    """Whether the user's settings or, if they leave it open, the project's files enable the ledger."""
    return _rules(engine, project).allowed


def leading(
    engine: Engine, project: Project, own: str, before: Session | None
) -> LeadingLedger | RepositoryLedger | None:
    """The ledger that leads the brief of a starting session, which continues `before` if that is known."""
    enabled = _rules(engine, project)
    if not enabled.allowed or engine.home is None:
        return None
    place = place_of(engine.home, project, enabled.path)
    try:
        looked = look(engine, place, project)
    except HoldfastError:
        return None
    if looked is None or looked.conflict or looked.ledger == Ledger():
        return None
    if looked.came_with_the_clone:
        redact = engine.redactor(project).of_session(own)
        return RepositoryLedger(place.path, _redacted(looked.ledger, redact))
    if _belongs_to_other_session(engine, place, {own, before.key if before else ""}):
        return None
    here = before is not None and before.project.worktree_id == project.worktree_id
    worked_until = before.changed_at if before and here else 0
    stale = staleness(looked.saved_at, worked_until, engine.clock())
    return LeadingLedger(
        place.path, looked.ledger, looked.saved_at, stale, looked.notices, by_hand=looked.by_hand
    )


def _automatic(engine: Engine, project: Project) -> LedgerPlace | None:
    """The place of a ledger that the user's own settings save automatically."""
    if not engine.config(project).session.ledger or engine.home is None:
        return None
    return place_of(engine.home, project, _rules(engine, project).path)


def _rules(engine: Engine, project: Project) -> Rules:
    """The rules of a worktree as the daemon knows them, without a shell's `$AGENTS_CONFIG`."""
    config = engine.config(project)
    decided = config.session.ledger or SETTING in config.explicit
    return rules(config.session, decided=decided, root=Path(project.root), environment={})


def _ledger_input(
    engine: Engine, project: Project, session: Session | None, there: Ledger, saved_at: int
) -> LedgerInput:
    """What is known of a session, and of the files that a ledger names."""
    if session is None:
        states = file_states(project.root, map(_path, there.files))
        return LedgerInput(file_doubts=file_doubts(there.files, {}, states, 0, saved_at))
    content = session_content(engine, session, engine.redactor(project).of_session(session.key))
    evidence = fill_ledger(content)
    touched = {key_of(session.project.relative(touch.path)): touch.at for touch in session.trail.files}
    paths = dict.fromkeys(map(_path, (*there.files, *evidence.files)))
    states = file_states(project.root, paths)
    return LedgerInput(
        evidence=evidence,
        file_doubts=file_doubts(there.files, touched, states, session.changed_at, saved_at),
        is_settled=lambda text: is_settled(text, session.trail, content.state),
    )


def by_agent(entries: Ledger, session: Session) -> Ledger:
    """An agent's own entries, with marks on those that its user has not confirmed."""
    return mark_unconfirmed(entries, session.trail, work_of(session))


def session_content(engine: Engine, session: Session, redact: Callable[[str], str]) -> SessionContent:
    """What a ledger or a handoff of a session is made from, compared with the current files and branch."""
    brief_input = BriefInput(Reason.CLEAR, session, engine.clock())
    brief_input = compare_brief(brief_input, redact, root_now(engine.store, session.project))
    digest = _last_digest(engine, session)
    # A model writes the sections themselves; an agent's own entries are marked where nobody confirmed them.
    by_model = (digest,) if digest and digest.author else ()
    return SessionContent(
        session,
        work_of(session, by_model),
        ledger_in_words(digest.text if digest and not by_model else ""),
        brief_input.marks,
        brief_input.notices,
    )


def _last_digest(engine: Engine, session: Session) -> Utterance | None:
    """The session's last digest in the words of its agent, its user or a model."""
    checkpoints = engine.store.checkpoints_of_session(session.key, CHECKPOINTS_LOOKED_AT)
    return next((words for one in checkpoints if (words := own_words(one))), None)


def _own_entries(place: LedgerPlace, session: Session | None) -> Ledger:
    """The entries that Holdfast wrote, without another session's questions, which only the user answers."""
    own_entries = files.own_part(place)
    last = next((version.writer for version in files.versions(place) if version.writer != files.BY_HAND), "")
    same = session is not None and files.writer(session.key) == last
    return own_entries if same else replace(own_entries, questions=())


def _belongs_to_other_session(engine: Engine, place: LedgerPlace, own: set[str]) -> bool:
    """Whether the ledger belongs to another session that is still live."""
    last = next((version.writer for version in files.versions(place)), "")
    others = (other for other in engine.store.live_sessions() if other.key not in own)
    return any(
        files.writer(other.key) == last and liveness_of(engine, other) is Liveness.OWN for other in others
    )


def _may_be_a_strangers(place: LedgerPlace, project: Project, *, was_saved: bool) -> bool:
    """Whether the author of a text that Holdfast did not save is unknown: git tracks it or may track it."""
    repository_place = git.find(project.root)
    if repository_place is None or repository_place.repository is None:
        return not was_saved
    return git.tracks(repository_place.repository, place.path) is not False


def _moves(project: Project, ledger: Ledger, redact: Callable[[str], str]) -> list[str]:
    """Notices of the branch and commit that are checked out now, if the ledger names others."""
    now = git_position(project)
    recorded = {
        words[0]: words[1].strip("`") for entry in ledger.ids if len(words := entry.text.split()) == 2
    }
    moves: list[str] = []
    if now is None:
        return moves
    branch, commit = recorded.get("branch", ""), recorded.get("commit", "")
    if branch and branch != now.branch and redact(now.branch) == now.branch:
        moves.append(f"the branch was `{branch}`, now it is `{now.branch or 'detached'}`.")
    if commit and now.head and not now.head.startswith(commit):
        moves.append(f"HEAD was {commit} when the ledger was saved, now it is {now.head[:10]}.")
    return moves


def _doubted(entry: LedgerEntry, why: str) -> LedgerEntry:
    return LedgerEntry(entry.text, unconfirmed=True, why=why) if why and not entry.unconfirmed else entry


def _path(entry: LedgerEntry) -> str:
    return entry.text.strip("`")


def _redacted(ledger: Ledger, redact: Callable[[str], str]) -> Ledger:
    for part in LedgerPart:
        entries = ledger.of(part)
        if entries:
            ledger = ledger.having(part, (replace(entry, text=redact(entry.text)) for entry in entries))
    return ledger


def _saved_at(place: LedgerPlace, document: LedgerDocument) -> int:
    """When the ledger was last written: by Holdfast, as its text says, or later by hand, as its file says."""
    try:
        by_hand = place.target.whole.lstat().st_mtime_ns // 1_000_000
    except OSError:
        return 0
    try:
        moment = datetime.fromisoformat(last_updated(document))
    except ValueError:
        return by_hand
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return max(round(seconds * 1000), by_hand)


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at // 1000, UTC).isoformat().replace("+00:00", "Z")
