"""Shell: what a command line does to files, and how a person would name and show it.

Commands are read by rule, never run or expanded: a word whose value only the shell would know (a variable,
a pattern, a substitution) is no file. How a command ended is the subject of `outcomes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from holdfast.core.events import Action
from holdfast.core.names import program_name
from holdfast.core.patches import FileChange, below, patched, placed
from holdfast.core.text import one_line, shortened


def edits(command: str, project: str = "") -> tuple[FileChange, ...]:
    """The file changes that can be seen in a command, in their order, each once.

    Paths are joined with the folders that the command enters. Temporary files are left out, unless the
    project stands among them.
    """
    return tuple(dict.fromkeys(_edits(command, project, "")))


def program(command: str) -> str:
    """Program and subcommand as a person would name them: `git commit`, `npm run build`."""
    steps = (step for step in _steps(*_without_bodies(command)) if not step.reads_the_one_before)
    commands = [words for step in steps if (words := _bare(step.words))]
    chosen = next((words for words in commands if not _is_aside(words)), None)
    chosen = chosen or next((words for words in reversed(commands) if words[0].text != "cd"), None)
    if chosen is None:
        return "cd" if commands else ""
    script = _script(chosen)
    return (program(script) if script else "") or program_name([word.path for word in chosen[:_NAMING]])


def shown(command: str, limit: int) -> str:
    """The command on one line for showing: without the way to the project, long texts and paging."""
    text, bodies = _without_bodies(command)
    core = _core(text, list(_steps(text, bodies)), ("/", "~"), _PAGERS)
    return shortened(one_line(_BODY.sub("…", core)), limit)


def same(command: str) -> str:
    """The form in which two runs of one check are equal, wherever they ran and whatever was shown of them."""
    text, bodies = _without_bodies(command)
    core = _core(text, list(_steps(text, bodies)), ("",), _FILTERS)
    return one_line(_BODY.sub(lambda mark: f" {bodies[int(mark[1])]}", core))


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class _Word:
    """One word without its quotes; not plain where only the shell knows what it becomes."""

    text: str
    plain: bool = True

    @property
    def path(self) -> str:
        """The file that the word may name, or nothing."""
        return self.text if self.plain else ""


@dataclass(frozen=True, slots=True)
class _Step:
    """One simple command: its words and redirections, the texts given to it, and what stands before it."""

    words: tuple[_Word, ...]
    redirections: tuple[tuple[str, _Word], ...]
    bodies: tuple[str, ...]
    joined: str
    end: int

    @property
    def name(self) -> str:
        return self.words[0].text if self.words else ""

    @property
    def reads_the_one_before(self) -> bool:
        return self.joined.strip("()\n") in {"|", "|&"}


_HEREDOC: Final = re.compile(r"(?<!<)<<(-?)[ \t]*+['\"\\]?([A-Za-z_]\w*+)['\"]?")
_BODY: Final = re.compile("\0([0-9]+)")


def _without_bodies(command: str) -> tuple[str, tuple[str, ...]]:
    """The command with a numbered mark in place of each here-document's text, and those texts."""
    lines = command.replace("\0", "").replace("\\\n", " ").strip().split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    bodies: list[str] = []
    number = 0
    while number < len(lines):
        line, pieces, position = lines[number], "", 0
        number += 1
        for match in _HEREDOC.finditer(line):
            dash, mark = match.groups()
            # A shift looks like a here-document, and one that was cut off has no last line.
            if last.get(mark, -1) < number and not (mark.isupper() and len(mark) > 2):
                continue
            end = number
            while end < len(lines) and mark != (lines[end].strip() if dash else lines[end].rstrip()):
                end += 1
            pieces += f"{line[position : match.start()]}<<{mark}\0{len(bodies)}"
            bodies.append("\n".join(lines[number:end]))
            position, number = match.end(), end + 1
        kept.append(pieces + line[position:])
    return "\n".join(kept), tuple(bodies)


_GAP: Final = re.compile(r"[ \t\r]++")
_SIGN: Final = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|[0-9]*+(?P<redirection>&>>?|>>|>\||>&|<<<|<<-?|<>|<&|[<>](?!\())"
    r"|(?P<operator>&&|\|\||\|&|;;&?|[|;&()\n])"
)


def _steps(text: str, bodies: Sequence[str]) -> Iterator[_Step]:
    words: list[_Word] = []
    redirections: list[tuple[str, _Word]] = []
    joined = redirected = ""
    position = end = 0
    while True:
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        over, sign = position >= len(text), _SIGN.match(text, position)
        if (over or (sign and sign["operator"])) and (words or redirections):
            given = (bodies[int(mark[1])] for _, to in redirections if (mark := _BODY.search(to.text)))
            yield _Step(tuple(words), tuple(redirections), tuple(given), joined, end)
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


