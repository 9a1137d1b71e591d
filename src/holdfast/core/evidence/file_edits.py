"""File edits: which file a tool call changed, what the user had asked for, and the reason nearest to it.

An edit is known when it is called, done when the call returns, and explained by the agent's words around it:
those before it in the turn, and later ones of the turn that name the file. A sentence is given as the reason
only if it says why; otherwise it is no more than what was said then. Which line an edit wrote is known by
short hashes of its new lines, so no second copy of the text is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2s
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from holdfast.core.events.event import MAIN, Action, AssistantText, Event, Origin, ToolCalled, ToolReturned
from holdfast.core.evidence.kinds import KINDS, Section
from holdfast.core.evidence.patches import FileChange, changes_in_patch
from holdfast.core.evidence.prose import cues, reader
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

ASKED_CHARS: Final = 240
REASON_CHARS: Final = 320
MARK_BYTES: Final = 4
LINES_MARKED: Final = 600
"""The most lines of one edit by which it is found."""
TEXTS_READ: Final = 3
"""How many of the agent's messages before an edit may hold its reason."""
SAYS_WHY: Final = 8
"""From this strength on, a sentence says why; a weaker one is only what was said then."""
NAMES_FILE: Final = 5
"""The strength of a sentence that names the file and does not say why."""
CHANGES: Final = frozenset({Action.EDIT, Action.WRITE, Action.DELETE})


@dataclass(frozen=True, slots=True)
class EditReason:
    """A sentence about an edit; the greater its strength, the more it says why."""

    text: str = ""
    strength: int = 0


NO_REASON: Final = EditReason()


@dataclass(frozen=True, slots=True)
class TurnWords:
    """What the user asked for, when, and what the agent has said since, oldest first."""

    asked: str = ""
    asked_at: int = 0
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The change of one file by one call; it is known by session, record and path."""

    session: str
    record: str
    path: str
    """Relative to the worktree if it is inside."""
    project_id: str
    call: str
    action: Action
    at: int
    agent: str = MAIN
    renamed_to: str = ""
    asked: str = ""
    asked_at: int = 0
    reason: str = ""
    strength: int = 0
    marks: bytes = b""
    """The marks of the lines that it wrote, one after the other; empty if these are unknown."""
    done: bool = False
    """Whether the call is known to have succeeded."""


@dataclass(frozen=True, slots=True)
class CallSettled:
    """A call returned: its edits are done, or never happened."""

    call: str
    ok: bool


@dataclass(frozen=True, slots=True)
class FileExplained:
    """A later sentence about the edits of a file in its turn, until then."""

    path: str
    since: int
    until: int
    reason: EditReason


EditUpdate: TypeAlias = FileEdit | CallSettled | FileExplained


def edit_updates(before: Trail, after: Trail, event: Event, project_id: str, root: str) -> list[EditUpdate]:
    """What an event says about file edits, with the session's trail before and after it."""
    match event:
        case ToolCalled():
            opened = next((call for call in reversed(after.open_calls) if call.call == event.call), None)
            changes = opened.changes if opened else ()
            if not any(change.action in CHANGES for change in changes):
                return []
            return list(edits_of_call(event, changes, turn_words(after), project_id, root))
        case ToolReturned():
            # The trail knows the call of a result that names only a handle.
            opened = next((call for call in before.open_calls if call.call == event.call), None)
            changes = opened.changes if opened else ()
            is_edit = any(change.action in CHANGES for change in changes)
            return [CallSettled(event.call, event.ok)] if is_edit else []
        case AssistantText(agent="main", text=text) if event.origin is not Origin.HOLDFAST:
            return list(_explanations(after, text, event.at, root))
        case _:
            return []


