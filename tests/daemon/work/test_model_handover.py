"""A model command that writes the handover: what holds of it reaches the brief, the rest the receipt.

The daemon is the real one; the model is a program that answers with a file.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.core.brief.brief_input import MODEL, NO_ANSWER
from holdfast.core.brief.compose import Receipt
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.work.question import QUESTION_CHARS
from holdfast.engine.views.serialisation import checkpoint_row
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import Lodging, wait_until

AT = 1_800_000_000_000
GOOD = """\
## Goal
- Make the lexer skip comments, ticket ABC-123.
## Done
- The token table in `src/lexer.py` is written.
## Now
- `make test` fails with `2 failed`.
## Next
- Add a changelog entry for the lexer."""
SLOW = "import sys, time\nsys.stdin.read()\ntime.sleep(60)\n"
MODEL_PROGRAM = """\
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "asked.txt").write_text(sys.stdin.read(), encoding="utf-8")
sys.stdout.write((folder / "answer.md").read_text(encoding="utf-8"))
"""


def tool(number: int, name: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}


def result(number: int, text: str, *, failed: bool = False) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": f"t{number}", "content": text, "is_error": failed}


TODOS = [
    {"content": "Write the token table of the lexer", "status": "completed", "activeForm": "Writing"},
    {"content": "Add a changelog entry for the lexer", "status": "pending", "activeForm": "Adding"},
]
CONTENT: list[tuple[str, object]] = [
    ("user", "Make the lexer skip comments, ticket ABC-123."),
    ("assistant", [tool(1, "Edit", file_path="src/lexer.py", old_string="a", new_string="b")]),
    ("user", [result(1, "done")]),
    ("assistant", [tool(2, "Bash", command="make test")]),
    ("user", [result(2, "Exit code 2\n2 failed", failed=True)]),
    ("assistant", [tool(3, "TodoWrite", todos=TODOS)]),
    ("user", [result(3, "ok")]),
    ("assistant", [{"type": "text", "text": "Two tests fail still."}]),
]


class Work:
    """A session of the real daemon that has filled a third of its window, and a model for it."""

    def __init__(self, lodging: Lodging, answer: str, program: str = MODEL_PROGRAM) -> None:
        self.lodging = lodging
        model = lodging.root / "model.py"
        model.write_text(program, encoding="utf-8")
        (lodging.root / "answer.md").write_text(answer, encoding="utf-8")
        command = json.dumps([sys.executable, str(model), str(lodging.root)])
        (lodging.home / "config.toml").write_text(
            f'checkpoint.model = "command"\nmodels.command = {command}\n'
            "models.timeout_seconds = 1\nmodels.retries = 0\n"
        )
        folder = lodging.root / ".claude" / "projects" / "p"
        folder.mkdir(parents=True)
        self.path = folder / "s1.jsonl"
        now = datetime.now(UTC).isoformat()
        usage = {"input_tokens": 70_000, "output_tokens": 10}
        lines = [
            {
                "type": kind,
                "uuid": f"r{number}",
                "parentUuid": f"r{number - 1}",
                "sessionId": "s1",
                "timestamp": now,
                "cwd": str(lodging.root),
                "message": {
                    "role": kind,
                    "content": content,
                    **({"usage": usage, "id": f"m{number}"} if kind == "assistant" else {}),
                },
            }
            for number, (kind, content) in enumerate(CONTENT)
        ]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        lodging.start()
        self.hook("UserPromptSubmit", prompt="and now?")
        self.hook("Stop")

    def hook(self, event: str, **fields: str) -> str:
        payload = {
            "session_id": "s1",
            "transcript_path": str(self.path),
            "cwd": str(self.lodging.root),
            "hook_event_name": event,
            **fields,
        }
        answered = self.lodging.payload(json.dumps(payload), f"{event}-{fields}")
        return (answered or b"").decode()

    def checkpoints(self) -> list[Checkpoint]:
        store = open_store(self.lodging.home / "store.db", self.lodging.home / "backups", AT)
        found = store.checkpoints(9)
        store.close()
        return found

    def rows(self) -> list[dict[str, Any]]:
        """The checkpoints as a program sees them."""
        return [checkpoint_row(one, lambda _: "") for one in self.checkpoints()]

    def brief_after_compaction(self) -> tuple[str, Receipt]:
        self.hook("PreCompact", trigger="manual")
        brief = self.hook("SessionStart", source="compact")
        store = open_store(self.lodging.home / "store.db", self.lodging.home / "backups", AT)
        receipt = next(one for one in store.receipts("s1", 9) if one.reason == "compact")
        store.close()
        return brief, receipt

    def written(self) -> Checkpoint:
        """The checkpoint with the model's words, once it is there."""
        wait_until(lambda: any(one.outline.model for one in self.checkpoints()))
        return next(one for one in self.checkpoints() if one.outline.model)

    def failure(self) -> str:
        """Why the model wrote nothing, once that is noted."""
        wait_until(lambda: any(one.outline.no_answer for one in self.checkpoints()))
        assert not any(one.outline.model for one in self.checkpoints())
        return next(one.outline.no_answer for one in self.checkpoints() if one.outline.no_answer)


