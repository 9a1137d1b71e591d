"""Tracker record: what happened to pull requests, issues and tasks, from `gh` and `bd` and their output.

Only what these programs say they did; a silent `gh pr merge 7` counts if it must have succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from holdfast.core.evidence.commands.git_record import SWITCHED
from holdfast.core.evidence.commands.program_call import (
    PlacedChange,
    RecordedCall,
    has_option,
    operands,
    option_value,
)
from holdfast.core.evidence.commands.shell import ShellWord
from holdfast.core.evidence.commands.work_change import (
    BranchChanged,
    PullRequest,
    TaskChanged,
    TaskListed,
    TaskStatus,
    TrackerChange,
)
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line

_URL: Final = compiled(
    r"^(?P<url>https://[^\s/]+/[^\s/]+/[^\s/]+/(?P<kind>pull|issues)/(?P<number>\d{1,9}))(?P<comment>#\S+)?$",
    re.MULTILINE,
)
_MARKED: Final = compiled(
    r"^\W*(?P<verb>Merged|Squashed and merged|Rebased and merged|Closed|Reopened)"
    r" (?P<kind>pull request|issue) (?:[\w.-]+/[\w.-]+)?#(?P<number>\d{1,9})(?: \((?P<title>.*)\))?",
    re.MULTILINE,
)
_VERBS: Final = {
    "create": TrackerChange.CREATED, "merge": TrackerChange.MERGED, "close": TrackerChange.CLOSED,
    "reopen": TrackerChange.REOPENED, "comment": TrackerChange.COMMENTED, "edit": TrackerChange.EDITED,
}  # fmt: skip
_SILENT: Final = (TrackerChange.MERGED, TrackerChange.CLOSED, TrackerChange.REOPENED)
_GH_VALUED: Final = (
    "-t --title -b --body -F --body-file -B --base -H --head -R --repo -l --label -a --assignee -r --reviewer"
    " -m --milestone -p --project -c --comment --reason --add-label --remove-label --subject"
)


class _Report(NamedTuple):
    """A line in which `gh` names a pull request or issue, and the changes that it may report."""

    changes: Sequence[TrackerChange]
    is_issue: bool
    number: int
    url: str = ""
    title: str = ""


def github_changes(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    """What `gh` says it did to pull requests and issues; a number alone counts if the call is proven."""
    reports = [*_reports(output)]
    for call in calls:
        verb = call.args[0].text if call.args else ""
        if call.subcommand == "pr" and verb == "checkout":
            switched = SWITCHED.search(output)
            if switched and switched["branch"]:
                yield call.place, BranchChanged(switched["branch"], bool(switched["new"]))
        elif call.subcommand in {"pr", "issue"} and verb in _VERBS:
            yield from _github_change(call, _VERBS[verb], reports, output)


def _reports(output: str) -> Iterator[_Report]:
    created = () if "already exists" in output else (TrackerChange.CREATED,)
    for url in _URL.finditer(output):
        changes = (TrackerChange.COMMENTED,) if url["comment"] else (*created, TrackerChange.EDITED)
        yield _Report(changes, url["kind"] == "issues", int(url["number"]), url["url"])
    for line in _MARKED.finditer(output):
        change = _VERBS[_MARKS[line["verb"].split()[-1].lower()]]
        title = (line["title"] or "").strip()
        yield _Report((change,), line["kind"] == "issue", int(line["number"]), title=title)


_MARKS: Final = {"merged": "merge", "closed": "close", "reopened": "reopen"}


def _github_change(
    call: RecordedCall, change: TrackerChange, reports: list[_Report], output: str
) -> Iterator[PlacedChange]:
    is_issue = call.subcommand == "issue"
    args = call.args[1:]
    named = operands(args, _GH_VALUED)
    number = _number(named[0].path) if named else 0
    fits = (report for report in reports if change in report.changes and report.is_issue == is_issue)
    report = next((report for report in fits if number in {0, report.number}), None)
    if report is not None:
        reports.remove(report)
    elif number and call.is_proven and _is_silent(change, args, output):
        report = _Report((change,), is_issue, number)
    if report is None:
        return
    title = report.title or option_value(args, "-t", "--title")
    if is_issue:
        reason = option_value(args, "-c", "--comment") if change is TrackerChange.CLOSED else ""
        yield call.place, TaskChanged(f"#{report.number}", change, title, reason, report.url)
    else:
        yield call.place, PullRequest(change, report.number, report.url, title)


def _is_silent(change: TrackerChange, args: Sequence[ShellWord], output: str) -> bool:
    """Whether `gh` says nothing when it does this; with `--auto` it only plans to merge."""
    return change in _SILENT and not output.strip() and not has_option(args, "--auto")


_NUMBER: Final = compiled(r"#?(\d{1,9})|https://\S+/(?:pull|issues)/(\d{1,9})")


def _number(word: str) -> int:
    match = _NUMBER.fullmatch(word)
    return int(match[1] or match[2]) if match else 0


# ---------------------------------------------------------------- beads


_TASK: Final = r"(?P<task>[A-Za-z][\w-]*-[a-z0-9]+(?:\.\d+)*)"
_BD_DONE: Final = compiled(
    rf"^\W*(?P<verb>Created|Updated|Closed|Reopened|Deferred|Undeferred)(?: issue)?:? {_TASK}"
    r"(?:(?::| [—–-]) *(?P<rest>\S.*))?$",
    re.MULTILINE,
)
_BD_TITLE: Final = compiled(r"\n\s+Title: (\S.*)")
_BD_VERBS: Final = {
    "create": "Created", "new": "Created", "q": "Created", "update": "Updated", "close": "Closed",
    "done": "Closed", "reopen": "Reopened", "defer": "Deferred", "undefer": "Undeferred",
}  # fmt: skip
_BD_CHANGES: Final = {
    "Created": TrackerChange.CREATED, "Closed": TrackerChange.CLOSED, "Reopened": TrackerChange.REOPENED,
    "Deferred": TrackerChange.DEFERRED, "Undeferred": TrackerChange.REOPENED,
}  # fmt: skip
_BD_STATUSES: Final = {
    "in_progress": TrackerChange.STARTED, "open": TrackerChange.REOPENED, "blocked": TrackerChange.BLOCKED,
    "closed": TrackerChange.CLOSED, "deferred": TrackerChange.DEFERRED,
}  # fmt: skip
_BD_LISTING: Final = frozenset("ready list show search blocked stale".split())


def beads_changes(calls: Sequence[RecordedCall], output: str) -> Iterator[PlacedChange]:
    """What the tracker says it did, task by task; and the tasks that it listed."""
    for line in _BD_DONE.finditer(output):
        call = _bd_call(calls, line)
        if call is not None:
            yield from _bd_change(call, line, output)
    listing = next((call for call in calls if call.subcommand in _BD_LISTING), None)
    if listing is not None:
        shows_ready = all(call.subcommand == "ready" for call in calls if call.subcommand in _BD_LISTING)
        yield from ((listing.place, task) for task in _listed(output, shows_ready=shows_ready))


def _bd_call(calls: Sequence[RecordedCall], line: re.Match[str]) -> RecordedCall | None:
    """The call that a line reports on: the one that names the task, else the only one of its kind."""
    alike = [call for call in calls if _BD_VERBS.get(call.subcommand) == line["verb"]]
    naming = [call for call in alike if any(word.text == line["task"] for word in call.args)]
    by_title = [call for call in alike if line["verb"] == "Created" and _bd_title(call) == line["rest"]]
    return next(iter((*naming, *by_title)), alike[0] if alike else None)


def _bd_change(call: RecordedCall, line: re.Match[str], output: str) -> Iterator[PlacedChange]:
    rest = (line["rest"] or "").strip()
    reason = option_value(call.args, "--reason", "-r")
    match line["verb"]:
        case "Created":
            below = _BD_TITLE.match(output, line.end())
            yield (
                call.place,
                TaskChanged(line["task"], TrackerChange.CREATED, below[1].strip() if below else rest),
            )
        case "Updated":
            status = (
                "in_progress"
                if has_option(call.args, "--claim")
                else option_value(call.args, "--status", "-s")
            )
            if status in _BD_STATUSES:
                yield call.place, TaskChanged(line["task"], _BD_STATUSES[status], rest)
        case "Closed":
            # The tracker prints the first line of the reason, or that there is none.
            printed = "" if rest in {"Closed", "Done"} else rest
            yield call.place, TaskChanged(line["task"], TrackerChange.CLOSED, "", reason or printed)
        case verb:
            yield call.place, TaskChanged(line["task"], _BD_CHANGES[verb], "", reason)


def _bd_title(call: RecordedCall) -> str:
    named = operands(
        call.args, "-t --type -p --priority -d --description --parent -l --labels --deps -a --assignee"
    )
    return option_value(call.args, "--title") or (one_line(named[0].path) if named else "")


_MARK: Final = r"(?P<mark>[○◐●✓❄])"
_PRIORITY: Final = r"\[(?:● )?P\d\]"
_LISTED: Final = (
    compiled(rf"^ *\d+\. {_PRIORITY}(?: \[\w+\])? {_TASK}: (?P<title>\S.*)$", re.MULTILINE),
    compiled(
        rf"^{_MARK} {_TASK} {_PRIORITY}(?: \[\w+\])?(?: @\S+)?(?: \[[^\]\n]*\])? - (?P<title>\S.*?)"
        r"(?: \((?:blocked by|blocks|parent)[^)\n]*\))*$",
        re.MULTILINE,
    ),
    compiled(rf"^{_MARK} {_TASK}(?: \[\w+\])? · (?P<title>\S.*?) +\[● P\d · [A-Z_ ]+\]$", re.MULTILINE),
    compiled(rf"^ +↳ {_MARK} {_TASK}: (?P<title>\S.*?)(?: ● P\d)?$", re.MULTILINE),
)
"""A task as it is listed by `ready`, by `list`, shown by `show`, and shown there as a child."""
_BD_MARKS: Final = {
    "○": TaskStatus.OPEN, "◐": TaskStatus.STARTED, "●": TaskStatus.BLOCKED, "✓": TaskStatus.CLOSED,
    "❄": TaskStatus.DEFERRED,
}  # fmt: skip


def _listed(output: str, *, shows_ready: bool) -> Iterator[TaskListed]:
    for pattern in _LISTED:
        for line in pattern.finditer(output):
            mark = line.groupdict().get("mark")
            status = _BD_MARKS[mark] if mark else TaskStatus.OPEN
            yield TaskListed(line["task"], line["title"], status, is_ready=not mark and shows_ready)


def task_text(shown: str) -> str:
    """What `bd show` and `gh issue view` print of a task, without its fields and without closed tasks."""
    return _TASK_ROW.sub(_bare_task, _TASK_FIELD.sub("", shown))


def _bare_task(row: re.Match[str]) -> str:
    return "" if row["state"] in _CLOSED_MARKS else f"{row['task']}: {row['title']}"


_TASK_FIELD: Final = compiled(
    r"^(?:(?:Owner|Assignee|Created|Updated|Closed|Type|Priority|Status): .*"
    r"|(?:state|author|labels|comments|assignees|projects|milestone|number|url):\t.*|title:\t|--)$\n?|^title:\t",
    re.MULTILINE,
)
_TASK_ROW: Final = compiled(
    r"^[ \t]*(?:[↳→←↑↓] )?(?P<state>[○◐●✓✗❄]) (?P<task>[\w.-]*\w)(?::| \[\w+\] ·| ·) (?P<title>.*?)"
    r"(?:[ \t]+(?:● P\d|\[● [^\]\n]*\]))?[ \t]*$",
    re.MULTILINE,
)
"""A task's title as `bd` prints it: above its text, or in the lists of its parent and its children."""
_CLOSED_MARKS: Final = "✓✗"
