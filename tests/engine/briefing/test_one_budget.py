"""What a preview shows is what is given: hook, `holdfast run`, `holdfast brief`, API and dashboard agree."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.brief.brief_input import Reason
from holdfast.core.events.world import Project
from holdfast.core.session.session import Process
from holdfast.daemon.api.sessions import next_row
from holdfast.daemon.dashboard.queries import would_keep
from holdfast.engine.briefing import wrapper
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.repository.git import identity
from holdfast.engine.views import command_views
from holdfast.settings import Brief, Config, Continuity
from tests.engine.briefing.test_start_context import saved
from tests.engine.stage import MINUTE, Stage

GONE = Process(2**22 - 1, 1)
LOADED = Continuity(auto_load=True)
CAP = frozenset({"continuity.recovery_budget_chars"})
SETTINGS = {
    "as they are by default, with the continuity": Config(continuity=LOADED),
    "without the continuity": Config(),
    "a small brief": Config(continuity=replace(LOADED, recovery_budget_chars=400), explicit=CAP),
    "a start smaller than its brief": Config(continuity=LOADED, brief=Brief(total_chars=700)),
    "more than the harness takes": Config(
        continuity=replace(LOADED, recovery_budget_chars=20_000),
        brief=Brief(total_chars=50_000),
        explicit=CAP,
    ),
    "a continuity of a few lines": Config(continuity=replace(LOADED, startup_lines=6)),
}


@pytest.fixture
def project(stage: Stage) -> Project:
    root = Path(stage.project("app"))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return identity(str(root))


@pytest.fixture(params=[*SETTINGS.values()], ids=[*SETTINGS])
def worked(request: pytest.FixtureRequest, stage: Stage, project: Project) -> Stage:
    """A long session of which not everything fits, some of it in letters of several bytes each."""
    stage.config = request.param
    saved(stage, project)
    remember(
        stage.engine(),
        project,
        MemoryRequest("The harbour crane unloads by weight, not by height."),
        source="cli",
    )
    stage.payload("a", "start", source="startup", process=GONE)
    for number in range(12):
        stage.now += MINUTE
        stage.write(
            "a",
            ("prompt", f"Make the harbour crane {number} unload containers by weight. {'𝔘' * 400}"),
            ("edits", stage.file(f"crane_{number}.c")),
            ("fails", f"make crane_{number}"),
            ("says", f"Decision: crane {number} weighs first, because the ramp bends. {'𝔖' * 200}"),
        )
    stage.payload("a", "stop", process=GONE)
    return stage


def previews(stage: Stage, project: Project, reason: Reason) -> list[str]:
    """What `holdfast brief` and the API show."""
    engine = stage.engine()
    by_command = command_views.brief(engine, project, reason=reason.value, budget=None)["brief"]
    return [str(by_command), str(next_row(engine, project.root, reason)["text"])]


def test_at_a_startup(worked: Stage, project: Project) -> None:
    worked.payload("a", "end", reason="other", process=GONE)
    engine = worked.engine()
    wrapped = wrapper.before(engine, project, engine.harness("playhouse")).text
    shown = previews(worked, project, Reason.STARTUP)
    by_hook = worked.payload("b", "start", source="startup")
    assert "harbour crane" in by_hook
    assert shown == [by_hook] * 2
    assert wrapped == (by_hook if worked.config.continuity.auto_load else "")


def test_after_a_clear(worked: Stage, project: Project) -> None:
    shown = previews(worked, project, Reason.CLEAR)
    by_hook = worked.payload("b", "start", source="clear", previous="a", process=GONE)
    assert "The context was just cleared." in by_hook
    assert shown == [by_hook] * 2


def test_after_a_compaction(worked: Stage, project: Project) -> None:
    # What a compaction stores may be found by a suggested query.
    worked.payload("a", "compaction", process=GONE)
    shown = [*previews(worked, project, Reason.COMPACT), str(would_keep(worked.engine(), "a")["text"])]
    by_hook = worked.payload("a", "start", source="compact", process=GONE)
    assert "Just compacted." in by_hook
    assert shown == [by_hook] * 3


def test_all_limits_hold_in_each_of_them(worked: Stage, project: Project) -> None:
    worked.payload("a", "end", reason="other", process=GONE)
    text = previews(worked, project, Reason.STARTUP)[0]
    assert len(text) <= worked.config.brief.total_chars
    assert len(text.encode()) <= worked.engine().harness("playhouse").answer_limit
    cap = worked.config.continuity.recovery_budget_chars
    assert worked.config.explicit != CAP or len(text.partition("</holdfast-recall>\n")[0]) <= cap


def test_only_a_start_without_history_gets_more_than_is_reserved(stage: Stage, project: Project) -> None:
    stage.payload("a", "start", source="startup", process=GONE)
    for harbour in "Ayr Barrow Cowes Dover Exmouth Fowey Goole Hull Ilfracombe Jarrow Kinsale Leith".split():
        stage.now += MINUTE
        asked = f"The cranes of {harbour} are {'old and heavy and ' * 12}must be oiled before winter."
        stage.write("a", ("prompt", asked), ("fails", f"make {harbour} {'--again ' * 12}"))
    stage.payload("a", "compaction", process=GONE)
    reserved = stage.config.continuity.recovery_budget_chars
    assert len(previews(stage, project, Reason.COMPACT)[0]) <= reserved
    assert reserved < len(previews(stage, project, Reason.CLEAR)[0]) <= stage.config.brief.total_chars
    assert reserved < len(previews(stage, project, Reason.STARTUP)[0]) <= stage.config.brief.total_chars
    stage.config = Config(explicit=CAP)
    assert len(previews(stage, project, Reason.STARTUP)[0]) <= reserved


def test_a_size_that_the_user_names_holds_for_all_that_is_shown(worked: Stage, project: Project) -> None:
    row = command_views.brief(worked.engine(), project, reason="startup", budget=600)
    assert 0 < len(str(row["brief"])) <= 600


def test_where_there_is_nothing_nothing_is_shown(stage: Stage, project: Project) -> None:
    stage.payload("a", "start", source="startup", process=GONE)
    for reason in (Reason.STARTUP, Reason.CLEAR, Reason.COMPACT):
        assert previews(stage, project, reason) == ["", ""]
