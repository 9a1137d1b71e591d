"""A start that is given nothing is told why, and what to do about it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.events.world import Project
from holdfast.engine.repository.git import identity
from holdfast.engine.views import command_views
from holdfast.settings import Config, Continuity
from tests.engine.stage import HOUR, Stage


@pytest.fixture
def project(stage: Stage) -> Project:
    root = Path(stage.project("app"))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return identity(str(root))


def why(stage: Stage, project: Project, session: str = "") -> str:
    view = command_views.brief(stage.engine(), project, reason="startup", budget=None, session=session)
    return str(view["why"])


def test_where_no_session_was_seen(stage: Stage, project: Project) -> None:
    assert why(stage, project) == (
        f"no session was seen in `{project.path}`; `holdfast setup` connects a harness, "
        "`holdfast import` brings in earlier sessions"
    )


def test_where_the_last_session_is_older_than_the_window(stage: Stage, project: Project) -> None:
    stage.config = Config(continuity=replace(Continuity(), recovery_window_hours=4))
    stage.payload("aaaa1111-0000-4000", "start", source="startup")
    stage.write("aaaa1111-0000-4000", ("prompt", "Split the parser into two modules"))
    stage.payload("aaaa1111-0000-4000", "end", reason="other")
    assert why(stage, project) == ""
    stage.now += 6 * HOUR
    assert why(stage, project) == (
        "the last session here ended 6 h ago; the window is 4 h: "
        "`holdfast brief --session aaaa1111`, or set `continuity.recovery_window_hours`"
    )
    assert why(stage, project, "aaaa") == ""
    assert "Split the parser" in str(
        command_views.brief(stage.engine(), project, reason="startup", budget=None, session="aaaa")["brief"]
    )


def test_where_nothing_happened_in_the_session(stage: Stage, project: Project) -> None:
    stage.payload("aaaa1111-0000-4000", "start", source="startup")
    stage.payload("aaaa1111-0000-4000", "end", reason="other")
    assert why(stage, project) == "nothing happened in session aaaa1111 that could be given back"
