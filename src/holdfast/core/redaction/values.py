"""Values: whether what stands where a secret would stand can be one, and whether its characters are random.

Judges a value alone: placeholders, references, paths, code and plain names are none. Where it was found, and
what its name announced, comes as an argument. Of random characters every second one is of another sort than
the one before, and their letters follow each other as those of no word do. Entropy does not tell: every hash
and every id of a transcript has as much of it as a key.
"""

from __future__ import annotations

import re
import string
from typing import Final

from holdfast.core.redaction.names import Proof

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
      | 0x[0-9a-f]{1,16}\Z
      | \d{4}-\d\d-\d\d(?:T[\d:.]{4,20})?Z?\Z
      | (?:your|my|the|some|an|any|insert|enter|replace|put|paste|add|set|use|get|see)[\W_].*
      | .*(?:x{4,}|\*{3,}|\.{3}|…).*
      | .*(?:change[\W_]?(?:me|it|this)|your[\W_]|place[\W_]?holder|redacted|dummy|goes[\W_]here).*
      | (?:none|null|nil|true|false|yes|no|on|off|undefined|empty|required|optional|string|str|text|number
         |integer|u?int\d{0,3}|float\d{0,2}|double|char|boolean|bool|bytes|object|any|unknown|hidden|masked
         |todo|tbd|value|n/a|void|self|this|new|current|invalid|valid|missing|wrong|incorrect|custom|inherit
         |fail(?:ed|ure)?|ok|warn(?:ing)?|error|success|utf-?8|base(?:32|58|64)(?:url)?|sha-?\d{1,3}|md5|[hre]s256)\W*\Z
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
# A variable that is itself called after a secret, or a member of something that is.
_NAMES_ANOTHER: Final = re.compile(
    r"(?=\w{0,40}[_.])(?=.{0,60}(?:pass|pw|psk|secret|token|(?<!mon)key|auth|cred))[A-Za-z_][\w.]*\Z",
    re.ASCII | re.IGNORECASE,
)
# Words and small numbers: the name of a release, of a test.
_SLUG: Final = re.compile(r"(?:[A-Za-z]+|v?\d{1,4})(?:[-_.:/](?:[A-Za-z]+|v?\d{1,4}))+\Z", re.ASCII)
_SLUG_PARTS: Final = re.compile(r"[-_.:/]")
_LICENSE: Final = re.compile(r"(?:[A-Z0-9]{4,8}-){3,8}[A-Z0-9]{4,8}\Z", re.ASCII)
_NUMBERS: Final = re.compile(r"[0-9]+")
_LETTERS: Final = frozenset(string.ascii_letters)
_DIGITS: Final = frozenset(string.digits)
_SIGNS: Final = frozenset("!@#$%^&*?~+")


def is_secret(value: str, proof: Proof) -> bool:
    """Whether a quoted or shell value can be the secret that its name announces."""
    if any(map(str.isspace, value)):
        return is_gibberish(value)
    if len(value) < SHORTEST or stands_for_another(value):
        return False
    match proof:
        case Proof.NONE:
            return value.isalnum() or not IDENTIFIER.match(value) or not _SPEAKS_OF_SECRETS.search(value)
        case Proof.DIGITS if is_license(value):
            return True
        case Proof.DIGITS if _SLUG.match(value):
            return is_drawn(max(_SLUG_PARTS.split(value), key=len))
        case Proof.DIGITS if len(value) < 8 or _LETTERS.isdisjoint(value):
            return False
        case Proof.DIGITS:
            return not _DIGITS.isdisjoint(value) or is_drawn(value)
        case Proof.RANDOMNESS:
            return looks_random(value)
        case Proof.MACHINE_MADE:
            return len(value) >= 28 and is_mixed(value) and is_scrambled(value)


def is_secret_unquoted(value: str, proof: Proof) -> bool:
    """The same where a bare word may as well be code or prose: there the value must show more."""
    if len(value) < 6 or is_code(value) or not is_secret(value, proof):
        return False
    if IDENTIFIER.match(value) or _NAMES_ANOTHER.match(value):
        return is_drawn(value) or (proof is Proof.DIGITS and is_license(value))
    if proof is Proof.NONE:
        return not _LETTERS.isdisjoint(value) or value.isdigit()
    return looks_random(value)


def is_code(value: str) -> bool:
    """Whether it is a call, an index, a member of something."""
    return _CODE.match(value) is not None and not _is_dotted_key(value)


