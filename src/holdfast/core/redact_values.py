"""Values: whether what stands where a secret would stand can be one.

Judges a value alone: placeholders, references, paths, code and plain names are none. Where it was found, and
what its name announced, comes as an argument.
"""

import re
import string
from typing import Final

from holdfast.core.redact_names import Proof

SHORTEST: Final = 4

# A marker of ours, or what another program will replace by a value.
REFERENCE: Final = re.compile(
    r"""[<\[{*] | \$[\w{(:] | \#\{
      | (?: %[({A-Za-z_][\w)}%]* | @[\w.]+ | &\w+ | ![A-Za-z]+ | \#[0-9a-f]{3,8} | x+ | \.+ )\Z""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
# What keeps a place free: filler, versions, requests to fill it in, types, states.
_BLANK: Final = re.compile(
    r"""(?:
        (?P<same>.)(?P=same){2,}\Z
      | [\^~v]?\d{1,5}(?:\.\d{1,5}){1,3}\Z
      | (?:your|my|the|some|an|any|insert|enter|replace|put|paste|add|set|use|get|see)[\W_].*
      | .*(?:x{4,}|\*{3,}|\.{3}|…).*
      | .*(?:change[\W_]?(?:me|it|this)|your[\W_]|place[\W_]?holder|redacted|dummy|goes[\W_]here).*
      | (?:none|null|nil|true|false|yes|no|on|off|undefined|empty|required|optional|string|str|text|number
         |integer|u?int\d{0,3}|float\d{0,2}|double|char|boolean|bool|bytes|object|any|unknown|hidden|masked
         |todo|tbd|value|n/a|void|self|this|new|current|invalid|valid|missing|wrong|incorrect|custom|inherit
         |fail(?:ed|ure)?|ok|warn(?:ing)?|error|success|utf-?8|base64|sha-?\d{1,3}|md5|[hre]s256)\W*\Z
    )""",
    re.ASCII | re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Words that stand for a secret in examples, and are one where somebody left them as they were.
_EXAMPLE: Final = re.compile(
    r"""(?:secret|password|passwd|passphrase|pass|pwd|token|key|auth|example|credentials?|tests?|testing|foo|bar
         |baz|foobar|default|admin|user|username|root|basic|bearer|oauth2?|fake|sample|demo)\W*\Z""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
_LOCATION: Final = re.compile(
    r"""(?: \.{0,2}/[\w.@-]*(?:/[\w.@*-]+)+/?\Z | \.{1,2}/.* | ~/.* | [A-Za-z]:[\\/].*
          | [a-z][a-z0-9+.-]{1,20}:\\{0,2}/.*
          | [\w.-]+/[\w./-]*\.[a-z]{1,5}(?::\d+)?\W?\Z
          | [\w.:@-]*(?:/[a-z][a-z._-]{2,40}){2}.*
          | [\w-]+\.(?:py|js|tsx?|json|ya?ml|toml|md|go|rs|sh|txt|pem|key|env|gz|zip)(?::\d+)?\Z )""",
    re.ASCII | re.VERBOSE | re.DOTALL,
)
# What stands where a secret would, but is code.
_CODE: Final = re.compile(
    r".*[(){}\[\]|]|[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\Z|.*(?:=>|&&|::|\?\.)",
    re.ASCII | re.DOTALL,
)
# One word or several joined: the name of a thing, of an environment variable.
IDENTIFIER: Final = re.compile(
    r"[A-Za-z]+(?:[_./:-][A-Za-z]+)*\d?\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z", re.ASCII
)
_SPEAKS_OF_SECRETS: Final = re.compile(r"pass|pw|secret|token|key|auth|cred|login|user", re.IGNORECASE)
# Words and small numbers: the name of a release, of a test.
_SLUG: Final = re.compile(r"(?:[A-Za-z]+|v?\d{1,4})(?:[-_.:/](?:[A-Za-z]+|v?\d{1,4}))+\Z", re.ASCII)
_LICENSE: Final = re.compile(r"(?:[A-Z0-9]{4,8}-){3,8}[A-Z0-9]{4,8}\Z", re.ASCII)
_CLASSES: Final = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_LETTERS: Final = frozenset(string.ascii_letters)
_UPPER: Final = frozenset(string.ascii_uppercase)
_LOWER: Final = frozenset(string.ascii_lowercase)
_DIGITS: Final = frozenset(string.digits)
_SIGNS: Final = frozenset("!@#$%^&*?~+")
_HEX: Final = frozenset(string.hexdigits)


def is_secret(value: str, proof: Proof) -> bool:
    """Whether a quoted or shell value can be the secret that its name announces."""
    if len(value) < SHORTEST or any(map(str.isspace, value)) or stands_for_another(value):
        return False
    match proof:
        case Proof.NONE:
            return value.isalnum() or not IDENTIFIER.match(value) or not _SPEAKS_OF_SECRETS.search(value)
        case Proof.DIGITS if is_license(value):
            return True
        case Proof.DIGITS if _SLUG.match(value):
            return False
        case Proof.DIGITS:
            return len(value) >= 8 and not _DIGITS.isdisjoint(value) and not _LETTERS.isdisjoint(value)
        case Proof.RANDOMNESS:
            return looks_random(value)
        case Proof.MACHINE_MADE:
            return len(value) >= 28 and is_mixed(value) and is_scrambled(value)


def is_secret_unquoted(value: str, proof: Proof) -> bool:
    """The same where a bare word may as well be code or prose: there the value must show more."""
    if len(value) < 6 or _CODE.match(value) or not is_secret(value, proof):
        return False
    if IDENTIFIER.match(value):
        return proof is Proof.DIGITS and is_license(value)
    if proof is Proof.NONE:
        return not _LETTERS.isdisjoint(value) or value.isdigit()
    return looks_random(value)


def is_phrase(value: str) -> bool:
    """Whether it is some plain words without a sentence in them, as passphrases are."""
    words = value.split()
    return len(words) >= 4 and all(map(str.isalpha, words)) and value.islower() and _TALK.isdisjoint(words)


_TALK: Final = frozenset(
    "a an the your enter please is of for to in and or must passphrase password phrase".split()
)


def is_given(value: str, proof: Proof) -> bool:
    """Whether it can be the secret in a place that is for nothing else: there even an example is one."""
    if proof is not Proof.NONE:
        return is_secret(value, proof)
    return len(value) >= SHORTEST and not (
        REFERENCE.match(value) or _BLANK.match(value) or _LOCATION.match(value)
    )


def stands_for_another(value: str) -> bool:
    """Whether it is a placeholder, a reference to a variable, or where the secret is kept."""
    return bool(
        REFERENCE.match(value) or _BLANK.match(value) or _EXAMPLE.match(value) or _LOCATION.match(value)
    )


def looks_random(value: str) -> bool:
    """Whether letters and digits are mixed as in a generated key, not as in a name."""
    if len(value) < 8 or _DIGITS.isdisjoint(value) or IDENTIFIER.match(value):
        return False
    if _UPPER.isdisjoint(value) or _LOWER.isdisjoint(value):
        return len(value) >= 16 and not _LETTERS.isdisjoint(value)
    return True


def is_scrambled(value: str) -> bool:
    """Whether a machine drew it: small letters, capitals and digits change as often as by chance.

    Of random characters every second one is of another class than the one before; in names and words, every
    fifth at most.
    """
    if _DIGITS.isdisjoint(value) or _LETTERS.isdisjoint(value):
        return False
    if len(value) >= 32 and is_hex(value):
        return True
    return len(_CLASSES.findall(value)) >= 0.34 * len(value)


def is_made_up(value: str, proof: Proof = Proof.NONE) -> bool:  # noqa: ARG001
    """Whether somebody made it up as a password: no word, name, number or path has such signs."""
    if len(value) < 8 or _LETTERS.isdisjoint(value) or _CODE.match(value) or stands_for_another(value):
        return False
    if not _DIGITS.isdisjoint(value) and not _SIGNS.isdisjoint(value):
        return True
    return is_mixed(value) and len(_CLASSES.findall(value)) >= 0.4 * len(value) and value.isalnum()


def is_license(value: str) -> bool:
    """Whether it is a key that people type: groups of capitals and digits, one as long as the other."""
    groups = value.split("-")
    return bool(_LICENSE.match(value)) and len(set(map(len, groups))) == 1


def is_mixed(value: str) -> bool:
    """Whether it has small letters, capitals and digits."""
    return not (_DIGITS.isdisjoint(value) or _UPPER.isdisjoint(value) or _LOWER.isdisjoint(value))


def is_hex(value: str) -> bool:
    """Whether it has hexadecimal digits only, as content hashes and ids have."""
    return _HEX.issuperset(value)
