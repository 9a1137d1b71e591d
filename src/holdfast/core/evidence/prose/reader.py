"""Prose: what people and agents say in a text, read by rule, in English and in Chinese.

Every function returns whole sentences as they were written, without bullets and emphasis, each once, in
order. What is returned is shown to an agent as fact, so a rule that is not sure stays silent. The words the
rules look for stand in `core.evidence.prose.cues`. Not here: whose text it is, how long it matters, what it
becomes.
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
"""A sentence longer than this is something pasted; no rule looks at it."""
_WORDS: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[一-鿿]")


@dataclass(frozen=True, slots=True)
class Statements:
    """All that one text says, by kind."""

    decisions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    measurements: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def spoken(text: str) -> Statements:
    """Everything that an agent's text says, read once: cheaper than the single functions in a row."""
    hook_event = _heard(text)
    return Statements(
        decisions=_decisions(hook_event),
        next_steps=_next_steps(hook_event),
        untried=_said(hook_event, rules.UNTRIED),
        questions=_questions(hook_event),
        confirmed=_said(hook_event, rules.CONFIRMED),
        failures=_said(hook_event, rules.FAILURE),
        measurements=_measurements(hook_event),
        needs=_said(hook_event, NEED),
    )


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and list items of a text; code, tables, logs, quoted blocks and headings are left out."""
    return _each_once(statement.text for statement in statements(text))


def constraints(prompt: str) -> tuple[str, ...]:
    """The sentences of a person's prompt that bind the work, not the questions and the stories in it."""
    return _said(_heard(prompt), prompts.CONSTRAINT)


def decisions(text: str) -> tuple[str, ...]:
    """The sentences that state a choice, with its reason where one is given."""
    return _decisions(_heard(text))


def next_steps(text: str) -> tuple[str, ...]:
    """What is said to remain: in words, under a heading for it, or in an open box; never narration."""
    return _next_steps(_heard(text))


def untried(text: str) -> tuple[str, ...]:
    """Ideas that were named and not tried."""
    return _said(_heard(text), rules.UNTRIED)


def questions(text: str) -> tuple[str, ...]:
    """Questions put to the user or left open at the end; not those that the text asks itself."""
    return _questions(_heard(text))


def confirmed(text: str) -> tuple[str, ...]:
    """What is said to work, to pass or to be fixed; not what should, would or must."""
    return _said(_heard(text), rules.CONFIRMED)


def failures(text: str) -> tuple[str, ...]:
    """What was tried and is said to have failed."""
    return _said(_heard(text), rules.FAILURE)


def is_failing(failure: str) -> bool:
    """Whether a failure is one of this moment, and may be mended in the next; no attempt that failed."""
    folded = _folded(failure)
    return signs.FAILING.search(folded) is not None and not signs.ATTEMPT.search(folded)


def is_check(sentence: str) -> bool:
    """Whether a sentence says only that tests, a linter or a build pass, and nothing beside."""
    return signs.CHECK.fullmatch(_folded(sentence)) is not None


def needs(text: str) -> tuple[str, ...]:
    """What must be there before the work can be run: a service, a version, a variable, a first step."""
    return _said(_heard(text), NEED)


def measurements(text: str) -> tuple[str, ...]:
    """Sentences with a measured number and its unit; not line numbers, versions, dates, ports or limits."""
    return _measurements(_heard(text))


def asked(prompt: str) -> str:
    """What the user asks in a prompt that a program wrapped into instructions of its own; else all of it."""
    wrapped = list(prompts.WRAPPED.finditer(prompt))
    if not wrapped:
        return prompt
    quoted = '"' if prompt.startswith('"') else ""
    inside: str = wrapped[-1]["inside"] or prompt[wrapped[-1].end() :].rstrip().removesuffix(quoted)
    return inside.strip() or prompt


def is_generic(prompt: str) -> bool:
    """Whether a prompt names nothing one could go on with: it only says to, or asks how far the work is."""
    if len(prompt) > prompts.LONGEST_GENERIC:
        return False
    folded = _folded(prompt)
    return any(compiled(one).fullmatch(folded) for one in (prompts.GENERIC, prompts.PASSING))


