"""Setup entries: what several harnesses want installed in the same form.

`post.js` carries hook events for all of them; the folder of each harness says which hook events there are and
where an answer goes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from holdfast.core.events.install_request import WantedCopy

POST: Final = Path(__file__).with_name("post.js")
_HOME: Final = "const HOME = null"


def plugin_copies(source: Path, folder: Path, holdfast: Path) -> tuple[WantedCopy, ...]:
    """The files of the plugin at `source` for this folder, with the path of Holdfast's home filled in.

    They are stored with the harness's own files: if Holdfast is removed, they remain and do nothing.
    """
    home = f"const HOME = {json.dumps(str(holdfast))}"
    return tuple(
        WantedCopy(folder / file.name, file.read_text(encoding="utf-8").replace(_HOME, home, 1).encode())
        for file in (*sorted(source.iterdir()), POST)
    )
