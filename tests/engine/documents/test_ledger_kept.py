"""What our home keeps of ledgers goes when it is forgotten, and is redacted again when the rules change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.documents.ledger import Ledger, LedgerEntry
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import Lists
from holdfast.engine.documents.ledger import DEFAULT_PATH
from holdfast.engine.privacy.forget import (
    Before,
    Choice,
    Everything,
    OneProject,
    OneSession,
    forget,
    rehearse,
)
from holdfast.engine.privacy.rewrite import rewrite
from holdfast.engine.redaction.redactor import Redactor
from holdfast.files import ledger as files
from holdfast.files.ledger import LedgerPlace
from tests.engine.documents.test_ledger import place, project, save, work
from tests.engine.stage import MINUTE, Stage

__all__ = ["place", "project"]


@pytest.mark.parametrize("choice", ["session", "project", "before", "everything"])
def test_what_is_forgotten_is_in_no_version(
    stage: Stage, project: Project, place: LedgerPlace, choice: str
) -> None:
    work(stage)
    save(stage, place, project)
    stage.now += MINUTE
    work(stage, "b")
    save(stage, place, project, session="b")
    chosen: dict[str, Choice] = {
        "session": OneSession("a"),
        "project": OneProject(project.project_id),
        "before": Before(stage.now + 1),
        "everything": Everything(),
    }
    home = stage.home / "holdfast"
    assert rehearse(stage.store, home, chosen[choice], stage.now).ledgers == 2
    assert len(files.versions(place)) == 2
    assert forget(stage.store, home, chosen[choice], stage.now).ledgers == 2
    assert files.folders(home) == []
    assert "sums of a" in (place.root / DEFAULT_PATH).read_text()


def test_others_ledgers_stay(stage: Stage, project: Project, place: LedgerPlace) -> None:
    work(stage)
    save(stage, place, project)
    work(stage, "b")
    home = stage.home / "holdfast"
    for choice in (OneSession("b"), OneProject("other")):
        assert forget(stage.store, home, choice, stage.now).ledgers == 0
    assert len(files.versions(place)) == 1


def test_a_ledger_whose_versions_are_gone_is_all_a_persons(
    stage: Stage, project: Project, place: LedgerPlace
) -> None:
    work(stage)
    save(stage, place, project, Ledger(now=(LedgerEntry("mine"),)))
    forget(stage.store, stage.home / "holdfast", Everything(), stage.now)
    work(stage, "b")
    said = save(stage, place, project, session="b")
    assert LedgerEntry("mine") in said.now
    assert "sums of a" in said.goal[0].text


def test_versions_are_redacted_again_when_the_rules_change(
    stage: Stage, project: Project, place: LedgerPlace
) -> None:
    work(stage)
    save(stage, place, project, Ledger(now=(LedgerEntry("opening plum-orchard-7"),)))
    assert "plum-orchard-7" in files.versions(place)[0].text()
    redactor = replace(Redactor(Lists(), b"secret"), lists=Lists(allow=(), deny=("plum-orchard-7",)))
    while rewrite(stage.store, stage.home / "holdfast", redactor, stage.now):
        pass
    for path in files.texts(place.folder):
        assert "plum-orchard-7" not in path.read_text()
    assert "plum-orchard-7" in (place.root / DEFAULT_PATH).read_text()
