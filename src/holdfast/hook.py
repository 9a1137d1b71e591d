"""The hook: sends a hook event to the daemon and prints the daemon's answer.

A harness runs this file whenever something happens in a session, and waits for it. So it never does harm: it
exits 0 whatever goes wrong, in bounded time, prints a complete answer or nothing, and is silent on stderr.
It doesn't interpret hook events, the daemon does. It writes only in the Holdfast home and talks only to the
daemon.

It is copied out of the package and must outlive it: one file, the standard library alone. Imports that only a
missing daemon makes necessary are local to their functions, because each import delays the user's prompt.
"""

import _socket
import os
import sys
import time

TYPE_CHECKING = False  # `typing` itself would cost more than all of the rest
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import BinaryIO

PAYLOAD_LIMIT = 16 * 1024 * 1024
READING_TIME = 1.0  # seconds, like all times here; some harnesses leave the hook's stdin open
ANSWER_TIME = 1.0
QUIET_TIME = 0.3  # for events whose answer the harness ignores
STARTING_TIME = 2.0
SPOOLED = ".event"  # how the names of spooled hook events end
SPOOL_FILES = 2_000
SPOOL_BYTES = 32 * 1024 * 1024

STOPPED = "run/stopped"
"""Exists in the home while the daemon stores nothing because it cannot read the privacy settings."""
REFUSED = "run/refused"
"""Says in the home why the last daemon could not start, such as that a later version wrote the store."""
REFUSED_TIME = 60.0  # seconds in which no hook tries again
KEPT_FIELDS = frozenset(
    "hook_event_name session_id sessionId session_key sessionKey previousSessionKey previous_session_key"
    " transcript_path cwd source trigger reason model prompt_id agent_id agent_type stop_hook_active".split()
)
USERS_WORDS = frozenset({"prompt", "user_prompt", "custom_instructions"})
# A hook's environment holds the keys of its harness. The daemon gets only these variables and HOLDFAST_*.
DAEMON_VARIABLES = frozenset(
    "PATH HOME LANG LC_ALL LC_CTYPE TMPDIR XDG_RUNTIME_DIR USER LOGNAME"
    " SYSTEMROOT USERPROFILE APPDATA LOCALAPPDATA TEMP TMP".split()
)
CONTROLS_TO_SPACES = bytes.maketrans(bytes(range(32)) + b"\x7f", b" " * 33)


def main(path: str) -> None:
    """Run the copy at `path`, in the home's bin, with the arguments of the command line from `command`."""
    harness, carried, quiet, caller = [*sys.argv[1:], "-", "-", "-", "-"][:4]
    home = os.path.dirname(os.path.dirname(path))
    run(home, harness, tuple(carried.split(",")), tuple(quiet.split(",")), caller)
    os._exit(0)  # Nothing is buffered, so the interpreter's cleanup can be skipped.


def run(home: str, harness: str, carried: tuple[str, ...], quiet: tuple[str, ...], caller: str = "-") -> int:
    """Send the hook event on stdin to the daemon of `home` and print the answer; the exit status, always 0.

    Only the environment variables named in `carried` are sent. The harness ignores the answer to a `quiet`
    event. `caller` is the process that started the hook's shell; empty if that shell could not tell.
    """
    # HOLDFAST_INTERNAL marks the sessions that Holdfast itself starts: they are not the user's work.
    if os.environ.get("HOLDFAST_DISABLE") != "1" and os.environ.get("HOLDFAST_INTERNAL") != "1":
        try:
            carry(home, harness, carried, quiet, caller)
        except (Exception, KeyboardInterrupt):
            pass  # Outermost boundary: no failure may stop the user's work or be shown to them.
    return 0


