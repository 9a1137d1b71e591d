"""The tools over MCP, with the SDK's own client: by the relay and over HTTP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from holdfast import relay
from holdfast.engine.tools import table
from holdfast.stores.sqlite import open_store
from tests.daemon.agent import BASE_PYTHON, SESSION_ID, begin
from tests.daemon.conftest import LIMIT_S, Lodging

Way: TypeAlias = Literal["stdio", "http"]
Era: TypeAlias = Literal["legacy", "2026-07-28", "auto"]
EVERY_WAY = pytest.mark.parametrize("way", ["stdio", "http"])
MEGABYTE = "word " * 200_000


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodging]:
    """A home whose daemon nothing is going to happen to, with one live session in its project."""
    lodging = Lodging(tmp_path_factory.mktemp("standing"))
    try:
        lodging.start()
        project_of(lodging).mkdir()
        begin(lodging, project_of(lodging), "s1")
        yield lodging
    finally:
        lodging.end()


def project_of(lodging: Lodging) -> Path:
    return lodging.root / "project"


def record(id: str, role: str, content: object) -> str:
    """A line of Claude Code's transcript."""
    message = {"role": role, "content": content}
    return (
        json.dumps({"type": role, "uuid": id, "timestamp": "2026-11-15T12:00:00.000Z", "message": message})
        + "\n"
    )


def begun_with_a_transcript(lodging: Lodging) -> Path:
    """Where the session that has just begun is going to be written down."""
    lodging.start()
    project_of(lodging).mkdir()
    path = lodging.root / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("")
    begin(lodging, project_of(lodging), "s1", transcript_path=str(path))
    return path


@asynccontextmanager
async def connected(lodging: Lodging, way: Way, era: Era = "auto") -> AsyncIterator[Client]:
    if way == "http":
        headers = {
            "Authorization": f"Bearer {(lodging.home / 'http' / 'token').read_text().strip()}",
            "X-Holdfast-Project": str(project_of(lodging)),
        }
        url = lodging.ask("status")["http"]
        async with (
            httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as http,
            Client(streamable_http_client(url, http_client=http), mode=era) as client,
        ):
            yield client
    else:
        (lodging.home / "bin").mkdir(exist_ok=True)
        (lodging.home / "bin" / "interpreter").write_text(f"{sys.executable}\n")
        process = StdioServerParameters(
            command=BASE_PYTHON,
            args=["-I", "-S", relay.__file__, "claude-code", SESSION_ID, str(lodging.home)],
            env={SESSION_ID: "s1"},
            cwd=project_of(lodging),
        )
        async with Client(process, mode=era) as client:
            yield client


def talk(lodging: Lodging, way: Way, story: Callable[[Client], Awaitable[Any]], era: Era = "auto") -> Any:  # noqa: ANN401 - whatever the story gives
    """What a client that connects this way gets out of it."""

    async def run() -> object:
        async with asyncio.timeout(LIMIT_S * 2), connected(lodging, way, era) as client:
            return await story(client)

    return asyncio.run(run())


