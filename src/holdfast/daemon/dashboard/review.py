"""The page of reviews: dream candidates from the continuity, decided one by one, also by keyboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.daemon.dashboard.continuity import choice
from holdfast.daemon.dashboard.frame import View, badge, code, diff, empty, page
from holdfast.daemon.dashboard.html import Html, el

Row = Mapping[str, Any]
STEPS: Final = {
    "blocked": (("adopt", "Adopt", "o"),),
    "pending": (("approve", "Approve", "a"), ("reject", "Reject", "r")),
    "approved": (("promote", "Promote", "p"), ("reject", "Reject", "r")),
    "rejected": (("approve", "Approve after all", "a"),),
    "manual-apply-pending": (("verify-apply", "I have applied it", "v"),),
}
_OPEN: Final = ("pending", "approved", "blocked", "manual-apply-pending")


def review_page(view: View, projects: Sequence[Row], chosen: str, candidates: Sequence[Row]) -> Html:
    """The candidates of a project, those that wait for a decision first."""
    if not projects:
        hint = el("span", "Candidates come from the continuity: ", code("holdfast session save"), ".")
        return page(view, "/review", "Review", empty("No project is known yet.", hint))
    ordered = sorted(
        candidates, key=lambda row: _OPEN.index(row["standing"]) if row["standing"] in _OPEN else len(_OPEN)
    )
    build = el("button", "Put up candidates", type="button", data_post=f"/api/projects/{chosen}/dreams")
    return page(
        view,
        "/review",
        "Review",
        choice(projects, chosen, "/review"),
        el("p", build, " ", _keys()),
        el("div", _list(chosen, ordered), id="candidates", data_live=True),
    )


def _keys() -> Html:
    keys = [
        (el("kbd", key), f" {name}  ")
        for key, name in (("j", "next"), ("k", "before"), ("a", "approve"), ("r", "reject"), ("p", "promote"))
    ]
    return el("span", keys, class_="note keys")


def _list(project: str, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty("Nothing waits for a decision.", "Candidates are put up from what the continuity says.")
    return el("ul", [_card(project, row) for row in rows], class_="candidates")


def _card(project: str, row: Row) -> Html:
    steps = STEPS.get(row["standing"], ())
    buttons = [
        el(
            "button",
            name,
            type="button",
            data_post=f"/api/projects/{project}/dreams/{row['id']}/{step}",
            data_key=key,
        )
        for step, name, key in steps
    ]
    patch = row["proposal"]
    preview = diff(patch["patch"]) if patch else diff(f"+ {row['text']}")
    where = f"would be added to {patch['file']}, by you" if patch else "would become a memory"
    where = "became a memory" if row["became"] else where
    return el(
        "li",
        el("p", row["text"], class_="text"),
        el("p", badge(row["standing"], row["standing"]), " ", badge(row["lane"]), " ", where, class_="note"),
        preview,
        el("div", buttons, class_="actions"),
        class_="candidate",
        id=f"candidate-{row['id']}",
        tabindex="-1",
    )
