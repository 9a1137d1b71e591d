"""The rows of briefs: the list, and one with where each of its sentences comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from holdfast.core.brief.brief_input import Item
from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Compacted, Event, Replied, TodoChanged, TodosChanged, ToolReturned
from holdfast.core.evidence.file_edits import project_path
from holdfast.core.text.strings import one_line, shortened
from holdfast.daemon.api.dependencies import Paging
from holdfast.daemon.dashboard.files import file_path
from holdfast.daemon.dashboard.frame import session_path
from holdfast.engine.engine import Engine
from holdfast.engine.ids import brief_named
from holdfast.engine.views import timeline
from holdfast.engine.views.serialisation import Row, TitleLookup, receipt_row, title_lookup
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

GOAL_CHARS: Final = 120
GOAL: Final = "Goal"
SAME_WINDOW_MS: Final = 300_000
EVENTS_LOOKED_AT: Final = 400
SAME_TIME_MOST: Final = 16
FORMER_MOST: Final = 16


def briefs(engine: Engine, paging: Paging) -> Row:
    """A page of the briefs that were given."""
    rows = engine.store.page_of_receipts("", paging.behind, paging.rows_to_fetch)
    titles = title_lookup(engine)
    return paging.page(
        rows,
        lambda receipt: PageMark(receipt.created_at, receipt.id),
        lambda receipt: _brief_row(receipt, titles),
    )


def _brief_row(receipt: Receipt, titles: TitleLookup) -> Row:
    """A brief as one line; its text and items are on its own page."""
    items = receipt.items
    row = {
        name: value for name, value in receipt_row(receipt, titles).items() if name not in ("text", "items")
    }
    counts = {"said": sum(item.rendered for item in items), "known": len(items)}
    return {**row, **counts, **_about(receipt, titles)}


def _about(receipt: Receipt, titles: TitleLookup) -> Row:
    """What a brief is about: the goal that it states, and the titles of its sessions."""
    goals = [item for item in receipt.items if item.rendered and item.section == GOAL]
    goal = max(goals, key=lambda item: item.score).text if goals else ""
    return {
        "goal": shortened(one_line(goal), GOAL_CHARS),
        "title": titles(receipt.session),
        "source_title": titles(receipt.predecessor) if receipt.predecessor else "",
    }


def one_brief(engine: Engine, id: str) -> tuple[Row, list[Row], str]:
    """A brief, its lines with where each is from, and the harness's own summary of the same window."""
    receipt, titles = brief_named(engine.store, id), title_lookup(engine)
    row = {**receipt_row(receipt, titles), **_about(receipt, titles)}
    return row, _brief_lines(engine, receipt), _summary(engine, receipt)


def _brief_lines(engine: Engine, receipt: Receipt) -> list[Row]:
    """The lines of a brief, each with the source of what it says."""
    rendered = [item for item in receipt.items if item.rendered and item.text]
    keys = list(_lineage(engine, receipt.predecessor or receipt.session))
    lines: list[Row] = []
    for line in receipt.text.splitlines():
        bare = line.removeprefix("- ").strip()
        whole = [one for one in rendered if one_line(one.text) == bare]
        items = whole or [one for one in rendered if bare and _says(bare, one)]
        lines.append({"text": line, **_origin(engine, keys, items)})
    return lines


def _lineage(engine: Engine, key: str) -> Iterator[str]:
    """A session and those whose work it inherited, the latest first."""
    seen: set[str] = set()
    while key and key not in seen and len(seen) < FORMER_MOST:
        seen.add(key)
        yield key
        lineage = engine.store.lineage(key)
        key = lineage.parent if lineage else ""


def _says(line: str, item: Item) -> bool:
    """Whether a line says an item, or is the list of files that the item is a part of."""
    if line.startswith(("#", "<")):
        return False
    return one_line(item.text) in line or line in one_line(item.text) or _is_listed(line, item)


def _is_listed(line: str, item: Item) -> bool:
    return bool(item.lead) and line.startswith(f"{item.lead}: ")


def _origin(engine: Engine, keys: list[str], items: list[Item]) -> Row:
    """Where the first item that a line says comes from, and the address of that; many files have none."""
    if not items:
        return {"origin": "", "href": "", "at": None}
    item = items[0]
    at = to_iso(item.at) if item.at else None
    event = _event_of(engine, keys, item)
    if event is not None:
        kind = timeline.of_event(event).kind
        origin = _ORIGINS_OF_KINDS.get(item.kind) or _ORIGINS.get(kind, kind)
        href = f"{session_path(event.session, point=event.record)}#detail"
        return {"origin": origin, "href": href, "at": at}
    origin = _ORIGINS_OF_KINDS.get(item.kind, "")
    if item.kind not in _FILES:
        return {"origin": origin, "href": "", "at": at if origin and item.kind not in _NOW else None}
    if len(items) > 1:
        return {"origin": _FILES[item.kind], "href": "", "at": None}
    return {"origin": origin, "href": _history_of(engine, keys[0], item.source), "at": at}


def _event_of(engine: Engine, keys: list[str], item: Item) -> Event | None:
    """The event that an item comes from: by its record or, of what has none, by the time."""
    if item.source:
        events_named = (timeline.event_named(engine, key, item.source) for key in keys)
        return next((event for event in events_named if event is not None), None)
    if not item.at or item.kind not in _BY_TIME:
        return None
    mark = PageMark(item.at + 1, "")
    events = (event for key in keys for event in engine.store.page_of_events(key, mark, SAME_TIME_MOST))
    return next((event for event in events if event.at == item.at and isinstance(event, _RESULTS)), None)


def _history_of(engine: Engine, key: str, path: str) -> str:
    """The address of the page that says why a file was changed."""
    session = engine.store.session(key)
    project = session.project if session else None
    return file_path(project.project_id, project_path(path, project.root)) if project else ""


_ORIGINS: Final = {
    "prompt": "you",
    "statement": "agent",
    "tool": "command",
    "result": "command",
    "todos": "to-do list",
    "compaction": "harness's summary",
    "digest": "agent's digest",
    "subagent": "subagent",
}


_ORIGINS_OF_KINDS: Final = {
    "reply": "you",
    "since": "the files now",
    "git": "git now",
    "todo": "to-do list",
    "check": "command",
    "edit": "file edited",
    "read": "file read",
    "query": "suggested search",
}
"""What an item of a brief comes from, where that is no record."""
_NOW: Final = frozenset({"since", "git", "query"})
_FILES: Final = {"edit": "files edited", "read": "files read"}
_BY_TIME: Final = frozenset({"check", "reply", "todo"})
_RESULTS: Final = (ToolReturned, TodosChanged, TodoChanged, Replied)


def _summary(engine: Engine, receipt: Receipt) -> str:
    behind = PageMark(receipt.created_at + SAME_WINDOW_MS, "")
    events = engine.store.page_of_events(receipt.session, behind, EVENTS_LOOKED_AT)
    return next((event.summary for event in events if isinstance(event, Compacted) and event.summary), "")
