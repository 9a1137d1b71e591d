"""By shape: long stretches of token characters, and which are keys, by their form and the words before."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import forms
from holdfast.core.redaction.blocks import NO_LINES, NO_MORE_LINES, EncodedDocument, documents, goes_on
from holdfast.core.redaction.forms import LED, SIGNED, TOKEN_CHARACTERS
from holdfast.core.redaction.names import PROVIDERS, announced_by, announces_if_random
from holdfast.core.redaction.prefilter import TextPage
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import is_code_name, is_drawn, is_hex, is_mixed, is_scrambled
from holdfast.core.redaction.views import encoded_at
from holdfast.core.text.lazy_patterns import compiled

_SIGNS: Final = frozenset("\"'`=: /\n")
_BINDS: Final = frozenset(":=>,(")
_QUOTES: Final = " \t\"'`\\"
_LOOK_BACK: Final = 120
_SHORTEST_BEFORE: Final = 20
# What is most often said of long random runs, and never of a key.
_NAMES_OF_HASHES: Final = frozenset(
    "sha sha1 sha256 sha384 sha512 md5 hash h1 integrity checksum digest commit ref index id uuid key".split()
)
# What stands where nothing but a secret can.
_SURE: Final = frozenset(("private-key", "cookie"))


def announced_before(text: str, start: int, run: str) -> str | None:
    """The kind of secret that this run is, by what stands before it; None if nothing there says so."""
    sign = text[start - 1 : start]
    if sign not in _SIGNS:
        return None
    if len(run) < _SHORTEST_BEFORE:
        return None
    before = text[max(0, start - _LOOK_BACK) : start]
    kind = _BY_SIGN[sign](before) if sign in _BY_SIGN else _by_name(text, start, before, run)
    # What costs most is asked last: before most runs nothing says that they are a secret.
    if kind is None or (not run.isalnum() and _is_named_thing(run)):
        return None
    return kind if kind in _SURE or is_scrambled(run) or is_drawn(run) else None


def _by_name(text: str, start: int, before: str, run: str) -> str | None:
    name = before.rstrip(_QUOTES)
    if name[-1:] not in _BINDS:
        # Plain searches first: the pattern is slow, and there is a word of it before few runs.
        lower = before.lower()
        announcement = (
            _ANNOUNCEMENT.search(before)
            if any(word in lower for word in _ANNOUNCEMENT_WORDS) and is_mixed(run)
            else None
        )
        return announcement.lastgroup if announcement else None
    if "ookie" in before and _COOKIE.search(before):
        return "cookie"
    name = name.rstrip(_QUOTES + ":=>,](")
    name = name[len(name.rstrip(TOKEN_CHARACTERS)) :]
    if name in _NAMES_OF_HASHES:
        return None
    if name in _PARTS_OF_KEY:
        return _by_key_object(text, start)
    if name == "code":
        return "key" if "azurewebsites" in before else None
    return announces_if_random(name)


def announced_nearby(text: str, start: int, run: str) -> str | None:
    """The kind of secret that this run is, by the nearest name in its line; None if that says nothing of it.

    Between the two may stand whatever a language puts there, but no word that says what else the run is.
    """
    if text[start - 1 : start] not in _BEFORE_VALUES:
        return None
    line = _line_before(text, start)
    words = list(_SECRET_WORD.finditer(line.lower())) if line.isascii() else []
    if not words or (not run.isalnum() and _is_named_thing(run)):
        return None
    word = words[-1]
    between = _WORDS.findall(line, word.end())
    if len(between) > _MOST_BETWEEN or not _OTHER_RUNS.isdisjoint(map(str.lower, between)):
        return None
    announced = announced_by(_words_before(line, word.start()) + line[word.start() : word.end()])
    if announced is None or not (is_scrambled(run) or is_drawn(run)):
        return None
    if is_hex(run.replace("-", "")):
        # Hashes and ids look the same, so the name must say more, or be bound to it.
        if announced.opens:
            return announced.kind if len(between) <= _MOST_BEFORE_HASHES else None
        return announced.kind if len(run) >= 32 and _BOUND.fullmatch(line, word.end()) else None
    return announced.kind if announced.opens or is_mixed(run) or len(run) >= _LONG else None


def announced_after(text: str, end: int, run: str) -> str | None:
    """The kind of secret that this run is, by what the rest of its line says of it: `…` as the API key."""
    match = _AFTER.match(text, end)
    word = _SECRET_WORD.search(match["words"].lower()) if match else None
    if match is None or word is None or (not run.isalnum() and _is_named_thing(run)):
        return None
    words = match["words"]
    before = _WORDS.findall(words, 0, word.start())
    if len(before) > _MOST_BETWEEN or not _OTHER_RUNS.isdisjoint(
        map(str.lower, _WORDS.findall(words, 0, word.end()))
    ):
        return None
    announced = announced_by(_words_before(words, word.start()) + words[word.start() : word.end()])
    if announced is None or not announced.opens or not (is_scrambled(run) or is_drawn(run)):
        return None
    return announced.kind


_AFTER: Final = re.compile(
    r"""={0,2}["'`)\]};,]{0,6}[ \t]{0,3}
        (?:(?://|\#|--|/\*|<!--)[ \t]{0,3}|(?:as|is)[ ](?:the|a|an|my|our|your|its|their|this)[ ])
        (?P<words>[A-Za-z][\w -]{0,60})""",
    re.ASCII | re.VERBOSE,
)


def _is_named_thing(run: str) -> bool:
    """Whether it is a path, the name of a file or a release, or a member of something: words, not a value."""
    if "/" in run and _PATH.search(run):
        return True
    parts = _PARTS.split(run)
    if sum(len(part) >= 4 and part.isalpha() and part.islower() for part in parts) >= 2:
        return True
    if "." not in run:
        return False
    longest = max(run.split("."), key=len)
    return (
        bool(_EXTENSION.search(run)) or is_code_name(longest) or (longest.isalpha() and not is_drawn(longest))
    )


_PATH: Final = re.compile(r"(?:\A|/)[a-z._-]{3,40}(?:/|\Z)")
_PARTS: Final = re.compile(r"[-._~/]")
_EXTENSION: Final = re.compile(r"\.[a-z]{1,5}\Z")
_BOUND: Final = re.compile(
    r"""[\s"'`\])]{0,4}(?:[:=]{1,2}>?|->|→|,|\||\]|is)[\s"'`(@]{0,6}|\s\{[^\n]{0,30}\}\s=\s["']"""
)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a run is a whole string or word, and its name does not say that it is an id or a hash."""
    if text[start - 1 : start] not in _BEFORE_ALONE or text[end : end + 1] not in _AFTER_VALUES:
        return False
    before = text[max(0, start - _LOOK_BACK) : start]
    if is_named_hash(text, start) or _is_in_document(before) or _is_line_of_base64(text, start, end):
        return False
    named = before.rstrip(_BETWEEN)
    between = before[len(named) :]
    name = named[len(named.rstrip(_OF_NAMES)) :]
    if not name or not 1 <= len(between) <= _LONGEST_BETWEEN:
        return True
    # A word that is merely before it, not bound to it, says less.
    others = _HASHES if between.isspace() else _OTHER_RUNS
    return others.isdisjoint(map(str.lower, _NAME_WORDS.findall(name[-_LONGEST_NAME:])))


# What stands between the name that a value is bound to or stands behind, and the value.
_BETWEEN: Final = string.whitespace + "\"'`:=>([{,|\\"
_LONGEST_BETWEEN: Final = 10
_OF_NAMES: Final = string.ascii_letters + string.digits + "_-"
_LONGEST_NAME: Final = 60


def _is_in_document(before: str) -> bool:
    """Whether what stands before a run is data in an address, or a line of base64 that goes on with it."""
    # Asked first, because the pattern is slow and words stand before most runs.
    rest = before.rstrip(_AFTER_LINES)
    line = rest[-_LINE_OF_DOCUMENT:]
    if " " in line and not line.endswith(("base64", "----", "\\n")):
        return False
    return _DOCUMENT_BEFORE.search(before) is not None


_AFTER_LINES: Final = string.whitespace + "|>,:"
_LINE_OF_DOCUMENT: Final = 60


def is_part_of_path(text: str, start: int, end: int) -> bool:
    """Whether a run is a whole part of the path of an address."""
    if text[start - 1 : start] != "/" or (
        text[end : end + 1] != "/" and text[end : end + 1] not in _AFTER_VALUES
    ):
        return False
    before = text[max(0, start - _LOOK_BACK) : start]
    return end - start <= _LONGEST_PART and _ADDRESS.search(before) is not None


def names_something_open(text: str, start: int, end: int) -> bool:
    """Whether a run is the id of a document or a picture in its address, or the id of a mail."""
    if text[start - 1 : start] == "<" and text[end : end + 1] == "@":
        return True
    if text[start - 1 : start] != "/":
        return False
    part = text[max(0, start - _LONGEST_OPEN) : start].rstrip("/\\").rpartition("/")
    return bool(part[1]) and part[2].lower() in _OPEN_PARTS


_LONGEST_OPEN: Final = 20


_ADDRESS: Final = re.compile(
    r"""(?:https?:\\?/\\?/|\b(?:GET|POST|PUT|PATCH|DELETE)[ ]/)[\w.:@/~%\\-]{0,120}\Z""", re.ASCII
)
_LONGEST_PART: Final = 100
# What is open to whoever is shown it: documents, pictures, what a hash names.
_OPEN_PARTS: Final = frozenset(
    """a address assets b blob build cid commit commits d doc docs document e embed file files folders forms
    img image images ipfs media node objects p pull raw share static store tree tx""".split()
)


def is_named_hash(text: str, start: int) -> bool:
    """Whether what begins here is bound to the name of a hash."""
    if text[max(0, start - _LONGEST_BINDING) : start].rstrip(" \\\"'")[-1:] not in _BINDS_HASH:
        return False
    return _HASH_NAME.search(text, max(0, start - _LONGEST_HASH_NAME), start) is not None


_HASH_NAME: Final = re.compile(
    r"""(?:sha-?\d{1,3}|md5|h1|integrity|checksum|digest|etag|nonce)[\\"']{0,4}[=:-][ ]?[\\"']{0,4}\Z""",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_HASH_NAME: Final = 20
_BINDS_HASH: Final = frozenset("=:-")
_LONGEST_BINDING: Final = 6


def _is_line_of_base64(text: str, start: int, end: int) -> bool:
    """Whether it is as long as the lines that base64 is broken into and a line of its own, or many follow."""
    if text[end : end + 1] not in _ENDS:
        return False
    return (end - start in _LINES_OF_BASE64 and text[start - 1 : start] in _BEGINS) or goes_on(text, end)


_LINES_OF_BASE64: Final = frozenset((60, 64, 70, 72, 76))
_ENDS: Final = frozenset("\r\n\\")
_BEGINS: Final = frozenset(("", *"\n\t >"))


def _line_before(text: str, start: int) -> str:
    """What stands before a run in its line; if that is nothing, the line before, if that goes on."""
    before = text[max(0, start - _LOOK_BACK) : start]
    rest, newline, line = before.rpartition("\n")
    if newline and not line.strip(_MARGIN):
        rest = rest.rstrip()
        return rest.rpartition("\n")[2] if rest.endswith(_GOES_ON) else ""
    return line


def _words_before(line: str, place: int) -> str:
    """What belongs to the name that the word at this place is a part of; how it is declared does not."""
    match = _NAME_BEFORE.search(line, 0, place)
    return _DECLARED.sub("", match[0]) if match else ""


_DECLARED: Final = re.compile(r"\bpublic (?=(?:const|final|override|readonly|required|static|[sS]tring)\b)")
_BEFORE_VALUES: Final = frozenset(("", *"\"'`=: ,(|>[\t\n"))
_BEFORE_ALONE: Final = _BEFORE_VALUES | frozenset("{};!#$&*<@^")
_AFTER_VALUES: Final = frozenset(("", *" .\t\r\n\"'`,;)]}<|\\&:!?@#$%*^([{>"))
# What a run goes on with, or is the first line of: base64 in lines, data in an address.
_DOCUMENT_BEFORE: Final = re.compile(
    r"(?:base64[,:\s]|-{4}\s{1,2}|[A-Za-z0-9+/]{60}(?:\s|\\n){1,2})[\s|>]{0,9}\Z", re.ASCII
)
_NAME_WORDS: Final = re.compile(r"[A-Z]{2,40}(?![a-z])|[A-Z]?[a-z]{1,40}|\d{1,9}", re.ASCII)
_MARGIN: Final = " \t\"'`|>+-*#→" + string.digits
_GOES_ON: Final = tuple(":=>([,\\")
# The word itself with all that is joined to it, and what stands before it: `acme api` of `acme api token_v2`.
_SECRET_WORD: Final = re.compile(
    r"(?:pass(?:word|wd|phrase|code)|secret|token|credential|key|auth|api|pat|pwd|creds?(?![a-z]))[\w-]{0,40}",
    re.ASCII,
)
_NAME_BEFORE: Final = compiled(r"(?:[A-Za-z]{1,20}[ ]){0,2}+[\w.-]{0,40}\Z")
_WORDS: Final = re.compile(r"[A-Za-z]\w{1,99}")
_MOST_BETWEEN: Final = 4
_MOST_BEFORE_HASHES: Final = 2
_LONG: Final = 24
_HASHES: Final = frozenset(
    """address addr blob checksum cid commit commits contract digest etag fingerprint h1 hash hashes id ids
    integrity md5 merge object pick rebase ref revert revision sha sha1 sha256 sha384 sha512 tree tx txid uid
    uuid""".split()
)
# Words that say what a run is where it is no secret.
_OTHER_RUNS: Final = frozenset(
    """address addr anon asset blob block branch build bundle cache chunk checksum commit commits contract
    cursor deployment digest doc etag file fingerprint h1 hash hashes head id ids image index integrity
    kid layer merge md5 message model module name node nonce object package path pid pubkey public
    rebase ref release request revision run sequence session sha sha1 sha256 sha384 sha512 signature
    slug snapshot src tag thread trace tree tx txid url user uid uuid version""".split()
)


def is_service_id(text: str, start: int) -> bool:
    """Whether this UUID stands behind the name of a service that gives out UUIDs as keys."""
    if text[start - 1 : start] not in _SIGNS:
        return False
    name = _last_word(text[max(0, start - 60) : start].rstrip(_QUOTES + ":="))
    if name in _OF_KEYS:
        name = _last_word(text[max(0, start - 60) : text.rindex(name, 0, start)].rstrip(_QUOTES))
    return name.lower() in PROVIDERS


_OF_KEYS: Final = frozenset("auth login key token".split())


def _last_word(text: str) -> str:
    return text[len(text.rstrip(string.ascii_letters)) :]


_ANNOUNCEMENT: Final = re.compile(
    r"""(?: \b(?: (?P<password>password|passwd|pwd) | (?P<token>token)
                | (?P<key>(?:api|access|secret)[ _-]?key) )[ ]["'`]?
          | (?P<secret>\bsecrets?[ ](?:set|put|add|create)[ ].{0,50}[ ]["']?) )\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_ANNOUNCEMENT_WORDS: Final = ("pass", "pwd", "token", "key", "secret")
_COOKIE: Final = re.compile(r"\bcookie\\{0,3}[\"']?: ?[^\n]{0,60}=\Z", re.IGNORECASE)


def _by_line(before: str) -> str | None:
    """What the line before says of one that holds nothing but a run: `Use this password:`."""
    line = before.rstrip().rpartition("\n")[2]
    return "password" if line.endswith(":") and _SAYS_SECRET.search(line) else None


_SAYS_SECRET: Final = re.compile(r"\b(?:password|passphrase|secret|token|api key)\b", re.IGNORECASE)


def _by_path(before: str) -> str | None:
    """What the path of an address says of its next part."""
    if before.lower().endswith(_PATHS):
        return "token"
    webhook = _WEBHOOK.search(before) if "hook" in before else None
    return webhook.lastgroup.replace("_", "-") if webhook and webhook.lastgroup else None


_PATHS: Final = ("/token/", "/tokens/", "/secret/", "/key/", "/apikey/")
# Addresses that anyone who knows them may post to.
_WEBHOOK: Final = re.compile(
    r"""(?: (?P<discord_webhook>/webhooks\\?/\d{1,24}\\?/)
          | (?P<teams_webhook>webhook[\w.]{0,20}/[\w@/-]{0,100})
          | (?P<webhook>/hooks/|://[\w.-]{0,40}hook[\w./-]{0,80}/) )\Z""",
    re.ASCII | re.VERBOSE,
)


def _by_key_object(text: str, start: int) -> str | None:
    """Whether it is a private number of a JSON Web Key, which says of itself what it is with `kty`."""
    line, _, _ = text[start : start + _LONGEST_KEY_OBJECT].partition("\n")
    around = text[max(0, start - _LONGEST_KEY_OBJECT) : start + len(line)]
    return "private-key" if '"kty' in around or '"crv' in around else None


_PARTS_OF_KEY: Final = frozenset("d k p q dp dq qi".split())
_LONGEST_KEY_OBJECT: Final = 4_000
_BY_SIGN: Final = {"/": _by_path, "\n": _by_line}


# One byte for every character that may stand in a key, another for every one that may not.
_TOKEN_CHARACTERS: Final = bytes(
    ord("k") if chr(byte) in forms.TOKEN_CHARACTERS else ord(" ") for byte in range(256)
)
_RUN: Final = b"k" * forms.SHORTEST_RUN
# A longer run is a document in base64: a key in it is found only at its beginning.
_LONGEST_KEY: Final = 400
_LONGEST_MARKED: Final = 20_000
_SHORTEST_INNER: Final = 16
_LONGEST_STRETCH: Final = 20
_LENGTH_OF_UUID: Final = 36


def keys_by_shape(page: TextPage) -> Iterator[Span]:
    """The keys among the runs of a text."""
    text, flat, name_at = page.text, page.flat, _NAME.match
    runs = flat.translate(_TOKEN_CHARACTERS)
    start, of_base64, lines = runs.find(_RUN), documents(text), NO_LINES
    while start >= 0:
        # Asked here, not in a function: most runs are names without a digit, and end at these questions.
        name = name_at(flat, start)
        end = name.end() if name else start
        if name and name.lastindex:
            while lines.end <= start:
                lines = next(of_base64, NO_MORE_LINES)
            if lines.start < start:
                yield from _in_lines(text, lines)
                start = runs.find(_RUN, lines.end)
                continue
            end = runs.find(b" ", max(end, start + forms.SHORTEST_RUN))
            end = len(runs) if end < 0 else end
            yield from _keys_in(page, start, end)
            if document := _DOCUMENT.match(flat, end):
                end = document.end()
        elif (
            text[start : start + 3] in forms.WITHOUT_DIGITS
            or flat[start - 1] in _ESCAPES
            or _LETTERS_BEHIND_PREFIX.match(flat, start, end)
        ):
            yield from _keys_in(page, start, end)
        elif end - start == len(_SECURE_STRING) and page.lower[start:end] == _SECURE_STRING:
            yield from _after_secure_string(text, end)
        start = runs.find(_RUN, end)


# What a run begins with, up to its first digit; the group is there if it has one.
_NAME: Final = compiled(
    b"[%b]*+([0-9])?" % re.escape(forms.TOKEN_CHARACTERS.replace(string.digits, "")).encode()
)
# Letters of both sorts behind a prefix: a key that happens to have no digit.
_LETTERS_BEHIND_PREFIX: Final = compiled(
    rb"[A-Za-z]{2,8}[_-](?=[A-Z]{0,40}[a-z])(?=[a-z]{0,40}[A-Z])[A-Za-z]{24,80}+\Z"
)
# Base64 is broken into runs by plus signs and slashes. What goes on after a plus sign is a document: nothing
# in its middle is a key.
_DOCUMENT: Final = compiled(rb"(?=/?[A-Za-z0-9/]{0,80}\+)[A-Za-z0-9+/]{20,}+={0,2}")
# What a run may begin with that is none of it: the letters of an escaped newline, a percent escape or a
# terminal colour.
_ESCAPES: Final = frozenset(b"\\%[")
_ESCAPE: Final = compiled(r"\\(?:[nrtbf]|u[0-9a-fA-F]{4})|%[0-9A-Fa-f]{2}|\[\d{1,3}m")


def _in_lines(text: str, document: EncodedDocument) -> Iterator[Span]:
    """What is found in a document: a key or a text at the beginning of a line, and private keys."""
    size = document.width - document.margin
    for line in document.lines():
        if known := forms.known_at(text, line):
            yield known
        if _BASE64_OF_TEXT.match(text, line):
            yield Span(line, line + forms.SHORTEST_RUN, ENCODED, Rank.HINT)
    # A line may end in the middle of a mark.
    first = text[document.start - size : document.start]
    joined = first + "".join(text[line : line + size] for line in document.lines())
    for mark in forms.LONG_MARKS:
        if (place := joined.find(mark)) >= 0:
            lines, column = divmod(place, size)
            start = (
                document.start + document.width * (lines - 1) + document.margin
                if lines
                else document.start - size
            )
            yield Span(start + column, document.whole, "private-key", Rank.FORM)


def _keys_in(page: TextPage, start: int, end: int) -> Iterator[Span]:
    """The keys of a run: of known forms, one after the other, and what may hide in the rest."""
    text = page.text
    if page.flat[start - 1] in _ESCAPES and (escape := _ESCAPE.match(text, start - 1)):
        start = escape.end()
    while known := forms.known_at(text, start):
        yield known
        yield from _companion(text, known)
        start = known.end
    if end - start < forms.SHORTEST_RUN:
        return
    if text[start - 1 : start] == "+":
        yield from _in_base64(text, start, text[start:end])
    elif not _NO_KEY.match(text, start, end):
        yield from _hidden(text, start, text[start:end])
    elif _LETTERS_BEHIND_PREFIX.match(page.flat, start, end) and forms.may_be_prefixed_key(text[start:end]):
        yield Span(start, end, "api-key", Rank.HINT)
    elif end - start == _LENGTH_OF_UUID and text[start + 8] == "-":
        run = text[start:end]
        kind = "api-key" if is_service_id(text, start) else announced_nearby(text, start, run)
        if kind := kind or announced_after(text, end, run):
            yield Span(start, end, kind, Rank.HINT)


# Every fourth character of base64 tells whether it encodes ASCII that can be seen.
_BASE64_OF_TEXT: Final = compiled(r"(?:[I-Za-f][A-Za-z0-9]{3}){4}")
ENCODED: Final = "encoded-secret"
"""The kind of what may be base64 of a text that has a secret in it, until somebody has looked."""
# A run without a digit; a date; a UUID; a hash that says so; words and small numbers, as the names of files,
# releases and tests have them.
_NO_KEY: Final = compiled(
    r"""[^0-9]*+\Z | \d{4}-\d\d-\d\d | [0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}- | sha\d{1,3}-
      | (?:[A-Za-z]++|[0-9]{1,4}+(?![0-9A-Za-z]))
        (?:[._~-]++(?:[A-Za-z]++|[0-9]{1,4}+(?![0-9A-Za-z]))?+)*+\Z""",
    re.VERBOSE,
)


def _companion(text: str, known: Span) -> Iterator[Span]:
    """The secret half of a pair, which has no form of its own and stands near the open half."""
    if known.kind == "aws-access-key":
        match = _AWS_SECRET.search(text, known.end, known.end + 200)
        if match and is_mixed(match[0]) and is_scrambled(match[0]):
            yield Span(*match.span(), "aws-secret", Rank.FORM)


_AWS_SECRET: Final = compiled(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def _after_secure_string(text: str, end: int) -> Iterator[Span]:
    """The password that a command of PowerShell, itself as long as a run, takes as it is typed."""
    if value := _SECURE_VALUE.match(text, end):
        yield Span(*value.span("value"), "password", Rank.PLACE)


_SECURE_STRING: Final = b"convertto-securestring"
_SECURE_VALUE: Final = compiled(
    r"""(?:[ ]-[A-Za-z]{1,20}){0,3}+[ ]\\{0,3}["']?(?P<value>[^\s"'$(\\-][^\s"'\\]{3,200})""", re.ASCII
)


def _hidden(text: str, start: int, run: str) -> Iterator[Span]:
    """A key that does not begin where its run begins, or whose beginning says nothing."""
    # A full stop behind it ends a sentence.
    run = run.rstrip(".")
    if _BASE64_OF_TEXT.match(run):
        yield Span(start, start + len(run), ENCODED, Rank.HINT)
    if text[start - 2 : start] in forms.LEADS or run[32:33] == "-":
        yield from filter(None, (forms.forms(LED).match(text, start),))
    if _HASH.match(run):
        if kind := (
            announced_before(text, start, run)
            or announced_nearby(text, start, run)
            or announced_after(text, start + len(run), run)
        ):
            yield Span(start, start + len(run), kind, Rank.HINT)
        return
    if run.partition("_")[0] in forms.IDS and forms.is_id(run):
        return
    if len(run) > forms.SHORTEST_MARKED and _is_marked(run):
        marked = forms.forms(forms.MARKED_FORMS).search(text, start, start + len(run) + _LONGEST_MARKED)
        if marked and marked.start < start + len(run):
            yield marked
    if len(run) <= _LONGEST_KEY:
        yield from _shaped(text, start, run)


def _shaped(text: str, start: int, run: str) -> Iterator[Span]:
    """A key of a general shape, or of a known one that begins inside of its run or before it."""
    end = start + len(run)
    if is_named_hash(text, start) or names_something_open(text, start, end):
        return
    if text[start - 1 : start] in _BASE64_SIGNS or text[end : end + 1] in _BASE64_SIGNS:
        yield from _in_base64(text, start, run)
    if not run.isalnum():
        yield from _inside(text, start, run)
        if forms.is_prefixed_key(run) or forms.has_two_random_halves(run):
            yield Span(start, end, "api-key", Rank.PREFIX)
            return
    if kind := announced_before(text, start, run):
        yield Span(start, end, kind, Rank.HINT)
        return
    first, last = _base64_around(text, start, end)
    if last - first <= _LONGEST_KEY and (
        kind := announced_nearby(text, first, text[first:last])
        or announced_after(text, last, text[first:last])
    ):
        yield Span(first, last, kind, Rank.HINT)
    elif _is_key(text[first:last]) and stands_alone(text, first, last) and not encoded_at(text, first):
        yield Span(first, last, "api-key", Rank.HINT)
    elif is_part_of_path(text, start, end) and (forms.is_key_alone(run) or forms.may_be_prefixed_key(run)):
        yield Span(start, end, "api-key", Rank.HINT)


def _is_key(run: str) -> bool:
    """Whether a whole word or string is a key by its shape."""
    if "+" in run or "/" in run:
        return forms.is_key_of_base64(run)
    return forms.is_key_alone(run) or forms.may_be_prefixed_key(run)


def _base64_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the value begins and ends that signs of base64 have broken into runs, of which this is one."""
    if text[start - 1 : start] in _JOINS_BASE64:
        before = text[max(0, start - _LONGEST_KEY) : start]
        start -= len(before) - len(before.rstrip(_BASE64_CHARACTERS))
        prefix = _PREFIX_BEFORE.search(text, max(0, start - _LONGEST_PREFIX), start)
        if prefix and not forms.is_id(prefix[0]):
            start = prefix.start()
    more = _MORE_BASE64.match(text, end)
    return start, more.end() if more else end


_PREFIX_BEFORE: Final = compiled(r"(?<![\w.-])(?:[A-Za-z0-9]{1,10}[_.-]){1,2}+\Z", re.ASCII)
_LONGEST_PREFIX: Final = 24
_JOINS_BASE64: Final = frozenset("+/")
_BASE64_CHARACTERS: Final = string.ascii_letters + string.digits + "+/"
_MORE_BASE64: Final = compiled(r"(?:[+/][A-Za-z0-9+/]{0,400}+)?={0,2}", re.ASCII)


_HASH: Final = compiled(r"[0-9a-f]++\Z")


def _is_marked(run: str) -> bool:
    """Whether it has one of the marks of keys that begin like anything else."""
    # One plain search after the other is faster here than a pattern of them all.
    for mark in forms.MARKS if len(run) <= _LONGEST_KEY else forms.LONG_MARKS:  # noqa: SIM110
        if mark in run:
            return True
    return False


def _inside(text: str, start: int, run: str) -> Iterator[Span]:
    for inner in _INNER.finditer(run, 0, len(run) - _SHORTEST_INNER):
        if known := forms.known_at(text, start + inner.end()):
            yield known


# After these a key could begin inside of a run.
_INNER: Final = compiled(r"[_.~-]")


def _in_base64(text: str, start: int, run: str) -> Iterator[Span]:
    """A key of base64 that a slash or a plus sign breaks into runs, of which this is the first."""
    before = text[max(0, start - _LONGEST_STRETCH - 2) : start]
    rest = before.rstrip(_BASE64)
    # The first letter after a backslash is that of an escaped newline.
    first = start - len(before) + len(rest) + rest.endswith("\\")
    if not is_mixed(run):
        return
    if start - first > _LONGEST_STRETCH:
        first, last = _base64_around(text, start, start + len(run))
        if forms.is_key_of_base64(text[first:last]) and stands_alone(text, first, last):
            yield Span(first, last, "api-key", Rank.HINT)
    elif first < start and (known := forms.known_at(text, first)):
        yield known
    elif signed := forms.forms(SIGNED).match(text, first):
        yield signed
    elif text[start - 1 : start] == "+" and first < start:
        first, last = _base64_around(text, start, start + len(run))
        if kind := announced_nearby(text, first, text[first:last]):
            yield Span(first, last, kind, Rank.HINT)
        elif forms.is_key_of_base64(text[first:last]) and stands_alone(text, first, last):
            yield Span(first, last, "api-key", Rank.HINT)


_BASE64: Final = string.ascii_letters + string.digits + "+/-_"
_BASE64_SIGNS: Final = frozenset("+/=")
