"""Turn: what is decided and said before the next request of an agent log's session.

How full the window will be, whether the model is told, and whether the agent is asked to write down what must
last. Nothing is compacted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.agent_log.context import FLUSH, GAUGE, is_gauge, window_of
from holdfast.core.agent_log.record_bodies import (
    Block,
    BranchSummary,
    Compaction,
    Content,
    CustomMessage,
    Message,
    Reset,
    body,
    text_of,
)
from holdfast.core.agent_log.records import COMPACTION, CUSTOM_MESSAGE, MESSAGE, RESET, Record, new_record
from holdfast.core.session import agent_prompts
from holdfast.core.session.agent_prompts import FlushPolicy
from holdfast.core.session.pressure import Threshold, capacity, factor_of, gauge
from holdfast.core.session.session import Session
from holdfast.engine.agent_log.append import Appended, Owner, append
from holdfast.engine.briefing.pressure_warning import Fill, is_shown
from holdfast.engine.engine import Engine

IMAGE_TOKENS: Final = 1_500
"""About the tokens that a provider counts for an image of the usual size."""


def fill_of(engine: Engine, owner: Owner, session: Session, path: Sequence[Record]) -> Fill:
    """How full the window is: the last count of this window, and an estimate for what came since."""
    models = engine.policy(owner.project).models
    used, since = _counted(path)
    texts = [text for record in since for text in _texts(record)]
    if not used:
        texts.append(window_of(path).summary)
    count = engine.counter()
    # Without a counter, four characters a token is the usual estimate.
    counted = count(texts) if count else sum(map(len, texts)) // 4
    images = IMAGE_TOKENS * sum(map(_images, since))
    sent = int(counted * factor_of(session.pressure.model, models)) + images
    return Fill(used + sent, owner.window or capacity(session.pressure, models))


def system_line(engine: Engine, owner: Owner, fill: Fill) -> str:
    """The line for the system prompt at this fill; mostly empty."""
    asking = engine.policy(owner.project).flush
    if not asking.enabled or not asking.show_in_system_prompt:
        return ""
    return next((one.text for one in reversed(_passed(asking, fill)) if not one.is_urgent), "")


def gauge_record(engine: Engine, owner: Owner, path: Sequence[Record], fill: Fill, id: str) -> Record | None:
    """The line after a prompt that tells the model how full its window is, if it is due.

    It is a record of the log: a system prompt that changes with every request would defeat the providers'
    caches. After a compaction it is repeated, because the earlier one is not sent any more.
    """
    if not path or not (_is_prompt(path[-1]) or (_compacts(path[-1]) and any(map(is_gauge, path)))):
        return None
    if not is_shown(fill, engine.config(owner.project).pressure):
        return None
    fields = {"customType": GAUGE, "content": gauge(fill.used, fill.capacity), "display": False}
    return new_record(CUSTOM_MESSAGE, id, path[-1].id, engine.clock(), fields)


def urgent(
    engine: Engine, owner: Owner, session: Session, path: Sequence[Record], fill: Fill
) -> Threshold | None:
    """What to ask the agent now, if it was not asked yet: once in a window, or once with every prompt."""
    asking = engine.policy(owner.project).flush
    due = [one for one in _passed(asking, fill) if one.is_urgent] if asking.enabled else []
    if not due:
        return None
    was_asked = due[-1].percent in session.flush.asked
    again = not asking.once_per_window and bool(path) and _is_prompt(path[-1])
    return due[-1] if not was_asked or again else None


def ask(engine: Engine, owner: Owner, path: Sequence[Record], threshold: Threshold, id: str) -> Appended:
    """Ask the agent, not in the user's name, and note that it was asked."""
    at = engine.clock()
    fields = {"customType": FLUSH, "content": threshold.text, "display": False}
    appended = append(
        engine, owner, (new_record(CUSTOM_MESSAGE, id, path[-1].id if path else "", at, fields),)
    )
    policy = engine.policy(owner.project).flush
    with engine.store.writing():
        session = engine.store.session(owner.key) or appended.session
        session = replace(session, flush=agent_prompts.after_asking(session.flush, policy, threshold, at))
        engine.store.put_session(session)
    return Appended(session, appended.records)


def _passed(policy: FlushPolicy, fill: Fill) -> list[Threshold]:
    """The thresholds that are passed at this fill, the most urgent last."""
    passed = [one for one in policy.thresholds if one.percent <= fill.percent]
    return sorted(passed, key=lambda one: one.percent)


def _counted(path: Sequence[Record]) -> tuple[int, Sequence[Record]]:
    """The model's last token count in this window, and the records since; other models' do not count."""
    for place in range(len(path) - 1, -1, -1):
        fields = body(path[place]) if path[place].type in (MESSAGE, COMPACTION, RESET) else None
        if isinstance(fields, Message) and fields.message.usage is not None and fields.message.usage.total:
            return fields.message.usage.total, path[place + 1 :]
        if isinstance(fields, Reset) or (isinstance(fields, Compaction) and not fields.owed.retells):
            break
    return 0, window_of(path).records


def _compacts(record: Record) -> bool:
    """Whether a record is a compaction; one that only has a better summary is not."""
    fields = body(record) if record.type == COMPACTION else None
    return isinstance(fields, Compaction) and not fields.owed.retells


def _is_prompt(record: Record) -> bool:
    fields = body(record)
    return isinstance(fields, Message) and fields.message.role == "user"


def _texts(record: Record) -> Iterator[str]:
    """The texts of a record that a model is sent."""
    match body(record):
        case Message(message=said):
            yield text_of(said.content)
            yield said.output or ""
            for block in _blocks(said.content):
                yield block.thinking or ""
                if block.type == "toolCall":
                    yield f"{block.name} {bytes(block.arguments).decode()}"
        case CustomMessage(content=content):
            yield text_of(content)
        case BranchSummary(summary=summary):
            yield summary or ""
        case _:
            pass


def _images(record: Record) -> int:
    fields = body(record)
    content = fields.message.content if isinstance(fields, Message) else None
    return sum(block.type == "image" for block in _blocks(content))


def _blocks(content: Content) -> Iterable[Block]:
    return content if isinstance(content, list) else ()
