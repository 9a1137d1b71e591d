"""Skills: folders with a `SKILL.md` each, in the format that harnesses share, shipped with the package.

An agent reads them, so they are short. Each harness knows where it looks for skills;
`core.events.install_request` has the instructions for every session.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.install_request import Skill

_FORMER_NAMES: Final = {
    "holdfast-handoff": "handoff",
    "holdfast-pickup": "pickup",
    "holdfast-recall": "recall",
}
"""Until version 0.1.0 they had these names, which others may use too."""


def shipped() -> tuple[Skill, ...]:
    """Every skill that comes with this version, by name."""
    files = sorted(Path(__file__).parent.glob("*/SKILL.md"))
    return tuple(
        Skill(file.parent.name, file.read_bytes(), _FORMER_NAMES.get(file.parent.name, "")) for file in files
    )
