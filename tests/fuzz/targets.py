"""All targets, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.fuzz import harness_targets, record_targets, secret_targets, text_targets, wire_targets
from tests.fuzz.target import Target

TARGETS: Final[Mapping[str, Target]] = {
    target.name: target
    for room in (harness_targets, record_targets, text_targets, secret_targets, wire_targets)
    for target in room.targets()
}
