"""Random: whether a machine drew some characters, or a person named something with them.

Of random characters every second one is of another sort than the one before, and their letters follow each
other as those of no word do. Entropy does not tell: every hash and every id of a transcript has as much of it
as a key.
"""

import re
import string
from typing import Final

_LETTERS: Final = frozenset(string.ascii_letters)
_UPPER: Final = frozenset(string.ascii_uppercase)
_LOWER: Final = frozenset(string.ascii_lowercase)
_DIGITS: Final = frozenset(string.digits)
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
