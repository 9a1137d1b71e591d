"""Every file of a patch is found, in both styles that agents write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action
from holdfast.core.evidence.patches import FileChange, changes_in_patch, path_below, with_located_paths
from tests.tables import every_row

EDIT, WRITE, DELETE = Action.EDIT, Action.WRITE, Action.DELETE

MANAGED = """*** Begin Patch
*** Update File: src/app/retry.py
@@ def wait():
-    return 1
+    return 2
*** Add File: src/app/clock.py
+--- a/not/a/header.py
++++ b/not/a/header.py
+@@ -1 +1 @@
*** Delete File: src/app/old clock.py
*** Update File: src/app/names.py
*** Move to: src/app/words.py
@@
-x
+y
*** End Patch
"""

GIT = """diff --git a/src/one.py b/src/one.py
index 1111111..2222222 100644
--- a/src/one.py
+++ b/src/one.py
@@ -1,2 +1,2 @@
--- a line that was removed
+++ a line that was added
diff --git a/src/new.py b/src/new.py
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/src/new.py
@@ -0,0 +1 @@
+x
diff --git a/src/gone.py b/src/gone.py
deleted file mode 100644
--- a/src/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/src/before.py b/lib/after.py
similarity index 90%
rename from src/before.py
rename to lib/after.py
--- a/src/before.py
+++ b/lib/after.py
@@ -1 +1 @@
-x
+y
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
diff --git a/logo.png b/logo.png
index 4444444..5555555 100644
Binary files a/logo.png and b/logo.png differ
"""

PLAIN = """--- a/x.py\t2024-01-01 10:00:00
+++ b/x.py\t2024-01-02 10:00:00
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/y.py
@@ -0,0 +1 @@
+c
"""


@every_row(
    ("text", "changes"),
    [
        (
            MANAGED,
            (
                FileChange("src/app/retry.py", EDIT),
                FileChange("src/app/clock.py", WRITE),
                FileChange("src/app/old clock.py", DELETE),
                FileChange("src/app/names.py", EDIT, "src/app/words.py"),
            ),
        ),
        (
            GIT,
            (
                FileChange("src/one.py", EDIT),
                FileChange("src/new.py", WRITE),
                FileChange("src/gone.py", DELETE),
                FileChange("src/before.py", EDIT, "lib/after.py"),
                FileChange("empty.txt", WRITE),
                FileChange("logo.png", EDIT),
            ),
        ),
        (
            PLAIN,
            (FileChange("x.py", EDIT), FileChange("y.py", WRITE)),
        ),
        ("--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n", (FileChange("a/x.py", EDIT),)),
        ("--- old/x.py\n+++ old/x.py\n@@ ... @@\n", (FileChange("old/x.py", EDIT),)),
        ("*** Update File: src/[id]/page.tsx\r\n@@\r\n", (FileChange("src/[id]/page.tsx", EDIT),)),
        ("*** Update File: a.py\n@@\n*** Update File: a.py\n@@\n", (FileChange("a.py", EDIT),)),
        (
            '--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n@@ -1 +1 @@\n',
            (FileChange("café.py", EDIT),),
        ),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", (FileChange("y", WRITE),)),
        ("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", (FileChange("run.sh", EDIT),)),
        ("*** Move to: nowhere.py\n", ()),
        ("--- a rule in Markdown\n+++ no diff\ntext", ()),
        ("", ()),
    ],
)
def test_every_file_of_a_patch_is_found(text: str, changes: tuple[FileChange, ...]) -> None:
    assert changes_in_patch(text) == changes


@pytest.mark.parametrize(
    ("folder", "path", "whole"),
    [
        ("", "a.py", "a.py"),
        ("src", "./a.py", "src/a.py"),
        ("src/app", "../a.py", "src/a.py"),
        ("src", "../../a.py", "../a.py"),
        ("/repo", "a.py", "/repo/a.py"),
        ("src", "/repo/a.py", "/repo/a.py"),
        ("src", "~/a.py", "~/a.py"),
        (None, "/repo/a.py", "/repo/a.py"),
        (None, "a.py", None),
    ],
)
def test_a_path_is_seen_from_where_the_command_began(
    folder: str | None, path: str, whole: str | None
) -> None:
    assert path_below(folder, path) == whole


@pytest.mark.parametrize(
    ("change", "project", "seen"),
    [
        (FileChange("/tmp/note.md", WRITE), "", None),
        (FileChange("/tmp/work/note.md", WRITE), "/tmp/work", FileChange("/tmp/work/note.md", WRITE)),
        (FileChange("/tmp/workshop/note.md", WRITE), "/tmp/work", None),
        (FileChange("/dev/null", WRITE), "", None),
        (FileChange("a.py", EDIT, "b.py"), "", FileChange("src/a.py", EDIT, "src/b.py")),
        (FileChange("a.py", EDIT, "/tmp/b.py"), "", None),
        (FileChange("", EDIT), "", None),
        (FileChange("-", WRITE), "", None),
    ],
)
def test_only_files_that_stay_are_placed(change: FileChange, project: str, seen: FileChange | None) -> None:
    assert with_located_paths(change, "src", project) == seen


LINES = st.sampled_from(
    [
        "--- a/x",
        "+++ b/x",
        "@@",
        "diff --git a/x b/x",
        "diff --git ",
        "rename to y",
        "*** Move to: z",
        "*** Add File: q",
    ]
)


@given(st.lists(LINES | st.text(max_size=20)))
def test_any_text_can_be_read_and_no_path_is_empty(lines: list[str]) -> None:
    for change in changes_in_patch("\n".join(lines)):
        assert change.path
        assert change.action in {EDIT, WRITE, DELETE}


@given(st.lists(st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.py", fullmatch=True), unique=True))
def test_no_file_of_a_long_patch_is_lost(names: list[str]) -> None:
    managed = "".join(f"*** Update File: {name}\n@@\n-a\n+b\n" for name in names)
    diff = "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n" for name in names)
    assert [change.path for change in changes_in_patch(managed)] == names
    assert [change.path for change in changes_in_patch(diff)] == names