def _is_dotted_key(value: str) -> bool:
    """Whether what looks like a member of something is a key with dots in it: `v1.4fQ…`."""
    parts = _DOTTED.match(value) and value.split(".")
    longest = max(parts, key=len) if parts else ""
    return (
        len(longest) >= 16 and is_drawn(longest) and (is_scrambled(longest) or not reads_like_words(longest))
    )


_DOTTED: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+\Z", re.ASCII)


def opens_code(value: str) -> bool:
    """Whether it is the beginning of a call or an index, cut off at a quote or the end of a line."""
    return _OPENS_CODE.match(value) is not None


_OPENS_CODE: Final = re.compile(r"[A-Za-z_][\w.]*[(\[]\Z", re.ASCII)


def is_words(value: str, *, sure: bool) -> bool:
    """Whether it is some words without a sentence in them, as passphrases are.

    Where the name is sure to announce one, three words are enough; elsewhere letters and digits mixed in one.
    """
    words = value.split()
    if not 2 <= len(words) <= _MOST_WORDS or value.endswith(_ENDS_SENTENCE) or REFERENCE.match(value):
        return False
    plain = [word.lower().strip(_PUNCTUATION) for word in words]
    if not _TALK.isdisjoint(plain) or any(map(_OF_SENTENCES.search, plain)) or _CODE.match(value):
        return False
    if any(map(_LETTERS_AND_DIGITS.search, words)):
        return True
    return len(words) >= (3 if sure else 4) and all(map(str.isalnum, words)) and (sure or value.islower())


def is_alone(word: str) -> bool:
    """Whether one plain word can be a password that a sentence gives, and does not say how it is."""
    return word not in _TALK and not _OF_SENTENCES.search(word) and not _STATED.search(word)


