"""By place: secrets that are known by where they stand or which call takes them, not by a name or a form."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import values
from holdfast.core.redaction.names import Proof
from holdfast.core.redaction.prefilter import Rule
from holdfast.core.redaction.spans import Rank, Span

_URL: Final = re.compile(
    r""":\\?/\\?/(?:
        (?P<token>[\w.~-]{20,300}):x-oauth-basic@
      | [^\s/:@"'`<>\\]{0,200} (?:@[\w.-]{1,100})? :(?P<url_password>[^\s/"'`<>\\]{1,300})@(?=[\w\[.-])
      | (?P<url_token>[\w.~-]{20,300}|(?=[A-Za-z]{0,30}\d)(?=[\da-z]{0,30}[A-Z])[A-Za-z0-9]{16,19})
        @(?=[\w-]{1,60}\.)
    )""",
    re.ASCII | re.VERBOSE,
)
_LONGEST_AUTHORITY: Final = 600
# Who binds to a directory with a name and a password gives them as arguments after its address.
_BIND: Final = re.compile(
    r"""ldap://[^"'\n]{1,200}["'],\s{0,40}["'][^"'\n]{1,100}["'],\s{0,40}["'](?P<password>[^"'\s]{4,100})["']""",
    re.IGNORECASE,
)
# Addresses that are signed, so that whoever has one may use it.
_SIGNED: Final = re.compile(
    r"sig(?:nature)?=(?P<url_signature>[\w%+/=~-]{20,600})",
    re.ASCII | re.IGNORECASE,
)
# What stands before the host of a Go data source: `me:password@tcp(host:3306)`.
_BEFORE_PROTOCOL: Final = re.compile(r"[\w.-]{1,60}:(?P<url_password>[^\s:@\"'`]{3,100})\Z", re.ASCII)
# The same of others who write no protocol: `sqlplus me/password@db`, `me:password@host`.
_BEFORE_NAME: Final = re.compile(
    r"""(?: (?:sqlplus[ ][^\n"']{0,40}?|thin:)[\w.]{1,60}/(?P<oracle>[^\s/@"'`]{3,100})
          | (?:\A|[\s"'`=])[\w.-]{1,40}:(?P<pair>[^\s:/@"'`]{8,100}) )\Z""",
    re.ASCII | re.VERBOSE,
)


def _before_host(text: str, place: int) -> Iterator[Span]:
    """Passwords and tokens before an @, with the `://` of an address before them or without."""
    start = max(0, place - _LONGEST_AUTHORITY)
    # A sign that parts fields may be all that stands there.
    word = text[start:place].rsplit(None, 1)[-1:]
    if not (word and ":" in word[0]) and "sqlplus" not in text[max(0, place - 170) : place]:
        return
    if text.startswith(("tcp(", "unix("), place + 1):
        yield from _matched_group(_BEFORE_PROTOCOL.search(text, max(0, place - 170), place))
    elif named := _BEFORE_NAME.search(text, max(0, place - 170), place):
        value = named[named.lastgroup or 0]
        if named["oracle"] or values.is_made_up(value):
            yield Span(*named.span(named.lastgroup or 0), "url-password", Rank.PLACE)
    for sign in _ADDRESS_SIGNS:
        address = text.rfind(sign, start, place)
        if address >= 0:
            yield from _matched_group(_URL.match(text, address))


_ADDRESS_SIGNS: Final = ("://", ":\\/\\/")


_HOOK: Final = re.compile(
    r"""hooks\.(?: slack(?:-gov)?\.com\\?/\w{6,10}\\?/(?P<slack_webhook>T[\w/\\-]{20,120})
               | zapier\.com\\?/hooks\\?/catch\\?/(?P<zapier_webhook>\d{1,12}\\?/[\w/\\-]{5,60}) )""",
    re.ASCII | re.VERBOSE,
)


def _hooked(text: str, place: int) -> Iterator[Span]:
    """Addresses that anyone who knows them may post to."""
    yield from _matched_group(_HOOK.match(text, place))


def _signed(text: str, place: int) -> Iterator[Span]:
    """Signatures in the query of an address."""
    yield from _matched_group(_SIGNED.match(text, place))


def _bound(text: str, place: int) -> Iterator[Span]:
    """The password of a directory, after its address."""
    yield from _matched_group(_BIND.match(text, place))


def _matched_group(match: re.Match[str] | None) -> Iterator[Span]:
    """The one group that a pattern caught, under its name as kind."""
    if match and match.lastgroup and not values.REFERENCE.match(match[match.lastgroup]):
        yield Span(*match.span(match.lastgroup), match.lastgroup.replace("_", "-"), Rank.PLACE)


