"""Written by hand: a person's own text put in place of a layer of the continuity, or of a ledger.

Only in place of the text that it was made from: what somebody else wrote meanwhile is not lost. What was
there becomes a past version.
"""

from __future__ import annotations

import hashlib
from typing import Final

from holdfast.core.documents.continuity import LayerName
from holdfast.core.documents.continuity_merge import Merged, Written
from holdfast.core.documents.ledger import is_ledger
from holdfast.core.events.world import Project
from holdfast.engine.documents import ledger
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.documents.git_exclude import keep_out_of_git
from holdfast.engine.engine import Engine
from holdfast.errors import PathRefused
from holdfast.files import continuity as files
from holdfast.files import ledger as ledger_files
from holdfast.files.ledger import Place
from holdfast.files.together import locked

NOT_WHOLE: Final = "not whole"


def print_of(text: str) -> str:
    """What a text is known by; empty for an empty one."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16] if text else ""


def print_to_give(engine: Engine, project: Project, text: str) -> str:
    """The print by which a text is put back; another where a secret in it is not given away with it.

    What was shown without it would otherwise be put in place of the secret.
    """
    redact = engine.redactor_to_show(project).of_session("")
    return print_of(text) if redact(text) == text else NOT_WHOLE


def layer_text(room: ContinuityFiles, layer: LayerName) -> str:
    """A layer as it is; empty if there is none."""
    return (room.places.target(layer).read() or b"").decode("utf-8", "replace")


def put_layer(engine: Engine, room: ContinuityFiles, layer: LayerName, text: str, made_from: str) -> None:
    """Put this text in place of a layer; PathRefused if it cannot be read, or another is there by now."""
    redact = engine.redactor(room.project).of_session("")
    with locked(room.places.journal):
        _refuse_another(layer_text(room, layer), made_from)
        target = room.places.target(layer)
        document = files.document(target.whole, redact(text).encode(errors="replace"))
        files.write(room.places, {layer: (target, Merged(document, Written()))}, engine.clock())


def put_ledger(engine: Engine, place: Place, project: Project, text: str, made_from: str) -> None:
    """Put this text in place of the ledger; PathRefused if it is none, or another is there by now."""
    with place.alone():
        _refuse_another(ledger_files.read(place) or "", made_from)
        if not is_ledger(text):
            raise PathRefused("the text is no ledger", "it begins with the heading of one")
        keep_out_of_git(engine, project, place.path)
        ledger.rewrite(engine, place, project, text)


def _refuse_another(there: str, made_from: str) -> None:
    if made_from == NOT_WHOLE:
        raise PathRefused("there is a secret in it, which is not shown", "edit the file itself")
    if print_of(there) != made_from:
        raise PathRefused(
            "somebody else has changed it meanwhile", "load it again, and make your change there"
        )
