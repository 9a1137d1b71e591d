"""Work record: what a finished command did, from its text and its output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.commands.work_change import (
    BranchChanged,
    BranchMerged,
    CommitMade,
    PullRequest,
    RefPushed,
    StashChange,
    Stashed,
    TagMade,
    TaskChanged,
    TaskListed,
    TaskStatus,
    TrackerChange,
    UndoKind,
    Undone,
    WorkChange,
)
from holdfast.core.evidence.commands.work_record import work_changes
from tests.tables import every_row

HEREDOC = """git add -A && git commit -m "$(cat <<'EOF'
Close the till at night

The till kept counting after midnight, because the clock of the shop
was read once at the start.

- Read the clock for every sale
- Add a test for the turn of the year

Generated with Some Tool

Co-Authored-By: A Helper <helper@example.org>
EOF
)" && git push"""

COMMITTED = CommitMade(
    "Close the till at night",
    (
        "The till kept counting after midnight, because the clock of the shop was read once at the start.",
        "Read the clock for every sale",
        "Add a test for the turn of the year",
    ),
    "night-till",
    "1a2b3c4",
)
PUSHED = RefPushed("night-till", "example.org:shop.git", "1a2b3c4")


def test_a_message_in_a_here_document_is_read_with_its_points_and_without_trailers() -> None:
    output = (
        "[night-till 1a2b3c4] Close the till at night\n 2 files changed, 9 insertions(+)\n"
        "To example.org:shop.git\n   0f0f0f0..1a2b3c4  night-till -> night-till"
    )
    assert work_changes(HEREDOC, output, ok=True) == (COMMITTED, PUSHED)


def test_a_push_that_is_rejected_leaves_the_commit_before_it() -> None:
    output = (
        "Exit code 1\n[night-till 1a2b3c4] Close the till at night\n"
        "To example.org:shop.git\n ! [rejected]        night-till -> night-till (fetch first)\n"
        "error: failed to push some refs to 'example.org:shop.git'"
    )
    assert work_changes(HEREDOC, output, ok=False) == (COMMITTED,)


