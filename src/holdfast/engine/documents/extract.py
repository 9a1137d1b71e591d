"""Extract: a session's content for the continuity, by rules or, if the settings say so, by a model.

The rules always run first: a model is given their result, its answer is checked against it, and if the answer
is unusable, the rules' result is used and the reason noted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.agent_log.summary import Failed
from holdfast.core.documents.continuity_model import answer, answer_schema, question
from holdfast.core.documents.continuity_summary import Author, GeneratedSummary, confidence, generated
from holdfast.core.session.session import Session
from holdfast.engine.documents import continuity_source
from holdfast.engine.documents.continuity_source import Source
from holdfast.engine.engine import Engine
from holdfast.engine.models.rewrite_checkpoints import conversation_turns
from holdfast.engine.models.summarize import Means, Question, ask
from holdfast.lazy_dataclass import dataclass

HEURISTIC: Final = "heuristic"
MODEL: Final = "model"
NOTHING_TO_ASK: Final = "there is too little in the session to ask a model about"


@dataclass(frozen=True, slots=True)
class Extracted:
    """A session's content for the layers, the configured and the actual method, and why they differ."""

    generated: GeneratedSummary
    configured: str
    preferred: str
    actual: str
    fallback: str = ""


def extract(engine: Engine, session: Session, source: Source, means: Means) -> Extracted:
    """A session's content, by the method that the settings prefer, or else by the rules."""
    configured = engine.config(session.project).continuity.extractor
    rules = generated(session)
    if configured != MODEL:
        return Extracted(rules, configured, HEURISTIC, HEURISTIC)
    written = _by_model(engine, session, source, rules, means)
    if not isinstance(written, Failed):
        return Extracted(written, configured, MODEL, MODEL)
    doubtful = confidence(Author.STAND_IN, rules.counts, rules.warnings)
    return Extracted(replace(rules, confidence=doubtful), configured, MODEL, HEURISTIC, written.reason)


def _by_model(
    engine: Engine, session: Session, source: Source, rules: GeneratedSummary, means: Means
) -> GeneratedSummary | Failed:
    if not rules.counts.total:
        return Failed(NOTHING_TO_ASK)
    events = continuity_source.events(engine, source)
    prompt = Question(question(session, tuple(conversation_turns(events))), session.model, answer_schema())
    return ask(engine, session.project, prompt, lambda text, _: answer(text, session, rules), means)
