"""Plugins: the JavaScript that a harness loads into its own process, as files for setup to put there.

How letters are carried is the same in all of them, and stands in `post.js`; what is a letter, and where an
answer goes, is in the folder of each harness.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from holdfast.core.events.install_request import WantedCopy

POST: Final = Path(__file__).with_name("post.js")
_HOME: Final = "const HOME = null"


def copies(source: Path, folder: Path, holdfast: Path) -> tuple[WantedCopy, ...]:
    """The files of the plugin at `source` in the folder that is wanted, told where Holdfast has its home.

    They lie with the harness's own files: where ours are gone, they are there and find nobody.
    """
    home = f"const HOME = {json.dumps(str(holdfast))}"
    return tuple(
        WantedCopy(folder / file.name, file.read_text(encoding="utf-8").replace(_HOME, home, 1).encode())
        for file in (*sorted(source.iterdir()), POST)
    )
