"""Commands: credentials on a command line, where neither a name nor a form tells, but the command does.

`mysql -p…`, `curl -u user:…`, `echo … | sudo -S`. A flag that says itself what it takes, as `--password`
does, is `core.redaction.sentences`'s work.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from holdfast.core.redaction import values
from holdfast.core.redaction.names import Proof
from holdfast.core.redaction.prefilter import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import is_drawn
from holdfast.core.text.lazy_patterns import compiled

# How a value follows its flag: as the next word, or the next string of a list; right after it; or as the
# second half of a pair.
_NEXT: Final = r"""(?:[ =]|\\{0,3}["'],\s{0,20})\\{0,3}["']?"""
_WORD: Final = _NEXT + r"""(?P<value>[^\s"'$<-][^\s"'\\]{2,200})"""
_JOINED: Final = r"""\\{0,3}["']?(?P<value>[^\s"'$<=,-][^\s"'\\]{2,200})"""
_PAIR: Final = rf"""(?:{_NEXT})?[^\s:"'$]{{0,100}}:(?P<value>[^\s"'\\]{{3,200}})"""
_USER_ALONE: Final = _NEXT + r"""(?P<value>(?=[A-Za-z._~+/-]{0,60}\d)[\w.~+/=-]{20,200}):(?=[\s"'\\]|\Z)"""
_COMMA: Final = _NEXT + r"""[^\s,"'$]{1,100},(?P<value>[^\s"'\\]{3,200})"""
_PERCENT: Final = _NEXT + r"""[^\s%"'$]{1,100}%(?P<value>[^\s"'\\]{3,200})"""
_COOKIE: Final = _NEXT + r"""[\w.-]{2,60}=(?P<value>[\w%.~+/=-]{16,800})"""

# (flags, how the value follows, the commands that take a credential there). For most others `-p` is a port or
# a path.
_FLAGS: Final = (
    # A space after mysql's `-p` means that it asks, so only the joined form is a password there.
    ("-p", _JOINED, r"mysql[\w-]{0,10}|mariadb[\w-]{0,10}|sshpass|7za?|rar|unrar|psexec(?:64)?(?:\.exe)?"),
    ("-p", _WORD, r"sshpass|psexec(?:64)?(?:\.exe)?|mongo\w{0,10}|rdesktop|evil-winrm|crackmapexec|netexec"),
    ("-p", _WORD, r"nxc|doveadm|hydra|medusa|cqlsh|ncftp\w{0,4}|twine|twilio|security[ ]unlock-keychain"),
    ("-p", _WORD, r"(?:docker|podman|nerdctl|buildah|skopeo|crane|helm|oc|az|cf)[ ].{0,40}login"),
    ("-P", _WORD, r"zip|unzip|sqlcmd|osql|bcp|ipmitool|mosquitto_\w{2,6}|ssh-keygen|security[ ]import"),
    ("-N", _WORD, r"ssh-keygen"),
    ("-k -K", _WORD, r"openssl"),
    ("-a", _WORD, r"redis-cli"),
    ("-w", _WORD, r"ldap\w{3,10}|security[ ]add-[a-z-]{8,20}"),
    ("-s", _WORD, r"ldappasswd"),
    ("-A -X", _WORD, r"snmp[a-z]{3,10}"),
    ("-pw", _WORD, r"plink|pscp|psftp|putty"),
    ("-xp", _WORD, r"sendemail"),
    ("-t", _WORD, r"doctl[ ]auth|codecov"),
    ("-b --body", _WORD, r"gh[ ]secret[ ]set"),
    ("-b", _JOINED, r"gh[ ]secret[ ]set"),
    ("--value", _WORD, r"secret[ ]set|SecureString|put-parameter|put-secret-value"),
    ("--auth", _WORD, r"netlify"),
    ("-u --user --proxy-user -U", _PAIR, r"curl|wget|https?|xh"),
    ("-a", _PAIR, r"https?|xh"),
    # A service that wants a key and no password takes it as the user.
    ("-u --user -a", _USER_ALONE, r"curl|https?|xh"),
    ("-u", _COMMA, r"lftp"),
    ("-U", _PERCENT, r"smbclient|rpcclient|winexe|wmic|net|pth-\w{3,12}"),
    ("-b --cookie", _COOKIE, r"curl"),
)  # fmt: skip
_LOOK_BACK: Final = 400


@cache
def _taken_by(flag: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """How a value follows this flag, and the commands that take one there; most are never asked for."""
    return tuple(
        (compiled(value), compiled(rf"(?<![\w./-])(?:[\w./-]{{0,60}}/)?(?:{commands})\b", re.IGNORECASE))
        for flags, value, commands in _FLAGS
        if flag in flags.split()
    )


_FLAG: Final = compiled(
    r"""[ "'](?P<flag> -(?:pw|xp|[A-Za-z])(?=[ ="'\\]) | -p(?=\S) | -b(?=") | -u
                     | --(?:user|proxy-user|body|value|auth|cookie)(?=[ ="'\\]) )""",
    re.VERBOSE,
)
# The words of a command are strings of a list in code.
_AS_WORDS: Final = str.maketrans("\"',[]", "     ")


def _flagged(text: str, place: int) -> Iterator[Span]:
    flag = _FLAG.match(text, place)
    if flag is None:
        return
    for value, commands in _taken_by(flag["flag"]):
        match = value.match(text, flag.end())
        if match and not values.stands_for_another(match["value"]):
            # A line goes on after a backslash; in a string its end is an escape.
            before = text[max(0, place - _LOOK_BACK) : place].replace("\\\n", "  ").replace("\\n", "\n")
            if commands.search(before.rpartition("\n")[2].translate(_AS_WORDS)):
                yield Span(*match.span("value"), "password", Rank.PLACE)
                return


_PIPED: Final = compiled(
    r"""echo[ ](?:-n[ ])?
        (?: \\{0,3}["']?(?P<value>[^\s"'$|<>\\]{4,200})\\{0,3}["']? | '(?P<raw>[^\s'\\]{4,200})' )[ ]?
        \|[^\n|]{0,160}?
        (?:\bsudo[ ][^\n|]{0,20}-S\b|--?(?:password|pass)?-?stdin\b|\bchpasswd\b|--with-token\b
         |\bcryptsetup\b|\bsecrets?[ ](?:set|put|add|create)\b)""",
    re.VERBOSE,
)
_HERE: Final = compiled(
    r"""(?:sudo[ ]-S|chpasswd|--with-token|--password-stdin|passwd[ ]--stdin[ ]\w{1,30}|unlock
      |cryptsetup[ ][^\n<>]{0,50}|\b(?:secret|env)s?[ ](?:set|put|add|create)[ ][^\n<>]{0,40})[ ]?\Z"""
)
_HERE_VALUE: Final = compiled(r"""<<<[ ]?\\{0,3}["']?(?P<value>[^\s"'$<>\\]{4,200})""")


def _piped(text: str, place: int) -> Iterator[Span]:
    """What is told to a command that reads a password: `echo … | sudo -S`."""
    yield from _password_in(_PIPED.match(text, place))


def _here(text: str, place: int) -> Iterator[Span]:
    """The same with a here-string: `sudo -S <<< …`."""
    if _HERE.search(text, max(0, place - 60), place):
        yield from _password_in(_HERE_VALUE.match(text, place))


def _password_in(match: re.Match[str] | None) -> Iterator[Span]:
    if match is None or not match.lastgroup or not values.is_given(match[match.lastgroup], Proof.NONE):
        return
    start, end = match.span(match.lastgroup)
    # `user:password`, as chpasswd takes it.
    yield Span(start + match[match.lastgroup].find(":") + 1, end, "password", Rank.PLACE)


# Words of a command line that are followed by a user, and by the user's password.
_POSITIONAL: Final = compiled(
    r"""(?: (?:ht|mosquitto_)passwd(?=[ -]{1,3}[^\n]{0,20}b)(?:[ ]-\w{1,9}){1,4}+
              [ ]\S{1,100}[ ]\S{1,60}
          | htpasswd[ ]-\w{0,4}n\w{0,4}[ ]\S{1,60}
          | (?:change|set)_password[ ]\S{1,60}
          | wpa_passphrase[ ]\S{1,60} )[ ]["']?(?P<value>[^\s"'$<-][^\s"']{3,200})""",
    re.VERBOSE,
)


def positional_at(text: str, start: int) -> Iterator[Span]:
    """The password after a user on the command line that begins here: `htpasswd -b file me …`."""
    match = _POSITIONAL.match(text, start)
    if match and values.is_secret(match["value"], Proof.NONE):
        yield Span(*match.span("value"), "password", Rank.PLACE)


_ENCRYPTED: Final = compiled(
    r"""encrypt_string(?:[ ]--[\w-]{2,40}[ =][^\s"']{1,60}){0,3}+
        [ ]["']?(?P<value>[^\s"'$</-][^\s"']{3,200})""",
    re.VERBOSE,
)


def _encrypted(text: str, place: int) -> Iterator[Span]:
    """What a command is to encrypt: `ansible-vault encrypt_string '…'`."""
    yield from _password_in(_ENCRYPTED.match(text, place))


_LOGIN: Final = compiled(
    r"""login(?:
        # a line of .netrc; a call with a user and a password; `login: me / …`
        (?: \s{1,8}\S{1,100}\s{1,8}password[ \t]{1,8}
          | \(\s{0,20}(?:\\{0,3}["'][^"'\n]{1,100}["']|[\w.]{1,60}),\s{0,20}\\{0,3}["']
          | s?[ ]?[:=][ ]{0,4}[\w.@+-]{2,60}[ ]?/[ ] )
        (?P<password>[^\s"'`<>\\-][^\s"'`<>\\]{3,200}+)
        # vault login, cargo login
      | [ ](?:--?[a-z-]{2,20}[ ]){0,2}+(?P<token>[\w.=+/-]{20,200})(?=\s|["'`]|\Z)
    )""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)


def _logged_in(text: str, place: int) -> Iterator[Span]:
    match = _LOGIN.match(text, place)
    if match is None or not match.lastgroup:
        return
    kind, value = match.lastgroup, match[match.lastgroup]
    if is_drawn(value) if kind == "token" else values.is_secret(value, Proof.NONE):
        yield Span(*match.span(kind), kind, Rank.NAME)


# What a script answers when it is asked for a password: `expect "assword:"`, then `send "…\\r"`.
_ANSWERED: Final = compiled(
    r"""(?:assw|assphrase|passcode|\bpin\b|\botp\b|token|secret)[^\n]{0,60}\n?[ \t]{0,40}\{?\s{0,40}
        (?:\w{1,30}\.)?(?:exp_)?send(?:line|_user)?(?:[ ]-{1,2}\w{0,12}){0,2}+[ ]?[ (]
        [\\"'{]{1,2}(?P<value>[^\s"'\\{}][^"'\n\\{}]{2,100})""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_DIALOGUE: Final = 800


def _answered(text: str, place: int) -> Iterator[Span]:
    # Most that is expected is no dialogue, and the pattern has no literal that is found fast.
    if "send" not in text[place : place + _LONGEST_DIALOGUE].casefold():
        return
    for match in _ANSWERED.finditer(text, place, place + _LONGEST_DIALOGUE):
        if values.is_given(match["value"], Proof.NONE):
            yield Span(*match.span("value"), "password", Rank.PLACE)


# Who logs in as somebody with something says it: `log in as admin with …`, `sign in as me / …`.
_LOGGED_IN_AS: Final = compiled(
    r"""in[ ]as[ ](?:the[ ]|user[ ])?["'`*]{0,2}[\w.@+-]{2,60}["'`*]{0,2}(?:[ ]user)?
        (?:[ ]?[/:,][ ]?|[ ](?:with|using|via|and)[ ])(?:the[ ])?
        (?:(?:password|pass|pwd|pw|passphrase|credentials?|pin|code)[ :=]{1,3})?
        (?P<quote>["'`]?)(?P<value>[^\s"'`<>,;()]{4,100}?)(?P=quote)(?P<end>[.!?]?(?:[\s"',;)]|\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
_LOGS: Final = ("log", "logged", "logging", "sign", "signed", "signing")
# How else people log in.
_METHODS: Final = frozenset(
    """access account admin biometrics both browser cookie cookies credentials default device different email
    empty existing google github gitlab full keys ldap magic microsoft multi none oauth okta other passkey
    passkeys password permissions privileges read root saml same session some their this token tokens two
    valid webauthn your""".split()
)


def _logged_in_as(text: str, place: int) -> Iterator[Span]:
    before = text[max(0, place - 10) : place].rstrip(" -").lower()
    match = _LOGGED_IN_AS.match(text, place) if before.endswith(_LOGS) else None
    if match is None:
        return
    value = match["value"]
    if value.isalpha():
        # A plain word is one only if the sentence ends with it, or if it is quoted.
        is_marked = value.islower() and (bool(match["quote"]) or match["end"][:1] in _ENDS)
        is_secret = is_marked and value not in _METHODS and values.is_secret(value, Proof.NONE)
    else:
        is_secret = values.is_secret(value, Proof.NONE) and not values.is_code(value)
    if is_secret:
        yield Span(*match.span("value"), "password", Rank.PLACE)


_ENDS: Final = frozenset(("", ".", "!", "?", "\n", "\r"))
_TAKES: Final = rb"""(?: p[^\s] | p[ ][^\s-] | (?:pw|xp|[uaswnkxtb])(?:[ =]|\\{0,3}["'],)
                        | u[^\s-] | b" | -(?:user|proxy-user|body|value|auth|cookie)(?:[ =]|\\{0,3}["'],) )"""
COMMAND_RULES: Final = (
    *(Rule(before + b"-", _TAKES, _flagged) for before in (b" ", b'"', b"'")),
    Rule(b"echo ", rb"[^\n|]{4,210}\|[^\n]{0,160}(?:sudo|stdin|chpasswd|with-token|crypt|secret)", _piped),
    Rule(b"<<<", rb"\ ?[^<\s]", _here),
    Rule(b"login", rb"[\s(]|s?[ ]?[:=][ ]{0,4}[\w.@+-]{2,60}[ ]?/[ ]", _logged_in),
    Rule(b"encrypt_string ", rb"\S", _encrypted),
    Rule(b"expect", rb"[^\w]", _answered),
    Rule(b"in as ", rb"[^\n]{2,70}(?:with|using|via|and|[/:,])", _logged_in_as),
)  # fmt: skip
