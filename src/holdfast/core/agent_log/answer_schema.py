"""The schema of a model's answer as JSON Schema, for providers that enforce one.

It has the strict form that they require: every field is required, and no other is allowed. Answers are still
parsed leniently, because not every provider enforces the schema.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Schema: TypeAlias = dict[str, Any]


def strict_schema(answer: type[msgspec.Struct]) -> str:
    """The schema of an answer of that type, as JSON."""
    whole: Schema = msgspec.json.schema(answer)
    return msgspec.json.encode(_strict(whole, whole.get("$defs", {}))).decode()


def _strict(part: Schema, named: Schema) -> Schema:
    """A part of a schema with references resolved and descriptions left out."""
    if "$ref" in part:
        return _strict(named[part["$ref"].rpartition("/")[2]], named)
    if part.get("type") == "array":
        return {"type": "array", "items": _strict(part["items"], named)}
    if part.get("type") != "object":
        return {"type": part["type"]}
    fields = {name: _strict(field, named) for name, field in part["properties"].items()}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
