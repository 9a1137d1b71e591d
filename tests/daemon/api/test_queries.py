"""What can be asked over HTTP: all that is kept, page by page, redacted, and as it comes."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from holdfast.core.events.event import Action
from holdfast.core.events.world import Project
from holdfast.core.evidence.file_edits import SAYS_WHY, FileEdit
from holdfast.core.evidence.kinds import Section
from tests.daemon.api.served import NEWEST, SECRET, Caller, Furnished, pages
from tests.stores.contract import checkpoint

PAGES = ("/", "/memory", "/sessions/s1")


class TestLists:
    @pytest.mark.parametrize(
        ("path", "query", "name", "expected"),
        [
            ("/api/checkpoints", {}, "id", ["c4", "c3", "c2", "c1", "c0", "c-other"]),
            ("/api/checkpoints/s1", {}, "id", ["c4", "c3", "c2", "c1", "c0"]),
            ("/api/checkpoints/nobody", {}, "id", []),
            ("/api/sessions", {}, "session_key", ["s4", "s3", "s2", "s1", "s-other", "odd/key:1"]),
            ("/api/briefs", {}, "id", ["b4", "b3", "b2", "b1", "b0"]),
            ("/api/briefs", {"session": "s1"}, "id", ["b4", "b3", "b2", "b1", "b0"]),
            ("/api/briefs", {"session": "s2"}, "id", []),
            ("/api/memories", {}, "id", [f"memory-{number}" for number in (4, 3, 2, 1, 0)]),
            ("/api/pressure", {}, "session_key", ["s-other"]),
            ("/api/pressure", {"session": "s1"}, "tokens", [120_000, 80_000, 40_000]),
            ("/api/scores", {}, "session", ["s1"]),
            ("/api/evaluations", {}, "name", ["survival"]),
        ],
    )
    def test_each_is_given_once_the_newest_first(
        self, caller: Caller, path: str, query: dict[str, object], name: str, expected: list[object]
    ) -> None:
        assert [row[name] for row in pages(caller, path, **query, limit=2)] == expected

    def test_checkpoints_of_a_project_by_its_id_and_by_any_path_it_was_seen_at(
        self, caller: Caller, project: Project
    ) -> None:
        for name in (project.project_id, project.path, project.normalized):
            rows = pages(caller, "/api/checkpoints", project=name, limit=2)
            assert [row["id"] for row in rows] == ["c4", "c3", "c2", "c1", "c0"]
        assert caller.get("/api/checkpoints", project="/etc") == {"items": [], "next": None}

    def test_checkpoints_of_a_project_by_any_path_that_leads_to_it(
        self, caller: Caller, project: Project, tmp_path: Path
    ) -> None:
        link = tmp_path / "link"
        link.symlink_to(project.root)
        for name in (
            f"{project.path}/",
            f"{link}",
            f"{link}/",
            f"{project.path}/../{Path(project.path).name}",
        ):
            rows = pages(caller, "/api/checkpoints", project=name, limit=2)
            assert [row["id"] for row in rows] == ["c4", "c3", "c2", "c1", "c0"], name
        assert caller.get("/api/checkpoints", project=str(tmp_path)) == {"items": [], "next": None}

    def test_the_projects_are_named(self, caller: Caller, project: Project) -> None:
        found = {row["project_id"]: row["path"] for row in pages(caller, "/api/projects", limit=2)}
        assert found == {project.project_id: project.path, "other": "/elsewhere"}

    def test_a_timeline_tells_events_checkpoints_and_briefs_in_order(self, caller: Caller) -> None:
        points = pages(caller, "/api/sessions/s1/timeline", limit=2)
        assert [point["kind"] for point in points[:8]] == ["checkpoint", "brief"] * 4
        assert [point["kind"] for point in points[8:]] == [
            *("compaction", "usage", "usage", "usage", "result", "tool"),
            *("prompt", "checkpoint", "brief"),
        ]
        assert [point["at"] for point in points] == sorted((point["at"] for point in points), reverse=True)

    def test_a_session_is_named_by_its_key_whatever_stands_in_it(self, caller: Caller) -> None:
        assert caller.ask("/api/sessions/odd%2Fkey%3A1").json["session_key"] == "odd/key:1"
        assert caller.ask("/api/sessions/odd%2Fkey%3A1/timeline").status == 200

    def test_a_session_has_a_title_and_tells_its_work_state_by_section(self, caller: Caller) -> None:
        told = caller.get("/api/sessions/s-other")
        assert told["title"] == "Mend the sums of the cart in the shop, for orders…"
        assert [row["title"] for row in caller.get("/api/sessions")["items"] if row["title"]] == [
            told["title"]
        ]
        texts = {section: [row["text"] for row in rows] for section, rows in told["work"].items()}
        assert list(texts) == [section.value for section in Section]
        assert texts["done"] == ["Write the test", "The cart adds up in `cart.py`."]
        assert texts["now"] == ["Round in the invoice"]
        assert texts["next"][-1] == "Not tried yet: Decimals instead of cents might do."
        assert texts["where"][-1] == "Needs: The tests need Redis on port 6380."
        decision = told["work"]["decisions"][0]
        assert (decision["source"], decision["kind"], decision["by_user"]) == ("r2", "decision", False)

    def test_the_history_of_a_file(self, caller: Caller, furnished: Furnished) -> None:
        project = furnished.project.project_id
        edit = FileEdit(
            session="s1",
            record="r9",
            path="cart.py",
            project_id=project,
            call="c9",
            action=Action.EDIT,
            at=furnished.at,
            asked=f"Use {SECRET}",
            reason="It rounds too early.",
            strength=SAYS_WHY,
            done=True,
        )
        with furnished.store() as store, store.writing():
            store.update_file_edits("s1", [edit], NEWEST)
        answer = caller.ask(f"/api/why?project={project}&path=cart.py&line=1").json
        (row,) = answer["sessions"]
        assert (row["session_key"], row["turns"][0]["reason"]) == ("s1", "It rounds too early.")
        assert SECRET not in str(answer)
        assert [each["path"] for each in caller.get("/api/edited-files", project=project)["items"]] == [
            "cart.py"
        ]
        assert caller.ask("/api/why?project=nobody&path=a").status == 404
        for odd in ("%00", "/%00", "..%2F..", "%ED%A0%80", "~", "."):
            assert caller.ask(f"/api/why?project={project}&path={odd}&line=1").status == 200

    def test_two_checkpoints_are_compared(self, caller: Caller) -> None:
        diff = caller.get("/api/checkpoint-diff", older="c1", newer="c2")["diff"]
        assert "-## Step 1" in diff
        assert "+## Step 2" in diff

    @pytest.mark.parametrize("cursor", ["x", "W10", "WzEsMl0", "Wy0xLCJhIl0", "=", "ä"])
    def test_a_cursor_that_nobody_gave_is_refused(self, caller: Caller, cursor: str) -> None:
        assert caller.ask(f"/api/checkpoints?cursor={quote(cursor)}").status == 422


class TestRedaction:
    @pytest.mark.parametrize(
        "path",
        [
            "/api/checkpoints",
            "/api/sessions/s-other",
            "/api/sessions/s1/timeline?limit=200",
            "/api/checkpoint-diff?older=c1&newer=c2",
        ],
    )
    def test_what_an_older_redactor_let_pass_does_not_go_out(self, caller: Caller, path: str) -> None:
        answer = caller.ask(path)
        assert answer.status == 200
        assert SECRET.encode() not in answer.body
        assert b"REDACTED" in answer.body

    def test_nor_does_what_was_asked_come_back_with_a_secret_in_it(self, caller: Caller) -> None:
        answer = caller.ask(f"/api/sessions/{SECRET}")
        assert answer.status == 404
        assert SECRET.encode() not in answer.body


class TestHealth:
    def test_the_doctors_findings(self, caller: Caller) -> None:
        told = caller.get("/api/health")
        checks = {row["check"]: row for row in told["findings"]}
        assert checks["spool"]["ok"] is True
        assert checks["setup"]["fix"] == "run `holdfast setup`"
        assert told["ok"] is False
        assert "tokens" not in checks, "what counts them is heavy, and loaded by a thorough look alone"

    def test_all_of_them(self, caller: Caller) -> None:
        checks = [row["check"] for row in caller.get("/api/health", deep=True)["findings"]]
        assert {"store", "tokens"} <= set(checks)

    def test_the_verdict_in_one_line_as_the_doctor_ends(self, caller: Caller) -> None:
        told = caller.get("/api/health")
        failed = [row for row in told["findings"] if not row["ok"]]
        assert told["findings"][: len(failed)] == failed, "problems first"
        assert told["summary"].startswith(f"{len(failed)} problem")

    def test_statistics_of_the_last_days(self, caller: Caller) -> None:
        told = caller.get("/api/stats", days=3)
        assert (told["days"], len(told["by_day"])) == (3, 3)
        assert told["sessions"]["stored"] >= told["sessions"]["count"]
        assert caller.ask("/api/stats?days=0").status == 422

    def test_figures_for_a_monitor(self, caller: Caller) -> None:
        answer = caller.ask("/api/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        told = dict(line.rsplit(" ", 1) for line in answer.body.decode().splitlines() if line[0] != "#")
        assert told["holdfast_sessions_kept"] == "6"
        assert told["holdfast_checkpoints_kept"] == "6"
        assert int(told["holdfast_store_bytes"]) > 0
        assert any(name.startswith("holdfast_http_requests_total{") for name in told)

    def test_the_next_brief(self, caller: Caller, project: Project) -> None:
        told = caller.get("/api/next-brief", project=project.project_id)
        assert (told["text"], told["budget"], told["items"]) == ("", 6_000, [])


class TestLive:
    def test_what_is_new_is_reported_as_it_comes(self, caller: Caller, furnished: Furnished) -> None:
        at = furnished.at + 10**9
        with caller.open("/api/live") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert stream.readline() == b"retry: 3000\n"
            with furnished.store() as store, store.writing():
                store.add_checkpoint(checkpoint("c-new", session="s9", created_at=at))
            lines = iter(stream.readline, b"")
            assert next(line for line in lines if line.startswith(b"event:")) == b"event: checkpoint\n"
            told = json.loads(next(lines).removeprefix(b"data: "))
        with furnished.store() as store, store.writing():
            store.trim_checkpoints("s9", 0)
        assert told == {"id": "c-new", "session": "s9", "at": at}

    @pytest.mark.parametrize("said", [*(f"the page {path}" for path in PAGES), "the query", "the browser"])
    @pytest.mark.parametrize("meanwhile", [(), ("c-meanwhile",)])
    def test_what_changed_since_a_page_or_an_event_was_seen_is_reported_first(
        self, caller: Caller, furnished: Furnished, said: str, meanwhile: tuple[str, ...]
    ) -> None:
        path, headers = _saying(caller, said)
        for id in meanwhile:
            _add(furnished, id)
        try:
            with caller.open(path, **headers) as stream:
                _add(furnished, "c-then")
                first = next(line for line in iter(stream.readline, b"") if line.startswith(b"event:"))
        finally:
            with furnished.store() as store, store.writing():
                store.trim_checkpoints("s9", 0)
        assert first == (b"event: missed\n" if meanwhile else b"event: checkpoint\n")


def _saying(caller: Caller, said: str) -> tuple[str, dict[str, str]]:
    """How to listen, and say what was seen: by a page, or by an event."""
    kind, _, path = said.rpartition(" ")
    if kind == "the page":
        page = caller.ask(path).body.decode()
        seen = page.partition('data-seen="')[2].partition('"')[0]
        return f"/api/live?seen={seen}", {}
    with caller.open("/api/live") as stream:
        opening = b"".join(iter(stream.readline, b"\n")).decode()
    seen = opening.partition("id: ")[2].strip()
    return (f"/api/live?seen={seen}", {}) if path == "query" else ("/api/live", {"Last-Event-ID": seen})


def _add(furnished: Furnished, id: str) -> None:
    with furnished.store() as store, store.writing():
        store.add_checkpoint(checkpoint(id, session="s9", created_at=furnished.at + 10**9))
