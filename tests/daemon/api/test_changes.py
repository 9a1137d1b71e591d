"""What can be changed over HTTP: memories, what stands in files, and what waits for a decision."""

from __future__ import annotations

import json

import pytest

from holdfast.core.events.world import Project
from tests.daemon.api.served import SECRET, Caller, Furnished, pages, write_continuity
from tests.daemon.conftest import Lodging

CONTINUITY = """# Continuity

## Goal

- Sell things

## Confirmed working

- The cart adds up

## Files, decisions, environment

- Never touch the ledger table
- We decided to round each line
"""


class TestMemories:
    def test_one_is_kept_found_changed_pinned_and_forgotten(self, caller: Caller, project: Project) -> None:
        told = {"text": "The red car is in port 8080", "project": project.path, "tags": ["Net"]}
        made = caller.ask("/api/memories", "POST", told)
        assert made.status == 201
        assert (made.json["tags"], made.json["scope"], made.json["again"]) == (["net"], "project", False)
        id = made.json["id"]
        found = caller.get("/api/memories/search", q="red car", kind="memory")["items"]
        assert [(row["id"], row["worded"]) for row in found] == [(id, True)]
        near = caller.get("/api/memories/search", q="automobile", kind="memory")["items"]
        assert (id, False) in [(row["id"], row["worded"]) for row in near]
        changed = caller.ask(
            f"/api/memories/{id}", "PATCH", {"pinned": True, "text": "The red car is in port 9090"}
        )
        assert (changed.json["pinned"], changed.json["text"]) == (True, "The red car is in port 9090")
        assert caller.ask(f"/api/memories/{id}", "DELETE").json == {"memories": 1}
        assert caller.ask(f"/api/memories/{id}").status == 404
        assert caller.get("/api/memories/search", q="red car", kind="memory")["items"] == []

    def test_without_a_project_it_holds_everywhere(self, caller: Caller) -> None:
        made = caller.ask("/api/memories", "POST", {"text": "I like tea"}).json
        assert made["scope"] == "user"
        assert caller.ask("/api/memories", "POST", {"text": "I like tea"}).json["again"] is True
        caller.ask(f"/api/memories/{made['id']}", "DELETE")

    def test_a_secret_in_it_is_not_kept(self, caller: Caller, furnished: Furnished) -> None:
        made = caller.ask("/api/memories", "POST", {"text": f"the key is {SECRET}"}).json
        with furnished.store() as store:
            kept = store.memory(made["id"])
        caller.ask(f"/api/memories/{made['id']}", "DELETE")
        assert kept is not None
        assert SECRET not in kept.text

    def test_a_search_goes_on_behind_its_first_page(self, caller: Caller) -> None:
        rows = pages(caller, "/api/memories/search", q="Fact", kind="memory", limit=2)
        assert sorted(row["id"] for row in rows) == [f"memory-{number}" for number in range(5)]

    @pytest.mark.parametrize(
        ("method", "path", "body", "status"),
        [
            ("POST", "/api/memories", {}, 422),
            ("POST", "/api/memories", {"text": ""}, 422),
            ("POST", "/api/memories", {"text": " "}, 400),
            ("POST", "/api/memories", {"text": "x", "importance": 2}, 422),
            ("POST", "/api/memories", {"text": "x", "pinned": 0}, 422),
            ("POST", "/api/memories", {"text": "x", "importance": "0.5"}, 422),
            ("PATCH", "/api/memories/nobody", {"pinned": "yes"}, 422),
            ("POST", "/api/memories", {"text": "x", "project": "/nowhere"}, 404),
            ("PATCH", "/api/memories/nobody", {"pinned": True}, 404),
            ("DELETE", "/api/memories/nobody", None, 404),
            ("GET", "/api/memories/search", None, 422),
            ("GET", "/api/memories?limit=0", None, 422),
            ("GET", "/api/memories?limit=100000", None, 422),
        ],
    )
    def test_what_cannot_be_done_is_refused_in_a_sentence(
        self, caller: Caller, method: str, path: str, body: object, status: int
    ) -> None:
        answer = caller.ask(path, method, body)
        assert answer.status == status
        assert set(answer.json) == {"error", "hint"}
        assert answer.json["error"]


