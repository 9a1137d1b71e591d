"""List the files, commands and names that a brief may mention, each as one item with its score.

`deleted_names` finds the sentences and commands that still mention a deleted file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Final, TypeAlias

from holdfast.core.brief.brief_input import COMMANDS, FILES, IN_USE, BriefInput, Item
from holdfast.core.brief.layout import folders_of
from holdfast.core.brief.weights import Weights, score, with_score
from holdfast.core.events.event import Action
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import REFUSED, ended_without_result, has_failed
from holdfast.core.evidence.commands.shell import parse_command
from holdfast.core.evidence.fact_lines import ACTION_VERBS, command_line, counts, file_line
from holdfast.core.evidence.mentions import CALL_CHARS, HALF_LIFE, file_key, use_at
from holdfast.core.evidence.trail import CommandRun, FileTouch, Mention, Thing, Trail
from holdfast.core.text.strings import PATH_LEFT_OUT, one_line, path_shortener

NAMES_CONSIDERED: Final = 160
LOOK_UPS_MOST: Final = 2
"""How many unsuccessful searches may be listed, the newest."""
_NAMED: Final = frozenset({Thing.NAME, Thing.REFERENCE, Thing.OPTION})
_KINDS: Final = {Action.READ: "read_file", Action.DELETE: "gone_file"}


Naming: TypeAlias = Callable[[BriefInput, str], Callable[[str], str]]
"""How to shorten a session's paths, given its input and the directory shared by files outside the project."""


def whole_paths(brief_input: BriefInput, elsewhere: str) -> Callable[[str], str]:
    """Name each file by its path relative to the project."""
    return partial(relative, brief_input=brief_input, elsewhere=elsewhere)


def short_paths(brief_input: BriefInput, elsewhere: str) -> Callable[[str], str]:
    """Name the file changed last by its whole path, others by as much as tells them apart."""
    trail, whole = brief_input.session.trail, whole_paths(brief_input, elsewhere)
    named = [mention.shown for mention in trail.mentions if mention.thing is Thing.FILE]
    short = path_shortener(map(whole, (*(touch.path for touch in trail.files), *named)))
    latest = _latest_change(trail)
    return lambda path: whole(path) if latest and path == latest.path else short(whole(path))


def things(brief_input: BriefInput, weights: Weights, naming: Naming = short_paths) -> Iterator[Item]:
    """Every thing that could be named, with scores."""
    elsewhere = _elsewhere(brief_input)
    short = naming(brief_input, elsewhere)
    if elsewhere:
        text = f"Outside the project: {elsewhere}"
        yield with_score(
            Item(FILES, text, brief_input.session.changed_at, brief_input.session.key, "where"), weights
        )
    yield from _files(brief_input, short, weights)
    yield from _commands(brief_input, weights)
    yield from _names(brief_input, short, weights)
    yield from _folders(brief_input, weights)


def _latest_change(trail: Trail) -> FileTouch | None:
    """The file that was changed last; a deleted one only if no other was changed."""
    changed = [touch for touch in trail.files if touch.action is not Action.READ]
    present = [touch for touch in changed if touch.action is not Action.DELETE]
    return next(iter((present or changed)[-1:]), None)


