"""Connections: what an address may say, where the password is from, and what TLS is demanded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.stores.postgres.connection import (
    PostgresAddress,
    PostgresProblem,
    ProblemKind,
    TlsLevel,
    connect,
    connection_parameters,
    parse_url,
    place_of,
    read_password,
)
from tests.tables import every_row

REMOTE = "postgresql://ann@db.example/hub"


@every_row(
    ("url", "user", "hosts", "ports", "database"),
    [
        ("postgresql://ann@db.example:6432/hub", "ann", ("db.example",), "6432", "hub"),
        ("postgres://ann@db.example/hub", "ann", ("db.example",), "5432", "hub"),
        ("postgresql://a%40b@[2001:db8::1]:5433/a%20b", "a@b", ("2001:db8::1",), "5433", "a b"),
        ("postgresql://[::1]/hub", "", ("::1",), "5432", "hub"),
        (
            "postgresql://ann@one.example,two.example:2/h",
            "ann",
            ("one.example", "two.example"),
            "5432,2",
            "h",
        ),
        ("postgresql:///hub?host=/run/postgresql&user=ann", "ann", ("/run/postgresql",), "", "hub"),
        ("postgresql://ann@/hub?host=/run/postgresql&port=1", "ann", ("/run/postgresql",), "1", "hub"),
    ],
)
def test_a_url_is_taken_apart(url: str, user: str, hosts: tuple[str, ...], ports: str, database: str) -> None:
    parts = parse_url(url)
    assert (parts.user, parts.hosts, parts.ports, parts.database) == (user, hosts, ports, database)


@every_row(
    "url",
    [
        "postgresql://ann:hunter2@db.example/hub",
        "postgresql://ann:@db.example/hub",
        "postgresql://db.example/hub?user=ann&password=hunter2",
        "postgresql://db.example/hub?sslpassword=hunter2",
    ],
)
def test_a_url_with_a_password_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(PostgresProblem) as refused:
        connection_parameters(PostgresAddress(url))
    assert "holds a password" in refused.value.message
    assert "hunter2" not in refused.value.message + refused.value.hint + place_of(url)


@every_row(
    "url",
    [
        "mysql://ann@db.example/hub",
        "host=db.example",
        "postgresql:///hub",
        "postgresql://ann@db.example/hub?options=-c%20row_security=off",
        "postgresql://ann@db.example/hub?hostaddr=10.0.0.1",
        "postgresql://ann@db.example/hub?sslmode=perhaps",
        "postgresql://[::1/hub",
    ],
)
def test_what_is_no_url_of_a_database_is_refused(url: str) -> None:
    with pytest.raises(PostgresProblem, match="cannot be used") as refused:
        connection_parameters(PostgresAddress(url))
    assert refused.value.kind is ProblemKind.REFUSED


@every_row(
    ("url", "tls", "mode"),
    [
        (REMOTE, TlsLevel.VERIFY_FULL, "verify-full"),
        (f"{REMOTE}?sslmode=verify-full", TlsLevel.VERIFY_FULL, "verify-full"),
        (f"{REMOTE}?sslmode=require", TlsLevel.VERIFY_FULL, None),
        (f"{REMOTE}?sslmode=disable", TlsLevel.VERIFY_FULL, None),
        (f"{REMOTE}?sslmode=verify-ca", TlsLevel.VERIFY_FULL, None),
        (REMOTE, TlsLevel.REQUIRE, "require"),
        (f"{REMOTE}?sslmode=verify-full", TlsLevel.REQUIRE, "verify-full"),
        (f"{REMOTE}?sslmode=prefer", TlsLevel.REQUIRE, None),
        (REMOTE, TlsLevel.OFF, "prefer"),
        (f"{REMOTE}?sslmode=disable", TlsLevel.OFF, "disable"),
        ("postgresql://ann@localhost/hub", TlsLevel.VERIFY_FULL, "prefer"),
        ("postgresql://ann@127.0.0.2/hub", TlsLevel.VERIFY_FULL, "prefer"),
        ("postgresql://ann@[::1]/hub", TlsLevel.VERIFY_FULL, "prefer"),
        ("postgresql://ann@/hub?host=/run/postgresql", TlsLevel.VERIFY_FULL, "prefer"),
        ("postgresql://ann@localhost,db.example/hub", TlsLevel.VERIFY_FULL, "verify-full"),
        ("postgresql://ann@localhost.example/hub?sslmode=prefer", TlsLevel.VERIFY_FULL, None),
    ],
)
def test_tls_is_demanded_off_this_machine(url: str, tls: TlsLevel, mode: str | None) -> None:
    address = PostgresAddress(f"{url}{'&' if '?' in url else '?'}sslrootcert=/ca.crt", tls=tls)
    if mode is None:
        with pytest.raises(PostgresProblem, match="is demanded"):
            connection_parameters(address)
    else:
        assert connection_parameters(address)["sslmode"] == mode


def test_the_environment_does_not_lead_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PGHOSTADDR", "192.0.2.1"), ("PGSSLMODE", "disable"), ("PGPORT", "1")):
        monkeypatch.setenv(name, value)
    parameters = connection_parameters(PostgresAddress("postgresql://ann@127.0.0.1/hub"))
    assert (parameters["hostaddr"], parameters["sslmode"], parameters["port"]) == ("", "prefer", "5432")


def test_a_password_comes_from_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_bytes(b"p\xc3\xa4ss word \r\nsecond line\n")
    path.chmod(0o600)
    assert read_password(path) == "päss word "
    path.chmod(0o640)
    with pytest.raises(PostgresProblem, match="others may read the password") as refused:
        read_password(path)
    assert refused.value.hint == f"run `chmod 600 {path}`"


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\n"])
def test_a_file_without_a_password_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "password"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(PostgresProblem) as refused:
        read_password(path)
    assert refused.value.kind is ProblemKind.REFUSED
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(PostgresProblem):
            read_password(missing)


def test_a_server_that_does_not_answer_is_away(tmp_path: Path) -> None:
    with pytest.raises(PostgresProblem) as away:
        connect(PostgresAddress(f"postgresql://ann@/hub?host={tmp_path}"))
    assert away.value.kind is ProblemKind.AWAY
    assert f"`{tmp_path}/hub` does not answer: No such file" in away.value.message, "the place is named once"


def test_the_driver_is_loaded_on_first_use_alone() -> None:
    code = "import sys, holdfast.stores.postgres.connection; print('psycopg' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_missing_driver_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(PostgresProblem, match="needs a package") as refused:
        connect(PostgresAddress("postgresql://ann@localhost/hub"))
    assert "holdfast[postgres]" in refused.value.hint