def carry(home: str, harness: str, carried: tuple[str, ...], quiet: tuple[str, ...], caller: str) -> None:
    payload = read_payload(time.monotonic() + READING_TIME)
    name = f"{time.time_ns()}-{os.getpid()}"
    header = write_header(name, harness, carried, caller)
    is_quiet = event_name(payload) in quiet
    answer = b""
    try:
        answer = ask(home, header, payload, time.monotonic() + (QUIET_TIME if is_quiet else ANSWER_TIME))
    except ConnectionRefusedError:
        keep(home, name, header, payload)
        daemon = None if has_refused(home) else start_daemon(home)
        if daemon and not is_quiet:
            answer = ask_when_up(home, header, payload, daemon, time.monotonic() + STARTING_TIME)
            # The daemon may have read it meanwhile: it recognises a repeated hook event by its id.
            discard(f"{home}/spool/{name}{SPOOLED}")
    except (OSError, ValueError):
        keep(home, name, header, payload)  # A daemon runs but is stuck: a second one would not help.
    say(answer)


def status(path: str) -> None:
    """Print the status line for the harness named by the first argument; `path` is this file's copy.

    A status line is drawn often, so nothing is spooled for it and no daemon is started.
    """
    header = os.fsencode(f"HOLDFAST/1 status\nharness: {sys.argv[1]}\n")
    payload = read_payload(time.monotonic() + READING_TIME)
    if os.environ.get("HOLDFAST_DISABLE") != "1":
        try:
            home = os.path.dirname(os.path.dirname(path))
            say(ask(home, header, payload, time.monotonic() + QUIET_TIME))
        except (OSError, ValueError):
            pass  # No daemon answered in time: then there is nothing to show.
    os._exit(0)


def say(answer: bytes) -> None:
    """Print all of it."""
    while answer:
        answer = answer[os.write(1, answer) :]


def read_payload(until: float) -> bytes:
    """All of stdin up to its end, or what arrived by `until`."""
    if sys.platform == "win32":
        return read_stdin(until)  # It always waits there: the harness is trusted to close stdin.
    try:
        os.set_blocking(0, False)
    except OSError:
        return read_stdin(until)
    try:
        return read_stdin(until)
    finally:
        os.set_blocking(0, True)  # A terminal is shared with the shell that started the hook.


def read_stdin(until: float) -> bytes:
    payload = bytearray()
    while time.monotonic() < until:
        try:
            chunk = os.read(0, 65536)
        except BlockingIOError:
            time.sleep(0.001)
            continue
        if not chunk:
            break
        payload += chunk[: PAYLOAD_LIMIT - len(payload)]  # The rest is read too, to break no pipe.
    return bytes(payload)


def event_name(payload: bytes) -> str:
    """The payload's `hook_event_name`, found without the cost of a JSON parser; "" if there is none."""
    before, _, value = payload.partition(b'"hook_event_name"')[2][:200].partition(b'"')
    return value.partition(b'"')[0].decode("utf-8", "replace") if before.strip() == b":" else ""


def write_header(name: str, harness: str, carried: tuple[str, ...], caller: str) -> bytes:
    """The header lines that precede a payload, all but its length."""
    environment = {variable: os.environ[variable] for variable in carried if variable in os.environ}
    named_pids = [value for variable, value in environment.items() if variable.endswith("_PID")]
    pid = next((value for value in (*named_pids, caller) if value.isdecimal()), str(os.getppid()))
    lines = {"id": name, "harness": harness, "at": f"{time.time_ns() // 1_000_000}"}
    if named_pids or caller:
        lines["process"] = f"{pid} {start_of(pid)}"
    if "HOLDFAST_PREVIOUS_SESSION" in os.environ:
        lines["previous"] = os.environ["HOLDFAST_PREVIOUS_SESSION"]
    lines |= {f"env.{variable}": value for variable, value in environment.items()}
    encoded = [os.fsencode(f"{key}: {value}").translate(CONTROLS_TO_SPACES) for key, value in lines.items()]
    return b"\n".join([b"HOLDFAST/1 hook-event", *encoded, b""])


