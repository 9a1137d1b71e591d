"""The page of what others shared, and their sessions among those of this machine, in pages and in the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.daemon.api.served import Caller, Furnished
from tests.daemon.dashboard.test_pages import read
from tests.daemon.dashboard.visitors import MARKUP, SHARED_KEY, put_shared


@pytest.fixture
def team(caller: Caller, furnished: Furnished) -> Caller:
    put_shared(furnished)
    return caller


def asked(caller: Caller, path: str) -> Any:  # noqa: ANN401 - it is JSON
    return json.loads(caller.ask(path).body)


def test_without_a_hub_it_says_how_to_join_one(bare: Caller) -> None:
    page = read(bare, "/team")
    assert "Nobody shared anything with this machine." in page
    assert "holdfast hub join" in page


def test_it_shows_sessions_handoffs_and_memories_with_author_and_machine(team: Caller) -> None:
    page = read(team, "/team")
    assert "Rounding in the basket" in page
    assert "ann on laptop" in page
    assert "Finish the tax" in page
    assert "waits for you" in page
    assert "The port is 8081" in page
    assert "bob on bob&#x27;s &lt;desk&gt;" in page or "bob on bob&#39;s &lt;desk&gt;" in page
    assert MARKUP not in page
    assert "<script>document" not in page
    assert len(page) < 20_000


def test_it_is_chosen_by_person_and_machine(team: Caller) -> None:
    of_bob = read(team, "/team?person=bob")
    assert "Finish the tax" in of_bob
    assert "Rounding in the basket" not in of_bob
    of_laptop = read(team, "/team?machine=laptop-id")
    assert "Rounding in the basket" in of_laptop
    assert "Finish the tax" not in of_laptop
    assert "Everybody" in read(team, "/team?person=nobody")


def test_a_session_of_another_machine_has_a_page_and_is_in_the_list(team: Caller) -> None:
    page = read(team, f"/sessions/{SHARED_KEY}")
    assert "Round the basket" in page
    assert "ann on laptop" in page
    assert "Its transcript, timeline and checkpoints are on its own machine." in page
    assert "No checkpoint yet." not in page
    assert "ann on laptop" in read(team, "/sessions")
    assert "ann on laptop" not in read(team, "/sessions?person=bob")


def test_the_handoff_has_a_page_with_its_author(team: Caller, furnished: Furnished) -> None:
    page = read(team, f"/handoffs?project={furnished.project.project_id}&name=tax.md")
    assert "bob on bob" in page
    assert "Next Step" in page
    rows = asked(team, f"/api/projects/{furnished.project.project_id}/handoffs")["items"]
    (row,) = [row for row in rows if row["name"] == "tax.md"]
    assert (row["person"], row["to"], row["is_open"]) == ("bob", "ann", True)


def test_the_api_lists_and_chooses_them(team: Caller) -> None:
    everything = asked(team, "/api/sessions?limit=100")["items"]
    (row,) = [row for row in everything if row["session_key"] == SHARED_KEY]
    assert (row["person"], row["machine"], row["machine_id"]) == ("ann", "laptop", "laptop-id")
    assert {each["machine"] for each in everything if each is not row} <= {None}
    chosen = asked(team, "/api/sessions?machine=laptop")["items"]
    assert [row["session_key"] for row in chosen] == [SHARED_KEY]
    assert asked(team, "/api/sessions?person=bob")["items"] == []
    one = asked(team, f"/api/sessions/{SHARED_KEY[:8]}")
    assert one["title"] == "Rounding in the basket"
    assert one["work"]["goal"][0]["text"] == "Round the basket"


def test_page_by_page_the_api_gives_each_once(team: Caller) -> None:
    keys, cursor = list[str](), ""
    while True:
        page = asked(team, f"/api/sessions?limit=1&cursor={cursor}")
        keys += [row["session_key"] for row in page["items"]]
        cursor = page.get("next") or ""
        if not cursor:
            break
    assert len(keys) == len(set(keys))
    assert SHARED_KEY in keys
