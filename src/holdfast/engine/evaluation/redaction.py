"""Redaction measured: how many labelled secrets are removed, how much clean text is changed, how fast.

The corpora are labelled secrets, transcripts, and generated clean text. A secret counts as removed if
its value is nowhere in the remaining text. Any finder of secrets can be measured, Holdfast's or another.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
import string
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from holdfast.core.events.event import Event, map_text
from holdfast.core.redaction.forms import MARKS, known_at
from holdfast.core.redaction.names import PROVIDERS
from holdfast.core.redaction.redact import redact, secrets_in
from holdfast.engine.evaluation.survival import read, transcripts
from holdfast.lazy_dataclass import dataclass

Finder: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""Where the secrets of a text begin and end."""

ALL: Final = "all"
HEX: Final = "0123456789abcdef"
ALNUM: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a total."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Changed:
    """What was changed in text that should have stayed unchanged."""

    characters: int
    redactions: int
    changed: int
    """How many characters were changed."""

    @property
    def redactions_per_million(self) -> float | None:
        """False redactions in a million characters; None without any."""
        return 1e6 * self.redactions / self.characters if self.characters else None

    @property
    def changed_per_million(self) -> float | None:
        """Changed characters of a million; None without any."""
        return 1e6 * self.changed / self.characters if self.characters else None


def redacted_spans(text: str) -> Iterator[tuple[int, int]]:
    """The secrets that Holdfast finds."""
    return ((span.start, span.end) for span in secrets_in(text))


def recall(labels: Iterable[LabelledSecret], finder: Finder = redacted_spans) -> dict[str, Share]:
    """The share of labelled secrets that are removed, for each family and in total."""
    removed: dict[str, list[bool]] = {name: [] for name in (ALL, *Family)}
    for label in labels:
        is_gone = label.value not in text_without_secrets(label.text, finder)
        removed[label.family].append(is_gone)
        removed[ALL].append(is_gone)
    return {name: Share(sum(each), len(each)) for name, each in removed.items()}


def missed_secrets(labels: Iterable[LabelledSecret], finder: Finder = redacted_spans) -> list[LabelledSecret]:
    """The labelled secrets that are not removed."""
    return [label for label in labels if label.value in text_without_secrets(label.text, finder)]


def text_without_secrets(text: str, finder: Finder) -> str:
    """The text with a unique character in place of each secret that was found."""
    pieces, place = list[str](), 0
    for start, end in sorted(finder(text)):
        pieces += (text[place : max(place, start)], "\0")
        place = max(place, end)
    return "".join([*pieces, text[place:]])


def in_json(labels: Iterable[LabelledSecret]) -> Iterator[LabelledSecret]:
    """The same secrets as they are in a transcript: inside a JSON string."""
    for label in labels:
        text, value = json.dumps({"text": label.text}), json.dumps(label.value)[1:-1]
        yield replace(label, text=text, value=value)


def of_unknown_services(labels: Iterable[LabelledSecret]) -> Iterator[LabelledSecret]:
    """The same secrets as if from unknown services: only the general rules can find them.

    Prefixes, signatures and names of services get other letters. Formats that belong to no service, private
    keys and web tokens, stay.
    """
    for label in labels:
        if label.family is Family.PRIVATE_KEYS:
            yield label
            continue
        others = label.text.split(label.value)
        value, places = _of_no_one(label.value), [_SERVICE.sub(_other_letters, each) for each in others]
        yield replace(label, text=value.join(places), value=value)


def _of_no_one(value: str) -> str:
    if value.startswith("eyJ") or _HEXADECIMAL.fullmatch(value):
        return value
    other = _PREFIX.sub(_other_letters, _MARK.sub(_other_letters, value))
    # A prefix may become another one that is known.
    return _PREFIX.sub(_other_letters, other) if known_at(other, 0) else other


def _other_letters(match: re.Match[str]) -> str:
    return match[0].translate(_OTHER_LETTERS)


# Each letter is moved nine places in the alphabet, so that moving twice still changes it.
_SMALL: Final = string.ascii_lowercase
_OTHER_LETTERS: Final = str.maketrans(
    _SMALL + _SMALL.upper(), _SMALL[9:] + _SMALL[:9] + _SMALL[9:].upper() + _SMALL[:9].upper()
)


_PREFIX: Final = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9]{0,11}(?=[_.-])|[A-Za-z]{1,4})")
_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))
_SERVICE: Final = re.compile("|".join(sorted(PROVIDERS, key=len, reverse=True)), re.IGNORECASE)
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F-]+")