def _folders(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    """The folders that were named or worked in, each once however it is spelled, and the project's own."""
    steps, at, key = brief_input.session.trail.steps, brief_input.session.changed_at, brief_input.session.key
    by_name: dict[str, list[Mention]] = {}
    for mention in brief_input.session.trail.mentions:
        if folder := _folder(mention, brief_input):
            by_name.setdefault(name_of(folder.name.rstrip("/")), []).append(folder)
    for spellings in reversed(by_name.values()):
        best = max(spellings, key=lambda mention: use_at(mention, steps))
        features = _features(_as_one(best, spellings, steps), brief_input, "name_")
        path = relative(best.name, brief_input)
        if not path:
            text = f"Paths are from {best.name}"
            yield with_score(Item(FILES, text, at, key, "folder", key=best.name), weights, **features)
        elif path[:1] not in "/~":
            item = Item(FILES, path, at, key, "folder", key=path, lead=IN_USE)
            yield with_score(item, weights, **features)


def _folder(mention: Mention, brief_input: BriefInput) -> Mention | None:
    """The folder that is mentioned, alone or with a file in it; the project's own only if mentioned alone."""
    folder = mention.shown[: mention.shown.rfind("/") + 1] if mention.thing is Thing.FILE else ""
    if folder and relative(folder, brief_input):
        return replace(mention, name=folder, thing=Thing.FOLDER)
    return mention if mention.thing is Thing.FOLDER else None


def _names(brief_input: BriefInput, short: Callable[[str], str], weights: Weights) -> Iterator[Item]:
    scored = [
        (score(mention.thing.value, _features(mention, brief_input, "name_"), weights), mention)
        for mention in reversed(brief_input.session.trail.mentions)
        if mention.thing in _NAMED
    ]
    at, key = brief_input.session.changed_at, brief_input.session.key
    gone = {touch.path for touch in brief_input.session.trail.files if touch.action is Action.DELETE}
    for worth, mention in sorted(scored, key=lambda pair: -pair[0])[:NAMES_CONSIDERED]:
        kind, name = mention.thing.value, mention.name
        beside = short(mention.file) if mention.file and mention.file not in gone else ""
        yield Item(FILES, name, at, key, kind, key=name, lead=IN_USE, beside=beside, score=worth)


def _files(brief_input: BriefInput, short: Callable[[str], str], weights: Weights) -> Iterator[Item]:
    trail, key = brief_input.session.trail, brief_input.session.key
    git = brief_input.session.git
    dirty = frozenset(git.dirty if git else ())
    mentions = _one_for_each_file(trail.mentions, trail.steps)
    latest = _latest_change(trail)
    changed = [touch for touch in trail.files if touch.action is not Action.READ]
    read_files = [touch for touch in trail.files if touch.action is Action.READ]
    renamed = {touch.renamed_to: touch.step for touch in trail.files if touch.renamed_to}
    folders = {folder for touch in trail.files for folder in folders_of(touch.path)}
    # Of two copies of a file, the changed one counts, however often the other was read since.
    for touch in (*reversed(changed), *reversed(read_files)):
        mention = mentions.pop(file_key(touch.path), Mention(touch.path, step=touch.step))
        if touch.action is Action.READ and f"{touch.path}/" in folders:
            continue  # a folder that was listed is shown by the files in it
        if renamed.get(touch.path) == touch.step:
            continue  # only its name is new, and the entry of the old name shows it
        features = _features(mention, brief_input) | {
            "in_diff": float(relative(touch.path, brief_input) in dirty)
        }
        item = _file(touch, brief_input, short)
        if touch is latest:
            yield with_score(replace(item, kind="latest_file"), weights)
        else:
            yield with_score(item, weights, **features)
    for place, touch in enumerate(reversed(trail.subagent_files)):
        if touch.action is not Action.READ:
            path, lead = (
                short(touch.renamed_to or touch.path),
                f"Subagents {ACTION_VERBS[touch.action].lower()}",
            )
            item = Item(FILES, path, touch.at, key, "subagent_file", lead=lead, path=path)
            yield with_score(item, weights, standing=recency(place))
    gone = {name_of(touch.path) for touch in trail.files if touch.action is Action.DELETE}
    for mention in reversed(mentions.values()):
        path = short(mention.shown)
        # A deleted file is not listed again under another spelling.
        if name_of(path) in gone:
            continue
        item = Item(
            FILES, path, brief_input.session.changed_at, key, "named_file", lead="Also named", path=path
        )
        yield with_score(item, weights, **_features(mention, brief_input))


def _one_for_each_file(mentions: Iterable[Mention], steps: int) -> dict[str, Mention]:
    """One mention per file; a bare name counts for the file of that name whose directory is known."""
    files = {mention.name: mention for mention in mentions if mention.thing is Thing.FILE}
    known = {name_of(name): name for name in files if "/" in name}
    for bare in files.keys() & known.keys():
        full, short = files[known[bare]], files.pop(bare)
        files[full.name] = _as_one(full, (full, short), steps)
    return files


def _as_one(shown: Mention, spellings: Sequence[Mention], steps: int) -> Mention:
    """The mention `shown`, with the combined use of all its spellings."""
    use, step = (
        sum(use_at(mention, steps) for mention in spellings),
        max(mention.step for mention in spellings),
    )
    return replace(shown, use=use * math.exp2((steps - step) / HALF_LIFE), step=step)


def _file(touch: FileTouch, brief_input: BriefInput, short: Callable[[str], str]) -> Item:
    """A file, listed by what was done to it; one that changed since or was renamed has a line of its own."""
    path, mark = short(touch.path), brief_input.marks.get(touch.path)
    item = Item(
        FILES, path, touch.at, brief_input.session.key, _KINDS.get(touch.action, "changed_file"), path
    )
    if mark or touch.renamed_to:
        renamed = short(touch.renamed_to) if touch.renamed_to else ""
        line = file_line(replace(touch, path=path, renamed_to=renamed))
        return replace(item, text=f"{line} — UNCONFIRMED: {mark}" if mark else line)
    return replace(item, lead=ACTION_VERBS[touch.action], path=path)


def _commands(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    """Failures each in a line; what else was run, once for each program, behind the label of its outcome."""
    trail, key = brief_input.session.trail, brief_input.session.key
    mentions = {mention.name: mention for mention in trail.mentions if mention.thing is Thing.PROGRAM}
    for kind, place, run in _unsuccessful(trail):
        item = Item(COMMANDS, command_line(_from_project(run, brief_input)), run.at, key, kind)
        yield with_score(item, weights, recency=recency(place))
    failures = [run for run in trail.commands if run.ok is False]
    latest, failed = _latest(trail.commands), _programs_of(failures)
    with_subcommand = {name.split(" ", 1)[0] for name in mentions if " " in name}
    for name, mention in reversed(mentions.items()):
        if name in latest:
            item = replace(_call_item(*latest[name]), source=key, kind="command")
        elif name not in failed and name not in with_subcommand:
            # Long ago, so the program's name is enough; `gh` alone adds nothing to `gh api`.
            item = Item(COMMANDS, f"`{name}`", brief_input.now, key, "earlier_command", lead="Also run")
        else:
            continue
        yield with_score(item, weights, **_features(mention, brief_input))


def _unsuccessful(trail: Trail) -> Iterator[tuple[str, int, CommandRun]]:
    """Failed, refused and fruitless runs, newest first: an item's kind, its place within it, the run."""
    deleted = deleted_names(trail)
    # A command that failed on a deleted file cannot be run again.
    failures = [
        run for run in reversed(trail.commands) if run.ok is False and not names_in(run.command, deleted)
    ]
    refused = [run for run in failures if run.reason == REFUSED]
    look_ups = [run for run in failures if ended_without_result(run)]
    undone = [run for run in failures if run not in refused and run not in look_ups]
    # Failures come before interrupted runs.
    for place, run in enumerate(sorted(undone, key=lambda run: not has_failed(run))):
        yield "failed_command" if place or not has_failed(run) else "last_failure", place, run
    yield from (("refused", place, run) for place, run in enumerate(refused))
    yield from (("look_up", place, run) for place, run in enumerate(look_ups[:LOOK_UPS_MOST]))


_ELSEWHERE: Final = frozenset(
    "cd pushd popd ssh scp sftp rsync docker podman docker-compose kubectl chroot nsenter ln".split()
)
"""Commands that change directory or machine, or pass a path to a process outside the project."""


def _from_project(run: CommandRun, brief_input: BriefInput) -> CommandRun:
    """A run with paths relative to the project, in its command and in the reason for its failure.

    Paths stay absolute where the short form could mean another file: in a command that changes directory or
    machine, and in the middle of a word.
    """
    named = [root for root in _roots(brief_input) if f"{root}/" in run.command or f"{root}/" in run.reason]
    if not named or _goes_elsewhere(shell.display_form(one_line(run.command), len(run.command))):
        return run
    alone = re.compile(rf"(?<![^\s\"'`(])(?:{'|'.join(map(re.escape, named))})/(?=[\w.@-])")
    return replace(run, command=alone.sub("", run.command), reason=alone.sub("", run.reason))


def _goes_elsewhere(command: str) -> bool:
    programs = (call.program.split(" ", 1)[0] for call in shell.calls(command, CALL_CHARS))
    return not _ELSEWHERE.isdisjoint({*programs, *(step.name for step in parse_command(command).steps)})


def _call_item(form: str, run: CommandRun) -> Item:
    """A call with its outcome; its test counts are not part of its key."""
    lead = "Passed" if run.ok else "Started"
    return Item(COMMANDS, f"`{form}`{counts(run)}", run.at, key=f"`{form}`", lead=lead)


def _programs_of(runs: Iterable[CommandRun]) -> frozenset[str]:
    return frozenset(call.program for run in runs for call in shell.calls(run.command, CALL_CHARS))


def _latest(commands: Iterable[CommandRun]) -> dict[str, tuple[str, CommandRun]]:
    """For each program its last call that did not fail; failures have lines of their own."""
    runs = [run for run in commands if run.ok is not False]
    return {call.program: (call.form, run) for run in runs for call in shell.calls(run.command, CALL_CHARS)}


def _features(mention: Mention, brief_input: BriefInput, whose: str = "") -> dict[str, float]:
    """How much a thing is used, and its freshness: 0 if named in the last step, less for each step since."""
    steps = brief_input.session.trail.steps
    return {
        f"{whose}use": math.log1p(3 * use_at(mention, steps)),
        f"{whose}freshness": -math.log1p(max(steps - mention.step, 0) / 5),
    }


_LONG_PATH: Final = 24


def recency(place: int) -> float:
    """The recency feature: 0 for the newest of a list, less for each newer one."""
    return -math.log1p(place / 2)


def relative(path: str, brief_input: BriefInput, elsewhere: str = "") -> str:
    """The path relative to the project or to the directory `elsewhere`; any other path unchanged."""
    for root in _roots(brief_input):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return PATH_LEFT_OUT + path[len(elsewhere) :] if elsewhere and path.startswith(elsewhere) else path


def _roots(brief_input: BriefInput) -> tuple[str, ...]:
    """The project's directory in each of its spellings."""
    project = brief_input.session.project
    spellings = dict.fromkeys((project.root, project.normalized, project.path))
    return tuple(root for root in spellings if root not in ("", "/"))


def _elsewhere(brief_input: BriefInput) -> str:
    """The directory shared by the touched files outside the project, if its path is worth a line."""
    outside = [
        path
        for touch in brief_input.session.trail.files
        if (path := relative(touch.path, brief_input))[:1] == "/"
    ]
    changed = {touch.path for touch in brief_input.session.trail.files if touch.action is not Action.READ}
    worked_on = [path for path in outside if path in changed] or outside
    shared = _common(worked_on) if len(worked_on) > 1 else ""
    return f"{shared}/" if len(shared) > _LONG_PATH else ""


def _common(paths: list[str]) -> str:
    """The directory that contains all paths."""
    first, last = min(paths).split("/")[:-1], max(paths).split("/")[:-1]
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "/".join(part for part, _ in shared)


def deleted_names(trail: Trail) -> dict[str, re.Pattern[str]]:
    """The names of deleted and renamed files, each with a pattern that finds it in a text.

    A name that another, existing file also has is left out. So is a name without an extension: it is a word
    like any other, and a sentence with that word need not mean the file.
    """
    deleted = {touch.path for touch in trail.files if touch.action is Action.DELETE or touch.renamed_to}
    present_names = {name_of(touch.path) for touch in trail.files if touch.path not in deleted}
    names = sorted({name_of(path) for path in deleted} - present_names)
    return {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in names if "." in name[1:]}


def names_in(text: str, deleted: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The deleted files that a text names."""
    return [name for name, pattern in deleted.items() if pattern.search(text)]


def name_of(path: str) -> str:
    """A file's name without its folders."""
    return path.rsplit("/", 1)[-1]
