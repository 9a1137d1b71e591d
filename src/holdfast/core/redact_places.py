"""Places: secrets that are known by where they stand, not by a name or a form.

Passwords in URLs, paths that are secrets themselves, `Bearer …`, flags of command lines.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from holdfast.core import redact_values as values
from holdfast.core.redact_page import Page
from holdfast.core.redact_spans import Rank, Span

_URL: Final = re.compile(
    r""":\\?/\\?/(?:
        [^\s/:@"'`<>\\]{0,200} (?:@[\w.-]{1,100})? :(?P<url_password>[^\s/"'`<>\\]{1,300})@(?=[\w\[.-])
      | (?P<url_token>[\w.~-]{20,300})@(?=[\w-]{1,60}\.)
      | hooks\.slack(?:-gov)?\.com\\?/\w{6,10}\\?/(?P<slack_webhook>T[\w/\\-]{20,120})
    )""",
    re.ASCII | re.VERBOSE,
)
_LONGEST_AUTHORITY: Final = 600
# Who binds to a directory with a name and a password gives them as arguments after its address.
_BIND: Final = re.compile(
    r"""://[^"'\n]{1,200}["'],\s{0,40}["'][^"'\n]{1,100}["'],\s{0,40}["'](?P<password>[^"'\s]{4,100})["']"""
)
# Addresses that are signed, so that whoever has one may use it.
_SIGNED: Final = re.compile(
    r"[?&](?:amp;)?(?:x-(?:amz|goog)-)?sig(?:nature)?=(?P<url_signature>[\w%+/=~-]{20,600})",
    re.ASCII | re.IGNORECASE,
)
# What stands before the host of a Go data source: `me:password@tcp(host:3306)`.
_BEFORE_PROTOCOL: Final = re.compile(r"[\w.-]{1,60}:(?P<url_password>[^\s:@\"'`]{3,100})\Z", re.ASCII)


def in_urls(page: Page) -> Iterator[Span]:
    """Passwords and tokens before a host, a directory's after its address, signatures in a query."""
    text, lower = page.text, page.lower
    for place in _places(lower, b"://"):
        end = place + _LONGEST_AUTHORITY
        if lower.find(b"@", place, end) >= 0 or lower.startswith(b"hooks", place + 3):
            yield from _told(_URL.match(text, place))
        if lower.find(b"sig", place, end) >= 0:
            yield from _told(_SIGNED.search(text, place, end))
        if lower.startswith(b"ldap", place - 4):
            yield from _told(_BIND.match(text, place))


def before_hosts(page: Page) -> Iterator[Span]:
    """Passwords before an @ without `://` in sight: of a Go data source, or where JSON escapes slashes."""
    text, lower = page.text, page.lower
    for place in _places(lower, b"@"):
        if lower.startswith((b"tcp(", b"unix("), place + 1):
            yield from _told(_BEFORE_PROTOCOL.search(text, max(0, place - 170), place))
        escaped = lower.rfind(b":\\/\\/", max(0, place - _LONGEST_AUTHORITY), place)
        if escaped >= 0:
            yield from _told(_URL.match(text, escaped))


def _told(found: re.Match[str] | None) -> Iterator[Span]:
    """The one group that a pattern caught, under its name as kind."""
    if found and found.lastgroup and not values.REFERENCE.match(found[found.lastgroup]):
        yield Span(*found.span(found.lastgroup), found.lastgroup.replace("_", "-"), Rank.PLACE)


def _places(where: bytes, what: bytes) -> Iterator[int]:
    place = where.find(what)
    while place >= 0:
        yield place
        place = where.find(what, place + len(what))


