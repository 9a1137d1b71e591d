"""Shapes: the forms of keys, made ready to be looked for, and what prefixes say.

The forms themselves stand in `core.redaction.forms`. For providers that are not there, two general shapes: a
short prefix before random characters, as is the custom, and two random halves.
"""

import re
import string
from functools import cache
from typing import Final

from holdfast.core.redaction.forms import FORMS, MARKED
from holdfast.core.redaction.randomness import (
    is_code_name,
    is_drawn,
    is_hex,
    is_mixed,
    is_scrambled,
    reads_like_words,
)
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass

# A key is a run of token characters (letters, digits, `_`, `-`, `.`, `~`) of at least this length, followed
# by what base64 adds.
SHORTEST_RUN: Final = 20
TOKEN_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.~"
LENGTH_OF_BEGINNING: Final = 3


@dataclass(frozen=True, slots=True)
class Forms:
    """What may stand at a place: one pattern for several forms, and the kind of each."""

    pattern: re.Pattern[str]
    kinds: tuple[str, ...]

    def match(self, text: str, place: int) -> Span | None:
        """The key that begins at this place."""
        return self._span(self.pattern.match(text, place))

    def search(self, text: str, start: int, end: int) -> Span | None:
        """The first key between these places."""
        return self._span(self.pattern.search(text, start, end))

    def _span(self, found: re.Match[str] | None) -> Span | None:
        return Span(*found.span(), self.kinds[(found.lastindex or 0) - 1], Rank.FORM) if found else None


@cache
def forms(of: tuple[tuple[str, str], ...]) -> Forms:
    """Some forms and their kinds, ready to be looked for; most are never needed, so none is made before."""
    return Forms(compiled("|".join(f"({form})" for _, form in of), re.ASCII), tuple(kind for kind, _ in of))


def known_at(text: str, place: int) -> Span | None:
    """The key of a published form that begins at this place."""
    of = BY_BEGINNING.get(text[place : place + LENGTH_OF_BEGINNING])
    return forms(of).match(text, place) if of else None


def _by_beginning() -> dict[str, tuple[tuple[str, str], ...]]:
    groups: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind, beginnings, form in FORMS:
        for beginning in beginnings.split():
            lasts = "" if len(beginning) == LENGTH_OF_BEGINNING else TOKEN_CHARACTERS
            for key in [beginning + last for last in lasts] or [beginning]:
                groups[key] = (*groups.get(key, ()), (kind, form))
    return groups


BY_BEGINNING: Final = _by_beginning()
# Beginnings that words have too: there, a run without a digit is a name.
_OF_WORDS: Final = frozenset(
    "acc act api app aut dat ext git glo key lin nap npm pac pat pol pub pyp roo sca sec sha".split()
)
WITHOUT_DIGITS: Final = frozenset(each for each in BY_BEGINNING if each not in _OF_WORDS and each[:2] != "s.")
MARKS: Final = tuple(mark for _, mark, _ in MARKED)
LONG_MARKS: Final = tuple(mark for kind, mark, _ in MARKED if kind == "private-key")
MARKED_FORMS: Final = tuple((kind, form) for kind, _, form in MARKED)
SHORTEST_MARKED: Final = 33
# The last two characters before a key that is known by what leads to it.
LEADS: Final = frozenset(
    [digit + sign for digit in string.digits for sign in ":|"]
    + [word + sign for word in string.ascii_letters + string.digits for sign in "!$"]
    + ["//", "=:", "S:", "1/", "A}", "7C"]
)

# Words in a prefix that say of what follows them that it is a key: `acme_live_…`, `acme-pat-…`.
SURE_KEY_WORDS: Final = frozenset("sk rk pat apikey".split())
KEY_WORDS: Final = frozenset("sk rk pat oat sat apikey secret sec live prod production priv private".split())
RANDOM_KEY_WORDS: Final = KEY_WORDS | frozenset(
    """access admin ak api app at auth bot ci cli deploy hook key master oauth org pk refresh root rt sandbox
    server srv staging svc team test tok token user webhook""".split()
)
# Beginnings of ids that services give to messages, calls, customers and the like: open to anyone.
IDS: Final = frozenset(
    """toolu srvtoolu tool msg message req request call chatcmpl cmpl resp response rs fc ws item run
    thread step asst file batch sess session evt event user org team proj project task job build deploy
    agent chunk page conv conversation vs ft id uid cus sub acct price prod inv pi ch cs in txn usr wf
    node span trace sha sha1 sha256 sha384 sha512 md5 hash commit tree blob layer img image tmp temp cache
    bundle index main vendor urn uuid guid ref rev etag nonce ses prt doc ctx mem obs log test obj res lib
    pkg git gen dir dev cmp prj dpl inst env pm seti setup src card po plink il si ba acc bld part prompt
    wrkspc workspace rlg release tag branch pr issue comment snap snapshot vol eni subnet vpc ami
    pod rg cluster arn doi""".split()
)
# Ids have the words that keys have, but for these.
_KEY_AMONG_IDS: Final = compiled(
    r"[_.-](?:sk|rk|pat|apikey|secret|live|prod|priv|private|token|key)[_.-]", re.ASCII
)
SEPARATORS: Final = compiled(r"[_.-]")
# A prefix of one to four short words before what may be random characters.
_PREFIXED: Final = compiled(
    r"""(?P<first>[A-Za-z][A-Za-z0-9]{1,15})(?P<more>(?:[_.-][A-Za-z0-9]{1,11}(?![A-Za-z0-9])){0,3}+)
        [_.-](?P<rest>[\w=-]{16,400})\Z""",
    re.ASCII | re.VERBOSE,
)
# Two or three parts with dots between them, and a prefix before the first.
_HALVES: Final = compiled(
    r"""(?:[A-Za-z0-9]{1,12}[_-]){0,2}(?P<first>[A-Za-z0-9-]{16,48})[._](?:[\w-]{4,48}\.)?
        (?P<second>[\w-]{16,60})\Z""",
    re.ASCII | re.VERBOSE,
)


