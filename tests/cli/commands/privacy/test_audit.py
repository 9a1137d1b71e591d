"""`holdfast audit secrets`: numbers, never values."""

from __future__ import annotations

from tests.cli.conftest import Person

TOKEN = "ghp_" + "Qw3r" * 9


def test_a_home_in_which_all_was_redacted_is_clean(person: Person) -> None:
    person.types("setup", "claude-code", "--home", str(person.user_home), "--yes")
    person.prompts(f"push with {TOKEN}")
    done = person.types("audit", "secrets")
    assert (done.status, done.out, done.err) == (0, "no secret was found\n", "")
    assert person.types("audit", "secrets", "--json").json == []


def test_what_is_found_is_counted_and_not_shown(person: Person) -> None:
    log = person.home / "logs" / "cli.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"{TOKEN} and again {TOKEN}\n")
    done = person.types("audit", "secrets")
    assert done.status == 1
    assert done.out.split("\n")[1].split() == ["logs/cli.log", "github-token", "2"]
    assert TOKEN not in done.out + done.err
    assert "holdfast doctor" in done.err
    told = person.types("audit", "secrets", "--json")
    assert (told.status, told.json) == (1, [{"place": "logs/cli.log", "kind": "github-token", "count": 2}])


def test_the_keys_to_our_own_doors_are_no_leak(person: Person) -> None:
    for key in ("http/token", "http/token-read", "run/token"):
        (person.home / key).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (person.home / key).write_text(f"{TOKEN}\n")
    assert person.types("audit", "secrets").status == 0
    (person.home / "http" / "token-copy").write_text(f"{TOKEN}\n")
    assert person.types("audit", "secrets").status == 1


def test_looking_makes_no_home(person: Person) -> None:
    assert person.types("audit", "secrets").status == 0
    assert not person.home.exists()
