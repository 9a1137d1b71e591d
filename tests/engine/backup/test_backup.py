"""A home in one sealed file, and back: whole or not at all, whatever is done to the file or the process."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import stat
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast import system
from holdfast.core.memory.memory import Memory
from holdfast.core.sharing.identity import Machine
from holdfast.engine.backup import write
from holdfast.engine.backup.archive import ArchiveWriter, Description
from holdfast.engine.backup.restore import Restored, finish_interrupted, holds_something, restore
from holdfast.engine.backup.write import WrittenBackup, write_backup
from holdfast.engine.privacy import forget
from holdfast.engine.repository import projects
from holdfast.errors import BackupUnreadable, HoldfastError, StoreCorrupt
from holdfast.files import machine_id, sealed
from holdfast.files.sealed import Cost, SealedReader, SealedWriter, new_salt
from holdfast.harnesses.zstd import ZstdFile
from holdfast.stores.base import EVERYWHERE
from holdfast.stores.sqlite import SqliteStore, latest, open_store
from tests.engine.repository.test_git import repository_in, run_git
from tests.stores.contract import memory

NOON = 1_800_000_000_000
CHEAP = Cost(log_n=4)
WORDS = "correct horse battery staple"


def quietly(_stage: str, _part: float) -> None:
    """Progress that nobody watches."""


def opened(home: Path) -> SqliteStore:
    return open_store(home / "store.db", home / "backups", NOON)


def remember(home: Path, *ids: str) -> None:
    store = opened(home)
    with store.writing():
        for id in ids:
            store.put_memory(replace(memory(id), text=f"The port of the service {id} is known."))
    store.close()


def remembered(home: Path) -> set[str]:
    store = opened(home)
    try:
        found: list[Memory] = store.memories(EVERYWHERE, 100)
        return {each.id for each in found}
    finally:
        store.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with everything that one can hold."""
    where = tmp_path / "home"
    where.mkdir(0o700)
    remember(where, "m1", "m2")
    machine_id.read_or_make(where)
    for name, content in {
        "config.toml": '[person]\nname = "You"\n',
        "projects/1f2e/config.toml": "[brief]\ninject = false\n",
        "projects/1f2e/ledger/a/current.md": "# Ledger\n",
        "spool/1.event": "at: 1\n\n{}",
        "spool/2.event.part": "half",
        "logs/daemon.log": "a line\n",
        "backups/store-20260101T000000Z-daily-schema-0011.db": "a copy",
        "backups/1700000000000-abcd1234-settings.json": "{}",
        "bin/hook.py": "# hook",
        "http/token": "t" * 40,
        "run/lock": "",
        "run/token": "secret",
        "manifest.json": "{}",
        "store.corrupt-20260101T000000Z.db": "damaged",
    }.items():
        (where / name).parent.mkdir(0o700, parents=True, exist_ok=True)
        (where / name).write_text(content)
    return where


def backed_up(home: Path, file: Path, at: int = NOON, cost: Cost = CHEAP) -> WrittenBackup:
    machine = Machine(machine_id.read(home), "desk")
    return write_backup(home, file, WORDS, machine, at, quietly, cost)


def put_back(file: Path, home: Path, passphrase: str = WORDS, at: int = NOON) -> Restored:
    return restore(file, home, passphrase, at, quietly, lambda: None)


def contents(home: Path) -> dict[str, bytes]:
    return {str(each.relative_to(home)): each.read_bytes() for each in home.rglob("*") if each.is_file()}


