"""What a person or a disk may put in the way of continuity: one clear sentence, and their file as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from holdfast.config import Config
from holdfast.core.documents.continuity import LayerName
from holdfast.core.documents.continuity_log import AuditScope
from holdfast.engine.documents import continuity
from holdfast.errors import HoldfastError
from holdfast.settings import Continuity
from tests.stories.bench import Bench, bench_at
from tests.stories.test_brief_snapshots import Asks, Runs

WORK = (Asks("Make the parser of dates accept a week."), Runs("make test 2>&1 | tail -5", "4 passed in 0.1s"))
STYLES = ("holdfast", "claude")
NOBODY = 65_534


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_at(tmp_path)


def styled(bench: Bench, style: str) -> Bench:
    return replace(bench, config=Config(continuity=Continuity(local_path_style=style)))


def place(bench: Bench, layer: LayerName, style: str) -> Path:
    """Where a layer stands, or where the newest of its dated files may."""
    if layer is LayerName.LOCAL and style == "claude":
        return bench.worktree / ".claude/sessions/2027-01-15-mine-session.tmp"
    return bench.file(layer)


BAD = [
    (
        b"---\nlayer: project\n\n## Goal\nShip\n",
        "its front matter begins with `---` in line 1 and does not end",
    ),
    (b"## Goal\na\n\n## Goal\nb\n", "`## Goal` is the second section of its kind"),
    (b"## Next\n- a\n## Incomplete / next\n- b\n", "is the second section of its kind"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "it is not UTF-8"),
    (b"## Goal\nwith a \x00 in it\n", "it is not text"),
    (b"## Goal\r\nmixed\n", "some of its lines end in CR LF and some in LF"),
    (b"#" * ((1 << 20) + 1), "is larger than 1 MiB"),
]


@pytest.mark.parametrize(("content", "says"), BAD)
@pytest.mark.parametrize(
    ("layer", "style"), [(LayerName.SHARED, STYLES[0]), *((LayerName.LOCAL, style) for style in STYLES)]
)
def test_a_file_that_cannot_be_continued_is_left_alone_and_so_is_the_other_layer(
    bench: Bench, layer: LayerName, style: str, content: bytes, says: str
) -> None:
    bench = styled(bench, style)
    path = place(bench, layer, style)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(HoldfastError) as refused:
        bench.save("codex", *WORK)
    assert says in refused.value.message
    assert path.name in refused.value.message
    assert refused.value.hint
    assert path.read_bytes() == content
    other = next(one for one in LayerName if one is not layer)
    assert not bench.file(other).exists(), "both or none"


@pytest.mark.parametrize(("content", "says"), BAD[:-1])
def test_a_refresh_replaces_it_and_keeps_it_in_the_history(bench: Bench, content: bytes, says: str) -> None:
    source = bench.save("codex", *WORK).source
    bench.file(LayerName.LOCAL).write_bytes(content)
    bench.refresh(source)
    assert bench.continuity_files.places.versions(LayerName.LOCAL)[0].read_bytes() == content
    assert bench.said(LayerName.LOCAL).goal.startswith("Make the parser")


@pytest.mark.parametrize("style", STYLES)
def test_lines_that_end_as_on_windows_stay_so(bench: Bench, style: str) -> None:
    bench = styled(bench, style)
    path = place(bench, LayerName.LOCAL, style)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"---\r\nmood: good\r\n---\r\n## Goal\r\nShip it\r\n")
    bench.save("codex", *WORK)
    written = bench.file(LayerName.LOCAL).read_bytes()
    assert written.startswith(b"---\r\nmood: good\r\n")
    assert b"## Goal\r\nShip it\r\n" in written
    assert b"\n" not in written.replace(b"\r\n", b"")


def directory(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "mine.txt").write_text("mine")


def pipe(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def link_to_a_file_outside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    outside = path.parents[3] / "outside.md"
    outside.write_text("## Goal\nElsewhere\n")
    path.symlink_to(outside)


def link_to_a_folder_outside(path: Path) -> None:
    outside = path.parents[3] / "outside"
    outside.mkdir()
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(outside)


def file_where_a_folder_belongs(path: Path) -> None:
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.write_text("mine")


@pytest.mark.parametrize(
    "put", [directory, pipe, link_to_a_file_outside, link_to_a_folder_outside, file_where_a_folder_belongs]
)
@pytest.mark.parametrize("replaces", [False, True])
def test_what_is_no_file_of_the_worktree_is_refused(
    bench: Bench, put: Callable[[Path], None], *, replaces: bool
) -> None:
    outcome = bench.save("codex", *WORK, scope=AuditScope.SHARED)
    put(bench.file(LayerName.LOCAL))
    before = dict(_tree(bench.root))
    shared = bench.file(LayerName.SHARED).read_bytes()
    tried = partial(bench.refresh, outcome.source) if replaces else partial(bench.save, "codex", *WORK)
    with pytest.raises(HoldfastError) as refused:
        tried()
    assert "\n" not in refused.value.message
    assert refused.value.hint
    after = {path: state for path, state in _tree(bench.root) if "recovery" not in path}
    assert {path: state for path, state in before.items() if path in after} == after
    assert bench.file(LayerName.SHARED).read_bytes() == shared


def _tree(root: Path) -> Iterator[tuple[str, bytes | str]]:
    """Every file of a person's, with what it holds."""
    for folder in (root / "app/.holdfast", root / "app/.claude", root / "outside", root / "outside.md"):
        for path in (folder, *sorted(folder.rglob("*"))):
            if path.is_symlink():
                yield str(path), str(path.readlink())
            elif path.is_file():
                yield str(path), path.read_bytes()