def is_id(run: str) -> bool:
    """Whether it begins as the ids of messages, calls and customers do, and does not say key."""
    if _NODE.match(run):
        return True
    first = SEPARATORS.split(run, maxsplit=1)[0]
    if first not in IDS or (len(first) < _SHORTEST_WORD and run[len(first) : len(first) + 1] != "_"):
        return False
    return not _KEY_AMONG_IDS.search(run)


# How a code host numbers what it keeps.
_NODE: Final = compiled(r"[A-Z]{1,6}_k[wg][DL]", re.ASCII)
# Fewer letters name what is identified only before an underscore.
_SHORTEST_WORD: Final = 3


def is_prefixed_key(run: str) -> bool:
    """Whether it is a prefix of short words before random characters: `acme_live_…`, `acmepat-…`."""
    found = _PREFIXED.match(run)
    if not found or is_id(run):
        return False
    words = {found["first"].lower(), *SEPARATORS.split(found["more"].lower())}
    rest = found["rest"]
    longest = max(SEPARATORS.split(rest), key=len)
    if len(longest) >= 20 and not longest.isalpha() and not longest.isdigit() and words & SURE_KEY_WORDS:
        return True
    if len(longest) < 12 or not is_scrambled(longest):
        return False
    if is_hex(longest):
        # Ids and hashes have the same form; behind a word they are named after what they identify.
        return len(rest) >= 20 and bool(words & KEY_WORDS or _HEX_BEHIND_PREFIX.match(run))
    if longest.isupper() and found["first"].isupper():
        return len(longest) >= 20
    if is_mixed(longest):
        # Ids have the same form, but none of those in use is as long as thirty characters.
        return len(rest) >= 30 or bool(words & RANDOM_KEY_WORDS)
    return len(longest) >= 32 or (len(rest) >= 20 and bool(words & RANDOM_KEY_WORDS))


def may_be_prefixed_key(run: str) -> bool:
    """The same of fewer or plainer characters; ids look so too, and what stands before it must tell."""
    found = None if run.isalnum() else _PREFIXED.match(run)
    if not found or is_id(run):
        return False
    rest = found["rest"]
    longest = max(SEPARATORS.split(rest), key=len)
    if len(longest) < _SHORTEST_REST:
        return _is_drawn_in_parts(rest)
    if len(longest) < 0.6 * len(rest):
        return False
    if is_hex(longest):
        return len(longest) in _LENGTHS_OF_HEX and _BEFORE_HEX.match(run) is not None
    if not is_mixed(longest) and len(longest) < SHORTEST_RUN:
        return False
    if len(_NUMBERS.findall(longest)) >= _MANY_NUMBERS:
        return not is_code_name(longest)
    return (is_scrambled(longest) or is_drawn(longest)) and not reads_like_words(longest)


def _is_drawn_in_parts(rest: str) -> bool:
    """Whether separators stand by chance among characters that a machine drew."""
    joined = SEPARATORS.sub("", rest)
    return (
        len(joined) >= SHORTEST_RUN
        and is_mixed(joined)
        and is_scrambled(joined)
        and not reads_like_words(joined)
        and len(_NUMBERS.findall(joined)) >= _MANY_NUMBERS
    )


