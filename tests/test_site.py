"""The documentation site: every page is in its navigation, links are turned, and what is wrong is found.

`make docs` builds it with the real generator and checks every built page; that needs what it installs.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts.build_site import FROM_THE_ROOT, GATHERED, ONLY_LINKED, SITE, faults_of, gather, with_links
from tests.tables import every_row

ROOT = Path(__file__).resolve().parents[1]
CONFIG: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def pages_below(entry: Any) -> list[str]:  # noqa: ANN401 - a list, table or name of the configuration
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for each in inner for page in pages_below(each)]


def test_every_page_is_once_in_the_navigation() -> None:
    docs = ROOT / "docs"
    pages = [page.relative_to(docs).as_posix() for page in docs.rglob("*.md")]
    pages += [place for source, place in FROM_THE_ROOT.items() if source not in ONLY_LINKED]
    listed = pages_below(CONFIG["nav"])
    assert sorted(listed) == sorted(set(listed))
    assert set(pages) - set(listed) == set(), "add them to `nav` in zensical.toml"
    assert set(listed) - set(pages) == set(), "take them out of `nav` in zensical.toml"


def test_the_configuration_names_the_folders_that_the_script_uses() -> None:
    assert (ROOT / CONFIG["docs_dir"], ROOT / CONFIG["site_dir"]) == (GATHERED, SITE)


@every_row(
    ("source", "place", "link", "turned"),
    [
        ("docs/faq.md", "faq.md", "[a](start.md#two)", "[a](start.md#two)"),
        ("docs/faq.md", "faq.md", "[a](../SECURITY.md#report)", "[a](security.md#report)"),
        ("docs/faq.md", "faq.md", "[a](../README.md#install)", "[a](index.md)"),
        ("docs/decisions/1.md", "decisions/1.md", "[a](../../SECURITY.md)", "[a](../security.md)"),
        ("docs/faq.md", "faq.md", "[a](../examples/agent.py)", "[a](repository/examples/agent.py)"),
        ("SECURITY.md", "security.md", "[a](docs/faq.md)", "[a](faq.md)"),
        ("SECURITY.md", "security.md", "[a](docs/harnesses/)", "[a](harnesses/README.md)"),
        ("SECURITY.md", "security.md", "![a [b]](docs/pictures/p.png)", "![a [b]](pictures/p.png)"),
        ("benchmarks/README.md", "benchmarks.md", "[a](../docs/faq.md)", "[a](faq.md)"),
    ],
)
def test_a_link_leads_to_where_the_site_has_its_target(
    source: str, place: str, link: str, turned: str
) -> None:
    assert with_links(link, source, place) == turned


@every_row("text", ["[a](#here)", "[a](https://example.org/a.md)", "```text\n[a](../SECURITY.md)\n```"])
def test_other_links_and_code_stay(text: str) -> None:
    assert with_links(text, "docs/faq.md", "faq.md") == text


def test_what_is_gathered_holds_every_page_and_what_pages_link_to(tmp_path: Path) -> None:
    gather(ROOT, tmp_path)
    assert (tmp_path / "index.md").read_text() != (ROOT / "README.md").read_text()
    assert all((tmp_path / page).is_file() for page in pages_below(CONFIG["nav"]))
    assert (tmp_path / "repository" / "examples" / "agent.py").is_file()
    assert all((tmp_path / style).is_file() for style in CONFIG["extra_css"])


class TestFaults:
    @pytest.fixture
    def site(self, tmp_path: Path) -> Path:
        (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#two">b</a><img src="p.png">')
        (tmp_path / "b.html").write_text(
            '<h2 id="two">B</h2><a href="https://example.org">out</a><a href="#two">2</a>'
        )
        (tmp_path / "p.png").write_bytes(b"")
        (tmp_path / "s.css").write_text("body{background:url(data:image/png;base64,AA)}")
        return tmp_path

    def test_a_sound_site_has_none(self, site: Path) -> None:
        assert list(faults_of(site)) == []

    @pytest.mark.parametrize(
        ("html", "fault"),
        [
            ('<a href="c.html">c</a>', "c.html links to gone.html, which is not there"),
            ('<a href="a.html#nine">9</a>', "c.html links to a.html#nine, which is not there"),
            ('<img src="gone.png">', "c.html links to gone.png, which is not there"),
            ('<script src="https://example.org/x.js"></script>', "c.html loads https://example.org/x.js"),
            ('<script src="//example.org/x.js"></script>', "c.html loads //example.org/x.js"),
            (
                '<link rel="stylesheet" href="https://example.org/x.css">',
                "c.html loads https://example.org/x.css",
            ),
            ('<img srcset="https://example.org/x.png 2x">', "c.html loads https://example.org/x.png"),
        ],
    )
    def test_what_is_wrong_is_named(self, site: Path, html: str, fault: str) -> None:
        (site / "c.html").write_text(html.replace('"c.html"', '"gone.html"'))
        assert list(faults_of(site)) == [fault]

    def test_a_style_may_not_load_from_elsewhere(self, site: Path) -> None:
        (site / "s.css").write_text('@font-face{src:url("https://example.org/f.woff2")}')
        assert list(faults_of(site)) == ["s.css loads https://example.org/f.woff2"]
