"""Build the documentation site. Run `make docs`; it installs what this needs.

The pages are those of docs/ and the repository's own (SECURITY.md, CONTRIBUTING.md, …), so that each is
written once and can be read in both places. They are gathered in one directory, links between them are
turned to where they stand on the site, and Zensical builds it. Then every built page is read: a link that
leads nowhere, and anything that a browser would load from another host, fails the build.
"""
# ruff: noqa: INP001, T201

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

ROOT: Final = Path(__file__).resolve().parents[1]
CONFIG: Final = ROOT / "zensical.toml"
GATHERED: Final = ROOT / "build" / "pages"
"""`docs_dir` in the configuration."""
SITE: Final = ROOT / "build" / "site"
"""`site_dir` in the configuration."""

FROM_THE_ROOT: Final[Mapping[str, str]] = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages outside docs/, by their place on the site. A link to the README leads to the site's first page."""
ONLY_LINKED: Final = frozenset({"README.md"})

_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def main() -> int:
    """Gather, build, check; 1 if something is wrong."""
    gather(ROOT, GATHERED)
    zensical = Path(sys.executable).with_name("zensical")
    words = [str(zensical), "build", "--strict", "--clean", "--config-file", str(CONFIG)]
    built = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )
    if built.returncode:
        print(built.stdout, built.stderr.partition("Traceback")[0], sep="\n", file=sys.stderr)
        print("error: the site cannot be built; see above", file=sys.stderr)
        return 1
    faults = list(faults_of(SITE))
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if not faults:
        print(f"built {len(list(SITE.rglob('*.html')))} pages: {SITE.relative_to(ROOT)}/index.html")
        print("to search it too: python3 -m http.server --bind 127.0.0.1 --directory build/site 8000")
    return 1 if faults else 0


# ---------------------------------------------------------------- gathering


def gather(root: Path, target: Path) -> None:
    """Copy every page and picture to where the site has it, with its links turned."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / "docs", target)
    for page in sorted((root / "docs").rglob("*.md")):
        place = page.relative_to(root / "docs").as_posix()
        _write(target, place, with_links(page.read_text(encoding="utf-8"), f"docs/{place}", place))
    for source, place in FROM_THE_ROOT.items():
        if source not in ONLY_LINKED:
            _write(target, place, with_links((root / source).read_text(encoding="utf-8"), source, place))
    for path in sorted(_other_files(root)):
        _copy(root / path, target / _place_of(path))


def with_links(text: str, source: str, place: str) -> str:
    """A page's text with each link to a file of the repository turned to where the site has it."""

    def turned(link: re.Match[str]) -> str:
        path, mark, anchor = link[2].partition("#")
        if not path or _ELSEWHERE.match(path):
            return link[0]
        wanted = _place_of(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
        relative = posixpath.relpath(wanted, posixpath.dirname(place) or ".")
        # The README's sections stand on other pages of the site.
        kept = "" if wanted == "index.md" and source != "docs/index.md" else mark + anchor
        return f"{link[1]}{relative}{kept}{link[3]}"

    pieces, end = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_LINK.sub(turned, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(turned, text[end:])])


def _place_of(path: str) -> str:
    """Where the site has a file of the repository."""
    if path in FROM_THE_ROOT:
        return FROM_THE_ROOT[path]
    if path == "docs" or path.startswith("docs/"):
        inside = posixpath.relpath(path, "docs")
        return inside if posixpath.splitext(inside)[1] else posixpath.join(inside, "README.md")
    return f"repository/{path}"


def _other_files(root: Path) -> Iterator[str]:
    """The files of the repository that are no pages, and to which pages link."""
    pages = [*(root / "docs").rglob("*.md"), *(root / name for name in FROM_THE_ROOT)]
    for page in pages:
        folder = page.parent.relative_to(root).as_posix()
        for link in _LINK.finditer(_FENCE.sub("", page.read_text(encoding="utf-8"))):
            path = posixpath.normpath(posixpath.join(folder, link[2].partition("#")[0]))
            if (root / path).is_file() and not path.startswith("docs/") and path not in FROM_THE_ROOT:
                yield path


def _write(target: Path, place: str, text: str) -> None:
    path = target / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


# ---------------------------------------------------------------- checking what was built


@dataclass
class BuiltPage(HTMLParser):
    """What a built page can be linked to by, links to, and has a browser load."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values.get("href", ""))
        self.loaded += [values[name] for name in ("src", "poster", "data") if name in values and tag != "a"]
        self.loaded += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]


def faults_of(site: Path) -> Iterator[str]:
    """What is wrong with the built pages: what they load from elsewhere, and links that lead nowhere."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.loaded:
            if _from_elsewhere(address):
                yield f"{name} loads {address}"
        for address in (*page.links, *page.loaded):
            if not _ELSEWHERE.match(address) and not _leads_somewhere(address, path, site, pages):
                yield f"{name} links to {address}, which is not there"
    for style in sorted(site.rglob("*.css")):
        for address in re.findall(r"url\([\"']?([^\"')]+)", style.read_text(encoding="utf-8")):
            if _from_elsewhere(address):
                yield f"{style.relative_to(site)} loads {address}"


def _read(path: Path) -> BuiltPage:
    page = BuiltPage()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _from_elsewhere(address: str) -> bool:
    return bool(_ELSEWHERE.match(address)) and not address.startswith("data:")


def _leads_somewhere(address: str, path: Path, site: Path, pages: Mapping[Path, BuiltPage]) -> bool:
    parts = urlsplit(address)
    start = site if parts.path.startswith("/") else path.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    anchor = unquote(parts.fragment)
    return target.is_file() and (not anchor or target not in pages or anchor in pages[target].anchors)


if __name__ == "__main__":
    sys.exit(main())
