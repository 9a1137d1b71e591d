"""The pages of one session: its work state, timeline, prompts, failures, checkpoints and briefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from holdfast.core.evidence.kinds import Section
from holdfast.core.session.reason_words import reason_words, trigger_words
from holdfast.core.work.lines import SECTION_TITLES
from holdfast.daemon.dashboard.files import file_path
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    copyable,
    diff,
    dotted,
    empty,
    gauge,
    many,
    page,
    phase_badge,
    pre,
    section,
    session_link,
    session_path,
    short,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el
from holdfast.daemon.dashboard.plots import timeline
from holdfast.engine.views.timeline import FailedCall, Moment, TimelineView
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso

STATEMENTS_OPEN: Final = 5
"""How many statements of a section are shown at once; the others are folded."""
CHECKPOINTS_OPEN: Final = 8
LISTED_OPEN: Final = 8
_READ_FORWARD: Final = frozenset({Section.GOAL, Section.RULES, Section.NOW, Section.NEXT, Section.QUESTIONS})
IMPORTED: Final = (
    "Imported: search finds what was said in it. Single events are not stored, so it has no timeline."
)
ELSEWHERE: Final = "Its transcript, timeline and checkpoints are on its own machine."
FILES_OPEN: Final = 12


@dataclass(frozen=True, slots=True)
class SessionPageFacts:
    """All that a session's page shows, redacted."""

    row: Row
    timeline_view: TimelineView
    checkpoints: Sequence[Row]
    briefs_given: Sequence[Row]
    """The briefs that it was given."""
    briefs_made: Sequence[Row]
    """The briefs about it that other sessions were given."""
    point: Row | None
    changed: Row | None
    files: Sequence[Row] = ()
    """The files that it changed, the last changed first."""


def session_page(view: PageContext, facts: SessionPageFacts) -> Html:
    """The page of one session; of one from another machine, without what stays there."""
    row, key = facts.row, str(facts.row["session_key"])
    is_here = not row["machine"]
    return page(
        view,
        "/sessions",
        row["title"] or f"Session {short(key)}",
        el(
            "div",
            section("Work state", work_state(view, row), id="work", live=True),
            el("aside", _facts(view, row), _briefs(view, facts), aria_label="About this session"),
            class_="split",
        ),
        _timeline_section(view, row, facts) if is_here else el("p", ELSEWHERE, class_="note"),
        _detail(view, facts.point),
        _listed(view, facts.timeline_view),
        section("Files it changed", _files(row, facts.files), id="files") if facts.files else NOTHING,
        section("Checkpoints", _checkpoints(view, key, facts.checkpoints), id="checkpoints")
        if is_here
        else NOTHING,
        _difference(facts.changed),
    )


def _facts(view: PageContext, row: Row) -> Html:
    key = str(row["session_key"])
    terms = (
        ("From", f"{row['person']} on {row['machine']}" if row["machine"] else ""),
        ("State", el("span", phase_badge(row), " ", dotted(row["harness"], row["model"]))),
        ("Project", el("span", view.path(str(row["project"])), class_="path")),
        ("Began", view.clock(row["started_at"])),
        ("Last event", view.ago(row["last_event_at"])),
        ("Length", dotted(many(row["prompt_count"], "prompt"), many(row["windows"], "window"))),
        ("Continues", _parent(row)),
        ("Id", copyable(key, str(row["short_id"]))),
    )
    return el(
        "div",
        el(
            "dl",
            [el("div", el("dt", name), el("dd", value)) for name, value in terms if value],
            class_="facts",
        ),
        NOTHING if row["machine"] else gauge(row),
        el("p", IMPORTED, " ", row["note"], class_="note") if row["imported"] else NOTHING,
        id="facts",
        data_live=True,
    )


def _parent(row: Row) -> Html:
    """The session whose work it continues, and how."""
    if not row["parent"]:
        return NOTHING
    return dotted(session_link(row["parent"], row["parent_title"] or None), reason_words(row["lineage"]))


def _briefs(view: PageContext, facts: SessionPageFacts) -> Html:
    lists = (("Briefs it was given", facts.briefs_given), ("Briefs it gave to others", facts.briefs_made))
    return el("div", [_brief_list(view, *each) for each in lists if each[1]], id="briefs", data_live=True)


def _brief_list(view: PageContext, title: str, rows: Sequence[Row]) -> Html:
    listed = [
        el(
            "li",
            el("a", reason_words(row["reason"]), href=f"/briefs/{row['id']}"),
            el("span", view.clock(row["created_at"]), class_="when"),
        )
        for row in rows
    ]
    return el("div", el("h3", title), el("ul", listed, class_="pairs"))


