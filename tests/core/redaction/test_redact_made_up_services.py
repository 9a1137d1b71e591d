"""Keys of services that were made up at random, in the places where keys stand: nearly all of them go.

The services, their prefixes, alphabets and lengths are drawn from a seed, so that no rule can know them. A
value goes by the name beside it or, where nothing names it, by its shape.
"""

from __future__ import annotations

import random
import uuid

import pytest

from tests.core.drawn import drawn, left

SYLLABLES = "ba ce do fi gra hel jo ka lum mer nov pex qui ro sol tri ul ver wex yo zen tek dra shi".split()
PREFIXES = ["", "", "", "{}_", "{}-", "{}_live_", "{}_v1_", "{}_pat_", "{}.", "v1.", "{}key-", "{}prod_"]
BODIES = ["<h32>", "<h40>", "<h64>", "<A20>", "<A28>", "<A32>", "<A40>", "<A64>", "<a32>", "<a40>", "<w32>"]
BODIES += ["<w43>", "<U24>", "<U32>", "<t32>", "<b44>", "<b64>", "<A24>.<w24>.<w38>", "<a16>.<A32>"]
ROLES = [
    *("api key", "api token", "access token", "client secret", "signing key", "webhook secret", "auth token"),
    *(
        "license key",
        "service key",
        "deploy key",
        "integration token",
        "encryption key",
        "ingest key",
        "secret",
    ),
]
NAMED = {
    "shell": ["{UP}={key}", "export {UP}='{key}'", "docker run -e {UP}={key} img", "{s} --{kebab} {key}"],
    "json": ['"{camel}": "{key}"', '{{\\"{snake}\\": \\"{key}\\"}}', '{{"{s}": {{"{role_camel}": "{key}"}}'],
    "yaml": ["{s}:\n  {role_snake}: {key}", "- name: {UP}\n  value: {key}", "{kebab}: >-\n  {key}"],
    "toml and ini": ['[{s}]\n{role_snake} = "{key}"', "{s}.{role_snake} = {key}"],
    "xml": ["<{camel}>{key}</{camel}>", '<property name="{s}.{role_snake}" value="{key}"/>'],
    "php": ["'{snake}' => '{key}',", "define('{UP}', '{key}');"],
    "ruby": [':{snake} => "{key}"', "ENV['{UP}'] ||= '{key}'"],
    "go": ['os.Setenv("{UP}", "{key}")', 'client := {s}.NewClient("{key}") // {role}'],
    "java": ['builder.{role_camel}("{key}").build();', 'static final String {UP} = "{key}";'],
    "javascript": ["const {camel} = '{key}';", "{s}.init('{key}'); // {role}"],
    "http": ["X-{kebab}: {key}", "Authorization: {S} {key}", 'curl -u "{key}:" https://api.{s}.io/v1/me'],
    "query": ["https://api.{s}.com/v2?{role_snake}={key}&page=2", "https://hooks.{s}.com/services/{key}"],
    "sql": ["UPDATE a SET {role_snake} = '{key}';", "INSERT INTO settings VALUES ('{snake}','{key}');"],
    "terraform": ['variable "{snake}" {{\n  type = string\n  default = "{key}"\n}}'],
    "kubernetes": ["kind: Secret\nstringData:\n  {role_snake}: {key}"],
    "rc files": ["machine api.{s}.com login me password {key}", "//registry.{s}.com/:_authToken={key}"],
    "tables": ["| {s} | {role} | {key} |", "{UP}\t{key}"],
    "prose": ["The {s} {role} is {key}.", "Use `{key}` as the {s} {role}.", "{role} for {s}: {key}"],
}  # fmt: skip
BARE = ["connected with {key} in 12ms", "- {key}", '"{key}"', 'client("{key}")', "run {key} --force",
        "I pasted {key} into the form", "GET /v1/{key}/me", "x={key}"]  # fmt: skip
SERVICES = range(60)