_BEARER: Final = re.compile(
    r"""bearer
        (?: [ \t]{1,4} | %20 | ,[ ]{0,2}(?=["']) | \\?["'],[ \t]{0,2} | (?:\\?["'])?[ \t]{0,2}[:=][ \t]{0,2} )
        \\?["']?(?P<value>[A-Za-z0-9._~+/%-]{8,8000}={0,2})""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
_BASIC: Final = re.compile(
    r"basic[ ]{1,3}(?P<value>[A-Za-z0-9+/]{8,2000}={0,2})(?![\w+/])", re.ASCII | re.IGNORECASE
)


def bearer_tokens(page: Page) -> Iterator[Span]:
    """Tokens behind `Bearer`."""
    for place in _places(page.lower, b"bearer"):
        found = _BEARER.match(page.text, place)
        if found and values.looks_random(found["value"]):
            yield Span(*found.span("value"), "bearer-token", Rank.PLACE)


def basic_credentials(page: Page) -> Iterator[Span]:
    """Names and passwords in base64 behind `Basic`."""
    for place in _places(page.lower, b"basic "):
        found = _BASIC.match(page.text, place)
        if found and _is_pair(found["value"]):
            yield Span(*found.span("value"), "auth", Rank.PLACE)


def _is_pair(encoded: str) -> bool:
    """Whether it is `user:password` in base64."""
    try:
        pair = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in pair and pair.isascii() and pair.decode("ascii").isprintable()


# Credentials on command lines whose flags do not say that they hold one: the flag, and the commands it is
# a credential for. `-p` of most programs is a port or a path.
_FLAG_ANCHOR: Final = re.compile(rb" -(?:p|u|a |w |-user|-proxy-user)")
_FLAGS: Final = re.compile(
    r"""[ ](?:
        (?:-u[ ]?|--(?:proxy-)?user[ =])["']?[^\s:"'$]{1,100}:(?P<curl>[^\s"']{3,200})
      | -p[ =:]?["']?(?P<p>[^\s"'$<-][^\s"']{2,200})
      | -a[ ]["']?(?P<redis>[^\s"'$<-][^\s"']{2,200})
      | -w[ ]["']?(?P<ldap>[^\s"'$<-][^\s"']{2,200})
    )""",
    re.ASCII | re.VERBOSE,
)
_COMMANDS: Final = {
    "curl": re.compile(r"\b(?:curl|wget|https?|xh) "),
    # A space after mysql's `-p` means that it asks, so only the joined form is a password there.
    "p": re.compile(
        r"""\b(?:(?:mysql|mariadb)[\w-]{0,10}[ ](?=.{0,400}-p\S)
          | (?:sshpass|psexec(?:64)?(?:\.exe)?|mongo\w{0,10}|7za?)\b
          | (?:docker|podman|nerdctl|buildah|skopeo|crane|helm|oc|az)[ ].{0,40}login\b)""",
        re.IGNORECASE | re.VERBOSE,
    ),
    "redis": re.compile(r"\bredis-cli\b"),
    "ldap": re.compile(r"\bldap\w{3,10}\b"),
}
_LOOK_BACK: Final = 400


def in_commands(page: Page) -> Iterator[Span]:
    """Credentials behind flags that only the command makes one: `mysql -p…`, `curl -u user:…`."""
    for anchor in _FLAG_ANCHOR.finditer(page.lower):
        found = _FLAGS.match(page.text, anchor.start())
        if found and found.lastgroup and not values.stands_for_another(found[found.lastgroup]):
            before = page.text[max(0, found.start() - _LOOK_BACK) : found.end()]
            if _COMMANDS[found.lastgroup].search(before.replace("\\\n", "  ").rpartition("\n")[2]):
                yield Span(*found.span(found.lastgroup), "password", Rank.PLACE)


_IDENTIFIED: Final = re.compile(
    r"""identified[ ]by[ ](?:password[ ])?["'](?P<password>[^"'\s]{3,200})["']""", re.IGNORECASE
)


def in_statements(page: Page) -> Iterator[Span]:
    """Passwords that SQL sets without calling them so: `CREATE USER me IDENTIFIED BY '…'`."""
    for place in _places(page.lower, b"identified by"):
        yield from _told(_IDENTIFIED.match(page.text, place))


# A password as a system keeps it: whoever has it can try passwords at home.
_HASH: Final = re.compile(
    r"""\$(?: (?:1|2[abxy]?|5|6|7|8|9|g?y|apr1|sha1|argon2(?:id|i|d)|pbkdf2[\w-]{0,20})\$[\w./+=,$-]{20,3000}
            | krb5\w{3,12}\$[\w./+=,$@:*-]{20,3000} )""",
    re.ASCII | re.VERBOSE,
)


def password_hashes(page: Page) -> Iterator[Span]:
    """Hashed passwords, which show by their beginning how they were made: `$2b$12$…`."""
    for place in _places(page.flat, b"$"):
        if page.flat[place + 1 : place + 2] in _HASHES and (found := _HASH.match(page.text, place)):
            yield Span(*found.span(), "password-hash", Rank.PLACE)


_HASHES: Final = frozenset(b"%c" % sign for sign in b"1256789agkpsy")
