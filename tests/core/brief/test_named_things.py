"""What a brief says of files, commands and names: each once, as the agent would type it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import COMMANDS, FILES, IN_USE, Item, KeptByHarness
from holdfast.core.brief.compose import BriefInput, Reason, compose
from holdfast.core.brief.named_things import recency, things
from holdfast.core.brief.weights import WEIGHTS
from holdfast.core.events.event import Action, Event
from holdfast.core.evidence.trail import COMMANDS_KEPT
from holdfast.core.session.session import Session
from tests.core.scenes import NOON, after, called, prompt, returned, said, session
from tests.tables import every_row

WHOLE = 20_000
APP = "/home/you/app"
OUTSIDE = "/srv/builds/nightly/artifacts"


def brief_input(*events: Event) -> BriefInput:
    return BriefInput(Reason.COMPACT, after(session(), *events), NOON)


def lines(of: BriefInput, section: str, budget: int = WHOLE) -> list[str]:
    """The lines of one section of the brief, without their bullets."""
    _, _, rest = compose(of, budget).text.partition(f"### {section}\n")
    return [line.removeprefix("- ") for line in rest.partition("\n\n")[0].splitlines() if line[:2] == "- "]


def items(of: BriefInput) -> dict[str, Item]:
    return {item.text: item for item in things(of, WEIGHTS)}


def touched(path: str, action: Action = Action.EDIT, detail: str = "") -> tuple[Event, Event]:
    """A file that was read or changed, with what was written into it."""
    place = path if path.startswith("/") else f"{APP}/{path}"
    call = f"{action}:{path}:{detail}"
    return replace(called(call, action, place), detail=detail), returned(call)


def ran(command: str, *, ok: bool = True, text: str = "", at: int = NOON) -> tuple[Event, Event]:
    call = f"{command}:{ok}:{at}"
    return called(call, Action.RUN, command, at), returned(call, ok=ok, text=text, exit_status=int(not ok))


# ---------------------------------------------------------------- commands


@every_row(
    ("command", "shown"),
    [
        (f"pytest {APP}/tests/test_retry.py -q", "pytest tests/test_retry.py -q"),
        (f"cd {APP} && pytest '{APP}/tests/a b.py'", "pytest 'tests/a b.py'"),
        (f"wc -l {APP}/a.py {APP}/.env {APP}s/b.py", f"wc -l a.py .env {APP}s/b.py"),
        (f"set -e; make -f {APP}/Makefile", "set -e; make -f Makefile"),
        # What would be another file, another machine's, or no file at all stays as it was typed.
        (f"cd sub && pytest {APP}/tests/a.py", f"cd sub && pytest {APP}/tests/a.py"),
        (f"cd {APP}", f"cd {APP}"),
        (f"ls {APP}/ {APP}", f"ls {APP}/ {APP}"),
        (f"cc -I{APP}/include a.c", f"cc -I{APP}/include a.c"),
        (f"curl file://{APP}/a.html", f"curl file://{APP}/a.html"),
        (f"ssh box cat {APP}/a.log", f"ssh box cat {APP}/a.log"),
        (f"sudo docker run -v {APP}/data:/data web", f"sudo docker run -v {APP}/data:/data web"),
        (f"ln -s {APP}/a.py /srv/a.py", f"ln -s {APP}/a.py /srv/a.py"),
    ],
)
def test_what_failed_is_shown_as_one_would_type_it_in_the_project(command: str, shown: str) -> None:
    assert lines(brief_input(*ran(command, ok=False)), COMMANDS) == [f"Failed (exit 1): `{shown}`"]


def test_why_it_failed_names_the_projects_files_as_one_would_type_them_there() -> None:
    failed = ran("make check", ok=False, text=f"error: {APP}/src/retry.py:7 is not {APP}s/src/retry.py")
    (line,) = lines(brief_input(*failed), COMMANDS)
    assert line.endswith(f"error: src/retry.py:7 is not {APP}s/src/retry.py")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("make check", "`make check`"),
        ("pytest -q tests/test_retry.py | tail -3", "`pytest -q tests/test_retry.py`"),
        ("cd /home/you/app && npm run build", "`npm run build`"),
        ('git commit -q -m "The backoff begins at one second"', "`git commit -q -m …`"),
        (
            "pytest --strict-markers -q tests/unit/test_retry.py tests/unit/test_backoff.py",
            "`pytest --strict-markers -q …`",
        ),
    ],
)
def test_a_call_is_shown_as_typed_without_the_longest_of_what_it_was_about(command: str, shown: str) -> None:
    assert lines(brief_input(*ran(command)), COMMANDS) == [f"Passed: {shown}"]


@pytest.mark.parametrize("command", ["ls -la src", "cat a.txt | head", "echo done", "cd src"])
def test_a_command_that_only_looks_is_not_shown(command: str) -> None:
    assert lines(brief_input(*ran(command)), COMMANDS) == []


@pytest.mark.parametrize(
    ("events", "line"),
    [
        (ran("make check"), "Passed: `make check`"),
        (ran("pytest -q", text="4 passed in 0.1s"), "Passed: `pytest -q` (4 passed)"),
        ((called("c1", Action.RUN, "make serve"),), "Started: `make serve`"),
        (
            ran("make check", ok=False, text="ld: no such symbol"),
            "Failed (exit 1): `make check`: ld: no such symbol",
        ),
    ],
)
def test_a_command_stands_behind_what_came_of_it(events: tuple[Event, ...], line: str) -> None:
    assert lines(brief_input(*events), COMMANDS) == [line]


def test_a_program_whose_outcome_is_known_no_more_was_also_run() -> None:
    others = [event for number in range(COMMANDS_KEPT) for event in ran(f"./step{number}.sh")]
    assert "Also run: `make check`" in lines(brief_input(*ran("make check"), *others), COMMANDS)


def test_of_what_was_run_long_ago_the_program_is_shown_with_its_subcommand() -> None:
    long_ago = (*ran("gh --version"), *ran("gh pr list --state open --limit 5"), *ran("bd"))
    others = (event for number in range(COMMANDS_KEPT) for event in ran(f"make part{number}"))
    (line,) = (
        line for line in lines(brief_input(*long_ago, *others), COMMANDS) if line.startswith("Also run")
    )
    assert line == "Also run: `bd`, `gh pr list`"


def test_a_program_is_shown_once_by_its_last_call() -> None:
    of = brief_input(*ran("git push origin old"), *ran("git push origin new"))
    assert lines(of, COMMANDS) == ["Passed: `git push origin new`"]


def test_a_failed_command_that_later_passed_is_no_longer_a_failure() -> None:
    failed = ran("make check", ok=False, text="ld: no such symbol")
    of = brief_input(*failed, *ran("make check", at=NOON + 1))
    assert lines(of, COMMANDS) == ["Passed: `make check`"]
    assert "no such symbol" not in compose(of, WHOLE).text


def test_a_failure_is_shown_beside_what_passed_before_it() -> None:
    of = brief_input(*ran("pytest -q a.py"), *ran("pytest -q b.py", ok=False, text="E   ValueError: no"))
    assert lines(of, COMMANDS) == [
        "Failed (exit 1): `pytest -q b.py`: ValueError: no",
        "Passed: `pytest -q a.py`",
    ]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (Action.READ, "Read: src/retry.py"),
        (Action.EDIT, "Edited: src/retry.py"),
        (Action.WRITE, "Wrote: src/retry.py"),
        (Action.DELETE, "Deleted: src/retry.py"),
    ],
)
def test_a_file_stands_behind_what_was_done_to_it(action: Action, line: str) -> None:
    assert lines(brief_input(*touched("src/retry.py", action)), FILES) == [line]


def test_a_file_that_was_only_named_says_so() -> None:
    assert (
        items(brief_input(said("It is as in lib/clock.py there.", "a1")))["lib/clock.py"].lead == "Also named"
    )


def test_a_bare_name_counts_for_the_file_whose_directory_is_known() -> None:
    files = (*touched("src/retry.py"), *touched("src/last.py"))
    named = brief_input(*files, said("So retry.py is wrong.", "a1"), said("Yes, retry.py.", "a2"))
    plain = brief_input(*files, said("So it is wrong.", "a1"), said("Yes.", "a2"))
    assert "retry.py" not in items(named)
    assert items(named)["src/retry.py"].score > items(plain)["src/retry.py"].score


def test_a_bare_name_of_no_known_file_stands_for_itself() -> None:
    assert (
        items(brief_input(*touched("src/retry.py"), said("See clock.py too.", "a1")))["clock.py"].lead
        == "Also named"
    )


def test_paths_elsewhere_share_a_beginning_that_one_line_tells() -> None:
    of = brief_input(
        *touched(f"{OUTSIDE}/linux/report.txt"), *touched(f"{OUTSIDE}/mac/report.txt"), *touched("src/a.py")
    )
    written = lines(of, FILES)
    assert [line for line in written if OUTSIDE in line] == [f"Outside the project: {OUTSIDE}/"]
    edited = next(line for line in written if line.startswith("Edited: "))
    assert "…/" in edited
    assert edited.count("report.txt") == 2
    assert "src/a.py" in edited


def test_a_file_in_two_working_copies_is_named_once() -> None:
    path = "packages/core/src/evaluation/trace.ts"
    others = (*touched(f"{OUTSIDE}/packages/core/a.ts"), *touched("src/last.py"))
    of = brief_input(*touched(path), *touched(f"{OUTSIDE}/{path}"), *others)
    assert "\n".join(lines(of, FILES)).count("trace.ts") == 1


def test_of_two_working_copies_of_a_file_the_one_that_was_changed_is_shown() -> None:
    path = "packages/core/src/evaluation/trace.ts"
    others = (*touched(f"{OUTSIDE}/packages/core/a.ts"), *touched(f"{OUTSIDE}/packages/b.ts"))
    looks = [event for _ in range(4) for event in touched(path, Action.READ)]
    of = brief_input(*touched(f"{OUTSIDE}/{path}"), *others, *looks)
    assert [line.split(":")[0] for line in lines(of, FILES) if "trace.ts" in line] == ["Edited"]


def test_a_file_deep_in_the_project_is_named_by_its_end_and_the_one_changed_last_whole() -> None:
    first, last = ("packages/core/src/evaluation/trace.ts", "packages/core/src/evaluation/order.ts")
    of = brief_input(*touched(first), *touched(last), said("So `traceOf` goes on.", "a1"))
    assert items(of).keys() >= {"…/evaluation/trace.ts", last}
    # Where there is room for all of it, nobody has to look for a file.
    assert "packages/core/src/evaluation/{order.ts, trace.ts}" in compose(of, WHOLE).text


@pytest.mark.parametrize(
    "paths",
    [
        [f"{OUTSIDE}/report.txt"],
        ["/srv/a/report.txt", "/srv/b/report.txt"],
        [f"{OUTSIDE}/report.txt", "/var/lib/other/place/report.txt"],
    ],
    ids=["one file", "a short way", "nothing in common"],
)
def test_paths_that_share_too_little_stay_whole(paths: list[str]) -> None:
    of = brief_input(*(event for path in paths for event in touched(path)))
    assert "…/" not in compose(of, WHOLE).text
    assert items(of).keys() >= set(paths)


def own_line(of: BriefInput, path: str) -> str:
    """The one line in which a file stands alone."""
    (line,) = (line for line in lines(of, FILES) if path in line)
    return line


def test_a_renamed_file_has_its_own_line_with_both_names() -> None:
    of = brief_input(*ran("git mv src/old_rules.py src/keepers.py"))
    line = own_line(of, "src/old_rules.py")
    assert "src/keepers.py" in line
    assert items(of)[line].lead == ""


@pytest.mark.parametrize(
    "command",
    [
        f"rm {APP}/src/old.py",
        f"cd {APP} && git rm -q src/old.py",
        "rm src/old.py",
    ],
)
def test_a_deleted_file_is_not_offered_as_one_that_is_there(command: str) -> None:
    of = brief_input(*touched("src/old.py"), *touched("src/new.py"), *ran(command))
    files = [line for line in lines(of, FILES) if not line.startswith("Paths are from")]
    assert files == ["Edited: src/new.py", "Deleted: src/old.py"]


def test_what_was_run_with_a_file_that_is_gone_is_not_offered() -> None:
    of = brief_input(
        *touched("src/old.py"), *ran("python src/old.py"), *ran("make check"), *ran("rm src/old.py")
    )
    assert lines(of, COMMANDS) == ["Passed: `make check`"]


def test_a_folder_is_shown_once_however_it_is_spelled_and_not_beside_a_file_in_it() -> None:
    of = brief_input(
        said(f"See services/billing/ and {APP}/lib/services/billing/ and {APP}/lib/services/tax/.", "a1"),
        *touched("lib/services/tax/rates.py"),
    )
    assert [line for line in lines(of, FILES) if line.startswith("In use")] == [
        "In use: lib/services/billing/"
    ]


def test_a_folder_that_is_worked_in_is_worth_telling_without_its_files() -> None:
    of = items(
        brief_input(
            *touched("lib/tax/rates.py", Action.READ), *touched("lib/tax/rules.py"), *touched("main.py")
        )
    )
    assert of["lib/tax/"].kind == "folder"
    assert of["lib/tax/"].score > items(brief_input(*touched("lib/tax/rates.py")))["lib/tax/"].score
    assert not any(text.startswith("Paths are from") for text in of)


def test_where_the_project_is_is_shown_to_a_session_that_goes_there() -> None:
    assert f"Paths are from {APP}/" in lines(brief_input(*ran(f"cd {APP} && make check")), FILES)
    assert not any(APP in line for line in lines(brief_input(*ran("make check")), FILES))


def test_a_folder_that_was_looked_into_is_known_by_what_is_in_it() -> None:
    of = brief_input(*touched("lib", Action.READ), *touched("lib/tax.py", Action.READ))
    assert lines(of, FILES) == ["Read: lib/tax.py"]


def test_a_deleted_file_is_not_named_again_however_it_is_spelled() -> None:
    of = brief_input(*touched("src/old.py", Action.DELETE), said("It stood in old.py, see lib/old.py.", "a1"))
    assert [text for text in items(of) if "old.py" in text] == ["src/old.py"]


def test_a_marked_file_has_its_own_line_that_doubts_it() -> None:
    of = brief_input(*touched("src/retry.py"), *touched("src/clock.py"))
    marked = replace(of, marks={f"{APP}/src/retry.py": "changed since"})
    assert own_line(marked, "src/retry.py") == "Edited src/retry.py — UNCONFIRMED: changed since"
    assert own_line(marked, "src/clock.py") == "Edited: src/clock.py"


def test_a_subagents_change_is_shown_as_its_own() -> None:
    made = (
        event
        for call, action, path in (
            ("c1", Action.WRITE, "src/new.py"),
            ("c2", Action.WRITE, "src/newer.py"),
            ("c3", Action.EDIT, "docs/a.md"),
        )
        for event in (called(call, action, f"{APP}/{path}", agent="sub-1"), returned(call))
    )
    assert lines(brief_input(prompt("mend it", "p1"), *made), FILES) == [
        "Subagents edited: docs/a.md",
        "Subagents wrote: src/{newer.py, new.py}",
    ]


# ---------------------------------------------------------------- names

NAMES = ("next_delay", "max_tries", "BackoffError", "reset_clock", "BackoffClock", "MAX_DELAY")


def test_names_stand_behind_the_file_that_they_were_changed_in() -> None:
    of = brief_input(*touched("src/retry.py", detail=" ".join(NAMES)), *touched("src/a.py"))
    line = own_line(of, "src/retry.py")
    assert line.startswith("Edited: src/retry.py (")
    assert set(line.partition(" (")[2].removesuffix(")").split(", ")) == set(NAMES)


def test_names_of_no_file_stand_behind_a_label() -> None:
    of = brief_input(said("So next_delay and max_tries come first, as in #12 with --dry-run.", "a1"))
    assert {item.text for item in items(of).values() if item.lead == IN_USE} == {
        "next_delay",
        "max_tries",
        "#12",
        "--dry-run",
    }


# ---------------------------------------------------------------- what always gets in, and what need not


def long_past(last: str, others: int, times: int) -> BriefInput:
    """A session that changed a file last, and has named many others again and again since."""
    paths = [f"src/part_{number % 5}/file_{number}.py" for number in range(others)]
    since = (said(" ".join(paths), f"a{number}") for number in range(times))
    events = (event for path in (*paths, last) for event in touched(path))
    return brief_input(prompt("Mend every part.", "p1"), *events, *since)


@given(others=st.integers(0, 60), times=st.integers(0, 9), budget=st.integers(450, 2_000))
def test_the_file_that_was_changed_last_gets_in(others: int, times: int, budget: int) -> None:
    assert "the_last.py" in compose(long_past("lib/the_last.py", others, times), budget).text


def test_the_file_that_was_changed_last_gets_in_however_long_its_path_is() -> None:
    assert "the_last.py" in compose(long_past("lib/some/long/way/to/the_last.py", 60, 3), 2_000).text


def kept(of: BriefInput, what: KeptByHarness) -> BriefInput:
    return replace(of, kept_by_harness=what)


ASKED = (
    prompt("Mend the lexer. Never touch the printer.", "p1"),
    prompt("And the parser.", "p2"),
    prompt("Now the writer.", "p3"),
)


def test_what_the_user_typed_is_left_out_where_the_harness_keeps_it_but_not_the_goal_and_the_rules() -> None:
    whole = compose(brief_input(*ASKED), WHOLE).text
    less = compose(kept(brief_input(*ASKED), KeptByHarness(prompts=True)), WHOLE).text
    for text in ("At first: “Mend the lexer.”", "Also asked: “And the parser.”"):
        assert text in whole
        assert text not in less
    for text in ("“Now the writer.”", "- Never touch the printer."):
        assert text in whole
        assert text in less


def test_the_newest_of_a_kind_loses_nothing_and_each_older_one_more() -> None:
    assert recency(0) == 0
    assert [recency(place) for place in range(9)] == sorted(
        (recency(place) for place in range(9)), reverse=True
    )


def test_a_session_without_things_has_none_to_tell() -> None:
    nothing: Session = session()
    assert list(things(BriefInput(Reason.COMPACT, nothing, NOON), WEIGHTS)) == []


def test_a_look_up_in_vain_is_shown_behind_what_failed_and_only_the_newest_two() -> None:
    of = brief_input(
        *ran("make check", ok=False, text="ld: no such symbol"),
        *(
            event
            for name in "abc"
            for event in ran(f"cat {name}.md", ok=False, text=f"cat: {name}.md: not there")
        ),
    )
    assert lines(of, COMMANDS) == [
        "Failed (exit 1): `make check`: ld: no such symbol",
        "Failed (exit 1): `cat c.md`: cat: c.md: not there",
        "Failed (exit 1): `cat b.md`: cat: b.md: not there",
    ]
    kinds = [item.kind for item in compose(of, WHOLE).items if item.section == COMMANDS]
    assert kinds == ["last_failure", "look_up", "look_up"]


@pytest.mark.parametrize("end", ["rm src/old.py", "git mv src/old.py src/new.py"])
def test_what_failed_with_a_file_that_is_gone_is_over(end: str) -> None:
    failed = ran("pytest src/old.py", ok=False, text="E   ValueError: no")
    before = ran("make check", ok=False, text="src/old.py:3: undefined")
    of = brief_input(*touched("src/old.py"), *before, *failed, *ran(end))
    assert lines(of, COMMANDS) == ["Failed (exit 1): `make check`: src/old.py:3: undefined"]
