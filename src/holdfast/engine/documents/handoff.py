"""Handoff: pass a session's work on in a document, and verify the document when it is picked up.

Documents are written to the main worktree, so that every worktree finds them. One that came with a clone may
have an unknown author, and the agent that picks it up is told so. One that another machine or person sent
through a hub is in no file here: the store has it, and notes who picked it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from holdfast.core.documents.handoff import (
    Check,
    Doubt,
    Handoff,
    HandoffHead,
    checks_in,
    doubts_in,
    file_name,
    head_of,
    mark_consumed,
    matching_names,
    render,
)
from holdfast.core.documents.handoff_content import HandoffWords, fill_handoff
from holdfast.core.documents.ledger import conflict
from holdfast.core.events.event import Event, Skipped
from holdfast.core.events.world import GitState, Project
from holdfast.core.session.session import Session
from holdfast.core.sharing.bodies import decode_handoff
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.provenance import Provenance
from holdfast.engine.documents.git_exclude import keep_out_of_git
from holdfast.engine.documents.ledger import session_content
from holdfast.engine.engine import Engine
from holdfast.engine.recording.inherit import take_over_work
from holdfast.engine.repository import git
from holdfast.engine.repository.git import Repository
from holdfast.engine.repository.world import git_position
from holdfast.engine.shared_sessions import provenance_of, session_anywhere, shared_items_of
from holdfast.errors import HoldfastError, NotThere, PathRefused
from holdfast.files import worktree
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Lineage

FOLDER: Final = ".agents/handoffs"
EVENTS_READ: Final = 100_000
MOVES_SHOWN: Final = 5
NAMES_SHOWN: Final = 5
RECEIVED_MOST: Final = 100


class Verdict(StrEnum):
    """The result of comparing a statement with the current files and branch."""

    VERIFIED = "Verified"
    DRIFT = "Drift"
    UNKNOWN = "Unable to verify"


@dataclass(frozen=True, slots=True)
class HandoffFinding:
    """One statement of a handoff, and whether it still holds."""

    what: str
    verdict: Verdict
    detail: str = ""

    @property
    def line(self) -> str:
        """The finding as a line of text."""
        return f"{self.verdict}: {self.what}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class HandoffFile:
    """A handoff, and the file that holds it or where it came from."""

    root: Path
    name: str
    text: str
    head: HandoffHead
    is_tracked: bool
    provenance: Provenance | None = None
    """Where it came from, if another machine sent it: then it is in no file."""
    item: str = ""
    """Its id among what was shared, if another machine sent it."""

    @property
    def path(self) -> Path:
        """The full path of the document, if it is in a file."""
        return self.root / FOLDER / self.name

    @property
    def place(self) -> str:
        """Where it is, in words: its path, or whom it came from."""
        return f"{self.name} from {self.provenance.label}" if self.provenance else str(self.path)

    @property
    def is_from_stranger(self) -> bool:
        """Whether somebody else wrote it."""
        return self.provenance is not None and not self.provenance.is_mine

    @property
    def waits_for_user(self) -> bool:
        """Whether somebody else wrote it for this person, who has not picked it up."""
        return self.is_from_stranger and bool(self.head.to) and self.head.is_open


def create(
    engine: Engine,
    project: Project,
    session: Session,
    events: Sequence[Event],
    purpose: str,
    words: HandoffWords,
    to: str = "",
) -> HandoffFile:
    """Write the handoff of a session into the main worktree, for a person if one is named."""
    if not purpose.strip():
        raise HoldfastError("a handoff needs a purpose", "say what the next session is to do with it")
    redact = engine.redactor(project).of_session(session.key)
    now = git_position(project) or GitState("", "", (), ())
    head = HandoffHead(
        purpose=purpose,
        created=iso(engine.clock()),
        session=session.key,
        harness=session.harness,
        branch=now.branch,
        commit=now.head,
        to=to,
    )
    document = fill_handoff(session_content(engine, session, redact), events, head, words)
    document = _verifiable(document, Path(project.root))
    if not any(one.is_tracked for one in all_handoffs(project)):
        # Where handoffs are committed, the user decides about this one too.
        keep_out_of_git(engine, project, f"{FOLDER}/")
    return _written(project, redact(render(document)), now, redact(purpose), engine.clock())


def all_handoffs(project: Project) -> list[HandoffFile]:
    """The handoffs of all worktrees of a project, the newest first."""
    files_found = [one for root in roots(project) for one in _in(root)]
    return sorted(files_found, key=lambda one: (one.head.created, one.name), reverse=True)


def received_handoffs(engine: Engine, project: Project) -> list[HandoffFile]:
    """The handoffs that other machines and people sent to this project, the newest first."""
    received: dict[str, HandoffFile] = {}
    for item in shared_items_of(engine, project, SharedKind.HANDOFF, RECEIVED_MOST):
        body = decode_handoff(item.body)
        if isinstance(body, Skipped) or head_of(body.text) is None:
            continue
        # Two people may have given their documents the same name.
        name = body.name if body.name not in received else item.key.id
        taken = engine.store.fact(_taken_fact(item.key.id))
        text = mark_consumed(body.text, *taken.split(" ", 1)) if " " in taken else body.text
        head = replace(head_of(text) or body.head, to=item.recipient)
        received[name] = HandoffFile(
            Path(project.root),
            name,
            text,
            head,
            is_tracked=False,
            provenance=provenance_of(item),
            item=item.key.id,
        )
    return list(received.values())


def handoffs_here(engine: Engine, project: Project) -> list[HandoffFile]:
    """The handoffs of a project, in its files and from elsewhere, the newest first."""
    every = (*all_handoffs(project), *received_handoffs(engine, project))
    return sorted(every, key=lambda one: (one.head.created, one.name), reverse=True)


def are_shared(engine: Engine, project: Project) -> bool:
    """Whether the handoffs of this project go to other people."""
    return SharedKind.HANDOFF in engine.store.announced_kinds().get(project.project_id, frozenset())


def _taken_fact(item: str) -> str:
    """The name of the fact that says when a handoff from elsewhere was picked up, and by whom."""
    return f"handoff/{item}"


def find(handoffs: Sequence[HandoffFile], name: str) -> HandoffFile:
    """The handoff with that name; without a name, the newest that was not picked up."""
    if not name:
        waiting = [one for one in handoffs if one.head.is_open]
        if not waiting:
            raise HoldfastError("no handoff is open", _list_hint(handoffs))
        return waiting[0]
    names = matching_names((one.name for one in handoffs), name)
    matches = [one for one in handoffs if one.name in names]
    if len({one.place for one in matches}) == 1:
        return matches[0]
    if not matches:
        raise NotThere(f"there is no handoff `{name}`", _list_hint(handoffs))
    raise HoldfastError(
        f"several handoffs are named like `{name}`: {', '.join(sorted(names)[:5])}", "say more of the name"
    )


def _list_hint(handoffs: Sequence[HandoffFile]) -> str:
    """A hint that lists the handoffs."""
    if not handoffs:
        return "there are none yet; `holdfast handoff create PURPOSE` writes one"
    names = ", ".join(f"`{one.name.removesuffix('.md')}`" for one in handoffs[:NAMES_SHOWN])
    return f"name one: {names}; `holdfast handoff list` shows all"


def verify_handoff(project: Project, handoff_file: HandoffFile) -> list[HandoffFinding]:
    """Compare a handoff's statements with the worktree in which it is picked up."""
    place = git.find(project.root)
    findings = [
        _conflict(handoff_file.text),
        _branch(project, handoff_file.head),
        _commits(place.repository if place else None, handoff_file.head),
    ]
    findings += [_check(Path(project.root), check) for check in checks_in(handoff_file.text)]
    findings += map(_doubt, doubts_in(handoff_file.text))
    return [finding for finding in findings if finding is not None]


