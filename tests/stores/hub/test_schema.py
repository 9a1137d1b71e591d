"""Roles of a hub: their names fit and differ, and whoever may not make them is told so."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HubRefused
from holdfast.stores.hub.base import Invitation
from holdfast.stores.hub.owner import PostgresHubOwner
from holdfast.stores.hub.schema import LONGEST_ROLE, HubRoles, quoted, shipped
from tests.stores.hub.rooms import PostgresRoom

NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=32)


@given(database=NAMES, names=st.lists(NAMES, min_size=2, max_size=4, unique=True))
def test_every_role_has_a_name_of_its_own_that_fits(database: str, names: list[str]) -> None:
    roles = HubRoles(database)
    made = [roles.owner, roles.readers, roles.writers]
    made += [make(name) for name in names for make in (roles.person, roles.team)]
    assert len(set(made)) == len(made)
    assert all(len(role.encode()) <= LONGEST_ROLE for role in made)


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert [step.version for step in shipped()] == list(range(1, len(shipped()) + 1))


def test_a_name_cannot_end_its_quotes() -> None:
    assert quoted('a"; drop table x; --') == '"a""; drop table x; --"'


def test_people_and_teams_of_any_language_can_be_invited(room: PostgresRoom) -> None:
    hub = room.place.invite("Ängström-Łukasz_東京", "équipe.1")
    assert [member.name for member in room.owner.members()] == ["Ängström-Łukasz_東京"]
    hub.close()
    with pytest.raises(HubRefused, match="there is `Ängström-Łukasz_東京` already"):
        room.owner.invite("ängström-łukasz_東京", "équipe.1", is_read_only=False)


def test_who_may_not_make_roles_cannot_prepare_a_hub(room: PostgresRoom) -> None:
    login = f"plain_{room.database}"
    with psycopg.connect(room.server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create role {login} login password 'x'".encode())
        connection.execute(f"create database {login} owner {login}".encode())
    address = room.address(Invitation(login, "x"))
    owner = PostgresHubOwner(type(address)(room.server.url(login, login), address.password_file))
    with pytest.raises(HubRefused, match="permission denied to create role"):
        owner.prepare()
    with pytest.raises(HubRefused, match="is no hub"):
        owner.members()
    owner.close()


def test_two_hubs_on_one_server_have_roles_of_their_own(room: PostgresRoom) -> None:
    first = room.owner.invite("ann", "team", is_read_only=False)
    other = f"second_{room.database}"
    with psycopg.connect(room.server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {other} owner {room.owner_login.login}".encode())
    address = room.address(room.owner_login)
    owner = PostgresHubOwner(
        type(address)(room.server.url(other, room.owner_login.login), address.password_file)
    )
    assert owner.prepare()
    assert owner.invite("ann", "team", is_read_only=False).login != first.login
    owner.close()
    hub = room.place.log_in(first)
    assert hub.pull("any", 0, 1) == [], "the first password still holds"
    hub.close()
