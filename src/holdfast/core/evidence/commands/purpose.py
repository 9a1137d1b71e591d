"""Purpose: classifies a command so that its exit status can be interpreted.

A look-up that fails leaves nothing undone, and the exit status of `npm run build | tail` is that of `tail`.
`outcomes` reads the output itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from holdfast.core.evidence.commands.shell import ShellStep, parse_command, past_options
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.names import program_name


class Purpose(StrEnum):
    """What a command line is run for."""

    DO = ""
    """It does something, and its exit status says whether it succeeded."""
    CHECK = "check"
    """It checks or builds something, but its exit status is that of a later step, which shows the output."""
    LOOK = "look"
    """Every step only shows, searches, prints or changes the folder."""


def purpose_of(command: str) -> Purpose:
    """The purpose of a command line."""
    steps = list(_steps(command))
    if steps and all(_looks(step) or _is_aside(step) for step in steps):
        return Purpose.LOOK
    hidden = any(_checks(step) and _is_hidden(steps[place + 1 :]) for place, step in enumerate(steps))
    return Purpose.CHECK if hidden and not any(map(_shows_a_text, steps)) else Purpose.DO


def is_check(command: str) -> bool:
    """Whether a command line tests, builds or lints something."""
    return any(_checks(step) and not _looks(step) for step in _steps(command))


def final_search(command: str) -> tuple[str, ...]:
    """The words of the search at the end of a command line; empty if it ends with anything else."""
    last = next(reversed(list(_steps(command))), None)
    if last is None:
        return ()
    words = last.words
    return words if words[0] in _SEARCHES or words[:2] == ("git", "grep") else ()


class _Named(NamedTuple):
    """A simple command, and its words from the program on."""

    step: ShellStep
    words: tuple[str, ...]


def _steps(command: str) -> Iterator[_Named]:
    """The simple commands, including those given to another shell; without the keywords of loops."""
    for step in parse_command(command).steps:
        if step.script:
            yield from _steps(step.script)
        elif step.bare:
            yield _Named(step, _words(step))


def _words(step: ShellStep) -> tuple[str, ...]:
    words = step.bare
    at = 0
    # The program that xargs runs is what counts.
    if words[0].text == "xargs":
        at = past_options(words, 1, ("-I", "-n", "-P", "-L", "-d"))
    elif words[0].text == "git":
        at = past_options(words, 1, ("-C", "-c"))
        return ("git", *(word.text for word in words[at:]))
    return tuple(word.text for word in words[at:]) or ("xargs",)


def _is_hidden(later: Sequence[_Named]) -> bool:
    """Whether the exit status of a step is replaced by that of a later one."""
    for named in later:
        sign = named.step.joined.strip("()\n") or ";"
        if sign == "&&":
            continue
        shows = _looks(named) or _is_aside(named) or named.step.name == "tee"
        # A command that runs if a check fails may fix it; one that reads its output may be a check too.
        return shows or sign not in {"|", "|&", "||"}
    return False


def _checks(named: _Named) -> bool:
    program = program_name([word.path for word in named.step.bare[:_NAMING]])
    return not _looks(named) and not _CHECKERS.isdisjoint(_PARTS.split(program.lower()))


def _looks(named: _Named) -> bool:
    step, words = named
    if any(">" in sign and _is_written(to.text) for sign, to in step.redirections):
        return False
    if not _HELP.isdisjoint(words[1:]):
        return True
    match words[0].rsplit("/", 1)[-1]:
        case "git" | "gh" as program:
            return _SHOWING[program].match(" ".join(words[1:])) is not None
        case "sed":
            return not any(_IN_PLACE.match(word) for word in words[1:])
        case "find" | "fd":
            return _ACTS.isdisjoint(words)
        case "tmux":
            return len(words) > 1 and words[1] in _TMUX_SHOWING
        case "curl":
            return not any(_SENDS.match(word) for word in words[1:])
        case name:
            return name in _LOOKING or _is_tried_out(words)


def _is_tried_out(words: Sequence[str]) -> bool:
    """Whether it runs a line of code only to see its output: `python -c 'import a; print(a.b)'`."""
    program = program_name(words[:_NAMING])
    return _INLINE.search(program) is not None and not any(map(_CHANGES.search, words))


def _is_written(target: str) -> bool:
    """Whether the target of a redirection is a file, not a stream or `/dev/null`."""
    return target != "/dev/null" and not target.rstrip("-").isdigit()


def _is_aside(named: _Named) -> bool:
    return named.words[0] in _ASIDE


def _shows_a_text(named: _Named) -> bool:
    """Whether a step prints a file or a log, which says nothing about the other steps."""
    step, words = named
    shows = words[0] in _TEXTS or (words[0] == "git" and words[1:2] and words[1] in _GIT_TEXTS)
    return bool(shows) and not step.reads_the_one_before and len(words) > 1


_NAMING: Final = 30
_PARTS: Final = compiled(r"[^a-z0-9+]+")
_CHECKERS: Final = frozenset(
    """
    npm pnpm yarn tsc tsgo vue eslint biome prettier oxlint ruff mypy pyright basedpyright pylint flake8 black
    rubocop clippy golangci credo dialyzer shellcheck swiftlint ktlint detekt checkstyle phpstan psalm
    jest vitest mocha ava pytest tox nox playwright cypress rspec phpunit unittest nextest ctest
    make cmake ninja meson bazel gradle gradlew mvn mvnw sbt xcodebuild webpack rollup esbuild vite parcel
    tsup turbo nx gcc cc clang g++ clang++ javac rustc swiftc ghc
    build compile compileall check checks test tests lint typecheck typechecks types validate verify vet ci
    """.split()
)
"""Parts of the names of checks and builds: `npm run build:web`, `mise run lint`."""
_SEARCHES: Final = frozenset("grep egrep fgrep zgrep rg ag ack pgrep".split())
_TEXTS: Final = _SEARCHES | frozenset("cat sed head tail nl less more bat awk jq".split())
_GIT_TEXTS: Final = frozenset("show log diff grep blame".split())
_LOOKING: Final = _TEXTS | frozenset(
    """
    ls wc find fd tree stat file du df pwd which type whereis sort uniq cut tr column fold rev tac comm diff
    cmp ps env printenv hexdump xxd od strings readlink realpath basename dirname test [ [[ md5sum sha256sum
    """.split()
)
_ASIDE: Final = frozenset(
    "cd pushd popd export set unset echo printf sleep true : read wait local declare shopt break".split()
)
_TMUX_SHOWING: Final = frozenset(
    "capture-pane has-session ls list-sessions list-windows list-panes display-message show-options".split()
)
_SENDS: Final = compiled(r"-[a-zA-Z]*[XdFToO]|--(?:request|data|json|form|upload-file|output|remote-name)")
_INLINE: Final = compiled(r"\b(?:python[\d.]*|node|bun|tsx|ts-node) -[ce]$")
_CHANGES: Final = compiled(
    r"write|append|unlink|remove|delete|rmtree|\brm\b|mkdir|rename|replace|copy|move|insert|update|commit"
    r"|migrat|create|\bexec|spawn|subprocess|system\(|, ?['\"][wax]b?\+?['\"]"
    r"|\braise\b|\bassert\b|\bthrow\b|\bexit\("
)
"""Words of a line of code that may do more than print, or fails on purpose, as a check does."""
_HELP: Final = frozenset({"--help", "--version"})
_IN_PLACE: Final = compiled(r"-[A-Za-z]*i|--in-place")
_ACTS: Final = frozenset("-delete -exec -execdir -ok -x -X --exec --exec-batch".split())
_SHOWING: Final = {
    "git": re.compile(
        r"(?:show|log|diff|grep|status|blame|ls-files|ls-tree|ls-remote|rev-parse|rev-list|cat-file|describe"
        r"|reflog|shortlog|merge-base|check-ignore|show-ref|for-each-ref|(?:stash|worktree) (?:list|show)"
        r"|remote(?: -v| show| get-url|$)|branch(?: -[alrv]+| --(?:list|show-current|contains|all)\b|$)"
        r"|tag(?: -l| --list|$)|config (?:--get|--list|-l))\b"
    ),
    "gh": re.compile(r"(?:pr|issue|run|repo|release|workflow) (?:view|list|diff|status)\b"),
}
