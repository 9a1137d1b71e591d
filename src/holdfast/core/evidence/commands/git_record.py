"""Git record: what git did, from the calls in a command line and what git printed.

A change counts if git printed it, or if the call must have succeeded and prints nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.evidence.commands.program_call import (
    PlacedChange,
    RecordedCall,
    has_option,
    operands,
    option_value,
    option_values,
)
from holdfast.core.evidence.commands.shell import BODY, ShellWord
from holdfast.core.evidence.commands.work_change import (
    BranchChanged,
    BranchMerged,
    CommitMade,
    RefPushed,
    StashChange,
    Stashed,
    TagMade,
    UndoKind,
    Undone,
)
from holdfast.core.evidence.patches import path_below
from holdfast.core.evidence.prose.reader import sentences
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line


def git_changes(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    yield from _commits(calls, output)
    yield from _stashes(calls, output)
    yield from _pushes(calls, output)
    pulls = any(call.subcommand == "pull" for call in calls)
    for call in calls:
        match call.subcommand:
            case "checkout" | "switch":
                yield from _checkout(call, output)
            case "restore":
                yield from _restore(call)
            case "reset":
                yield from _reset(call, output)
            case "clean" if not has_option(call.args, "-n", "--dry-run"):
                removed = [path_below(call.folder, path) for path in _REMOVED.findall(output)]
                yield from _files_undone(call, [path for path in removed if path])
            case "merge" if not pulls:
                yield from _merge(call, output)
            case "tag":
                yield from _tag(call)
            case _:
                pass


_COMMIT: Final = compiled(
    r"^\[(?P<branch>\S{1,250}|detached HEAD)(?: \(root-commit\))? (?P<id>[0-9a-f]{7,40})\] (?P<subject>.*)$",
    re.MULTILINE,
)
_COMMITTING: Final = frozenset("commit cherry-pick revert merge".split())
_REVERTED: Final = compiled(r'Revert "(.*)"$')


def _commits(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    """Each commit that git printed, with its message if a call has it; then those made quietly."""
    waiting = {call.place: (call, _message(call)) for call in calls if call.subcommand in _COMMITTING}
    if not waiting:
        return
    for line in _COMMIT.finditer(output):
        subject = line["subject"].strip()
        place = _maker(waiting, subject)
        call, message = waiting[place]
        if len(waiting) > 1:
            del waiting[place]
        if call.subcommand == "revert" and (reverted := _REVERTED.match(subject)):
            named = [word.path for word in operands(call.args, "-m -s -X")]
            commit = named[0] if len(named) == 1 and _ID.fullmatch(named[0]) else ""
            yield place, Undone(UndoKind.REVERT, commit=commit, subject=reverted[1])
        points = _points(message, subject)
        amends = has_option(call.args, "--amend")
        yield place, CommitMade(subject, points, line["branch"], line["id"], amends)
    yield from _quiet_commits(
        [entry for entry in waiting.values() if entry[0].subcommand == "commit"], output
    )


def _maker(waiting: Mapping[int, tuple[RecordedCall, str]], subject: str) -> int:
    """The place of the call that made a commit: the one with its message, else the first without one."""
    by_message = (place for place, (_, text) in waiting.items() if text and _subject(text) == subject)
    without = (place for place, (_, text) in waiting.items() if not text)
    return next(by_message, next(without, next(iter(waiting))))


_ID: Final = compiled(r"[0-9a-f]{7,40}")
_LOG_LINE: Final = compiled(r"^(?P<id>[0-9a-f]{7,40}) (?:\([^)\n]*\) )?(?P<subject>.*)$", re.MULTILINE)


def _quiet_commits(waiting: Sequence[tuple[RecordedCall, str]], output: str) -> Iterator[PlacedChange]:
    """Commits made with `-q`: proven, or shown by a log in the same command line."""
    quiet = [(call, text) for call, text in waiting if text and _is_quiet(call)]
    if not quiet:
        return
    logged = {line["subject"]: line["id"] for line in _LOG_LINE.finditer(output)}
    for call, text in quiet:
        subject = _subject(text)
        commit = logged.get(subject, "")
        if commit or call.is_proven:
            yield (
                call.place,
                CommitMade(subject, _points(text, subject), "", commit, has_option(call.args, "--amend")),
            )


def _is_quiet(call: RecordedCall) -> bool:
    return has_option(call.args, "--quiet") or any(
        _QUIET.fullmatch(word.text) for word in call.args if word.text.startswith("-")
    )


_QUIET: Final = compiled(r"-[a-z]{0,4}q[a-z]{0,4}")


def _message(call: RecordedCall) -> str:
    """The message of a commit, where the command has all of it."""
    if call.subcommand != "commit":
        return ""
    parts = option_values(call.args, "-m", "--message")
    if not parts:
        return call.text.strip() if option_value(call.args, "-F", "--file") == "-" else ""
    texts = [call.text if BODY.search(part.text) else part.path for part in parts]
    return "\n\n".join(texts).strip() if all(texts) else ""


def _subject(message: str) -> str:
    """The subject as git shows it: the lines before the first empty one, joined."""
    return one_line(message.split("\n\n", 1)[0])


_TRAILER: Final = compiled(
    r"(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|Refs?|Fixes|Closes|Resolves|Issue|See|Link|Bug)(?: ?: | #)\S.*"
)
_SIGNATURE: Final = compiled(r"\W*Generated (?:with|by) .*", re.IGNORECASE)


def _points(message: str, subject: str) -> tuple[str, ...]:
    """The sentences and list items of a message's body."""
    if not message or _subject(message) != subject:
        return ()
    paragraphs = message.split("\n\n")[1:]
    if paragraphs:
        lines = paragraphs[-1].split("\n")
        paragraphs[-1] = "\n".join(line for line in lines if not _TRAILER.fullmatch(line.strip()))
    body = "\n\n".join(paragraphs)
    body = "\n".join(line for line in body.split("\n") if not _SIGNATURE.fullmatch(line.strip()))
    return tuple(point for point in sentences(body) if point[-1] != ":" and not _TRAILER.fullmatch(point))


