"""Items: the list that the user asked to work through, and how far each item is."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.evidence.prose.lists import ItemState, ListItem, items_in, plan_steps, taken_up
from holdfast.core.evidence.trail import ITEMS_KEPT, RequestedItem
from holdfast.core.text.strings import one_line, shortened

ITEM_CHARS = 240


def requested_items(prompt: str, at: int, record: str) -> tuple[RequestedItem, ...]:
    """The items of a prompt that is a list of requests."""
    return _open_items(items_in(prompt), at, record)


def planned_items(plan: str, at: int, record: str) -> tuple[RequestedItem, ...]:
    """The steps of a plan that the user approved."""
    return _open_items(plan_steps(plan), at, record)


def after_message(items: tuple[RequestedItem, ...], text: str) -> tuple[RequestedItem, ...]:
    """The items after a message of the agent, which may say how far some of them are."""
    if not items:
        return items
    states = taken_up([ListItem(item.label, item.text) for item in items], text)
    if not states:
        return items
    after: list[RequestedItem] = []
    for item in items:
        state = states.get(item.label, item.state)
        # Work that moved on to another item has finished the one before it.
        begun_another = ItemState.STARTED in states.values() and item.label not in states
        if begun_another and item.state is ItemState.STARTED:
            state = ItemState.DONE
        after.append(item if state is item.state else replace(item, state=state))
    return tuple(after)


def _open_items(items: tuple[ListItem, ...], at: int, record: str) -> tuple[RequestedItem, ...]:
    return tuple(
        RequestedItem(item.label, shortened(one_line(item.text), ITEM_CHARS), ItemState.OPEN, at, record)
        for item in items[:ITEMS_KEPT]
    )
