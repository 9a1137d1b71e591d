"""Who may do what is decided in the database: tried as each role by SQL, as any program may send it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from holdfast.core.sharing.items import Audience
from holdfast.errors import HubAway, HubRefused
from holdfast.stores.hub.base import Invitation
from holdfast.stores.hub.postgres import PostgresHub
from holdfast.stores.hub.schema import shipped
from tests.postgres.server import Server
from tests.stores.hub.contract import SHOP, item, machine_of, texts
from tests.stores.hub.rooms import PostgresRoom, room_on

TABLES = ("schema_version", "teams", "members", "projects", "machines", "versions", "applied", "audit")
PEOPLE = ("ann", "bob", "eve", "zoe")


@pytest.fixture
def people(room: PostgresRoom) -> PostgresRoom:
    """Ann, Bob and Eve, who may only read, in one team, Zoe in another; everyone has shared something."""
    for name in PEOPLE:
        room.place.invite(name, "other" if name == "zoe" else "core", is_read_only=name == "eve")
    for name in ("ann", "bob", "zoe"):
        hub = room.place.connect(name)
        hub.push(
            SHOP,
            f"machine-of-{name}",
            [
                item(f"{name}-team", 1, f"{name} to all"),
                item(f"{name}-own", 2, f"{name} alone", audience=Audience.OWN),
                item(f"{name}-to-bob", 3, f"{name} to bob", recipient="bob"),
            ],
        )
        hub.push(f"{name}'s secret", f"machine-of-{name}", [item("s", 4, audience=Audience.OWN)])
        hub.confirm(SHOP, f"machine-of-{name}", 1)
    return room


def rows(connection: psycopg.Connection[Any], sql: str) -> list[Any]:
    return [row[0] for row in connection.execute(sql.encode()).fetchall()]


def all_tables(room: PostgresRoom) -> list[str]:
    """Every table of the schema, partitions too."""
    return rows(
        room.superuser_sql(),
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'holdfast_hub' and c.relkind in ('r', 'p') order by 1",
    )


def test_every_table_is_under_row_level_security_also_for_its_owner(people: PostgresRoom) -> None:
    assert set(TABLES) < set(all_tables(people)), "and there are partitions"
    assert (
        rows(
            people.superuser_sql(),
            "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname = 'holdfast_hub' and c.relkind in ('r', 'p')"
            " and not (c.relrowsecurity and c.relforcerowsecurity)",
        )
        == []
    )


def test_no_role_of_a_hub_has_a_right_beyond_it(people: PostgresRoom) -> None:
    superuser, roles = people.superuser_sql(), people.owner.roles
    prefix = f"{people.database}_"
    beyond = rows(
        superuser,
        f"select rolname from pg_roles where starts_with(rolname, '{prefix}') and"
        " (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)",
    )
    assert beyond == []
    log_in = rows(
        superuser, f"select rolname from pg_roles where starts_with(rolname, '{prefix}') and rolcanlogin"
    )
    assert set(log_in) == {roles.person(name) for name in PEOPLE}
    assert not rows(
        superuser, f"select 1 from pg_roles where rolname = '{people.owner_login.login}' and rolsuper"
    )
    owners = rows(
        superuser,
        "select distinct pg_get_userbyid(c.relowner) from pg_class c"
        " join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'holdfast_hub'",
    )
    assert owners == [roles.owner]
    in_owner = rows(
        superuser,
        "select m.rolname from pg_auth_members a join pg_roles m on m.oid = a.member"
        f" join pg_roles r on r.oid = a.roleid where r.rolname = '{roles.owner}'",
    )
    assert set(in_owner) == {people.owner_login.login}


@pytest.mark.parametrize(
    ("name", "bodies"),
    [
        ("ann", {"ann to all", "ann alone", "ann to bob", "bob to all"}),
        ("bob", {"ann to all", "ann to bob", "bob to all", "bob alone", "bob to bob"}),
        ("eve", {"ann to all", "bob to all"}),
        ("zoe", {"zoe to all", "zoe alone", "zoe to bob"}),
    ],
)
def test_each_reads_what_is_theirs_and_their_teams(people: PostgresRoom, name: str, bodies: set[str]) -> None:
    connection = people.sql(name)
    own = {item().body} - ({item().body} if name == "eve" else set())
    query = "select body from holdfast_hub.versions"
    assert set(rows(connection, query)) == bodies | own
    with connection.cursor() as cursor, cursor.copy(b"copy holdfast_hub.versions (body) to stdout") as copy:
        assert {str(row[0]) for row in copy.rows()} == bodies | own
    for sql in (
        "select body from only holdfast_hub.versions",
        "with v as materialized (select * from holdfast_hub.versions) select body from v",
        "select (v).body from (select v from holdfast_hub.versions v) as x",
    ):
        assert set(rows(connection, sql)) == bodies | own
    projects = {SHOP} if name == "eve" else {SHOP, f"{name}'s secret"}
    assert set(rows(connection, "select name from holdfast_hub.projects")) == projects
    team = {"zoe"} if name == "zoe" else {"ann", "bob", "eve"}
    assert set(rows(connection, "select name from holdfast_hub.members")) == team
    assert set(rows(connection, "select id from holdfast_hub.machines")) == {f"machine-of-{n}" for n in team}
    private = {each for each in rows(connection, "select item_id from holdfast_hub.audit") if "own" in each}
    assert private == ({f"{name}-own"} - {"eve-own"})


@pytest.mark.parametrize("name", ["ann", "eve"])
def test_no_member_writes_a_table(people: PostgresRoom, name: str) -> None:
    connection = people.sql(name)
    for table in all_tables(people):
        named = f"holdfast_hub.{table}"
        for sql in (
            f"insert into {named} default values",
            f"delete from {named}",
            f"truncate {named}",
            f"lock table {named} in access exclusive mode",
            f"copy {named} from stdin",
            f"alter table {named} no force row level security",
            f"alter table {named} disable row level security",
            f"create policy all_of_it on {named} using (true)",
            f"create rule r as on select to {named} do instead nothing",
            f"drop table {named}",
        ):
            with pytest.raises(InsufficientPrivilege), connection.transaction():
                connection.execute(sql.encode())
    for sql in (
        "update holdfast_hub.versions set person_id = 1",
        "update holdfast_hub.members set is_read_only = false",
        "update holdfast_hub.projects set last_sequence = 0",
        "merge into holdfast_hub.members m using (select 1) s on true when matched then delete",
        "select * from holdfast_hub.versions for update",
        "select nextval('holdfast_hub.audit_ids')",
        "create table holdfast_hub.mine (x int)",
        "create function holdfast_hub.me(x int) returns int language sql as 'select 1'",
        "create schema mine",
        "drop policy see on holdfast_hub.versions",
        "alter function holdfast_hub.me() owner to current_user",
    ):
        with pytest.raises(InsufficientPrivilege):
            connection.execute(sql.encode())
    # This is a warning to someone who has the right and may not pass it on.
    connection.execute(b"grant select on holdfast_hub.versions to public")
    query = "select has_table_privilege('public', 'holdfast_hub.versions', 'select')"
    assert rows(people.superuser_sql(), query) == [False]


def test_no_partition_is_read_past_its_table(people: PostgresRoom) -> None:
    partitions = set(all_tables(people)) - set(TABLES)
    for table in partitions:
        with pytest.raises(InsufficientPrivilege):
            people.sql("ann").execute(f"select * from holdfast_hub.{table}".encode())


def test_nobody_becomes_somebody_else(people: PostgresRoom) -> None:
    roles = people.owner.roles
    connection = people.sql("eve")
    for role in (roles.owner, roles.person("ann"), roles.writers, roles.team("other"), "postgres"):
        for sql in (
            f'set role "{role}"',
            f'set session authorization "{role}"',
            f'grant "{role}" to current_user',
        ):
            with pytest.raises(InsufficientPrivilege):
                connection.execute(sql.encode())
    with pytest.raises(InsufficientPrivilege):
        connection.execute(f'alter role "{roles.person("ann")}" password null'.encode())
    before = rows(connection, "select body from holdfast_hub.versions order by 1")
    connection.execute(f'set role "{roles.readers}"'.encode())
    assert rows(connection, "select body from holdfast_hub.versions order by 1") == before
    connection.execute(b"reset role")
    connection.execute(b"set row_security = off")
    with pytest.raises(InsufficientPrivilege):
        connection.execute(b"select body from holdfast_hub.versions")


PUSH = b"""
select holdfast_hub.push(%s, %s, '{memory}', '{forged}', '{9}', '{9}', '{team}', '{""}', '{text}', '{7}',
                         '{""}', '{0}')
