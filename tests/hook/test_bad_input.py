"""Whatever is missing, broken or too much: exit 0, and nothing on either stream."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.fake_daemon import FakeDaemon, answer
from tests.hook.harness import ENVIRONMENT, NOTHING, Harness, payload

BAD_PAYLOADS = {
    "empty": b"",
    "truncated": payload("Stop")[:-1],
    "binary": bytes(range(256)),
    "half of a character": b"\xff\xfe\x00",
    "a list": b"[]",
    "nothing": b"null",
    "pairs": b'[["session_id","s"]]',
    "deep and open": b'{"a":' * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "a number too long": b'{"a":' + b"9" * 10_000 + b"}",
}
each_non_letter = pytest.mark.parametrize("text", BAD_PAYLOADS.values(), ids=BAD_PAYLOADS.keys())


@each_non_letter
def test_what_is_no_hook_event_is_counted_and_not_kept(harness: Harness, text: bytes) -> None:
    assert harness.fire(text) == NOTHING
    assert harness.fire(text) == NOTHING
    assert harness.spool_names() == ["unreadable"]
    assert harness.counted("unreadable") == 2


@each_non_letter
def test_what_is_no_hook_event_is_for_a_daemon_to_judge(harness: Harness, text: bytes) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        assert harness.fire(text) == NOTHING
    assert daemon.received[0].payload == text


def test_a_hundred_megabytes_are_read_and_sixteen_carried(harness: Harness) -> None:
    text = b"x" * 100_000_000
    with FakeDaemon(harness.home, answer(b"a brief")) as daemon:
        assert harness.fire(text) == (0, b"a brief", b"")
    assert daemon.received[0].payload == text[: hook.PAYLOAD_LIMIT]
    (harness.home / "run/endpoint").unlink()
    assert harness.fire(text) == NOTHING
    assert harness.counted("unreadable") == 1


def test_a_harness_that_leaves_stdin_open_gets_its_answer(harness: Harness) -> None:
    sent = payload("SessionStart")
    with FakeDaemon(harness.home, answer(b"a brief")) as daemon, harness.start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 30)[0]
        assert process.stdout.read() == b"a brief"
        assert process.wait(30) == 0
    assert daemon.received[0].payload == sent


def test_stdin_is_left_as_it_was_found(harness: Harness) -> None:
    ours, theirs = os.pipe()
    os.close(theirs)
    with FakeDaemon(harness.home, answer(b"")):
        subprocess.run(harness.words, stdin=ours, env=ENVIRONMENT, check=True)
    assert os.get_blocking(ours)
    os.close(ours)


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(harness: Harness, closing: str) -> None:
    script = f"{shlex.join(harness.words)} {closing}"
    with FakeDaemon(harness.home, answer(b"a brief")):
        ran = subprocess.run(
            ["/bin/sh", "-c", script],
            input=payload("Stop"),
            env=ENVIRONMENT,
            capture_output=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_reader_that_went_away_does_no_harm(harness: Harness) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with FakeDaemon(harness.home, answer(b"x" * 1_000_000)):
        ran = subprocess.run(
            harness.words,
            input=payload("SessionStart"),
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
        )
    os.close(theirs)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("missing", ["bin/hook.py", "bin", "."])
def test_what_the_user_deleted_stays_deleted(harness: Harness, missing: str) -> None:
    if (harness.home / missing).is_dir():
        shutil.rmtree(harness.home / missing)
    else:
        (harness.home / missing).unlink()
    assert harness.fire(payload("SessionStart")) == NOTHING
    assert not (harness.home / missing).exists()
    assert not (harness.home / "spool").exists()


def test_a_home_that_is_gone_is_not_brought_back(tmp_path: Path) -> None:
    assert hook.run(str(tmp_path / "gone"), "alpha", (), ()) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spool", ["a file", "a dead link"])
def test_a_spool_that_is_no_folder_does_no_harm(harness: Harness, spool: str) -> None:
    if spool == "a file":
        (harness.home / "spool").touch()
    else:
        (harness.home / "spool").symlink_to("/nonexistent/spool")
    assert harness.fire(payload("SessionStart")) == NOTHING


@pytest.mark.parametrize(
    "trouble", ["mount -o remount,ro home", "head -c 9999999 /dev/zero > home/filler 2>/dev/null"]
)
@pytest.mark.parametrize("text", [payload("SessionStart", prompt="x" * 100_000), b"no letter"])
def test_a_disk_that_takes_nothing_does_no_harm(harness: Harness, trouble: str, text: bytes) -> None:
    # Root may write anywhere, so it takes a disk of its own, which only this one process sees.
    shell = ["unshare", "--mount", "/bin/sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*shell, "true"], check=False).returncode != 0:
        pytest.skip("may not mount here")
    script = f"""
        set -e; cp -r home kept; mount -t tmpfs -o size=64k tmpfs home; cp -r kept/. home; mkdir home/spool
        set +e
        {trouble}
        {shlex.join(harness.words)}
        echo "exit $?" && ls home/spool
    """
    ran = subprocess.run(
        [*shell, script],
        input=text,
        cwd=harness.home.parent,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"exit 0\n", b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_spool_that_may_not_be_written_does_no_harm(harness: Harness) -> None:
    (harness.home / "spool").mkdir(mode=0o500)
    assert harness.fire(payload("SessionStart")) == NOTHING
    assert harness.spool_names() == []
