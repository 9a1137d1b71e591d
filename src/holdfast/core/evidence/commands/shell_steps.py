"""Shell steps: splits a command line into its simple commands, without running or expanding anything.

Only parsing: `shell` says what the commands do to files and how they are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes; not plain if only the shell knows its value."""

    text: str
    plain: bool = True

    @property
    def path(self) -> str:
        """The file that the word may name; empty if it is not plain."""
        return self.text if self.plain else ""


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command: its words, redirections and here-documents, and the operators before it."""

    words: tuple[Word, ...]
    bare: tuple[Word, ...]
    """The words from the program on; empty if it only opens or closes a loop."""
    script: str
    """The script that `bash -c …` runs."""
    redirections: tuple[tuple[str, Word], ...]
    bodies: tuple[str, ...]
    joined: str
    end: int

    @property
    def name(self) -> str:
        """The program as typed."""
        return self.words[0].text if self.words else ""

    @property
    def reads_the_one_before(self) -> bool:
        """Whether its input is the output of the command before."""
        return self.joined.strip("()\n") in {"|", "|&"}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A parsed command line."""

    text: str
    """The command on one line: without comments, and with a mark for each here-document's text."""
    bodies: tuple[str, ...]
    steps: tuple[Step, ...]


@lru_cache(maxsize=32)
def read(command: str) -> CommandLine:
    """The parsed command line; cached, since several callers ask for the same one in turn."""
    text, bodies = _without_bodies(command)
    text = _without_lines(text) if "\n" in text or "#" in text else text
    return CommandLine(text, bodies, tuple(_steps_of(text, bodies)))


_HEREDOC: Final = compiled(r"(?<!<)<<(-?)[ \t]*+['\"\\]?([A-Za-z_]\w*+)['\"]?")
BODY: Final = compiled("\0([0-9]+)")


def _without_bodies(command: str) -> tuple[str, tuple[str, ...]]:
    """The command with a numbered mark in place of each here-document's text, and those texts."""
    command = command.replace("\0", "").replace("\\\n", " ").strip()
    if "<<" not in command:
        return command, ()
    lines = command.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    remaining: list[str] = []
    bodies: list[str] = []
    number = 0
    while number < len(lines):
        line, pieces, position = lines[number], "", 0
        number += 1
        for match in _HEREDOC.finditer(line):
            dash, mark = match.groups()
            # A shift looks like a here-document, and a truncated here-document has no last line.
            if last.get(mark, -1) < number and not (mark.isupper() and len(mark) > 2):
                continue
            end = number
            while end < len(lines) and mark != (lines[end].strip() if dash else lines[end].rstrip()):
                end += 1
            pieces += f"{line[position : match.start()]}<<{mark}\0{len(bodies)}"
            bodies.append("\n".join(lines[number:end]))
            position, number = match.end(), end + 1
        remaining.append(pieces + line[position:])
    return "\n".join(remaining), tuple(bodies)


_GAP: Final = compiled(r"[ \t\r]++")
_SIGN: Final = compiled(
    r"(?P<comment>\#[^\n]*)"
    r"|[0-9]*+(?P<redirection>&>>?|>>|>\||>&|<<<|<<-?|<>|<&|[<>](?!\())"
    r"|(?P<operator>&&|\|\||\|&|;;&?|[|;&()\n])"
)
_SIGN_BEGINS: Final = frozenset("#0123456789&<>|;()\n")


def _without_lines(text: str) -> str:
    """The command line without comments, and with semicolons in place of line breaks.

    Commands are shown on one line, where a comment would swallow what comes after it.
    """
    pieces: list[str] = []
    position, goes_on = 0, True
    while position < len(text):
        gap, sign = _GAP.match(text, position), _SIGN.match(text, position)
        if gap:
            pieces.append(gap[0])
            position = gap.end()
            continue
        start, position = position, sign.end() if sign else _word(text, position)[1]
        if sign and sign["comment"]:
            continue
        if sign and sign["operator"] == "\n":
            if pieces and not pieces[-1].strip():
                pieces.pop()
            pieces.append(" " if goes_on else "; ")
            goes_on = True
            continue
        piece = text[start:position]
        pieces.append(piece)
        goes_on = piece in _GOES_ON
    return "".join(pieces).strip().removesuffix(";").rstrip() if goes_on else "".join(pieces).strip()


_GOES_ON: Final = frozenset("&& || | |& ; ;; & ( { do then else elif in !".split())
"""What the end of a line may be if the next line continues it."""


