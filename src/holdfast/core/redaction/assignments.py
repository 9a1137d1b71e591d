"""Assignments: values that belong to a name which says secret, in settings, code, prose and tables."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import names, values
from holdfast.core.redaction.names import OPENING, PROVIDERS, NameMeaning, Proof
from holdfast.core.redaction.prefilter import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import ENDS_LIKE_TYPE, is_code_name, is_drawn
from holdfast.core.text.lazy_patterns import compiled

LONGEST_JUDGED: Final = 200
"""So many characters are enough to judge an unquoted value; what is redacted is all of it."""

_NAME_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.$"
# What ends an unquoted value: the next pair of a list, a query or a connection string; punctuation.
_TRAILING: Final = re.compile(
    r"""(?: [,;&/][A-Za-z_][\w .-]{0,30}[=:][^=].*
          | (?<!&amp)(?<!&lt)(?<!&gt);.* | &(?=&|\Z).*
          | [,.)\]}:?]+ )\Z""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_UNQUOTED_REST: Final = re.compile(r"""[^\s"'`<>\\,;&]*+""")


def owner_of(text: str, place: int) -> str:
    """What stands in the name before this place: `GITHUB_` of `GITHUB_TOKEN`."""
    before = text[max(0, place - 40) : place]
    rest = before.rstrip(_NAME_CHARACTERS)
    # The first letter after a backslash is that of an escaped newline.
    return before[len(rest) + rest.endswith("\\") :]


def opening_before(text: str, place: int) -> str:
    """The word before a name if it makes a key one that opens something: `API ` of `API key: …`."""
    if text[place - 1 : place] != " ":
        return ""
    before = text[max(0, place - 20) : place - 1]
    word = before[len(before.rstrip(string.ascii_letters)) :].lower()
    return f"{word} " if word in OPENING or word in PROVIDERS else ""


def trim_value(value: str) -> str:
    """An unquoted value without what only follows it."""
    return value if value.isalnum() else _TRAILING.sub("", value)


def end_of(text: str, start: int, value: str) -> int:
    """Where an unquoted value ends, of which only the beginning was judged."""
    end = start + len(value)
    rest = _UNQUOTED_REST.match(text, end) if len(value) >= LONGEST_JUDGED else None
    return rest.end() if rest else end


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


