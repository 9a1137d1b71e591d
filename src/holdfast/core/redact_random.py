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
_PAIR: Final = re.compile(r"(?=([a-z]{2}))")
# Each letter, and those that often follow it in words and names: nine of ten pairs there, three of ten in
# what was drawn.
_FOLLOWERS: Final = """abcdgiklmnprstuvy baeilou caehiklortu dadeiosu eacdefglmnpqrstvx faefioru geilr haeiot
    iabcdefglmnoprstv ke ladeilostuy maeilmop nacdefginostu obcdlmnoprstuvw paeiloprtuy qu racdegimnorstuy
    sacehikopstuy tacehiloprstuy ubeilmnprst vaei wahi xet yp"""
_USUAL_PAIRS: Final = frozenset(each[0] + after for each in _FOLLOWERS.split() for after in each[1:])
_FEWEST_PAIRS: Final = 6
_SHORTEST_DRAWN: Final = 16


def reads_like_words(value: str) -> bool:
    """Whether most of its letters follow each other as in words; those of a hexadecimal number often do."""
    if is_hex(value.replace("-", "")) and not _DIGITS.isdisjoint(value):
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
    return chunks >= 0.45 or (chunks >= 0.3 and not reads_like_words(value))


def is_drawn(value: str) -> bool:
    """The same for a value of some length that may have no digit, or few."""
    if len(value) < _SHORTEST_DRAWN or (_DIGITS.isdisjoint(value) and not has_both_cases(value)):
        return False
    return not _LETTERS.isdisjoint(value) and not reads_like_words(value)


def has_both_cases(value: str) -> bool:
    """Whether it has small letters and capitals."""
    return not (_UPPER.isdisjoint(value) or _LOWER.isdisjoint(value))


def is_mixed(value: str) -> bool:
    """Whether it has small letters, capitals and digits."""
    return not _DIGITS.isdisjoint(value) and has_both_cases(value)


def is_hex(value: str) -> bool:
    """Whether it has hexadecimal digits only, as content hashes and ids have."""
    return _HEX.issuperset(value)
