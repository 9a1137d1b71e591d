"""Handoffs: written where every worktree finds them, picked up with a look at what is still so."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.config import Config
from holdfast.core.documents.handoff_content import HandoffWords
from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import take
from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Trigger
from holdfast.engine.documents import handoff
from holdfast.engine.documents.handoff import FOLDER, HandoffFile, Verdict
from holdfast.engine.documents.ledger import DEFAULT_PATH
from holdfast.engine.repository.git import identity
from holdfast.errors import HoldfastError, PathRefused
from holdfast.settings import Session as Settings
from tests.engine.documents.test_ledger import TOKEN, work
from tests.engine.repository.test_git import commit, repository_in, run_git
from tests.engine.stage import MINUTE, Stage

DAY = "2027-01-15"


@pytest.fixture
def repo(stage: Stage) -> Path:
    return repository_in(stage.home / "app")


def create(
    stage: Stage, directory: Path, purpose: str = "Finish the report", own: HandoffWords | None = None
) -> HandoffFile:
    """The handoff of session `a`, made in a directory."""
    session = stage.store.session("a")
    assert session is not None
    events = stage.store.events("a", 1_000)
    return handoff.create(
        stage.engine(), identity(str(directory)), session, events, purpose, own or HandoffWords()
    )


class TestWhereItIsWritten:
    def check(self, stage: Stage, directory: Path, root: Path, name: str) -> None:
        work(stage)
        made = create(stage, directory)
        assert made.path == root / FOLDER / f"{DAY}-{name}-finish-the-report.md"
        assert made.path.read_text() == made.text
        assert handoff.find(handoff.all_handoffs(identity(str(directory))), "").path == made.path

    def test_in_a_repository(self, stage: Stage, repo: Path) -> None:
        self.check(stage, repo, repo, "main")

    def test_on_a_branch_with_a_slash(self, stage: Stage, repo: Path) -> None:
        run_git(repo, "checkout", "-q", "-b", "feature/sums")
        self.check(stage, repo, repo, "feature-sums")

    def test_on_a_branch_without_a_commit(self, stage: Stage, tmp_path: Path) -> None:
        root = tmp_path / "unborn"
        root.mkdir()
        run_git(root, "init", "-q", "-b", "start")
        self.check(stage, root, root, "start")

    def test_on_no_branch(self, stage: Stage, repo: Path) -> None:
        run_git(repo, "checkout", "-q", "--detach")
        self.check(stage, repo, repo, f"detached-{run_git(repo, 'rev-parse', 'HEAD')[:8]}")

    def test_without_git(self, stage: Stage, tmp_path: Path) -> None:
        root = tmp_path / "plain"
        root.mkdir()
        self.check(stage, root, root, "no-branch")

    def test_from_another_worktree_in_the_main_one(self, stage: Stage, repo: Path) -> None:
        tree = stage.home / "tree"
        run_git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
        self.check(stage, tree, repo, "side")
        assert (
            handoff.find(handoff.all_handoffs(identity(str(repo))), "").name
            == f"{DAY}-side-finish-the-report.md"
        )

    def test_where_the_main_one_is_bare_in_the_worktree_of_its_branch(self, stage: Stage, repo: Path) -> None:
        bare = stage.home / "bare.git"
        run_git(stage.home, "clone", "-q", "--bare", str(repo), str(bare))
        main, side = stage.home / "main", stage.home / "side"
        run_git(bare, "worktree", "add", "-q", "-b", "side", str(side))
        self.check(stage, side, side, "side")
        run_git(bare, "worktree", "add", "-q", str(main), "main")
        assert create(stage, side, "again").root == main
        assert len(handoff.all_handoffs(identity(str(main)))) == 2

    def test_in_a_submodule_in_the_submodule(self, stage: Stage, repo: Path) -> None:
        whole = repository_in(stage.home / "whole")
        run_git(whole, "submodule", "add", "-q", str(repo), "part")
        self.check(stage, whole / "part", whole / "part", "main")

    def test_through_no_link(self, stage: Stage, repo: Path, tmp_path: Path) -> None:
        work(stage)
        outside = tmp_path / "outside"
        outside.mkdir()
        (repo / ".agents").symlink_to(outside)
        with pytest.raises(PathRefused, match="link"):
            create(stage, repo)
        assert list(outside.iterdir()) == []


def test_what_a_model_wrote_at_the_last_checkpoint_is_in_its_sections(stage: Stage, repo: Path) -> None:
    work(stage)
    session = stage.store.session("a")
    assert session is not None
    rows = {
        "Goal": "The sums must add up.",
        "Rules": "Round half up.",
        "Done": "The totals are right.",
        "Now": "The tests are half written.",
        "Next": "Ask Ada about the rest.",
        "Decisions": "Cents are integers, because floats drift.",
        "Failures": "The report does not load.",
        "Questions": "Which currency?",
        "Where": "It is on the branch `sums`.",
    }
    words = "\n".join(f"## {heading}\n- {row}" for heading, row in rows.items())
    written = replace(take(session, Trigger.THRESHOLD, words, "m", stage.now)[1], outline=Outline(model="m"))
    with stage.store.writing():
        stage.store.add_checkpoint(written)
    made = create(stage, repo).text
    assert [row for row in rows.values() if row not in made] == []
    assert made.index("Ask Ada about the rest.") > made.index("The tests are half written.")


def test_it_tells_the_story_and_no_secret(stage: Stage, repo: Path) -> None:
    work(stage)
    made = create(
        stage, repo, f"go on with {TOKEN}", HandoffWords(current=(f"the key is {TOKEN}",), next=("ask Ada",))
    )
    assert "Mend the sums of a" in made.text
    assert "round half up" in made.text
    assert "- ask Ada" in made.text
    assert TOKEN not in made.text
    assert "a1b2c3" not in made.name
    assert made.head.session == "a"
    assert made.head.commit == run_git(repo, "rev-parse", "HEAD")


def test_it_needs_a_purpose(stage: Stage, repo: Path) -> None:
    work(stage)
    with pytest.raises(HoldfastError, match="needs a purpose"):
        create(stage, repo, "  ")


def test_two_on_one_day_do_not_meet(stage: Stage, repo: Path) -> None:
    work(stage)
    assert create(stage, repo).name != create(stage, repo).name
    project = identity(str(repo))
    assert len(handoff.all_handoffs(project)) == 2
    with pytest.raises(HoldfastError, match="several handoffs are named like"):
        handoff.find(handoff.all_handoffs(project), "finish")


@pytest.mark.parametrize("name", ["finish-the-report", "report", f"{DAY}-main-finish-the-report.md", ""])
def test_it_is_found_from_any_worktree(stage: Stage, repo: Path, name: str) -> None:
    work(stage)
    made = create(stage, repo)
    tree = stage.home / "tree"
    run_git(repo, "worktree", "add", "-q", str(tree))
    assert handoff.find(handoff.all_handoffs(identity(str(tree))), name).path == made.path


def test_what_is_not_there_is_an_error_that_says_where_to_look(stage: Stage, repo: Path) -> None:
    project = identity(str(repo))
    for name in ("", "nothing"):
        with pytest.raises(HoldfastError) as caught:
            handoff.find(handoff.all_handoffs(project), name)
        assert "there are none yet" in caught.value.hint
    (repo / FOLDER).mkdir(parents=True)
    (repo / FOLDER / "notes.md").write_text("# Notes\n")
    (repo / FOLDER / "link.md").symlink_to("/etc/passwd")
    assert handoff.all_handoffs(project) == []


def test_a_bare_repository_has_no_place_for_one(stage: Stage, repo: Path) -> None:
    work(stage)
    bare = stage.home / "bare.git"
    run_git(stage.home, "clone", "-q", "--bare", str(repo), str(bare))
    with pytest.raises(HoldfastError, match="bare repository without a worktree"):
        create(stage, bare)
    assert not (bare / ".agents").exists()
    side = stage.home / "side"
    run_git(bare, "worktree", "add", "-q", "-b", "side", str(side))
    assert create(stage, bare).root == side


class TestPickingUp:
    def test_what_is_as_it_was_is_verified(self, stage: Stage, repo: Path) -> None:
        work(stage)
        made = create(stage, repo)
        findings = handoff.verify_handoff(identity(str(repo)), made)
        assert {finding.verdict for finding in findings} == {Verdict.VERIFIED}
        assert [finding.what for finding in findings][:2] == [
            "branch `main`",
            f"commit {made.head.commit[:10]}",
        ]
        assert handoff.verdict(findings) is Verdict.VERIFIED

    @pytest.mark.parametrize(
        ("change", "what", "detail"),
        [
            (lambda repo: (repo / "a.c").unlink(), "`a.c` exists", "it is gone"),
            (lambda repo: commit(repo, "second"), "commit ", "since then: commit: second"),
            (lambda repo: run_git(repo, "checkout", "-q", "-b", "side"), "branch `main`", "now it is `side`"),
        ],
        ids=["a file", "a commit", "the branch"],
    )
    def test_what_drifted_is_shown(
        self, stage: Stage, repo: Path, change: Callable[[Path], object], what: str, detail: str
    ) -> None:
        work(stage)
        made = create(stage, repo)
        change(repo)
        findings = handoff.verify_handoff(identity(str(repo)), made)
        drifted = [finding for finding in findings if finding.verdict is Verdict.DRIFT]
        assert [(finding.what.startswith(what), finding.detail) for finding in drifted] == [(True, detail)]
        assert handoff.verdict(findings) is Verdict.DRIFT

    def test_a_line_that_is_not_there_any_more_is_drift(self, stage: Stage, repo: Path) -> None:
        work(stage)
        made = create(stage, repo)
        text = made.text.replace("- `a.c` exists", "- `a.c` holds `int main(void)`")
        (made.path).write_text(text)
        found = handoff.find(handoff.all_handoffs(identity(str(repo))), "report")
        findings = handoff.verify_handoff(identity(str(repo)), found)
        assert [finding.detail for finding in findings if finding.verdict is Verdict.DRIFT] == [
            "the line is not there any more"
        ]
        (repo / "a.c").write_text("int main(void) {}")
        assert handoff.verdict(handoff.verify_handoff(identity(str(repo)), found)) is Verdict.VERIFIED

    def test_what_nobody_can_tell_is_said_so(self, stage: Stage, repo: Path) -> None:
        work(stage)
        made = create(stage, repo)
        text = made.text.replace("- `a.c` exists", "- `../outside.c` exists")
        made.path.write_text(text.replace(made.head.commit, "0" * 40))
        findings = handoff.verify_handoff(
            identity(str(repo)), handoff.find(handoff.all_handoffs(identity(str(repo))), "report")
        )
        unknown = [finding.what for finding in findings if finding.verdict is Verdict.UNKNOWN]
        assert unknown == ["commit 0000000000", "`../outside.c` exists"]
        assert handoff.verdict(findings) is Verdict.UNKNOWN

    def test_what_the_document_calls_unconfirmed_is_not_called_verified(
        self, stage: Stage, repo: Path
    ) -> None:
        work(stage)
        later = stage.now / 1000 + 600
        os.utime(repo / "a.c", (later, later))
        made = create(stage, repo)
        assert "Edited `a.c` — UNCONFIRMED: changed since" in made.text
        findings = handoff.verify_handoff(identity(str(repo)), made)
        assert [finding.line for finding in findings if finding.verdict is not Verdict.VERIFIED] == [
            "Unable to verify: Edited `a.c` (UNCONFIRMED in the document: changed since)"
        ]
        assert handoff.verdict(findings) is Verdict.UNKNOWN

    def test_where_nothing_can_be_looked_at_nobody_can_tell(self) -> None:
        assert handoff.verdict([]) is Verdict.UNKNOWN

    def test_a_merge_conflict_in_it_is_drift(self, stage: Stage, repo: Path) -> None:
        work(stage)
        made = create(stage, repo)
        conflict = "<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> side\n"
        made.path.write_text(
            made.text.replace("## Request and Intent\n", f"## Request and Intent\n{conflict}")
        )
        found = handoff.find(handoff.all_handoffs(identity(str(repo))), "report")
        findings = handoff.verify_handoff(identity(str(repo)), found)
        line = found.text.splitlines().index("<<<<<<< HEAD") + 1
        assert findings[0].line == f"Drift: the document (a merge conflict begins in its line {line})"
        assert handoff.verdict(findings) is Verdict.DRIFT

    def test_one_whose_lines_end_as_on_windows_is_verified_and_keeps_them(
        self, stage: Stage, repo: Path
    ) -> None:
        work(stage)
        made = create(stage, repo)
        made.path.write_bytes(made.text.replace("\n", "\r\n").encode())
        found = handoff.find(handoff.all_handoffs(identity(str(repo))), "report")
        assert found.head == made.head
        assert handoff.verify_handoff(identity(str(repo)), found) == handoff.verify_handoff(
            identity(str(repo)), made
        )
        handoff.pick_up(stage.engine(), found, None)
        written = made.path.read_bytes()
        assert written.count(b"\n") == written.count(b"\r\n") == made.text.count("\n")

    def test_it_is_marked_with_time_and_session_and_not_offered_again(self, stage: Stage, repo: Path) -> None:
        work(stage)
        create(stage, repo)
        work(stage, "b")
        project = identity(str(repo))
        stage.now += MINUTE
        taken = handoff.pick_up(
            stage.engine(), handoff.find(handoff.all_handoffs(project), "report"), stage.store.session("b")
        )
        assert taken.head.status == "consumed 2027-01-15T10:01:00Z by session b"
        assert handoff.find(handoff.all_handoffs(project), "report").head == taken.head
        with pytest.raises(HoldfastError, match="no handoff is open"):
            handoff.find(handoff.all_handoffs(project), "")
        lineage = stage.store.lineage("b")
        assert lineage is not None
        assert (lineage.parent, lineage.kind) == ("a", "handoff")

    def test_by_a_person_too(self, stage: Stage, repo: Path) -> None:
        work(stage)
        taken = handoff.pick_up(stage.engine(), create(stage, repo), None)
        assert taken.head.status.endswith(" by a person")

    def test_one_that_came_with_the_clone_is_known_as_that(self, stage: Stage, repo: Path) -> None:
        work(stage)
        made = create(stage, repo)
        project: Project = identity(str(repo))
        assert not handoff.find(handoff.all_handoffs(project), "").is_tracked
        run_git(repo, "add", "-f", str(made.path))
        assert handoff.find(handoff.all_handoffs(project), "").is_tracked


def test_a_session_that_has_handed_off_saves_no_ledger_by_itself(stage: Stage, repo: Path) -> None:
    stage.config = Config(session=Settings(ledger=True))
    work(stage)
    create(stage, repo)
    stage.payload("a", "compaction")
    assert not (repo / DEFAULT_PATH).exists()
    work(stage, "b")
    stage.payload("b", "compaction")
    assert (repo / DEFAULT_PATH).exists()
