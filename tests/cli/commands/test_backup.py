"""Backup and restore as a person types them: asked before anything is replaced, refused in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.engine.liveness import lock_holder
from tests.cli.conftest import Done, Person


@pytest.fixture
def words(person: Person) -> Path:
    file = person.root / "words"
    file.write_text("correct horse\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def file(person: Person) -> Path:
    return person.root / "holdfast.backup"


def backed_up(person: Person, file: Path, words: Path, *more: str) -> Done:
    done = person.types("backup", str(file), "--passphrase-file", str(words), *more)
    assert done.status == 0, done.err
    return done


def memories(person: Person) -> list[str]:
    return [row["text"] for row in person.types("memories", "list", "--json").json]


def test_a_home_goes_to_another_machine_and_back(person: Person, file: Path, words: Path) -> None:
    person.types("up")
    person.types("remember", "The port is 8080.")
    row = backed_up(person, file, words, "--json").json
    assert (row["file"], row["checked"], row["left_out"]) == (str(file), True, [])
    assert file.stat().st_mode & 0o777 == 0o600
    other = Person(person.root, {"HOLDFAST_HOME": str(person.root / "other")})
    done = other.types("restore", str(file), "--passphrase-file", str(words))
    assert done.status == 0, done.err
    assert "counts as a new machine" in done.err
    assert memories(other) == ["The port is 8080."]
    assert lock_holder(person.home), "the daemon of the other home is left alone"


def test_a_home_is_replaced_only_if_its_user_agrees_and_its_daemon_is_stopped(
    person: Person, file: Path, words: Path
) -> None:
    person.types("up")
    person.types("remember", "The port is 8080.")
    backed_up(person, file, words)
    person.types("remember", "The host is db1.")
    refused = person.types("restore", str(file), "--passphrase-file", str(words))
    assert refused.status == 1
    assert "there is a home" in refused.err
    assert lock_holder(person.home)
    done = person.types("restore", str(file), "--passphrase-file", str(words), "--replace", "--json")
    assert done.status == 0, done.err
    assert done.json["is_same_machine"] is True
    assert Path(done.json["aside"]).is_dir()
    assert not lock_holder(person.home)
    assert memories(person) == ["The port is 8080."]
    assert person.types("up").status == 0


def test_a_file_that_is_there_is_replaced_only_if_its_user_agrees(
    person: Person, file: Path, words: Path
) -> None:
    person.types("remember", "The port is 8080.")
    backed_up(person, file, words)
    before = file.read_bytes()
    refused = person.types("backup", str(file), "--passphrase-file", str(words))
    assert refused.status == 1
    assert file.read_bytes() == before
    backed_up(person, file, words, "--yes")
    assert file.read_bytes() != before


def test_a_passphrase_comes_from_a_file_that_only_its_owner_reads(
    person: Person, file: Path, words: Path
) -> None:
    person.types("remember", "The port is 8080.")

    def unreadable(sentence: str) -> None:
        done = person.types("backup", str(file), "--passphrase-file", str(words))
        assert done.status == 1
        assert sentence in done.err
        assert not file.exists()

    words.chmod(0o644)
    unreadable("others may read")
    words.chmod(0o600)
    words.write_text("\n")
    unreadable("is empty")
    words.write_bytes(b"\xff\xfe\n")
    unreadable("is not UTF-8")
    words.unlink()
    unreadable("cannot be read")
    os.mkfifo(words, 0o600)
    unreadable("is not a regular file")
    asked = person.types("backup", str(file))
    assert asked.status == 1
    assert "--passphrase-file" in asked.err


def test_what_cannot_be_restored_is_refused_and_leaves_the_daemon_running(
    person: Person, file: Path, words: Path
) -> None:
    person.types("up")
    person.types("remember", "The port is 8080.")
    backed_up(person, file, words)
    words.write_text("another\n")
    done = person.types("restore", str(file), "--passphrase-file", str(words), "--yes")
    assert done.status == 1
    assert "passphrase is wrong" in done.err
    assert lock_holder(person.home)
    assert memories(person) == ["The port is 8080."]
    missing = person.types("restore", str(file.with_name("none")), "--passphrase-file", str(words), "--yes")
    assert "there is no file" in missing.err


def test_nothing_is_backed_up_of_a_home_that_is_not_there(person: Person, file: Path, words: Path) -> None:
    done = person.types("backup", str(file), "--passphrase-file", str(words))
    assert done.status == 1
    assert "nothing at" in done.err
