"""Doctor finds what is wrong, says what to do, and changes nothing."""

from __future__ import annotations

import os
import re
import signal
import stat
from collections.abc import Callable
from subprocess import PIPE

import pytest

from holdfast.engine.health.doctor import verdict_of
from holdfast.engine.health.examine import Surroundings, installation
from tests import fork_server
from tests.cli.conftest import HARNESS, Person
from tests.hook.fake_daemon import FakeDaemon

HOOKS = f"hooks of {HARNESS}"


def failures(person: Person) -> dict[str, str]:
    """The checks that failed, each with its detail."""
    done = person.types("doctor", "--json")
    findings = done.json
    assert all(finding.keys() == {"check", "ok", "detail", "fix", "mend"} for finding in findings)
    failed = {finding["check"]: finding["detail"] for finding in findings if not finding["ok"]}
    assert done.status == (1 if failed else 0)
    assert all(finding["fix"] for finding in findings if not finding["ok"])
    return failed


@pytest.fixture
def connected(person: Person) -> Person:
    person.settings.write_text("{}")
    assert person.types("setup", "--yes").status == 0
    return person


def test_it_says_that_setup_was_never_run_and_makes_no_home(person: Person) -> None:
    failed = failures(person)
    assert failed == {"setup": "no harness is connected"}
    assert not person.home.exists()


def test_after_setup_all_is_well_and_a_hook_event_makes_the_round_trip(connected: Person) -> None:
    assert failures(connected) == {}
    shown = connected.types("doctor")
    trip = f"ok    round trip of {HARNESS}: from hook event to brief, through hook and daemon, in "
    assert trip in shown.out
    assert "FAIL" not in shown.out
    # The trial leaves no session behind, and no project.
    assert connected.types("sessions", "--json").json == []
    assert "holdfast-doctor" not in connected.types("project", "list").out
    assert "everything was read" in shown.out


def test_it_ends_with_one_line_and_names_what_is_not_installed(connected: Person) -> None:
    *findings, last = connected.types("doctor").out.splitlines()
    passed = [line for line in findings if line.startswith("ok")]
    absent = [line for line in findings if line.startswith("–")]
    assert last == f"no problem, {len(passed)} checks passed, {len(absent)} harnesses not in use"
    assert "–     version of codex: not installed: no `codex` on the search path" in absent
    rows = {row["check"]: row for row in connected.types("doctor", "--json").json}
    assert rows["version of codex"]["ok"] is True
    assert "hooks of codex" not in rows


def test_problems_come_first_with_what_to_do(connected: Person) -> None:
    settings_rewritten(connected)
    first, fix, *_, last = connected.types("doctor").out.splitlines()
    assert first.startswith(f"FAIL  {HOOKS}: ")
    assert fix == f"      fix: run `holdfast setup {HARNESS}` (or `holdfast doctor --fix`)"
    assert last.startswith("1 problem, ")
    coloured = Person(connected.root, {"FORCE_COLOR": "1"}).types("doctor").out
    assert coloured.startswith("\033[31mFAIL\033[0m")
    assert "\033" not in Person(connected.root, {"FORCE_COLOR": "1", "NO_COLOR": "1"}).types("doctor").out


def settings_rewritten(person: Person) -> None:
    person.settings.write_text("{}")


def damaged_store_set_aside(person: Person) -> None:
    (person.home / "store.corrupt-29990101T000000Z.db").touch(0o600)


def hook_events_dropped(person: Person) -> None:
    (person.home / "spool").mkdir(mode=0o700, exist_ok=True)
    (person.home / "spool" / "dropped").touch(0o600)
    (person.home / "spool" / "dropped").write_text("3\n")


def home_open_to_others(person: Person) -> None:
    person.home.chmod(0o755)


def interpreter_gone(person: Person) -> None:
    assert person.types("up").status == 0
    (person.home / "bin" / "interpreter").write_text("/nonexistent/python\n")


