"""Setup summary: what setup did, what agents will be given from then on, and how to undo it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from holdfast import skills
from holdfast.cli.printing import home_path, short_path
from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.budget import budget_for
from holdfast.core.events.install_request import INSTRUCTIONS
from holdfast.engine.briefing.resume import limit_of
from holdfast.engine.engine import budget_settings_of
from holdfast.engine.tools import table
from holdfast.files.install import InstallChange, Report, Role, Verb
from holdfast.harnesses.base import Harness, Pluggable
from holdfast.settings import Config

_INDENT = "  "


def files_line(report: Report, home: Path) -> str:
    """How many files setup changed and created."""
    counted = file_counts(report)
    if not counted:
        return "every file is as it should be already"
    backups = short_path(str(home / "backups"))
    has_backup = any(change.verb is Verb.CHANGED for change in report.changes)
    return f"{counted}{f'; what was changed is in {backups} as it was' if has_backup else ''}"


def file_counts(report: Report) -> str:
    """How many files were changed, created and removed; empty if none was."""
    counts = Counter(change.verb for change in report.changes)
    shown = (Verb.CHANGED, Verb.CREATED, Verb.REMOVED)
    return ", ".join(f"{counts[verb]} {verb}" for verb in shown if counts[verb])


def changed_files(changes: Iterable[InstallChange]) -> list[str]:
    """A line for each file that would not stay as it is."""
    return [_line(str(change.path), change.verb) for change in _differing(changes)]


def changes_at_a_glance(changes: Iterable[InstallChange]) -> list[str]:
    """What would not stay as it is: each settings file, and how many of Holdfast's own files by folder."""
    differing = list(_differing(changes))
    lines = [_line(home_path(str(one.path)), one.verb) for one in differing if one.role is Role.SETTINGS]
    copies = [change for change in differing if change.role is Role.COPY]
    for (folder, verb), paths in _by_folder(copies).items():
        count = f"{len(paths)} files in {home_path(str(folder))}"
        lines.append(_line(count if len(paths) > 1 else home_path(str(paths[0])), verb))
    return lines


def _line(what: str, verb: Verb) -> str:
    return f"{_INDENT}{what} would be {verb}"


def _differing(changes: Iterable[InstallChange]) -> Iterator[InstallChange]:
    return (change for change in changes if change.verb is not Verb.UNCHANGED)


def _by_folder(copies: Sequence[InstallChange]) -> dict[tuple[Path, Verb], list[Path]]:
    """Files by folder and by what becomes of them; skills, one in a folder each, by the folder of all."""
    siblings = Counter(change.path.parent for change in copies)
    folders: dict[tuple[Path, Verb], list[Path]] = {}
    for change in copies:
        folder = change.path.parent
        shared = folder if siblings[folder] > 1 else folder.parent
        folders.setdefault((shared, change.verb), []).append(change.path)
    return folders


def summary(
    chosen: Sequence[Harness],
    absent: Sequence[Harness],
    report: Report,
    home: Path,
    config: Config,
    *,
    root: Path | None,
    has_tools: bool,
) -> str:
    """What a person should know after setup."""
    where = f"in {root}" if root else "in all projects"
    lines = [f"\nconnected: {titles(chosen)} ({where})"]
    if absent:
        lines.append(f"not found: {titles(absent)}")
    lines.append(f"files: {files_line(report, home)}")
    lines += [
        f"\nfrom now on, a session of {titles(chosen)}",
        *(f"{_INDENT}- {text}" for text in _injected(chosen, config)),
        *(f"{_INDENT}- {text}" for text in _tools(has_guidance=root is None) if has_tools),
        "a harness that runs now has to be started again: most read their hooks at the start only",
    ]
    option = " --project" if root else ""
    if not config.checkpoint.model:
        lines.append("\nno model is asked, and nothing leaves this machine unless you share it")
    without_tools = f"; `holdfast setup{option} --no-mcp` leaves the tools out" if has_tools else ""
    lines += [
        f"a setting turns each of these off: `holdfast config`{without_tools}",
        f"to undo all of it: `holdfast unsetup{option}`; to check the connection: `holdfast doctor`",
    ]
    return "\n".join(lines)


def plugin_notes(chosen: Iterable[Harness], user_directory: Path) -> Iterator[str]:
    """A line for each harness that has the plugin, too."""
    for harness in chosen:
        if isinstance(harness, Pluggable) and harness.has_plugin(user_directory):
            yield f"{harness.title} has the plugin, too: it leaves hooks and tools to what setup installed"


def remaining_plugins(every: Iterable[Harness], user_directory: Path) -> Iterator[str]:
    """A line for each harness whose plugin goes on after setup was undone."""
    for harness in every:
        if isinstance(harness, Pluggable) and harness.has_plugin(user_directory):
            yield f"{harness.title} still has the plugin, which goes on: remove it there, too"


def titles(chosen: Sequence[Harness]) -> str:
    """These harnesses, as a person lists them."""
    *others, last = (harness.title for harness in chosen)
    return f"{', '.join(others)} and {last}" if others else last


def _tools(*, has_guidance: bool) -> Iterator[str]:
    """What agents can use by themselves, and what they read about it."""
    count, tokens = len(table.names()), table.token_cost()
    yield f"has {count} tools, which take about {tokens:,} tokens of its window"
    if has_guidance:
        lines = sum(map(bool, INSTRUCTIONS.splitlines()))
        yield f"has {len(skills.shipped())} skills, and {lines} lines about tools and skills in every session"


def _injected(chosen: Sequence[Harness], config: Config) -> Iterator[str]:
    """What Holdfast puts in front of an agent by itself, by these settings."""
    if config.brief.inject:
        compacted, started = (_longest(reason, chosen, config) for reason in (Reason.COMPACT, Reason.STARTUP))
        yield (
            "is given a brief of the work that it continues: "
            f"up to {compacted:,} characters after a compaction, and up to {started:,} at a start"
        )
        noted = _longest(Reason.SUMMARY, chosen, config)
        yield f"is told what its own summary must keep, in up to {noted:,} characters, if it takes that"
    if config.pressure.show_in_context:
        percent = config.pressure.show_from_percent
        yield f"is told with each prompt how full its window is, from {percent} % on"
    flush = config.memory_flush
    if flush.enabled and flush.thresholds:
        percents = " and ".join(", ".join(f"{one.percent}" for one in flush.thresholds).rsplit(", ", 1))
        yield f"is asked at {percents} % of the window to write down what must last"
        urgent = [f"{one.percent}" for one in flush.thresholds if one.is_urgent]
        if urgent and flush.hold_agent:
            yield f"is kept from stopping once, at {' and '.join(urgent)} %, until it has answered that"
    if config.pressure.advice:
        yield "is advised to start afresh after its second compaction, once"


def _longest(reason: Reason, chosen: Sequence[Harness], config: Config) -> int:
    """The most characters that a brief for this reason has in one of these harnesses."""
    settings = budget_settings_of(config)
    return max(budget_for(reason, settings, limit_of(harness)).brief_most for harness in chosen)