def halves(labels: Sequence[LabelledSecret]) -> tuple[list[LabelledSecret], list[LabelledSecret]]:
    """The labels in two halves, by their values: rules written on one can be tested on the other."""
    parts: tuple[list[LabelledSecret], list[LabelledSecret]] = ([], [])
    for label in labels:
        parts[hashlib.sha256(label.value.encode("utf-8", "replace")).digest()[0] % 2].append(label)
    return parts


def false_redactions(texts: Iterable[str], finder: Finder = redacted_spans) -> Changed:
    """How much is changed in texts without a secret."""
    characters = redactions = changed = 0
    for text in texts:
        spans = list(finder(text))
        characters += len(text)
        redactions += len(spans)
        changed += sum(end - start for start, end in spans)
    return Changed(characters, redactions, changed)


def megabytes_per_second(
    texts: Sequence[str], clock: Callable[[], float], redactor: Callable[[str], object] = redact
) -> float | None:
    """How much text is scanned in a second, the better of two runs; None without a text."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    seconds: list[float] = []
    for _ in range(2):
        began = clock()
        for text in texts:
            redactor(text)
        seconds.append(clock() - began)
    return size / max(min(seconds), 1e-9) / 1e6 if size else None


@dataclass(frozen=True, slots=True)
class RedactionResult:
    """Everything that one run measured."""

    recall: Mapping[str, Share]
    recall_in_json: Mapping[str, Share]
    recall_of_unknown: Mapping[str, Share]
    halves: tuple[Mapping[str, Share], Mapping[str, Share]]
    clean: Mapping[str, Changed]
    megabytes_per_second: float | None


def measure_redaction(
    labels: Sequence[LabelledSecret],
    transcripts: Sequence[str],
    made: Mapping[str, str],
    clock: Callable[[], float],
) -> RedactionResult:
    """Holdfast's own results on labelled secrets, on transcripts and on generated clean text."""
    first, second = halves(labels)
    return RedactionResult(
        recall(labels),
        recall(in_json(labels)),
        recall(of_unknown_services(labels)),
        (recall(first), recall(second)),
        {
            "transcripts": false_redactions(transcripts),
            **{name: false_redactions([text]) for name, text in made.items()},
        },
        megabytes_per_second(transcripts or list(made.values()), clock),
    )


class Family(StrEnum):
    """The sort of secret that a label means."""

    PROVIDER_KEYS = "provider_keys"
    PRIVATE_KEYS = "private_keys"
    URLS = "urls"
    KEY_VALUES = "key_values"
    PASSWORD_HASHES = "password_hashes"  # noqa: S105 - the name of a family


@dataclass(frozen=True, slots=True)
class LabelledSecret:
    """A secret, and a text that contains it."""

    family: Family
    rule: str
    value: str
    text: str


# Names of the corpora's rules by family; a rule that matches none is for a provider's key.
_FAMILIES: Final = (
    (Family.PASSWORD_HASHES, re.compile(r"Password Hash")),
    (Family.PRIVATE_KEYS, re.compile(r"PEM|Private Key|Age Secret|NKEY|JWK|JSON Web Key")),
    (Family.URLS, re.compile(r"\bUR[LI]|Webhook|MongoDB|JDBC")),
    (
        Family.KEY_VALUES,
        re.compile(
            r"\A(?:Password|Secret|Token|Key|API|Auth|Credential|Salt)\Z|CMD |CURL|Generic|netrc|HTTP"
            r"|Hardcoded|Basic |Bearer |PHPMailer|React App|ODBC|\.NET|Credentials in|WireGuard"
        ),
    ),
)
# Labelled in the corpora but public: identifiers, domains, nonces.
_NO_SECRETS: Final = re.compile(r"(?:UUID|Nonce|AWS S3 Bucket|Firebase Domain|Tencent WeChat API App ID)\Z")
# Placeholders instead of a secret: a variable, a template, filler.
_NO_VALUE: Final = re.compile(r'"?\$\w+"?\Z|%\w+%\Z|#?\{|"kty"|(?P<same>.)(?P=same){5}|.*xxxxxx')
_USER_BEFORE: Final = re.compile(r"(?:user ?id|uid|user ?name|user)[ =:\"']{1,6}\Z", re.IGNORECASE)


def labelled_secrets(data: Path) -> list[LabelledSecret]:
    """Every labelled secret below folders named `secrets`, each once for each rule."""
    labels: dict[tuple[str, str], LabelledSecret] = {}
    for path in sorted(data.rglob("*")):
        if "secrets" not in (data.resolve().name, *path.relative_to(data).parts):
            continue
        for one in _in_file(path):
            if one.value and not _NO_SECRETS.match(one.rule) and not _NO_VALUE.match(one.value):
                labels.setdefault((one.rule, one.value), one)
    return list(labels.values())


def family_of(rule: str) -> Family:
    """The family of the secrets that a rule of this name finds."""
    return next((family for family, name in _FAMILIES if name.search(rule)), Family.PROVIDER_KEYS)