def verdict(findings: Sequence[HandoffFinding]) -> Verdict:
    """The verdict of all findings together; unknown if nothing could be checked."""
    verdicts = {finding.verdict for finding in findings} or {Verdict.UNKNOWN}
    return next((one for one in (Verdict.DRIFT, Verdict.UNKNOWN) if one in verdicts), Verdict.VERIFIED)


def pick_up(engine: Engine, handoff_file: HandoffFile, session: Session | None) -> HandoffFile:
    """Mark a handoff as consumed, and store which session continues which."""
    at, by = iso(engine.clock()), f"session {session.key}" if session else "a person"
    text = mark_consumed(handoff_file.text, at, by)
    before = handoff_file.head.session
    if handoff_file.provenance is not None:
        with engine.store.writing():
            engine.store.put_fact(_taken_fact(handoff_file.item), f"{at} {by}")
        # A session that only its author has cannot be continued.
        before = before if session and session_anywhere(engine, session.project, before) else ""
    else:
        worktree.write(handoff_file.root, f"{FOLDER}/{handoff_file.name}", text.encode(errors="replace"))
    if session and before and before != session.key:
        with engine.store.writing():
            # Where the session continues another one already, that stays.
            engine.store.add_lineage(Lineage(session.key, before, "handoff", engine.clock()))
            take_over_work(engine, session.key, before)
    head = head_of(text) or handoff_file.head
    return replace(handoff_file, text=text, head=replace(head, to=handoff_file.head.to))


def handoffs_of(project: Project, session: Session) -> bool:
    """Whether a session has written a handoff already."""
    return any(one.head.session == session.key for one in all_handoffs(project))


def roots(project: Project) -> list[Path]:
    """Where handoffs may be: the worktree they are written to first, then the others."""
    place = git.find(project.root)
    if place is None or place.repository is None:
        return [Path(project.root)]
    worktrees = git.worktrees(place.repository)
    main = _main(worktrees, place.repository)
    return list(dict.fromkeys((main, *(one.root for one in worktrees), Path(project.root))))