def work_state(view: PageContext, row: Row) -> Html:
    """The statements by section; an empty section is left out."""
    sections = [(title, _in_reading_order(section, row)) for section, title in SECTION_TITLES.items()]
    if not any(statements for _, statements in sections):
        return empty("Nothing is known of its work.", "The agent's goal, steps and results show up here.")
    return el("dl", [_statements(view, *each) for each in sections if each[1]], class_="work")


def _in_reading_order(section: Section, row: Row) -> Sequence[Row]:
    """What was asked for and is to do from its beginning; of what happened the newest first."""
    statements: Sequence[Row] = row["work"][section]
    return statements if section in _READ_FORWARD else tuple(reversed(statements))


def _statements(view: PageContext, title: str, statements: Sequence[Row]) -> Html:
    lines = [_statement(view, statement) for statement in statements]
    first, others = lines[:STATEMENTS_OPEN], lines[STATEMENTS_OPEN:]
    rest = el("details", el("summary", f"{len(others)} more"), el("ul", others)) if others else NOTHING
    return el("div", el("dt", title), el("dd", el("ul", first), rest))


def _statement(view: PageContext, statement: Row) -> Html:
    text = with_code(view.with_home(str(statement["text"])))
    at, source = statement["at"], statement["source"]
    if not at:
        return el("li", text)
    when = view.clock(at)
    link = el("a", when, href=_link(source), class_="when")
    return el("li", text, " ", link if source else el("span", when, class_="when"))


def _timeline_section(view: PageContext, row: Row, facts: SessionPageFacts) -> Html:
    """The timeline; nothing where an imported session has none, which its facts say."""
    shown = facts.timeline_view
    if row["imported"] and not (shown.work or shown.counts):
        return NOTHING
    return section("Timeline", _timeline(view, row, facts), id="timeline", live=True)


def _files(row: Row, files: Sequence[Row]) -> Html:
    """The files that it changed, each with its history."""
    project = str(row["project_id"])
    listed = [
        el(
            "li",
            el("a", each["path"], href=file_path(project, str(each["path"])), class_="path"),
            el("span", f"{each['times']}×" if each["times"] > 1 else "", class_="note"),
        )
        for each in files
    ]
    first, others = listed[:FILES_OPEN], listed[FILES_OPEN:]
    rest = el("details", el("summary", f"{len(others)} more"), el("ul", others, class_="pairs columns-list"))
    return el("div", el("ul", first, class_="pairs columns-list"), rest if others else NOTHING)


def _timeline(view: PageContext, row: Row, facts: SessionPageFacts) -> Html:
    shown = facts.timeline_view
    if not (shown.moments or shown.work or shown.counts):
        return empty(
            "Nothing is known of what happened here.",
            "Only what was said in it may be kept; search finds it.",
        )
    chosen = facts.point["id"] if facts.point else ""
    picture = timeline(shown, row["capacity"], chosen, _link, view.short_time, view.time_of_day)
    left_out = many(shown.left_out, "earlier event")
    note = el("p", f"Not drawn: {left_out}.", class_="note") if shown.left_out else NOTHING
    scrolls = el("div", picture, class_="wide", tabindex="0", role="group", aria_label="Timeline, scrolls")
    return el("div", scrolls, el("p", id="tip", class_="tip", hidden=True, aria_hidden="true"), note)


def _detail(view: PageContext, point: Row | None) -> Html:
    if point is None:
        return NOTHING
    head = el("p", badge(point["kind"]), " ", view.clock(point["at"]), " ", with_code(point["title"]))
    command = el("pre", point["command"], class_="command") if point["command"] else NOTHING
    body = pre(point["text"]) if point["text"] else NOTHING
    return section("Detail", head, command, body, id="detail")


def _listed(view: PageContext, shown: TimelineView) -> Html:
    if not (shown.prompts or shown.failures):
        return NOTHING
    prompts = [_prompt(view, moment) for moment in reversed(shown.prompts)]
    failures = [_failure(view, failed) for failed in reversed(shown.failures)]
    return el(
        "div",
        section("Prompts", _some(prompts, "moments"), id="prompts") if prompts else NOTHING,
        section("Failures", _some(failures, "moments"), id="failures") if failures else NOTHING,
        class_="beside",
    )


def _some(items: Sequence[Html], class_: str) -> Html:
    """A list of which only the first entries are unfolded."""
    first, others = items[:LISTED_OPEN], items[LISTED_OPEN:]
    rest = el("details", el("summary", f"{len(others)} earlier"), el("ol", others, class_=class_))
    return el("div", el("ol", first, class_=class_), rest if others else NOTHING)


