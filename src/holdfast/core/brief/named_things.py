"""What a brief may say of things: files, commands and names, each as one item.

A thing is worth as much as the agent has been using it. Nothing is chosen here; `brief` does that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Final, TypeAlias

from holdfast.core.brief.brief_input import COMMANDS, FILES, IN_USE, BriefInput, Item
from holdfast.core.brief.deleted_files import gone_names, name_of, names_in
from holdfast.core.brief.layout import folders_of
from holdfast.core.brief.weights import Weights, score, weighed
from holdfast.core.events.event import Action
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import REFUSED, has_failed, looked_in_vain
from holdfast.core.evidence.commands.shell_steps import read
from holdfast.core.evidence.mentions import CALL_CHARS, HALF_LIFE, file_key, use_at
from holdfast.core.evidence.one_line import DONE, command_line, counts, file_line
from holdfast.core.evidence.trail import CommandRun, FileTouch, Mention, Thing, Trail
from holdfast.core.text.short_paths import LEFT_OUT, shortener
from holdfast.core.text.strings import one_line

NAMES_CONSIDERED: Final = 160
LOOK_UPS_TOLD: Final = 2
"""Of what was looked for in vain only the newest may be looked for again."""
_NAMED: Final = frozenset({Thing.NAME, Thing.REFERENCE, Thing.OPTION})
_KINDS: Final = {Action.READ: "read_file", Action.DELETE: "gone_file"}


Naming: TypeAlias = Callable[[BriefInput, str], Callable[[str], str]]
"""How the files of a session are named, also those in the one place elsewhere."""


def whole_paths(told: BriefInput, elsewhere: str) -> Callable[[str], str]:
    """Each file by its path from the project."""
    return partial(relative, told=told, elsewhere=elsewhere)


def short_paths(told: BriefInput, elsewhere: str) -> Callable[[str], str]:
    """The file that was changed last by its whole path, others by as much as tells them apart."""
    trail, whole = told.session.trail, whole_paths(told, elsewhere)
    named = [mention.shown for mention in trail.mentions if mention.thing is Thing.FILE]
    short = shortener(map(whole, (*(touch.path for touch in trail.files), *named)))
    latest = _latest_change(trail)
    return lambda path: whole(path) if latest and path == latest.path else short(whole(path))


def things(told: BriefInput, weights: Weights, naming: Naming = short_paths) -> Iterator[Item]:
    """Every thing that could be named, weighed."""
    elsewhere = _elsewhere(told)
    short = naming(told, elsewhere)
    if elsewhere:
        text = f"Outside the project: {elsewhere}"
        yield weighed(Item(FILES, text, told.session.changed_at, told.session.key, "where"), weights)
    yield from _files(told, short, weights)
    yield from _commands(told, weights)
    yield from _names(told, short, weights)
    yield from _folders(told, weights)


def _latest_change(trail: Trail) -> FileTouch | None:
    """The file that was changed last: one that is still there, if there is any."""
    changed = [touch for touch in trail.files if touch.action is not Action.READ]
    there = [touch for touch in changed if touch.action is not Action.DELETE]
    return next(iter((there or changed)[-1:]), None)


def _folders(told: BriefInput, weights: Weights) -> Iterator[Item]:
    """The folders that are named or worked in, each once however it is spelled, and the project's own."""
    steps, at, key = told.session.trail.steps, told.session.changed_at, told.session.key
    alike: dict[str, list[Mention]] = {}
    for mention in told.session.trail.mentions:
        if folder := _folder(mention, told):
            alike.setdefault(name_of(folder.name.rstrip("/")), []).append(folder)
    for spellings in reversed(alike.values()):
        best = max(spellings, key=lambda mention: use_at(mention, steps))
        features = _features(_as_one(best, spellings, steps), told, "name_")
        path = relative(best.name, told)
        if not path:
            text = f"Paths are from {best.name}"
            yield weighed(Item(FILES, text, at, key, "folder", key=best.name), weights, **features)
        elif path[:1] not in "/~":
            item = Item(FILES, path, at, key, "folder", key=path, lead=IN_USE)
            yield weighed(item, weights, **features)


def _folder(mention: Mention, told: BriefInput) -> Mention | None:
    """The folder that is named, by itself or with a file in it; the project's own only by itself."""
    folder = mention.shown[: mention.shown.rfind("/") + 1] if mention.thing is Thing.FILE else ""
    if folder and relative(folder, told):
        return replace(mention, name=folder, thing=Thing.FOLDER)
    return mention if mention.thing is Thing.FOLDER else None


def _names(told: BriefInput, short: Callable[[str], str], weights: Weights) -> Iterator[Item]:
    scored = [
        (score(mention.thing.value, _features(mention, told, "name_"), weights), mention)
        for mention in reversed(told.session.trail.mentions)
        if mention.thing in _NAMED
    ]
    at, key = told.session.changed_at, told.session.key
    gone = {touch.path for touch in told.session.trail.files if touch.action is Action.DELETE}
    for worth, mention in sorted(scored, key=lambda pair: -pair[0])[:NAMES_CONSIDERED]:
        kind, name = mention.thing.value, mention.name
        beside = short(mention.file) if mention.file and mention.file not in gone else ""
        yield Item(FILES, name, at, key, kind, key=name, lead=IN_USE, beside=beside, score=worth)


