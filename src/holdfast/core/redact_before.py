"""Before: what the words before a long random run say of it.

`DATADOG: 9f86…`, a line that ends in "this password:", `/token/…` in a path. The run itself has no form that
anyone has published; see `core.redact_shapes` for those that have.
"""

import re
import string
from typing import Final

from holdfast.core.redact_names import announces_if_random
from holdfast.core.redact_random import is_drawn, is_mixed, is_scrambled
from holdfast.core.redact_services import PROVIDERS
from holdfast.core.redact_shapes import TOKEN_CHARACTERS

_SIGNS: Final = frozenset("\"'`=: /\n")
_BINDS: Final = frozenset(":=>,(")
_QUOTES: Final = " \t\"'`\\"
_LOOK_BACK: Final = 120
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
    before = text[max(0, start - _LOOK_BACK) : start]
    kind = _BY_SIGN[sign](before) if sign in _BY_SIGN else _by_name(text, start, before, run)
    # Asked last, because it costs most.
    return kind if kind and (kind in _SURE or is_scrambled(run) or is_drawn(run)) else None


def _by_name(text: str, start: int, before: str, run: str) -> str | None:
    name = before.rstrip(_QUOTES)
    if name[-1:] not in _BINDS:
        said = _SAID.search(before) if is_mixed(run) else None
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
          | (?P<webhook>/hooks/) )\Z""",
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
