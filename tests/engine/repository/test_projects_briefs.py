"""What sessions are given where a project moved, and where another one took its place."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.session.session import begin
from holdfast.engine.privacy import forget
from holdfast.engine.repository import projects
from holdfast.engine.repository.git import identity
from holdfast.settings import Capture
from tests.engine.briefing.test_resume import GONE
from tests.engine.repository.test_git import repository_in
from tests.engine.stage import MINUTE, Stage


@pytest.fixture
def repo(stage: Stage) -> Path:
    """A repository in which a session has edited a file and died."""
    repo = repository_in(stage.home / "repo")
    stage.payload("a", "start", source="startup", process=GONE, cwd=str(repo))
    stage.payload("a", "prompt", text="mend the parser", process=GONE, cwd=str(repo))
    edited = repo / "main.c"
    edited.write_text("int x;")
    os.utime(edited, (stage.now / 1000, stage.now / 1000))
    stage.write("a", ("prompt", "mend the parser"), ("edits", str(edited)))
    stage.payload("a", "stop", process=GONE, cwd=str(repo))
    stage.now += 5 * MINUTE
    return repo


def started(stage: Stage, session: str, directory: Path) -> str:
    return stage.payload(session, "start", source="startup", cwd=str(directory))


def test_a_moved_project_is_given_its_brief_and_told_of_the_move(stage: Stage, repo: Path) -> None:
    moved = stage.home / "moved"
    repo.rename(moved)
    brief = started(stage, "b", moved)
    assert "mend the parser" in brief
    assert f"the project was at `{repo}`, now it is at `{moved}`" in brief
    assert "main.c" in brief
    assert "gone since" not in brief, "the files are where the project is now"


def test_a_file_that_went_after_the_move_is_still_reported_as_gone(stage: Stage, repo: Path) -> None:
    moved = stage.home / "moved"
    repo.rename(moved)
    (moved / "main.c").unlink()
    assert "gone since" in started(stage, "b", moved)


def test_another_repository_at_the_path_is_given_nothing(stage: Stage, repo: Path) -> None:
    shutil.rmtree(repo)
    repository_in(repo)
    assert "mend the parser" not in started(stage, "b", repo)
    session = stage.store.session("b")
    before = stage.store.session("a")
    assert session is not None
    assert before is not None
    assert session.project.project_id != before.project.project_id


def test_of_an_excluded_directory_no_place_is_kept(stage: Stage) -> None:
    secret = repository_in(stage.home / "secret")
    stage.config = replace(stage.config, capture=Capture(exclude=(str(secret),)))
    started(stage, "a", secret)
    assert stage.store.sites() == []


def test_a_forgotten_project_leaves_no_place_unless_it_has_settings(stage: Stage, repo: Path) -> None:
    home = stage.home / "holdfast"
    (site,) = stage.store.sites()
    own = home / "projects" / site.project_id / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    forget.forget(stage.store, home, forget.OneProject(site.project_id), stage.now)
    assert stage.store.sites() == [site], "its user has settings for it, which are to be found where it moves"
    own.unlink()
    forget.forget(stage.store, home, forget.OneProject(site.project_id), stage.now)
    assert stage.store.sites() == []
    assert repo.is_dir()


def test_a_project_is_known_by_any_path_that_leads_to_it(stage: Stage, repo: Path) -> None:
    engine, link = stage.engine(), stage.home / "link"
    link.symlink_to(repo)
    (repo / "src").mkdir()
    (site,) = stage.store.sites()
    for name in (site.project_id, str(repo), f"{repo}/", str(link), f"{link}/src", f"{repo}/src/.."):
        known = projects.project_if_stored(engine, name)
        assert known is not None, name
        assert known.project_id == site.project_id
    for name in ("", "repo", "/", str(stage.home), "/nowhere", "\0"):
        assert projects.project_if_stored(engine, name) is None, name


def test_a_path_that_changed_hands_names_the_one_that_is_there(stage: Stage, repo: Path) -> None:
    (site,) = stage.store.sites()
    shutil.rmtree(repo)
    gone = projects.project_if_stored(stage.engine(), str(repo))
    assert gone is not None
    assert gone.project_id == site.project_id
    repository_in(repo)
    assert projects.project_if_stored(stage.engine(), str(repo)) is None, "nothing is known of that one yet"
    assert projects.project_if_stored(stage.engine(), site.project_id) is not None


def test_a_path_of_an_older_version_that_is_gone_still_names_its_project(stage: Stage) -> None:
    gone = identity("/gone/shop")
    with stage.store.writing():
        stage.store.put_session(begin("s1", "playhouse", gone, stage.now))
    assert projects.project_if_stored(stage.engine(), "/gone/shop") == gone
    assert projects.by_name(stage.store, "/gone/shop") == gone