@every_row(
    ("command", "output", "change"),
    [
        (
            'git commit -m "Mend the lock" -m "The key was worn."',
            "[main abcdef1] Mend the lock\n 1 file changed",
            CommitMade("Mend the lock", ("The key was worn.",), "main", "abcdef1"),
        ),
        (
            "git commit -am 'Mend the lock'",
            "[main (root-commit) abcdef1] Mend the lock",
            CommitMade("Mend the lock", (), "main", "abcdef1"),
        ),
        (
            "git commit --amend --no-edit 2>&1 | tail -3",
            "[main abcdef1] Mend the lock\n Date: today",
            CommitMade("Mend the lock", (), "main", "abcdef1", amends=True),
        ),
        (
            "git commit -F - <<'MSG'\nMend the lock\n\nThe key was worn.\nMSG",
            "[detached HEAD abcdef1] Mend the lock",
            CommitMade("Mend the lock", ("The key was worn.",), "detached HEAD", "abcdef1"),
        ),
        (
            'git commit -m "Count $THINGS" -m "All of them are counted."',
            "[main abcdef1] Count doors",
            CommitMade("Count doors", (), "main", "abcdef1"),
        ),
        (
            "git commit -qm 'Mend the lock' && git log --oneline -1",
            "abcdef1 (HEAD -> main) Mend the lock",
            CommitMade("Mend the lock", (), "", "abcdef1"),
        ),
        ("git commit -q -m 'Mend the lock'", "", CommitMade("Mend the lock")),
        (
            "git cherry-pick 1234567",
            "[main abcdef1] Mend the lock\n Date: today",
            CommitMade("Mend the lock", (), "main", "abcdef1"),
        ),
        (
            "git stash",
            "Saved working directory and index state WIP on door: 1234567 Mend the lock",
            Stashed(StashChange.SAVED, "door"),
        ),
        (
            "git stash push -m 'half a hinge' -- src/hinge.py",
            "Saved working directory and index state On door: half a hinge",
            Stashed(StashChange.SAVED, "door", "half a hinge", ("src/hinge.py",)),
        ),
        (
            "make lint; git stash pop 2>&1 | tail -1",
            "Dropped refs/stash@{0} (0123456789)",
            Stashed(StashChange.APPLIED),
        ),
        ("git stash drop", "Dropped stash@{1} (0123456789)", Stashed(StashChange.DROPPED)),
        ("git stash apply", "On branch door\nChanges not staged", Stashed(StashChange.APPLIED)),
        ("git checkout door", "Switched to branch 'door'", BranchChanged("door")),
        (
            "git checkout -b door origin/main",
            "branch 'door' set up to track 'origin/main'.\nSwitched to a new branch 'door'",
            BranchChanged("door", is_new=True),
        ),
        (
            "git switch -c door 2>&1 || git switch door",
            "fatal: a branch named 'door' already exists\nSwitched to branch 'door'",
            BranchChanged("door"),
        ),
        ("git checkout -q -b door", "", BranchChanged("door", is_new=True)),
        (
            "git checkout 1234567",
            "Note: switching to '1234567'.\n\nYou are in 'detached HEAD' state.",
            BranchChanged("1234567", is_detached=True),
        ),
        ("gh pr checkout 4", "Switched to branch 'door'", BranchChanged("door")),
        ("git checkout -- src/a.py src/b.py", "", Undone(UndoKind.FILES, ("src/a.py", "src/b.py"))),
        ("git checkout HEAD~2 -- a.py", "", Undone(UndoKind.FILES, ("a.py",), "HEAD~2")),
        (
            "git checkout src/doors/ && make test 2>&1 | tail -2",
            "2 passed\nUpdated 3 paths from the index",
            Undone(UndoKind.FILES, ("src/doors",)),
        ),
        ("git checkout .", "Updated 2 paths from the index", Undone(UndoKind.FILES, (".",))),
        ("git checkout main a.py", "Updated 1 path from 1234567", Undone(UndoKind.FILES, ("a.py",), "main")),
        ("git restore a.py; make test", "2 failed", Undone(UndoKind.FILES, ("a.py",))),
        ("cd web && git restore a.py", "", Undone(UndoKind.FILES, ("web/a.py",))),
        ("git restore --source=HEAD~1 a.py", "", Undone(UndoKind.FILES, ("a.py",), "HEAD~1")),
        (
            "git reset --hard HEAD~1 && git log --oneline -1",
            "HEAD is now at 1234567 Mend the lock\n1234567 Mend the lock",
            Undone(UndoKind.RESET, (".",), "1234567", "Mend the lock"),
        ),
        (
            "git reset --hard",
            "HEAD is now at 1234567 Mend the lock",
            Undone(UndoKind.FILES, (".",), "1234567", "Mend the lock"),
        ),
        ("git reset --soft HEAD~1", "", Undone(UndoKind.UNCOMMIT, (), "HEAD~1")),
        ("git reset HEAD^", "Unstaged changes after reset:\nM a.py", Undone(UndoKind.UNCOMMIT, (), "HEAD^")),
        ("git clean -fd", "Removing notes.txt", Undone(UndoKind.FILES, ("notes.txt",))),
        ("git merge door", "Updating 1..2\nFast-forward\n a.py | 1 +", BranchMerged("door")),
        (
            "git fetch && git merge origin/main -m 'Take main'",
            "Auto-merging a.py\nMerge made by the 'ort' strategy.",
            BranchMerged("origin/main"),
        ),
        (
            "git push --force-with-lease",
            "To example.org:shop.git\n + 1234567...abcdef1 door -> door (forced update)",
            RefPushed("door", "example.org:shop.git", "abcdef1", is_forced=True),
        ),
        (
            "git push -u origin door 2>&1 | tail -2",
            " * [new branch]      door -> door\nbranch 'door' set up to track 'origin/door'.",
            RefPushed("door"),
        ),
        ("git tag -a v1.2 -m 'Second'", "", TagMade("v1.2")),
        (
            'gh pr create --draft --title "Mend the lock" --body "$(cat <<\'EOF\'\n## Why\nEOF\n)"',
            "https://example.org/shop/till/pull/12",
            PullRequest(TrackerChange.CREATED, 12, "https://example.org/shop/till/pull/12", "Mend the lock"),
        ),
        (
            "gh pr merge 12 --squash",
            "✓ Squashed and merged pull request shop/till#12 (Mend the lock)",
            PullRequest(TrackerChange.MERGED, 12, "", "Mend the lock"),
        ),
        ("gh pr merge 12 --squash", "", PullRequest(TrackerChange.MERGED, 12)),
        (
            "gh pr comment 12 --body 'Looks right'",
            "https://example.org/shop/till/pull/12#issuecomment-99",
            PullRequest(TrackerChange.COMMENTED, 12, "https://example.org/shop/till/pull/12"),
        ),
        (
            'gh issue create -t "The bell rings twice" -b "At noon"',
            "Creating issue in shop/till\n\nhttps://example.org/shop/till/issues/7",
            TaskChanged(
                "#7",
                TrackerChange.CREATED,
                "The bell rings twice",
                url="https://example.org/shop/till/issues/7",
            ),
        ),
        (
            'gh issue close 7 -c "Mended in 1234567"',
            "✓ Closed issue #7 (The bell rings twice)",
            TaskChanged("#7", TrackerChange.CLOSED, "The bell rings twice", "Mended in 1234567"),
        ),
        (
            'bd create --title="Hang the bell" --type=task',
            "✓ Created issue: shop-a1.3\n  Title: Hang the bell\n  Priority: P2",
            TaskChanged("shop-a1.3", TrackerChange.CREATED, "Hang the bell"),
        ),
        (
            "bd update shop-a1.3 --status=in_progress 2>&1",
            "✓ Updated issue: shop-a1.3",
            TaskChanged("shop-a1.3", TrackerChange.STARTED),
        ),
        (
            'bd close shop-a1.3 --reason="Hung above the door."',
            "✓ Closed shop-a1.3: Hung above the door.",
            TaskChanged("shop-a1.3", TrackerChange.CLOSED, "", "Hung above the door."),
        ),
        ("bd reopen shop-a1.3", "↻ Reopened shop-a1.3", TaskChanged("shop-a1.3", TrackerChange.REOPENED)),
        (
            "bd ready",
            "📋 Ready work (1 issues with no blockers):\n\n1. [● P1] [task] shop-a1.4: Ring the bell",
            TaskListed("shop-a1.4", "Ring the bell", TaskStatus.OPEN, is_ready=True),
        ),
        (
            "bd list --status=open",
            "◐ shop-a1.4 [● P1] [task] - Ring the bell (blocked by: shop-a1, shop-a1.3)",
            TaskListed("shop-a1.4", "Ring the bell", TaskStatus.STARTED),
        ),
        (
            "bd show shop-a1.4",
            "○ shop-a1.4 [EPIC] · Ring the bell   [● P1 · OPEN]\nOwner: A Person",
            TaskListed("shop-a1.4", "Ring the bell", TaskStatus.OPEN),
        ),
        (
            "bd show shop-a1",
            "CHILDREN\n  ↳ ✓ shop-a1.1: Choose a bell ● P1",
            TaskListed("shop-a1.1", "Choose a bell", TaskStatus.CLOSED),
        ),
    ],
)
def test_one_change(command: str, output: str, change: WorkChange) -> None:
    assert work_changes(command, output, ok=True) == (change,)


