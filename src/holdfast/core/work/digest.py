"""Put an agent's digest into the work state: the agent's own sentences lead, and what happened since follows.

In every section that the digest fills, it replaces what rules found up to its time. What the user said stays,
and so does what has no time of its own, such as the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, TypeAlias

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Utterance
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import shortened
from holdfast.core.work.state import TITLE_CHARS, Statement, StatementSource, WorkState
from holdfast.core.work.wording import StatementWords, is_reported_done, says_the_same, wording_of
from holdfast.core.work.written import sections_in

DIGEST_WORTH: Final = 0.9
STATEMENT_CHARS: Final = 240
"""A longer paragraph is split into its sentences, so that a small document can show one of them."""

_WordsOf: TypeAlias = Callable[[str], StatementWords]
_OPEN: Final = (Section.NOW, Section.NEXT, Section.QUESTIONS, Section.FAILURES)
"""Sections whose statements end when later work finishes, answers or mends them."""
_SENTENCE_GAP: Final = compiled(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.) +(?=[A-Z“\"`(*])|(?<=[。！？])"
)


def with_digest(state: WorkState, digest: Utterance) -> WorkState:
    """The work state in which this digest speaks for everything up to its time."""
    # Every statement is compared with many others.
    wording = cache(wording_of)
    written = list(_statements(digest))
    sections = {statement.section for statement in written}
    since = [one for one in state.statements if one.at > digest.at]
    before = [one for one in state.statements if one.at <= digest.at]
    replaced = [one for one in before if one.section in sections and _gives_way(one, written, wording)]
    standing = [one for one in written if not _is_over(one, since, wording)]
    leading = _with_origin(standing, replaced, wording)
    gone = set(replaced)
    unaffected = [one for one in before if one not in gone]
    order = list(Section)
    # Sorting keeps the order of equals: the digest comes before anything else of its time.
    ordered = sorted((*leading, *unaffected, *since), key=lambda one: (order.index(one.section), one.at))
    return WorkState(state.title or _title(written), tuple(ordered))


def _statements(digest: Utterance) -> Iterator[Statement]:
    """The sentences of a digest, each once; without a known heading they say what is going on now."""
    seen: set[tuple[Section, str]] = set()
    for section, text in sections_in(digest.text):
        for sentence in _sentences(text):
            key = section or Section.NOW, sentence
            # A line that ends with a colon only announces what is below it.
            if key not in seen and not sentence.endswith((":", "：")):
                seen.add(key)
                yield Statement(
                    *key, digest.at, digest.record, worth=DIGEST_WORTH, origin=StatementSource.DIGEST
                )


def _sentences(text: str) -> list[str]:
    if len(text) <= STATEMENT_CHARS:
        return [text]
    return [sentence for piece in _SENTENCE_GAP.split(text) if (sentence := piece.strip())]


def _gives_way(statement: Statement, written: Sequence[Statement], wording: _WordsOf) -> bool:
    """Whether the digest replaces an earlier statement of a section that it fills."""
    if not statement.at:
        return False
    return not statement.by_user or any(_repeats(one, statement, wording) for one in written)


def _repeats(statement: Statement, other: Statement, wording: _WordsOf) -> bool:
    is_same_section = statement.section is other.section
    return is_same_section and says_the_same(wording(statement.text), wording(other.text))


def _is_over(statement: Statement, since: Sequence[Statement], wording: _WordsOf) -> bool:
    """Whether later statements repeat one of the digest, or show that it is finished or answered."""
    if any(_repeats(one, statement, wording) for one in since):
        return True
    if statement.section not in _OPEN:
        return False
    answers = (Section.DECISIONS, Section.RULES) if statement.section is Section.QUESTIONS else ()
    reports = [
        wording(one.text)
        for one in since
        if one.section is Section.DONE or (one.by_user and one.section in answers)
    ]
    return is_reported_done(wording(statement.text), reports)


def _with_origin(
    written: Sequence[Statement], replaced: Sequence[Statement], wording: _WordsOf
) -> Iterator[Statement]:
    """The digest's statements, marked as the user's where they repeat what the user said.

    The first of each section names the records that the digest replaces there.
    """
    named: set[Section] = set()
    for statement in written:
        older = [one for one in replaced if one.section is statement.section]
        by_user = any(one.by_user and _repeats(statement, one, wording) for one in older)
        records = dict.fromkeys(record for one in older for record in (*one.supersedes, one.source))
        others = tuple(one for one in records if one not in ("", statement.source))
        supersedes = () if statement.section in named else others
        named.add(statement.section)
        yield replace(statement, by_user=by_user, supersedes=supersedes)


def _title(written: Sequence[Statement]) -> str:
    goal = next((one.text for one in written if one.section is Section.GOAL), "")
    return shortened(goal, TITLE_CHARS)
