"""The relay: passes MCP messages between a harness and the daemon, line by line.

A harness starts this file once for a session and speaks MCP with it over stdin and stdout. It doesn't
interpret messages, the daemon does; it only knows which of them wait for an answer. When the daemon stops,
the relay starts it again, repeats the handshake and sends unanswered requests once more. A request that then
still has no answer gets an error.

Like the hook it is copied out of the package: it uses the standard library and the hook beside it.
"""

import json
import os
import sys
import threading
import time

TYPE_CHECKING = False  # `typing` would cost more than the rest
if TYPE_CHECKING:
    from typing import Any
if TYPE_CHECKING or __name__ != "__main__":
    from holdfast import hook
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    hook = __import__("hook")

LINE_LIMIT = 16 * 1024 * 1024
STARTING_TIME = 10.0  # seconds, like all times here
GREETING_TIME = 5.0
LAST_ANSWERS_TIME = 10.0
TRIES = 2

PARSE_ERROR = -32700
METHOD_UNKNOWN = -32601
DAEMON_AWAY = -32000
AWAY = "the Holdfast daemon cannot be reached or started; ask the user to run `holdfast doctor`"
LOST = "the Holdfast daemon stopped while it worked on this; ask the user to look at `holdfast logs`"
TOO_LONG = f"this line is longer than {LINE_LIMIT} bytes"
OFF = "Holdfast is turned off for this session"


def main() -> None:
    """Run with the arguments of the command line: harness, environment variables to send, and home."""
    arguments = sys.argv[1:4]
    harness, carried, home = [*arguments, *("-", "-", "")[len(arguments) :]]
    home = home or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    run(home, harness, tuple(carried.split(",")))
    os._exit(0)  # Do not wait for threads that still read from a daemon.


def run(home: str, harness: str, carried: tuple[str, ...]) -> None:
    """Relay until stdin ends."""
    # HOLDFAST_INTERNAL marks the sessions that Holdfast itself starts: they have no use for tools.
    off = os.environ.get("HOLDFAST_DISABLE") == "1" or os.environ.get("HOLDFAST_INTERNAL") == "1"
    relay = Relay(home, greeting(harness, carried))
    try:
        while line := sys.stdin.buffer.readline(LINE_LIMIT):
            if len(line) == LINE_LIMIT and not line.endswith(b"\n"):
                skip_line()
                relay.refuse(None, PARSE_ERROR, TOO_LONG)
            elif off:
                relay.decline(line)
            elif line.strip():
                relay.take(line)
        relay.finish()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # The harness is gone and reads nothing any more.


def greeting(harness: str, carried: tuple[str, ...]) -> bytes:
    """The first lines of a connection: the harness, its working directory, process and environment."""
    parent = str(os.getppid())
    lines = {"harness": harness, "cwd": working_directory(), "process": f"{parent} {hook.start_of(parent)}"}
    lines |= {f"env.{name}": os.environ[name] for name in carried if name in os.environ}
    encoded = [
        os.fsencode(f"{key}: {value}").translate(hook.CONTROLS_TO_SPACES) for key, value in lines.items()
    ]
    return b"\n".join([b"HOLDFAST/1 mcp", *encoded, b""])


def working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # It was deleted.


