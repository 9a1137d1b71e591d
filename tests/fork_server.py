"""Holdfast's programs without a new interpreter each time: a server that imported everything forks for each.

`run` and `Popen` are those of `subprocess` for `[sys.executable, "-m", "holdfast.cli", …]` and
`[sys.executable, "-P", "-m", "holdfast.daemon"]`. What they start is a real process with its own pid,
environment, directory, standard streams, session and umask, in milliseconds. What such a process starts in
turn (a command starts the daemon) comes from the server as well.

Every other command line, and one that only a new interpreter can obey (PYTHON* or a locale in its
environment), is executed as `subprocess` does. A test of how a program starts, or of what it imports, uses
`subprocess` itself.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final, NoReturn

from holdfast.core.redaction.redact import redact
from holdfast.core.text.lazy_patterns import compiled

PROGRAMS: Final = ("holdfast.cli", "holdfast.daemon")
STREAMS: Final = 3
_NUMBER: Final = struct.Struct("!i")
_STARTUP_VARIABLES: Final = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")


class Popen(subprocess.Popen[Any]):
    """A process as `subprocess.Popen` starts it, forked by the server where it is one of Holdfast's."""

    _ending: IO[bytes] | None = None
    """Where the server writes the exit status."""

    def _execute_child(self, *options: Any) -> None:  # noqa: ANN401 - a method of the standard library's class
        args, executable, preexec_fn, _, pass_fds, cwd, env, _, _, shell, *ends = options
        *ends, _, gid, gids, uid, umask, new_session, group = ends
        words = _program_words(args)
        special = (executable, preexec_fn, pass_fds, shell, gid, gids, uid, group) != (
            *(None, None, (), False),
            *(None, None, None, -1),
        )
        environment = dict(os.environ if env is None else env)
        if words is None or special or not _may_be_forked(environment):
            super()._execute_child(*options)  # type: ignore[misc]
            return
        request = {
            "words": words,
            "environment": environment,
            "directory": os.getcwd() if cwd is None else os.fspath(cwd),  # noqa: PTH109
            "umask": umask,
            "new_session": bool(new_session),
        }
        childs_ends = (ends[0], ends[3], ends[5])
        streams = [number if end == -1 else end for number, end in enumerate(childs_ends)]
        self._ending, self.pid = _ask(request, streams)
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]

    def _internal_poll(self, *options: Any, **more: Any) -> int | None:  # noqa: ANN401
        if self._ending is None:
            code: int | None = super()._internal_poll(*options, **more)  # type: ignore[misc]
            return code
        if self.returncode is None and _readable(self._ending, 0):
            self._read_ending()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._ending is None:
            code: int = super()._wait(timeout=timeout)  # type: ignore[misc]
            return code
        if self.returncode is None and not _readable(self._ending, timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self._read_ending()

    def _read_ending(self) -> int:
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None and self._ending is not None:
                status = self._ending.read(_NUMBER.size)
                self._ending.close()
                # Nothing stands there only if somebody killed the server.
                self.returncode = _NUMBER.unpack(status)[0] if status else -signal.SIGKILL
            return self.returncode or 0


def run(
    command: Sequence[str],
    *,
    input: bytes | str | None = None,  # noqa: A002 - the name it has in `subprocess`
    timeout: float | None = None,
    check: bool = False,
    capture_output: bool = False,
    **options: Any,  # noqa: ANN401 - those of `Popen`
) -> subprocess.CompletedProcess[Any]:
    """What `subprocess.run` gives."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


# ---------------------------------------------------------------- asking the server


def _program_words(args: Any) -> list[str] | None:  # noqa: ANN401 - whatever Popen was given
    """The module and its arguments, if this is the command line of one of Holdfast's programs."""
    if isinstance(args, (str, bytes, os.PathLike)):
        return None
    words: list[str] = list(args)
    if words[:1] != [sys.executable] or not all(isinstance(word, str) for word in words):
        return None
    rest = words[2:] if words[1:2] == ["-P"] else words[1:]
    return rest[1:] if rest[:1] == ["-m"] and rest[1:2] and rest[1] in PROGRAMS else None


def _may_be_forked(environment: Mapping[str, str]) -> bool:
    # Python itself sets this LC_CTYPE where there is no locale, so the server has it too.
    names = {name for name, value in environment.items() if (name, value) != ("LC_CTYPE", "C.UTF-8")}
    return not any(name.startswith(_STARTUP_VARIABLES) for name in names)


def _ask(request: Mapping[str, object], streams: Sequence[int]) -> tuple[IO[bytes], int]:
    """Have the server fork: where the exit status will stand, and the pid."""
    read_end, write_end = os.pipe()
    ending = os.fdopen(read_end, "rb", buffering=0)
    body = json.dumps(request).encode()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(_address())
            socket.send_fds(connection, [_NUMBER.pack(len(body))], [*streams, write_end])
            connection.sendall(body)
            answer = connection.recv(_NUMBER.size, socket.MSG_WAITALL)
    finally:
        os.close(write_end)
    (pid,) = _NUMBER.unpack(answer)
    if pid < 0:
        ending.close()
        raise OSError(-pid, os.strerror(-pid), request["directory"])
    return ending, pid


def _address() -> str:
    with _ONE_AT_A_TIME:
        return _server()


_ONE_AT_A_TIME: Final = threading.Lock()


@functools.cache
def _server() -> str:
    """The address of this process's server; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="hf-fork-")
    address = f"{folder}/s"
    # Its words are those of every process it forks: doctor looks for `holdfast.daemon` among a daemon's.
    command = [sys.executable, "-P", __file__, address, *PROGRAMS]
    # No locale, like the commands in the tests. One thread, because a process with several must not fork.
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    lifeline, ready = server.stdin, server.stdout

    def end() -> None:
        lifeline.close()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    if not ready.readline():
        raise OSError("the fork server did not start")
    ready.close()
    return address


def _readable(file: IO[bytes], timeout: float | None) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        return bool(selector.select(timeout))


# ---------------------------------------------------------------- the server


class Server:
    """Forks a process for each request, and tells who asked how it ended."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.endings: dict[int, int] = {}
        """The pipe for the exit status, by pid."""
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(address)
        self.listener.listen(64)
        self.wake_up, signalled = os.pipe()
        os.set_blocking(self.wake_up, False)
        os.set_blocking(signalled, False)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def serve(self) -> None:
        """Answer until standard input is closed."""
        with selectors.DefaultSelector() as selector:
            for source in (0, self.wake_up, self.listener):
                selector.register(source, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if self.wake_up in ready:
                    os.read(self.wake_up, 4096)
                    self._report_endings()
                if self.listener.fileno() in ready:
                    self._answer()
                if 0 in ready:
                    return

    def _answer(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            head, fds, _, _ = socket.recv_fds(connection, _NUMBER.size, STREAMS + 1)
            size, body = _NUMBER.unpack(head)[0], b""
            while len(body) < size:
                body += connection.recv(size - len(body))
            request = json.loads(body)
            *streams, ending = fds
            pid = _refusal(request["directory"]) or os.fork()
            if pid == 0:
                _become(request, streams, self.address, connection)
            for stream in streams:
                os.close(stream)
            if pid > 0:
                self.endings[pid] = ending  # And the child itself says that it is there.
            else:
                os.close(ending)
                connection.sendall(_NUMBER.pack(pid))

    def _report_endings(self) -> None:
        for pid in list(self.endings):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                ending = self.endings.pop(pid)
                with contextlib.suppress(BrokenPipeError):
                    os.write(ending, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
                os.close(ending)


def _refusal(directory: str) -> int:
    """The error, as a negative number, of a directory that nothing can be started in."""
    try:
        os.chdir(directory)
        os.chdir("/")
    except OSError as error:
        return -(error.errno or 1)
    return 0


def _become(request: dict[str, Any], streams: list[int], address: str, connection: socket.socket) -> NoReturn:
    """Be the program, in the child."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if request["new_session"]:
            os.setsid()
        if request["umask"] >= 0:
            os.umask(request["umask"])
        os.chdir(request["directory"])
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        connection.sendall(_NUMBER.pack(os.getpid()))
        os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))
        os.environ.clear()
        os.environ.update({"LC_CTYPE": "C.UTF-8", **request["environment"]})
        _open_standard_streams()
        _server.cache_clear()
        globals()["_server"] = lambda: address
        subprocess.Popen = Popen  # type: ignore[misc]
        status = _status_of(*request["words"])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _open_standard_streams() -> None:
    """As a new interpreter without a locale opens them."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    for number, name, errors in ((1, "stdout", "surrogateescape"), (2, "stderr", "backslashreplace")):
        stream = open(number, "w", encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        stream.reconfigure(line_buffering=number == 2 or os.isatty(number))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _status_of(module: str, *words: str) -> int:
    """Run a module as `python -m` does, to its very end; its exit status."""
    sys.argv = [module, *words]
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)  # noqa: T201 - as the interpreter does
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return status & 0xFF


def _import_everything(package: str) -> None:
    """Import what the programs need before any fork; the SDKs of models are large, and few tests use them."""
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.endswith(("__main__", "_api")):
            importlib.import_module(module.name)


def _warm_up() -> None:
    """Make what a program makes on first use, once for all of them: patterns, ranks, vectors."""
    redact("a text that is long enough for a secret")
    lazy_pattern: Any = type(compiled(""))
    for each in gc.get_objects():
        if type(each) is lazy_pattern and "search" not in vars(each):
            lazy_pattern.compile(each)
    for name in ("tokens", "static"):
        model: Any = importlib.import_module(f"holdfast.models.{name}")
        model.load = functools.cache(model.load)
        model.load()


def main() -> None:
    """Serve at the address that the first argument names."""
    _import_everything("holdfast")
    _warm_up()
    server = Server(sys.argv[1])
    gc.collect()
    gc.freeze()
    os.write(1, b"ready\n")
    server.serve()


if __name__ == "__main__":
    main()
