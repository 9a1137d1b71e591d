"""What docs/teams.md has the owner of a hub type works, on a real database."""

from __future__ import annotations

from pathlib import Path

from tests.cli.commands.sharing.conftest import OwnedDatabase
from tests.cli.conftest import Person
from tests.cli.test_pages import lines

OWNERS = ("holdfast hub init ", "holdfast hub invite ", "holdfast hub members", "holdfast hub revoke ")


def test_what_the_page_has_an_owner_type_works(person: Person, owned: OwnedDatabase, tmp_path: Path) -> None:
    """The page's address and password file are replaced by those of a database that is there."""
    typed = [line for line in lines("docs/teams.md") if line.startswith(OWNERS)]
    assert len(typed) == len(OWNERS)
    for line in typed:
        words = line.partition(" > ")[0].split()[1:]
        words = [owned.url if word.startswith("postgresql://") else word for word in words]
        words = [str(owned.password_file) if word == "~/db-password" else word for word in words]
        done = person.types(*words)
        assert done.status == 0, done.err
    (ann,) = person.types("hub", "members", "--json").json
    assert (ann["name"], ann["team"], bool(ann["revoked_at"])) == ("ann", "shop", True)
