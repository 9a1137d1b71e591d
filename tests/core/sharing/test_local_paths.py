"""Local paths: a text that leaves a machine names neither its user nor its folders."""

from __future__ import annotations

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.world import Project
from holdfast.core.sharing.local_paths import LocalPaths, local_paths
from tests.tables import every_row

HERE = LocalPaths(("/home/you/src/shop", "/data/shop"), ("/home/you",))
NAME = st.text(string.ascii_letters + string.digits, min_size=1, max_size=8)


def project_at(path: str, root: str) -> Project:
    return Project(path, path, "p", "w", root)


@every_row(
    "text, shown",
    [
        ("edit /home/you/src/shop/a/b.py now", "edit a/b.py now"),
        ("in /data/shop/a.py", "in a.py"),
        ("cd /home/you/src/shop && make", "cd . && make"),
        ("cd '/home/you/src/shop/'", "cd '.'"),
        ("gcc -I/home/you/include", "gcc -I~/include"),
        ("see /home/you.", "see ~."),
        ("file:///home/you/src/shop/a.py:3", "file://a.py:3"),
        ("../shop and /home/you/src/lib/x.c", "../shop and ../lib/x.c"),
        ("~/.claude/projects/-home-you-src-shop/x.jsonl", "~/.claude/projects/-/x.jsonl"),
        ("/home/you-old and /home/you-2 stay", "/home/you-old and /home/you-2 stay"),
        ("GET /api/users", "GET /api/users"),
        ("no path at all", "no path at all"),
    ],
)
def test_a_text_names_files_from_the_root_and_the_home_as_a_tilde(text: str, shown: str) -> None:
    assert HERE.without(text) == shown


@every_row(
    "text, shown",
    [
        ("C:\\Users\\you\\shop\\a.py", "a.py"),
        ("C:/Users/you/shop/a.py", "a.py"),
        ('"C:\\\\Users\\\\you\\\\x"', '"~/x"'),
    ],
)
def test_a_path_with_a_drive_is_found_in_each_spelling(text: str, shown: str) -> None:
    here = LocalPaths(("C:\\Users\\you\\shop",), ("C:\\Users\\you",))
    assert here.without(text) == shown


def test_a_session_in_a_folder_of_the_project_names_files_from_the_root_too() -> None:
    here = local_paths(project_at("/home/you/shop/web", "/home/you/shop"), ("/home/you",))
    assert here.without("/home/you/shop/web/a.ts") == "web/a.ts"


def test_the_root_of_a_file_system_is_no_place_to_hide() -> None:
    assert LocalPaths(("/",), ("/",)).without("a / b /c") == "a / b /c"


@given(st.lists(NAME, min_size=2, max_size=4), st.lists(NAME, min_size=1, max_size=3), st.text(max_size=40))
def test_no_text_keeps_the_root_or_the_home(parts: list[str], below: list[str], around: str) -> None:
    home = "/" + "/".join(parts[:-1])
    root = "/" + "/".join(parts)
    text = f"{around} {root}/{'/'.join(below)} {home}/{below[0]} {root} {home} {around}"
    shown = local_paths(project_at(root, root), (home,)).without(text)
    for place in (root, home):
        if len(place) > 2:
            assert not re.search(rf"(?<![\w.~-]){re.escape(place)}(?![\w.-])", shown)
