"""Before: what the words before a long random run say of it.

`DATADOG: 9f86…`, a line that ends in "this password:", `/token/…` in a path, or simply a name that says key
somewhere near it (`var acmeToken string = "…"`, `[acme api key] …`), whatever the language. The run itself
has no form that anyone has published; see `core.redaction.shapes` for those that have.
"""

import re
import string
from typing import Final

from holdfast.core.redaction.documents import goes_on
from holdfast.core.redaction.names import announced_by, announces_if_random
from holdfast.core.redaction.randomness import is_code_name, is_drawn, is_hex, is_mixed, is_scrambled
from holdfast.core.redaction.services import PROVIDERS
from holdfast.core.redaction.shapes import TOKEN_CHARACTERS
from holdfast.core.text.patterns import compiled

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
        said = _SAID.search(before) if any(word in lower for word in _SAID_WORDS) and is_mixed(run) else None
        return said.lastgroup if said else None
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
    found = _AFTER.match(text, end)
    word = _SECRET_WORD.search(found["words"].lower()) if found else None
    if found is None or word is None or (not run.isalnum() and _is_named_thing(run)):
        return None
    words = found["words"]
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
    found = _NAME_BEFORE.search(line, 0, place)
    return _DECLARED.sub("", found[0]) if found else ""


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


_SAID: Final = re.compile(
    r"""(?: \b(?: (?P<password>password|passwd|pwd) | (?P<token>token)
                | (?P<key>(?:api|access|secret)[ _-]?key) )[ ]["'`]?
          | (?P<secret>\bsecrets?[ ](?:set|put|add|create)[ ].{0,50}[ ]["']?) )\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_SAID_WORDS: Final = ("pass", "pwd", "token", "key", "secret")
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
