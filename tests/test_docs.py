"""Pages for people: links lead somewhere, commands and settings are as shown, the map names what there is.

Whether a sentence is true is not tested here; each promise has its own story, and `tests/cli/test_pages.py`
runs the commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from holdfast.cli.main import holdfast
from holdfast.config import file_problems

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "holdfast"
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/*.md")
    for page in ROOT.glob(pattern)
)
_LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)")
_TYPED = re.compile(r"(?:^|[\s`(])holdfast ([a-z][^`\n]*)")
_SETTINGS = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MODULE = re.compile(r"`(?:(core|harnesses|stores|files|models|engine|daemon|cli)/)?([a-z_*/]+\.py)`")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """How a heading is linked to: its words in lower case, joined by hyphens."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def typed(page: Path) -> Iterator[str]:
    """The command lines in a page's blocks of shell, and those among its words, without `holdfast`."""
    for line in page.read_text(encoding="utf-8").splitlines():
        for found in (
            _TYPED.findall(line.split("  #")[0])
            if "`holdfast " in line or line.startswith("holdfast ")
            else []
        ):
            yield re.split(r"\s[|<>&#]|;|…", found)[0].strip()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_command_that_a_page_names_is_there_with_its_options(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it also tells what once was")
    for line in typed(page):
        _check(line)


def _check(line: str) -> None:
    words = shlex.split(line.replace("'", "") if line.count("'") % 2 else line)
    context = click.Context(holdfast, info_name="holdfast", **holdfast.context_settings)
    while isinstance(context.command, click.Group) and words and not words[0].startswith("-"):
        inner = context.command.get_command(context, words[0])
        if inner is None:
            assert re.search(r"[|\[A-Z]", words[0]), f"there is no `holdfast {line}`"
            return
        context = click.Context(inner, info_name=words.pop(0), parent=context)
    if context.command.context_settings.get("ignore_unknown_options"):
        return
    known = {
        option
        for param in context.command.get_params(context)
        for option in (*param.opts, *param.secondary_opts)
    }
    for word in words:
        option = word.lstrip("[").rstrip("],.").split("=")[0]
        assert not re.fullmatch(r"--[a-z-]+", option) or option in known, f"{option} in `holdfast {line}`"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_settings_that_a_page_shows_can_be_used(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(_SETTINGS.findall(page.read_text(encoding="utf-8"))):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, encoding="utf-8")
        assert file_problems(file, of_project=False) == ()


def test_the_map_of_the_packages_names_only_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    everywhere = [SOURCE, *(each for each in SOURCE.rglob("*") if each.is_dir())]
    for folder_name, name in _MODULE.findall(text):
        places = [SOURCE / folder_name] if folder_name else everywhere
        assert any(any(place.glob(name)) for place in places), f"{folder_name}/{name}"


def test_every_package_is_on_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### `([a-z_]+(?:/|\.py))`", text, re.MULTILINE))
    packages = {f"{folder.name}/" for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    assert packages <= headings, packages - headings
