"""Plugin: everything setup gives Claude Code, as one folder that it loads, without changes to its settings.

It works only on the machine that it was made on: its command lines are those that setup writes. A plugin
cannot contain a status line or instruction files. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

import msgspec

from holdfast.core.events.install_request import Json, WantedCopy, WantedEntry

NAME: Final = "holdfast"
MANIFEST: Final = PurePath(".claude-plugin", "plugin.json")
_TITLE: Final = "Keeps an agent's work alive when its context window dies."

_README: Final = f"""\
# Holdfast

{_TITLE} It watches each session from outside, keeps its goal, rules, files, commands, failures and decisions,
and hands them back when the context was compacted, cleared or lost.

- hooks that tell Holdfast what happens, and bring back what was forgotten
- tools for the agent: `session_digest`, `session_recover`, `remember`, `recall`, `expand`, `handoff`
- skills that say when to use them, and the commands `/{NAME}:brief` and `/{NAME}:remember`

It was written by `holdfast plugin` for the Holdfast that is installed on this machine, and needs it.
Everything stays on this machine. `holdfast doctor` tells how it is, `holdfast forget` removes what was kept.
"""

_COMMANDS: Final[Mapping[str, str]] = {
    "brief": """\
---
description: Show what Holdfast would give back if the context died now
allowed-tools: Bash(holdfast brief:*)
---

Run `holdfast brief` and show its output as it is. Add one line: what of importance is missing in it.
""",
    "remember": """\
---
description: Keep something beyond this session
argument-hint: what to remember
---

Call the tool `remember` of the server `holdfast` with this text, word for word: $ARGUMENTS

Say in one line what was kept, and under which id.
""",
}


def plugin(
    entries: Sequence[WantedEntry], relay: Sequence[str], skills: Sequence[WantedCopy], version: str
) -> tuple[WantedCopy, ...]:
    """The plugin's files, with paths relative to the folder; the skills' paths already are."""
    about: Json = {
        "name": NAME,
        "version": version,
        "description": _TITLE,
        "author": {"name": "The Holdfast authors"},
        "license": "Apache-2.0",
    }
    hooks: Json = {"hooks": {entry.path[-1]: [entry.value] for entry in entries}}
    program, *words = relay
    servers: Json = {"mcpServers": {NAME: {"type": "stdio", "command": program, "args": [*words]}}}
    return (
        _json(MANIFEST, about),
        _json(PurePath("hooks", "hooks.json"), hooks),
        _json(PurePath(".mcp.json"), servers),
        WantedCopy(PurePath("README.md"), _README.encode()),
        *skills,
        *(
            WantedCopy(PurePath("commands", f"{name}.md"), text.encode())
            for name, text in sorted(_COMMANDS.items())
        ),
    )


def _json(file: PurePath, value: Json) -> WantedCopy:
    return WantedCopy(file, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