# How other words end that say how something is.
_STATED: Final = re.compile(r"(?:al|ic|ous|ful|en|ent|ant|ary|ory|est)\Z")
_MOST_WORDS: Final = 24
_ENDS_SENTENCE: Final = (".", "?", ":", "…", ",")
_PUNCTUATION: Final = ".,;:!?()"
_LETTERS_AND_DIGITS: Final = re.compile(r"[A-Za-z]\d|\d[A-Za-z]|[@$%^&*!][A-Za-z\d]")
# How words end that say how something is.
_OF_SENTENCES: Final = re.compile(r"(?:ed|ing|able|ible|ive|ly|less|n't)\Z|/")
_TALK: Final = frozenset(
    """a about after all an and any are argument as at base64 be been before bits but by bytes can case
    cannot character characters chars config could default did do does each either email else empty
    enter env error every false field file for format from had has hash have here hex how i if in
    incorrect input into invalid is isn it its key keys last length less letters login long match may
    mismatch missing more must my name new no none not null of off on one only optional option or
    other our parameter passphrase password passwords path phrase please provide same secret secure
    see set should sign so some string strong than that the their then there this to token too true
    two type undefined unless until use user username valid value via was weak were what when where
    which while will with without wrong yes you your""".split()
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
    if len(value) < 8 or _LETTERS.isdisjoint(value):
        return False
    if _DIGITS.isdisjoint(value) or IDENTIFIER.match(value):
        return is_drawn(value)
    if is_code_name(value):
        return False
    if has_both_cases(value) or len(value) < 12:
        return has_both_cases(value)
    return not reads_like_words(value) or (value.isalnum() and len(_NUMBERS.findall(value)) >= 3)


def is_made_up(value: str) -> bool:
    """Whether somebody made it up as a password: no word, name, number or path has such signs."""
    if len(value) < 8 or _LETTERS.isdisjoint(value) or _CODE.match(value) or stands_for_another(value):
        return False
    if not _DIGITS.isdisjoint(value) and not _SIGNS.isdisjoint(value):
        return not is_code_name(value)
    return value.isalnum() and is_mixed(value) and is_scrambled(value)


def is_gibberish(value: str) -> bool:
    """Whether it is long and has signs everywhere, as the salts of some programs have."""
    if len(value) < 32 or not value.isascii() or len(value.split()) > 4 or not is_mixed(value):
        return False
    signs = sum(not (character.isalnum() or character.isspace()) for character in value)
    return signs >= 0.25 * len(value) and not reads_like_words(value)


def is_license(value: str) -> bool:
    """Whether it is a key that people type: groups of capitals and digits, one as long as the other."""
    groups = value.split("-")
    return bool(_LICENSE.match(value)) and len(set(map(len, groups))) == 1


_UPPER: Final = frozenset(string.ascii_uppercase)
_LOWER: Final = frozenset(string.ascii_lowercase)

_HEX: Final = frozenset(string.hexdigits)

# A word as it stands in a name, with or without its capital; an abbreviation; a number.
_CHUNK: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SEPARATOR: Final = re.compile(r"[-_.:~/+=]")
_PAIR: Final = re.compile(r"(?=([a-z]{2}))")
# Each letter, and those that often follow it in words and names: nine of ten pairs there, three of ten in
# what was drawn.
_FOLLOWERS: Final = """abcdgiklmnprstuvy baeilou caehiklortu dadeiosu eacdefglmnpqrstvx faefioru geilr haeiot
    iabcdefglmnoprstv ke ladeilostuy maeilmop nacdefginostu obcdlmnoprstuvw paeiloprtuy qu racdegimnorstuy
    sacehikopstuy tacehiloprstuy ubeilmnprst vaei wahi xet yp"""
_USUAL_PAIRS: Final = frozenset(each[0] + after for each in _FOLLOWERS.split() for after in each[1:])
# The same, but a capital before a small letter begins a word of its own: `O`, `Auth`, `2`, `Token`.
_NAME_PART: Final = re.compile(r"[A-Z]{2,99}(?![a-z])|[A-Z]?[a-z]{1,99}|[A-Z]|[0-9]{1,99}")
_NAME: Final = re.compile(r"[*&^]?[A-Za-z][A-Za-z0-9]{2,59}[?!]{0,2}(?:\[\])?[?!]?\Z", re.ASCII)
# Words that the names of types end with, and nothing that was drawn.
ENDS_LIKE_TYPE: Final = re.compile(
    r"""(?:Array|Bytes|Buffer|Credentials?|Digest|Hash|Key|Keys|Passphrase|Password|Provider|Secret|Service|Store
        |String|Token|Type)[?!]?\Z""",
    re.VERBOSE,
)
_MOST_NUMBERS: Final = 3
_MOST_DIGITS: Final = 7
_FEWEST_PAIRS: Final = 6
_SHORTEST_DRAWN: Final = 16


def is_code_name(value: str) -> bool:
    """Whether it is words joined as code joins them, with a small number or two: `Uint8Array`."""
    if not _NAME.match(value):
        return False
    parts = _NAME_PART.findall(value)
    numbers = [part for part in parts if part.isdigit()]
    most = _MOST_NUMBERS if has_both_cases(value) else 1
    if len(numbers) > most or sum(map(len, numbers)) > _MOST_DIGITS:
        return False
    if ENDS_LIKE_TYPE.search(value):
        return True
    words = [part for part in parts if len(part) >= 3 and not part.isdigit()]
    letters = sum(map(len, parts)) - sum(map(len, numbers))
    return sum(map(len, filter(_is_word, words))) >= 0.55 * letters


def _is_word(part: str) -> bool:
    pairs = _PAIR.findall(part.lower())
    return sum(map(_USUAL_PAIRS.__contains__, pairs)) >= 0.6 * len(pairs)


def reads_like_words(value: str) -> bool:
    """Whether most of its letters follow each other as in words; those of a hexadecimal number often do."""
    longest = max(_SEPARATOR.split(value), key=len) if len(value) > _SHORTEST_DRAWN else value
    if is_hex(longest) and not _DIGITS.isdisjoint(longest):
        return False
    pairs = _PAIR.findall(value.lower())
    return len(pairs) >= _FEWEST_PAIRS and sum(map(_USUAL_PAIRS.__contains__, pairs)) >= 0.57 * len(pairs)


def is_scrambled(value: str) -> bool:
    """Whether it has letters and digits, and a machine drew them."""
    if _DIGITS.isdisjoint(value) or _LETTERS.isdisjoint(value):
        return False
    if len(value) >= 32 and is_hex(value):
        return True
    chunks = len(_CHUNK.findall(value)) / len(value)
    scrambled = chunks >= 0.45 or (chunks >= 0.3 and not reads_like_words(value))
    return scrambled and not is_code_name(value)


def is_drawn(value: str) -> bool:
    """The same for a value of some length that may have no digit, or few."""
    if len(value) < _SHORTEST_DRAWN or (_DIGITS.isdisjoint(value) and not has_both_cases(value)):
        return False
    return not _LETTERS.isdisjoint(value) and not reads_like_words(value) and not is_code_name(value)


def has_both_cases(value: str) -> bool:
    """Whether it has small letters and capitals."""
    return not (_UPPER.isdisjoint(value) or _LOWER.isdisjoint(value))


def is_mixed(value: str) -> bool:
    """Whether it has small letters, capitals and digits."""
    return not _DIGITS.isdisjoint(value) and has_both_cases(value)


def is_hex(value: str) -> bool:
    """Whether it has hexadecimal digits only, as content hashes and ids have."""
    return _HEX.issuperset(value)