@every_row(
    ("command", "output", "changes"),
    [
        (
            "git stash && make lint | tail -5; git stash pop",
            "Saved working directory and index state WIP on door: 1 Mend\nok\nDropped refs/stash@{0}",
            (Stashed(StashChange.SAVED, "door"), Stashed(StashChange.APPLIED)),
        ),
        (
            "git revert --no-edit 1234567",
            '[main abcdef1] Revert "Mend the lock"',
            (
                Undone(UndoKind.REVERT, (), "1234567", "Mend the lock"),
                CommitMade('Revert "Mend the lock"', (), "main", "abcdef1"),
            ),
        ),
        (
            "bd close shop-1 shop-2 && git push",
            "✓ Closed shop-1: Closed\n✓ Closed shop-2: Closed\nTo x.org:s.git\n   1234567..abcdef1  a -> a",
            (
                TaskChanged("shop-1", TrackerChange.CLOSED),
                TaskChanged("shop-2", TrackerChange.CLOSED),
                RefPushed("a", "x.org:s.git", "abcdef1"),
            ),
        ),
        (
            "for t in shop-1 shop-2; do bd close $t; done",
            "✓ Closed shop-1: Closed\n✓ Closed shop-2: Closed",
            (TaskChanged("shop-1", TrackerChange.CLOSED), TaskChanged("shop-2", TrackerChange.CLOSED)),
        ),
        (
            "git add a && git commit -m One && git add b && git commit -m Two -m 'It is the second.'",
            "[main 1111111] One\n[main 2222222] Two",
            (
                CommitMade("One", (), "main", "1111111"),
                CommitMade("Two", ("It is the second.",), "main", "2222222"),
            ),
        ),
        (
            "bd create 'Hang it' && bd create 'Ring it'",
            "✓ Created issue: s-1\n  Title: Hang it\n✓ Created issue: s-2\n  Title: Ring it",
            (
                TaskChanged("s-1", TrackerChange.CREATED, "Hang it"),
                TaskChanged("s-2", TrackerChange.CREATED, "Ring it"),
            ),
        ),
        (
            "git checkout main && git pull && git push",
            (
                "Switched to branch 'main'\nFrom x.org:s\n   1234567..7654321  main -> origin/main\n"
                "To x.org:s\n"
                "   7654321..abcdef1  main -> main"
            ),
            (BranchChanged("main"), RefPushed("main", "x.org:s", "abcdef1")),
        ),
        (
            "bash -c 'git checkout door && git tag v2'",
            "Switched to branch 'door'",
            (BranchChanged("door"), TagMade("v2")),
        ),
    ],
)
def test_several_changes_come_in_the_order_of_the_commands(
    command: str, output: str, changes: tuple[WorkChange, ...]
) -> None:
    assert work_changes(command, output, ok=True) == changes