def skip_line() -> None:
    while (rest := sys.stdin.buffer.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
        pass


def read_message(line: bytes) -> "dict[str, Any]":
    """The message in a line; empty if the line is not a message, which the daemon will report."""
    try:
        return {**json.loads(line.decode("utf-8", "replace"), strict=False)}
    except (ValueError, TypeError, RecursionError):
        return {}


def params_of(message: "dict[str, Any]") -> "dict[str, Any]":
    try:
        return {**message["params"]}
    except (KeyError, TypeError):
        return {}


class DaemonConnection:
    """An open connection to the daemon, and how to read it line by line."""

    def __init__(self, home: str, greeting: bytes) -> None:
        """Connect and greet; `ConnectionRefusedError` if no daemon runs."""
        self._rest = b""
        self._socket, proof = hook.open_connection(home, time.monotonic() + GREETING_TIME)
        try:
            self._socket.sendall(b"%b%b\n" % (greeting, proof))
            if self.read() != b"HOLDFAST/1 ok 0\n":
                raise ConnectionRefusedError("the daemon is stopping, or its version has no MCP")
            self._socket.settimeout(None)
        except OSError:
            self._socket.close()
            raise

    def send(self, line: bytes) -> bool:
        """Whether the line could be sent: the daemon may be gone."""
        try:
            self._socket.sendall(line)
        except OSError:
            return False
        return True

    def read(self) -> bytes:
        """The next line; empty when the connection ended, also by an error."""
        chunks = [self._rest]
        while b"\n" not in chunks[-1]:
            try:
                chunk = self._socket.recv(1 << 16)
            except ConnectionError:
                return b""
            if not chunk:
                return b""
            chunks.append(chunk)
        line, _, self._rest = b"".join(chunks).partition(b"\n")
        return line + b"\n"


def connect(home: str, greeting: bytes) -> DaemonConnection:
    """A connection to the daemon, started if necessary; `OSError` if that fails."""
    until = time.monotonic() + STARTING_TIME
    daemon = None
    while True:
        try:
            return DaemonConnection(home, greeting)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
        # Exit status 0 means that it found another daemon, which may have been about to stop.
        if daemon is None or daemon.poll() == 0:
            daemon = hook.start_daemon(home)
            # It may end before the relay does; without a wait it would stay a zombie.
            threading.Thread(target=daemon.wait, daemon=True).start()
        elif daemon.poll():
            raise ConnectionRefusedError("the daemon could not be started")
        time.sleep(0.02)


class Relay:
    """Relays messages and holds what a restarted daemon needs: the handshake and unanswered requests.

    The main thread reads from the harness, and one thread for each connection reads from the daemon.
    """

    def __init__(self, home: str, greeting: bytes) -> None:
        self._home = home
        self._greeting = greeting
        self._line: DaemonConnection | None = None
        self._connecting = threading.Lock()
        self._printing = threading.Lock()
        self._settled = threading.Condition()
        self._handshake: list[bytes] = []
        self._waiting: dict[object, bytes] = {}
        self._tries: dict[object, int] = {}
        self._most_tries = TRIES
        self._repeated: object = None
        """The id of a handshake that was repeated to another daemon; the harness already has its answer."""

    def take(self, line: bytes) -> None:
        """Send one line of the harness to the daemon."""
        line = line.rstrip(b"\r\n") + b"\n"
        message = read_message(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            self._handshake = [line]
        elif method == "notifications/initialized" and self._handshake:
            self._handshake.append(line)
        elif method == "notifications/cancelled":
            self._settle(params_of(message).get("requestId"))
        asks = bool(method) and isinstance(id, str | int)
        if asks:
            with self._settled:
                self._waiting[id] = line
                self._tries[id] = 1
        self._send(line, asks=asks)

    def finish(self) -> None:
        """Wait for the last answers after the harness closed its side: it may still read.

        It may also be gone, so no daemon is started for it any more.
        """
        self._most_tries = 1
        os.close(0)
        with self._settled:
            self._settled.wait_for(lambda: not self._waiting, LAST_ANSWERS_TIME)

    def decline(self, line: bytes) -> None:
        """Answer as a server that has no tools."""
        message = read_message(line)
        id, version = message.get("id"), params_of(message).get("protocolVersion")
        if message.get("method") == "initialize":
            server = {"name": "holdfast", "version": "off"}
            result = {"protocolVersion": version, "capabilities": {}, "serverInfo": server}
            self._print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode() + b"\n")
        elif id is not None:
            self.refuse(id, METHOD_UNKNOWN, OFF)

    def refuse(self, id: object, code: int, why: str) -> None:
        """Answer with an error."""
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}
        self._print(json.dumps(error).encode() + b"\n")
        self._settle(id)

    def _send(self, line: bytes, *, asks: bool) -> None:
        with self._connecting:
            if self._line is not None and self._line.send(line):
                return
            opened = self._reopen()  # The old connection's reader will see that it was replaced.
            if opened is not None and not asks:  # A request was sent with all that wait.
                opened.send(line)

    def _reopen(self) -> DaemonConnection | None:
        """A new connection on which handshake and unanswered requests were sent; None if there is none."""
        self._line = None
        try:
            opened = connect(self._home, self._greeting)
        except OSError:
            for id in [*self._waiting]:
                self.refuse(id, DAEMON_AWAY, AWAY)
            return None
        self._line, missed = opened, self._missed()
        threading.Thread(target=self._listen, args=(opened,), daemon=True).start()
        opened.send(b"".join(missed))
        return opened

    def _missed(self) -> "list[bytes]":
        """The handshake, if it was answered, and all unanswered requests."""
        first = read_message(self._handshake[0]).get("id") if self._handshake else None
        answered = bool(self._handshake) and first not in self._waiting
        self._repeated = first if answered else None
        return [*(self._handshake if answered else ()), *self._waiting.values()]

    def _listen(self, line: DaemonConnection) -> None:
        """Print the daemon's messages until it stops; then send what it left unanswered to another one."""
        while answer := line.read():
            self._take_answer(answer)
        with self._connecting:
            if self._line is not line:
                return
            self._line = None
            with self._settled:  # The harness may cancel one of them meanwhile.
                self._tries = {id: self._tries[id] + 1 for id in self._waiting}
                given_up = [id for id, tries in self._tries.items() if tries > self._most_tries]
            for id in given_up:
                self.refuse(id, DAEMON_AWAY, LOST)
            if self._waiting:
                self._reopen()

    def _take_answer(self, answer: bytes) -> None:
        message = read_message(answer)
        id = message.get("id") if "method" not in message else None
        if "error" in message and self._handshake and id == read_message(self._handshake[0]).get("id"):
            # A harness that tries two protocol versions continues with the one that was not refused.
            self._handshake = []
        if id is not None and id == self._repeated and id not in self._waiting:
            self._repeated = None  # The harness got this answer from the previous daemon.
            return
        self._print(answer)
        self._settle(id)

    def _settle(self, id: object) -> None:
        if isinstance(id, str | int):
            with self._settled:
                self._waiting.pop(id, None)
                self._tries.pop(id, None)
                self._settled.notify_all()

    def _print(self, line: bytes) -> None:
        try:
            with self._printing:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        except OSError:
            os._exit(0)  # The harness is gone.


if __name__ == "__main__":
    main()
