"""Keys of services that no rule has heard of go: by a name near them, or by their shape alone."""

from __future__ import annotations

import itertools

import pytest

from holdfast.core.redaction.redact import redact
from tests.core.drawn import UUID, drawn, left

SERVICES = "acmecloud zorbit quillstack brightmesh orvane kelpdb".split()
NAMES = ["api key", "access token", "client secret", "integration key", "deploy token", "merchant key", "pat"]
FORMS = ["<h32>", "<h40>", "<h64>", "<A20>", "<A24>", "<A40>", "<a32>", "<U32>", "<w43>", "<b43>=", UUID]
PLACES = [
    "{upper}={key}",
    'export {upper}="{key}"',
    "{snake}: '{key}'",
    'const {camel} = "{key}";',
    'var {camel} string = "{key}"',
    'public string {camel} {{ get; set; }} = "{key}";',
    'let {snake}: &str = "{key}";',
    '{{:{snake}, "{key}"}}',
    "<{camel}>{key}</{camel}>",
    '<add key="{camel}" value="{key}" />',
    "--{kebab} {key}",
    'curl -H "X-{kebab}: {key}" https://api.{service}.io/v1',
    "https://api.{service}.com/items?limit=3&{snake}={key}",
    "| {service} {name} | `{key}` |",
    "{service},{name},{key}",
    "[{service} {name}] {key}",
    "* {service} {name} -> {key}",
    "The {service} {name} is {key}.",
    "Received {service} {name} {key} from the server",
    "INSERT INTO settings VALUES ('{snake}', '{key}');",
    "aws ssm put-parameter --name /{service}/{kebab} --value {key} --type SecureString",
    'gh secret set {upper} -b"{key}"',
    "{snake}:\n  {key}",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_key_goes_if_a_name_near_it_says_key_whoever_made_it(place: str) -> None:
    missed = []
    cases = list(itertools.product(SERVICES, NAMES, FORMS))
    for service, name, form in cases:
        key = drawn(form, service + name)
        snake = f"{service}_{name.replace(' ', '_')}"
        camel = service + name.title().replace(" ", "")
        text = place.format(
            service=service,
            name=name,
            key=key,
            snake=snake,
            upper=snake.upper(),
            kebab=snake.replace("_", "-"),
            camel=camel,
        )
        missed += left(text, [key])
    # Of what is drawn at random some reads like words, and of a bare `pat` little is certain.
    assert len(missed) <= len(cases) / 10


@pytest.mark.parametrize(
    "form",
    [
        "<A32>",
        "<A40>",
        "<A64>",
        "<w43>",
        "<w86>",
        "zrb_<h40>",
        "zrb_v1_<h64>",
        "zorp<h32>",
        "ZRBK-<U27>",
        "zrb_sk_<a24>",
        "zrb_live_<A24>",
    ],
)
def test_a_key_alone_goes_by_its_shape(form: str) -> None:
    keys = [drawn(form, str(number)) for number in range(100)]
    around = ["{}", "see {} there", '"x": "{}",', "clid='{}'", "f({})"]
    missed = [key for number, key in enumerate(keys) if left(around[number % 5].format(key), [key])]
    # An address on a chain has the same shape as one key in eight of 32 characters.
    assert len(missed) <= 16


LEFT_ALONE = [
    "address: " + drawn("<s44>", "solana"),
    "ipfs://" + "Qm" + drawn("<s44>", "cid"),
    "0x" + drawn("<h40>", "eth").replace("a", "A").replace("b", "B"),
    f"docId: {drawn('<w44>', 'doc')}",
    f"commit_hash={drawn('<A40>', 'h')}",
    f"data:image/png;base64,{drawn('<A64>', 'image')}",
    f"restore cache from key {drawn('<h64>', 'cache')}",
    f"configure-credentials@{drawn('<h40>', 'action')} # v4.3.1",
    f"api/auth/token/dialog-{drawn('<h8>', 'file')}.js",
    f'"ash_json_api": {{:hex, :ash_json_api, "1.5.1", "{drawn("<h64>", "mix")}", [:mix]}}',
    f"session: 2026-01-27-{drawn(UUID, 'session')}",
    "token := jwtv4.NewWithClaims(jwtv4.SigningMethodES256, claims)",
    "-----BEGIN PUBLIC KEY-----\n" + drawn("<A64>", "public") + "\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_as_random_and_public_stays(text: str) -> None:
    assert redact(text) == text