def start_of(pid: str) -> int:
    """When a process started, in ticks, to tell it from a later process with the same pid; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The 22nd field, counted from after the 2nd, a name that may hold spaces and parentheses.
            return int(stat.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def ask(home: str, header: bytes, payload: bytes, until: float) -> bytes:
    """The daemon's complete answer; `ConnectionRefusedError` if no daemon runs, else another error."""
    connection, proof = open_connection(home, until)
    try:
        connection.sendall(b"%b%blength: %d\n\n%b" % (header, proof, len(payload), payload))
        connection.shutdown(_socket.SHUT_WR)
        status = end = answer = received = b""
        while not end or status != b"HOLDFAST/1 ok %d" % len(answer):
            connection.settimeout(max(until - time.monotonic(), 0.001))
            chunk = connection.recv(65536)
            if not chunk:
                raise ValueError("no answer, or a short one")
            received += chunk
            status, end, answer = received.partition(b"\n")
        return answer
    finally:
        connection.close()


def open_connection(home: str, until: float) -> tuple[_socket.socket, bytes]:
    """A connection to the daemon, and the header line that authorises its use."""
    try:
        with open_note(home) as note:
            kind, _, place = os.fsdecode(note.read()).strip().partition(" ")
        if kind == "tcp":
            with open(f"{home}/run/token", "rb") as token:
                proof = b"token: %b\n" % token.read().strip()
            return connect(_socket.AF_INET, ("127.0.0.1", int(place)), until), proof
        if sys.platform != "win32":
            return connect(_socket.AF_UNIX, place, until), b""
    except (TimeoutError, BlockingIOError):
        raise  # A daemon runs, but its queue of connections is full.
    except (OSError, ValueError, OverflowError) as error:
        raise ConnectionRefusedError from error
    raise ConnectionRefusedError  # The note was made on another system.


def open_note(home: str) -> "BinaryIO":
    """The file that says where the daemon listens, also if it is one of an earlier version."""
    try:
        return open(f"{home}/run/endpoint", "rb")
    except FileNotFoundError:
        return open(f"{home}/run/door", "rb")


def connect(family: int, address: str | tuple[str, int], until: float) -> _socket.socket:
    connection = _socket.socket(family)
    try:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        connection.connect(address)
        return connection
    except OSError:
        connection.close()
        raise


def ask_when_up(home: str, header: bytes, payload: bytes, daemon: "Popen[bytes]", until: float) -> bytes:
    """The answer of a daemon that is starting; stops waiting if that daemon exits with an error."""
    while time.monotonic() < until and not daemon.poll():
        try:
            return ask(home, header, payload, until)
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise TimeoutError


def keep(home: str, name: str, header: bytes, payload: bytes) -> None:
    """Write the hook event to the spool for the daemon, with only the fields the daemon needs."""
    spool = f"{home}/spool"
    try:
        if not os.path.isdir(spool) or os.path.islink(spool):
            os.mkdir(spool, 0o700)
        try:
            # The privacy settings cannot be read: nothing that the user wrote may be stored.
            stopped = os.path.lexists(f"{home}/{STOPPED}")
            stored_payload = without_words(payload) if stopped else restrict(payload)
        except (ValueError, TypeError, RecursionError):
            return add_to(f"{spool}/unreadable", 1)
        request = b"%blength: %d\n\n%b" % (header, len(stored_payload), stored_payload)
        write(f"{spool}/{name}{SPOOLED}", request)
        make_room(spool)
    except OSError:
        pass  # A full or read-only disk, or a home that the user deleted and that is not recreated.


def restrict(payload: bytes) -> bytes:
    """The payload's allowed fields; the user's text only if no readable transcript (never a link) has it."""
    import json

    fields: dict[str, object] = {**json.loads(payload)}
    path = str(fields.get("transcript_path") or "")
    # The path of a session in a database continues after the file's name.
    files = [
        file for file in (path, os.path.dirname(path)) if os.path.isfile(file) and not os.path.islink(file)
    ]
    allowed = KEPT_FIELDS if any(os.access(file, os.R_OK) for file in files) else KEPT_FIELDS | USERS_WORDS
    return chosen(fields, allowed)


def without_words(payload: bytes) -> bytes:
    """The payload's allowed fields, without anything that the user wrote."""
    import json

    return chosen({**json.loads(payload)}, KEPT_FIELDS)