_SAVED: Final = compiled(
    r"^Saved working directory and index state (?:WIP on|On) (?P<branch>[^:\n]+): (?P<message>.*)$",
    re.MULTILINE,
)
_DROPPED: Final = compiled(r"^Dropped (?:refs/)?stash@", re.MULTILINE)


def _stashes(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    """Stashes saved, in the order of their lines, and those applied or dropped."""
    saved = _SAVED.finditer(output)
    dropped = len(_DROPPED.findall(output))
    for call in calls:
        if call.subcommand != "stash":
            continue
        action = operands(call.args, "-m --message")[:1]
        match action[0].text if action else "push":
            case "push" | "save":
                line = next(saved, None)
                if line is not None:
                    own = option_value(call.args, "-m", "--message")
                    yield call.place, Stashed(StashChange.SAVED, line["branch"], own, _stashed_paths(call))
            case "pop" if dropped or (call.is_unfailed and _is_quiet(call)):
                dropped -= 1
                yield call.place, Stashed(StashChange.APPLIED)
            case "apply" if call.is_unfailed and "CONFLICT" not in output:
                yield call.place, Stashed(StashChange.APPLIED)
            case "drop" if dropped > 0:
                dropped -= 1
                yield call.place, Stashed(StashChange.DROPPED)
            case "clear" if call.is_unfailed:
                yield call.place, Stashed(StashChange.DROPPED)
            case _:
                pass


def _stashed_paths(call: RecordedCall) -> tuple[str, ...]:
    named = operands(call.args, "-m --message")
    return tuple(_located(call, named[1:])) if named[:1] and named[0].text == "push" else ()


SWITCHED: Final = compiled(
    r"^(?:Switched to (?P<new>a new )?branch '(?P<branch>[^'\n]+)'"
    r"|Switched to and reset branch '(?P<reset>[^'\n]+)'"
    r"|Note: (?:switching to|checking out) '(?P<detached>[^'\n]+)'\.)",
    re.MULTILINE,
)
_UPDATED: Final = compiled(r"^Updated \d+ paths? from (?P<source>the index|[0-9a-f]{7,40})$", re.MULTILINE)
_STARTING: Final = ("-b", "-B", "-c", "-C", "--create", "--orphan")


def _checkout(call: RecordedCall, output: str) -> Iterator[PlacedChange]:
    """A branch that was switched to, or files that were restored."""
    named = operands(call.args, "-b -B -c -C --create --orphan")
    started = option_value(call.args, *_STARTING)
    target = started or (named[0].path if named else "")
    for line in SWITCHED.finditer(output):
        branch = line["branch"] or line["reset"] or line["detached"]
        if target in {"", "-", branch, f"origin/{branch}"}:
            yield call.place, BranchChanged(branch, bool(line["new"]), bool(line["detached"]))
            return
    if started:
        if call.is_unfailed and (_is_quiet(call) or not output.strip()):
            yield call.place, BranchChanged(started, is_new=True)
        return
    if call.subcommand == "switch" or has_option(call.args, "--theirs", "--ours", "-p", "--patch"):
        return
    before, after = _around_dashes(call.args)
    if after:
        yield from _restored(call, after, before[-1].text if before else "")
        return
    updated = _UPDATED.search(output)
    if updated and updated["source"] != "the index":
        yield from _restored(call, named[1:], target)
    elif named and (updated or named[0].text == "."):
        yield from _restored(call, named, "")


def _around_dashes(args: Sequence[ShellWord]) -> tuple[list[ShellWord], list[ShellWord]]:
    """The operands before `--`, and the words after it."""
    texts = [word.text for word in args]
    if "--" not in texts:
        return [], []
    at = texts.index("--")
    return [word for word in args[:at] if not word.text.startswith("-")], list(args[at + 1 :])


def _restore(call: RecordedCall) -> Iterator[PlacedChange]:
    only_staged = has_option(call.args, "--staged", "-S") and not has_option(call.args, "--worktree", "-W")
    if only_staged or has_option(call.args, "--theirs", "--ours", "-p", "--patch"):
        return
    source = option_value(call.args, "--source", "-s")
    yield from _restored(call, operands(call.args, "-s --source"), source)


def _restored(call: RecordedCall, words: Sequence[ShellWord], source: str) -> Iterator[PlacedChange]:
    # Files from a stash are work that comes back.
    if call.is_unfailed and "stash" not in source:
        yield from _files_undone(call, _located(call, words), source)


def _located(call: RecordedCall, words: Sequence[ShellWord]) -> list[str]:
    """The paths of these words, from where the command line began; `.` for all files."""
    located = (path_below(call.folder, word.path) for word in words if word.path)
    return [path or "." for path in located if path is not None]


def _files_undone(call: RecordedCall, paths: Sequence[str], source: str = "") -> Iterator[PlacedChange]:
    if paths:
        yield call.place, Undone(UndoKind.FILES, tuple(paths), source)


_REMOVED: Final = compiled(r"^Removing (\S.*)$", re.MULTILINE)
_HEAD: Final = compiled(r"^HEAD is now at (?P<id>[0-9a-f]{7,40}) (?P<subject>.*)$", re.MULTILINE)


def _reset(call: RecordedCall, output: str) -> Iterator[PlacedChange]:
    named = operands(call.args)
    target = named[0].path if named else ""
    moves = bool(target) and target not in {"HEAD", "@"}
    if has_option(call.args, "--hard"):
        head = _HEAD.search(output)
        if head:
            kind = UndoKind.RESET if moves else UndoKind.FILES
            yield call.place, Undone(kind, (".",), head["id"], head["subject"])
        elif call.is_unfailed and _is_quiet(call):
            yield call.place, Undone(UndoKind.RESET if moves else UndoKind.FILES, (".",), target)
    elif call.is_unfailed and _uncommits(call, named) and moves:
        yield call.place, Undone(UndoKind.UNCOMMIT, commit=target)


def _uncommits(call: RecordedCall, named: Sequence[ShellWord]) -> bool:
    """Whether a reset moves the branch, and does not only unstage files."""
    goes_back = has_option(call.args, "--soft", "--mixed") or _BACK.search(named[0].path if named else "")
    return bool(goes_back) and len(named) == 1 and not any(_around_dashes(call.args))


_BACK: Final = compiled(r"[~^]\d*$|@\{\d+\}$")
_MERGED: Final = compiled(r"^(?:Merge made by |Fast-forward$)", re.MULTILINE)


def _merge(call: RecordedCall, output: str) -> Iterator[PlacedChange]:
    named = operands(call.args, "-m -F -s -X --message --file --strategy --strategy-option --into-name")
    is_whole = not has_option(call.args, "--abort", "--continue", "--quit", "--squash", "--no-commit")
    if is_whole and named and named[0].path and _MERGED.search(output) and "CONFLICT" not in output:
        yield call.place, BranchMerged(named[0].path)


_PUSHED: Final = compiled(
    r"^(?P<to>To|From) (?P<remote>\S+)$"
    r"|^ (?P<sign>[ +*]) (?:(?P<old>[0-9a-f]{7,40})\.{2,3}(?P<id>[0-9a-f]{7,40})|\[new (?:branch|tag)\])"
    r" +(?P<ref>\S+) +-> (?P<there>\S+)",
    re.MULTILINE,
)


def _pushes(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    """What git says was pushed; lines of a fetch look alike, but follow `From`."""
    pushing = [call for call in calls if call.subcommand == "push"]
    if not pushing:
        return
    place = pushing[-1].place
    remote = ""
    is_push = not any(call.subcommand in {"pull", "fetch"} for call in calls)
    for line in _PUSHED.finditer(output):
        if line["to"]:
            is_push, remote = line["to"] == "To", line["remote"]
        elif is_push:
            yield place, RefPushed(line["there"], remote, line["id"] or "", line["sign"] == "+")


_NO_TAG: Final = (
    "-l",
    "--list",
    "-d",
    "--delete",
    "-v",
    "--verify",
    "-n",
    "--contains",
    "--points-at",
    "--sort",
)


def _tag(call: RecordedCall) -> Iterator[PlacedChange]:
    named = operands(call.args, "-m -F -u --message --file --local-user")
    makes = not any(
        word.text.split("=", 1)[0] in _NO_TAG or _LINES.fullmatch(word.text) for word in call.args
    )
    if call.is_unfailed and makes and named and named[0].path:
        yield call.place, TagMade(named[0].path)


_LINES: Final = compiled(r"-n\d+")
