"""The page of the package index: the README, with its links turned to where the repository is hosted.

A link such as `docs/start.md` leads nowhere on the index's page. The address comes from `Repository` below
`[project.urls]` in pyproject.toml. Without one, pictures are left out, and links become their words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FENCE: Final = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(
    r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?![a-z][a-z0-9+.-]*:|#)(?P<path>[^)\s]+)\)"
)
_BLANKS: Final = re.compile(r"\n{3,}")


class IndexPage(MetadataHookInterface):
    """Called by hatchling for each wheel and sdist."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = metadata.get("urls", {}).get("Repository", "")
        text = page(readme, address, str(metadata["version"]))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def page(readme: str, address: str, version: str) -> str:
    """The README as the index shows it; `address` is the repository's, empty if it has none."""
    # A version in development has no tag.
    revision = "HEAD" if "dev" in version else f"v{version}"

    def turned(link: re.Match[str]) -> str:
        is_picture, words = bool(link["picture"]), link["words"]
        if not address:
            return "" if is_picture else words
        kind = "raw" if is_picture else "blob"
        return f"{link['picture']}[{words}]({address.rstrip('/')}/{kind}/{revision}/{link['path']})"

    pieces = _FENCE.split(readme)
    pieces[::2] = [_BLANKS.sub("\n\n", _LINK.sub(turned, piece)) for piece in pieces[::2]]
    return "".join(pieces)
