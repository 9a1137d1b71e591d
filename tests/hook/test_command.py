"""The command line means the same to Python whatever the path, and no part of it anything to a shell."""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import hook
from tests.hook.fake_daemon import FakeDaemon, answer
from tests.hook.harness import BASE_PYTHON, ENVIRONMENT, Harness, payload

PATHS = st.text(st.characters(blacklist_characters="\0"), min_size=1)


def test_it_is_this_command_line() -> None:
    path = "/home/you/.holdfast/bin/hook.py"
    load = "os.path.exists(p) and (sys.path.append(os.path.dirname(p)),__import__('hook').main(p))"
    code = f"import os,sys;p='{path}';{load}"
    line = hook.command("/usr/bin/python3", path, "alpha", ("A_PID", "B"), ("Stop", "SessionEnd"))
    assert line == f'/usr/bin/python3 -I -S -c "{code}" alpha A_PID,B Stop,SessionEnd 2>/dev/null || :'


@given(path=PATHS, python=PATHS)
def test_any_path_comes_through_the_shell(path: str, python: str) -> None:
    line = hook.command(python, path, "alpha", (), ()).removesuffix(" 2>/dev/null || :")
    program, *options, code, harness, carried, quiet, caller = shlex.split(line)
    assert (program, options) == (python, ["-I", "-S", "-c"])
    assert (harness, carried, quiet, caller) == ("alpha", "-", "-", "$PPID")
    assignment = ast.parse(code).body[1]
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) == path


@given(path=PATHS)
def test_nothing_in_the_code_means_anything_to_a_shell(path: str) -> None:
    line = hook.command("python", path, "alpha", ("A_PID",), ())
    code = line.removeprefix('python -I -S -c "').removesuffix('" alpha A_PID - 2>/dev/null || :')
    assert code.isascii()
    assert not set('"$`!%^&|<>\n') & set(code)
    assert code.count("\\") == code.count("\\U")


def test_nothing_is_said_where_the_interpreter_is_gone(home: Path) -> None:
    line = hook.command("/nonexistent/python", str(home / "bin" / "hook.py"), "alpha", (), ())
    done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", ["it's", 'a "home"', "$HOME `id`", "100%!", "dé jà\tvu", "back\\slash"])
def test_a_home_may_have_any_name(home: Path, name: str) -> None:
    named = home.parent / name
    shutil.move(home, named)
    with FakeDaemon(named, answer(b"a brief")):
        assert in_shell(Harness(named).command) == (0, b"a brief", b"")


def test_a_harness_that_does_not_name_its_process_is_the_one_that_started_the_shell(home: Path) -> None:
    line = hook.command(BASE_PYTHON, str(home / "bin" / "hook.py"), "alpha", ("ALPHA_SESSION_ID",), ())
    with FakeDaemon(home, answer(b"")) as daemon:
        assert in_shell(line) == (0, b"", b"")
    assert daemon.received[0].header["process"].split()[0] == str(os.getpid())


@pytest.mark.parametrize(
    ("word", "process"),
    [("4711", "4711"), ("$PPID", str(os.getpid())), ("", None)],
    ids=["a shell that tells it", "no shell at all", "a shell that cannot tell it"],
)
def test_the_process_is_said_where_it_is_known(home: Path, word: str, process: str | None) -> None:
    line = hook.command(BASE_PYTHON, str(home / "bin" / "hook.py"), "alpha", (), ())
    words = shlex.split(line.removesuffix(' "$PPID" 2>/dev/null || :'))
    with FakeDaemon(home, answer(b"")) as daemon:
        subprocess.run([*words, word], input=payload("Stop"), env=ENVIRONMENT, check=True)
    said = daemon.received[0].header.get("process")
    assert (said.split()[0] if said else None) == process


def in_shell(line: str) -> tuple[int, bytes, bytes]:
    ran = subprocess.run(
        ["/bin/sh", "-c", line], input=payload("Stop"), env=ENVIRONMENT, capture_output=True, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_the_file_reads_the_same_in_every_encoding() -> None:
    # The command line opens it with the encoding of the user's locale.
    assert Path(hook.__file__).read_bytes().isascii()
