"""Variables: `$SECRET_NAME`, a reference to a secret that stands in the environment.

The reference goes too, as the first sketch of this program asked; its marker keeps the name, so that a reader
still sees how a command was run. `${NAME}`, which templates and settings keep free for a value, stays.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.names import Proof, announced_by
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import VARIABLE, Rank, Span

_VARIABLE: Final = re.compile(r"\$(?P<name>[A-Z][A-Z0-9_]{2,60})(?![\w(]|[ \t]{0,4}=)", re.ASCII)
# Where the shell is, not what opens a door.
_PLACES: Final = frozenset(("PWD", "OLDPWD"))
_LONGEST_NAME: Final = 30


def _referred(text: str, place: int) -> Iterator[Span]:
    found = _VARIABLE.match(text, place)
    if found is None or found["name"] in _PLACES:
        return
    announced = announced_by(found["name"])
    if announced and announced.proof is not Proof.MACHINE_MADE:
        name = found["name"].lower().replace("_", "-").strip("-")[:_LONGEST_NAME]
        yield Span(*found.span(), VARIABLE + name, Rank.HINT)


VARIABLE_RULES: Final = (Rule(b"$", rb"(?=\w{0,60}(?:secret|token|pass|pw|key|cred|auth))[a-z]", _referred),)
