"""The page of what other machines and teammates shared: handoffs, sessions and memories, with authors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.daemon.dashboard.continuity import handoff_path
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    dotted,
    empty,
    name_of,
    page,
    phase_badge,
    project_name,
    section,
    select,
    session_link,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import Html, el

TEAM_PATH: Final = "/team"


def team_page(view: PageContext, team: Row, projects: Sequence[Row], chosen: Row) -> Html:
    """What was shared with this machine, by person, machine and project."""
    is_filtered = any(chosen.values())
    if not (team["people"] or is_filtered):
        hint = el("span", "Join a hub with ", code("holdfast hub join"), "; docs/teams.md says how.")
        return page(view, TEAM_PATH, "Team", empty("Nobody shared anything with this machine.", hint))
    return page(
        view,
        TEAM_PATH,
        "Team",
        el(
            "form",
            _filters(view, team, projects, chosen),
            el("noscript", el("button", "Show", type="submit")),
            method="get",
            action=TEAM_PATH,
            class_="filters",
        ),
        section("Handoffs", _handoffs(view, team["handoffs"]), id="handoffs", live=True),
        section("Sessions", _sessions(view, team["sessions"]), id="sessions", live=True),
        section("Memories", _memories(view, team["memories"]), id="memories", live=True),
    )


def _filters(view: PageContext, team: Row, projects: Sequence[Row], chosen: Row) -> Html:
    people = [("", "Everybody"), *((name, name) for name in team["people"])]
    machines = [("", "All machines"), *((row["id"], row["name"]) for row in team["machines"])]
    paths = [
        ("", "All projects"),
        *((str(row["project_id"]), view.path(str(row["path"]))) for row in projects),
    ]
    return el(
        "div",
        select("person", "Person", people, str(chosen["person"])),
        select("machine", "Machine", machines, str(chosen["machine"])),
        select("project", "Project", paths, str(chosen["project"])),
        class_="line",
    )


def _where(row: Row) -> str:
    return f"{row['person']} on {row['machine']}"


def _handoffs(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty("No handoff was shared.", code("holdfast handoff create PURPOSE --to NAME"))
    body = [
        el(
            "tr",
            el(
                "td",
                el("a", with_code(row["purpose"]), href=handoff_path(row["project_id"], row["file"])),
                el("div", dotted(_where(row), _state(row)), class_="sub"),
                class_="main",
            ),
            el("td", _where(row), class_="spare still"),
            el("td", row["to"] or "everybody", class_="spare"),
            el("td", _state(row), class_="spare"),
            el("td", view.ago(row["created"]), class_="number"),
        )
        for row in rows
    ]
    names = ("Handoff", "From", "For", "State", "Written")
    return table("Handoffs", names, body, ("Written",), names[1:4])


def _state(row: Row) -> Html:
    if row["waits"]:
        return badge("waits for you", "label")
    return badge("open" if row["is_open"] else "picked up", "fine" if row["is_open"] else "absent")


def _sessions(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty(
            "No session was shared.", el("span", code('sessions = "own"'), " in ", code("[sharing]"))
        )
    body = [
        el(
            "tr",
            el(
                "td",
                session_link(row["session_key"], name_of(row)),
                el("div", dotted(_where(row), row["harness"], phase_badge(row)), class_="sub"),
                class_="main",
            ),
            el("td", _where(row), class_="spare still"),
            el("td", project_name(view, str(row["project"])), class_="spare"),
            el("td", dotted(row["harness"], phase_badge(row)), class_="spare note still"),
            el("td", view.ago(row["last_event_at"]), class_="number"),
        )
        for row in rows
    ]
    names = ("Session", "From", "Project", "Harness", "Last event")
    return table("Sessions", names, body, ("Last event",), names[1:4])


def _memories(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty("No memory was given to the team.", code("holdfast memories share ID"))
    body = [
        el(
            "tr",
            el("td", with_code(row["text"]), el("div", _where(row), class_="sub"), class_="main"),
            el("td", _where(row), class_="spare still"),
            el("td", project_name(view, str(row["project"])), class_="spare"),
            el("td", view.ago(row["created_at"]), class_="number"),
        )
        for row in rows
    ]
    names = ("Memory", "From", "Project", "Remembered")
    return table("Memories", names, body, ("Remembered",), names[1:3])