def answers(prompt: str) -> bool:
    """Whether a prompt answers what it was asked: with yes or no, with a choice, or by saying to go on."""
    folded = _folded(prompt)
    if len(folded) > prompts.LONGEST_GENERIC or folded[-1:] in ("", "?", "？"):
        return False
    agrees = compiled(prompts.GENERIC).fullmatch(folded) and compiled(prompts.AGREEING).search(folded)
    return bool(agrees) or compiled(prompts.ANSWERING).match(folded) is not None


def choice(prompt: str, offer: str) -> str:
    """What the numbered item says that a prompt chooses among those of an offer, the last list first."""
    named = compiled(prompts.CHOICE).fullmatch(_folded(prompt))
    if named is None or len(prompt) > prompts.LONGEST_GENERIC:
        return ""
    found: list[str] = compiled(prompts.OFFERED.format(re.escape(named[1]))).findall(offer)
    said = sentences(found[-1]) if found else ()
    return said[0] if said else ""


def asks(sentence: str) -> bool:
    """Whether a sentence of a person asks for work or for an answer, be it in the words of a rule."""
    return compiled(prompts.ASKING).search(_folded(sentence)) is not None


def is_remark(sentence: str) -> bool:
    """Whether a sentence of a person only asks or tells how things are, be it in the words of a rule."""
    return compiled(prompts.REMARK).search(_folded(sentence)) is not None and not constraints(sentence)


def is_narration(sentence: str) -> bool:
    """Whether a text begins by telling only what the agent does in this moment or is about to do."""
    folded = _folded(sentence)
    return signs.NARRATION.match(folded) is not None or compiled(signs.INTENT).match(folded) is not None


class _Heard(NamedTuple):
    """A statement, its folded form, in which the rules are written, and the words that sift it."""

    statement: Statement
    folded: str
    words: frozenset[str]


def _heard(text: str) -> list[_Heard]:
    return [
        _Heard(statement, folded := _folded(statement.text), frozenset(_WORDS.findall(folded)))
        for statement in statements(text)
        if len(statement.text) <= LONGEST
    ]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'").strip()


def _said(hook_event: Sequence[_Heard], rule: Rule) -> tuple[str, ...]:
    """The statements that say what the rule looks for, or stand under a heading that says it for them."""
    return _each_once(
        statement.text
        for statement, folded, words in hook_event
        if (rule.is_said_in(folded, words) or (statement.under and rule.is_headed(statement.under, folded)))
        and not statement.is_lead_in
    )


def _decisions(hook_event: Sequence[_Heard]) -> tuple[str, ...]:
    """As `_said`; but what announces how something is done may well say why it is done so."""
    return _each_once(
        statement.text
        for statement, folded, words in hook_event
        if (DECISION.is_said_in(folded, words) and not signs.POINTS_ON.search(folded))
        or (statement.under and not statement.is_lead_in and DECISION.is_headed(statement.under, folded))
    )


def _next_steps(hook_event: Sequence[_Heard]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, words in hook_event
        if not statement.is_lead_in and _is_next_step(statement, folded, words)
    )


def _is_next_step(statement: Statement, folded: str, words: frozenset[str]) -> bool:
    if statement.box:
        return statement.box == " " and not statement.explains
    names_one = not statement.explains and not signs.NO_STEP.match(folded)
    headed = names_one and rules.NEXT_STEP.is_headed(statement.under, folded)
    return (headed or rules.NEXT_STEP.is_said_in(folded, words)) and not signs.NARRATION.match(folded)


def _questions(hook_event: Sequence[_Heard]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, _ in hook_event
        if signs.asks_user(folded)
        or (folded[-1] in "?？" and statement is hook_event[-1].statement and not signs.is_idle(folded))
        or not signs.OPEN_QUESTIONS.isdisjoint(statement.under)
    )


def _measurements(hook_event: Sequence[_Heard]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, _, _ in hook_event
        if not statement.is_lead_in and signs.holds_measure(statement.text)
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