@every_row(
    ("command", "output", "ok"),
    [
        ("git commit -m 'Mend the lock'", "nothing to commit, working tree clean", False),
        ("git commit -q -m 'Mend it' | tail -1", "", True),
        ("git commit -q -m 'Mend it' || true", "", True),
        ("git commit -m 'Mend it'", "The user doesn't want to proceed with this tool use.", False),
        ("git log --oneline -2", "1234567 Mend the lock", True),
        (
            "git stash && git checkout main",
            "fatal: 'main' is used elsewhere\nNo local changes to save",
            False,
        ),
        ("git stash pop", "CONFLICT (content): a.py\nThe stash entry is kept in case you need it.", False),
        ("git stash list", "stash@{0}: WIP on door: 1234567 Mend", True),
        ("git checkout door", "error: pathspec 'door' did not match any file(s) known to git", False),
        ("git checkout door", "Already on 'door'", True),
        ("git checkout --theirs a.py", "Updated 1 path from the index", True),
        ("git checkout -- a.py; make", "error: pathspec 'a.py' did not match", True),
        ("git checkout -- a.py 2>/dev/null; make", "", True),
        ("make && git checkout -- a.py; ls", "", True),
        ("if make; then git checkout -- a.py; fi", "", True),
        ("make || git checkout -- a.py", "", True),
        ("git checkout stash@{0} -- a.py", "", True),
        ("git commit -q -m 'Mend it'; make", "", True),
        ("git restore --staged a.py", "", True),
        ("git reset HEAD", "Unstaged changes after reset:\nM a.py", True),
        ("git reset HEAD -- a.py", "", True),
        ("git reset --hard origin/main", "The tool use was rejected", False),
        ("git clean -n", "Would remove notes.txt", True),
        ("git merge door", "CONFLICT (content): Merge conflict in a.py\nAutomatic merge failed", False),
        ("git merge door", "Already up to date.", True),
        ("git pull && git merge door", "Fast-forward\nAlready up to date.", True),
        ("git push", "Everything up-to-date", True),
        ("git fetch", "From x.org:s\n   1234567..7654321  main -> origin/main", True),
        ("git tag --list 'v*'", "v1", True),
        ("git tag -n3", "v1 First", True),
        (
            "gh pr create --title x",
            "a pull request for branch 'x' already exists:\nhttps://e.org/a/b/pull/1",
            False,
        ),
        ("gh pr view 4", "https://e.org/a/b/pull/4", True),
        ("gh pr merge 4 --auto", "", True),
        ("gh pr merge 4", "X Pull request #4 is not mergeable", False),
        ("bd close shop-1", "Error: no issue shop-1", False),
        ("bd update shop-1 --priority 1", "✓ Updated issue: shop-1", True),
        ("echo 'git tag v1'", "git tag v1", True),
        ("cd /tmp/try && git init && git commit -m x", "[main (root-commit) 1234567] x", True),
        ("cd $(mktemp -d) && git commit -m x", "[main (root-commit) 1234567] x", True),
        ("make test", "[main 1234567] x", True),
    ],
)
def test_nothing_is_guessed(command: str, output: str, *, ok: bool) -> None:
    assert work_changes(command, output, ok=ok) == ()


