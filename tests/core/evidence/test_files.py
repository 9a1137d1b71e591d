"""What becomes of the files of a session where folders are deleted, moved and put back."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import Action
from holdfast.core.evidence.commands.shell import edits
from holdfast.core.evidence.files import with_change
from holdfast.core.evidence.trail import FileTouch
from tests.tables import every_row

READ, EDIT, WRITE, DELETE = Action.READ, Action.EDIT, Action.WRITE, Action.DELETE


def left(*commands: str, before: tuple[tuple[str, Action], ...] = ()) -> dict[str, Action]:
    """What was done to each file after these commands, of those that were touched before."""
    row = tuple(FileTouch(path, action, 1, 0) for path, action in before)
    for command in commands:
        for change in edits(command):
            row = with_change(row, change, 0, 0)
    return {touch.path: touch.action for touch in row}


@every_row(
    ("commands", "found"),
    [
        (("rm -rf vendor/lexer", "git submodule add git@host:us/lexer.git vendor/lexer"), {}),
        (("git rm -f lexer && git submodule add https://host/us/lexer.git",), {}),
        (("git submodule add https://host/us/lexer.git && git rm -f lexer",), {"lexer": DELETE}),
        (("rm -rf lexer", "git submodule update --init lexer"), {}),
        (("rm -rf lexer", "git clone https://host/us/lexer.git"), {}),
        (("rm -rf ../site", "git worktree add -b docs ../site origin/main"), {}),
        (("rm src/a.py", "git checkout -- src"), {}),
        (("rm src/a.py", "git checkout HEAD~1 -- src/b.py"), {"src/a.py": DELETE}),
        (("rm src/a.py", "git checkout -b src"), {"src/a.py": DELETE}),
        (("rm src/a.py", "git restore ."), {}),
        (("rm src/a.py", "git restore --staged ."), {"src/a.py": DELETE}),
        (("rm src/a.py", "git reset --hard HEAD"), {}),
        (("rm src/a.py", "git reset HEAD~1"), {"src/a.py": DELETE}),
        (("git checkout -- . && rm -rf src/new",), {"src/new": DELETE}),
        (("rm -rf dist", "mkdir -p dist/web"), {}),
        (("rm dist/a.js", "mkdir -p dist"), {"dist/a.js": DELETE}),
        (("rm -rf dist", "touch dist/a.js"), {"dist/a.js": WRITE}),
        (("rm -rf dist", "mv a.js dist/"), {"a.js": DELETE, "dist/a.js": EDIT}),
    ],
)
def test_what_was_deleted_and_is_there_again_is_not_told_as_deleted(
    commands: tuple[str, ...], found: dict[str, Action]
) -> None:
    assert left(*commands) == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("rm -rf web", {"web": DELETE, "web/a.ts": DELETE, "web/b.ts": DELETE, "website/c.ts": EDIT}),
        (
            "mv web app",
            {"web": DELETE, "app": EDIT, "app/a.ts": EDIT, "app/b.ts": READ, "website/c.ts": EDIT},
        ),
        ("mkdir -p web", {"web/a.ts": EDIT, "web/b.ts": READ, "website/c.ts": EDIT}),
        ("git checkout -- .", {"web/a.ts": EDIT, "web/b.ts": READ, "website/c.ts": EDIT}),
    ],
)
def test_a_folder_takes_what_is_in_it_along(command: str, found: dict[str, Action]) -> None:
    assert left(command, before=(("web/a.ts", EDIT), ("web/b.ts", READ), ("website/c.ts", EDIT))) == found
