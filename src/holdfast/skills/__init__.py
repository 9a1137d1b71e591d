"""Skills: folders with a `SKILL.md` each, in the format that harnesses share, as they come with the package.

An agent reads them, so they are short. Where a harness looks for skills is its own knowledge; what agents are
told in every session is `core.events.guidance`'s.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.events.guidance import Skill


def shipped() -> tuple[Skill, ...]:
    """Every skill that comes with this version, by name."""
    files = sorted(Path(__file__).parent.glob("*/SKILL.md"))
    return tuple(Skill(file.parent.name, file.read_bytes()) for file in files)
