"""Shell: the simple commands of a command line, the files they change, and how they are named and shown.

Commands are parsed by rule, never run or expanded: a word whose value only the shell knows (a variable, a
pattern, a substitution) is no file. `outcomes` reads how a command ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.evidence.patches import FileChange, changes_in_patch, path_below, with_located_paths
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.names import is_file_name, program_name
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word without its quotes; not plain if only the shell knows its value."""

    text: str
    plain: bool = True

    @property
    def path(self) -> str:
        """The file that the word may name; empty if it is not plain."""
        return self.text if self.plain else ""


@dataclass(frozen=True, slots=True)
class ShellStep:
    """One simple command: its words, redirections and here-documents, and the operators before it."""

    words: tuple[ShellWord, ...]
    bare: tuple[ShellWord, ...]
    """The words from the program on; empty if it only opens or closes a loop."""
    script: str
    """The script that `bash -c …` runs."""
    redirections: tuple[tuple[str, ShellWord], ...]
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
    steps: tuple[ShellStep, ...]


@lru_cache(maxsize=32)
def parse_command(command: str) -> CommandLine:
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


def _steps_of(text: str, bodies: Sequence[str]) -> Iterator[ShellStep]:
    """The simple commands of a command line, in order."""
    words: list[ShellWord] = []
    redirections: list[tuple[str, ShellWord]] = []
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
            yield ShellStep(
                tuple(words), bare, _script_of(bare), tuple(redirections), tuple(inputs), joined, end
            )
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


def _word(text: str, position: int) -> tuple[ShellWord, int]:
    """The word that begins here, and its end, which is always after `position`."""
    if whole := _PLAIN.match(text, position):
        return ShellWord(whole[0]), whole.end()
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
    return (ShellWord(pieces, plain), position) if position > start else (ShellWord(text[start]), start + 1)


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


def _bare_words(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
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


def past_options(words: Sequence[ShellWord], at: int, valued: Sequence[str]) -> int:
    """The position after the options that begin here; those in `valued` take a value."""
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in valued else 1
    return at


def _script_of(words: Sequence[ShellWord]) -> str:
    if not words or words[0].text.rsplit("/", 1)[-1] not in {"bash", "sh", "zsh", "dash"}:
        return ""
    flag = next((at for at, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word.text)), len(words))
    return words[flag + 1].text if flag + 1 < len(words) else ""


# ---------------------------------------------------------------- what a command line does


def edits(command: str, project: str = "") -> tuple[FileChange, ...]:
    """The file changes that are visible in a command, in order, each once.

    Paths are joined with the folders that the command enters. Temporary files are left out, unless the
    project itself is in a temporary folder.
    """
    changes = (
        with_located_paths(change, folder, project)
        for step, words, folder in placed_steps(command, "")
        for change in _changes(words, step)
    )
    return tuple(dict.fromkeys(change for change in changes if change))


def reads(command: str, project: str = "") -> tuple[FileChange, ...]:
    """The files that a command only shows (`cat src/a.py`), with paths as in `edits`."""
    changes = (
        with_located_paths(change, folder, project)
        for _, words, folder in placed_steps(command, "")
        for change in _shown(words)
    )
    return tuple(dict.fromkeys(change for change in changes if change and "/" in change.path))