def _in_file(path: Path) -> Iterator[LabelledSecret]:
    if path.suffix == ".json" and path.name.startswith("labels"):
        yield from _findings(path.read_text("utf-8"))
    elif path.suffix in {".yml", ".yaml"}:
        for rule in rules_in(path.read_text("utf-8", "replace")):
            yield from _examples(rule)


class _Line(msgspec.Struct):
    line: str
    value: str | None = None


class _Finding(msgspec.Struct):
    rule: str
    line_data_list: list[_Line]


def _findings(text: str) -> Iterator[LabelledSecret]:
    """Findings with their lines; all lines of a finding are its text."""
    for finding in msgspec.json.decode(text, type=list[_Finding]):
        whole = "\n".join(line.line for line in finding.line_data_list)
        for line in finding.line_data_list:
            yield LabelledSecret(family_of(finding.rule), finding.rule, line.value or "", whole)


def _examples(rule: Mapping[str, Sequence[str]]) -> Iterator[LabelledSecret]:
    """The examples of a rule in which its pattern finds a secret."""
    name = rule.get("name", ("",))[0]
    if not any("secret" in category for category in rule.get("categories", ())):
        return
    try:
        pattern = _pattern(rule.get("pattern", ("",))[0])
    except re.error:  # written for another engine
        return
    for example in rule.get("examples", ()):
        match = pattern.search(example)
        value = _secret_of(match, family_of(name)) if match else ""
        if value and not _USER_BEFORE.search(example, 0, example.find(value)):
            yield LabelledSecret(family_of(name), name, value, example)


def _pattern(text: str) -> re.Pattern[str]:
    """The pattern with its flags moved to the beginning, as Python requires."""
    flags, rest = "", text.strip()
    while flag_group := re.match(r"\(\?([imsx]+)\)", rest):
        flags, rest = flags + flag_group[1], rest[flag_group.end() :].strip()
    return re.compile(f"(?{''.join(sorted(set(flags)))}){rest}" if flags else rest)


def _secret_of(match: re.Match[str], family: Family) -> str:
    """The last group of the match, or the second if a host follows user and password."""
    groups = [number for number in range(1, match.re.groups + 1) if match[number]]
    if family is Family.URLS and len(groups) == 3:
        # A password may hold an @: then it reaches to the last one before the path.
        more = _MORE_PASSWORD.match(match.string, match.end(groups[1]))
        return match[groups[1]] + (more[1] if more else "")
    return match[groups[-1]] if groups else match[0]


_MORE_PASSWORD: Final = re.compile(r"(@[^\s/]*)@")


_KEY: Final = re.compile(r"(?:- |  )(\w+):[ ]*(.*)")
_ITEM: Final = re.compile(r"[ ]*- (.*)")


def rules_in(text: str) -> Iterator[dict[str, list[str]]]:
    """The rules of a file: names, and the scalars under each. Reads only the YAML that such files use."""
    rule: dict[str, list[str]] = {}
    lines, number, key = text.split("\n"), 0, ""
    while number < len(lines):
        line, number = lines[number], number + 1
        if line.lstrip().startswith("#"):
            continue
        if key_match := _KEY.fullmatch(line):
            if line.startswith("-"):
                yield rule
                rule = {}
            key = key_match[1]
        match = key_match or _ITEM.fullmatch(line)
        if match and match[match.lastindex or 0]:
            scalar, number = _scalar(match[match.lastindex or 0], lines, number)
            rule.setdefault(key, []).append(scalar)
    yield rule


def _scalar(written: str, lines: Sequence[str], number: int) -> tuple[str, int]:
    """The scalar on this line or in the block below it, and the line at which it ends."""
    if written.startswith("|"):
        indent = len(lines[number - 1]) - len(lines[number - 1].lstrip(" "))
        end = number
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (indent + 1))):
            end += 1
        return textwrap.dedent("\n".join(lines[number:end])).strip("\n") + "\n", end
    if written.startswith("'"):
        return written.strip().strip("'").replace("''", "'"), number
    if written.startswith('"'):
        with contextlib.suppress(ValueError):
            return str(json.loads(written)), number
    return written, number


def clean_texts(data: Path) -> Iterator[str]:
    """The texts of the transcripts below this directory, as they would be recorded."""
    for transcript in transcripts(data):
        events, _ = read(transcript.harness, transcript.path)
        for event in events:
            yield from _texts(event)


def _texts(event: Event) -> list[str]:
    texts: list[str] = []

    def take(text: str) -> str:
        texts.append(text)
        return text

    map_text(event, take)
    return texts