def _files(told: BriefInput, short: Callable[[str], str], weights: Weights) -> Iterator[Item]:
    trail, key = told.session.trail, told.session.key
    git = told.session.git
    dirty = frozenset(git.dirty if git else ())
    mentions = _one_for_each_file(trail.mentions, trail.steps)
    latest = _latest_change(trail)
    changed = [touch for touch in trail.files if touch.action is not Action.READ]
    read = [touch for touch in trail.files if touch.action is Action.READ]
    renamed = {touch.renamed_to: touch.step for touch in trail.files if touch.renamed_to}
    folders = {folder for touch in trail.files for folder in folders_of(touch.path)}
    # Of two copies of a file the one that was changed counts, however often the other was looked at since.
    for touch in (*reversed(changed), *reversed(read)):
        mention = mentions.pop(file_key(touch.path), Mention(touch.path, step=touch.step))
        if touch.action is Action.READ and f"{touch.path}/" in folders:
            continue  # a folder that was looked into is known by what is in it
        if renamed.get(touch.path) == touch.step:
            continue  # its new name is all that is new about it, and is told with the old one
        features = _features(mention, told) | {"in_diff": float(relative(touch.path, told) in dirty)}
        item = _file(touch, told, short)
        if touch is latest:
            yield weighed(replace(item, kind="latest_file"), weights)
        else:
            yield weighed(item, weights, **features)
    for place, touch in enumerate(reversed(trail.subagent_files)):
        if touch.action is not Action.READ:
            path, lead = short(touch.renamed_to or touch.path), f"Subagents {DONE[touch.action].lower()}"
            item = Item(FILES, path, touch.at, key, "subagent_file", lead=lead, path=path)
            yield weighed(item, weights, standing=recency(place))
    gone = {name_of(touch.path) for touch in trail.files if touch.action is Action.DELETE}
    for mention in reversed(mentions.values()):
        path = short(mention.shown)
        # However else it is spelled: what was deleted is not offered again.
        if name_of(path) in gone:
            continue
        item = Item(FILES, path, told.session.changed_at, key, "named_file", lead="Also named", path=path)
        yield weighed(item, weights, **_features(mention, told))


def _one_for_each_file(mentions: Iterable[Mention], steps: int) -> dict[str, Mention]:
    """The mentions of files; a bare name counts for the file of that name whose directory is known."""
    files = {mention.name: mention for mention in mentions if mention.thing is Thing.FILE}
    known = {name_of(name): name for name in files if "/" in name}
    for bare in files.keys() & known.keys():
        one, other = files[known[bare]], files.pop(bare)
        files[one.name] = _as_one(one, (one, other), steps)
    return files


def _as_one(shown: Mention, spellings: Sequence[Mention], steps: int) -> Mention:
    """The mention as it is shown, used as much as all spellings of it together."""
    use, step = sum(use_at(one, steps) for one in spellings), max(one.step for one in spellings)
    return replace(shown, use=use * math.exp2((steps - step) / HALF_LIFE), step=step)


def _file(touch: FileTouch, told: BriefInput, short: Callable[[str], str]) -> Item:
    """A file behind the label of what was done to it, or in a line of its own if it is not as it was left."""
    path, mark = short(touch.path), told.marks.get(touch.path)
    item = Item(FILES, path, touch.at, told.session.key, _KINDS.get(touch.action, "changed_file"), path)
    if mark or touch.renamed_to:
        renamed = short(touch.renamed_to) if touch.renamed_to else ""
        line = file_line(replace(touch, path=path, renamed_to=renamed))
        return replace(item, text=f"{line} — UNCONFIRMED: {mark}" if mark else line)
    return replace(item, lead=DONE[touch.action], path=path)


def _commands(told: BriefInput, weights: Weights) -> Iterator[Item]:
    """Failures each in a line; what else was run, once for each program, behind the label of its outcome."""
    trail, key = told.session.trail, told.session.key
    mentions = {mention.name: mention for mention in trail.mentions if mention.thing is Thing.PROGRAM}
    for kind, place, run in _in_vain(trail):
        item = Item(COMMANDS, command_line(_from_project(run, told)), run.at, key, kind)
        yield weighed(item, weights, recency=recency(place))
    failures = [run for run in trail.commands if run.ok is False]
    latest, failed = _latest(trail.commands), _programs(failures)
    with_subcommand = {name.split(" ", 1)[0] for name in mentions if " " in name}
    for name, mention in reversed(mentions.items()):
        if name in latest:
            item = replace(_called(*latest[name]), source=key, kind="command")
        elif name not in failed and name not in with_subcommand:
            # Long ago: that it was run says enough, and `gh` alone says nothing beside `gh api`.
            item = Item(COMMANDS, f"`{name}`", told.now, key, "earlier_command", lead="Also run")
        else:
            continue
        yield weighed(item, weights, **_features(mention, told))


