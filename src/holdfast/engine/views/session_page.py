"""Session page: all that is known of one session, for `holdfast show`.

What it is, its work state, what was asked and done, its checkpoints, the briefs that it was given and gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Action
from holdfast.core.evidence.trail import CommandRun, FileTouch, Utterance
from holdfast.core.session.checkpoint import Checkpoint, gist
from holdfast.core.session.session import Session, work_of
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.lines import LINE_CHARS, SECTION_TITLES, section_lines
from holdfast.engine.engine import Engine
from holdfast.engine.ids import short_id
from holdfast.engine.repository.shared_identity import shared_identity
from holdfast.engine.shared_sessions import PulledSession
from holdfast.engine.views.serialisation import (
    Row,
    TitleLookup,
    session_details_row,
    title_lookup,
)
from holdfast.stores.base import RowKind, Store
from holdfast.stores.codec import to_iso

CHECKPOINTS_MOST: Final = 50
BRIEFS_MOST: Final = 50
GIST_CHARS: Final = 160


def session_page(engine: Engine, session: Session, pulled: PulledSession | None = None) -> Row:
    """A session with everything that belongs to it; of one from elsewhere, as much as was shared."""
    trail, titles, store = session.trail, title_lookup(engine), engine.store
    checkpoints = store.checkpoints_of_session(session.key, CHECKPOINTS_MOST)
    state = work_of(session, pulled.around.words if pulled else ())
    return {
        **session_details_row(engine, session, pulled),
        "ended_at": to_iso(session.ended_at) if session.ended_at else None,
        "end_reason": session.end_reason,
        "shared_name": shared_identity(store, session.project).name or None,
        "sections": {
            str(section): list(section_lines(state, section))
            for section in SECTION_TITLES
            if state.section(section)
        },
        "prompts": [_utterance_row(prompt) for prompt in trail.prompts if not prompt.inherited],
        "files": [
            _file_row(touch, session.project.root)
            for touch in sorted(trail.files, key=lambda touch: touch.step)
        ],
        "commands": [_command_row(run) for run in trail.commands if not run.inherited],
        "checkpoints": [_checkpoint_row(store, checkpoint) for checkpoint in checkpoints],
        "briefs_received": _brief_rows(store, store.receipts(session.key, BRIEFS_MOST), titles),
        "briefs_given": _brief_rows(store, store.receipts_made_from(session.key, BRIEFS_MOST), titles),
    }


def _utterance_row(utterance: Utterance) -> Row:
    return {
        "at": to_iso(utterance.at) if utterance.at else None,
        "text": shortened(one_line(utterance.text), LINE_CHARS),
    }


def _file_row(touch: FileTouch, root: str) -> Row:
    action = "rename" if touch.renamed_to else touch.action
    return {
        "path": touch.path.removeprefix(f"{root}/") if root else touch.path,
        "action": action,
        "times": touch.times,
        "renamed_to": touch.renamed_to or None,
        "at": to_iso(touch.at) if touch.at else None,
        "changed": touch.action is not Action.READ,
    }


def _command_row(run: CommandRun) -> Row:
    return {
        "command": shortened(one_line(run.command), LINE_CHARS),
        "ok": run.ok,
        "times": run.times,
        "reason": shortened(one_line(run.reason), GIST_CHARS),
        "at": to_iso(run.at) if run.at else None,
    }


def _checkpoint_row(store: Store, checkpoint: Checkpoint) -> Row:
    return {
        "id": checkpoint.id,
        "short_id": short_id(store, RowKind.CHECKPOINT, checkpoint.id),
        "created_at": to_iso(checkpoint.created_at),
        "trigger": checkpoint.trigger,
        "prompt_count": checkpoint.prompt_count,
        "gist": shortened(one_line(gist(checkpoint.words or checkpoint.digest)), GIST_CHARS),
    }


def _brief_rows(store: Store, receipts: Iterable[Receipt], titles: TitleLookup) -> list[Row]:
    return [
        {
            "id": receipt.id,
            "short_id": short_id(store, RowKind.BRIEF, receipt.id),
            "created_at": to_iso(receipt.created_at),
            "reason": receipt.reason,
            "size": len(receipt.text),
            "session_key": receipt.session,
            "title": titles(receipt.session),
            "predecessor": receipt.predecessor or None,
            "predecessor_title": titles(receipt.predecessor),
        }
        for receipt in receipts
    ]