# A quote as text, code in a string, JSON, HTML and URLs spell it.
_QUOTE: Final = r"""\\{0,7}["'`] | \\u002[27] | &quot; | &apos; | &\#3[49]; | %2[27]"""
# Everything from a name to the value that is bound to it.
_HEAD: Final = compiled(
    rf"""(?!(?-i:PASS):[ ])  # a test that passed
        (?P<name>[\w-]{{2,60}}+)
        (?P<closed>\]?(?:{_QUOTE}))? (?:\[\d{{0,4}}\]|[\])]|[ ]\d{{1,2}}(?=:))? [?!]?\*{{0,2}} [ \t]{{0,20}}
        (?P<bind>
            # a declaration with its type
            :[ \t]{{0,3}}&?(?:'static[ ])?[A-Za-z_][\w.\[\]]{{0,30}}\*?(?:[ ]?\|[ ]?(?:None|null|undefined))?
              [ \t]{{0,3}}=(?=[ \t]{{0,3}}[\w@$]{{0,2}}\\{{0,3}}["'`])
            # the same where the type has no sign before it, and a property of C#
          | [ \t]{{1,8}}(?:\[\]byte|\*?[A-Za-z][\w.]{{0,30}})[ \t]{{1,3}}:?=(?=[ \t]{{0,3}}["'`])
          | [ \t]?\{{[ ](?:(?:private[ ]|protected[ ])?(?:get|set|init);[ ]){{1,3}}+\}}[ ]=(?=[ ]@?["])
            # `name: NAME`, and its value in the next line or attribute; or as the next string of a call
          | (?:,\s{{0,40}}|\s{{1,40}})\\{{0,3}}["']?(?:value|content|secure|default)\\{{0,3}}["']?
              [ \t]{{0,4}}[:=]
          | <\\?/\w{{1,20}}>(?:\s|\\[nrt]){{0,40}}<(?:string|value)>
          | \)\.\w{{1,20}}\(
            # attributes of a tag; a block with a default; the parameters of a call in JSON
          | (?:[ ]\w{{1,20}}="[^"<>\n]{{0,40}}"){{1,3}}+>
          | \s?\{{\s{{1,40}}(?:(?!default)\w{{1,20}}[ \t]{{0,9}}=[^\n]{{0,80}}\n\s{{0,40}}){{0,4}}+
              default[ \t]{{0,9}}=
          | ,\s{{0,9}}\\{{0,3}}["']params\\{{0,3}}["']\s{{0,9}}:\s{{0,9}}\[\s{{0,9}}
          | => | := | <- | [!=]={{1,2}} | -> | → | [:=>,] | \|\|=? | \| | \?\? | or(?=[ ]["']) | [는은]
          | %3[AD] | \\u003[ade] | &\#61; | &gt;
        )
        (?P<gap>\*{{0,2}}[ \t]{{0,20}})
        (?:[|>][+-]?[ \t]{{0,3}}\n[ \t]{{1,20}})?  # a block of YAML
        (?!\d{{1,15}}[,}}\]])  # a number in JSON: a count
        (?: !!binary[ ] | (?:\[\]byte|[\w.:]{{0,24}}(?:str|string|secret|from|bytes))\([ ]? )?
        (?P<open> [brufn@$L]{{0,2}}(?P<slashes>\\{{0,7}})(?P<quote>["'`])(?:(?P=quote){{2}})?
                | {_QUOTE} )?""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
# What an unquoted value never begins with: a placeholder, a list of signs, a host.
_NEVER: Final = frozenset("<*@")
# What stands before a name in the query of an address.
_QUERY: Final = frozenset("?&")
# What binds a string to a name, but no bare word.
_BINDS_STRINGS: Final = frozenset((",", "||", "??", "or"))


def assigned_at(text: str, place: int) -> Iterator[Span] | None:
    """The secret that is bound to the name at this place; None if nothing is bound to it."""
    head = _HEAD.match(text, place)
    return _judged(text, head) if head else None


def _judged(text: str, head: re.Match[str]) -> Iterator[Span]:
    if text[head.end() : head.end() + 1] in _NEVER and not head["open"]:
        return
    owner = owner_of(text, head.start())
    start = head.start() - len(owner)
    announced = names.announced_by(opening_before(text, start) + owner + head["name"])
    if announced is None and not owner and head["name"].lower() == "key":
        announced = names.ANY_KEY if text[start - 1 : start] in _QUERY else _of_service(text, start)
    if announced is None:
        return
    if head["open"]:
        yield from _quoted(text, head, announced)
    elif text.startswith("(", head.end()):
        yield from in_call(text, head.end(), announced)
    elif head["bind"] not in _BINDS_STRINGS:
        yield from _bare(text, head, announced, start)


def _of_service(text: str, start: int) -> NameMeaning | None:
    """What a mere `key` is if it belongs to a service: `algolia: { key: "…" }`."""
    before = text[max(0, start - 60) : start].rstrip(" \n\t\"'")
    parent = _PARENT.search(before) if before.endswith(("{", "(")) else None
    return (
        names.announced_by(f"{parent[1]}_key") if parent and names.is_service((parent[1].lower(),)) else None
    )


_PARENT: Final = compiled(r"""\b([A-Za-z]{2,30})["']?\s{0,4}[:=(]{1,2}\s{0,4}[{(]\Z""")


def _quoted(text: str, head: re.Match[str], announced: NameMeaning) -> Iterator[Span]:
    start, end = head.end(), _closing(text, head)
    if end <= start:
        return
    if announced.kind == "password" and values.is_words(
        text[start:end], sure=names.may_be_phrase(head["name"])
    ):
        yield Span(start, end, announced.kind, Rank.NAME)
    start, proof = _after_scheme(text, start, end, announced)
    if _is_secret_string(text, head, start, end, proof):
        yield Span(start, end, announced.kind, Rank.NAME)


def _is_secret_string(text: str, head: re.Match[str], start: int, end: int, proof: Proof) -> bool:
    value = text[start:end]
    if head["bind"] == "|":
        return values.is_secret_unquoted(value, proof)
    if (
        head["bind"] == ","
        and not head["name"].isupper()
        and not owner_of(text, head.start()).startswith("-")
        and text[_name_start(text, head) - 1 : _name_start(text, head)] != ":"
    ):
        return bool(head["closed"]) and _is_secret_second(text, head, value, proof)
    if values.is_secret(value, proof):
        return True
    return values.is_given(value, proof) and is_setting(text, head.start(), end + 1)


def _name_start(text: str, head: re.Match[str]) -> int:
    return head.start() - len(owner_of(text, head.start()))


def _is_secret_second(text: str, head: re.Match[str], value: str, proof: Proof) -> bool:
    """Whether the second of two strings is the secret that the first names; it may be the next of a list."""
    called = _FIRST_ARGUMENT.search(text, max(0, head.start() - 80), head.start())
    if called is None:
        return values.is_made_up(value)
    return values.is_secret(value, proof) if called["sets"] else values.is_secret_unquoted(value, proof)


_FIRST_ARGUMENT: Final = compiled(
    r"""(?:(?P<sets>\b(?:set|put|env|fill|type|input)\w{0,30})|\w)\([ ]?\\{0,7}["'][\w.#\[=-]{0,60}\Z""",
    re.ASCII | re.IGNORECASE,
)


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


_LONGEST_QUOTED: Final = 2_000


def _after_scheme(text: str, start: int, end: int, announced: NameMeaning) -> tuple[int, Proof]:
    scheme = (_ANY_SCHEME if announced.kind == "auth" else _SCHEME).match(text, start, end)
    return (scheme.end(), Proof.RANDOMNESS) if scheme else (start, announced.proof)


# `Authorization: Bearer …`: the scheme stays, so that a reader still sees how the request was made.
_SCHEME: Final = compiled(
    r"""(?:basic|bearer|token|apikey|api-key|ssws|geniekey|oauth|splunk|bot|key|[a-z]{3,20}-api-key)[ ]{1,3}
        (?:token="?)?""",
    re.IGNORECASE | re.VERBOSE,
)
# The same where a header has any word for it, a service's name say.
_ANY_SCHEME: Final = compiled(r"(?:[A-Za-z][A-Za-z0-9-]{2,24}+[ ]{1,3})(?:token=\"?)?", re.ASCII)
_CALL: Final = compiled(
    r"""\(\s{0,20}
        (?: (?:[\w.$:/\[\]-]{1,60}|\\{0,3}"[^"\n]{0,200}"|'[^'\n]{0,200}')[ ]{0,3},\s{0,40} ){0,4}+
        \\{0,3}(?P<quote>["'])(?P<value>[^"'\s\\]{4,200})\\{0,3}(?P=quote)(?:\.\w{1,20}\(\))?
        [ ]{0,9}(?:\)|\n|\Z|,[ ]?["']AES)""",
    re.VERBOSE,
)
_STRING: Final = compiled(r"""["'][^"'\n]{1,200}["']""")
_SETTER: Final = compiled(r"(?:\.|[sS]et_?|[wW]ith_?)[a-zA-Z]{0,12}[pP]ass(?:w(?:or)?d)?\Z")
# What takes a user's name and password together.
_PAIRS: Final = frozenset(("credential", "auth"))


def in_call(text: str, place: int, announced: NameMeaning) -> Iterator[Span]:
    """The last string among the arguments: `set_password("…")`, `NetworkCredential("me", "…")`."""
    call = _CALL.match(text, place)
    if call is None:
        return
    pair = len(_STRING.findall(call[0])) > 1 and announced.kind in _PAIRS
    sets = announced.proof is Proof.NONE and _SETTER.search(text, max(0, place - 60), place)
    judge = values.is_secret if pair or sets else values.is_secret_unquoted
    if judge(call["value"], Proof.NONE if pair else announced.proof):
        yield Span(*call.span("value"), announced.kind, Rank.NAME)


# A value that is given where there is no other: `getenv("X", "value")`, `env.X || "value"`, `${X:-value}`.
_ARGUMENT: Final = r"""[ ]?\\{0,3}["'][\w.-]{1,60}\\{0,3}["']"""
_FALLBACK: Final = compiled(
    rf"""[\w.\[\]"'$\#{{}}]{{0,80}}+(?:
          \({_ARGUMENT},[ ]?\\{{0,3}}["'](?P<argument>[^"'\s\\]{{4,200}})
        | (?:\((?:{_ARGUMENT})?\))?[ ]?(?:\|\||\?\?|or)[ ]?\\{{0,3}}["'](?P<otherwise>[^"'\s\\]{{4,200}})
        | :[-=](?P<shell>[^}}\s"']{{4,200}})\}}
    )""",
    re.ASCII | re.VERBOSE,
)
# A key as a list of its bytes.
_NUMBERS: Final = compiled(
    r"""(?:\[\]byte|new[ ]byte\[\])?[ ]?[\[{]\s{0,40}
        (?P<numbers>(?:(?:0x)?[0-9a-f]{1,3},[ ]{0,40}){15,200}+(?:0x)?[0-9a-f]{1,3})""",
    re.IGNORECASE | re.VERBOSE,
)
_LISTS: Final = frozenset("[{n ")
# `creds: admin / …`
_USER_AND: Final = compiled(
    r"""[\w.@-]{2,40}(?:[ ]/[ ]|:|/)(?P<value>[^\s"'`<>\\,;]{6,100})(?=[\s"'\\]|\Z)"""
)
# Several words to the end of their line.
_WORDS: Final = compiled(
    r"[\w@#$%^&*!+?-]{2,30}(?:[ ][\w@#$%^&*!+?-]{1,30}){1,11}+(?=[ \t]{0,9}(?:\r?\n|\Z))", re.ASCII
)
_BARE: Final = compiled(
    rf"""(?:{_SCHEME.pattern})?(?:[^\s"'`<>\\]|\\(?![nrtu"'\\/])){{1,{LONGEST_JUDGED}}}+""",
    re.IGNORECASE | re.VERBOSE,
)

_BARE_AUTH: Final = compiled(
    rf"""(?:{_ANY_SCHEME.pattern}(?=[^\s"'`<>\\]{{16}}))?
         (?:[^\s"'`<>\\]|\\(?![nrtu"'\\/])){{1,{LONGEST_JUDGED}}}+""",
    re.VERBOSE,
)


def _bare(text: str, head: re.Match[str], announced: NameMeaning, name_start: int) -> Iterator[Span]:
    place = head.end()
    if text[place : place + 1] in _LISTS and (numbers := _NUMBERS.match(text, place)):
        yield Span(*numbers.span("numbers"), announced.kind, Rank.NAME)
    elif (other := _FALLBACK.match(text, place)) and values.is_secret(
        other[other.lastgroup or 0], announced.proof
    ):
        yield Span(*other.span(other.lastgroup or 0), announced.kind, Rank.NAME)
    elif announced.kind in _PAIRS and (pair := _USER_AND.match(text, place)):
        if values.is_secret_unquoted(pair["value"], Proof.NONE):
            yield Span(*pair.span("value"), announced.kind, Rank.NAME)
    elif (
        announced.kind == "password"
        # A shell ends the value at the first blank.
        and (head["bind"] != "=" or head["gap"])
        and (words := _WORDS.match(text, place))
        and values.is_words(words[0], sure=names.may_be_phrase(head["name"]))
    ):
        yield Span(*words.span(), announced.kind, Rank.NAME)
    elif match := (_BARE_AUTH if announced.kind == "auth" else _BARE).match(text, place):
        start, proof = _after_scheme(text, place, match.end(), announced)
        value = trim_value(text[start : match.end()])
        if head["bind"] == ":" and _is_type(text, name_start, start + len(value), value):
            return
        if _is_secret_word(text, head, name_start, start, value, proof):
            yield Span(start, end_of(text, start, value), announced.kind, Rank.NAME)


def _is_secret_word(
    text: str, head: re.Match[str], name_start: int, start: int, value: str, proof: Proof
) -> bool:
    """Whether a bare word is the secret: it may be text, or it may be code or prose."""
    bind, end = head["bind"], start + len(value)
    if proof is not Proof.NONE and value.isalpha() and not is_drawn(value):
        return False
    if bind == "|":
        return values.is_made_up(value)
    if bind.endswith(">") and text.startswith("</", end):
        named = not head["closed"] or _ATTRIBUTE.search(text, max(0, name_start - 20), name_start)
        return bool(named) and values.is_secret(value, proof)
    if bind == ":" and text.startswith("pass:", head.start()) and text.endswith(_PASS_IN, 0, name_start):
        return values.is_secret(value, proof)
    if bind == "=" and not head["gap"]:
        # NAME=value of a shell, an .env or an .ini file, a query, a connection string, a flag.
        name = text[name_start : head.end("name")]
        if values.opens_code(value) and not name.isupper():
            return False
        begins = STATEMENT_BEGINS.search(text, max(0, name_start - 80), name_start)
        if begins and (name.isupper() or begins["pair"]):
            return values.is_given(value, proof)
        if begins or name.isupper() or name.startswith("-"):
            return values.is_secret(value, proof)
    if values.is_secret_unquoted(value, proof):
        return True
    return _is_set(value, proof) and is_setting(text, name_start, end)


def _is_type(text: str, name_start: int, end: int, value: str) -> bool:
    """Whether code declares what a name is, not what it holds: `secret: Base64String;`."""
    if not is_code_name(value):
        return False
    if _DECLARES.search(text, max(0, name_start - 200), name_start):
        return True
    if not _TYPE.match(value):
        return False
    return bool(ENDS_LIKE_TYPE.search(value) or _AFTER_TYPE.match(text, end))


# A type begins with a capital and ends with a word.
_TYPE: Final = compiled(r"[*&]?[A-Z]\w{0,60}(?<=[A-Za-z][a-z][a-z])[?!]?\Z", re.ASCII)
_AFTER_TYPE: Final = compiled(r"[?!]?(?:\[\])?[ ]{0,2}[;,)|&=>{}<\[]")
# Keywords that declare a name or a function, in the same line.
_DECLARES: Final = compiled(
    r"""\b(?:async|class|const|constructor|def|defn|final|fn|fun|func|function|init|input|interface|lateinit|let|mut|private
        |protected|pub|public|readonly|record|required|static|struct|type|val|var)\b[^\n"'`]{0,160}(?<=[\s({,:$])\Z""",
    re.VERBOSE,
)
# The attribute that names the element which holds the value.
_ATTRIBUTE: Final = compiled(r"""\b(?:name|key|id)=\\{0,3}["']\Z""")
# openssl takes a password as `pass:…`.
_PASS_IN: Final = ("-pass ", "-passin ", "-passout ")


def _is_set(value: str, proof: Proof) -> bool:
    """Whether it can be the secret where the lines around are settings, or code that looks so."""
    return (
        values.is_given(value, proof)
        and not values.is_code(value)
        and value.lower() not in names.OF_PASSWORDS
    )


_LONGEST_LINE: Final = 2_000
_MOST_ROWS: Final = 5_000
# Below a heading that may itself be a row: were all read there, a table of headings would take for ever.
_MOST_BELOW_ROWS: Final = 100
_SEPARATORS: Final = "|,;\t"
# A heading has words in its cells, and nothing else.
_HEADING: Final = compiled(r"""[ \t"'`*_|]{0,9}[A-Za-z][\w /().#*"'`-]{0,40}\Z""", re.ASCII)
_RULE: Final = compiled(r"[ \t]*+\|?+[ \t:|+-]{3,2000}+\Z")
_CELL: Final = compiled(r"""[ \t"'`*]{0,9}(?P<value>[^"'`*].{0,400}?)[ \t"'`*]{0,9}\Z""")
# A neighbour that shows whose the secrets are: there a plain word is one too.
_OWNERS: Final = compiled(
    r"user|login|email|e-mail|account|host|name|server|site|service|url|system|client", re.IGNORECASE
)
_PASSWORDS: Final = frozenset(("password", "secret", "pin", "recovery-code"))
_CODES: Final = compiled(r"(?:\bpins?\b|(?:recovery|backup|scratch)[ _-]codes?)", re.IGNORECASE)


def column_at(text: str, place: int) -> Iterator[Span]:
    """The values of the column whose heading has a name that says secret at this place."""
    line_start = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
    line_end = _end_of_line(text, place, place + _LONGEST_LINE + 1)
    if line_end - line_start > _LONGEST_LINE:
        return
    heading = text[line_start:line_end]
    separator = next((sign for sign in _SEPARATORS if sign in heading), "")
    if not separator:
        return
    cells = heading.split(separator)
    column = heading[: place - line_start].count(separator)
    announced = _announced(cells[column])
    if announced is None or not _is_heading(text, line_end, separator, cells):
        return
    owned = any(_OWNERS.search(cell) for number, cell in enumerate(cells) if number != column)
    most = _MOST_BELOW_ROWS if _is_below_row(text, line_start, separator, len(cells)) else _MOST_ROWS
    for start, value in _below(text, line_end, separator, len(cells), column, most):
        if _is_secret(value, announced, owned=owned):
            yield Span(start, start + len(value), announced.kind, Rank.NAME)


def _is_heading(text: str, end: int, separator: str, cells: list[str]) -> bool:
    """Whether these cells are a heading: with bars a rule is drawn below it, elsewhere none is empty."""
    if separator == "|":
        ruled = _RULE.match(text[end + 1 : _end_of_line(text, end + 1)].rstrip("\r"))
        return ruled is not None and all(_HEADING.match(cell) for cell in cells if cell.strip())
    return all(map(_HEADING.match, cells))


def _announced(cell: str) -> NameMeaning | None:
    if code := _CODES.search(cell):
        return NameMeaning("pin" if "pin" in code[0].lower() else "recovery-code", Proof.NONE)
    return names.announced_by(cell)


def _is_below_row(text: str, line_start: int, separator: str, width: int) -> bool:
    """Whether the line before this one has as many cells."""
    end = max(0, line_start - 1)
    before = text.rfind("\n", max(0, end - _LONGEST_LINE), end) + 1
    return (
        line_start > 0 and end - before <= _LONGEST_LINE and text.count(separator, before, end) == width - 1
    )


def _below(
    text: str, end: int, separator: str, width: int, column: int, most: int
) -> Iterator[tuple[int, str]]:
    """Where each cell of this column begins, and what it says, down to the first line that is no row."""
    for _ in range(most):
        start, end = end + 1, _end_of_line(text, end + 1)
        line = text[start:end].rstrip("\r")
        cells = line.split(separator)
        if start >= len(text) or not line.strip():
            return
        if separator == "|" and _RULE.match(line):
            continue
        if len(cells) != width:
            return
        if cell := _CELL.match(cells[column]):
            place = start + sum(len(cell) + 1 for cell in cells[:column])
            yield place + cell.start("value"), cell["value"]


def _is_secret(value: str, announced: NameMeaning, *, owned: bool) -> bool:
    if any(map(str.isspace, value)):
        return values.is_words(value, sure=announced.kind == "password")
    if announced.kind in _PASSWORDS and owned:
        return values.is_given(value, Proof.NONE) and not values.is_code(value)
    return values.is_secret_unquoted(value, announced.proof)


def _end_of_line(text: str, place: int, limit: int | None = None) -> int:
    """Where the line ends, or the limit if that is nearer: a line may be as long as the text."""
    end = text.find("\n", place, limit)
    return end if end >= 0 else len(text) if limit is None else min(limit, len(text))


_NEWLINE: Final = r"(?:\r?\n|\\r|\\n)"
# Where somebody has made one line of it all, only the indent is left of a new line.
_BLOCK: Final = re.compile(
    rf"""\\{{0,3}}["']?(?P<plain>string)?data\\{{0,3}}["']?:[ ]?(?:\{{|{_NEWLINE}|[ ]{{2,40}}(?=\S))""",
    re.IGNORECASE,
)
_ENTRY: Final = re.compile(
    rf"""(?:{_NEWLINE}|,)?[ \t]{{0,40}}\\{{0,3}}["']?[\w.-]{{1,100}}\\{{0,3}}["']?:[ ]?
        (?:[>|][+-]?{_NEWLINE}[ \t]{{1,40}})?\\{{0,3}}["']?(?P<value>[^\s"'\\,}}]{{4,4000}})\\{{0,3}}["']?""",
    re.VERBOSE,
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]{4,4000}={0,2}\Z")
_LOOK_AHEAD: Final = 2_000
_MOST_ENTRIES: Final = 30


def _secret_values(text: str, place: int) -> Iterator[Span]:
    block = _BLOCK.search(text, place, place + _LOOK_AHEAD)
    entry = _ENTRY.match(text, block.end()) if block else None
    for _ in range(_MOST_ENTRIES):
        if block is None or entry is None:
            return
        value = entry["value"]
        if values.is_given(value, Proof.NONE) and (block["plain"] or _ENCODED.match(value)):
            yield Span(*entry.span("value"), "secret", Rank.PLACE)
        entry = _ENTRY.match(text, entry.end())


MANIFEST_RULES: Final = (
    Rule(b"secret", rb"""(?:(?<=kind:\ secret)|(?<=kind:\ "secret)|(?<=kind":\ "secret)|(?<=kind":"secret)
                           |(?<=kind\\":\ \\"secret)|(?<=kind\\":\\"secret))(?![\w-])""", _secret_values),
)  # fmt: skip
