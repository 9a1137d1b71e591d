"""The matrix: which promise is kept with which real harness, and the test that shows it.

`python -m tests.clients.matrix` prints the table of docs/harnesses, and then the README's, which has some of
its rows. A test holds both against what is written there and against the tests that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.clients.install import CLAUDE_CODE, CODEX, GEMINI, OPENCLAW, OPENCODE

HARNESSES: Final = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE, OPENCLAW)
NOT_OFFERED: Final = "not offered"
"""The harness has no such thing, or takes no words of ours there."""
_CUT, _RESUME, _NEW = "TestCompaction", "TestResume", "TestANewSession"
_PROCESS = "TestItsOwnProcess"


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised, and for each harness the test that shows it, or why there is none."""

    text: str
    claude_code: str
    codex: str
    gemini: str
    opencode: str
    openclaw: str

    @property
    def shown(self) -> tuple[str, ...]:
        return self.claude_code, self.codex, self.gemini, self.opencode, self.openclaw


PROMISES: Final = (
    Promise(
        "brief after a compaction by hand",
        f"test_claude_code.py::{_CUT}::test_manual",
        f"test_codex.py::{_CUT}::test_manual",
        "test_gemini.py::test_after_a_compaction_by_hand_the_brief_comes_with_the_next_prompt",
        f"test_opencode.py::{_CUT}::test_manual",
        openclaw="test_openclaw.py::test_after_a_compaction_the_brief_goes_with_every_request",
    ),
    Promise(
        "brief after an automatic compaction",
        f"test_claude_code.py::{_CUT}::test_automatic",
        f"test_codex.py::{_CUT}::test_automatic_in_the_middle_of_a_turn",
        "test_gemini.py::test_after_a_compaction_the_brief_comes_with_the_next_tool",
        f"test_opencode.py::{_CUT}::test_automatic_in_the_middle_of_a_turn_and_the_same_bytes_from_then_on",
        openclaw="test_openclaw.py::test_neither_notes_nor_a_summary_are_given_a_brief_when_it_compacts_by_itself",
    ),
    Promise(
        "brief where the summary can be read by the vendor alone",
        NOT_OFFERED,
        f"test_codex.py::{_CUT}::test_by_the_vendor_with_a_summary_that_only_it_can_read",
        NOT_OFFERED,
        NOT_OFFERED,
        openclaw=NOT_OFFERED,
    ),
    Promise(
        "checkpoint before the summary is written",
        f"test_claude_code.py::{_CUT}::test_the_checkpoint_is_there_before_the_summary_is_asked_for",
        f"test_codex.py::{_CUT}::test_the_checkpoint_is_there_before_the_summary_is_asked_for",
        NOT_OFFERED,
        f"test_opencode.py::{_CUT}::test_manual",
        openclaw="test_openclaw.py::test_after_a_compaction_the_brief_goes_with_every_request",
    ),
    Promise(
        "its own summary is told what to keep",
        f"test_claude_code.py::{_CUT}::test_its_summary_is_told_what_it_must_keep",
        NOT_OFFERED,
        NOT_OFFERED,
        f"test_opencode.py::{_CUT}::test_manual",
        openclaw="test_openclaw.py::test_after_a_crash_the_window_is_given_the_same_and_our_summary_costs_no_request",
    ),
    Promise(
        "brief with the next prompt where a hook did not fire",
        f"test_claude_code.py::{_CUT}::test_with_the_next_prompt_if_its_start_hook_never_fired",
        f"test_codex.py::{_CUT}::test_with_the_next_prompt_if_its_start_hook_never_fired",
        "test_gemini.py::test_where_no_hook_fires_behind_tools_the_brief_comes_with_the_next_prompt",
        f"test_opencode.py::{_CUT}::test_with_the_next_prompt_if_no_hook_fired",
        openclaw="test_openclaw.py::test_with_the_next_prompt_if_no_hook_fired",
    ),
    Promise(
        "resume: nothing is repeated",
        f"test_claude_code.py::{_RESUME}::test_nothing_is_repeated",
        f"test_codex.py::{_RESUME}::test_nothing_is_repeated",
        "test_gemini.py::test_a_new_session_is_given_the_last_and_a_resumed_one_nothing",
        f"test_opencode.py::{_PROCESS}::test_resumed_it_is_told_nothing_twice_and_killed_it_is_continued",
        openclaw="test_openclaw.py::test_after_a_crash_the_window_is_given_the_same_and_our_summary_costs_no_request",
    ),
    Promise(
        "fork: knows its parent",
        f"test_claude_code.py::{_RESUME}::test_a_fork_gets_nothing_and_knows_its_parent",
        f"test_codex.py::{_RESUME}::test_a_fork_gets_nothing_and_knows_its_parent",
        NOT_OFFERED,
        "test_opencode.py::test_a_fork_is_given_nothing_and_knows_its_parent",
        openclaw="test_openclaw.py::test_a_fork_is_given_nothing_and_knows_its_parent",
    ),
    Promise(
        "new session: brief of the last",
        f"test_claude_code.py::{_NEW}::test_after_the_first_ended",
        f"test_codex.py::{_NEW}::test_after_the_first_ended",
        "test_gemini.py::test_a_new_session_is_given_the_last_and_a_resumed_one_nothing",
        f"test_opencode.py::{_PROCESS}::test_resumed_it_is_told_nothing_twice_and_killed_it_is_continued",
        openclaw="test_openclaw.py::test_a_new_session_is_given_the_last_and_one_elsewhere_nothing",
    ),
    Promise(
        "brief after a crash",
        f"test_claude_code.py::{_NEW}::test_after_the_client_was_killed",
        f"test_codex.py::{_NEW}::test_after_codex_was_killed",
        "test_gemini.py::test_after_a_crash_a_new_session_is_given_the_last",
        f"test_opencode.py::{_PROCESS}::test_resumed_it_is_told_nothing_twice_and_killed_it_is_continued",
        openclaw="test_openclaw.py::test_after_a_crash_the_window_is_given_the_same_and_our_summary_costs_no_request",
    ),
    Promise(
        "brief after `/clear`",
        f"test_claude_code.py::{_NEW}::test_after_clear",
        f"test_codex.py::{_NEW}::test_in_the_same_process",
        "test_gemini.py::test_after_clear_the_brief_comes_with_the_first_prompt",
        f"test_opencode.py::{_NEW}::test_after_the_first_and_its_subagents_without",
        openclaw="test_openclaw.py::test_after_new_the_session_is_given_what_it_was_and_may_ignore_it",
    ),
    Promise(
        "what was left running is named with its handle",
        "test_claude_code_facts.py::test_what_was_left_running_is_reported_by_its_handle_until_it_is_stopped",
        f"test_codex.py::{_CUT}::test_what_was_left_running_is_reported_by_its_session",
        "test_gemini.py::test_what_was_left_running_is_reported_by_its_process",
        NOT_OFFERED,
        openclaw="test_openclaw.py::test_what_was_left_running_is_reported_by_its_session_until_it_is_killed",
    ),
    Promise(
        "nothing is told of a session that is still at work",
        f"test_claude_code.py::{_NEW}::test_beside_a_live_one_nothing_bleeds",
        f"test_codex.py::{_NEW}::test_beside_one_that_is_at_work_in_the_same_process_nothing_bleeds",
        "test_gemini.py::test_beside_a_session_at_work_nothing_bleeds",
        f"test_opencode.py::{_NEW}::test_beside_one_that_is_at_work_nothing_bleeds",
        openclaw="test_openclaw.py::test_beside_a_session_at_work_nothing_bleeds",
    ),
    Promise(
        "session that is never written down",
        NOT_OFFERED,
        f"test_codex.py::{_NEW}::test_after_one_that_was_never_written_down",
        NOT_OFFERED,
        NOT_OFFERED,
        openclaw=NOT_OFFERED,
    ),
    Promise(
        "nothing lost when the daemon is killed",
        "test_claude_code.py::TestTheDaemon::test_killed_in_mid_session_nothing_is_lost",
        "test_codex.py::TestTheDaemon::test_killed_in_mid_session_nothing_is_lost",
        "test_gemini.py::test_killed_in_mid_session_the_daemon_loses_nothing",
        "test_opencode.py::TestTheDaemon::test_killed_in_mid_session_nothing_is_lost",
        openclaw="test_openclaw.py::test_nothing_is_lost_when_the_daemon_is_killed",
    ),
    Promise(
        "works as before if hook or Python is gone",
        "test_claude_code.py::TestWhatIsGone::test_nobody_notices",
        "test_codex.py::TestWhatIsGone::test_nobody_notices",
        "test_gemini.py::test_whatever_is_gone_nobody_notices",
        f"test_opencode.py::{_PROCESS}::test_whatever_is_gone_nobody_notices",
        openclaw="test_openclaw.py::test_whatever_is_gone_nobody_notices",
    ),
    Promise(
        "the agent's own digest comes back",
        "test_mcp_claude_code.py::TestByTheRelay"
        "::test_what_the_agent_said_is_in_the_first_request_after_a_compaction",
        "test_codex_tools.py::test_what_the_agent_said_is_in_the_first_request_after_a_compaction",
        "test_gemini.py::test_its_agent_has_our_tools_and_is_told_of_them",
        "test_opencode.py::TestTools::test_a_digest_is_kept_for_the_session_that_gave_it",
        openclaw="test_openclaw.py::test_its_agent_has_our_tools_and_what_it_says_is_kept_with_its_session",
    ),
    Promise(
        "continues what another harness began",
        "test_across_harnesses.py::test_what_codex_began_claude_code_continues",
        "test_across_harnesses.py::test_what_claude_code_began_codex_continues",
        "test_across_harnesses.py::test_what_claude_code_began_gemini_continues",
        "test_across_harnesses.py::test_what_claude_code_began_opencode_continues",
        openclaw="test_openclaw.py::test_what_claude_code_began_it_continues",
    ),
)


MOST_ASKED: Final = (
    "brief after a compaction by hand",
    "brief after an automatic compaction",
    "brief after a crash",
    "brief after `/clear`",
    "new session: brief of the last",
    "resume: nothing is repeated",
    "checkpoint before the summary is written",
    "the agent's own digest comes back",
    "continues what another harness began",
)
"""What the README shows."""


def table(promises: Sequence[Promise] = PROMISES) -> str:
    """The matrix in Markdown, or some of its rows."""
    heads = [f"{client.title} {client.version}" for client in HARNESSES]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{':-:|' * len(heads)}"]
    lines += [f"| {promise.text} | {' | '.join(map(_cell, promise.shown))} |" for promise in promises]
    return "\n".join(lines) + "\n"


def short_table() -> str:
    """The rows that most people ask about."""
    by_text = {promise.text: promise for promise in PROMISES}
    return table([by_text[text] for text in MOST_ASKED])


def _cell(shown: str) -> str:
    return "yes" if "::" in shown else shown


if __name__ == "__main__":
    print(table(), short_table(), sep="\n", end="")
