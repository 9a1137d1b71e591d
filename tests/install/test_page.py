"""The page about installation: who types what it says gets what it promises, with uv and with pipx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import holdfast
from tests.install.newcomer import Installed, Newcomer, Shelf
from tests.install.prepare import TREE

PAGE: Final = TREE / "docs" / "install.md"
MEMORY: Final = "The staging database is called heron."
_OR: Final = re.compile(r"^(?P<uv>.*?)\s+# or: (?P<pipx>.*)$")


def commands(heading: str, program: str) -> Iterator[str]:
    """The commands below a heading, as someone with `uv` or with `pipx` types them."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL):
        for line in block.splitlines():
            either = _OR.match(line)
            yield either[program] if either else line.partition("  #")[0].rstrip()


@pytest.mark.parametrize("program", ["uv", "pipx"])
def test_what_the_page_says_can_be_typed_from_top_to_bottom(
    newcomer: Newcomer, product: Installed, shelf: Shelf, old_wheel: Path, new_wheel: Path, program: str
) -> None:
    def follow(*lines: str) -> None:
        for line in lines:
            # Nobody is there to answer what these two ask.
            answer = {"holdfast setup": " claude-code --yes", "holdfast unsetup": " --yes"}.get(line, "")
            newcomer.gets("sh", "-c", line + answer)

    def version() -> str:
        return newcomer.gets("holdfast", "--version").split()[1]

    shelf.publish(old_wheel)
    follow(*commands("Try it", program), *commands("Install", program))
    product.run("remember", MEMORY)
    shelf.publish(new_wheel)
    follow(*commands("Update", program))
    assert version() == holdfast.__version__
    assert MEMORY in product.run("recall", "staging database", "--project", ".")
    *back, forward = commands("Go back to an earlier version", program)
    assert [line for line in back if "0.1.0" in line]
    follow(*back)
    assert version() == "0.1.0"
    assert MEMORY in product.run("recall", "staging database", "--project", ".")
    follow(forward)
    assert version() == holdfast.__version__
    assert MEMORY in product.run("recall", "staging database", "--project", ".")
    assert [row for row in product.findings() if not row["ok"]] == []
    follow(*commands("Uninstall", program))
    assert not newcomer.has("holdfast")
    assert not (newcomer.home / ".holdfast").exists()
    assert not (newcomer.home / ".claude" / "settings.json").exists()