def service(number: int) -> tuple[str, str, str]:
    """A service of that number: its name, what its keys are called, and how they are made."""
    draw = random.Random(f"service {number}")
    name = "".join(draw.sample(SYLLABLES, draw.choice([2, 3])))
    short = draw.choice([name[:3], name[:4], name[:2] + "k", name])
    prefix = draw.choice(PREFIXES).format(draw.choice([short, short.upper()]))
    return name, draw.choice(ROLES), prefix + draw.choice(BODIES)


def written(place: str, number: int) -> tuple[str, str]:
    """A text that has a key of that service in this place, and the key."""
    name, role, form = service(number)
    key, snake, first, *rest = drawn(form, place), role.replace(" ", "_"), *role.split()
    camel = first + "".join(map(str.title, rest))
    text = place.format(
        key=key, s=name, S=name.title(), role=role, role_snake=snake, role_camel=camel,
        snake=f"{name}_{snake}", UP=f"{name}_{snake}".upper(), kebab=f"{name}-{role.replace(' ', '-')}",
        camel=name + camel[0].upper() + camel[1:],
    )  # fmt: skip
    return text, key


@pytest.mark.parametrize("syntax", NAMED)
def test_a_key_with_a_name_beside_it_goes_in_every_syntax(syntax: str) -> None:
    texts = [written(place, number) for place in NAMED[syntax] for number in SERVICES]
    missed = [text for text, key in texts if left(text, [key])]
    assert len(missed) <= len(texts) * 0.04, missed


def test_a_key_that_nothing_names_goes_by_its_shape() -> None:
    shown = [number for number in SERVICES if _shows(service(number)[2])]
    texts = [written(place, number) for place in BARE for number in shown]
    missed = [text for text, key in texts if left(text, [key])]
    assert len(texts) > 200
    assert len(missed) <= len(texts) * 0.05, missed


def _shows(form: str) -> bool:
    """Whether anything can tell a key of this form: a prefix, or all sorts of characters, and many."""
    return not form.startswith("<") or form.startswith(
        ("<A32", "<A40", "<A64", "<w32", "<w43", "<b44", "<b64")
    )


IDS = [
    "toolu_01<A22>",
    "call_<A24>",
    "msg_01<A22>",
    "req_011C<A20>",
    "chatcmpl-<A29>",
    "ses_<A26>",
    "fc_<h48>",
]
IDS += ["evt_1<A23>", "prj_<A28>", "thread_<A24>", "file-<A24>", "PR_kwDO<A16>", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]
IDS += ['ETag: "<b27>="', "x/y.py,sha256=<w43>,1234", "y v1.2.3 h1:<b43>=", "image: nginx@sha256:<h64>"]
IDS += ["main.<h20>.chunk.js", "https://x.io/app-<h32>.css", "index-<w8>.js", '"integrity": "sha512-<b86>=="']
IDS += ["Merge <h40> into <h40>", "uses: actions/checkout@<h40>", "/nix/store/<a32>-hello-2.12"]
IDS += [
    "data:image/png;base64,<b200>",
    '"signature":"<b400>"',
    '"cursor":"<A32>"',
    "Message-ID: <CA<w60>@x.io>",
]
IDS += ["SHA256:<b43> me@host (ED25519)", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> me@host"]
IDS += ["https://docs.google.com/document/d/<w44>/edit", "userId: <A28>", "bc1q<a38>", "0x<h64>"]


@pytest.mark.parametrize("form", IDS)
def test_ids_and_hashes_that_are_as_random_stay(form: str) -> None:
    texts = [drawn(form, str(number)) for number in range(40)]
    assert [left(text, [text]) for text in texts] == [[text] for text in texts]


def test_an_id_of_a_session_stays_beside_talk_of_tokens() -> None:
    session = uuid.UUID(int=random.Random("session").getrandbits(128), version=4)
    text = f"The token of session {session} has expired; commit {drawn('<h40>', 'commit')} checks its key."
    assert left(text, [text]) == [text]