def edits_of_call(
    call: ToolCalled, changes: Iterable[FileChange], words: TurnWords, project_id: str, root: str
) -> Iterator[FileEdit]:
    """The edits that a call makes if it succeeds; files that it only reads are left out."""
    for change in changes:
        if change.action not in CHANGES:
            continue
        path, renamed_to = (project_path(each, root) for each in (change.path, change.renamed_to))
        reason = reason_before(words.statements, renamed_to or path)
        yield FileEdit(
            call.session,
            call.record,
            path,
            project_id,
            call.call,
            change.action,
            call.at,
            call.agent,
            renamed_to,
            words.asked,
            words.asked_at,
            reason.text,
            reason.strength,
            b"".join(line_marks(_new_lines(call, change))),
        )


def changes_of_edit(call: ToolCalled) -> tuple[FileChange, ...]:
    """The changes of a call that edits files; a command's are not looked for."""
    if call.action is Action.RUN or call.action not in (*CHANGES, Action.OTHER):
        return ()
    if call.action is Action.OTHER and _PATCH not in call.detail:
        return ()
    changes = changes_in_patch(call.detail) if call.action in (Action.EDIT, Action.OTHER) else ()
    if changes or call.action is Action.OTHER or not call.subject:
        return changes
    return (FileChange(call.subject, call.action),)


_PATCH: Final = "*** Begin Patch"


def turn_words(trail: Trail) -> TurnWords:
    """The last request of the user that says something, and the agent's messages since."""
    own = [prompt for prompt in trail.prompts if not prompt.inherited]
    asked = _request(own) or (trail.goal if trail.goal and not trail.goal.inherited else None)
    since = _turn_began(trail)
    return TurnWords(
        asked_line(asked.text) if asked else "",
        since,
        tuple(each.text for each in trail.statements if each.at >= since)[-TEXTS_READ:],
    )


def _turn_began(trail: Trail) -> int:
    """When the user last wrote; 0 if that is not known."""
    return next((prompt.at for prompt in reversed(trail.prompts) if not prompt.inherited), 0)


def _request(prompts: Sequence[Utterance]) -> Utterance | None:
    """The last prompt that is more than an answer or a request to go on; else the last."""
    telling = (each for each in reversed(prompts) if tells_request(each.text))
    return next(telling, prompts[-1] if prompts else None)


def tells_request(prompt: str) -> bool:
    """Whether a prompt says by itself what is to be done."""
    return not reader.is_generic(prompt) and not reader.is_answer(prompt)


def asked_line(prompt: str) -> str:
    """A request in one line, as it is shown beside an edit: its sentences without what was pasted."""
    beginning = prompt[:_PROMPT_READ]
    plain = _HEADING.sub("", beginning)
    # A prompt that does not begin like a sentence may begin with a log.
    if not _SENTENCE_BEGIN.match(plain):
        plain = " ".join(reader.sentences(beginning)) or plain
    return shortened(one_line(plain), ASKED_CHARS)


_PROMPT_READ: Final = 4_000
_SENTENCE_BEGIN: Final = compiled(r"\s*(?:\w[\w'’-]*[,:]? +){2}")
_HEADING: Final = compiled(r"^#+\s*", re.MULTILINE)


def project_path(path: str, root: str) -> str:
    """The path relative to the worktree if it is inside, otherwise as it is."""
    inside = root not in ("", "/") and path.startswith(f"{root.rstrip('/')}/")
    return path[len(root.rstrip("/")) + 1 :] if inside else path.removeprefix("./")


# ---------------------------------------------------------------- reasons


def reason_before(statements: Sequence[str], path: str) -> EditReason:
    """The best sentence of the messages before an edit, of which the last is the nearest."""
    best = NO_REASON
    for distance, text in enumerate(reversed(statements[-TEXTS_READ:])):
        for sentence in _ranked(text):
            strength = _about_file(sentence, path) - 2 * distance
            # Of equal ones, the last of the nearest message stands closest to the edit.
            if strength > best.strength or (strength == best.strength and strength and not distance):
                best = EditReason(sentence.text, strength)
    return best