class TestFiles:
    def test_continuity_is_read_changed_and_its_past_kept(
        self, caller: Caller, lodging: Lodging, project: Project
    ) -> None:
        path = write_continuity(lodging.home, project, CONTINUITY)
        base = f"/api/projects/{project.project_id}/continuity"
        shared, local = caller.get(base)["layers"]
        assert (shared["text"], local["text"], local["print"]) == (CONTINUITY, "", "")
        new = CONTINUITY.replace("Sell things", "Sell more things")
        put = caller.ask(f"{base}/project", "PUT", {"text": new, "print": shared["print"]})
        assert put.status == 200
        assert path.read_text() == new
        (past,) = caller.get(f"{base}/project/history")["items"]
        assert past["text"] == CONTINUITY
        # Whoever made a change from the older text would undo this one.
        assert caller.ask(f"{base}/project", "PUT", {"text": "x", "print": shared["print"]}).status == 409

    def test_a_ledger_is_written_and_read(self, caller: Caller, lodging: Lodging, project: Project) -> None:
        base = f"/api/projects/{project.project_id}/ledger"
        assert caller.get(base)["text"] == ""
        text = "# Session Ledger\n\n## Goal\n\n- Sell things\n"
        assert caller.ask(base, "PUT", {"text": "no ledger at all", "print": ""}).status == 409
        put = caller.ask(base, "PUT", {"text": text, "print": ""})
        assert put.status == 200, put
        assert (lodging.root / "shop" / ".agents" / "session_ledger.md").read_text() == text
        assert caller.get(base)["came_with_the_clone"] is False
        assert [row["text"] for row in caller.get(f"{base}/history")["items"]] == [text]

    def test_handoffs_are_listed(self, caller: Caller, lodging: Lodging, project: Project) -> None:
        folder = lodging.root / "shop" / ".agents" / "handoffs"
        folder.mkdir(parents=True, exist_ok=True)
        head = "# Handoff: Go on\n\n- Status: open\n- Created: 2026-01-01T12:00:00Z\n"
        for name in ("a", "b", "c"):
            (folder / f"2026-01-01-{name}.md").write_text(head)
        rows = pages(caller, f"/api/projects/{project.project_id}/handoffs", limit=2)
        assert [row["name"][-4] for row in rows] == ["c", "b", "a"]

    @pytest.mark.parametrize("name", ["..", "%2E%2E%2F%2E%2E", "/etc", "nobody"])
    def test_no_project_is_opened_by_a_path(self, caller: Caller, name: str) -> None:
        assert caller.ask(f"/api/projects/{name}/continuity").status == 404


class TestReviews:
    def test_candidates_are_put_up_and_decided_on(
        self, caller: Caller, lodging: Lodging, project: Project
    ) -> None:
        write_continuity(lodging.home, project, CONTINUITY)
        base = f"/api/projects/{project.project_id}/dreams"
        built = caller.ask(base, "POST").json["items"]
        lanes = {row["lane"]: row for row in built}
        assert set(lanes) == {"durable-memory", "instruction-like"}
        assert "+- Never touch the ledger table" in lanes["instruction-like"]["proposal"]["patch"]
        one = lanes["durable-memory"]["id"]
        assert caller.ask(f"{base}/{one}/promote", "POST").status == 400
        assert caller.ask(f"{base}/{one}/approve", "POST").json["standing"] == "approved"
        assert caller.ask(f"{base}/{one}/promote", "POST").json["standing"] == "promoted"
        assert [row["id"] for row in caller.get(base, standing="promoted")["items"]] == [one]
        assert caller.ask(f"{base}/nobody/approve", "POST").status == 404
        assert caller.ask(f"{base}/{one}/burn", "POST").status == 422

    def test_doubtful_memories_are_named(self, caller: Caller) -> None:
        texts = [
            f"The blue deploy script of Ada lives beside the red one in {place}" for place in ("ci", "cd")
        ]
        ids = [caller.ask("/api/memories", "POST", {"text": text}).json["id"] for text in texts]
        found = pages(caller, "/api/audit/memories", limit=2)
        for id in ids:
            caller.ask(f"/api/memories/{id}", "DELETE")
        assert {row["id"] for row in found} & set(ids)

    def test_secrets_in_what_is_kept_are_counted_and_not_shown(self, caller: Caller) -> None:
        found = caller.get("/api/audit/secrets", limit=200)["items"]
        counted = {row["place"]: row["count"] for row in found}
        assert counted["store: session_checkpoints.digest"] == 5
        assert SECRET not in json.dumps(found)

    def test_the_account_of_the_continuity_is_reported(self, caller: Caller, project: Project) -> None:
        assert caller.get(f"/api/projects/{project.project_id}/audit") == {"items": [], "next": None}