@pytest.mark.parametrize("link", [".claude", ".claude/sessions"])
def test_dated_files_behind_a_link_are_refused(bench: Bench, link: str) -> None:
    bench = styled(bench, "claude")
    outside = bench.root / "outside"
    outside.mkdir()
    path = bench.worktree / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside)
    with pytest.raises(HoldfastError, match="it is a link"):
        bench.save("codex", *WORK)
    assert list(outside.iterdir()) == []


def test_where_git_cannot_be_told_nothing_is_written_and_a_mark_stays(bench: Bench) -> None:
    told = bench.worktree / ".git/info/exclude"
    told.unlink(missing_ok=True)
    told.mkdir(parents=True)
    with pytest.raises(HoldfastError, match="exclude"):
        bench.save("codex", *WORK)
    assert not bench.file(LayerName.LOCAL).exists()
    assert [one.entry.session for one in bench.continuity_files.markers()] == ["s1"]


@contextmanager
def unprivileged() -> Generator[None]:
    """As someone for whom permissions count: root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def open_bench() -> Iterator[Bench]:
    """A bench of someone for whom permissions count."""
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    bench = bench_at(root)
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    with unprivileged():
        yield bench
    shutil.rmtree(root)


def test_a_tree_that_may_not_be_written_is_left_as_it_is(open_bench: Bench) -> None:
    bench = open_bench
    bench.save("codex", *WORK)
    folder = bench.file(LayerName.LOCAL).parent
    before = {layer: bench.file(layer).read_bytes() for layer in LayerName}
    folder.chmod(0o555)
    try:
        with pytest.raises(HoldfastError, match=r"cannot write|may not be written|Permission denied"):
            bench.save("codex", Asks("Draw the calendar of weeks"), name="s2")
    finally:
        folder.chmod(0o755)
    assert {layer: bench.file(layer).read_bytes() for layer in LayerName} == before
    assert [one.entry.session for one in bench.continuity_files.markers()] == ["s2"]


def test_a_file_that_may_not_be_read_is_an_error(open_bench: Bench) -> None:
    bench = open_bench
    bench.save("codex", *WORK)
    path = bench.file(LayerName.LOCAL)
    path.chmod(0o000)
    try:
        with pytest.raises(HoldfastError, match=r"active\.md"):
            continuity.layers(bench.continuity_files)
    finally:
        path.chmod(0o600)
