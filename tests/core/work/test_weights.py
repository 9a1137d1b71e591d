"""The shipped table: it changes on purpose only, and every name in it is a feature that can occur."""

from __future__ import annotations

import hashlib
import json
from itertools import product

from holdfast.core.evaluation.feature_groups import FEATURE_GROUPS
from holdfast.core.evaluation.regression import BIAS
from holdfast.core.evidence.kinds import KINDS, Section
from holdfast.core.evidence.prose.cues import Cue
from holdfast.core.work.state import Statement, StatementSource
from holdfast.core.work.weights import WEIGHTS
from holdfast.core.work.worth import features_of, setting_of
from tests.core.scenes import session

ROWS = 117
FINGERPRINT = "506b18c5b919b884"


def possible_features() -> set[str]:
    """Every feature that some statement can have."""
    statements = [
        Statement(section, "One.", 1, kind=kind, origin=origin)
        for origin, section, kind in product(StatementSource, Section, (None, *KINDS))
    ]
    by_statement = {name for row in features_of(statements, setting_of(session().trail)) for name in row}
    return by_statement | {f"cue {cue}" for cue in Cue} | {f"under {section}" for section in Section}


def test_the_table_is_the_one_that_was_judged() -> None:
    fingerprint = hashlib.sha256(json.dumps(sorted(WEIGHTS.items())).encode()).hexdigest()[:16]
    assert (len(WEIGHTS), fingerprint) == (ROWS, FINGERPRINT), (
        "core/work/weights.py has changed. If that is on purpose: fit the table with `holdfast eval handover "
        "--data DIR --probes DIR --tune`, adopt it only if it is better where it was not fitted, and write "
        f"ROWS = {len(WEIGHTS)} and FINGERPRINT = {fingerprint!r} here."
    )


def test_every_name_in_the_table_can_occur() -> None:
    assert not WEIGHTS.keys() - {BIAS} - possible_features()


def test_every_feature_belongs_to_a_group_that_can_be_left_out() -> None:
    groups = FEATURE_GROUPS.values()
    assert not {name for name in possible_features() if not any(is_in(name) for is_in in groups)}
    assert all(any(is_in(name) for name in possible_features()) for is_in in groups)
    assert not any(is_in(BIAS) for is_in in groups)
