"""Assignments: values that are bound to a name which says secret.

`NAME=value`, `"name": "value"`, `<name>value</name>`, `define("NAME", "value")`, in code, settings, headers,
query strings and JSON inside of JSON. Which names say so is `core.redact_names`'s work, which values can be a
secret `core.redact_values`'s.
"""

import re
import string
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from holdfast.core import redact_names as names
from holdfast.core import redact_values as values
from holdfast.core.redact_names import Announced, Proof
from holdfast.core.redact_spans import Rank, Span

# Two hundred characters are enough to judge an unquoted value; what is redacted is all of it.
_LONGEST_JUDGED: Final = 200
_LONGEST_QUOTED: Final = 2_000

# A quote as text, code in a string, JSON, HTML and URLs spell it.
_QUOTE: Final = r"""\\{0,7}["'`] | \\u002[27] | &quot; | &apos; | &\#3[49]; | %2[27]"""
# Everything from a name to the value that is bound to it.
_HEAD: Final = re.compile(
    rf"""(?!(?-i:PASS):[ ])  # a test that passed
        (?P<name>[\w-]{{2,60}}+)
        (?P<closed>{_QUOTE})? (?:\[\d{{0,4}}\]|[\])]|[ ]\d{{1,2}}(?=:))? [?!]?\*{{0,2}} [ \t]{{0,20}}
        (?P<bind>
            # a declaration with its type
            :[ \t]{{0,3}}&?(?:'static[ ])?[\w.]{{0,20}}(?:str|string|char\*?|bytes)\]?
              (?:[ ]?\|[ ]?(?:None|null|undefined))?[ \t]{{0,3}}=
            # attributes of a tag; a block with a default; the parameters of a call in JSON
          | (?:[ ]\w{{1,20}}="[^"<>\n]{{0,40}}"){{1,3}}+>
          | \s?\{{\s{{1,40}}(?:(?!default)\w{{1,20}}[ \t]{{0,9}}=[^\n]{{0,80}}\n\s{{0,40}}){{0,4}}+
              default[ \t]{{0,9}}=
          | ,\s{{0,9}}\\{{0,3}}["']params\\{{0,3}}["']\s{{0,9}}:\s{{0,9}}\[\s{{0,9}}
          | => | := | [!=]={{1,2}} | -> | [:=>,] | \|\|? | \?\? | or(?=[ ]["']) | [는은]
          | %3[AD] | \\u003[ade] | &\#61; | &gt;
            # `name: NAME`, and its value in the next line or attribute
          | ,?\s{{1,40}}\\{{0,3}}["']?(?:value|secure|default)\\{{0,3}}["']?[ \t]{{0,4}}[:=]
        )
        (?P<gap>\*{{0,2}}[ \t]{{0,20}})
        (?:[|>][+-]?[ \t]{{0,3}}\n[ \t]{{1,20}})?  # a block of YAML
        (?!\d{{1,15}}[,}}\]])  # a number in JSON: a count
        (?: !!binary[ ] | (?:\[\]byte|[\w.:]{{0,24}}(?:str|string|secret|from|bytes))\([ ]? )?
        (?P<open> [brufn@$L]{{0,2}}(?P<slashes>\\{{0,7}})(?P<quote>["'`]) | {_QUOTE} )?""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
# What binds a string to a name, but no bare word.
_BINDS_STRINGS: Final = frozenset((",", "||", "??", "or"))
# `Authorization: Bearer …`: the scheme stays, so that a reader still sees how the request was made.
_SCHEME: Final = re.compile(r"(?:basic|bearer|token|apikey|api-key|ssws)[ ]{1,3}", re.IGNORECASE)

_Judge: TypeAlias = Callable[[str, Proof], bool]


def assigned_at(text: str, place: int) -> Iterator[Span] | None:
    """The secret that is bound to the name at this place; None if nothing is bound to it."""
    head = _HEAD.match(text, place)
    return _judged(text, head) if head else None


def _judged(text: str, head: re.Match[str]) -> Iterator[Span]:
    owner = owner_of(text, head.start())
    start = head.start() - len(owner)
    announced = names.announced_by(opening_before(text, start) + owner + head["name"])
    if announced is None:
        return
    if head["open"]:
        yield from _quoted(text, head, announced)
    elif text.startswith("(", head.end()):
        yield from in_call(text, head.end(), announced)
    elif head["bind"] not in _BINDS_STRINGS:
        yield from _bare(text, head, announced, start)


def _quoted(text: str, head: re.Match[str], announced: Announced) -> Iterator[Span]:
    start, end = head.end(), _closing(text, head)
    if end <= start:
        return
    if names.may_be_phrase(head["name"]) and values.is_phrase(text[start:end]):
        yield Span(start, end, announced.kind, Rank.NAME)
    judge = _judge_of_string(text, head, end)
    start, proof = _after_scheme(text, start, end, announced.proof)
    if judge and judge(text[start:end], proof):
        yield Span(start, end, announced.kind, Rank.NAME)


def _judge_of_string(text: str, head: re.Match[str], end: int) -> _Judge | None:
    """Whoever judges a string here; None where no string is a secret."""
    if head["bind"] == "|":
        return values.is_made_up
    if head["bind"] == "," and not head["name"].isupper():
        # Of two strings beside each other, the second may be the next of a list of names.
        called = _FIRST_ARGUMENT.search(text, max(0, head.start() - 80), head.start())
        return (values.is_secret_unquoted if called else values.is_made_up) if head["closed"] else None
    return values.is_given if _is_setting(text, head.start(), end + 1) else values.is_secret


_FIRST_ARGUMENT: Final = re.compile(r"""\w\([ ]?\\{0,7}["'][\w.-]{0,60}\Z""", re.ASCII)


def _closing(text: str, head: re.Match[str]) -> int:
    """Where a quoted value ends; -1 if it does not within its line.

    A quote that was opened behind some backslashes is closed behind as many: more of them belong to a quote
    inside of the value.
    """
    start, quote, limit = head.end(), head["quote"], head.end() + _LONGEST_QUOTED
    if quote is None:
        return text.find(head["open"], start, limit)
    escape, end = len(head["slashes"]), text.find(quote, start, limit)
    while end >= 0 and "\n" not in text[start:end]:
        value = text[start:end]
        behind = len(value) - len(value.rstrip("\\"))
        if behind == escape or (escape == 0 and behind % 2 == 0):
            return end - escape
        end = text.find(quote, end + 1, limit)
    return -1


def _after_scheme(text: str, start: int, end: int, proof: Proof) -> tuple[int, Proof]:
    scheme = _SCHEME.match(text, start, end)
    return (scheme.end(), Proof.RANDOMNESS) if scheme else (start, proof)


_CALL: Final = re.compile(
    r"""\(\s{0,20}
        (?: (?:[\w.$:/\[\]-]{1,60}|\\{0,3}"[^"\n]{0,200}"|'[^'\n]{0,200}')[ ]{0,3},\s{0,40} ){0,4}+
        \\{0,3}(?P<quote>["'])(?P<value>[^"'\s\\]{4,200})\\{0,3}(?P=quote)[ ]{0,9}(?:\)|\n|\Z)""",
    re.VERBOSE,
)
_STRING: Final = re.compile(r"""["'][^"'\n]{1,200}["']""")
# What takes a user's name and password together.
_PAIRS: Final = frozenset(("credential", "auth"))


def in_call(text: str, place: int, announced: Announced) -> Iterator[Span]:
    """The last string among the arguments: `set_password("…")`, `NetworkCredential("me", "…")`."""
    call = _CALL.match(text, place)
    if call is None:
        return
    pair = len(_STRING.findall(call[0])) > 1 and announced.kind in _PAIRS
    judge = values.is_secret if pair else values.is_secret_unquoted
    if judge(call["value"], Proof.NONE if pair else announced.proof):
        yield Span(*call.span("value"), announced.kind, Rank.NAME)


# A value that is given where there is no other: `getenv("X", "value")`, `env.X || "value"`, `${X:-value}`.
_ARGUMENT: Final = r"""[ ]?\\{0,3}["'][\w.-]{1,60}\\{0,3}["']"""
_FALLBACK: Final = re.compile(
    rf"""[\w.\[\]"'$\#{{}}]{{0,80}}+(?:
          \({_ARGUMENT},[ ]?\\{{0,3}}["'](?P<argument>[^"'\s\\]{{4,200}})
        | (?:\((?:{_ARGUMENT})?\))?[ ]?(?:\|\||\?\?|or)[ ]?\\{{0,3}}["'](?P<otherwise>[^"'\s\\]{{4,200}})
        | :[-=](?P<shell>[^}}\s"']{{4,200}})\}}
    )""",
    re.ASCII | re.VERBOSE,
)
# A key as a list of its bytes.
_NUMBERS: Final = re.compile(
    r"""(?:\[\]byte|new[ ]byte\[\])?[ ]?[\[{]\s{0,40}
        (?P<numbers>(?:(?:0x)?[0-9a-f]{1,3},[ ]{0,40}){15,200}+(?:0x)?[0-9a-f]{1,3})""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE: Final = re.compile(
    rf"""(?:{_SCHEME.pattern})?(?:[^\s"'`<>\\]|\\(?![nrtu"'\\/])){{1,{_LONGEST_JUDGED}}}+""", re.IGNORECASE
)


def _bare(text: str, head: re.Match[str], announced: Announced, name_start: int) -> Iterator[Span]:
    if numbers := _NUMBERS.match(text, head.end()):
        yield Span(*numbers.span("numbers"), announced.kind, Rank.NAME)
        return
    fallback = _FALLBACK.match(text, head.end())
    if fallback and values.is_secret(fallback[fallback.lastgroup or 0], announced.proof):
        yield Span(*fallback.span(fallback.lastgroup or 0), announced.kind, Rank.NAME)
        return
    found = _BARE.match(text, head.end())
    if found is None:
        return
    start, proof = _after_scheme(text, found.start(), found.end(), announced.proof)
    value = trimmed(text[start : found.end()])
    if _judge_of_word(text, head, name_start, start + len(value))(value, proof):
        yield Span(start, end_of(text, start, value), announced.kind, Rank.NAME)


# What stands before a NAME=value that is no code.
_STATEMENT_BEGINS: Final = re.compile(
    r"""(?: (?:\A|[\n;&?|]|\\[nr])[ \t]{0,20}(?:(?:export|set|env|declare|ENV|ARG|-e|--env)[ ]{1,3})?["']?
          | \w=[^\s,()]{1,60}[ ] )\Z""",
    re.VERBOSE,
)


def _judge_of_word(text: str, head: re.Match[str], name_start: int, end: int) -> _Judge:
    """Whoever judges a bare word here: it may be text, or it may be code or prose."""
    if head["bind"] == "|":
        return values.is_made_up
    if head["bind"] == "=" and not head["gap"]:
        # NAME=value of a shell, an .env or an .ini file, a query, a connection string, a flag.
        name = text[name_start : head.end("name")]
        begins = _STATEMENT_BEGINS.search(text, max(0, name_start - 80), name_start)
        if begins and (name.isupper() or begins[0].startswith(";")):
            return values.is_given
        if begins or name.isupper() or name.startswith("-"):
            return values.is_secret
    return values.is_given if _is_setting(text, name_start, end) else values.is_secret_unquoted


# What may stand in a line beside a name and its value.
_FILLS_LINE: Final = re.compile(
    r"[ \t-]{0,40}[\w$.>\"'-]{0,30}[,;]?[ \t]{0,40}(?:(?:#|//).{0,80})?\Z", re.ASCII
)
# A neighbour that shows the lines to be settings, not code.
_SIBLING: Final = re.compile(
    r"""[ \t]{0,40}[\w$.>-]{0,30}["']?(?:user|login|host|server|database|db|port|email|account)\w{0,10}["']?
        [ \t]{0,20}(?:[=:]|=>)[ \t]{0,20}(?:[^\s"'(){}\[\],;]{1,80}|["'][^"'\n]{1,80}["'])
        [,;]?[ \t]{0,20}(?:(?:\#|//).{0,200})?\Z""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)


def _is_setting(text: str, start: int, end: int) -> bool:
    """Whether name and value fill their line, and the line before sets a user, a host or the like."""
    line_start = text.rfind("\n", max(0, start - 40), start) + 1
    line_end = text.find("\n", end, end + 80)
    line_end = line_end if line_end >= 0 else len(text)
    if not _FILLS_LINE.match(text[line_start:start] + text[end:line_end]):
        return False
    before = text[max(0, line_start - 200) : max(0, line_start - 1)].rpartition("\n")[2]
    return _SIBLING.match(before) is not None


# What ends an unquoted value: the next pair of a list, a query or a connection string; punctuation.
_TRAILING: Final = re.compile(
    r"""(?: [,;&/][A-Za-z_][\w .-]{0,30}[=:].*
          | (?<!&amp)(?<!&lt)(?<!&gt);.* | &(?!amp|lt|gt|\#).*
          | [,.)\]}:?]+ )\Z""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_UNQUOTED_REST: Final = re.compile(r"""[^\s"'`<>\\,;&]*+""")
_NAME_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.$"


def trimmed(value: str) -> str:
    """An unquoted value without what only follows it."""
    return _TRAILING.sub("", value)


def end_of(text: str, start: int, value: str) -> int:
    """Where an unquoted value ends, of which only the beginning was judged."""
    end = start + len(value)
    rest = _UNQUOTED_REST.match(text, end) if len(value) >= _LONGEST_JUDGED else None
    return rest.end() if rest else end


def owner_of(text: str, place: int) -> str:
    """What stands in the name before this place: `GITHUB_` of `GITHUB_TOKEN`."""
    before = text[max(0, place - 40) : place]
    rest = before.rstrip(_NAME_CHARACTERS)
    # The first letter after a backslash is that of an escaped newline.
    return before[len(rest) + rest.endswith("\\") :]


def opening_before(text: str, place: int) -> str:
    """The word before a name if it makes a key one that opens something: `API ` of `API key: …`."""
    before = text[max(0, place - 20) : place]
    word = before[len(before[:-1].rstrip(string.ascii_letters)) :]
    return word if word.endswith(" ") and word[:-1].lower() in names.OPENING else ""