def _steps_of(text: str, bodies: Sequence[str]) -> Iterator[Step]:
    """The simple commands of a command line, in order."""
    words: list[Word] = []
    redirections: list[tuple[str, Word]] = []
    joined = redirected = ""
    position = end = 0
    while True:
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        over = position >= len(text)
        sign = _SIGN.match(text, position) if not over and text[position] in _SIGN_BEGINS else None
        if (over or (sign and sign["operator"])) and (words or redirections):
            inputs = (bodies[int(mark[1])] for _, to in redirections if (mark := BODY.search(to.text)))
            bare = tuple(_bare_words(words))
            yield Step(tuple(words), bare, _script_of(bare), tuple(redirections), tuple(inputs), joined, end)
            words, redirections, joined = [], [], ""
        if over:
            return
        if sign is None:
            word, position = _word(text, position)
            if redirected:
                redirections.append((redirected, word))
            else:
                words.append(word)
            redirected, end = "", position
        else:
            position = sign.end()
            joined += sign["operator"] or ""
            redirected = sign["redirection"] or ""
            end = position if redirected else end


# Most words match this, and need no further parsing.
_PLAIN: Final = compiled(r"[^\s'\"\\$`<>|&;()*?{\[]++(?!\S)")
_PIECE: Final = compiled(
    # A shell rejects a folder in brackets (`app/(shop)/page.tsx`), but its content is still no command.
    r"(?P<folder>(?<=/)\([\w-]++\)(?=/))"
    r"|(?P<bare>[^\s'\"\\$`<>|&;()]++)|\\(?P<escaped>.)|'(?P<single>[^']*+)'?"
    r"|(?P<double>\")|(?P<unknown>\$[({]|[<>]\(|`)|(?P<other>[$\\])",
    re.DOTALL,
)
_PATTERN: Final = compiled(r"[*?]|\{[^{}]*+\}|(?<!/)\[|\[(?!(?:\.\.\.)?\w{2,40}\][/.])")
_LIVE: Final = compiled(r"(?<!\\)[$`]")
_ESCAPED: Final = compiled(r"\\([\"\\$`\n])")


def _word(text: str, position: int) -> tuple[Word, int]:
    """The word that begins here, and its end, which is always after `position`."""
    if whole := _PLAIN.match(text, position):
        return Word(whole[0]), whole.end()
    start, pieces, plain = position, "", True
    while piece := _PIECE.match(text, position):
        position = piece.end()
        match piece.lastgroup:
            case "double":
                position = _closing(text, piece.start())
                inside = text[piece.end() : position].removesuffix('"')
                plain = plain and not _LIVE.search(inside)
                pieces += _ESCAPED.sub(r"\1", inside)
            case "unknown" | "other":
                plain = False
                position = _closing(text, piece.start()) if piece.lastgroup == "unknown" else position
            case "bare":
                pieces += piece["bare"]
                plain = plain and not _PATTERN.search(piece["bare"])
            case _:
                pieces += piece[piece.lastgroup or 0]
    return (Word(pieces, plain), position) if position > start else (Word(text[start]), start + 1)


_NESTING: Final = compiled(r"\\.|\$[({]|['\"()}`]", re.DOTALL)
_CLOSED_BY: Final = {'"': '"', "$(": ")", "${": "}", "(": ")", "`": "`"}


def _closing(text: str, position: int) -> int:
    """The position after the quote or substitution that opens here; the end of the text if it stays open."""
    awaited: list[str] = []
    while sign := _NESTING.search(text, position):
        position = sign.end()
        inside = awaited[-1] if awaited else ""
        if sign[0] == inside:
            awaited.pop()
            if not awaited:
                return position
        elif sign[0] == "'" and inside != '"':
            position = text.find("'", position) + 1 or len(text)
        elif sign[0] in _CLOSED_BY and not (inside == '"' and sign[0] == "("):
            awaited.append(_CLOSED_BY[sign[0]])
    return len(text)


_ASSIGNMENT: Final = compiled(r"\w++\+?=")
_KEYWORDS: Final = frozenset("if then else elif while until do ! {".split())
_LOOPS: Final = frozenset("for case select function done fi esac }".split())
# Programs that run another one, and which of their options have a value.
_PREFIXES: Final = {
    "sudo": "-u -g -h", "env": "-u -C", "time": "-f -o", "timeout": "-k -s", "nice": "-n", "exec": "-a",
    "stdbuf": "-i -o -e", "nohup": "", "command": "",
}  # fmt: skip


def _bare_words(words: Sequence[Word]) -> Sequence[Word]:
    """The words from the program on: without assignments, keywords and wrappers such as `sudo`."""
    at = 0
    while at < len(words):
        first = words[at].text
        if first in _LOOPS:
            return ()
        if first in _PREFIXES:
            at = past_options(words, at + 1, _PREFIXES[first].split()) + (first == "timeout")
        elif first in _KEYWORDS or _ASSIGNMENT.match(first):
            at += 1
        else:
            break
    return words[at:]


def past_options(words: Sequence[Word], at: int, valued: Sequence[str]) -> int:
    """The position after the options that begin here; those in `valued` take a value."""
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in valued else 1
    return at


def _script_of(words: Sequence[Word]) -> str:
    if not words or words[0].text.rsplit("/", 1)[-1] not in {"bash", "sh", "zsh", "dash"}:
        return ""
    flag = next((at for at, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word.text)), len(words))
    return words[flag + 1].text if flag + 1 < len(words) else ""