def rejected(receipt: Receipt) -> dict[str, str]:
    return {item.text: item.omitted for item in receipt.items if item.section == MODEL}


def test_a_good_answer_is_in_the_brief_word_for_word(lodging: Lodging) -> None:
    work = Work(lodging, GOOD)
    assert work.written().words == GOOD
    asked = (lodging.root / "asked.txt").read_text(encoding="utf-8")
    assert "## Goal" in asked
    assert "- Write the token table of the lexer" in asked
    assert "USER: Make the lexer skip comments, ticket ABC-123." in asked
    assert len(asked) <= QUESTION_CHARS
    brief, receipt = work.brief_after_compaction()
    for sentence in (line.removeprefix("- ") for line in GOOD.splitlines() if line.startswith("- ")):
        assert json.dumps(sentence)[1:-1] in brief
    assert rejected(receipt) == {}


def test_sentences_that_the_session_contradicts_are_in_the_receipt_and_not_in_the_brief(
    lodging: Lodging,
) -> None:
    wrong = {
        "The parser in `src/parser.py` is next.": "`src/parser.py` does not occur in the session",
        "`make test` passes.": "told as passed, but its last run failed",
        "Write the token table of the lexer.": "told as open, but it is done",
        "The changelog entry for the lexer is added.": "told as done, but it is open",
    }
    parser, passes, table, changelog = wrong
    work = Work(
        lodging,
        f"## Goal\n- Make the lexer skip comments. {parser}\n## Done\n- {changelog}\n## Now\n- {passes}\n"
        f"## Next\n- {table}\n- Add a changelog entry for the lexer.",
    )
    words = work.written().words
    assert words == (
        "## Goal\n- Make the lexer skip comments.\n## Next\n- Add a changelog entry for the lexer."
    )
    brief, receipt = work.brief_after_compaction()
    assert rejected(receipt) == wrong
    (shown,) = [row["handover"] for row in work.rows() if row["handover"]]
    assert shown["written_by"]
    assert {one["text"]: one["reason"] for one in shown["left_out"]} == wrong
    assert "src/parser.py" not in brief
    assert passes not in brief


@pytest.mark.parametrize(
    ("answer", "program", "reason"),
    [
        ("I am sorry, but I cannot.", MODEL_PROGRAM, "the answer has none of the sections"),
        (" \n", MODEL_PROGRAM, "the answer is empty"),
        (
            "## Goal\n" + "- Make the lexer skip comments.\n" * 200,
            MODEL_PROGRAM,
            "the answer has 6,407 characters, more than 6,000",
        ),
        (GOOD, SLOW, "no answer in time"),
        (GOOD, "raise SystemExit('out of credit')\n", "ended with 1: out of credit"),
    ],
    ids=["malformed", "empty", "over-budget", "slow", "failing"],
)
def test_without_a_usable_answer_the_rules_stand_in_and_log_and_receipt_say_why(
    lodging: Lodging, answer: str, program: str, reason: str
) -> None:
    work = Work(lodging, answer, program)
    assert work.failure().endswith(reason)
    # The daemon stores the reason first, and logs it then.
    wait_until(lambda: reason in lodging.log())
    brief, receipt = work.brief_after_compaction()
    assert "Make the lexer skip comments, ticket ABC-123." in brief
    (noted,) = rejected(receipt).items()
    assert noted[0] == NO_ANSWER
    assert noted[1].endswith(reason)
    (shown,) = [row["handover"] for row in work.rows() if row["handover"]]
    assert shown == {"written_by": None, "no_answer": noted[1], "left_out": []}


def test_an_answer_that_is_a_little_too_long_loses_its_last_sentences(lodging: Lodging) -> None:
    rows = [f"Decision {number} is to skip comments in the lexer, and why is known." for number in range(60)]
    work = Work(lodging, "## Decisions\n" + "\n".join(f"- {row}" for row in rows))
    words = work.written().words
    assert 1_650 < len(words) <= 2_000
    assert words.splitlines()[1:] == [f"- {row}" for row in rows[: words.count("\n")]]
    _, receipt = work.brief_after_compaction()
    assert rejected(receipt) == dict.fromkeys(rows[words.count("\n") :], "over 1,750 characters")
