"""A project's name for others: every spelling of a remote's address meets, and nothing else comes through."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.sharing.identity import (
    SharedIdentity,
    SharedName,
    bound_name,
    choose_remote,
    identity_of,
    shared_name,
)
from tests.tables import every_row

WORD = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=12)
PART = WORD.filter(lambda word: word != "_git")
HOST = st.lists(st.text(string.ascii_letters, min_size=1, max_size=8), min_size=2, max_size=3).map(".".join)
LOGIN = st.sampled_from(["", "git@", "you@", "you:s3cret@", "oauth2:glpat-x@"])
PORT = st.sampled_from(["", ":22", ":443", ":2222"])
SCHEME = st.sampled_from(["ssh", "https", "http", "git", "git+ssh", "HTTPS"])
END = st.sampled_from(["", "/", ".git", ".git/", "//"])


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a repository, and one of the ways to write its address."""
    host, path = draw(HOST), "/".join(draw(st.lists(PART, min_size=1, max_size=3)))
    written = "".join(draw(st.sampled_from([char.lower(), char.upper()])) for char in host)
    end = draw(END)
    if draw(st.booleans()):
        login, slash = draw(st.sampled_from(["", "git@", "you@"])), draw(st.sampled_from(["", "/"]))
        address = f"{login}{written}:{slash}{path}{end}"
    else:
        address = f"{draw(SCHEME)}://{draw(LOGIN)}{written}{draw(PORT)}/{path}{end}"
    return f"{host.lower()}/{path}", address


@given(spellings())
def test_every_spelling_of_one_address_gives_one_name(spelling: tuple[str, str]) -> None:
    name, address = spelling
    assert shared_name(address) == name
    assert shared_name(f"https://{name}") == name
    assert bound_name(address) == name


@given(st.text(max_size=80) | spellings().map(lambda each: each[1]))
def test_whatever_is_written_a_name_is_one_plain_line_that_means_itself(address: str) -> None:
    name = shared_name(address)
    if name:
        host, _, path = name.partition("/")
        assert host == host.lower()
        assert path
        assert name.isprintable()
        assert not {"..", "", "."} & set(path.split("/"))
        assert shared_name(f"https://{name}") == name or ":" in host or not path.isascii()


@every_row(
    "address, name",
    [
        ("git@github.com:Acme/Shop.git", "github.com/acme/shop"),
        ("https://GitHub.com/acme/shop", "github.com/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("https://www.github.com/acme/shop/", "github.com/acme/shop"),
        ("git@git.example.com:Acme/Shop", "git.example.com/Acme/Shop"),
        ("git@github.com-work:acme/shop.git", "github.com-work/acme/shop"),
        ("git@ssh.dev.azure.com:v3/org/project/shop", "dev.azure.com/org/project/shop"),
        ("https://org@dev.azure.com/org/project/_git/shop", "dev.azure.com/org/project/shop"),
        ("https://gitlab.com/a/b/c/shop.git", "gitlab.com/a/b/c/shop"),
        ("ssh://git@[2001:db8::1]:2222/acme/shop.git", "2001:db8::1/acme/shop"),
        ("git@[2001:db8::1]:acme/shop.git", "2001:db8::1/acme/shop"),
        ("[git@host.example:2222]:acme/shop", "host.example/acme/shop"),
        ("git@[host.example:2222]:acme/shop", "host.example/acme/shop"),
        ("https://bücher.example/acme/shop", "xn--bcher-kva.example/acme/shop"),
        ("https://host.example./acme/shop", "host.example/acme/shop"),
        ("https://host.example/acme/%73hop", "host.example/acme/shop"),
        # What means something on one machine only.
        ("/srv/git/shop.git", ""),
        ("../shop", ""),
        ("file:///srv/git/shop.git", ""),
        ("C:\\git\\shop", ""),
        ("C:/git/shop", ""),
        ("http://localhost:3000/acme/shop", ""),
        ("http://127.0.0.1/acme/shop", ""),
        ("ssh://git@[::1]/acme/shop", ""),
        # What is no address of a repository.
        ("", ""),
        ("ext::sh -c touch% /tmp/x", ""),
        ("ext::ssh://host.example/acme/shop", ""),
        ("javascript://host.example/%0aalert", ""),
        ("https://host.example/", ""),
        ("https://host.example/../../etc", ""),
        ("https://host.example/a/%2e%2e/b", ""),
        ("https://host.example/a%0ab", ""),
        ("https://host.example/a\u202eb", ""),
        ("https://host.example/a\ue000b", ""),  # no character of any alphabet
        ("https://host.example/" + "a" * 400, ""),
        ("https://[broken/acme/shop", ""),
        ("git@-oProxyCommand=x:acme/shop", ""),
    ],
)
def test_an_address_gives_the_name_that_others_use_or_none(address: str, name: str) -> None:
    assert shared_name(address) == name


@every_row(
    "text, name",
    [
        ("shop notes", "shop notes"),
        ("  notes ", "notes"),
        ("Übersicht", "Übersicht"),
        ("github.com/Acme/Shop.git", "github.com/acme/shop"),
        ("git@git.example.com:acme/shop", "git.example.com/acme/shop"),
        ("", ""),
        ("a/b", ""),
        ("../x", ""),
        ("-x", ""),
        ("a\nb", ""),
        ("a" * 101, ""),
    ],
)
def test_a_person_chooses_a_plain_name_or_an_address(text: str, name: str) -> None:
    assert bound_name(text) == name


@every_row(
    "remotes, tracked, chosen",
    [
        ({"origin": "a", "fork": "b"}, "fork", "a"),
        ({"upstream": "a", "fork": "b"}, "fork", "b"),
        ({"upstream": "a", "fork": "b"}, "", ""),
        ({"upstream": "a", "fork": "b"}, "gone", ""),
        ({"upstream": "a"}, "", "a"),
        ({}, "", ""),
    ],
)
def test_origin_stands_for_a_repository_else_the_tracked_remote_else_the_only_one(
    remotes: dict[str, str], tracked: str, chosen: str
) -> None:
    assert choose_remote(remotes, tracked) == chosen


def stored(name: str, at: int, *, is_bound: bool = False) -> SharedName:
    return SharedName("p", name, 1, at, is_bound=is_bound)


@every_row(
    "names, remote, expected",
    [
        ([], "", SharedIdentity()),
        ([], "new", SharedIdentity("new")),
        ([stored("old", 1)], "new", SharedIdentity("new", ("old",))),
        ([stored("old", 1), stored("new", 2)], "", SharedIdentity("new", ("old",))),
        ([stored("own", 1, is_bound=True)], "new", SharedIdentity("own", ("new",), is_bound=True)),
        ([stored("new", 5)], "new", SharedIdentity("new")),
    ],
)
def test_a_chosen_name_comes_before_the_remotes_and_former_ones_stay(
    names: list[SharedName], remote: str, expected: SharedIdentity
) -> None:
    assert identity_of(names, remote) == expected
    assert expected.names == tuple(filter(None, (expected.name, *expected.former)))
