"""pi and we read each other's sessions: it opens what we export, and we go on with what it kept."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import embed
from tests.clients.model_server import ModelServer, say
from tests.clients.person import KEY, Person
from tests.embed.loop import said, texts, turns


class Pi(Person):
    """One person's pi, and the model server that answers."""

    def __init__(self, node: Path, root: Path, server: ModelServer) -> None:
        super().__init__(root, {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"})
        self._command = [str(node), str(node.parents[2] / "@earendil-works/pi-coding-agent/dist/cli.js")]
        self.folder = self.home / ".pi" / "agent"
        self.folder.mkdir(parents=True)
        fake = {"baseUrl": server.url, "api": "anthropic-messages", "apiKey": KEY, "models": [{"id": "m"}]}
        (self.folder / "models.json").write_text(json.dumps({"providers": {"fake": fake}}), encoding="utf-8")

    def prompt(self, text: str, *flags: str) -> str:
        """What it answers to one headless prompt."""
        return self.printed([*self._command, "--model", "fake/m", *flags, "--print", text]).strip()


@pytest.fixture
def pi(pi_node: Path, tmp_path: Path, server: ModelServer) -> Pi:
    return Pi(pi_node, tmp_path, server)


def agents_session(pi: Pi) -> list[str]:
    """A session of our own agent with a tool, checkpoints and a compaction in it, as it is exported."""
    from holdfast.engine.agent_log.transfer import export

    with closing(embed.open_store(pi.home / ".holdfast", project=pi.project)) as store:
        session = store.load("k", window=100_000)
        session.ask("Never touch the parser.")
        session.answer(said("Understood.", 30_000))
        turns(session, 2, 60_000, 1)
        session.ask("Look.")
        for call in session.answer(said("I look.", 80_000, ("toolu_1", "bash", {"command": "ls"}))):
            session.returned(call.id, "a.py")
        session.answer(said("Seen.", 97_500))
        session.ask("Go on.")
        session.request()
        session.answer(said("Going on.", 5_000))
        return list(export(store._engine, "k"))  # type: ignore[attr-defined]


def test_pi_opens_what_we_export_and_passes_over_our_checkpoints(pi: Pi, server: ModelServer) -> None:
    lines = agents_session(pi)
    kinds = [json.loads(line)["type"] for line in lines]
    assert {"checkpoint", "compaction"} <= set(kinds)
    file = pi.scratch / "session.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    server.script(say("The parser."))
    assert pi.prompt("What may you not touch?", "--session", str(file)) == "The parser."
    sent = server.last()
    assert "Never touch the parser." in sent.text, "in the summary of the compaction"
    told = [message["content"] for message in sent.body["messages"][1:]]
    assert "question 1" not in str(told), "what the compaction let go is not told twice"
    for kept in ("Look.", "I look.", "a.py", "Seen.", "Go on.", "Going on."):
        assert kept in str(told)
    after = file.read_text(encoding="utf-8").splitlines()
    assert after[: len(lines)] == lines
    assert texts(embed.open_source(file).load().messages())[-2:] == ["What may you not touch?", "The parser."]


def test_we_go_on_with_what_pi_kept(pi: Pi, server: ModelServer) -> None:
    server.script(say("Noted."), say("Blue."))
    pi.prompt("The colour is blue.")
    pi.prompt("Which colour?", "--continue")
    source = embed.open_source(pi.folder / "sessions")
    (theirs,) = source.list()
    with closing(embed.open_store(pi.home / ".holdfast", project=pi.project)) as store:
        store.save(source.load(theirs.key))
        session = store.load(f"holdfast:{theirs.key}")
        session.ask("And now?")
        assert texts(session.messages()) == [
            *("The colour is blue.", "Noted.", "Which colour?", "Blue.", "And now?")
        ]
