"""The reference page of the HTTP API, generated from the routes.

`python -m holdfast.daemon.api.reference > docs/reference/api.md` writes it; a test checks that it is current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from holdfast.daemon.api.app import described

Schema: TypeAlias = Mapping[str, Any]
_TITLE: Final = "# HTTP API"
_MADE: Final = "Made from the routes by `python -m holdfast.daemon.api.reference`; do not edit."
_EXAMPLE: Final = """\
```sh
curl -H "Authorization: Bearer $(holdfast token show)" "http://127.0.0.1:7433/api/checkpoints?limit=3"
```
"""


def reference() -> str:
    """The page."""
    spec = described().openapi()
    lines = [_TITLE, "", _MADE, "", spec["info"]["description"], _EXAMPLE]
    lines += ["`GET /api/openapi.json` tells the same to programs. What any route may answer instead:", ""]
    lines += _problems(spec)
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            lines += [
                "",
                f"## `{method.upper()} {path}`",
                "",
                str(operation["description"]),
                *_request_lines(operation),
            ]
            lines += _response_lines(operation)
    lines += ["", "# What is sent and answered", *_models(spec["components"]["schemas"])]
    return "\n".join(lines) + "\n"


def _problems(spec: Schema) -> Iterator[str]:
    any_route = next(iter(next(iter(spec["paths"].values())).values()))
    for status, response in any_route["responses"].items():
        if not status.startswith("2"):
            yield f"- **{status}** {response['description']}"


def _request_lines(operation: Schema) -> Iterator[str]:
    rows = [_parameter(parameter) for parameter in operation.get("parameters", ())]
    body = operation.get("requestBody")
    if body:
        rows.append(f"- the body: {_type(next(iter(body['content'].values()))['schema'])}")
    if rows:
        yield ""
        yield from rows


def _parameter(parameter: Schema) -> str:
    schema = parameter["schema"]
    default = schema.get("default")
    notes = [f"in the {parameter['in']}", _type(schema), *(["required"] if parameter.get("required") else [])]
    if default not in (None, "", []):
        notes.append(f"default {default}")
    return f"- `{parameter['name']}` ({', '.join(notes)}). {parameter.get('description', '')}".rstrip()


def _response_lines(operation: Schema) -> Iterator[str]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            kinds = [
                f"{_type(content['schema'])} as `{kind}`"
                for kind, content in response.get("content", {}).items()
            ]
            yield ""
            yield f"Answers {status}: {', '.join(kinds) or 'nothing'}."


def _models(schemas: Schema) -> Iterator[str]:
    for name, schema in schemas.items():
        if name.endswith("ValidationError"):
            continue
        yield from ("", f"## {name}", "", schema.get("description", ""))
        if "enum" in schema:
            yield from ("", "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".")
        fields = schema.get("properties", {})
        if fields:
            yield ""
        for field, definition in fields.items():
            line = f"- `{field}` ({_type(definition)}). {definition.get('description', '')}".rstrip()
            yield f"{line.removesuffix('.')}."


def _type(schema: Schema) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "any"))


if __name__ == "__main__":
    sys.stdout.write(reference())
