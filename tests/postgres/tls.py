"""A server that speaks TLS before a PostgreSQL that does not, with certificates made for a test."""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
import socket
import ssl
import threading
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_REQUEST: Final = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
"""With this a client of PostgreSQL asks for TLS."""
_BLOCK: Final = 65_536


class Authority:
    """Signs certificates; its own is in `file`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for tests")])
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "ca.crt"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context_for(self, name: str) -> ssl.SSLContext:
        """The server's side of a connection, with a certificate for this name or address."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        try:
            names: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            names = x509.DNSName(name)
        certificate = (
            _builder(subject, self._name, key.public_key())
            .add_extension(x509.SubjectAlternativeName([names]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        chain, secret = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, secret)
        return context


class TlsProxy:
    """Accepts TLS on a port of loopback and passes on what is in it. Close it."""

    def __init__(self, context: ssl.SSLContext, target_port: int) -> None:
        self._context = context
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        """How many got as far as TLS."""
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        # What waits in `accept` is woken by the first, and by the second on other systems.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for each in (self._listener, *self._sockets):
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if client.recv(len(_REQUEST)) != _REQUEST:
                client.close()
                return
            client.sendall(b"S")
            secured = self._context.wrap_socket(client, server_side=True)
            self._sockets.append(secured)
            self.connections += 1
            server = socket.create_connection(("127.0.0.1", self._target_port))
            self._sockets.append(server)
            threading.Thread(target=_pass_on, args=(server, secured), daemon=True).start()
            _pass_on(secured, server)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while block := source.recv(_BLOCK):
            target.sendall(block)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.close()


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
    )