def reason_after(text: str, path: str) -> EditReason:
    """The best sentence of a later message that names the file."""
    if not _names_file(text, path):
        return NO_REASON
    about_it = (each for each in _ranked(text) if _names_file(each.text, path))
    reasons = (EditReason(each.text, _about_file(each, path)) for each in about_it)
    return max(reasons, key=lambda reason: reason.strength, default=NO_REASON)


def nearest_decision(trail: Trail, edit: FileEdit) -> str:
    """The decision of the same turn that stands nearest to an edit; empty if there is none.

    It names the file, or was made shortly before; a decision about something else is no reason.
    """
    later = (prompt.at for prompt in trail.prompts if prompt.at > edit.asked_at)
    until = max(min(later, default=edit.at + 1), edit.at + 1)
    candidates = [
        note
        for note in trail.notes
        if KINDS[note.kind].section is Section.DECISIONS
        and not note.inherited
        and edit.asked_at <= note.at < until
        and (_names_file(note.text, edit.path) or 0 <= edit.at - note.at <= _SHORTLY_MS)
        and reader.decisions(note.text)
    ]
    nearest = min(candidates, key=lambda note: abs(note.at - edit.at), default=None)
    return nearest.text if nearest else ""


_SHORTLY_MS: Final = 5 * 60_000


def _explanations(trail: Trail, text: str, at: int, root: str) -> Iterator[FileExplained]:
    """What a message says about the files that were changed in its turn."""
    since = _turn_began(trail)
    changed = [touch for touch in trail.files if touch.at >= since and touch.action in CHANGES]
    for touch in changed:
        path = project_path(touch.renamed_to or touch.path, root)
        if (reason := reason_after(text, path)).strength > 0:
            yield FileExplained(path, since, at, reason)


def _sentences(text: str) -> Iterator[str]:
    """The sentences and list items of a message that may be a reason; code and questions are left out."""
    for block in _FENCE.sub("\n", text).split("\n"):
        bare = _MARKS.sub("", block).strip()
        for sentence in _SENTENCE_END.split(bare):
            plain = one_line(sentence.replace("**", ""))
            if len(plain) >= _SHORTEST and plain[-1] not in "?？" and " " in plain:
                yield shortened(plain.rstrip(":："), REASON_CHARS)


@lru_cache(maxsize=8)  # the edits of a turn have the same messages before them
def _ranked(text: str) -> tuple[EditReason, ...]:
    """The sentences of a message, each with how much it says why anything was changed."""
    return tuple(EditReason(each, _strength(each)) for each in _sentences(text))


def _strength(sentence: str) -> int:
    reasons = bool(_REASON.search(sentence))
    # "Let me look at the tests" explains nothing, and "I need to update it" little.
    if not reasons and (_NARRATES.match(sentence) or cues.announces(sentence)):
        return 1
    return SAYS_WHY + 2 * (TEXTS_READ - 1) if reasons or _CAUSE.search(sentence) else 2


def _about_file(sentence: EditReason, path: str) -> int:
    """The strength of a sentence as a reason for changing this file."""
    names_it = sentence.strength > 1 and _names_file(sentence.text, path)
    return sentence.strength + (NAMES_FILE - 2 if names_it else 0)


def _names_file(sentence: str, path: str) -> bool:
    """Whether a sentence names the file, by its whole name or its name without ending."""
    name = PurePosixPath(path).name
    stem = name.split(".", 1)[0]
    if not stem or stem not in sentence:
        return False
    tells = len(stem) >= _SHORTEST_STEM and stem.lower() not in _COMMON_STEMS
    return _stands_in(name, sentence) or (tells and _stands_in(stem, sentence))


def _stands_in(name: str, sentence: str) -> bool:
    """Whether a name stands in a sentence as a whole, not as the end or the beginning of another."""
    at = sentence.find(name)
    while at >= 0:
        end = at + len(name)
        if not _IN_NAME.match(sentence[at - 1 : at]) and not _IN_NAME.match(sentence[end : end + 2]):
            return True
        at = sentence.find(name, at + 1)
    return False


