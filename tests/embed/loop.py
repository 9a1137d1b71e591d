"""Answers as a provider gives them, and settings, for tests of the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.embed import Session

Json: TypeAlias = dict[str, Any]


def write_settings(home: Path, **sections: dict[str, object]) -> None:
    """The settings of a home, section by section; JSON is TOML here but for the brackets around."""
    home.mkdir(parents=True, exist_ok=True)
    lines = [
        line
        for section, values in sections.items()
        for line in (
            f"[{section}]",
            *(f"{key} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)),
            *(
                f"{key}.{below} = {json.dumps(each)}"
                for key, value in values.items()
                if isinstance(value, dict)
                for below, each in value.items()
            ),
        )
    ]
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")


def said(text: str, tokens: int = 100, *calls: tuple[str, str, Json]) -> Json:
    """An answer of Anthropic's API that says this, took so many tokens, and calls these tools."""
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in calls]
    return {
        "model": "some-model",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": {"input_tokens": tokens - 10, "output_tokens": 10},
    }


def turns(session: Session, count: int, tokens: int = 100, start: int = 0) -> None:
    """So many questions, each with its answer; the last answer took so many tokens."""
    for number in range(start, start + count):
        session.ask(f"question {number}")
        session.answer(said(f"answer {number}", tokens))


def texts(messages: list[Json]) -> list[str]:
    """Every text of the messages, in their order."""
    return [block["text"] for message in messages for block in message["content"] if block["type"] == "text"]


def kinds(session: Session) -> list[str]:
    return [record.type for record in session.records]
