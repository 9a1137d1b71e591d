"""Summarize: the small model, then the session's own, then a reason; never more than a day may cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from holdfast.core.agent_log.context import AgentTurn, Result, Text, ToolCall, UserTurn
from holdfast.core.agent_log.summary import Failed, Material, Written
from holdfast.core.events.event import Action
from holdfast.core.evidence.trail import CommandRun, FileTouch, Trail
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means, ModelUse, day_of, days_until, is_configured, summarize
from holdfast.engine.repository.git import identity
from holdfast.settings import Checkpoint, Config, Models
from tests.engine.stage import HOUR, NOON, Stage
from tests.models.api_server import ApiServer, Said, anthropic, openai

GOOD = "## Goal\n- Fix the parser.\n## Done\n- The tests pass.\n## Questions\n- Which encoding?"
TRAIL = Trail(
    files=(FileTouch("parser.c", Action.EDIT, 1, NOON),),
    commands=(CommandRun("make test", NOON, ok=True),),
)
MATERIAL = Material(
    "It began well.",
    (
        UserTurn((Text("Fix the parser."),)),
        AgentTurn((Text("I look."), ToolCall("c", "bash", "{}")), (Result("c", (Text("ok"),), ok=True),)),
    ),
    TRAIL,
    "main-model",
)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


@dataclass
class Asking:
    """A caller that asks for summaries, on a stage with these settings."""

    stage: Stage
    settings: Models
    model: str = "anthropic/small"
    fallback: bool = False
    environment: dict[str, str] = field(default_factory=dict[str, str])
    pauses: list[float] = field(default_factory=list[float])

    def ask(self, material: Material = MATERIAL) -> Written | Failed:
        checkpoint = Checkpoint(model=self.model, fallback_to_main=self.fallback)
        self.stage.config = Config(checkpoint=checkpoint, models=self.settings)
        engine: Engine = replace(self.stage.engine(), home=self.stage.home / "holdfast")
        project = identity(self.stage.project("app"))
        return summarize(engine, project, material, Means(self.environment, self.pauses.append))

    def spent(self) -> dict[str, ModelUse]:
        return day_of(self.stage.store, self.stage.now).models


@pytest.fixture
def asking(stage: Stage, server: ApiServer) -> Asking:
    return Asking(stage, Models(base_url=server.url, key="k", timeout_seconds=20))


def test_an_answer_that_is_as_asked_is_a_summary(asking: Asking, server: ApiServer) -> None:
    server.script(anthropic(GOOD))
    written = asking.ask()
    assert isinstance(written, Written)
    assert written.text == GOOD
    assert (written.model, written.open_questions) == ("anthropic/small", ("Which encoding?",))
    assert asking.spent() == {"anthropic/small": ModelUse(asked=1, sent=100, given=10)}


def test_what_a_model_is_sent_holds_no_secret(asking: Asking, server: ApiServer) -> None:
    key = "ghp_" + "aB3dE6" * 6
    server.script(anthropic(GOOD))
    asking.ask(replace(MATERIAL, turns=(UserTurn((Text(f"the token is {key}"),)),)))
    assert key not in str(server.seen[0].body)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        ("I would rather not.", "the answer has none of the sections"),
        ("## Done\n" + "- The tests pass.\n" * 400, "the answer has 7,207 characters, more than 6,000"),
        ("## Done\n- `make test` failed.", "no sentence of the answer agrees with the session"),
    ],
)
def test_an_answer_that_is_of_no_use_is_refused(
    asking: Asking, server: ApiServer, text: str, reason: str
) -> None:
    server.script(anthropic(text))
    assert asking.ask() == Failed(f"anthropic/small: {reason}")


def test_one_that_is_busy_is_asked_again_after_a_while(asking: Asking, server: ApiServer) -> None:
    busy = Said({"error": {}}, 529)
    server.script(busy, Said({"error": {}}, 429, {"retry-after": "7"}), anthropic(GOOD))
    assert isinstance(asking.ask(), Written)
    assert asking.pauses == [1.0, 7.0]
    assert asking.spent() == {"anthropic/small": ModelUse(asked=3, failed=2, sent=100, given=10)}


def test_but_not_for_ever(asking: Asking, server: ApiServer) -> None:
    server.script(*[Said({"error": {}}, 500)] * 3)
    assert asking.ask() == Failed("anthropic/small: HTTP 500")
    assert len(asking.pauses) == 2


def test_what_does_not_pass_is_not_asked_again(asking: Asking, server: ApiServer) -> None:
    server.script(Said({"error": {"message": "bad key"}}, 401))
    failed = asking.ask()
    assert isinstance(failed, Failed)
    assert "HTTP 401" in failed.reason
    assert asking.pauses == []


def test_then_the_sessions_own_model_is_asked(asking: Asking, server: ApiServer) -> None:
    asking.fallback = True
    server.script(anthropic("No.", "refusal"), anthropic(GOOD))
    written = asking.ask()
    assert isinstance(written, Written)
    assert written.model == "anthropic/main-model"
    assert [seen.body["model"] for seen in server.seen] == ["small", "main-model"]
    assert asking.spent()["anthropic/small"] == ModelUse(asked=1, failed=1, sent=100, given=10), (
        "it was paid for"
    )


def test_all_reasons_are_reported_where_nobody_could(asking: Asking, server: ApiServer) -> None:
    asking.fallback = True
    server.script(anthropic("No.", "refusal"), anthropic("It is", "max_tokens"))
    assert asking.ask() == Failed(
        "anthropic/small: it refused to answer; anthropic/main-model: its answer was cut off"
    )


def test_a_server_of_ones_own_is_asked_without_a_key(asking: Asking, server: ApiServer) -> None:
    asking.model = "openai/qwen"
    asking.settings = replace(asking.settings, key="")
    server.script(openai(GOOD))
    assert isinstance(asking.ask(), Written)


def test_the_key_is_ours_or_in_the_variable_that_the_settings_name(asking: Asking, server: ApiServer) -> None:
    asking.settings = replace(asking.settings, key="", key_variable="OUR_KEY")
    asking.environment = {"OUR_KEY": "named", "ANTHROPIC_API_KEY": "theirs"}
    server.script(anthropic(GOOD))
    asking.ask()
    assert "named" in str(server.seen[0].headers)
    assert "theirs" not in str(server.seen[0].headers)


def test_without_a_key_nobody_is_asked(asking: Asking, server: ApiServer) -> None:
    asking.settings = Models()
    asking.environment = {"ANTHROPIC_API_KEY": "theirs"}
    assert asking.ask() == Failed("anthropic/small: there is no key to it")
    assert server.seen == []


# What it may cost


def test_a_day_has_a_limit_of_tokens(asking: Asking, server: ApiServer) -> None:
    asking.settings = replace(asking.settings, daily_tokens=4_000)
    server.script(anthropic(GOOD, input_tokens=3_000), anthropic(GOOD))
    assert isinstance(asking.ask(), Written)
    assert asking.ask() == Failed("anthropic/small: the day's limit of 4,000 tokens is reached")
    asking.stage.now += 24 * HOUR
    assert isinstance(asking.ask(), Written), "the next day is another"


def test_a_day_has_a_limit_of_cents(asking: Asking, server: ApiServer) -> None:
    asking.settings = replace(asking.settings, daily_cents=5, sent_cents=100, given_cents=500)
    server.script(anthropic(GOOD, input_tokens=30_000, output_tokens=2_000))
    assert isinstance(asking.ask(), Written)
    (day,) = days_until(asking.stage.store, asking.stage.now, 30)
    assert (day.tokens, day.cents) == (32_000, 4.0)
    assert asking.ask() == Failed("anthropic/small: the day's limit of 5 cents is reached")


# Commands


def test_a_command_is_asked_in_a_directory_of_ours(asking: Asking, tmp_path: Path) -> None:
    program = tmp_path / "model"
    program.write_text(f"#!/bin/sh\ncat > question; pwd > where; env > with; printf '%s' '{GOOD}'\n")
    program.chmod(0o700)
    asking.model, asking.settings = "command", Models(command=(str(program),), key_variable="OUR_KEY")
    asking.environment = {"PATH": "/usr/bin:/bin", "OUR_KEY": "x", "THEIR_KEY": "y"}
    written = asking.ask()
    assert isinstance(written, Written)
    assert written.model == "command/model"
    ours = asking.stage.home / "holdfast" / "models"
    assert (ours / "where").read_text().strip() == str(ours)
    assert "Fix the parser." in (ours / "question").read_text()
    given = (ours / "with").read_text()
    assert "OUR_KEY=x" in given
    assert "THEIR_KEY" not in given


def test_what_a_command_starts_is_never_captured(stage: Stage) -> None:
    home = stage.engine().home
    assert home is not None
    ours = home / "models"
    ours.mkdir(parents=True)
    stage.payload("theirs", "prompt", text="hi")
    stage.payload("ours", "prompt", text="hi", cwd=str(ours))
    assert [session.key for session in stage.store.sessions(9)] == ["theirs"]
    assert not replace(stage.engine(), home=None).owns(identity(str(ours))), "one without files owns nothing"


def test_without_a_command_there_is_nothing_to_run(asking: Asking) -> None:
    asking.model, asking.settings = "command", Models()
    assert asking.ask() == Failed("command: there is no command")


def test_by_default_no_model_is_asked(asking: Asking, server: ApiServer) -> None:
    asking.model = ""
    assert asking.ask() == Failed("no model is set")
    assert not is_configured(Config())
    assert server.seen == []


def test_a_command_can_hold_its_model_to_the_shape_of_an_answer(asking: Asking, tmp_path: Path) -> None:
    program = tmp_path / "model"
    program.write_text(
        f"#!/bin/sh\ncat \"$1\" > {tmp_path}/held_to\nprintf '%s' '{GOOD}'\n", encoding="utf-8"
    )
    program.chmod(0o755)
    asking.model, asking.settings = "command", Models(command=(str(program), "{schema}"))
    assert isinstance(asking.ask(), Written)
    schema = json.loads((tmp_path / "held_to").read_text(encoding="utf-8"))
    assert schema["properties"]["decisions"] == {"type": "array", "items": {"type": "string"}}
    assert (schema["required"], schema["additionalProperties"]) == (list(schema["properties"]), False)
