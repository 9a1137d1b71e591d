"""The ledger as it is saved, kept up by itself, and looked at: in a worktree of its own, with a real git."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.config import Config
from holdfast.core.documents.ledger import Ledger, LedgerEntry, parse, read
from holdfast.core.events.world import Project
from holdfast.engine.documents import ledger
from holdfast.engine.documents.ledger import DEFAULT_PATH, Rules, place_of, rules
from holdfast.engine.repository.git import identity
from holdfast.errors import HoldfastError, PathRefused
from holdfast.files import ledger as files
from holdfast.files.ledger import LedgerPlace
from holdfast.settings import Session as Settings
from tests.engine.repository.test_git import run_git
from tests.engine.stage import HOUR, MINUTE, NOON, Stage

NOTHING = Ledger()
TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def project(stage: Stage) -> Project:
    """A repository with one commit, in which the stage's sessions work."""
    root = Path(stage.project("app"))
    run_git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("A project.\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "Begin")
    return identity(str(root))


@pytest.fixture
def place(stage: Stage, project: Project) -> LedgerPlace:
    return place_of(stage.home / "holdfast", project, DEFAULT_PATH)


def enable(stage: Stage) -> None:
    stage.config = replace(Config(), session=Settings(ledger=True))


def work(
    stage: Stage, session: str = "a", minutes: int = 60, files: tuple[str, ...] = ("a.c", "b.c")
) -> None:
    """A session that worked for so long on these files."""
    stage.payload(session, "start", source="startup")
    stage.write(session, ("prompt", f"Mend the sums of {session}, never touch legacy.c"))
    stage.now += minutes * MINUTE
    edits = [("edits", stage.file(name)) for name in files]
    stage.write(session, *edits, ("says", "I decided to round half up."), ("fails", "make check"))
    stage.payload(session, "stop")


def save(
    stage: Stage, place: LedgerPlace, project: Project, given: Ledger = NOTHING, session: str = "a"
) -> Ledger:
    return ledger.save(stage.engine(), place, project, stage.store.session(session), given).ledger


class TestRules:
    ON = "session:\n  ledger: true\n"

    @pytest.mark.parametrize(
        ("own", "decided", "shared", "expected"),
        [
            (Settings(), False, "", Rules(allowed=False, path=DEFAULT_PATH)),
            (Settings(), False, ON, Rules(allowed=True, path=DEFAULT_PATH)),
            (Settings(), False, "session:\n  ledger: false\n", Rules(allowed=False, path=DEFAULT_PATH)),
            (Settings(ledger=True), True, "", Rules(allowed=True, path=DEFAULT_PATH)),
            (Settings(ledger=False), True, ON, Rules(allowed=False, path=DEFAULT_PATH)),
            (Settings(), False, f"{ON}  ledger_path: x.md\n", Rules(allowed=True, path="x.md")),
            (
                Settings(ledger=True, ledger_path="mine.md"),
                True,
                f"{ON}  ledger_path: x.md\n",
                Rules(allowed=True, path="mine.md"),
            ),
        ],
    )
    def test_the_users_own_word_goes_before_the_projects(
        self,
        tmp_path: Path,
        own: Settings,
        decided: bool,  # noqa: FBT001
        shared: str,
        expected: Rules,
    ) -> None:
        (tmp_path / ".agents.yml").write_text(shared)
        assert rules(own, decided=decided, root=tmp_path, environment={}) == expected


class TestSaving:
    def test_writes_what_the_session_knows(self, stage: Stage, project: Project, place: LedgerPlace) -> None:
        work(stage)
        said = save(stage, place, project)
        text = (place.root / DEFAULT_PATH).read_text()
        assert read(parse(text)) == said
        assert text.startswith(
            "# Session Ledger\n\n_Last updated: 2027-01-15T09:00:00Z_\n\n## Goal\nMend the sums of a"
        )
        assert [entry.text for entry in said.files] == ["`b.c`", "`a.c`"]
        assert LedgerEntry("branch `main`") in said.ids
        assert said.decisions == (
            LedgerEntry("I decided to round half up.", unconfirmed=True, why="not approved"),
        )

    def test_keeps_out_of_git_what_nobody_tracks(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        save(stage, place, project)
        save(stage, place, project)
        assert DEFAULT_PATH not in run_git(place.root, "status", "--porcelain", "--untracked-files=all")
        excluded = (place.root / ".git" / "info" / "exclude").read_text()
        assert excluded.count(f"/{DEFAULT_PATH}\n") == 1

    def test_keeps_out_of_git_whatever_its_name(self, stage: Stage, project: Project) -> None:
        work(stage)
        odd = place_of(stage.home / "holdfast", project, ".agents/a[1] *.md")
        save(stage, odd, project)
        assert (odd.root / ".agents/a[1] *.md").exists()
        assert run_git(odd.root, "status", "--porcelain", "--untracked-files=all", ".agents") == ""

    def test_leaves_what_the_user_tracks_to_them(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        (place.root / ".agents").mkdir()
        (place.root / DEFAULT_PATH).write_text("# Session Ledger\n")
        run_git(place.root, "add", "-f", DEFAULT_PATH)
        save(stage, place, project)
        assert DEFAULT_PATH not in (place.root / ".git" / "info" / "exclude").read_text()

    def test_lets_hand_edits_be(self, stage: Stage, project: Project, place: LedgerPlace) -> None:
        work(stage)
        save(stage, place, project)
        file = place.root / DEFAULT_PATH
        file.write_text(
            file.read_text().replace(
                "## Open Questions\n", "## Open Questions\n- who pays?\n\n## Mine\nabc\n"
            )
        )
        stage.now += HOUR
        stage.write("a", ("prompt", "Now write the report, never as HTML."))
        stage.payload("a", "stop")
        said = save(stage, place, project)
        assert said.questions == (LedgerEntry("who pays?"),)
        assert "## Mine\nabc\n" in file.read_text()
        assert any("never as HTML" in entry.text for entry in said.constraints)

    def test_given_words_go_first_and_hold_no_secret(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        given = Ledger(
            now=(LedgerEntry(f"calling the API with {TOKEN}"),), decisions=(LedgerEntry("Use floats"),)
        )
        session = stage.store.session("a")
        assert session is not None
        said = save(stage, place, project, ledger.by_agent(given, session))
        assert "[REDACTED" in said.now[0].text
        assert len(said.now) == 1
        assert LedgerEntry("Use floats", unconfirmed=True, why="not approved") in said.decisions
        assert TOKEN not in (place.root / DEFAULT_PATH).read_text()

    def test_without_a_session_only_the_given_words_are_written(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        said = ledger.save(stage.engine(), place, project, None, Ledger(goal=(LedgerEntry("sums"),))).ledger
        assert said == Ledger(goal=(LedgerEntry("sums"),))

    def test_another_session_adds_and_takes_nothing_away(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        first = save(stage, place, project)
        work(stage, "b", files=("c.c", "d.c"))
        second = save(stage, place, project, session="b")
        assert set(first.decisions) <= set(second.decisions)
        assert set(first.constraints) <= set(second.constraints)
        assert "sums of b" in second.goal[0].text
        assert [entry.text for entry in second.files] == ["`d.c`", "`c.c`"]

    def test_keeps_past_versions_without_secrets_and_not_without_end(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        save(stage, place, project)
        file = place.root / DEFAULT_PATH
        file.write_text(file.read_text() + f"\n## Mine\ntoken {TOKEN}\n")
        for turn in range(30):
            stage.now += MINUTE
            save(stage, place, project, Ledger(now=(LedgerEntry(f"step {turn}"),)))
        kept = files.versions(place)
        assert len(kept) == files.VERSIONS_KEPT
        assert "step 29" in kept[0].text()
        assert TOKEN in file.read_text()
        for path in place.folder.rglob("*"):
            assert path.is_dir() or TOKEN not in path.read_text()

    def test_saving_the_same_again_is_no_new_version(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        for _ in range(3):
            stage.now += MINUTE
            save(stage, place, project)
        assert len(files.versions(place)) == 1

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"# README\n", "is no ledger"),
            (b"\xff\xfe", "not text"),
            (b"# Session Ledger\n" + b"x" * files.LARGEST, "larger than a ledger"),
            (b"# Session Ledger\n<<<<<<< HEAD\n=======\n>>>>>>> side\n", "merge conflict in line 2"),
        ],
    )
    def test_a_file_that_is_something_else_is_refused_and_left_alone(
        self, stage: Stage, project: Project, place: LedgerPlace, content: bytes, reason: str
    ) -> None:
        work(stage)
        file = place.root / DEFAULT_PATH
        file.parent.mkdir()
        file.write_bytes(content)
        with pytest.raises(PathRefused, match=reason):
            save(stage, place, project)
        assert file.read_bytes() == content

    @pytest.mark.parametrize("path", ["../out.md", "/etc/x.md", ".git/x.md", "notes.txt"])
    def test_no_path_leads_out(self, stage: Stage, project: Project, path: str) -> None:
        work(stage)
        with pytest.raises(PathRefused, match="refused"):
            save(stage, place_of(stage.home / "holdfast", project, path), project)

    def test_a_file_that_changed_outside_is_unconfirmed_until_it_is_looked_at_again(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        work(stage)
        save(stage, place, project)
        stage.now += HOUR
        changed = stage.file("a.c")
        in_doubt = LedgerEntry("`a.c`", unconfirmed=True, why="changed since")
        assert in_doubt in save(stage, place, project).files
        stage.now += HOUR
        stage.write("a", ("says", "Still thinking."))
        stage.payload("a", "stop")
        assert in_doubt in save(stage, place, project).files
        stage.write("a", ("edits", changed))
        stage.payload("a", "stop")
        assert LedgerEntry("`a.c`") in save(stage, place, project).files


class TestConfirming:
    def test_takes_the_mark_away_for_good(self, stage: Stage, project: Project, place: LedgerPlace) -> None:
        work(stage)
        save(stage, place, project)
        after = ledger.confirm(stage.engine(), place, project, ("round half up",)).ledger
        assert after.decisions == (LedgerEntry("I decided to round half up."),)
        stage.now += MINUTE
        assert save(stage, place, project).decisions == after.decisions

    def test_of_nothing_is_an_error(self, stage: Stage, project: Project, place: LedgerPlace) -> None:
        work(stage)
        save(stage, place, project)
        with pytest.raises(HoldfastError, match="nothing that is unconfirmed"):
            ledger.confirm(stage.engine(), place, project, ("no such thing",))


class TestByItself:
    @pytest.mark.parametrize("payload", ["compaction", "end"])
    def test_before_the_window_goes(self, stage: Stage, place: LedgerPlace, payload: str) -> None:
        enable(stage)
        work(stage)
        stage.payload("a", payload, reason="clear")
        assert "Mend the sums" in (place.root / DEFAULT_PATH).read_text()

    @pytest.mark.parametrize(
        ("minutes", "names", "enabled", "payload"),
        [
            (60, ("a.c", "b.c"), False, "compaction"),
            (29, ("a.c", "b.c"), True, "compaction"),
            (60, ("a.c",), True, "compaction"),
            (60, ("a.c", "b.c"), True, "stop"),
        ],
        ids=["not asked for", "a quick task", "a simple fix", "the window stays"],
    )
    def test_not(
        self,
        stage: Stage,
        place: LedgerPlace,
        minutes: int,
        names: tuple[str, ...],
        enabled: bool,  # noqa: FBT001
        payload: str,
    ) -> None:
        if enabled:
            enable(stage)
        (place.root / ".agents.yml").write_text(TestRules.ON)
        work(stage, minutes=minutes, files=names)
        stage.payload("a", payload)
        assert not (place.root / DEFAULT_PATH).exists()

    def test_again_whenever_the_session_has_saved_before(
        self, stage: Stage, project: Project, place: LedgerPlace
    ) -> None:
        enable(stage)
        work(stage, minutes=5)
        save(stage, place, project, Ledger(goal=(LedgerEntry("the sums"),)))
        stage.write("a", ("prompt", "The report too, but never as HTML."))
        stage.payload("a", "compaction")
        assert "never as HTML" in (place.root / DEFAULT_PATH).read_text()

    def test_what_is_refused_is_counted_and_harms_nobody(self, stage: Stage, place: LedgerPlace) -> None:
        enable(stage)
        (place.root / ".agents").mkdir()
        (place.root / DEFAULT_PATH).write_text("# README\n")
        work(stage)
        assert "Mend the sums" in stage.payload("a", "compaction")
        assert any("is no ledger" in reason for reason in stage.store.skipped())


def test_two_worktrees_have_two_ledgers(stage: Stage, project: Project, place: LedgerPlace) -> None:
    work(stage)
    save(stage, place, project)
    tree = stage.home / "tree"
    run_git(place.root, "worktree", "add", "-q", str(tree))
    other = identity(str(tree))
    there = place_of(stage.home / "holdfast", other, DEFAULT_PATH)
    ledger.save(stage.engine(), there, other, None, Ledger(goal=(LedgerEntry("elsewhere"),)))
    assert read(parse((tree / DEFAULT_PATH).read_text())).goal == (LedgerEntry("elsewhere"),)
    assert "Mend the sums" in (place.root / DEFAULT_PATH).read_text()
    assert DEFAULT_PATH not in run_git(tree, "status", "--porcelain", "--untracked-files=all")
    assert len(files.versions(place)) == len(files.versions(there)) == 1


def test_looking_marks_what_is_not_as_the_ledger_says(
    stage: Stage, project: Project, place: LedgerPlace
) -> None:
    assert ledger.look(stage.engine(), place, project) is None
    work(stage)
    save(stage, place, project)
    before = (place.root / DEFAULT_PATH).read_bytes()
    run_git(place.root, "checkout", "-q", "-b", "side")
    (place.root / "b.c").unlink()
    os.utime(place.root / "a.c", (NOON + HOUR, NOON + HOUR))
    looked = ledger.look(stage.engine(), place, project)
    assert looked is not None
    marks = {entry.text: entry.why for entry in looked.ledger.files}
    assert marks == {"`a.c`": "changed since", "`b.c`": "gone since"}
    assert looked.notices == ("the branch was `main`, now it is `side`.",)
    assert not looked.came_with_the_clone
    assert (place.root / DEFAULT_PATH).read_bytes() == before
