"""Setup: which hooks Claude Code is asked to call, and whether it is there at all.

Nothing is written here: the wanted entries are returned, and `files` merges them into the settings.
"""

import shutil
from pathlib import Path

from holdfast.core.wanted import WantedEntry

# Seconds. The hook itself gives up sooner; these only bound a machine that cannot even start it.
# SessionEnd needs one of its own: without it the harness cancels the hook after 1.5 s.
_TIMEOUTS = (
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("Stop", 5),
    ("PreCompact", 10),
    ("PostCompact", 5),
    ("SessionEnd", 5),
)


def wanted(hook_command: str, harness_home: Path, config_dir: str = "") -> tuple[WantedEntry, ...]:
    """One hook for each event; without a matcher it is called for every source.

    `config_dir` is the value of CLAUDE_CONFIG_DIR where it applies; empty means the usual folder in the home.
    """
    settings = _folder(harness_home, config_dir) / "settings.json"
    return tuple(
        WantedEntry(
            file=settings,
            path=("hooks", event),
            value={"hooks": [{"type": "command", "command": hook_command, "timeout": seconds}]},
            identity=hook_command,
        )
        for event, seconds in _TIMEOUTS
    )


def present(harness_home: Path, search_path: str, config_dir: str = "") -> bool:
    """Whether Claude Code seems to be installed: it has its folder, or the program is on the search path."""
    return _folder(harness_home, config_dir).is_dir() or shutil.which("claude", path=search_path) is not None


def _folder(harness_home: Path, config_dir: str) -> Path:
    return Path(config_dir) if config_dir else harness_home / ".claude"
