"""`claude -p` and `codex exec` as the command that writes summaries: they answer, and are never captured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from holdfast.core.agent_log.context import Text, UserTurn
from holdfast.core.agent_log.summary import Material, Written
from holdfast.core.evidence.trail import Trail
from holdfast.engine.models import Means, summarize
from holdfast.engine.repository.git import identity
from holdfast.settings import Checkpoint, Config, Models
from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, say
from tests.clients.person import Person
from tests.clients.product import Product
from tests.engine.stage import Stage

NOW = "The parser is being fixed."
GOOD = f"## Now\n- {NOW}"
AS_JSON = json.dumps({"now": [NOW]})
MATERIAL = Material("", (UserTurn((Text("Fix the parser."),)),), Trail())


def written(person: Person, home: Path, *command: str) -> Written:
    """What the settings' command writes, run as a person with that home would."""
    # What the client needs to find the test's server stands in the command line, as a person would put it.
    words = ("/usr/bin/env", "-i", *(f"{name}={value}" for name, value in person.env.items()), *command)
    models = Models(command=words, timeout_seconds=120)
    stage = Stage(
        person.scratch / "stage", config=Config(checkpoint=Checkpoint(model="command"), models=models)
    )
    stage.home.mkdir(exist_ok=True)
    engine = replace(stage.engine(), home=home)
    means = Means(person.env, lambda seconds: None)
    answer = summarize(engine, identity(str(person.project)), MATERIAL, means)
    assert isinstance(answer, Written), answer
    return answer


def test_claude_code_writes_a_summary_and_is_not_captured(
    claude: Claude, product: Product, server: ModelServer
) -> None:
    server.script(say(GOOD))
    answer = written(claude, product.home, str(claude.binary), "-p", "--output-format", "text")
    assert answer.text == GOOD
    assert "Fix the parser." in server.last().text
    assert product.json("sessions") == []
    own = claude.prompt("hi")
    assert [session["session_key"] for session in product.json("sessions")] == [own.session], (
        "its hooks are on"
    )


def test_codex_writes_a_summary_and_is_not_captured(
    codex: Codex, product_for_codex: Product, server: ModelServer
) -> None:
    server.script(say(AS_JSON))
    command = (str(codex.binary), "exec", "--skip-git-repo-check", "--output-schema", "{schema}", "-")
    answer = written(codex, product_for_codex.home, *command)
    assert answer.text == GOOD
    asked = server.last()
    assert "Fix the parser." in asked.text
    held_to = asked.body["text"]["format"]["schema"]
    assert held_to["required"] == list(held_to["properties"])
    assert {"goal", "decisions", "next"} <= set(held_to["required"])
    assert product_for_codex.json("sessions") == []
    own = codex.prompt("hi")
    found = [session["session_key"] for session in product_for_codex.json("sessions")]
    assert found == [own.session], "its hooks are on"