def made_clean(lines: int = 2_000) -> dict[str, str]:
    """Generated text of each sort that must stay unchanged, the same on every run."""
    draw = random.Random(1)  # noqa: S311 - no secret depends on it
    makers = {"paths": _path, "commit_ids": _commit, "uuids": _uuid, "lock_files": _locked, "prose": _prose}
    return {name: "\n".join(make(draw) for _ in range(lines)) + "\n" for name, make in makers.items()}


def _word(draw: random.Random) -> str:
    return draw.choice(_WORDS)


def _path(draw: random.Random) -> str:
    parts = [_word(draw) for _ in range(draw.randint(2, 6))]
    name = draw.choice(["{}.py", "{}.test.ts", "{}_v2.json", "{}-4f1c2b3a.js", "2024-05-01_{}.log"])
    root = draw.choice(["", "/", "./", "../", "~/", "/var/build-12/", "C:\\Users\\you\\"])
    return root + "/".join([*parts, name.format(_word(draw))]) + draw.choice(["", ":12", ":12:4", "#L20-L31"])


def _commit(draw: random.Random) -> str:
    full = _drawn(draw, HEX, 40)
    lines = ["commit {0}", "{1} Fix the {2}", "index {1}..{3} 100644", "HEAD is now at {1} {2}", "ref: {0}"]
    return draw.choice(lines).format(full, full[:7], _word(draw), _drawn(draw, HEX, 7))


def _uuid(draw: random.Random) -> str:
    uuid = "-".join(_drawn(draw, HEX, size) for size in (8, 4, 4, 4, 12))
    lines = ["id: {}", '"sessionId": "{}"', "session {} ended", "/projects/{}.jsonl", "key={}"]
    return draw.choice(lines).format(draw.choice([uuid, uuid.upper()]))


def _locked(draw: random.Random) -> str:
    base64 = _drawn(draw, ALNUM + "+/", 86) + "=="
    lines = [
        '      "integrity": "sha512-{0}",',
        "    resolution: {{integrity: sha512-{0}}}",
        "    --hash=sha256:{1} \\",
        'checksum = "{1}"',
        "{3} v1.2.3 h1:{2}=",
        '{{file = "{3}-1.2.3.tar.gz", hash = "sha256:{1}"}},',
        '      "resolved": "https://r.example/{3}/-/{3}-1.2.3.tgz#{4}",',
        '  "narHash": "sha256-{2}=",',
    ]
    hashes = _drawn(draw, HEX, 64), base64[:43], _word(draw), _drawn(draw, HEX, 40)
    return draw.choice(lines).format(base64, *hashes)


def _prose(draw: random.Random) -> str:
    return draw.choice(_SENTENCES).format(_word(draw), draw.randint(2, 90), _word(draw))


def _drawn(draw: random.Random, alphabet: str, length: int) -> str:
    return "".join(draw.choices(alphabet, k=length))


_WORDS: Final = (
    *(
        "auth",
        "token",
        "tokens",
        "secret",
        "secrets",
        "password",
        "passwords",
        "key",
        "keys",
        "login",
        "session",
    ),
    *(
        "account",
        "reset",
        "service",
        "config",
        "index",
        "client",
        "server",
        "store",
        "cache",
        "queue",
        "worker",
    ),
    *(
        "model",
        "view",
        "router",
        "schema",
        "migration",
        "test",
        "fixture",
        "parser",
        "buffer",
        "stream",
        "socket",
    ),
    *(
        "canvas",
        "widget",
        "button",
        "dialog",
        "menu",
        "layout",
        "theme",
        "locale",
        "invoice",
        "order",
        "cart",
    ),
    *("product", "customer", "payment", "refund", "report", "export", "backup", "deploy", "release", "build"),
)
_SENTENCES: Final = (
    "The password must have at least {1} characters and is checked against the {0}.",
    "A token expires after {1} minutes; ask the {0} for a new one, and never log it.",
    "Pass the API key as a header, not in the {0}, and rotate it every {1} days.",
    "If the secret is missing, the {0} refuses to start and says which key it wanted.",
    "We count {1}k input tokens and {1}k output tokens per {0}, so max_tokens is too low.",
    "def test_{0}_token_is_rejected_after_{1}_attempts(client, password): ...",
    "The {0} reads `API_KEY` from the environment: `os.environ['API_KEY']` or `process.env.API_KEY`.",
    "Set PASSWORD=<your-password> in `.env`, GITHUB_TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}} in the workflow.",
    "The primary key of {0} is (id, {2}_id); the foreign key points to {2}.id, see section {1}.",
    "TODO({0}): the credentials of the {2} are hard-coded in {1} places, move them to the vault.",
    "- [ ] reset the password of the {0} user, then sign in with the new password and check the {2} token",
    "Authentication failed: invalid token for {0} (attempt {1} of 99), please check your credentials.",
)
