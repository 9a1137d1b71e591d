"""Outcomes: how a call ended, read from the many forms in which Codex writes it.

Only the text before a command's own output is trusted to come from Codex. `tools` knows which call it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from holdfast.core.events.event import Action
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.codex.messages import texts
from holdfast.harnesses.codex.records import object_in
from holdfast.harnesses.fields import capped, mapping, status_of, text

_HEADER = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Exit code|Process exited"
    r"|Process running|Warning: truncated output)\b[^\n]*(?:\n|\Z))+(?:Output:(?:\n|\Z))?"
)
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) *(-?\d{1,10})\b", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\w{1,20})\b", re.MULTILINE)
_DENIED = re.compile(r"\A[^\n]{0,120}\bexit code:? (\d{1,5}), stdout:")
# In place of an output, in the first line, if a command or a patch did not run at all.
_REFUSED = re.compile(
    r"\A[^\n]{0,200}?\b(?:failed|failure|invalid|rejected|denied|aborted|error|unsupported|timed out)\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\A(?:unsupported (?:custom tool )?call|aborted|failed to|tool call error|err:)", re.IGNORECASE
)


class Outcome(msgspec.Struct, frozen=True):
    """How a call ended and its output; `process` is the number of a process that is still running."""

    ok: bool
    exit_status: int | None = None
    text: str = ""
    process: str = ""


def of_output(output: object, action: Action) -> Outcome:
    """What a call's output says: a text, a list of blocks, or an object with a flag."""
    if isinstance(output, str):
        return _of_text(output, action)
    fields = mapping(output)
    content = fields.get("content", fields.get("output")) if fields else output
    outcome = _of_text("\n".join(filter(None, texts(content))), action)
    success = fields.get("success")
    if isinstance(success, bool) and outcome.exit_status is None:
        return Outcome(success, None, outcome.text, outcome.process)
    return outcome


def of_report(fields: Mapping[str, object]) -> Outcome:
    """What an event says about a call that ended."""
    exit_status = status_of(fields.get("exit_code"))
    result = mapping(fields.get("result"))
    answer = mapping(result.get("Ok", result))
    ok = exit_status == 0 if exit_status is not None else fields.get("status") not in _FAILED
    if fields.get("success") is False or answer.get("isError") is True or result.get("Err") is not None:
        ok = False
    streams = "\n".join(filter(None, (text(fields, "stdout"), text(fields, "stderr"))))
    output = text(fields, "aggregated_output") or streams or "\n".join(texts(answer.get("content")))
    output = output or text(result, "Err") or text(mapping(fields.get("error")), "message")
    return Outcome(ok, exit_status, _stored_text(output))


_FAILED = ("failed", "declined", "error", "canceled", "cancelled", "interrupted")


def _of_text(whole: str, action: Action) -> Outcome:
    wrapped = object_in(whole)
    exit_status = status_of(mapping(wrapped.get("metadata")).get("exit_code")) if wrapped else None
    if exit_status is not None:
        return Outcome(exit_status == 0, exit_status, _stored_text(text(wrapped, "output")))
    header = _HEADER.match(whole)
    if header is None:
        return _without_header(whole, action)
    output = _stored_text(whole[header.end() :])
    if exit_match := _EXIT.search(header[0]):
        exit_status = status_of(int(exit_match[1]))
        return Outcome(not exit_status, exit_status, output)
    running = _RUNNING.search(header[0])
    return Outcome(ok=True, text=output, process=running[1] if running else "")


def _without_header(whole: str, action: Action) -> Outcome:
    denied = _DENIED.match(whole)
    if denied:
        return Outcome(ok=False, exit_status=int(denied[1]), text=_stored_text(whole))
    refusal = _REFUSED if action in (Action.RUN, Action.EDIT) else _BROKEN
    return Outcome(not refusal.match(whole), None, _stored_text(whole))


def _stored_text(output: str) -> str:
    return capped(without_injected_text(output))
