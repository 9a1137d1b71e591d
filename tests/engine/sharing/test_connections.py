"""An invitation is one line that says all, and the files of a hub are read back as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.sharing.connections import (
    OwnedHub,
    checked_hub_name,
    hub_connections,
    invitation_line,
    keep_owned_hub,
    owned_hub,
    parse_invitation,
)
from holdfast.errors import HoldfastError, HubRefused
from holdfast.stores.hub.base import Invitation
from holdfast.stores.postgres.connection import PostgresAddress, TlsLevel, parse_url
from tests.tables import every_row

INVITATION = Invitation("holdfast_person_ann", "a pass word")


def owned_at(url: str, tls: TlsLevel = TlsLevel.VERIFY_FULL) -> OwnedHub:
    return OwnedHub("hub", PostgresAddress(url, "/home/you/password", tls))


@every_row(
    ("url", "host", "expected"),
    [
        (
            "postgresql://me@db.example/hub",
            "",
            "postgresql://holdfast_person_ann@db.example:5432/hub",
        ),
        (
            "postgresql://me@db.example:6432/hub?sslmode=verify-full&sslkey=/home/you/key",
            "",
            "postgresql://holdfast_person_ann@db.example:6432/hub?sslmode=verify-full",
        ),
        (
            "postgresql://me@[::1]:1,two.example:2/a%20b",
            "",
            "postgresql://holdfast_person_ann@[::1]:1,two.example:2/a%20b",
        ),
        (
            "postgresql://me@/hub?host=/run/postgresql",
            "",
            "postgresql://holdfast_person_ann@/hub?host=/run/postgresql&port=5432",
        ),
        (
            "postgresql://me@/hub?host=/run/postgresql",
            "db.example:6432",
            "postgresql://holdfast_person_ann@db.example:6432/hub",
        ),
    ],
)
def test_a_line_leads_to_the_same_database_as_another_person(url: str, host: str, expected: str) -> None:
    line = parse_invitation(invitation_line(owned_at(url), INVITATION, host))
    assert (line.url, line.invitation, line.authority) == (expected, INVITATION, "")


@given(login=st.text(min_size=1, max_size=40), password=st.text(min_size=1, max_size=60))
def test_any_login_and_password_come_through_a_line(login: str, password: str) -> None:
    invitation = Invitation(login, password)
    text = invitation_line(owned_at("postgresql://me@db.example/hub"), invitation, "")
    assert text.isascii()
    assert len(text.split()) == 1
    line = parse_invitation(f"  {text}\r\n")
    assert line.invitation == invitation
    assert parse_url(line.url).user == login


def test_a_line_carries_the_authority_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("-----BEGIN CERTIFICATE-----", encoding="ascii")
    url = f"postgresql://me@db.example/hub?sslrootcert={tmp_path}/ca.crt"
    line = parse_invitation(invitation_line(owned_at(url, TlsLevel.VERIFY_CA), INVITATION, ""))
    assert (line.authority, line.tls) == ("-----BEGIN CERTIFICATE-----", TlsLevel.VERIFY_CA)
    assert str(tmp_path) not in line.url


@given(st.binary(max_size=200))
def test_no_bytes_after_the_mark_do_more_than_be_refused(content: bytes) -> None:
    with pytest.raises(HoldfastError, match=r"no invitation|cannot be used"):
        parse_invitation("holdfast-hub-1." + content.decode("latin-1"))


def test_a_hub_that_is_owned_is_found_again_and_asked_for_where_there_are_several(tmp_path: Path) -> None:
    with pytest.raises(HoldfastError, match="owns no hub"):
        owned_hub(tmp_path, "")
    first = owned_at("postgresql://me@db.example/hub")
    keep_owned_hub(tmp_path, first)
    assert owned_hub(tmp_path, "") == owned_hub(tmp_path, "hub") == first
    assert (tmp_path / "hubs" / "hub" / "owner.json").stat().st_mode & 0o077 == 0
    keep_owned_hub(tmp_path, OwnedHub("work", first.address))
    with pytest.raises(HoldfastError, match="owns several hubs"):
        owned_hub(tmp_path, "")
    assert owned_hub(tmp_path, "work").name == "work"
    assert hub_connections(tmp_path, {}) == [], "who owns a hub has not joined it"


def test_a_container_names_its_hub_by_variables(tmp_path: Path) -> None:
    variables = {
        "HOLDFAST_HUB_URL": "postgresql://ann@db.example/hub",
        "HOLDFAST_HUB_PASSWORD_FILE": "/run/secrets/hub",
        "HOLDFAST_HUB_TLS": "require",
        "HOLDFAST_HUB_NAME": "work",
    }
    (hub,) = hub_connections(tmp_path, variables)
    assert (hub.name, hub.is_from_environment) == ("work", True)
    assert hub.address == PostgresAddress(
        "postgresql://ann@db.example/hub", "/run/secrets/hub", TlsLevel.REQUIRE
    )
    with pytest.raises(HubRefused, match="HOLDFAST_HUB_TLS"):
        hub_connections(tmp_path, variables | {"HOLDFAST_HUB_TLS": "none"})


@every_row("name", ["", "A", "a b", "../x", "-a", "a" * 33, "hub/other"])
def test_what_cannot_be_the_name_of_a_hub_is_refused(name: str) -> None:
    with pytest.raises(HoldfastError, match="cannot be the name of a hub"):
        checked_hub_name(name)