def called(lodging: Lodging, way: Way, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
    async def story(client: Client) -> CallToolResult:
        return await client.call_tool(tool, dict(arguments))

    result: CallToolResult = talk(lodging, way, story)
    return result


def said(result: CallToolResult) -> str:
    return "".join(getattr(block, "text", "") for block in result.content)


def digests(lodging: Lodging, session: str = "s1") -> list[str]:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", 0)
    try:
        return [one.words for one in store.checkpoints_of_session(session, 200) if one.words]
    finally:
        store.close()


@EVERY_WAY
@pytest.mark.parametrize("era", ["legacy", "2026-07-28", "auto"])
def test_a_client_of_any_era_sees_the_tools_and_can_call_them(standing: Lodging, way: Way, era: Era) -> None:
    async def story(client: Client) -> tuple[list[str], CallToolResult]:
        listed = await client.list_tools()
        return [tool.name for tool in listed.tools], await client.call_tool("session_recover", {})

    names, answer = talk(standing, way, story, era)
    assert tuple(names) == table.names()
    assert answer.is_error is False
    assert json.loads(said(answer)) == answer.structured_content


@EVERY_WAY
def test_the_client_is_told_when_to_use_them(standing: Lodging, way: Way) -> None:
    async def story(client: Client) -> str:
        return str(client.instructions)

    assert talk(standing, way, story) == table.INSTRUCTIONS


@EVERY_WAY
def test_what_is_listed_is_what_was_counted(standing: Lodging, way: Way) -> None:
    async def story(client: Client) -> list[dict[str, Any]]:
        listed = await client.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    assert talk(standing, way, story) == table.tools_for_mcp()


@EVERY_WAY
def test_a_digest_is_in_the_store_when_it_is_acknowledged(standing: Lodging, way: Way) -> None:
    result = called(standing, way, "session_digest", {"summary": f"half done over {way}"})
    assert result.structured_content["session"] == "s1"
    assert f"half done over {way}" in digests(standing)


@EVERY_WAY
def test_what_one_way_remembers_the_other_recalls(standing: Lodging, way: Way) -> None:
    other: Way = "http" if way == "stdio" else "stdio"
    kept = called(standing, way, "remember", {"text": f"pitfall: the {way} cache must be cleared first"})
    found = called(standing, other, "recall", {"query": f"pitfall of the {way} cache"})
    assert kept.structured_content["id"] in found.structured_content["hits"]
    whole = called(standing, other, "expand", {"id": kept.structured_content["id"]})
    assert f"the {way} cache must be cleared first" in whole.structured_content["text"]


@EVERY_WAY
def test_what_one_way_hands_over_the_other_picks_up(standing: Lodging, way: Way) -> None:
    other: Way = "http" if way == "stdio" else "stdio"
    purpose = {"action": "create", "purpose": f"Go on over {way}", "next": ["the totals row"]}
    made = called(standing, way, "handoff", purpose).structured_content
    taken = called(standing, other, "handoff", {"action": "pickup", "name": f"over-{way}"}).structured_content
    assert (taken["done"], taken["name"]) == (True, made["name"])
    assert "## Next Step\n- the totals row" in taken["document"]
    assert "- Status: consumed" in Path(made["path"]).read_text()


def test_a_handoff_tells_what_the_transcript_shows_up_to_now(lodging: Lodging) -> None:
    path = begun_with_a_transcript(lodging)
    path.write_text(record("u1", "user", "Port the report to PARSE-8."))
    made = called(lodging, "stdio", "handoff", {"action": "create", "purpose": "Go on"})
    assert "PARSE-8" in Path(made.structured_content["path"]).read_text()


def test_a_handoff_waits_until_the_transcript_shows_the_call(lodging: Lodging) -> None:
    """A harness writes its transcript a moment late: what came before the call is told all the same."""
    path = begun_with_a_transcript(lodging)
    block = {"type": "tool_use", "id": "toolu_7", "name": "mcp__holdfast__handoff", "input": {}}
    late = [
        record("u1", "user", "Port the report to PARSE-8."),
        record("u2", "assistant", [block]),
    ]

    async def story(client: Client) -> CallToolResult:
        meta: Any = {"claudecode/toolUseId": "toolu_7"}
        arguments = {"action": "create", "purpose": "Go on"}
        made = asyncio.create_task(client.call_tool("handoff", arguments, meta=meta))
        await asyncio.sleep(0.3)
        path.write_text("".join(late))
        return await made

    made = talk(lodging, "stdio", story)
    assert "PARSE-8" in Path(made.structured_content["path"]).read_text()


@EVERY_WAY
@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("session_digest", {"summary": ""}, "the summary is empty"),
        ("session_digest", {"summary": MEGABYTE}, "at most 20,000"),
        ("session_digest", {}, "missing required field `summary`"),
        ("remember", {"text": MEGABYTE}, "at most 100,000"),
        ("recall", {"query": "x", "max": 3}, "takes no argument `max`; it takes `query`, `kinds`, `limit`"),
        ("expand", {"id": "0123456789"}, "nothing here has the id"),
        ("handoff", {"action": "create"}, "a handoff needs a purpose"),
        ("handoff", {"action": "pickup", "name": "nothing"}, "there is no handoff `nothing`"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    standing: Lodging, way: Way, tool: str, arguments: dict[str, object], why: str
) -> None:
    before = digests(standing)
    result = called(standing, way, tool, arguments)
    assert result.is_error is True
    assert why in said(result)
    assert digests(standing) == before


@EVERY_WAY
def test_what_a_client_sends_for_itself_is_no_argument_of_the_agents(standing: Lodging, way: Way) -> None:
    for own in ({"_meta": {"progressToken": 1}}, {"wait_for_previous": True}, {"limit": None}):
        assert called(standing, way, "session_digest", {"summary": f"half {way}", **own}).is_error is False
    assert called(standing, way, "session_recover", {"random_string": "x"}).is_error is False


@EVERY_WAY
def test_control_characters_and_half_characters_arrive(standing: Lodging, way: Way) -> None:
    text = f"null \x00 bell \x07 {way} e\u0301 \U0001f980 end"
    assert called(standing, way, "session_digest", {"summary": text}).is_error is False
    assert text in digests(standing)


@EVERY_WAY
def test_a_tool_that_is_not_there_is_an_error_that_names_those_that_are(standing: Lodging, way: Way) -> None:
    async def story(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("forget_everything", {})
        return str(refused.value)

    assert "there are session_digest, session_recover" in talk(standing, way, story)


@EVERY_WAY
def test_fifty_at_once_are_fifty_and_one_fifty_times_is_one(standing: Lodging, way: Way) -> None:
    async def story(client: Client) -> list[CallToolResult]:
        different = [client.call_tool("remember", {"text": f"rule {n} of {way}"}) for n in range(25)]
        same = [client.call_tool("session_digest", {"summary": f"the same over {way}"}) for _ in range(25)]
        return await asyncio.gather(*different, *same)

    results = talk(standing, way, story)
    assert not [said(result) for result in results if result.is_error]
    ids = {result.structured_content["id"] for result in results[:25]}
    assert len(ids) == 25
    assert digests(standing).count(f"the same over {way}") == 1


@EVERY_WAY
def test_one_that_hangs_up_loses_nothing(standing: Lodging, way: Way) -> None:
    async def story(client: Client) -> None:
        calls = [
            asyncio.create_task(client.call_tool("remember", {"text": f"last words {n} over {way}"}))
            for n in range(5)
        ]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()

    talk(standing, way, story)
    assert called(standing, way, "session_digest", {"summary": f"still there after {way}"}).is_error is False
    assert standing.ask("status")["pid"] == int((standing.home / "run" / "lock").read_text())


def test_over_http_the_session_is_found_by_the_call_in_its_transcript(standing: Lodging) -> None:
    path = standing.root / ".claude" / "projects" / "p" / "s5.jsonl"
    path.parent.mkdir(parents=True)
    block = {"type": "tool_use", "id": "toolu_5", "name": "mcp__holdfast__session_digest", "input": {}}
    begin(standing, project_of(standing), "s5", transcript_path=str(path))
    path.write_text(record("u1", "assistant", [block]))

    async def story(client: Client) -> CallToolResult:
        meta: Any = {"claudecode/toolUseId": "toolu_5"}
        return await client.call_tool("session_digest", {"summary": "seen"}, meta=meta)

    result = talk(standing, "http", story)
    assert result.structured_content["session"] == "s5"
    assert "transcript shows" in result.structured_content["taken"]
    assert digests(standing, "s5") == ["seen"]


def test_a_session_that_was_cleared_is_followed_by_the_line_that_it_left_open(lodging: Lodging) -> None:
    lodging.start()
    project = project_of(lodging)
    project.mkdir()
    process = f"{os.getpid()} 0"
    hook_events: list[tuple[str, str, dict[str, str]]] = [
        ("s1", "SessionStart", {"source": "startup"}),
        ("s1", "UserPromptSubmit", {"prompt": "write the parser"}),
        ("s1", "SessionEnd", {"reason": "clear"}),
        ("s2", "SessionStart", {"source": "clear"}),
    ]
    for number, (session, event, fields) in enumerate(hook_events):
        payload = {"session_id": session, "cwd": str(project), "hook_event_name": event, **fields}
        lodging.payload(json.dumps(payload), str(number), process=process, at=str(1_800_000_000_000 + number))
    result = called(lodging, "stdio", "session_digest", {"summary": "half done"})
    assert result.structured_content["session"] == "s2"
    assert "cleared" in result.structured_content["taken"]