def program(command: str) -> str:
    """Program and subcommand as a person would name them: `git commit`, `npm run build`."""
    steps = (step for step in parse_command(command).steps if not step.reads_the_one_before)
    commands = [step for step in steps if step.bare]
    chosen = next((step for step in commands if not _is_aside(step.bare)), None)
    chosen = chosen or next((step for step in reversed(commands) if step.bare[0].text != "cd"), None)
    if chosen is None:
        return "cd" if commands else ""
    inner = program(chosen.script) if chosen.script else ""
    return inner or program_name([word.path for word in chosen.bare[:_NAMING]])


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One program that a command line runs: its usual name, and the call as typed."""

    program: str
    form: str


@lru_cache(maxsize=256)
def calls(command: str, limit: int) -> tuple[ProgramCall, ...]:
    """The programs that a command line runs, in order, without those that only look, print or page."""
    return tuple(dict.fromkeys(_calls(command, limit)))


def display_form(command: str, limit: int) -> str:
    """The command on one line for display: without `cd` to the project, long texts and pagers."""
    core = _core(parse_command(command), ("/", "~"), _PAGERS)
    return shortened(one_line(BODY.sub("…", core)), limit)


@lru_cache(maxsize=256)
def normal_form(command: str) -> str:
    """A normal form: equal for two runs of one check, whatever their folder and output filters."""
    line = parse_command(command)
    core = _core(line, ("",), _FILTERS)
    return one_line(BODY.sub(lambda mark: f" {line.bodies[int(mark[1])]}", core))


# ---------------------------------------------------------------- files


def placed_steps(
    command: str, folder: str | None
) -> Iterator[tuple[ShellStep, Sequence[ShellWord], str | None]]:
    """Each simple command with its words and its folder; None if only the shell knows the folder."""
    outer: list[str | None] = []
    for step in parse_command(command).steps:
        for sign in step.joined:
            if sign == "(":
                outer.append(folder)
            elif sign == ")" and outer:
                folder = outer.pop()
        words = step.bare
        if words and words[0].text in {"cd", "pushd", "popd"}:
            folder = _entered(folder, words[1:])
            continue
        if step.script:
            yield from placed_steps(step.script, folder)
        is_git_elsewhere = [word.text for word in words[:2]] == ["git", "-C"]
        yield step, words, _entered(folder, words[2:3]) if is_git_elsewhere else folder


def _entered(folder: str | None, args: Sequence[ShellWord]) -> str | None:
    target = next(iter(_operands(args, "")), None)
    return path_below(folder, target.path) if target and target.path not in {"", "-"} else None


def _changes(words: Sequence[ShellWord], step: ShellStep) -> Iterator[FileChange]:
    """The changes of one simple command, with paths as written; a word that is no file has an empty path."""
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    if name in _CHANGERS:
        yield from _CHANGERS[name](words[1:])
    if name in {"apply_patch", "applypatch", "patch", "git"}:
        for text in (*step.bodies, *(word.text for word in words[1:] if "\n" in word.text)):
            yield from changes_in_patch(text)
    if name != "[[":
        for sign, word in step.redirections:
            if ">" in sign and sign != "<>" and not (sign == ">&" and word.text.rstrip("-").isdigit()):
                yield FileChange(word.path, Action.EDIT if ">>" in sign else Action.WRITE)


def _shown(words: Sequence[ShellWord]) -> Iterator[FileChange]:
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    if name not in _SHOWING or (name == "sed" and not _has(words[1:], "-n")):
        return
    for word in _operands(words[1:], "nc"):
        if is_file_name(word.path):
            yield FileChange(word.path, Action.READ)


_SHOWING: Final = frozenset("cat sed head tail nl less bat".split())


def _operands(args: Sequence[ShellWord], valued: str) -> list[ShellWord]:
    """The words that are neither options nor the values of these one-letter options."""
    operands: list[ShellWord] = []
    rest = iter(args)
    for word in rest:
        if word.text == "--":
            return [*operands, *rest]
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif word.text[1] != "-" and word.text[-1] in valued:
            next(rest, None)
    return operands


def _has(args: Sequence[ShellWord], option: str) -> bool:
    return any(re.match(option, word.text) for word in args)


def _files(args: Sequence[ShellWord], *, action: Action, valued: str = "") -> Iterator[FileChange]:
    yield from (FileChange(word.path, action) for word in _operands(args, valued))


def _in_place(args: Sequence[ShellWord], *, option: str) -> Iterator[FileChange]:
    """The files of a command that edits in place only with this option."""
    if _has(args, option):
        # Except on Linux, `-i` takes a suffix, usually an empty one.
        files = [word for word in _operands(args, "eEf") if word.text]
        scripted = _has(args, r"-[A-Za-z0-9]*[eEf]$|--(?:expression|file)\b")
        yield from (FileChange(word.path, Action.EDIT) for word in files[0 if scripted else 1 :])


def _tee(args: Sequence[ShellWord]) -> Iterator[FileChange]:
    return _files(args, action=Action.EDIT if _has(args, r"-\w*a|--append") else Action.WRITE)


def _moved(args: Sequence[ShellWord], *, copied: bool) -> Iterator[FileChange]:
    *sources, target = _operands(args, "S") or [ShellWord("")]
    if _has(args, r"-\w*t$|--target"):
        return
    for source in sources:
        name = source.path.rstrip("/").rsplit("/", 1)[-1]
        into = len(sources) > 1 or _is_folder(target.path, name)
        to = f"{target.path}/{name}" if into and target.path and name else target.path
        path = source.path if to else ""
        yield FileChange(to, Action.WRITE) if copied else FileChange(path, Action.EDIT, to)


def _is_folder(target: str, name: str) -> bool:
    """Whether the target is a folder that a file of that name goes into, judged by the names."""
    last = target.rsplit("/", 1)[-1]
    return last in {"", ".", ".."} or (last.islower() and "." not in last and "." in name[1:])


def _git(args: Sequence[ShellWord]) -> Iterator[FileChange]:
    subcommand, *rest = args[past_options(args, 0, ("-C", "-c")) :] or [ShellWord("")]
    match subcommand.text:
        case "mv":
            yield from _moved(rest, copied=False)
        case "rm" if not _has(rest, "--cached"):
            yield from _files(rest, action=Action.DELETE)
        case name:
            yield from (FileChange(path, Action.OTHER, whole=True) for path in _checked_out(name, rest))


def _checked_out(subcommand: str, args: Sequence[ShellWord]) -> Iterator[str]:
    """The paths that a git subcommand restores or adds in the working tree."""
    named = [word.path for word in _operands(args, "bBs")]
    match subcommand:
        case "checkout" if not _has(args, "-[bB]$|--orphan"):
            yield from named
        case "restore" if not _has(args, "--staged|-S") or _has(args, "--worktree|-W"):
            yield from named
        case "reset" if _has(args, "--hard"):
            yield "."
        case "clone":
            yield from _cloned(named)
        case "submodule" if named[:1] == ["add"]:
            yield from _cloned(named[1:])
        case "submodule" | "worktree" if named[:1] in (["update"], ["add"]):
            yield from named[1:]
        case _:
            return


def _cloned(named: Sequence[str]) -> Iterator[str]:
    """The folder that a repository is cloned to: its own name, unless another is given."""
    yield from named[1:2] or (path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git") for path in named)


_CHANGERS: Final[dict[str, Callable[[Sequence[ShellWord]], Iterator[FileChange]]]] = {
    "sed": partial(_in_place, option=r"-[A-Za-z]*i|--in-place"),
    "perl": partial(_in_place, option=r"-[a-zA-HJ-LN-Z0-9]*i"),
    "tee": _tee,
    "mv": partial(_moved, copied=False),
    "cp": partial(_moved, copied=True),
    "rm": partial(_files, action=Action.DELETE),
    "mkdir": partial(_files, action=Action.OTHER, valued="m"),
    "touch": partial(_files, action=Action.WRITE, valued="drt"),
    "git": _git,
}


# ---------------------------------------------------------------- naming and showing

_NAMING: Final = 30  # words that are searched for a program's name
# Commands that agents put before or between others; they name a command line only if it runs nothing else.
_ASIDE: Final = frozenset(
    "cd pushd popd export set unset source . echo printf sleep true : mkdir test [ [[ which wait exit".split()
)


def _is_aside(words: Sequence[ShellWord]) -> bool:
    return words[0].text in _ASIDE or [word.text for word in words[:2]] == ["git", "add"]


def _calls(command: str, limit: int) -> Iterator[ProgramCall]:
    for step in parse_command(command).steps:
        words = step.bare
        if step.script:
            yield from _calls(step.script, limit)
        elif words and words[0].text not in _UNCALLED:
            name = _called([word.path for word in words[:_NAMING]])
            if _PROGRAM.match(name) and name not in _MOVING:
                yield ProgramCall(name, _form(name, words, limit))


def _called(words: Sequence[str]) -> str:
    """The name of a call; the first word after an unknown program may be a subcommand."""
    name = program_name(words)
    unknown = len(words) > 1 and name == words[0] and name not in _WITHOUT_SUBCOMMANDS
    return f"{name} {words[1]}" if unknown and _SUBCOMMAND.fullmatch(words[1]) else name


def _form(name: str, words: Sequence[ShellWord], limit: int) -> str:
    """The call as typed if that is short, otherwise with its longest arguments left out."""
    typed = [word.text if _can_be_shown(word) else "…" for word in words[:_NAMING]]
    typed += ["…"] * (len(words) > _NAMING)
    arguments = [place for place in range(1, len(typed)) if typed[place] not in name.split()]
    for place in sorted(arguments, key=lambda place: -len(typed[place])):
        if len(_typed(typed)) <= limit:
            break
        option = _OPTION.match(typed[place])
        typed[place] = option[0] if option else "…"
    whole = _typed(typed)
    return whole if len(whole) <= limit else shortened(name, limit)


def _can_be_shown(word: ShellWord) -> bool:
    """Whether a word can be shown as it was meant, in quotes if needed."""
    quoted_twice = "'" in word.text and _QUOTED.search(word.text) is not None
    return word.plain and not quoted_twice and not _UNSHOWN.search(word.text)


def _typed(words: Sequence[str]) -> str:
    """The words on one line, quoted where the shell would split them; repeated ellipses become one."""
    return " ".join(f"'{word}'" if _QUOTED.search(word) else word for word, _ in groupby(words))


_PROGRAM: Final = re.compile(r"[a-zA-Z.~/][\w.+/-]*")
_SUBCOMMAND: Final = re.compile(r"[a-z]{2,12}(?:[:-][a-z]{2,12})?")
_WITHOUT_SUBCOMMANDS: Final = frozenset(
    """pytest jest vitest mocha tsc eslint prettier node python python3 ruby php perl chmod chown curl wget
    date man kill pkill open code vim nano diff file stat du df tar zip unzip ssh scp rsync sqlite3 psql mysql
    mkdir rmdir ln tree env""".split()
)
_MOVING: Final = frozenset({"git mv", "git rm"})
_UNSHOWN: Final = re.compile(r"[\n\"]")
_QUOTED: Final = re.compile(r"[\s$]")
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*")
_PAGERS: Final = frozenset("head tail cat less more".split())
_FILTERS: Final = _PAGERS | {"grep", "egrep", "rg", "wc", "sort", "uniq", "tee"}
_LOOKING: Final = _FILTERS | frozenset("ls find sed awk cut nl pwd rm cp mv touch kill xargs tr jq".split())
_UNCALLED: Final = _ASIDE | _LOOKING
_SIGNS: Final = re.compile(r"\s2>(?:&1|\s?/dev/null)")
_THEN: Final = re.compile(r"\s*+(?:&&|[;\n])\s*+")


def _core(line: CommandLine, away: tuple[str, ...], paging: frozenset[str]) -> str:
    """The command without `cd` to a folder that begins like `away`, and without these filters at its end."""
    text, steps = line.text, line.steps
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