def _prompt(view: PageContext, moment: Moment) -> Html:
    return el("li", _when(view, moment.at, moment.id), el("span", moment.title, class_="text"))


def _failure(view: PageContext, failed: FailedCall) -> Html:
    what = el("span", el("code", failed.subject), el("span", failed.error, class_="error"))
    return el("li", _when(view, failed.at, failed.id), what)


def _when(view: PageContext, at: int, id: str) -> Html:
    """The time of an event, which leads to its detail if it is stored."""
    when = view.clock(to_iso(at)) if at else NOTHING
    return el("a", when, href=_link(id), class_="when") if id else el("span", when, class_="when")


def _checkpoints(view: PageContext, key: str, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty(
            "No checkpoint yet.", "One is taken every 10 prompts or 15 minutes, and before a compaction."
        )
    listed = [_checkpoint(view, row, number, len(rows)) for number, row in enumerate(rows)]
    first, others = listed[:CHECKPOINTS_OPEN], listed[CHECKPOINTS_OPEN:]
    rest = el("details", el("summary", f"{len(others)} earlier"), el("ul", others, class_="checkpoints"))
    compare = el(
        "p",
        el("button", "Compare", type="submit"),
        el("span", " the two that are marked", class_="note"),
        class_="actions",
    )
    return el(
        "form",
        el("ul", first, class_="checkpoints"),
        rest if others else NOTHING,
        compare if len(rows) > 1 else NOTHING,
        method="get",
        action=f"{session_path(key)}#difference",
    )


def _checkpoint(view: PageContext, row: Row, number: int, of: int) -> Html:
    """A checkpoint as a row; opened, it says what changed since the one before."""
    path = f"/checkpoints/{quote(str(row['id']), safe='')}"
    head = el(
        "summary",
        el("span", view.clock(row["created_at"]), class_="when"),
        el("span", trigger_words(row["trigger"]), class_="why"),
        el("span", _changes(row), class_="note"),
    )
    body = el("div", el("a", "What changed", href=path), data_load=path)
    choices = (_choice("older", row, is_chosen=number == 1), _choice("newer", row, is_chosen=number == 0))
    return el("li", el("span", choices if of > 1 else None, class_="choices"), el("details", head, body))


def _changes(row: Row) -> str:
    if row["added"] is None:
        return "the first"
    changed = f"+{row['added']} −{row['removed']}" if row["added"] or row["removed"] else "no change"
    return f"{many(row['prompt_count'], 'prompt')} · {changed}"


def checkpoint_page(view: PageContext, row: Row, changed: Row | None) -> Html:
    """A checkpoint: what changed since the one before, and its text."""
    head = dotted(
        el("span", "Of ", session_link(row["session_key"], row["title"] or None)),
        trigger_words(row["trigger"]),
        view.clock(row["created_at"]),
        copyable(str(row["id"])),
    )
    difference = _changed_lines(changed) if changed else el("p", "It is the first one.", class_="note")
    whole = el("details", el("summary", "The whole checkpoint"), pre(row["digest"]), open=changed is None)
    return page(
        view,
        "/sessions",
        "Checkpoint",
        el("p", head, class_="note"),
        el("div", difference, whole, data_fragment=True),
    )


def _choice(name: str, row: Row, *, is_chosen: bool) -> Html:
    label = f"{'From' if name == 'older' else 'To'} {row['created_at']}"
    return el("input", type="radio", name=name, value=row["id"], aria_label=label, checked=is_chosen)


def _difference(changed: Row | None) -> Html:
    return section("Difference", _changed_lines(changed), id="difference") if changed else NOTHING


def _changed_lines(changed: Row) -> Html:
    return diff(changed["diff"]) if changed["diff"] else el("p", "They say the same.", class_="note")


def compaction_page(view: PageContext, row: Row) -> Html:
    """What a session would be given back if it were compacted now."""
    content = (
        pre(row["text"])
        if row["text"]
        else empty("Nothing yet.", "There is something to keep once the agent did something.")
    )
    return page(
        view,
        "/sessions",
        "What a compaction would keep",
        el(
            "div",
            el("p", "Of ", session_link(row["session_key"], row["title"] or None)),
            content,
            data_fragment=True,
        ),
    )


def _link(point: str) -> str:
    """A link to a point from its session's own page; relative, because there are hundreds."""
    return f"?point={quote(point, safe='')}#detail"
