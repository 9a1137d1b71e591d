"""The shape of an answer is said so that a program can hold a model to it: everything there, nothing else."""

from __future__ import annotations

import json

import msgspec

from holdfast.core.agent_log import summary
from holdfast.core.agent_log.answer_schema import strict_schema
from holdfast.core.documents import continuity_model


class Inner(msgspec.Struct):
    number: int
    words: list[str] = msgspec.field(default_factory=list[str])


class Outer(msgspec.Struct, rename="camel"):
    """What is said of it is nobody's business."""

    one_inner: Inner
    title: str = ""


def test_what_it_is_made_of_is_written_out_and_all_of_it_is_required() -> None:
    inner = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "words": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["number", "words"],
        "additionalProperties": False,
    }
    assert json.loads(strict_schema(Outer)) == {
        "type": "object",
        "properties": {"oneInner": inner, "title": {"type": "string"}},
        "required": ["oneInner", "title"],
        "additionalProperties": False,
    }


def test_the_schemas_of_our_questions_name_what_the_questions_ask_for() -> None:
    for field in json.loads(summary.answer_schema())["properties"]:
        assert f'"{field}"' in summary.SCHEMA
    assert set(json.loads(continuity_model.answer_schema())["properties"]) == {"project", "projectLocal"}
