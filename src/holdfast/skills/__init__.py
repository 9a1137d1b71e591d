"""Skills: folders with a `SKILL.md` each, in the format that harnesses share, shipped with the package.

An agent reads them, so they are short. Each harness knows where it looks for skills;
`core.events.install_request` has the instructions for every session.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.events.install_request import Skill


def shipped() -> tuple[Skill, ...]:
    """Every skill that comes with this version, by name."""
    files = sorted(Path(__file__).parent.glob("*/SKILL.md"))
    return tuple(Skill(file.parent.name, file.read_bytes()) for file in files)
