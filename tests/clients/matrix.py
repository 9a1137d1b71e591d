"""The matrix: which promise is kept with which real harness, and the test that shows it.

`python -m tests.clients.matrix` prints the table that stands in the README and in docs/harnesses; a test
holds it against what is written there and against the tests that there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.clients.install import CLIENTS


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised, and for each harness the test that shows it; a note where it is not."""

    text: str
    shown: dict[str, str]


def _both(text: str, claude_code: str, codex: str) -> Promise:
    return Promise(
        text,
        {"claude-code": f"test_claude_code.py::{claude_code}", "codex": f"test_codex.py::{codex}"},
    )


NOT_OFFERED: Final = "not offered"
PROMISES: Final = (
    _both("brief after a compaction by hand", "TestCompaction::test_manual", "TestCompaction::test_manual"),
    _both(
        "brief after an automatic compaction",
        "TestCompaction::test_automatic",
        "TestCompaction::test_automatic_in_the_middle_of_a_turn",
    ),
    Promise(
        "brief where the summary can be read by the vendor alone",
        {
            "claude-code": NOT_OFFERED,
            "codex": "test_codex.py::TestCompaction::test_by_the_vendor_with_a_summary_that_only_it_can_read",
        },
    ),
    _both(
        "checkpoint before the summary is written",
        "TestCompaction::test_the_checkpoint_is_there_before_the_summary_is_asked_for",
        "TestCompaction::test_the_checkpoint_is_there_before_the_summary_is_asked_for",
    ),
    Promise(
        "its own summary is told what to keep",
        {
            "claude-code": "test_claude_code.py::TestCompaction::test_its_summary_is_told_what_it_must_keep",
            "codex": NOT_OFFERED,
        },
    ),
    _both(
        "brief with the next prompt where a hook did not fire",
        "TestCompaction::test_with_the_next_prompt_if_its_start_hook_never_fired",
        "TestCompaction::test_with_the_next_prompt_if_its_start_hook_never_fired",
    ),
    _both(
        "resume: only what the model cannot know",
        "TestResume::test_only_what_the_model_cannot_know",
        "TestResume::test_only_what_the_model_cannot_know",
    ),
    _both(
        "fork: knows its parent",
        "TestResume::test_a_fork_gets_nothing_and_knows_its_parent",
        "TestResume::test_a_fork_gets_nothing_and_knows_its_parent",
    ),
    _both(
        "new session: brief of the last",
        "TestANewSession::test_after_the_first_ended",
        "TestANewSession::test_after_the_first_ended",
    ),
    _both(
        "brief after a crash",
        "TestANewSession::test_after_the_client_was_killed",
        "TestANewSession::test_after_codex_was_killed",
    ),
    _both(
        "brief after `/clear`",
        "TestANewSession::test_after_clear",
        "TestANewSession::test_in_the_same_process",
    ),
    _both(
        "nothing bleeds from a session at work",
        "TestANewSession::test_beside_a_live_one_nothing_bleeds",
        "TestANewSession::test_beside_one_that_is_at_work_in_the_same_process_nothing_bleeds",
    ),
    Promise(
        "session that is never written down",
        {
            "claude-code": NOT_OFFERED,
            "codex": "test_codex.py::TestANewSession::test_after_one_that_was_never_written_down",
        },
    ),
    _both(
        "nothing lost when the daemon is killed",
        "TestTheDaemon::test_killed_in_mid_session_nothing_is_lost",
        "TestTheDaemon::test_killed_in_mid_session_nothing_is_lost",
    ),
    _both(
        "nobody notices that hook or Python is gone",
        "TestWhatIsGone::test_nobody_notices",
        "TestWhatIsGone::test_nobody_notices",
    ),
    Promise(
        "the agent's own digest, after a compaction",
        {
            "claude-code": "test_mcp_claude_code.py::TestByTheRelay"
            "::test_what_the_agent_said_is_in_the_first_request_after_a_compaction",
            "codex": "test_codex_tools.py"
            "::test_what_the_agent_said_is_in_the_first_request_after_a_compaction",
        },
    ),
    Promise(
        "continues what the other began",
        {
            "claude-code": "test_across_harnesses.py::test_what_codex_began_claude_code_continues",
            "codex": "test_across_harnesses.py::test_what_claude_code_began_codex_continues",
        },
    ),
)


def table() -> str:
    """The matrix in Markdown."""
    heads = [f"{client.title} {client.version}" for client in CLIENTS]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{':-:|' * len(heads)}"]
    for promise in PROMISES:
        cells = [_cell(promise.shown[client.name]) for client in CLIENTS]
        lines.append(f"| {promise.text} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(shown: str) -> str:
    return "yes" if "::" in shown else shown


if __name__ == "__main__":
    print(table(), end="")
