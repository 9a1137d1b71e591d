"""Shapes: the forms of keys, made ready to be looked for, and what prefixes say.

The forms themselves stand in `core.redact_forms`. For providers that are not there, two general shapes: a
short prefix before random characters, as is the custom, and two random halves.
"""

import re
import string
from functools import cache
from typing import Final

from holdfast.core.patterns import compiled
from holdfast.core.redact_forms import FORMS, MARKED
from holdfast.core.redact_random import is_hex, is_mixed, is_scrambled, reads_like_words
from holdfast.core.redact_spans import Rank, Span
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
    pkg git gen dir dev cmp""".split()
)
SEPARATORS: Final = compiled(r"[_.-]")
# A prefix of one to four short words before what may be random characters.
_PREFIXED: Final = compiled(
    r"""(?P<first>[A-Za-z][A-Za-z0-9]{1,15})(?P<more>(?:[_.-][A-Za-z0-9]{1,11}(?![A-Za-z0-9])){0,3}+)
        [_.-](?P<rest>[\w=-]{16,400})\Z""",
    re.ASCII | re.VERBOSE,
)
_HALVES: Final = compiled(r"(?P<first>[A-Za-z0-9-]{16,48})[._](?P<second>[\w-]{16,60})\Z", re.ASCII)


def is_prefixed_key(run: str) -> bool:
    """Whether it is a prefix of short words before random characters: `acme_live_…`, `acmepat-…`."""
    found = _PREFIXED.match(run)
    if not found or found["first"] in IDS:
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


# `squ_5f62…`, `doo_v1_c46d…`: a hash or an id has no such prefix but those that are listed, or a word.
_HEX_BEHIND_PREFIX: Final = compiled(
    r"[A-Za-z0-9]{2,10}_(?:v\d{1,2}_)?(?:[0-9a-f]{32}|[0-9a-f]{40,64})\Z", re.ASCII
)
# `dapi5f62…`, `SK6e84…`: where the hexadecimal number begins is plain to see.
_HEX_BEHIND_LETTERS: Final = compiled(
    r"[A-Za-z]{1,5}[g-zG-Z](?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\Z", re.ASCII
)
SHORTEST_ALONE: Final = 32
_LONGEST_ALONE: Final = 400
# Of small letters alone a key is longer, and has a digit that base32, the writing of addresses, has not.
_SMALL: Final = compiled(r"(?=[a-z2-7]{0,99}[0189])[a-z0-9]{40,100}\Z", re.ASCII)
# Addresses on a chain and of a file in a network of peers are as random, and public.
_BASE58: Final = compiled(r"[1-9A-HJ-NP-Za-km-z]{32,48}\Z", re.ASCII)
_OF_NUMBERS: Final = compiled(r"0[xX][0-9a-fA-F]", re.ASCII)


def is_key_alone(run: str) -> bool:
    """Whether a run that nothing announces is a key: long, of three sorts of characters, and drawn."""
    if run.isalnum() and _HEX_BEHIND_LETTERS.match(run):
        return True
    if (
        not SHORTEST_ALONE <= len(run) <= _LONGEST_ALONE
        or "." in run
        or _BASE58.match(run)
        or _OF_NUMBERS.match(run)
    ):
        return False
    return bool(is_mixed(run) or _SMALL.match(run)) and is_scrambled(run) and not reads_like_words(run)


def has_two_random_halves(run: str) -> bool:
    """Whether it is a key of two parts, each drawn by a machine: an id, and its secret behind a dot."""
    found = _HALVES.match(run)
    if found is None or not is_scrambled(found["first"]) or not is_scrambled(found["second"]):
        return False
    return is_mixed(found["second"]) and (is_mixed(found["first"]) or is_hex(found["first"]))