_PIECE: Final = re.compile(
    r"(?P<bare>[^\s'\"\\$`<>|&;()]++)|\\(?P<escaped>.)|'(?P<single>[^']*+)'?"
    r"|(?P<double>\")|(?P<unknown>\$[({]|[<>]\(|`)|(?P<other>[$\\])",
    re.DOTALL,
)
_PATTERN: Final = re.compile(r"[*?]|\{[^{}]*+\}|(?<!/)\[|\[(?!(?:\.\.\.)?\w{2,40}\][/.])")
_LIVE: Final = re.compile(r"(?<!\\)[$`]")
_ESCAPED: Final = re.compile(r"\\([\"\\$`\n])")


def _word(text: str, position: int) -> tuple[_Word, int]:
    """The word that begins here, and where it ends: always further on."""
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
    return (_Word(pieces, plain), position) if position > start else (_Word(text[start]), start + 1)


_NESTING: Final = re.compile(r"\\.|\$[({]|['\"()}`]", re.DOTALL)
_CLOSED_BY: Final = {'"': '"', "$(": ")", "${": "}", "(": ")", "`": "`"}


def _closing(text: str, position: int) -> int:
    """Just after the quote or substitution that opens here; the end of the text where it stays open."""
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


_ASSIGNMENT: Final = re.compile(r"\w++\+?=")
_KEYWORDS: Final = frozenset("if then else elif while until do ! {".split())
_LOOPS: Final = frozenset("for case select function done fi esac }".split())
# Programs that run another one, and which of their options have a value.
_PREFIXES: Final = {
    "sudo": "-u -g -h", "env": "-u -C", "time": "-f -o", "timeout": "-k -s", "nice": "-n", "exec": "-a",
    "stdbuf": "-i -o -e", "nohup": "", "command": "",
}  # fmt: skip


def _bare(words: Sequence[_Word]) -> Sequence[_Word]:
    """The words from the program on: without assignments, keywords and programs that only run another one."""
    at = 0
    while at < len(words):
        first = words[at].text
        if first in _LOOPS:
            return ()
        if first in _PREFIXES:
            at = _past_options(words, at + 1, _PREFIXES[first].split()) + (first == "timeout")
        elif first in _KEYWORDS or _ASSIGNMENT.match(first):
            at += 1
        else:
            break
    return words[at:]


def _past_options(words: Sequence[_Word], at: int, valued: Sequence[str]) -> int:
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in valued else 1
    return at


def _script(words: Sequence[_Word]) -> str:
    """What `bash -c …` is asked to run."""
    if words[0].text.rsplit("/", 1)[-1] not in {"bash", "sh", "zsh", "dash"}:
        return ""
    flag = next((at for at, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word.text)), len(words))
    return words[flag + 1].text if flag + 1 < len(words) else ""


# ---------------------------------------------------------------- files


def _edits(command: str, project: str, folder: str | None) -> Iterator[FileChange]:
    outer: list[str | None] = []
    for step in _steps(*_without_bodies(command)):
        for sign in step.joined:
            if sign == "(":
                outer.append(folder)
            elif sign == ")" and outer:
                folder = outer.pop()
        words = _bare(step.words)
        if words and words[0].text in {"cd", "pushd", "popd"}:
            folder = _entered(folder, words[1:])
            continue
        if words and (script := _script(words)):
            yield from _edits(script, project, folder)
        place = _entered(folder, words[2:3]) if [word.text for word in words[:2]] == ["git", "-C"] else folder
        found = (placed(change, place, project) for change in _changes(words, step))
        yield from (change for change in found if change)


def _entered(folder: str | None, args: Sequence[_Word]) -> str | None:
    target = next(iter(_operands(args, "")), None)
    return below(folder, target.path) if target and target.path not in {"", "-"} else None


def _changes(words: Sequence[_Word], step: _Step) -> Iterator[FileChange]:
    """The changes of one simple command, as its words name the files; a word that is none has no path."""
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    if name in _CHANGERS:
        yield from _CHANGERS[name](words[1:])
    if name in {"apply_patch", "applypatch", "patch", "git"}:
        for text in (*step.bodies, *(word.text for word in words[1:] if "\n" in word.text)):
            yield from patched(text)
    if name != "[[":
        for sign, word in step.redirections:
            if ">" in sign and sign != "<>" and not (sign == ">&" and word.text.rstrip("-").isdigit()):
                yield FileChange(word.path, Action.EDIT if ">>" in sign else Action.WRITE)


