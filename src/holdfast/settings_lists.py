"""List settings: read from a file or a variable, and written as TOML.

`settings` says which settings there are and what their lists hold.
"""

from __future__ import annotations

import json
from typing import cast

from holdfast.core.session.pressure import Delivery, KnownModel, Threshold
from holdfast.settings import Setting, Value


def checked_list(setting: Setting, raw: object) -> Value | None:
    """The list from a file if the setting allows it, otherwise None."""
    if setting.of is KnownModel:
        return _windows(setting, raw)
    if not isinstance(raw, list):
        return None
    items = cast("list[object]", raw)
    if setting.of is int:
        numbers = tuple(item for item in items if _fits(setting, item))
        return cast("tuple[int, ...]", numbers) if len(numbers) == len(items) else None
    if setting.of is Threshold:
        found = tuple(one for item in items if (one := _threshold(setting, item)))
        return found if len(found) == len(items) else None
    texts = tuple(item for item in items if isinstance(item, str) and item.strip())
    return texts if len(texts) == len(items) else None


def list_in_text(setting: Setting, text: str) -> object:
    """The list that a file would hold for this environment variable's text; None if it holds none."""
    if setting.of in (KnownModel, Threshold):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    items = [item.strip() for item in text.split(",")] if text else []
    if setting.of is int:
        return [int(item) if item.isdecimal() else item for item in items]
    return items


def toml_list(setting: Setting) -> str:
    """A list setting's default, in TOML."""
    items = cast("tuple[object, ...]", setting.default)
    if setting.of is KnownModel:
        return "{ " + ", ".join(map(_item, items)) + " }" if items else "{}"
    return "[" + ", ".join(map(_item, items)) + "]"


def quoted(text: str) -> str:
    """A text as a one-line TOML string, which is also a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _item(item: object) -> str:
    if isinstance(item, Threshold):
        return (
            f'{{ percent = {item.percent}, prompt = {quoted(item.prompt)}, inject_as = "{item.inject_as}" }}'
        )
    return quoted(item) if isinstance(item, str) else str(item)


def _windows(setting: Setting, raw: object) -> tuple[KnownModel, ...] | None:
    named = cast("dict[str, object]", raw) if isinstance(raw, dict) else {"": None}
    fit = all(name.strip() and _fits(setting, tokens) for name, tokens in named.items())
    return tuple(KnownModel(name, cast("int", tokens)) for name, tokens in named.items()) if fit else None


def _threshold(setting: Setting, raw: object) -> Threshold | None:
    if not isinstance(raw, dict):
        return None
    row = cast("dict[str, object]", raw)
    percent, prompt, kind = row.get("percent"), row.get("prompt"), row.get("inject_as", Delivery.MARKED)
    if not _fits(setting, percent) or not isinstance(prompt, str) or kind not in frozenset(Delivery):
        return None
    known = row.keys() <= {"percent", "prompt", "inject_as"} and prompt.strip()
    return Threshold(cast("int", percent), prompt, Delivery(str(kind))) if known else None


def _fits(setting: Setting, number: object) -> bool:
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return is_number and setting.low <= cast("int", number) <= setting.high