"""


def test_the_author_is_who_logged_in_and_the_machine_is_theirs(people: PostgresRoom) -> None:
    bob = people.sql("bob")
    with pytest.raises(InsufficientPrivilege, match="not yours"):
        bob.execute(PUSH, (SHOP, "machine-of-ann"))
    bob.execute(PUSH, (SHOP, "machine-of-bob"))
    (forged,) = (each for each in people.place.connect("ann").pull(SHOP, 0, 50) if each.item.id == "forged")
    assert (forged.person, forged.machine) == ("bob", machine_of("bob"))
    for sql in (
        "select holdfast_hub.confirm('x', 'machine-of-ann', 9)",
        "select * from holdfast_hub.identify('machine-of-ann', 'mine now')",
    ):
        with pytest.raises(InsufficientPrivilege, match="not yours"):
            bob.execute(sql.encode())
    bob.execute(b"select holdfast_hub.erase_own(null)")
    assert "ann alone" in {text for _, text in texts(people.place.connect("ann"))}


def test_who_may_only_read_has_no_way_to_push(people: PostgresRoom) -> None:
    with pytest.raises(InsufficientPrivilege, match="permission denied for function push"):
        people.sql("eve").execute(PUSH, (SHOP, "machine-of-eve"))


def test_another_team_has_its_own_project_of_the_same_name(people: PostgresRoom) -> None:
    zoe = people.sql("zoe")
    zoe.execute(PUSH, (SHOP, "machine-of-zoe"))
    assert "forged" not in {id for id, _ in texts(people.place.connect("ann"))}


@pytest.mark.parametrize(
    "call",
    [
        "require_machine('machine-of-ann')",
        "require_member()",
        "ensure_audit_month(0)",
        "lock_project(null, 'x')",
        "withdraw(null, 1, 'team', '')",
        "clock_ms()",
    ],
)
def test_what_functions_do_among_themselves_nobody_may_call(people: PostgresRoom, call: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        people.sql("ann").execute(f"select holdfast_hub.{call}".encode())


def test_names_in_a_members_own_schema_mislead_no_function(people: PostgresRoom) -> None:
    bob = people.sql("bob")
    bob.execute(b"create temp table members as select * from holdfast_hub.members")
    bob.execute(
        b"create function pg_temp.lower(text) returns text language plpgsql as"
        b" $$ begin raise exception 'called as %', current_user; end $$"
    )
    bob.execute(b"set search_path = pg_temp, holdfast_hub, pg_catalog")
    bob.execute(PUSH, (SHOP, "machine-of-bob"))
    assert rows(bob, "select holdfast_hub.my_name()") == ["bob"]


def test_the_owner_reads_no_item_by_the_way(people: PostgresRoom) -> None:
    """They could change the policies, and a superuser is above them: this keeps from reading by mistake."""
    owner = people.owner_sql()
    assert rows(owner, "select body from holdfast_hub.versions") == []
    owner.execute(f'set role "{people.owner.roles.owner}"'.encode())
    assert rows(owner, "select body from holdfast_hub.versions") == []
    assert rows(owner, "select item_id from holdfast_hub.audit") == []
    assert len(rows(owner, "select name from holdfast_hub.members")) == len(PEOPLE)


def test_a_role_without_rights_is_refused(people: PostgresRoom) -> None:
    people.superuser_sql().execute(f"create role stranger_{people.database} login password 'x'".encode())
    with pytest.raises(HubRefused):
        PostgresHub(people.address(Invitation(f"stranger_{people.database}", "x")))


def test_a_wrong_password_is_refused_and_not_repeated(people: PostgresRoom) -> None:
    login = people.invitations["ann"].login
    with pytest.raises(HubRefused, match="refused: password authentication failed") as refused:
        PostgresHub(people.address(Invitation(login, "wrong-hunter2")))
    assert "hunter2" not in refused.value.message + refused.value.hint


def test_revoking_ends_connections_that_are_open(people: PostgresRoom) -> None:
    raw, hub = people.sql("ann"), people.place.connect("ann")
    raw.execute(b"begin")
    raw.execute(b"select count(*) from holdfast_hub.versions")
    people.owner.revoke("ann")
    with pytest.raises(psycopg.OperationalError):
        raw.execute(b"select count(*) from holdfast_hub.versions")
    with pytest.raises(HubRefused):
        hub.pull(SHOP, 0, 1)
    with pytest.raises(psycopg.OperationalError):
        people.sql("ann")
    assert "ann to all" in {text for _, text in texts(people.place.connect("bob"))}


def test_rights_end_with_the_revocation_even_if_the_connection_does_not(people: PostgresRoom) -> None:
    """As where another pooler holds it open: what counts is who is a member now."""
    raw = people.sql("ann")
    people.superuser_sql().execute(b"update holdfast_hub.members set revoked_at = 1 where name = 'ann'")
    assert rows(raw, "select body from holdfast_hub.versions") == []
    with pytest.raises(InsufficientPrivilege, match="not invited"):
        raw.execute(PUSH, (SHOP, "machine-of-ann"))


@pytest.mark.parametrize(("difference", "words"), [(1, "a later version"), (-1, "is no hub")])
def test_another_schema_is_refused_by_members_and_owner(
    people: PostgresRoom, difference: int, words: str
) -> None:
    version = shipped()[-1].version + difference
    people.superuser_sql().execute(b"update holdfast_hub.schema_version set version = %s", (version,))
    with pytest.raises(HubRefused, match=words):
        people.place.connect("ann")
    with pytest.raises(HubRefused, match=words):
        people.owner.invite("cal", "core", is_read_only=False)
    if difference > 0:
        with pytest.raises(HubRefused, match=words):
            people.owner.prepare()


def test_a_database_that_is_no_hub_is_refused_with_what_to_do(room: PostgresRoom) -> None:
    room.place.invite("ann")
    room.superuser_sql().execute(b"drop schema holdfast_hub cascade")
    with pytest.raises(HubRefused) as refused:
        room.place.connect("ann")
    assert "holdfast hub init" in refused.value.hint + refused.value.message
    assert room.owner.prepare()
    assert room.owner.members() == []


def test_a_hub_that_was_lost_is_connected_again(people: PostgresRoom) -> None:
    hub = people.place.connect("ann")
    people.superuser_sql().execute(
        b"select pg_terminate_backend(pid) from pg_stat_activity where usename = %s",
        (people.invitations["ann"].login,),
    )
    assert texts(hub)


def test_a_hub_whose_server_is_gone_is_away_and_works_again_when_it_is_back(
    own_postgres: Callable[..., Server], tmp_path: Path
) -> None:
    server = own_postgres()
    room = room_on(server.address, "postgres", tmp_path)
    hub = room.place.invite("ann")
    server.stop(signal.SIGQUIT)
    for _ in range(2):
        with pytest.raises(HubAway):
            hub.push(SHOP, "machine-of-ann", [item()])
    server.start()
    hub.push(SHOP, "machine-of-ann", [item()])
    assert texts(hub) == [("m1", item().body)]
    room.close()
