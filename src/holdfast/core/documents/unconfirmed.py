"""Mark what a ledger says that is not confirmed, by four rules.

A file may have changed outside of the session; a preference was inferred, not stated; a decision was made
without approval; the state of an external system is unknown. A mark is removed by evidence, never by time:
the file was read again, or the user said it or agreed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from holdfast.core.documents.ledger import Entry, Ledger, key_of
from holdfast.core.events.world import FileState
from holdfast.core.evidence.trail import NoteKind, Trail, Utterance
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import query_terms

INFERRED: Final = "inferred"
NOT_APPROVED: Final = "not approved"
OUTSIDE: Final = "status outside"
ASSUMED: Final = "assumed"
CHANGED: Final = "changed since"
GONE: Final = "gone since"
GRACE_MS: Final = 2_000
"""A harness records an edit a moment after the file was written."""


def doubted(ledger: Ledger, trail: Trail) -> Ledger:
    """An agent's ledger, with a mark on each preference and decision that the user has not confirmed."""
    return replace(
        ledger,
        constraints=tuple(_unless_settled(entry, trail, INFERRED) for entry in ledger.constraints),
        decisions=tuple(_unless_settled(entry, trail, NOT_APPROVED) for entry in ledger.decisions),
        done=tuple(map(_if_uncertain, ledger.done)),
        questions=tuple(map(_if_uncertain, ledger.questions)),
    )


def is_settled(text: str, trail: Trail) -> bool:
    """Whether the user said this, or agreed to it right after the agent had said it."""
    return is_stated(text, trail) or is_approved(text, trail)


def is_stated(text: str, trail: Trail) -> bool:
    """Whether the user said this in one prompt, rule or answer."""
    prompts = (utterance.text for utterance in (trail.first_prompt, trail.goal, *trail.prompts) if utterance)
    rules = (note.text for note in trail.notes if note.kind is NoteKind.CONSTRAINT or note.by_user)
    return any(
        key_of(utterance) == key_of(text) or _covers(utterance, text) for utterance in (*prompts, *rules)
    )


def is_approved(text: str, trail: Trail) -> bool:
    """Whether the user's next prompt after the agent said this agrees with it."""
    notes = (note for note in trail.notes if note.kind in (NoteKind.DECISION, NoteKind.QUESTION))
    utterances = (*trail.statements, *(Utterance(note.text, note.at) for note in notes))
    return any(
        _agrees(_answer(trail, utterance.at)) for utterance in utterances if _covers(utterance.text, text)
    )


def uncertainty(text: str) -> str:
    """Why a text is uncertain: an assumption, or the state of an external system; empty if it is certain."""
    if _HEDGE.search(text):
        return ASSUMED
    return OUTSIDE if _OUTSIDE.search(text) and _STATUS.search(text) else ""


def is_by_rule(entry: Entry) -> bool:
    """Whether one of these rules set the mark of an entry, not its author."""
    return entry.unconfirmed and entry.why in _REASONS


def file_doubts(
    listed: Iterable[Entry],
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
            doubts[key] = "" if state.modified_at <= seen_at + GRACE_MS else CHANGED
        else:
            doubts[key] = CHANGED if state.modified_at > left_at + GRACE_MS else ""
    return doubts


def _unless_settled(entry: Entry, trail: Trail, why: str) -> Entry:
    if entry.unconfirmed or is_settled(entry.text, trail):
        return entry
    return Entry(entry.text, unconfirmed=True, why=why)


def _if_uncertain(entry: Entry) -> Entry:
    why = uncertainty(entry.text)
    return Entry(entry.text, unconfirmed=True, why=why) if why and not entry.unconfirmed else entry


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
