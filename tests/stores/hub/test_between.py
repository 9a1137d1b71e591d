"""What may stand between a member and the database: TLS with good and bad certificates, and PgBouncer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.core.sharing.items import Audience
from holdfast.errors import HubError, HubRefused
from holdfast.stores.hub.base import Hub
from holdfast.stores.hub.postgres import PostgresHub
from holdfast.stores.postgres.connection import PostgresAddress
from tests.postgres.install import pgbouncer
from tests.postgres.pooler import Pooler, verifiers
from tests.postgres.tls import Authority, TlsProxy
from tests.stores.hub.contract import SHOP, item, machine_of, texts
from tests.stores.hub.rooms import PostgresRoom


@pytest.fixture
def connect_by_tls(room: PostgresRoom, tmp_path: Path) -> Iterator[Callable[[str, str], Hub]]:
    """Connects Ann by TLS to a server with a certificate for that name, as its URL says."""
    room.place.invite("ann")
    authority = Authority(tmp_path)
    proxies: list[TlsProxy] = []

    def connect(certificate_for: str, query: str) -> Hub:
        proxy = TlsProxy(authority.context_for(certificate_for), room.server.port)
        proxies.append(proxy)
        known = room.address(room.invitations["ann"])
        login = room.invitations["ann"].login
        # Loopback demands nothing by itself, so the URL does.
        url = f"postgresql://{login}@127.0.0.1:{proxy.port}/{room.database}?{query.format(ca=authority.file)}"
        return PostgresHub(PostgresAddress(url, known.password_file))

    yield connect
    for proxy in proxies:
        proxy.close()


def test_a_server_with_a_valid_certificate_is_used(connect_by_tls: Callable[[str, str], Hub]) -> None:
    hub = connect_by_tls("127.0.0.1", "sslmode=verify-full&sslrootcert={ca}")
    assert hub.identify(machine_of("ann")).person == "ann"
    hub.close()


@pytest.mark.parametrize(
    ("certificate_for", "query"),
    [
        ("another.example", "sslmode=verify-full&sslrootcert={ca}"),
        ("127.0.0.1", "sslmode=verify-full"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=/nowhere/ca.crt"),
    ],
)
def test_a_server_whose_certificate_does_not_verify_is_refused(
    connect_by_tls: Callable[[str, str], Hub], certificate_for: str, query: str
) -> None:
    with pytest.raises(HubRefused) as refused:
        connect_by_tls(certificate_for, query)
    assert "sslrootcert=FILE" in refused.value.hint


def test_a_server_without_tls_is_refused_where_it_is_demanded(room: PostgresRoom, tmp_path: Path) -> None:
    room.place.invite("ann")
    known, login = room.address(room.invitations["ann"]), room.invitations["ann"].login
    url = f"postgresql://{login}@127.0.0.1:{room.server.port}/{room.database}?sslmode=require"
    with pytest.raises(HubRefused, match="does not support SSL"):
        PostgresHub(PostgresAddress(url, known.password_file))


@pytest.mark.skipif(
    not pgbouncer(), reason="there is no PgBouncer: `make test-postgres` installs it if it can"
)
def test_a_hub_works_behind_pgbouncer_in_transaction_mode(room: PostgresRoom) -> None:
    """Five connections of one person share one to the server; their transactions follow each other on it."""
    bob = room.place.invite("bob")
    room.place.invite("ann")
    login = room.invitations["ann"].login
    pooler = Pooler(room.server, verifiers(room.server, [login]))
    try:
        file = room.address(room.invitations["ann"]).password_file
        hubs = [PostgresHub(PostgresAddress(pooler.url(room.database, login), file)) for _ in range(5)]
        threads = [threading.Thread(target=_push_some, args=(hub, n)) for n, hub in enumerate(hubs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(texts(bob)) == len(texts(hubs[0])) == 50
        hubs[1].push(SHOP, "machine-of-ann", [item("alone", 99, audience=Audience.OWN)])
        assert "alone" not in dict(texts(bob))
        served = room.superuser_sql().execute(
            b"select count(*) from pg_stat_activity where usename = %s and client_port = -1", (login,)
        )
        assert served.fetchone() == (2,), "the member's own connection, and PgBouncer's one"
        room.owner.revoke("ann")
        # PgBouncer says at times that the login failed, and at times that it will try again later.
        with pytest.raises(HubError):
            hubs[0].pull(SHOP, 0, 1)
        for hub in hubs:
            hub.close()
    finally:
        pooler.stop()


def _push_some(hub: Hub, number: int) -> None:
    hub.identify(machine_of("ann"))
    for each in range(10):
        hub.push(SHOP, "machine-of-ann", [item(f"{number}-{each}", number * 10 + each + 1)])
        hub.pull(SHOP, 0, 5)
