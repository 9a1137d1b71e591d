"""Update a ledger from a session: when to save it, what to merge, and what to mark as unconfirmed.

What a person or an agent wrote stays as it is, line by line. Of what Holdfast wrote before, the current state
(goal, now, next, files) is replaced, and lasting entries (constraints, decisions, done) stay. An entry that
was removed by hand is not added again, and a mark that was removed by hand is not set again for the same
reason.

Four rules mark an entry as unconfirmed: a file may have changed outside of the session; a preference was
inferred, not stated; a decision was made without approval; the state of an external system is unknown. A mark
is removed by evidence, never by time: the file was read again, or the user said it or agreed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from holdfast.core.documents.ledger import (
    Ledger,
    LedgerDocument,
    LedgerEntry,
    LedgerPart,
    PartChange,
    change_part,
    entry_of,
    entry_texts,
    key_of,
    new_ledger_text,
    parse,
    set_last_updated,
    text_with_mark,
)
from holdfast.core.events.durations import DAY_MS, MINUTE_MS
from holdfast.core.events.event import Action, CompactionImminent, Event, SessionEnded, Source
from holdfast.core.events.world import FileState
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.session.session import Session
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import elapsed, query_terms
from holdfast.core.work.state import WorkState
from holdfast.lazy_dataclass import dataclass

REPLACED: Final = frozenset(
    {LedgerPart.GOAL, LedgerPart.NOW, LedgerPart.NEXT, LedgerPart.FILES, LedgerPart.IDS, LedgerPart.COMMANDS}
)
"""Parts where new evidence replaces what Holdfast wrote before."""
AUTHORED: Final = frozenset({LedgerPart.GOAL, LedgerPart.NOW, LedgerPart.NEXT})
"""Parts where explicit entries replace everything."""
STANDING: Final = {LedgerPart.CONSTRAINTS: 30, LedgerPart.DECISIONS: 20, LedgerPart.DONE: 20}
"""Parts whose entries stay though the session no longer has them; above this number, Holdfast's oldest go."""
REMEMBERED: Final = 200
"""How many of Holdfast's entries per part are remembered, so that one removed by hand does not come back."""
INFERRED: Final = "inferred"
NOT_APPROVED: Final = "not approved"
OUTSIDE: Final = "status outside"
ASSUMED: Final = "assumed"
CHANGED: Final = "changed since"
GONE: Final = "gone since"
EDIT_GRACE_MS: Final = 2_000
"""A harness records an edit a moment after the file was written."""
QUICK_MS: Final = 30 * MINUTE_MS
SAVE_GRACE_MS: Final = 5 * MINUTE_MS
"""A session may go on briefly after its ledger was saved; that does not make the ledger stale."""
OLD_MS: Final = 7 * DAY_MS


@dataclass(frozen=True, slots=True)
class LedgerInput:
    """What to merge: entries from evidence, explicit entries, and the entries that Holdfast wrote before."""

    evidence: Ledger = Ledger()
    explicit: Ledger = Ledger()
    own: Ledger = Ledger()
    """Entries that Holdfast wrote before, with the marks that they had then."""
    file_doubts: Mapping[str, str] = field(default_factory=lambda: {})
    """For each file by its key: how it changed since the session left it; empty if it did not."""
    is_settled: Callable[[str], bool] = lambda _: False
    """Whether the user has confirmed a text."""


@dataclass(frozen=True, slots=True)
class MergedLedger:
    """The updated file, and the entries in it that Holdfast wrote."""

    document: LedgerDocument
    own: Ledger


def merge_ledger(current: LedgerDocument, known: LedgerInput, updated: str) -> MergedLedger:
    """The file with the input merged and a new time; a file without headings gets all sections."""
    if not any(section.heading for section in current.sections):
        current = parse(new_ledger_text(Ledger(), updated))
    document, own = set_last_updated(current, updated), Ledger()
    known, overtaken = _without_contradictions(document, known)
    for part in LedgerPart:
        result = _merge_part(part, entry_texts(document, part), known, overtaken.get(part, frozenset()))
        document = change_part(document, part, result.change)
        own = own.having(part, result.own)
    return MergedLedger(document, own)


def calls_for_saving(events: tuple[Event, ...]) -> bool:
    """Whether an event announces that the context window ends, so that the ledger is to be saved."""
    return any(
        isinstance(event, CompactionImminent)
        or (isinstance(event, SessionEnded) and event.reason == Source.CLEAR)
        for event in events
    )