def chosen(fields: "dict[str, object]", allowed: "frozenset[str]") -> bytes:
    import json

    names = [key for key in fields if key in allowed and isinstance(fields[key], str | int | None)]
    return json.dumps({key: fields[key] for key in names}).encode()


def make_room(spool: str) -> None:
    """Drop the oldest hook events and half-written files until the spool is within its limits."""
    with os.scandir(spool) as entries:  # Only a hook event's name begins with a digit: the time.
        hook_events = [(file.name, file.stat().st_size) for file in entries if file.name[0].isdigit()]
    total = dropped = 0
    for number, (name, size) in enumerate(sorted(hook_events, reverse=True), start=1):
        total += size
        if number > SPOOL_FILES or total > SPOOL_BYTES:
            dropped += discard(f"{spool}/{name}")
    if dropped:
        add_to(f"{spool}/dropped", dropped)


def discard(path: str) -> bool:
    """Remove a file; false if it was not there."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def add_to(path: str, number: int) -> None:
    """Add to the number in a file. Two hooks that do so at the same moment may count as one."""
    try:
        with open(path, "rb", opener=open_plainly) as file:
            number += int(file.read())
    except (OSError, ValueError):
        pass  # the first time
    write(path, b"%d\n" % number)


def write(path: str, content: bytes) -> None:
    """Write a file durably and atomically, readable only by its owner."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb", opener=open_plainly) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        discard(part)
        raise


def open_plainly(path: str, flags: int) -> int:
    """Open a file for its owner's eyes only; never wait for a FIFO, and never follow a link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)


def has_refused(home: str) -> bool:
    """Whether a daemon could not start a moment ago, so that another try would only cost time."""
    try:
        return abs(time.time() - os.stat(f"{home}/{REFUSED}").st_mtime) < REFUSED_TIME
    except OSError:
        return False


def start_daemon(home: str) -> "Popen[bytes]":
    """Start the daemon detached from the hook; `OSError` if it cannot be started."""
    import subprocess

    with open(f"{home}/bin/interpreter", "rb") as file:
        python = os.fsdecode(file.readline()).strip()
    names = {name for name in os.environ if name in DAEMON_VARIABLES or name.startswith("HOLDFAST_")}
    return subprocess.Popen(
        [python, "-P", "-m", "holdfast.daemon"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={name: os.environ[name] for name in names} | {"HOLDFAST_HOME": os.path.abspath(home)},
        umask=0o077,
        start_new_session=True,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0)
        | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def command(python: str, path: str, harness: str, carried: tuple[str, ...], quiet: tuple[str, ...]) -> str:
    """The command line by which a harness runs the copy of this file at `path`; for sh and for Windows.

    It exits 0 when the file is gone: `python <file>` would exit 2, which makes a harness block the action.
    """
    words = f"{harness} {','.join(carried) or '-'} {','.join(quiet) or '-'}"
    if sys.platform != "win32" and not any(variable.endswith("_PID") for variable in carried):
        words += ' "$PPID"'  # The harness does not name its process: it is the one that started the shell.
    return line_that_calls("main", python, path, words)


def status_command(python: str, path: str, harness: str) -> str:
    """The command line that a harness runs for its status line."""
    return line_that_calls("status", python, path, harness)


def line_that_calls(function: str, python: str, path: str, words: str) -> str:
    import shlex

    program = f'"{python}"' if sys.platform == "win32" else shlex.quote(python)
    # A path escaped for Python holds no character that a shell would interpret.
    plain = (c if c.isascii() and (c.isalnum() or c in "/._- ") else f"\\U{ord(c):08x}" for c in path)
    # Imported, not executed, so that Python caches the bytecode: compiling is most of a call's cost.
    load = f"os.path.exists(p) and (sys.path.append(os.path.dirname(p)),__import__('hook').{function}(p))"
    code = f"import os,sys;p='{''.join(plain)}';{load}"
    line = f'{program} -I -S -c "{code}" {words}'
    # If the interpreter is gone, only the shell can exit 0; see docs/decisions/0004.
    return line if sys.platform == "win32" else f"{line} 2>/dev/null || :"