_IN_NAME: Final = compiled(r"[\w-]|\.\w")
_FENCE: Final = compiled(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS: Final = compiled(r"^[\s>#*+-]*(?:\d{1,2}[.)] )?(?:\[[ xX]\] )?")
_SENTENCE_END: Final = compiled(r"(?<=[.!?。！？])\s+(?=[A-Z`\"'“(\d]|[^\x00-\x7f])")
_SHORTEST: Final = 16
_SHORTEST_STEM: Final = 5
_COMMON_STEMS: Final = frozenset("index utils types config setup tests readme package model models".split())
_REASON: Final = compiled(
    r"\b(?:because|so that|so it|otherwise|due to|caused? by|root cause|that(?:'|’)s why|which is why|hence|"
    r"therefore|in order (?:to|that)|to (?:avoid|prevent|ensure|make sure)|since (?:the|it|we|git|this|that)|"
    r"(?:the|this) (?:real |actual |main |underlying )?(?:problem|issue|bug|cause|reason|fix) (?:is|was))\b",
    re.IGNORECASE,
)
"""A sentence with one of these gives a reason, even if it announces something."""
_CAUSE: Final = compiled(
    r"\b(?:instead of|rather than|no longer|but|to (?:allow|support|keep|match|fix|handle|reduce|stop)|"
    r"(?:doesn|didn|can|won|isn|aren|wasn|don)(?:'|’)t|does not|cannot|is not|are not|never|"
    r"(?:is|are|was|were) (?:missing|wrong|broken|stale|unused|outdated|too)|needs|must|should|"
    r"would (?:break|fail)|fails? (?:when|if|with|on))\b",
    re.IGNORECASE,
)
"""A sentence with one of these states what was wrong or is required, unless it only announces something."""
_NARRATES: Final = compiled(
    r"(?:now|next|first|then|ok(?:ay)?|good|great|perfect|let(?:'|’)?s?|let me|i(?:'|’)ll|i will|i(?:'|’)m|"
    r"i am|i need|i should|i can see|i see|we need|time to|all|still|only)\b",
    re.IGNORECASE,
)


# ---------------------------------------------------------------- lines


def line_mark(line: str) -> bytes:
    """A short hash of a line, whatever its indentation; empty if the line is too common to be recognised."""
    bare = " ".join(line.split())
    if sum(map(str.isalnum, bare)) < _FEWEST_LETTERS:
        return b""
    return blake2s(bare.encode("utf-8", "replace"), digest_size=MARK_BYTES).digest()


def line_marks(lines: Iterable[str]) -> tuple[bytes, ...]:
    """The marks of these lines, each once."""
    marks = dict.fromkeys(mark for line in lines if (mark := line_mark(line)))
    return tuple(marks)[:LINES_MARKED]


def wrote_line(edit: FileEdit, mark: bytes) -> bool:
    """Whether the line with this mark is among those that an edit wrote."""
    places = range(0, len(edit.marks), MARK_BYTES)
    return bool(mark) and any(edit.marks[place : place + MARK_BYTES] == mark for place in places)


def _new_lines(call: ToolCalled, change: FileChange) -> list[str]:
    """The lines that a call writes into one of its files, as far as they are known."""
    if call.action not in (*CHANGES, Action.OTHER) or change.action is Action.DELETE:
        return []
    if not changes_in_patch(call.detail):
        return call.detail.splitlines() if call.action is not Action.OTHER else []
    lines: list[str] = []
    is_here = False
    for line in call.detail.splitlines():
        if header := _PATCHED.match(line):
            is_here = header[1].strip().removeprefix("b/") in (change.path, change.renamed_to) or (
                change.path.endswith(f"/{header[1].strip().removeprefix('b/')}")
            )
        elif is_here and line.startswith("+"):
            lines.append(line[1:])
    return lines


_PATCHED: Final = compiled(r"(?:\*\*\* (?:Add|Update|Delete) File:|\*\*\* Move to:|\+\+\+) +(.+)")
_FEWEST_LETTERS: Final = 5
