"""Prose: what users and agents say in a text, read by rule, in English and Chinese.

Functions that return sentences return them whole and in order, each once, without bullets and emphasis. They
are shown to an agent as facts, so a rule matches only if it is sure. `cues` has the words that the rules look
for. Not here: who wrote a text, how long it matters, what it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from holdfast.core.evidence.prose import cues as rules
from holdfast.core.evidence.prose import prompts, signs
from holdfast.core.evidence.prose.cues import Rule, compiled
from holdfast.core.evidence.prose.decisions import DECISION
from holdfast.core.evidence.prose.needs import NEED
from holdfast.core.evidence.prose.sentences import Statement, statements
from holdfast.lazy_dataclass import dataclass

LONGEST: Final = 1_200
"""A sentence longer than this is pasted text; no rule is applied to it."""
_WORDS: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[一-鿿]")


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of one text, by kind."""

    decisions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    measurements: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def spoken(text: str) -> Statements:
    """All statements of an agent's text, parsed once: cheaper than calling the single functions."""
    candidates = _candidates(text)
    return Statements(
        decisions=_decisions(candidates),
        next_steps=_next_steps(candidates),
        untried=_matching(candidates, rules.UNTRIED),
        questions=_questions(candidates),
        confirmed=_matching(candidates, rules.CONFIRMED),
        failures=_matching(candidates, rules.FAILURE),
        measurements=_measurements(candidates),
        needs=_matching(candidates, NEED),
    )


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and list items of a text; code, tables, logs, quoted blocks and headings are left out."""
    return _each_once(statement.text for statement in statements(text))


def constraints(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt that are rules for the work; no questions, no reports."""
    return _matching(_candidates(prompt), prompts.CONSTRAINT)


def decisions(text: str) -> tuple[str, ...]:
    """The sentences that state a choice, with its reason if there is one."""
    return _decisions(_candidates(text))


def next_steps(text: str) -> tuple[str, ...]:
    """What remains to be done: in words, under a heading, or as an open checkbox; never narration."""
    return _next_steps(_candidates(text))


def untried(text: str) -> tuple[str, ...]:
    """Ideas that were named and not tried."""
    return _matching(_candidates(text), rules.UNTRIED)


def questions(text: str) -> tuple[str, ...]:
    """Questions to the user, or left open at the end; no rhetorical ones."""
    return _questions(_candidates(text))


def confirmed(text: str) -> tuple[str, ...]:
    """What is reported to work, pass or be fixed; not what should, would or must."""
    return _matching(_candidates(text), rules.CONFIRMED)


def failures(text: str) -> tuple[str, ...]:
    """What was tried and is reported as failed."""
    return _matching(_candidates(text), rules.FAILURE)


def is_failing(failure: str) -> bool:
    """Whether a failure is a current state, which may be fixed next, and not a failed attempt."""
    folded = _folded(failure)
    return signs.FAILING.search(folded) is not None and not signs.ATTEMPT.search(folded)


def is_check(sentence: str) -> bool:
    """Whether a sentence says only that tests, a linter or a build pass."""
    return signs.CHECK.fullmatch(_folded(sentence)) is not None


def needs(text: str) -> tuple[str, ...]:
    """What is required to run the work: a service, a version, a variable, a first step."""
    return _matching(_candidates(text), NEED)


def measurements(text: str) -> tuple[str, ...]:
    """Sentences with a measured number and its unit; not line numbers, versions, dates, ports or limits."""
    return _measurements(_candidates(text))


def asked(prompt: str) -> str:
    """The user's words in a prompt that a program wrapped in its own instructions; otherwise all of it."""
    wrapped = list(prompts.WRAPPED.finditer(prompt))
    if not wrapped:
        return prompt
    quoted = '"' if prompt.startswith('"') else ""
    inside: str = wrapped[-1]["inside"] or prompt[wrapped[-1].end() :].rstrip().removesuffix(quoted)
    return inside.strip() or prompt