def reason_not_to_save(session: Session, at: int) -> str:
    """Why a session needs no ledger; empty if it needs one."""
    if at - session.started_at < QUICK_MS:
        return "a task of less than 30 minutes"
    changed_paths = {touch.path for touch in session.trail.files if touch.action is not Action.READ}
    return "" if len(changed_paths) > 1 else "a change of at most one file"


def staleness(saved_at: int, worked_until: int, now: int) -> str:
    """Why a ledger is stale; empty for a fresh one."""
    if worked_until - saved_at > SAVE_GRACE_MS:
        return f"the session worked on for {elapsed(worked_until - saved_at)} after it was saved"
    return f"it is {elapsed(now - saved_at)} old" if now - saved_at > OLD_MS else ""


# ---------------------------------------------------------------- what becomes of each entry


@dataclass(frozen=True, slots=True)
class _PartResult:
    """The change to a part's entries, and which entries Holdfast wrote."""

    change: PartChange
    own: tuple[LedgerEntry, ...]


def _without_contradictions(
    document: LedgerDocument, known: LedgerInput
) -> tuple[LedgerInput, Mapping[LedgerPart, frozenset[str]]]:
    """What to merge so that nothing is both done and open, and the keys that are removed from each part.

    Explicit entries win over the file, what somebody wrote into the file wins over the evidence, and the
    evidence wins over what Holdfast wrote before. Of the evidence, what is done is not open.
    """
    evidence, by_hand = known.evidence, Ledger()
    for part in _DONE_OR_OPEN:
        weaker = _by_key(known.own.of(part)).keys() | _keys_against(part, known.explicit)
        entries = map(entry_of, entry_texts(document, part))
        by_hand = by_hand.having(part, (entry for entry in entries if key_of(entry.text) not in weaker))
    for part in _DONE_OR_OPEN:
        stronger = (known.explicit, by_hand, *((evidence,) if part in _OPEN else ()))
        against = _keys_against(part, *stronger)
        evidence = evidence.having(
            part, (one for one in evidence.of(part) if key_of(one.text) not in against)
        )
    overtaken = {
        part: _keys_against(part, known.explicit)
        | (_by_key(known.own.of(part)).keys() & _keys_against(part, by_hand, evidence))
        for part in _DONE_OR_OPEN
    }
    return replace(known, evidence=evidence), overtaken


_OPEN: Final = (LedgerPart.NOW, LedgerPart.NEXT)
_DONE_OR_OPEN: Final = (LedgerPart.DONE, *_OPEN)


def _keys_against(part: LedgerPart, *ledgers: Ledger) -> frozenset[str]:
    """The keys of what these ledgers say is open, for what is done, and the other way round."""
    others = _OPEN if part is LedgerPart.DONE else (LedgerPart.DONE,)
    return frozenset(
        key_of(entry.text) for ledger in ledgers for other in others for entry in ledger.of(other)
    )


def _merge_part(
    part: LedgerPart, current_texts: Sequence[str], known: LedgerInput, overtaken: frozenset[str]
) -> _PartResult:
    evidence, explicit, own = (
        _by_key(ledger.of(part)) for ledger in (known.evidence, known.explicit, known.own)
    )
    present_texts = {key_of(text): text for text in current_texts}
    authored = part in AUTHORED and bool(explicit)
    removed = {
        key
        for key in present_texts
        if key not in explicit and (authored or key in overtaken or _is_replaced(part, key, evidence, own))
    }
    existing = [
        None if key_of(text) in removed or not text else _with_current_mark(part, text, key_of(text), known)
        for text in current_texts
    ]
    present = present_texts.keys() - removed
    new = {key: entry for key, entry in explicit.items() if key not in present}
    if not authored and not (part is LedgerPart.GOAL and present):
        # An entry that Holdfast wrote and that is missing was removed by hand.
        removed_by_hand = own.keys() - present_texts.keys()
        new |= {
            key: entry
            for key, entry in evidence.items()
            if key not in present | removed_by_hand | explicit.keys()
        }
    added = [
        _with_current_mark(part, present_texts.get(key, text_with_mark(entry)), key, known)
        for key, entry in new.items()
    ]
    # An entry that was in the file before Holdfast found it belongs to its author.
    seen = {key: entry for key, entry in evidence.items() if key in own or key not in present_texts}
    remembered = {key: entry for key, entry in own.items() if key not in removed} | seen
    existing = _within_bounds(part, existing, own.keys(), len(added))
    return _PartResult(PartChange(tuple(existing), tuple(added)), tuple(remembered.values())[-REMEMBERED:])