_BEARER: Final = re.compile(
    r"""bearer
        (?: [ \t]{1,4} | %20 | ,[ ]{0,2}(?=["']) | \\?["'],[ \t]{0,2} | (?:\\?["'])?[ \t]{0,2}[:=][ \t]{0,2} )
        \\?["']?(?P<value>[A-Za-z0-9._~+/%-]{8,8000}={0,2})""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
_BASIC: Final = re.compile(
    r"basic[ ]{1,3}(?P<value>[A-Za-z0-9+/]{8,2000}={0,2})(?![\w+/])", re.ASCII | re.IGNORECASE
)


def _bearer_token(text: str, place: int) -> Iterator[Span]:
    """Tokens behind `Bearer`."""
    match = _BEARER.match(text, place)
    if match and values.looks_random(match["value"]):
        yield Span(*match.span("value"), "bearer-token", Rank.PLACE)


def _basic_credentials(text: str, place: int) -> Iterator[Span]:
    """Names and passwords in base64 behind `Basic`."""
    match = _BASIC.match(text, place)
    if match and _is_pair(match["value"]):
        yield Span(*match.span("value"), "auth", Rank.PLACE)


def _is_pair(encoded: str) -> bool:
    """Whether it is `user:password` in base64."""
    try:
        pair = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in pair and pair.isascii() and pair.decode("ascii").isprintable()


_IDENTIFIED: Final = re.compile(
    r"""identified[ ](?:with[ ]\w{1,40}[ ])?by[ ](?:password[ ])?["'](?P<password>[^"'\s]{3,200})["']""",
    re.IGNORECASE,
)


def _identified(text: str, place: int) -> Iterator[Span]:
    """Passwords that SQL sets without calling them so: `CREATE USER me IDENTIFIED BY '…'`."""
    yield from _matched_group(_IDENTIFIED.match(text, place))


# A password as a system keeps it: whoever has it can try passwords at home.
_HASH: Final = re.compile(
    r"""\$(?: (?:[15-9PH]|2[abxy]?|g?y|apr1|sha1|argon2(?:id|i|d)|pbkdf2[\w-]{0,20})\$[\w./+=,$-]{20,3000}
            | (?:(?<=pbkdf2_sha1\$)|(?<=pbkdf2_sha256\$)|(?<=pbkdf2_sha512\$))\d{4,7}\$[\w./+=$-]{20,300}
            | krb5\w{3,12}\$[\w./+=,$@:*-]{20,3000} )""",
    re.ASCII | re.VERBOSE,
)


def _hashed(text: str, place: int) -> Iterator[Span]:
    """Hashed passwords, which show by their beginning how they were made: `$2b$12$…`."""
    if match := _HASH.match(text, place):
        yield Span(*match.span(), "password-hash", Rank.PLACE)


_PGPASS: Final = re.compile(
    r":(?:5432|\*):[\w*.-]{1,60}:[\w*.-]{1,60}:(?P<password>[^\s:\"'\\]{4,100})(?=[\s\\\"']|\Z)", re.ASCII
)


def _in_pgpass(text: str, place: int) -> Iterator[Span]:
    """The last part of a line of .pgpass."""
    yield from _matched_group(_PGPASS.match(text, place))


PLACE_RULES: Final = (
    Rule(b":5432:", rb"[\w*]", _in_pgpass),
    Rule(b":*:", rb"[\w*]", _in_pgpass),
    Rule(b"@", rb"""(?<=[^\s"'`(<\[{/,]@)[\w\[./-]""", _before_host),
    Rule(b"sig", rb"(?:nature)?=", _signed),
    Rule(b"ldap://", b"", _bound),
    Rule(b"hooks.", rb"(?:slack|zapier)", _hooked),
    Rule(b"bearer", b"", _bearer_token),
    Rule(b"basic ", b"", _basic_credentials),
    Rule(b"identified ", rb"(?:by|with)\ ", _identified),
    Rule(b"$", rb"(?:[125-9]\$|g?y\$|[ph]\$|2[abxy]\$|apr1|sha1|argon|pbk|krb5|\d{4,7}\$)", _hashed),
)


_STRING: Final = r"""\\{0,3}["'`](?P<value>[^"'`\s\\]{4,200})\\{0,3}["'`]"""
_ANY_STRING: Final = r"""\\{0,3}(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')"""
_SIGNED_CALLS: Final = re.compile(
    rf"""(?: jwt\.(?:sign|verify|encode|decode)\([^"'`\n()]{{1,160}}(?:\([^"'`\n()]{{0,60}}\))?,\s{{0,40}}
           | fernet\( | (?:aes|des3?|arc4|chacha20)\.new\(
           | hmac(?:\.new|[\w.]{{0,24}})\(\s{{0,40}}(?:{_ANY_STRING},\s{{0,40}})? )
        b?{_STRING}""",
    re.VERBOSE | re.IGNORECASE,
)
_CIPHERED: Final = re.compile(rf"cipheriv\({_ANY_STRING},\s{{0,40}}{_STRING}", re.IGNORECASE)
_CONNECTED: Final = re.compile(
    rf"""(?:connect\w{{0,6}}|pdo)\(\s{{0,40}}(?:[^,()"'\n]{{1,80}}|{_ANY_STRING}),\s{{0,40}}{_ANY_STRING},\s{{0,40}}{_STRING}""",
    re.VERBOSE | re.IGNORECASE,
)


def _signed_call(text: str, place: int) -> Iterator[Span]:
    yield from _secret_value(_SIGNED_CALLS.match(text, place), "secret")


def _ciphered(text: str, place: int) -> Iterator[Span]:
    """The key of a cipher that is made: `createCipheriv("aes-256-cbc", "…", iv)`."""
    yield from _secret_value(_CIPHERED.match(text, place), "key")


def _connected(text: str, place: int) -> Iterator[Span]:
    yield from _secret_value(_CONNECTED.match(text, place), "password")


def _secret_value(match: re.Match[str] | None, kind: str) -> Iterator[Span]:
    if match and values.is_secret(match["value"], Proof.NONE):
        yield Span(*match.span("value"), kind, Rank.PLACE)


CALL_RULES: Final = (
    Rule(b"jwt.", rb"[sved][a-z]{3,5}\(", _signed_call),
    Rule(b"hmac", rb"[\w.]{0,24}\(", _signed_call),
    Rule(b"fernet(b", rb"""["']""", _signed_call),
    Rule(b"aes.new(b", rb"""["']""", _signed_call),
    Rule(b"cipheriv(", rb"""["']""", _ciphered),
    Rule(b"pdo(", rb"""[^\n]{0,200}["']""", _connected),
    Rule(b"connect", rb"""\w{0,6}\([^\n]{0,200}["']""", _connected),
)