def is_generic(prompt: str) -> bool:
    """Whether a prompt says nothing about the work: it only says to continue, or asks about the progress."""
    if len(prompt) > prompts.LONGEST_GENERIC:
        return False
    folded = _folded(prompt)
    return any(compiled(pattern).fullmatch(folded) for pattern in (prompts.GENERIC, prompts.PASSING))


def answers(prompt: str) -> bool:
    """Whether a prompt is an answer: yes or no, a choice, or a request to continue."""
    folded = _folded(prompt)
    if len(folded) > prompts.LONGEST_GENERIC or folded[-1:] in ("", "?", "？"):
        return False
    agrees = compiled(prompts.GENERIC).fullmatch(folded) and compiled(prompts.AGREEING).search(folded)
    return bool(agrees) or compiled(prompts.ANSWERING).match(folded) is not None


def choice(prompt: str, offer: str) -> str:
    """The text of the numbered item that a prompt chooses from an offer; the last list counts first."""
    number = compiled(prompts.CHOICE).fullmatch(_folded(prompt))
    if number is None or len(prompt) > prompts.LONGEST_GENERIC:
        return ""
    items: list[str] = compiled(prompts.OFFERED.format(re.escape(number[1]))).findall(offer)
    item_sentences = sentences(items[-1]) if items else ()
    return item_sentences[0] if item_sentences else ""


def asks(sentence: str) -> bool:
    """Whether a user's sentence asks for work or an answer, even if it is worded like a rule."""
    return compiled(prompts.ASKING).search(_folded(sentence)) is not None


def is_remark(sentence: str) -> bool:
    """Whether a user's sentence is only a question or a report, even if it is worded like a rule."""
    return compiled(prompts.REMARK).search(_folded(sentence)) is not None and not constraints(sentence)


def is_narration(sentence: str) -> bool:
    """Whether a text begins with what the agent is doing or about to do."""
    folded = _folded(sentence)
    return signs.NARRATION.match(folded) is not None or compiled(signs.INTENT).match(folded) is not None


class _Candidate(NamedTuple):
    """A statement, its folded form, which the rules are written for, and its words for a quick check."""

    statement: Statement
    folded: str
    words: frozenset[str]


def _candidates(text: str) -> list[_Candidate]:
    return [
        _Candidate(statement, folded := _folded(statement.text), frozenset(_WORDS.findall(folded)))
        for statement in statements(text)
        if len(statement.text) <= LONGEST
    ]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'").strip()


def _matching(candidates: Sequence[_Candidate], rule: Rule) -> tuple[str, ...]:
    """The statements that match the rule, or are under a heading of the rule."""
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if (
            rule.matches(folded, words) or (statement.under and rule.matches_heading(statement.under, folded))
        )
        and not statement.is_lead_in
    )


def _decisions(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    """Like `_matching`, but includes lead-ins, which may give the reason for a choice."""
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if (DECISION.matches(folded, words) and not signs.POINTS_ON.search(folded))
        or (
            statement.under and not statement.is_lead_in and DECISION.matches_heading(statement.under, folded)
        )
    )


def _next_steps(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if not statement.is_lead_in and _is_next_step(statement, folded, words)
    )


def _is_next_step(statement: Statement, folded: str, words: frozenset[str]) -> bool:
    if statement.box:
        return statement.box == " " and not statement.explains
    names_one = not statement.explains and not signs.NO_STEP.match(folded)
    headed = names_one and rules.NEXT_STEP.matches_heading(statement.under, folded)
    return (headed or rules.NEXT_STEP.matches(folded, words)) and not signs.NARRATION.match(folded)


def _questions(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, _ in candidates
        if signs.asks_user(folded)
        or (folded[-1] in "?？" and statement is candidates[-1].statement and not signs.is_idle(folded))
        or not signs.OPEN_QUESTIONS.isdisjoint(statement.under)
    )


def _measurements(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, _, _ in candidates
        if not statement.is_lead_in and signs.holds_measure(statement.text)
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