_NUMBERS: Final = compiled(r"[0-9]+")
_MANY_NUMBERS: Final = 3
_SHORTEST_REST: Final = 18
_LENGTHS_OF_HEX: Final = frozenset((32, 40, 48, 64))
# Before a hash there may be the name of a file or a project; before a key stand few letters, or the word.
_BEFORE_HEX: Final = compiled(
    r"""[A-Za-z0-9]{1,6}_ | [A-Za-z0-9]{1,4}[.-]
      | [A-Za-z0-9]{0,12}?(?:key|tok|token|pat|prod|live|secret)[_.-]""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
# `squ_5f62…`, `doo_v1_c46d…`: a hash or an id has no such prefix but those that are listed, or a word.
_HEX_BEHIND_PREFIX: Final = compiled(
    r"[A-Za-z0-9]{2,10}_(?:v\d{1,2}_)?(?:[0-9a-f]{32}|[0-9a-f]{40,64})\Z", re.ASCII
)
# `dapi5f62…`, `SK6e84…`: where the hexadecimal number begins is plain to see.
_HEX_BEHIND_LETTERS: Final = compiled(
    r"[A-Za-z]{1,5}[g-zG-Z](?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\Z", re.ASCII
)
SHORTEST_ALONE: Final = 24
_LONGEST_ALONE: Final = 400
# Of small letters alone a key is longer, and has a digit that base32, the writing of addresses, has not.
# and a letter that ids of 32 characters have not.
_SMALL: Final = compiled(r"(?=[a-z2-7]{0,99}[0189])(?=[0-9a-v]{0,99}[w-z])[a-z0-9]{32,100}\Z", re.ASCII)
_CAPITALS: Final = compiled(
    r"(?=[0-9A-F]{0,99}[G-Z])(?=(?:[A-Z]{0,99}+[0-9]){2})[A-Z0-9]{20,100}\Z", re.ASCII
)
# As random, and public: addresses on a chain and of a file in a network of peers, numbers in hexadecimal, ids
# that sort by time, and the open half of a pair of keys.
_PUBLIC: Final = compiled(
    r"""(?: [1-9A-HJ-NP-Za-km-z]{43,44} | [13DLTXr][1-9A-HJ-NP-Za-km-z]{32,33} | Qm[1-9A-HJ-NP-Za-km-z]{44}
          | 0[xX][0-9a-fA-F]{16,400} | 0[0-9A-HJKMNP-TV-Z]{25} | (?:bc|tb|ltc)1[a-z0-9]{20,90}
          | AAAA[BCE][23][A-Za-z0-9+/]{20,900}={0,2} )\Z""",
    re.ASCII | re.VERBOSE,
)
_ALPHABET: Final = compiled(r"456789|(?i:abcdefg|qwertyu)")


def is_key_alone(run: str) -> bool:
    """Whether a run that nothing announces is a key: long, of three sorts of characters, and drawn."""
    if run.isalnum() and _HEX_BEHIND_LETTERS.match(run):
        return True
    # What costs most is asked last.
    return (_CAPITALS.match(run) is not None or _is_drawn_alone(run)) and not (
        is_id(run) or _PUBLIC.match(run) or _ALPHABET.search(run)
    )


def _is_drawn_alone(run: str) -> bool:
    if not SHORTEST_ALONE <= len(run) <= _LONGEST_ALONE:
        return False
    if "." in run:
        return _is_key_with_dots(run)
    if len(run) < _SHORTEST_PLAIN and (not run.isalnum() or len(_NUMBERS.findall(run)) < _MANY_NUMBERS):
        return False
    return bool(is_mixed(run) or _SMALL.match(run)) and is_scrambled(run) and not reads_like_words(run)


def _is_key_with_dots(run: str) -> bool:
    """Whether dots stand in it by chance: no part is a word, an extension or a member of something."""
    parts = run.split(".")
    longest = max(parts, key=len)
    return (
        len(longest) >= SHORTEST_ALONE
        and min(map(len, parts)) >= _SHORTEST_PART
        and is_mixed(longest)
        and is_scrambled(longest)
        and not any(map(reads_like_words, parts))
        and not any(map(is_code_name, parts))
    )


_SHORTEST_PLAIN: Final = 32
_SHORTEST_PART: Final = 6


def is_key_of_base64(run: str) -> bool:
    """The same of base64 with its signs: each stretch between slashes is drawn, so it is no path."""
    if _PUBLIC.match(run):
        return False
    run = run.rstrip("=")
    if (
        is_id(run)
        or not _OF_BASE64.match(run)
        or not is_mixed(run)
        or not is_scrambled(run)
        or _ALPHABET.search(run)
    ):
        return False
    return not any(map(reads_like_words, run.split("/"))) and not reads_like_words(run)


_OF_BASE64: Final = compiled(r"(?:[A-Za-z0-9]{1,10}[_.-]){0,2}+[A-Za-z0-9+][A-Za-z0-9+/]{31,127}\Z", re.ASCII)


def has_two_random_halves(run: str) -> bool:
    """Whether it is a key of two parts, each drawn by a machine: an id, and its secret behind a dot."""
    found = _HALVES.match(run)
    return bool(
        found
        and (is_scrambled(found["first"]) or is_drawn(found["first"]))
        and is_scrambled(found["second"])
        and is_mixed(found["second"])
        and not reads_like_words(found["second"])
    )