def test_a_home_comes_back_on_another_path_without_what_belongs_to_its_machine(
    home: Path, tmp_path: Path
) -> None:
    written = backed_up(home, tmp_path / "b")
    assert (written.left_out, written.size) == ((), (tmp_path / "b").stat().st_size)
    other = tmp_path / "elsewhere" / "home"
    restored = put_back(tmp_path / "b", other)
    assert (restored.aside, restored.is_same_machine, restored.files) == (None, False, written.files)
    assert (restored.description.machine_name, restored.description.schema) == ("desk", latest())
    assert remembered(other) == {"m1", "m2"}
    before, after = contents(home), contents(other)
    mine = {name for name in before if name.split("/")[0] in write.STAYING} | {
        "backups/1700000000000-abcd1234-settings.json",
        "spool/2.event.part",
    }
    assert {name for name in before if not name.startswith("store.db")} - mine == {
        name for name in after if not name.startswith("store.db") and name != machine_id.NAME
    }
    assert all(after[name] == before[name] for name in after if not name.startswith(("store.db", "machine")))
    assert machine_id.read(other) not in ("", machine_id.read(home)), "the original may live on"
    for each in (other, *other.rglob("*")):
        assert not stat.S_IMODE(each.stat().st_mode) & 0o077, each


def test_nothing_of_the_home_can_be_read_in_the_file_and_no_two_are_alike(home: Path, tmp_path: Path) -> None:
    backed_up(home, tmp_path / "one")
    backed_up(home, tmp_path / "two")
    one, two = (tmp_path / "one").read_bytes(), (tmp_path / "two").read_bytes()
    assert b"config.toml" not in one
    assert b"SQLite" not in one
    assert one[len(sealed.MAGIC) + 4 :][:64] != two[len(sealed.MAGIC) + 4 :][:64]
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["home", "one", "two"]


def test_a_home_that_is_replaced_stays_beside_the_new_one_and_lends_what_is_its_machines(
    home: Path, tmp_path: Path
) -> None:
    backed_up(home, tmp_path / "b")
    id = machine_id.read(home)
    remember(home, "m3")
    (home / "bin" / "hook.py").write_text("# a newer hook")
    (home / "spool" / "3.event").write_text("at: 3\n\n{}")
    before = contents(home)
    restored = put_back(tmp_path / "b", home)
    assert restored.is_same_machine
    assert machine_id.read(home) == id
    assert restored.aside is not None
    assert remembered(home) == {"m1", "m2"}
    assert remembered(restored.aside) == {"m1", "m2", "m3"}
    assert (home / "bin" / "hook.py").read_text() == "# a newer hook"
    for name in ("http/token", "manifest.json", "backups/1700000000000-abcd1234-settings.json"):
        assert (home / name).read_bytes() == before[name]
    assert {each.name for each in (home / "spool").glob("*.event")} == {"1.event", "3.event"}
    assert not (home / "run" / "token").exists()
    assert not list(home.glob(".*"))
    assert len(list(tmp_path.iterdir())) == 3


def test_what_was_forgotten_since_does_not_come_back(home: Path, tmp_path: Path) -> None:
    backed_up(home, tmp_path / "b")
    store = opened(home)
    forget.forget(store, home, forget.OneMemory("m1"), NOON + 1)
    store.close()
    put_back(tmp_path / "b", home, at=NOON + 2)
    assert remembered(home) == {"m2"}
    put_back(tmp_path / "b", tmp_path / "other", at=NOON + 3)
    assert remembered(tmp_path / "other") == {"m1", "m2"}, "another home knows nothing of it"


def test_on_another_machine_a_project_is_known_by_its_remote_wherever_it_is_cloned(
    home: Path, tmp_path: Path
) -> None:
    store = opened(home)
    repo = repository_in(tmp_path / "laptop" / "shop")
    run_git(repo, "remote", "add", "origin", "git@example.com:acme/shop.git")
    project_id = projects.at(store, str(repo), NOON).project_id
    store.close()
    backed_up(home, tmp_path / "b")
    put_back(tmp_path / "b", tmp_path / "desk home", at=NOON + 1)
    clones = [tmp_path / "desk" / name for name in ("code", "again")]
    for clone in clones:
        run_git(tmp_path, "clone", "-q", str(repo), str(clone))
        run_git(clone, "remote", "set-url", "origin", "https://example.com/acme/shop")
    store = opened(tmp_path / "desk home")
    resolved = [projects.follow(store, str(clone), NOON + 2) for clone in clones]
    assert resolved[0].project.project_id == project_id
    assert "moved here" in resolved[0].note
    assert resolved[1].project.project_id != project_id, "the second clone is a project of its own, as ever"
    store.close()
    store = opened(home)
    other = projects.resolve(store, str(clones[0]))
    assert other.project.project_id != project_id, "where it still is, a clone is another project"
    store.close()


