"""Overview: how things stand, in the few facts that a person asks for first.

Problems, harnesses, live sessions, the last checkpoint and brief, and the size of the store. `holdfast
status` prints it, and the dashboard can show the same. The caller adds the daemon, which only it can ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.config import Config
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import redact
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.health import connections, examine
from holdfast.engine.health.doctor import CheckResult, verdict_of
from holdfast.engine.health.examine import Surroundings
from holdfast.engine.health.sharing import check_sharing
from holdfast.engine.machine import this_machine, this_person
from holdfast.engine.views import serialisation
from holdfast.engine.views.serialisation import Row, project_identity_row, redacted_value
from holdfast.engine.views.stats import NO_BRIEFS
from holdfast.harnesses.base import Harness
from holdfast.stores.base import Captured
from holdfast.stores.codec import to_iso

LIVE_MOST: Final = 20
RECEIPTS_LOOKED_AT: Final = 50


def overview(engine: Engine, project: Project | None, *, environment: Mapping[str, str]) -> Row:
    """How things stand on this machine; with a project, its settings are checked too."""
    around = Surroundings(
        Path(engine.home or ""),
        engine.user_home,
        environment,
        Path(project.root) if project else None,
        project.project_id if project else None,
    )
    findings = (
        *examine.installation(around),
        *examine.stopped_projects(engine, around),
        *check_sharing(engine),
    )
    row: Row = {
        "problems": [finding.row for finding in verdict_of(findings).problems],
        "harnesses": list(_harnesses(engine, around, findings)),
        "live": _live(engine),
        "last_checkpoint": _last_checkpoint(engine),
        "last_brief": _last_brief(engine),
        "store": _store(engine),
        "hubs": [
            {"name": each.check.removeprefix("hub "), "ok": each.ok, "detail": each.detail}
            for each in check_sharing(engine)
        ],
        **_who_and_where(engine, project, around.home),
    }
    return redacted_value(row, redact)


def _who_and_where(engine: Engine, project: Project | None, home: Path) -> Row:
    """Which machine and person this is, and by which name others know the project."""
    config = engine.config(project) if project else Config()
    machine = this_machine(home, config)
    return {
        "machine": {"id": machine.id or None, "name": machine.name},
        "person": this_person(config),
        "project": {"root": project.root, **project_identity_row(engine, project)} if project else None,
    }


def _harnesses(engine: Engine, around: Surroundings, findings: Sequence[CheckResult]) -> Iterator[Row]:
    captured = {entry.harness: entry for entry in engine.store.captured()}
    for harness in examine.harnesses_here(around.environment):
        seen = captured.get(harness.name, Captured(harness.name, 0, 0, 0, 0))
        yield {
            "name": harness.name,
            "title": harness.title,
            "state": _state(harness, around, findings),
            "sessions": seen.sessions,
            "live": seen.live,
            "last_event_at": to_iso(seen.last_event_at) if seen.last_event_at else None,
        }


def _state(harness: Harness, around: Surroundings, findings: Sequence[CheckResult]) -> str:
    """`connected`, `blocked` (the user has to do something in the harness), `broken`, or why it is not."""
    if connections.is_connected(around.home, harness, around.user_home):
        problems = {finding.check for finding in findings if not finding.ok}
        if f"trust of {harness.name}" in problems:
            return "blocked"
        is_broken = any(check.endswith(f" of {harness.name}") for check in problems)
        return "broken" if is_broken else "connected"
    is_present = harness.present(around.user_home, around.environment.get("PATH", ""))
    return "not connected" if is_present else "not installed"


def _live(engine: Engine) -> list[Row]:
    """The live sessions, the one with the latest event first."""
    live = sorted(engine.store.live_sessions(), key=lambda session: session.last_event_at, reverse=True)
    fields = (
        "session_key",
        "short_id",
        "title",
        "harness",
        "project",
        "percent",
        "tokens",
        "capacity",
        "last_event_at",
    )
    rows = (serialisation.session_row(engine, session) for session in live[:LIVE_MOST])
    return [{name: row[name] for name in fields} for row in rows]


def _last_checkpoint(engine: Engine) -> Row | None:
    for checkpoint in engine.store.checkpoints(1):
        return {
            "id": checkpoint.id,
            "session_key": checkpoint.session,
            "title": _title(engine, engine.store.session(checkpoint.session)),
            "trigger": checkpoint.trigger,
            "created_at": to_iso(checkpoint.created_at),
        }
    return None


def _last_brief(engine: Engine) -> Row | None:
    for receipt in engine.store.receipts("", RECEIPTS_LOOKED_AT):
        if receipt.reason in NO_BRIEFS:
            continue
        about = engine.store.session(receipt.predecessor or receipt.session)
        return {
            "id": receipt.id,
            "session_key": receipt.session,
            "title": _title(engine, about),
            "reason": receipt.reason,
            "size": len(receipt.text),
            "created_at": to_iso(receipt.created_at),
        }
    return None


def _title(engine: Engine, session: Session | None) -> str:
    return str(serialisation.session_row(engine, session)["title"]) if session else ""


def _store(engine: Engine) -> Row:
    counts = engine.store.counts()
    return {
        "bytes": engine.store.size,
        "sessions": counts.sessions,
        "checkpoints": counts.checkpoints,
        "receipts": counts.receipts,
        "memories": counts.memories,
    }