def _main(worktrees: Sequence[Repository], here: Repository) -> Path:
    """The main worktree; for a bare repository the one with its branch, else the current one, if any."""
    main = [one.root for one in worktrees if one.git_dir == one.common_dir]
    if main:
        return main[0]
    usual = git.head(Repository(here.common_dir, here.common_dir, here.common_dir))[0]
    of_branch = [one.root for one in worktrees if usual and git.head(one)[0] == usual]
    current = [one.root for one in worktrees if one.root == here.root]
    return (of_branch or current or [one.root for one in worktrees] or [here.root])[0]


def _in(root: Path) -> list[HandoffFile]:
    place = git.find(str(root))
    files_found: list[HandoffFile] = []
    for name in worktree.listed(root, FOLDER):
        try:
            text = (worktree.read(root, f"{FOLDER}/{name}") or b"").decode("utf-8", "replace")
        except PathRefused:
            continue
        head = head_of(text)
        if head is not None:
            repository = place.repository if place else None
            tracked = git.tracks(repository, f"{FOLDER}/{name}") is not False if repository else False
            files_found.append(HandoffFile(root, name, text, head, tracked))
    return files_found


def _written(project: Project, text: str, now: GitState, purpose: str, at: int) -> HandoffFile:
    root = roots(project)[0]
    place = git.find(str(root))
    if place and place.repository and place.repository.git_dir == root:
        raise HoldfastError(
            f"`{root}` is a bare repository without a worktree", "make one, or hand over from there"
        )
    day = datetime.fromtimestamp(at / 1000).astimezone().date().isoformat()
    name = file_name(day, now.branch, now.head, purpose, worktree.listed(root, FOLDER))
    worktree.write(root, f"{FOLDER}/{name}", text.encode(errors="replace"))
    head = head_of(text)
    return HandoffFile(root, name, text, head or HandoffHead(purpose), is_tracked=False)


def _verifiable(document: Handoff, root: Path) -> Handoff:
    """The handoff with only those checks that hold now: others cannot be verified later."""
    checks = [check for check in document.checks if _holds(root, check) is Verdict.VERIFIED]
    files = [Check(check.path) for check in document.checks if check not in checks]
    there = [check for check in files if _holds(root, check) is Verdict.VERIFIED]
    return replace(document, checks=(*checks, *there))


def _holds(root: Path, check: Check) -> Verdict:
    """Whether the file exists inside the worktree and has the line."""
    try:
        text = worktree.look_into(root, check.path)
    except PathRefused:
        return Verdict.UNKNOWN
    if text is None:
        return Verdict.DRIFT
    return Verdict.VERIFIED if check.pattern.encode() in text else Verdict.DRIFT


def _check(root: Path, check: Check) -> HandoffFinding:
    is_there = _holds(root, Check(check.path))
    if is_there is not Verdict.VERIFIED or not check.pattern:
        details = {Verdict.DRIFT: "it is gone", Verdict.UNKNOWN: "it cannot be read"}
        return HandoffFinding(f"`{check.path}` exists", is_there, details.get(is_there, ""))
    holds = _holds(root, check)
    detail = "" if holds is Verdict.VERIFIED else "the line is not there any more"
    return HandoffFinding(f"`{check.path}` holds `{check.pattern}`", holds, detail)


def _doubt(doubt: Doubt) -> HandoffFinding:
    """A finding for what was already in doubt when the document was written; it cannot be checked here."""
    detail = f"UNCONFIRMED in the document{f': {doubt.why}' if doubt.why else ''}"
    return HandoffFinding(doubt.what, Verdict.UNKNOWN, detail)


def _conflict(text: str) -> HandoffFinding | None:
    line = conflict(text)
    detail = f"a merge conflict begins in its line {line}"
    return HandoffFinding("the document", Verdict.DRIFT, detail) if line else None


def _branch(project: Project, head: HandoffHead) -> HandoffFinding | None:
    now = git_position(project)
    if now is None or not head.branch:
        return None
    if now.branch == head.branch:
        return HandoffFinding(f"branch `{head.branch}`", Verdict.VERIFIED)
    return HandoffFinding(f"branch `{head.branch}`", Verdict.DRIFT, f"now it is `{now.branch or 'detached'}`")


def _commits(repository: Repository | None, head: HandoffHead) -> HandoffFinding | None:
    if not head.commit:
        return None
    what = f"commit {head.commit[:10]}"
    moves = git.moves_since(repository, head.commit) if repository else None
    if moves is None:
        return HandoffFinding(what, Verdict.UNKNOWN, "this worktree's log does not reach back to it")
    if not moves:
        return HandoffFinding(what, Verdict.VERIFIED)
    more = f" and {len(moves) - MOVES_SHOWN} more" if len(moves) > MOVES_SHOWN else ""
    return HandoffFinding(what, Verdict.DRIFT, f"since then: {'; '.join(moves[:MOVES_SHOWN])}{more}")


def iso(at: int) -> str:
    """A time as documents write it; such times sort as text."""
    return datetime.fromtimestamp(at // 1000, UTC).isoformat().replace("+00:00", "Z")
