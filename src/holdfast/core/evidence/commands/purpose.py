"""Aims: what a command line is run for, as far as that says how its end is to be read.

A look-up that fails leaves nothing undone, and the status of `npm run build | tail` is that of `tail`. What
an output says by itself is the subject of `outcomes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from holdfast.core.evidence.commands.shell_steps import Step, past_options, read
from holdfast.core.text.names import program_name
from holdfast.core.text.patterns import compiled


class Purpose(StrEnum):
    """What a command line is run for."""

    DO = ""
    """Something is to be done, and the status tells whether it was."""
    CHECK = "check"
    """Something is checked or built, and the status is that of what shows the output."""
    LOOK = "look"
    """Every step only shows, searches, prints or goes somewhere."""


def aim(command: str) -> Purpose:
    """What a command line is run for."""
    steps = list(_steps(command))
    if steps and all(_looks(step) or _is_aside(step) for step in steps):
        return Purpose.LOOK
    hidden = any(_checks(step) and _is_hidden(steps[place + 1 :]) for place, step in enumerate(steps))
    return Purpose.CHECK if hidden and not any(map(_shows_a_text, steps)) else Purpose.DO


def search(command: str) -> tuple[str, ...]:
    """The words of the search that a command line ends with; none where it ends with something else."""
    last = next(reversed(list(_steps(command))), None)
    if last is None:
        return ()
    words = last.words
    return words if words[0] in _SEARCHES or words[:2] == ("git", "grep") else ()


class _Named(NamedTuple):
    """A simple command, and its words from what counts on."""

    step: Step
    words: tuple[str, ...]


def _steps(command: str) -> Iterator[_Named]:
    """The simple commands, also those that another shell is asked to run; without the frames of loops."""
    for step in read(command).steps:
        if step.script:
            yield from _steps(step.script)
        elif step.bare:
            yield _Named(step, _words(step))


def _words(step: Step) -> tuple[str, ...]:
    words = step.bare
    at = 0
    # What is run for each of many is what counts; its own name is put in front of that.
    if words[0].text == "xargs":
        at = past_options(words, 1, ("-I", "-n", "-P", "-L", "-d"))
    elif words[0].text == "git":
        at = past_options(words, 1, ("-C", "-c"))
        return ("git", *(word.text for word in words[at:]))
    return tuple(word.text for word in words[at:]) or ("xargs",)


def _is_hidden(later: Sequence[_Named]) -> bool:
    """Whether the status of a step is lost in those that come after it."""
    for one in later:
        sign = one.step.joined.strip("()\n") or ";"
        if sign == "&&":
            continue
        shows = _looks(one) or _is_aside(one) or one.step.name == "tee"
        # What runs if a check fails may mend it, and what reads its output may make another one of it.
        return shows or sign not in {"|", "|&", "||"}
    return False


def _checks(one: _Named) -> bool:
    called = program_name([word.path for word in one.step.bare[:_NAMING]])
    return not _looks(one) and not _CHECKERS.isdisjoint(_PARTS.split(called.lower()))


def _looks(one: _Named) -> bool:
    step, words = one
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
    """Whether a line of code is run to see what comes of it: `python -c 'import a; print(a.b)'`."""
    called = program_name(words[:_NAMING])
    return _INLINE.search(called) is not None and not any(map(_CHANGES.search, words))


def _is_written(target: str) -> bool:
    """Whether what a redirection goes to is a file, not another stream and not nowhere."""
    return target != "/dev/null" and not target.rstrip("-").isdigit()


def _is_aside(one: _Named) -> bool:
    return one.words[0] in _ASIDE


def _shows_a_text(one: _Named) -> bool:
    """Whether a step prints a text that says nothing of how the others ended, as a file or a log may."""
    step, words = one
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
    build compile check checks test tests lint typecheck typechecks types validate verify vet ci
    """.split()
)
"""What checks or builds, by a part of how a person calls it: `npm run build:web`, `mise run lint`."""
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
)
"""What a line of code says that may do more than print."""
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