def test_a_store_is_backed_up_whole_while_others_write(home: Path, tmp_path: Path) -> None:
    """Each transaction adds two memories; no backup may have only one of a pair."""
    stop, count = threading.Event(), [0]

    def go_on() -> None:
        store = opened(home)
        while not stop.is_set():
            with store.writing():
                store.put_memory(memory(f"left {count[0]}"))
                store.put_memory(memory(f"right {count[0]}"))
            count[0] += 1
        store.close()

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        for number in range(5):
            backed_up(home, tmp_path / f"b{number}")
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        put_back(tmp_path / f"b{number}", tmp_path / f"h{number}")
        ids = remembered(tmp_path / f"h{number}")
        halves = [{id.split()[1] for id in ids if id.startswith(half)} for half in ("left ", "right ")]
        assert halves[0] == halves[1]


def test_links_are_followed_to_files_only(home: Path, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.toml"
    dotfiles.write_text("[brief]\n")
    (home / "config.toml").unlink()
    (home / "config.toml").symlink_to(dotfiles)
    (home / "logs" / "away").symlink_to(tmp_path)
    (home / "logs" / "broken").symlink_to(tmp_path / "nothing")
    os.mkfifo(home / "logs" / "fifo")
    written = backed_up(home, tmp_path / "b")
    assert set(written.left_out) == {"logs/away", "logs/broken", "logs/fifo"}
    put_back(tmp_path / "b", tmp_path / "other")
    restored = tmp_path / "other" / "config.toml"
    assert (restored.read_text(), restored.is_symlink()) == ("[brief]\n", False)


def test_a_home_behind_a_link_is_replaced_where_it_is(home: Path, tmp_path: Path) -> None:
    backed_up(home, tmp_path / "b")
    link = tmp_path / "link"
    link.symlink_to(home)
    remember(home, "m3")
    put_back(tmp_path / "b", link)
    assert link.is_symlink()
    assert remembered(home) == {"m1", "m2"}


def test_a_damaged_store_is_not_backed_up(home: Path, tmp_path: Path) -> None:
    with (home / "store.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * 16384)
    with pytest.raises(StoreCorrupt):
        backed_up(home, tmp_path / "b")
    assert not list(tmp_path.glob("*b*.part"))
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("place", ["home/b", "nowhere/b", "home"])
def test_a_file_is_written_only_where_it_can_be(home: Path, tmp_path: Path, place: str) -> None:
    with pytest.raises(HoldfastError):
        backed_up(home, tmp_path / place)


def test_a_file_that_does_not_read_back_does_not_count(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").write_bytes(b"the last backup")
    advise = getattr(os, "posix_fadvise", None)

    def spoil(descriptor: int, *more: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        if advise:
            advise(descriptor, *more)

    monkeypatch.setattr(os, "posix_fadvise", spoil, raising=False)
    with pytest.raises(HoldfastError):
        backed_up(home, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"the last backup"


# ------------------------------------------------------------ files that are not what was written


def one_error(file: Path, home: Path, passphrase: str = WORDS) -> str:
    before = contents(home) if home.exists() else None
    with pytest.raises(BackupUnreadable) as error:
        put_back(file, home, passphrase)
    assert (contents(home) if home.exists() else None) == before
    assert "\n" not in error.value.message
    return error.value.message


def test_wrong_words_and_damage_are_refused_in_one_sentence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "CHUNK", 1024)
    file = tmp_path / "b"
    backed_up(home, file)
    content = file.read_bytes()
    assert len(content) > 3 * 1024
    assert "passphrase is wrong" in one_error(file, home, "another")
    for length in (0, 5, len(sealed.MAGIC), 40, 60, 1024, 52 + 2 * (1024 + 16), len(content) - 1):
        file.write_bytes(content[:length])
        assert one_error(file, home)
    spots = [len(sealed.MAGIC) + at for at in (1, 2, 3, 5, 25)] + list(range(60, len(content), 497))
    for spot in spots:
        changed = bytearray(content)
        changed[spot] ^= 0x41
        file.write_bytes(changed)
        assert one_error(file, home), spot
    first, second = content[52 : 52 + 1040], content[52 + 1040 : 52 + 2 * 1040]
    for shuffled in (second + first, first + first, second, first):
        file.write_bytes(content[:52] + shuffled + content[52 + 2 * 1040 :])
        assert "incomplete or was changed" in one_error(file, home)
    file.write_bytes(content + b"more")
    assert "incomplete or was changed" in one_error(file, home)
    file.write_bytes(content)
    put_back(file, home)


def test_what_a_later_version_wrote_is_refused(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b"
    backed_up(home, file)
    content = bytearray(file.read_bytes())
    content[len(sealed.MAGIC)] = 9
    file.write_bytes(content)
    assert "later version" in one_error(file, home)
    made(file, [], schema=latest() + 1)
    assert f"schema {latest() + 1}" in one_error(file, home)
    made(file, [], format=2)
    assert "format 2" in one_error(file, home)
    file.write_text("[person]\nname = 1\n")
    assert "is no backup" in one_error(file, home)


def made(file: Path, heads: list[object], schema: int = 0, **fields: object) -> None:
    """A backup with these entries, sealed as any other."""
    plain = BytesIO()
    archive = ArchiveWriter(plain, Description("9.9", schema, NOON, "", "desk", 0))
    if fields:
        plain.seek(0)
        plain.truncate()
        archive._head({"kind": "backup", **fields})
    for head in heads:
        if isinstance(head, bytes):
            plain.write(head)
        else:
            archive._head(cast("dict[str, Any]", head))
            if cast("dict[str, Any]", head).get("kind") == "file":
                body = b"content"
                plain.write(
                    struct.pack(">I", len(body)) + body + struct.pack(">I", 0) + hashlib.sha256(body).digest()
                )
                archive.files += 1
    archive.finish()
    with file.open("wb") as target:
        sealing = SealedWriter(target, WORDS, new_salt(), CHEAP)
        with ZstdFile(sealing, "w") as packed:
            packed.write(plain.getvalue())
        sealing.finish()


@pytest.mark.parametrize(
    "head",
    [
        {"kind": "file", "path": "../escaped"},
        {"kind": "file", "path": "/tmp/escaped"},
        {"kind": "file", "path": "a/../../escaped"},
        {"kind": "file", "path": "a//b"},
        {"kind": "file", "path": "."},
        {"kind": "file", "path": ""},
        {"kind": "file", "path": "a\0b"},
        {"kind": "file", "path": "..\\escaped"},
        {"kind": "file", "path": "C:escaped"},
        {"kind": "file", "path": "a" * 5000},
        {"kind": "file", "path": "bin/hook.py"},
        {"kind": "file", "path": "run/token"},
        {"kind": "file", "path": "manifest.json"},
        {"kind": "folder", "path": "../escaped"},
        {"kind": "link", "path": "store.db", "target": "/etc/passwd"},
        {"kind": "symlink", "path": "logs", "target": ".."},
        {"path": "a"},
        {"kind": "end", "files": 7},
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x02{x",
    ],
    ids=range(21),
)
def test_an_archive_that_leads_out_of_the_home_is_refused(tmp_path: Path, head: object) -> None:
    file, home = tmp_path / "b", tmp_path / "deep" / "home"
    made(file, [{"kind": "file", "path": "ok"}])
    put_back(file, home)
    made(file, [{"kind": "file", "path": "ok"}, head])
    one_error(file, home)
    one_error(file, tmp_path / "deep" / "other")
    assert not list(tmp_path.rglob("escaped"))
    assert not Path("/tmp/escaped").exists()
    assert [each.name for each in (tmp_path / "deep").iterdir()] == ["home"]


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "b", [{"kind": "file", "path": "a"}, {"kind": "file", "path": "a"}])
    with pytest.raises(HoldfastError):
        put_back(tmp_path / "b", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_header_that_would_exhaust_memory_is_refused(tmp_path: Path) -> None:
    header = sealed._HEADER.pack(sealed.MAGIC, 1, 40, 255, 255, bytes(16))
    with pytest.raises(BackupUnreadable):
        SealedReader(BytesIO(header + bytes(100)), "b", passphrase=WORDS)


# ------------------------------------------------------------ killed


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Run work in a process that is killed at this call of the system; whether it was killed."""
    child = os.fork()
    if child == 0:
        steps = [0]

        def count(event: str, _: tuple[object, ...]) -> None:
            if event.startswith(("os.", "open", "shutil.", "sqlite", "ctypes.")):
                steps[0] += 1
                if steps[0] == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


STRIDES = [pytest.param(31, id="some steps"), pytest.param(1, id="every step", marks=pytest.mark.slow)]


@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("can_exchange", [True, False], ids=["exchange", "two steps"])
def test_killed_at_any_step_a_restoration_leaves_the_old_home_or_the_new(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stride: int, *, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(system, "exchange", lambda _one, _other: False)
    backed_up(home, tmp_path / "b")
    remember(home, "m3")
    old, new, step, outcomes = {"m1", "m2", "m3"}, {"m1", "m2"}, 0, list[bool]()
    while True:
        step += stride
        was_killed = killed_at(step, lambda: put_back(tmp_path / "b", home))
        finish_interrupted(home)
        there = remembered(home)
        assert there in (old, new), step
        assert (home / "config.toml").is_file()
        assert (home / "bin" / "hook.py").is_file()
        outcomes.append(there == new)
        if not was_killed:
            break
        if there == new:
            remember(home, "m3")
    assert outcomes[0] is False
    assert outcomes[-1] is True
    assert False in outcomes[3:], "it was killed before it was done, too"
    aside = [each for each in tmp_path.iterdir() if each.name.startswith("home.before")]
    assert all(remembered(each) == old for each in aside), "no home of before was lost or mixed up"
    assert aside
    put_back(tmp_path / "b", home)
    assert not [each for each in tmp_path.iterdir() if "restor" in each.name], "what was left is cleared"


@pytest.mark.parametrize("stride", STRIDES)
def test_killed_at_any_step_a_backup_leaves_the_last_file_or_the_new(
    home: Path, tmp_path: Path, stride: int
) -> None:
    file = tmp_path / "b"
    backed_up(home, file)
    remember(home, "m3")
    step, there = 0, {"m1", "m2"}
    while True:
        step += stride
        was_killed = killed_at(step, lambda: backed_up(home, file))
        put_back(file, tmp_path / f"h{step}")
        there = remembered(tmp_path / f"h{step}")
        assert there in ({"m1", "m2"}, {"m1", "m2", "m3"}), step
        if not was_killed:
            break
    assert there == {"m1", "m2", "m3"}
    backed_up(home, file)
    assert not list(tmp_path.glob(".b.*")), "what killed ones left is cleared"
    assert not list((home / "backups").glob("*snapshot*"))


def test_a_daemon_that_has_the_home_is_not_replaced(home: Path, tmp_path: Path) -> None:
    backed_up(home, tmp_path / "b")
    descriptor = os.open(home / "run" / "lock", os.O_RDWR)
    system.lock(descriptor)
    with pytest.raises(HoldfastError, match="a daemon works"):
        put_back(tmp_path / "b", home)
    os.close(descriptor)
    put_back(tmp_path / "b", home)


def test_without_the_package_that_encrypts_nothing_is_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(HoldfastError, match="needs the package `cryptography`") as error:
        backed_up(home, tmp_path / "b")
    assert "holdfast[backup]" in error.value.hint
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


def test_an_empty_home_is_none(tmp_path: Path) -> None:
    assert not holds_something(tmp_path / "home")
    (tmp_path / "home").mkdir()
    assert not holds_something(tmp_path / "home")
    (tmp_path / "home" / "config.toml").touch()
    assert holds_something(tmp_path / "home")
