"""Answer schema: the shape of an answer in the words of JSON Schema, for programs that hold a model to it.

In the strict form that such programs ask for: every field has to be there, and no other may. An answer is
read leniently all the same, for not every model is held to anything.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Schema: TypeAlias = dict[str, Any]


def strict_schema(answer: type[msgspec.Struct]) -> str:
    """The schema of an answer of that kind, as JSON."""
    whole: Schema = msgspec.json.schema(answer)
    return msgspec.json.encode(_strict(whole, whole.get("$defs", {}))).decode()


def _strict(part: Schema, named: Schema) -> Schema:
    """A part of a schema with what it refers to written out; what only describes it is left out."""
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