def test_a_project_in_a_temporary_folder_counts() -> None:
    command, output = "cd /tmp/shop && git commit -m x", "[main 1234567] x"
    assert work_changes(command, output, ok=True, project="/tmp/shop") == (
        CommitMade("x", (), "main", "1234567"),
    )


WORDS = st.sampled_from(
    [
        *"""git gh bd commit -m -F - -q --amend stash pop push checkout -- restore reset --hard merge tag pr
        issue create close --title= --reason update --status " ' $( ) && ; | || <<EOF EOF a.py main #1 12
        [ ]""".split(),
        "\0",
        "\n",
    ]
)
LINES = st.sampled_from(
    ["[main 1234567] x", "Dropped refs/stash@{0}", "✓ Closed a-1: x", "Switched to branch 'x'", "To x:y",
     "   1234567..1234568  a -> b",
     "HEAD is now at 1234567 x", "✓ Created issue: a-1", "https://e.org/a/b/pull/1",
     "Saved working directory and index state WIP on x: y", "Updated 1 path from the index", "error: x",
     "✓ Merged pull request #12 (x)", "Removing x", "✓ Updated issue: a-1"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=25), st.lists(LINES, max_size=6), st.booleans())
def test_any_command_can_be_read(words: list[str], lines: list[str], ok: bool) -> None:  # noqa: FBT001
    assert isinstance(work_changes(" ".join(words), "\n".join(lines), ok=ok), tuple)


@pytest.mark.parametrize(
    "mark", ["[main 1234567] ", "Switched to branch '", "1. [● P1] [task] a-1: ", "   1234567..", "a"]
)
def test_a_long_output_is_read_in_linear_time(mark: str) -> None:
    command = "git commit -m x && git push && git checkout a && bd ready && bd close a-1 && gh pr create"
    assert isinstance(work_changes(command, (mark + "x ") * 20_000, ok=True), tuple)
    assert isinstance(work_changes(f"git commit -m '{mark * 20_000}'", "", ok=True), tuple)