def repository_setting_what_it_may_not(person: Person) -> None:
    (person.project / "holdfast.toml").write_text("[daemon]\nidle_exit_minutes = 1\n")


def settings_out_of_bounds(person: Person) -> None:
    (person.home / "config.toml").touch(0o600)
    (person.home / "config.toml").write_text("[continuity]\nprompt_interval = -1\n")


def store_damaged(person: Person) -> None:
    (person.home / "store.db").touch(0o600)
    (person.home / "store.db").write_bytes(b"not a database" * 500)


def hook_changed_by_someone(person: Person) -> None:
    (person.home / "bin" / "hook.py").write_text("def main(): print('hello')\nmain()\n")


@pytest.mark.parametrize(
    ("spoil", "check", "says"),
    [
        (settings_rewritten, HOOKS, "are gone from"),
        (damaged_store_set_aside, "set aside", "store.corrupt-29990101T000000Z.db"),
        (hook_events_dropped, "spool", "3 dropped"),
        (home_open_to_others, "home", "others may look into"),
        (interpreter_gone, f"interpreter for {HARNESS}", "no Python at `/nonexistent/python`"),
        (repository_setting_what_it_may_not, "config", "daemon.idle_exit_minutes"),
        (settings_out_of_bounds, "config", "continuity.prompt_interval"),
        (store_damaged, "store", "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(
    connected: Person, spoil: Callable[[Person], None], check: str, says: str
) -> None:
    spoil(connected)
    failed = failures(connected)
    assert list(failed) == [check]
    assert says in failed[check]


def test_the_files_of_the_spool_that_may_be_removed_are_named_as_they_are(connected: Person) -> None:
    hook_events_dropped(connected)
    spool = connected.home / "spool"
    (spool / "unreadable").write_text("1\n")
    (spool / "rejected").mkdir(mode=0o700)
    results = connected.types("doctor", "--json").json
    (fix,) = [result["fix"] for result in results if result["check"] == "spool"]
    assert set(re.findall(r"`(\w+)`", fix)) == {path.name for path in spool.iterdir()}


def test_a_hook_that_someone_changed_is_named_with_the_tools_that_build_on_it(
    connected: Person,
) -> None:
    hook_changed_by_someone(connected)
    failed = failures(connected)
    assert list(failed) == ["files of Holdfast", f"round trip of {HARNESS}", f"tools of {HARNESS}"]
    assert "was not silent" in failed[f"round trip of {HARNESS}"]


def test_a_damaged_store_is_not_set_aside_by_looking(connected: Person) -> None:
    store_damaged(connected)
    failures(connected)
    assert (connected.home / "store.db").read_bytes() == b"not a database" * 500
    assert connected.types("status", "--json").json["running"] is False


def test_a_hook_that_is_turned_off_is_said(connected: Person) -> None:
    assert connected.types("up").status == 0
    off = Person(connected.root, {"HOLDFAST_DISABLE": "1"})
    assert "HOLDFAST_DISABLE=1" in failures(off)[f"round trip of {HARNESS}"]


@pytest.mark.parametrize(
    "spoil",
    [settings_rewritten, hook_events_dropped, home_open_to_others, interpreter_gone, hook_changed_by_someone],
)
def test_what_is_safe_to_mend_is_mended(connected: Person, spoil: Callable[[Person], None]) -> None:
    spoil(connected)
    mended = connected.types("doctor", "--fix")
    assert (mended.status, "FAIL" in mended.out) == (0, False)
    assert "doctor: " in mended.err
    assert failures(connected) == {}


@pytest.mark.parametrize(
    "spoil",
    [damaged_store_set_aside, repository_setting_what_it_may_not, settings_out_of_bounds, store_damaged],
)
def test_what_is_for_a_person_to_decide_is_left_to_them(
    connected: Person, spoil: Callable[[Person], None]
) -> None:
    spoil(connected)
    before = {path: path.read_bytes() for path in connected.home.glob("*.*") if path.is_file()}
    left = connected.types("doctor", "--fix")
    assert left.status == 1
    assert "doctor: " not in left.err
    assert all(path.read_bytes() == content for path, content in before.items() if path.suffix != ".db")


def test_setup_is_not_run_for_a_harness_that_nobody_connected(person: Person) -> None:
    assert person.types("doctor", "--fix").status == 1
    assert not person.home.exists()


def test_a_daemon_that_does_not_answer_is_ended(connected: Person) -> None:
    assert connected.types("up").status == 0
    pid = connected.types("status", "--json").json["pid"]
    os.kill(pid, signal.SIGSTOP)
    mended = connected.types("doctor", "--fix")
    assert mended.status == 0
    assert connected.types("status", "--json").json["pid"] not in (0, pid)


def test_a_daemon_that_hangs_is_waited_for_once(connected: Person) -> None:
    # What needs it is not tried either: that would wait for it once for each hook and tool.
    with (
        FakeDaemon(connected.home, reply=None) as silent,
        fork_server.Popen(connected.command("redact"), env=connected.environment, stdin=PIPE) as holder,
    ):
        (connected.home / "run" / "lock").write_text(str(holder.pid))
        # The stand-in has made files that others can read.
        assert failures(connected).keys() - {"home"} == {"daemon", "leftovers"}
        asked = [request.first_line for request in silent.received if request.first_line]
        assert asked == ["HOLDFAST/1 control"]
        holder.kill()


def test_what_was_captured_and_given_back_is_reported(connected: Person) -> None:
    connected.prompts("mend the parser")
    shown = connected.types("doctor").out
    assert f"ok    activity of {HARNESS}: last capture " in shown
    assert "no brief yet; 1 session\n" in shown
    assert "ok    cursors: the transcripts of all " in shown


def test_the_trial_is_not_taken_for_work_of_the_session_it_is_called_in(connected: Person) -> None:
    inside = Person(connected.root, {"CLAUDE_PROJECT_DIR": str(connected.project)})
    assert failures(inside) == {}
    assert inside.types("checkpoints", "--json").json == []


def test_fix_restores_the_modes_of_everything_in_the_home(connected: Person) -> None:
    assert connected.types("up").status == 0
    inside = [path for path in connected.home.rglob("*") if "__pycache__" not in path.parts]
    meant = {path: stat.S_IMODE(path.lstat().st_mode) for path in inside}
    for path in inside:
        path.chmod(0o777 if path.is_dir() else 0o444)
    assert connected.types("doctor", "--fix").status == 0
    there = {path: stat.S_IMODE(path.lstat().st_mode) for path in meant if path.exists()}
    assert there == {path: mode for path, mode in meant.items() if path in there}
    assert {mode for path, mode in there.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in there.items() if not path.is_dir()} == {0o600}


def test_the_quick_checks_that_the_daemon_makes_find_hooks_that_wait_for_a_review(person: Person) -> None:
    (person.user_home / ".codex").mkdir()
    assert person.types("setup", "--yes").status == 0
    around = Surroundings(person.home, person.user_home, person.environment)
    verdict = verdict_of(installation(around))
    assert [finding.check for finding in verdict.problems] == ["trust of codex"]
    assert failures(person) == {finding.check: finding.detail for finding in verdict.problems}


def test_hooks_that_a_variable_moved_are_no_problem_where_the_variable_is_not_set(person: Person) -> None:
    moved = {"CLAUDE_CONFIG_DIR": str(person.root / "moved")}
    (person.root / "moved").mkdir()
    assert Person(person.root, moved).types("setup", "--yes", HARNESS).status == 0
    around = Surroundings(person.home, person.user_home, person.environment)
    assert {finding.check: finding.ok for finding in installation(around)}[HOOKS]
    elsewhere = Surroundings(
        person.home, person.user_home, person.environment | {"CLAUDE_CONFIG_DIR": str(person.root)}
    )
    assert not {finding.check: finding.ok for finding in installation(elsewhere)}[HOOKS]