def _in_vain(trail: Trail) -> Iterator[tuple[str, int, CommandRun]]:
    """What was run in vain, by kind, each with its place among its like, the newest first."""
    gone = gone_names(trail)
    # What failed with a file that is no more cannot be done any more.
    vain = [run for run in reversed(trail.commands) if run.ok is False and not names_in(run.command, gone)]
    refused = [run for run in vain if run.reason == REFUSED]
    look_ups = [run for run in vain if looked_in_vain(run)]
    undone = [run for run in vain if run not in refused and run not in look_ups]
    # What went wrong comes before what was stopped.
    for place, run in enumerate(sorted(undone, key=lambda run: not has_failed(run))):
        yield "failed_command" if place or not has_failed(run) else "last_failure", place, run
    yield from (("refused", place, run) for place, run in enumerate(refused))
    yield from (("look_up", place, run) for place, run in enumerate(look_ups[:LOOK_UPS_TOLD]))


_ELSEWHERE: Final = frozenset(
    "cd pushd popd ssh scp sftp rsync docker podman docker-compose kubectl chroot nsenter ln".split()
)
"""What goes to another place or machine, or hands a path to somebody who does not stand in the project."""


def _from_project(run: CommandRun, told: BriefInput) -> CommandRun:
    """A run with the project's files as one would type them there, in the command and in why it failed.

    Only where that means the same: not in a command that goes elsewhere, nor in the middle of a word.
    """
    named = [root for root in _roots(told) if f"{root}/" in run.command or f"{root}/" in run.reason]
    if not named or _goes_elsewhere(shell.shown(one_line(run.command), len(run.command))):
        return run
    alone = re.compile(rf"(?<![^\s\"'`(])(?:{'|'.join(map(re.escape, named))})/(?=[\w.@-])")
    return replace(run, command=alone.sub("", run.command), reason=alone.sub("", run.reason))


def _goes_elsewhere(command: str) -> bool:
    programs = (call.program.split(" ", 1)[0] for call in shell.calls(command, CALL_CHARS))
    return not _ELSEWHERE.isdisjoint({*programs, *(step.name for step in read(command).steps)})


def _called(form: str, run: CommandRun) -> Item:
    """A call with what came of it; the counts of its tests are no part of what it says."""
    lead = "Passed" if run.ok else "Started"
    return Item(COMMANDS, f"`{form}`{counts(run)}", run.at, key=f"`{form}`", lead=lead)


def _programs(runs: Iterable[CommandRun]) -> frozenset[str]:
    return frozenset(call.program for run in runs for call in shell.calls(run.command, CALL_CHARS))


def _latest(commands: Iterable[CommandRun]) -> dict[str, tuple[str, CommandRun]]:
    """For each program how it was called last without failing: what failed has a line of its own."""
    runs = [run for run in commands if run.ok is not False]
    return {call.program: (call.form, run) for run in runs for call in shell.calls(run.command, CALL_CHARS)}


def _features(mention: Mention, told: BriefInput, whose: str = "") -> dict[str, float]:
    """How much a thing is in use, and 0 for one that was named in the last step, less for each step since."""
    steps = told.session.trail.steps
    return {
        f"{whose}use": math.log1p(3 * use_at(mention, steps)),
        f"{whose}freshness": -math.log1p(max(steps - mention.step, 0) / 5),
    }


_LONG_ROAD: Final = 24


def recency(place: int) -> float:
    """Of things that are told in order: 0 for the newest, less for each that came after it."""
    return -math.log1p(place / 2)


def relative(path: str, told: BriefInput, elsewhere: str = "") -> str:
    """The path as the agent would type it in the project, or in the one place elsewhere; others whole."""
    for root in _roots(told):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return LEFT_OUT + path[len(elsewhere) :] if elsewhere and path.startswith(elsewhere) else path


def _roots(told: BriefInput) -> tuple[str, ...]:
    """The project's directory, in each spelling of it."""
    project = told.session.project
    spellings = dict.fromkeys((project.root, project.normalized, project.path))
    return tuple(root for root in spellings if root not in ("", "/"))


def _elsewhere(told: BriefInput) -> str:
    """The directory that the touched files outside the project share, if it is worth a line of its own."""
    outside = [path for touch in told.session.trail.files if (path := relative(touch.path, told))[:1] == "/"]
    changed = {touch.path for touch in told.session.trail.files if touch.action is not Action.READ}
    worked_on = [path for path in outside if path in changed] or outside
    shared = _common(worked_on) if len(worked_on) > 1 else ""
    return f"{shared}/" if len(shared) > _LONG_ROAD else ""


def _common(paths: list[str]) -> str:
    """The directory that all paths stand in."""
    first, last = min(paths).split("/")[:-1], max(paths).split("/")[:-1]
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "/".join(part for part, _ in alike)