def _operands(args: Sequence[_Word], valued: str) -> list[_Word]:
    """The words that are neither options nor the values of these one-letter options."""
    found: list[_Word] = []
    rest = iter(args)
    for word in rest:
        if word.text == "--":
            return [*found, *rest]
        if not word.text.startswith("-") or word.text == "-":
            found.append(word)
        elif word.text[1] != "-" and word.text[-1] in valued:
            next(rest, None)
    return found


def _has(args: Sequence[_Word], option: str) -> bool:
    return any(re.match(option, word.text) for word in args)


def _files(args: Sequence[_Word], *, action: Action, valued: str = "") -> Iterator[FileChange]:
    yield from (FileChange(word.path, action) for word in _operands(args, valued))


def _in_place(args: Sequence[_Word], *, option: str) -> Iterator[FileChange]:
    """The files of an editor that changes them where they are only if it is told so."""
    if _has(args, option):
        # Elsewhere than on Linux `-i` takes a suffix, mostly an empty one.
        files = [word for word in _operands(args, "eEf") if word.text]
        scripted = _has(args, r"-[A-Za-z0-9]*[eEf]$|--(?:expression|file)\b")
        yield from (FileChange(word.path, Action.EDIT) for word in files[0 if scripted else 1 :])


def _tee(args: Sequence[_Word]) -> Iterator[FileChange]:
    return _files(args, action=Action.EDIT if _has(args, r"-\w*a|--append") else Action.WRITE)


def _moved(args: Sequence[_Word], *, copied: bool) -> Iterator[FileChange]:
    *sources, target = _operands(args, "S") or [_Word("")]
    if _has(args, r"-\w*t$|--target"):
        return
    for source in sources:
        name = source.path.rstrip("/").rsplit("/", 1)[-1]
        into = len(sources) > 1 or _is_folder(target.path, name)
        to = f"{target.path}/{name}" if into and target.path and name else target.path
        path = source.path if to else ""
        yield FileChange(to, Action.WRITE) if copied else FileChange(path, Action.EDIT, to)


def _is_folder(target: str, name: str) -> bool:
    """Whether a file of that name goes into the target rather than becoming it, as far as names tell."""
    last = target.rsplit("/", 1)[-1]
    return last in {"", ".", ".."} or (last.islower() and "." not in last and "." in name[1:])


def _git(args: Sequence[_Word]) -> Iterator[FileChange]:
    subcommand, *rest = args[_past_options(args, 0, ("-C", "-c")) :] or [_Word("")]
    match subcommand.text:
        case "mv":
            yield from _moved(rest, copied=False)
        case "rm" if not _has(rest, "--cached"):
            yield from _files(rest, action=Action.DELETE)
        case _:
            return


_CHANGERS: Final[dict[str, Callable[[Sequence[_Word]], Iterator[FileChange]]]] = {
    "sed": partial(_in_place, option=r"-[A-Za-z]*i|--in-place"),
    "perl": partial(_in_place, option=r"-[a-zA-HJ-LN-Z0-9]*i"),
    "tee": _tee,
    "mv": partial(_moved, copied=False),
    "cp": partial(_moved, copied=True),
    "rm": partial(_files, action=Action.DELETE),
    "touch": partial(_files, action=Action.WRITE, valued="drt"),
    "git": _git,
}


# ---------------------------------------------------------------- naming and showing

_NAMING: Final = 30  # words among which a program's name is looked for
# What agents put in front of a command or between two; it is the program only where nothing else is run.
_ASIDE: Final = frozenset(
    "cd pushd popd export set unset source . echo printf sleep true : mkdir test [ [[ which wait exit".split()
)


def _is_aside(words: Sequence[_Word]) -> bool:
    return words[0].text in _ASIDE or [word.text for word in words[:2]] == ["git", "add"]


_PAGERS: Final = frozenset("head tail cat less more".split())
_FILTERS: Final = _PAGERS | {"grep", "egrep", "rg", "wc", "sort", "uniq", "tee"}
_SIGNS: Final = re.compile(r"\s2>(?:&1|\s?/dev/null)")
_THEN: Final = re.compile(r"\s*+(?:&&|[;\n])\s*+")


def _core(text: str, steps: Sequence[_Step], away: tuple[str, ...], paging: frozenset[str]) -> str:
    """The command without `cd` to a folder like that before it, and without such filters after it."""
    first, last, start = 0, len(steps) - 1, 0
    while first < last and text.startswith("cd ", start) and steps[first].words[-1].text.startswith(away):
        if not (then := _THEN.match(text, steps[first].end)):
            break
        first, start = first + 1, then.end()
    if last < 0 or text[steps[last].end :].strip():
        return _SIGNS.sub("", text[start:])
    while first < last and (
        (steps[last].reads_the_one_before and steps[last].name in paging)
        or (steps[last].joined == "||" and steps[last].name == "true")
    ):
        last -= 1
    return _SIGNS.sub("", text[start : steps[last].end])
