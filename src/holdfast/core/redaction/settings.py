"""Settings: whether the lines around a name and its value are settings, not code or prose.

There a bare word is a value, however plain it is.
"""

import re
from typing import Final

# What stands before a NAME=value that is no code; `pair` is another pair, as a connection string has it.
STATEMENT_BEGINS: Final = re.compile(
    r"""(?: (?P<pair>=[^;(){}\n]{1,60};)[ ]?["']?
          | (?:\A|[\n;&?|"'`]|\\[nr])[ \t]{0,20}(?:(?:export|set|env|declare|ENV|ARG|-e|--env)[ ]{1,3})?["']?
          | \w=[^\s,()]{1,60}[ ,]
          | --[\w-]{2,30}[ =]["']? | \b(?:put|write|patch)[ ][\w/.-]{1,60}[ ] )\Z""",
    re.VERBOSE,
)
# What may stand in a line beside a name and its value.
_FILLS_LINE: Final = re.compile(
    r"[ \t-]{0,40}[\w$.>\"'-]{0,30}[,;]?[ \t]{0,40}(?:(?:#|//).{0,80})?\Z", re.ASCII
)
_LONGEST_BEFORE: Final = 40
_LONGEST_AFTER: Final = 80
# A neighbour that shows the lines to be settings.
_SIBLING: Final = re.compile(
    r"""[ \t]{0,40}[\w$.>-]{0,30}["']?(?:user|login|host|server|database|db|port|email|account)\w{0,10}["']?
        [ \t]{0,20}(?:[=:]|=>)[ \t]{0,20}(?:[^\s"'(){}\[\],;]{1,80}|["'][^"'\n]{1,80}["'])
        [,;]?[ \t]{0,20}(?:(?:\#|//).{0,200})?\Z""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)


def is_setting(text: str, start: int, end: int) -> bool:
    """Whether name and value fill their line, and the line before sets a user, a host or the like."""
    line_start = text.rfind("\n", max(0, start - _LONGEST_BEFORE - 1), start) + 1
    line_end = text.find("\n", end, end + _LONGEST_AFTER)
    line_end = len(text) if line_end < 0 else line_end
    if start - line_start > _LONGEST_BEFORE or line_end - end > _LONGEST_AFTER:
        return False
    if not _FILLS_LINE.match(text[line_start:start] + text[end:line_end]):
        return False
    before = text[max(0, line_start - 200) : max(0, line_start - 1)].rpartition("\n")[2]
    return _SIBLING.match(before) is not None