def _is_replaced(
    part: LedgerPart, key: str, evidence: Mapping[str, LedgerEntry], own: Mapping[str, LedgerEntry]
) -> bool:
    """Whether an entry that Holdfast wrote is removed; if still found, it is added again in its new order."""
    if part is LedgerPart.QUESTIONS:
        return key in own and key not in evidence
    return part in REPLACED and bool(evidence) and key in own


def _within_bounds(
    part: LedgerPart, entries: list[LedgerEntry | None], own_keys: Iterable[str], new: int
) -> list[LedgerEntry | None]:
    """The entries without Holdfast's oldest where there are too many; the first constraints stay."""
    over = sum(entry is not None for entry in entries) + new - STANDING.get(part, len(entries) + new)
    own = frozenset(own_keys)
    places = [place for place, entry in enumerate(entries) if entry and key_of(entry.text) in own]
    start = len(places) // 2 if part is LedgerPart.CONSTRAINTS else 0
    dropped = frozenset(places[start : start + max(over, 0)])
    return [None if place in dropped else entry for place, entry in enumerate(entries)]


def _with_current_mark(part: LedgerPart, text: str, key: str, known: LedgerInput) -> LedgerEntry:
    """An entry with the mark that it should have now."""
    entry = entry_of(text)
    if part is LedgerPart.FILES:
        why = known.file_doubts.get(key)
        return (
            entry if why is None or (why and entry.unconfirmed) else LedgerEntry(entry.text, bool(why), why)
        )
    evidence, explicit, before = (
        _by_key(ledger.of(part)).get(key) for ledger in (known.evidence, known.explicit, known.own)
    )
    if explicit is not None and explicit.unconfirmed and not is_by_rule(explicit):
        return LedgerEntry(entry.text, unconfirmed=True, why=explicit.why)
    if entry.unconfirmed:
        says_so = any(other is not None and not other.unconfirmed for other in (evidence, explicit))
        return LedgerEntry(entry.text) if says_so or known.is_settled(entry.text) else entry
    # A mark that Holdfast had set and that is missing was removed by hand.
    newly = evidence is not None and evidence.unconfirmed and before is not None and not before.unconfirmed
    return LedgerEntry(entry.text, unconfirmed=True, why=evidence.why) if evidence and newly else entry


