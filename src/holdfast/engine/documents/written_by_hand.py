"""Written by hand: replaces a layer of the continuity, or a ledger, with the user's own text.

Only if the file is still the text that the user edited, so that no other change is lost. The old text becomes
a past version.
"""

from __future__ import annotations

import hashlib
from typing import Final

from holdfast.core.documents.continuity import LayerName, MergedContinuity, WrittenItems
from holdfast.core.documents.ledger import is_ledger
from holdfast.core.events.world import Project
from holdfast.engine.documents import ledger
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.documents.git_exclude import keep_out_of_git
from holdfast.engine.engine import Engine
from holdfast.errors import PathRefused
from holdfast.files import continuity as files
from holdfast.files import ledger as ledger_files
from holdfast.files.ledger import LedgerPlace
from holdfast.files.together import locked

NOT_WHOLE: Final = "not whole"


def print_of(text: str) -> str:
    """The fingerprint of a text; empty for an empty one."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16] if text else ""


def print_to_give(engine: Engine, project: Project, text: str) -> str:
    """The fingerprint to send with a text; one that never matches if the text has a secret.

    Otherwise the redacted text that was shown would replace the secret in the file.
    """
    redact = engine.redactor_to_show(project).of_session("")
    return print_of(text) if redact(text) == text else NOT_WHOLE


def layer_text(continuity: ContinuityFiles, layer: LayerName) -> str:
    """The text of a layer; empty if there is none."""
    return (continuity.places.target(layer).read() or b"").decode("utf-8", "replace")


def put_layer(
    engine: Engine, continuity: ContinuityFiles, layer: LayerName, text: str, made_from: str
) -> None:
    """Replace a layer with this text; PathRefused if it cannot be parsed, or the layer has changed."""
    redact = engine.redactor(continuity.project).of_session("")
    with locked(continuity.places.journal):
        _refuse_another(layer_text(continuity, layer), made_from)
        target = continuity.places.target(layer)
        document = files.document(target.whole, redact(text).encode(errors="replace"))
        files.write(
            continuity.places, {layer: (target, MergedContinuity(document, WrittenItems()))}, engine.clock()
        )


def put_ledger(engine: Engine, place: LedgerPlace, project: Project, text: str, made_from: str) -> None:
    """Replace the ledger with this text; PathRefused if it is no ledger, or the ledger has changed."""
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
        raise PathRefused("it was changed meanwhile", "load it again, and make your change there")
