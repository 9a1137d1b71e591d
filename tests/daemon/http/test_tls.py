"""TLS with a real connection: an address that others reach is served with a certificate, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path

import pytest

from holdfast.daemon.local import client
from tests.daemon.conftest import LIMIT_S, Lodging
from tests.daemon.http.test_listener import free_port, hung_up

EVERYWHERE = "0.0.0.0"
HOOK_EVENT = '{"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "go on"}'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of our own for this machine, and its key."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    shown, key = folder / "certificate.pem", folder / "key.pem"
    asked = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    words = [
        *asked.split(),
        "-subj",
        "/CN=localhost",
        "-addext",
        names,
        "-keyout",
        str(key),
        "-out",
        str(shown),
    ]
    subprocess.run(words, check=True, capture_output=True)
    return shown, key


@pytest.fixture
def start(lodging: Lodging) -> Callable[..., int]:
    """Starts a daemon with these settings; its port."""

    def started(**settings: str) -> int:
        port = free_port()
        told = {f"HOLDFAST_DAEMON_{name.upper()}": value for name, value in settings.items()}
        lodging.start(HOLDFAST_DAEMON_HTTP_PORT=str(port), **told)
        return port

    return started


def token_of(lodging: Lodging) -> str:
    return (lodging.home / "http" / "token").read_text().strip()


def asked(connection: HTTPConnection, lodging: Lodging) -> int:
    with closing(connection):
        connection.request("GET", "/api/sessions", headers={"Authorization": f"Bearer {token_of(lodging)}"})
        return connection.getresponse().status


def test_a_client_that_knows_the_certificate_is_answered(
    lodging: Lodging, start: Callable[..., int], certificate: tuple[Path, Path]
) -> None:
    shown, key = certificate
    port = start(http_host=EVERYWHERE, tls_certificate=str(shown), tls_key=str(key))
    trusting = ssl.create_default_context(cafile=str(shown))
    connection = HTTPSConnection("localhost", port, timeout=LIMIT_S, context=trusting)
    assert asked(connection, lodging) == 200
    assert str(client.ask(lodging.home, "link")["url"]).startswith("https://")


def test_a_client_that_does_not_know_it_hangs_up(
    lodging: Lodging, start: Callable[..., int], certificate: tuple[Path, Path]
) -> None:
    shown, key = certificate
    port = start(http_host=EVERYWHERE, tls_certificate=str(shown), tls_key=str(key))
    with pytest.raises(ssl.SSLCertVerificationError):
        asked(
            HTTPSConnection("localhost", port, timeout=LIMIT_S, context=ssl.create_default_context()), lodging
        )


def test_without_tls_the_same_port_tells_nothing(
    lodging: Lodging, start: Callable[..., int], certificate: tuple[Path, Path]
) -> None:
    shown, key = certificate
    port = start(http_host=EVERYWHERE, tls_certificate=str(shown), tls_key=str(key))
    with pytest.raises((HTTPException, OSError)):
        asked(HTTPConnection("localhost", port, timeout=LIMIT_S), lodging)


@pytest.mark.parametrize("given", [{}, {"tls_certificate": "only-half.pem"}])
def test_without_a_certificate_nobody_elses_machine_is_listened_to(
    lodging: Lodging, start: Callable[..., int], given: dict[str, str]
) -> None:
    port = start(http_host=EVERYWHERE, **given)
    with closing(socket.socket()) as other:
        # Everything in 127/8 is this machine, and only a listener on every address would be at this one.
        assert other.connect_ex(("127.0.0.2", port)) != 0
    assert asked(HTTPConnection("127.0.0.1", port, timeout=LIMIT_S), lodging) == 200
    assert "there is no TLS for it" in lodging.log()


def test_a_missing_certificate_opens_no_listener_and_stops_no_hook(
    lodging: Lodging, start: Callable[..., int], tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone.pem")
    port = start(http_host=EVERYWHERE, tls_certificate=gone, tls_key=gone)
    with pytest.raises((HTTPException, OSError)):
        asked(HTTPConnection("127.0.0.1", port, timeout=LIMIT_S), lodging)
    assert lodging.payload(HOOK_EVENT, id="1") is not None


def client_hello() -> bytes:
    """The first message of a handshake, of which the rest never comes."""
    context, sent = ssl.create_default_context(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    return sent.read()


@pytest.mark.parametrize("sent", [b"", client_hello()[:5], client_hello()], ids=["nothing", "half", "hello"])
def test_a_handshake_that_is_never_finished_ends_as_soon_as_half_a_request(
    lodging: Lodging, start: Callable[..., int], certificate: tuple[Path, Path], sent: bytes
) -> None:
    shown, key = certificate
    port = start(tls_certificate=str(shown), tls_key=str(key))
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as half:
        half.sendall(sent)
        assert hung_up(half)


def test_half_handshakes_are_closed_to_let_others_in(
    lodging: Lodging, start: Callable[..., int], certificate: tuple[Path, Path]
) -> None:
    shown, key = certificate
    port, hello = start(tls_certificate=str(shown), tls_key=str(key)), client_hello()
    trusting = ssl.create_default_context(cafile=str(shown))
    with contextlib.ExitStack() as opened:
        for n in range(600):
            half = opened.enter_context(socket.create_connection(("127.0.0.1", port), LIMIT_S))
            with contextlib.suppress(ConnectionError):
                half.sendall(hello)
            if n % 200 == 199:
                assert lodging.payload(HOOK_EVENT, id=f"{n}") is not None
        assert asked(HTTPSConnection("localhost", port, timeout=LIMIT_S, context=trusting), lodging) == 200
        daemon = int((lodging.home / "run" / "lock").read_text())
        assert len(list(Path(f"/proc/{daemon}/fd").iterdir())) < 300