def _by_key(entries: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    return {key_of(entry.text): entry for entry in entries}


def mark_unconfirmed(ledger: Ledger, trail: Trail, state: WorkState) -> Ledger:
    """An agent's ledger, with a mark on each preference and decision that the user has not confirmed."""

    def unless_settled(entry: LedgerEntry, why: str) -> LedgerEntry:
        if entry.unconfirmed or is_settled(entry.text, trail, state):
            return entry
        return LedgerEntry(entry.text, unconfirmed=True, why=why)

    return replace(
        ledger,
        constraints=tuple(unless_settled(entry, INFERRED) for entry in ledger.constraints),
        decisions=tuple(unless_settled(entry, NOT_APPROVED) for entry in ledger.decisions),
        done=tuple(map(_if_uncertain, ledger.done)),
        questions=tuple(map(_if_uncertain, ledger.questions)),
    )


def is_settled(text: str, trail: Trail, state: WorkState) -> bool:
    """Whether the user said this, or agreed to it right after the agent had said it."""
    return is_stated(text, trail, state) or is_approved(text, trail, state)


def is_stated(text: str, trail: Trail, state: WorkState) -> bool:
    """Whether the user said this in one prompt, rule or answer."""
    prompts = (utterance.text for utterance in (trail.first_prompt, trail.goal, *trail.prompts) if utterance)
    statements = (one.text for one in state.statements if one.by_user or one.section is Section.RULES)
    return any(
        key_of(utterance) == key_of(text) or _covers(utterance, text) for utterance in (*prompts, *statements)
    )


def is_approved(text: str, trail: Trail, state: WorkState) -> bool:
    """Whether the user's next prompt after the agent said this agrees with it."""
    proposals = (one for one in state.statements if one.section in _PROPOSALS)
    utterances = (*trail.statements, *(Utterance(one.text, one.at) for one in proposals))
    return any(
        _agrees(_answer(trail, utterance.at)) for utterance in utterances if _covers(utterance.text, text)
    )


def uncertainty(text: str) -> str:
    """Why a text is uncertain: an assumption, or the state of an external system; empty if it is certain."""
    if _HEDGE.search(text):
        return ASSUMED
    return OUTSIDE if _OUTSIDE.search(text) and _STATUS.search(text) else ""


def is_by_rule(entry: LedgerEntry) -> bool:
    """Whether one of these rules set the mark of an entry, not its author."""
    return entry.unconfirmed and entry.why in _REASONS


def file_doubts(
    listed: Iterable[LedgerEntry],
    touched: Mapping[str, int],
    states: Iterable[FileState],
    changed_at: int,
    saved_at: int,
) -> Mapping[str, str]:
    """How each file, by its key, changed since it was left; empty if it did not, missing if that is unknown.

    `touched` says when the session last touched a file. A listed file that is marked stays marked until the
    session touches it again. Others are compared with the session's last work and the ledger's last save.
    """
    marks = {key_of(entry.text): entry.unconfirmed for entry in listed}
    doubts: dict[str, str] = {}
    for state in states:
        key = key_of(state.path)
        seen_at = touched.get(key, 0)
        left_at = max(changed_at if key in touched else 0, saved_at if key in marks else 0)
        if not state.exists:
            doubts[key] = GONE
        elif marks.get(key):
            doubts[key] = "" if state.modified_at <= seen_at + EDIT_GRACE_MS else CHANGED
        else:
            doubts[key] = CHANGED if state.modified_at > left_at + EDIT_GRACE_MS else ""
    return doubts


def _if_uncertain(entry: LedgerEntry) -> LedgerEntry:
    why = uncertainty(entry.text)
    return LedgerEntry(entry.text, unconfirmed=True, why=why) if why and not entry.unconfirmed else entry


def _answer(trail: Trail, at: int) -> str:
    """The user's next prompt."""
    return next((prompt.text for prompt in trail.prompts if prompt.at > at), "")


def _agrees(prompt: str) -> bool:
    first = re.split(r"[.!?。！？\n]", prompt.strip(), maxsplit=1)[0]
    return bool(_ASSENT.match(prompt.strip())) and not _BUT.search(first)


def _covers(source: str, text: str) -> bool:
    """Whether `source` has nearly all content words of `text`."""
    words, source_words = _words(text), _words(source)
    return len(words) >= _FEWEST and len(words & source_words) >= _SHARE * len(words)


def _words(text: str) -> frozenset[str]:
    """The content words of a text, without those that only say that something was chosen."""
    return frozenset(query_terms(text.replace("`", ""), _MOST_WORDS).lower().split()) - _CHOOSING


_PROPOSALS: Final = (Section.DECISIONS, Section.QUESTIONS)
_REASONS: Final = frozenset({INFERRED, NOT_APPROVED, OUTSIDE, ASSUMED, CHANGED, GONE})
_FEWEST: Final = 2
_SHARE: Final = 0.8
_MOST_WORDS: Final = 400
_CHOOSING: Final = frozenset(
    "chose chosen choose decide decided decision went opted picked i'll we'll".split()
)
_ASSENT: Final = compiled(
    r"(?:yes|yep|yeah|ok(?:ay)?|sure|agreed?|approved?|lgtm|(?:sounds|looks) (?:good|right|fine)|go ahead"
    r"|go for it|do (?:it|that|so)|please do|(?:that['’]s )?(?:right|correct|fine)|confirmed|exactly|perfect"
    r")\b|(?:好的?|可以|同意|是的|对的?|行|没问题)(?:[\s，。！,.!]|$)",
    re.IGNORECASE,
)
_BUT: Final = compiled(
    r"\b(?:but|however|except|instead|rather|no|not|don['’]t|unless|wait)\b|但|不", re.IGNORECASE
)
_HEDGE: Final = compiled(
    r"\b(?:probably|presumably|apparently|maybe|perhaps|likely|assum(?:e|ing|ed)|i (?:think|guess|believe)"
    r"|not sure|unsure|might|seems?|should (?:be|work|now)|unverified|untested)\b"
    r"|(?:not|n['’]t) (?:yet )?(?:verified|tested|checked)\b|可能|大概|也许|应该",
    re.IGNORECASE,
)
_OUTSIDE: Final = compiled(
    r"https?://|\b(?:apis?|services?|servers?|endpoints?|ci|pipelines?|deploy(?:s|ed|ment)?|staging|production"
    r"|upstream|registry|webhooks?|third[- ]party|dns|certificates?|quota|remote)\b",
    re.IGNORECASE,
)
_STATUS: Final = compiled(
    r"\b(?:up|down|(?:un)?available|(?:un)?reachable|online|offline|timeouts?|timed out|rate[- ]limit\w*"
    r"|outage|flaky|deployed|live|returns?|respond\w*|expired|pending|fail(?:s|ed|ing)?|5\d\d|429"
    r"|connection (?:refused|reset))\b",
    re.IGNORECASE,
)
