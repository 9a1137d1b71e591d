"""The page of the package index: the README, whose links lead somewhere also there."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from hatch_build import page
from tests.release.conftest import ROOT, Scratch
from tests.tables import every_row

ADDRESS = "https://example.org/ada/holdfast"
README = (ROOT / "README.md").read_text(encoding="utf-8")
_TARGET = re.compile(r"\]\(([^)\s]+)\)")


@every_row(
    ("text", "without", "with_address"),
    [
        (
            "See [Start](docs/start.md#two).",
            "See Start.",
            f"See [Start]({ADDRESS}/blob/v1.2.3/docs/start.md#two).",
        ),
        (
            "a\n\n![A picture](docs/p.svg)\n\nb",
            "a\n\nb",
            f"a\n\n![A picture]({ADDRESS}/raw/v1.2.3/docs/p.svg)\n\nb",
        ),
        (
            "[uv](https://example.com), [below](#install)",
            "[uv](https://example.com), [below](#install)",
            "[uv](https://example.com), [below](#install)",
        ),
        (
            "```text\n[a](b.md)\n\n\n\nc\n```",
            "```text\n[a](b.md)\n\n\n\nc\n```",
            "```text\n[a](b.md)\n\n\n\nc\n```",
        ),
    ],
)
def test_links_lead_to_the_repository_or_are_words(text: str, without: str, with_address: str) -> None:
    assert page(text, "", "1.2.3") == without
    assert page(text, f"{ADDRESS}/", "1.2.3") == with_address


def test_a_version_in_development_has_no_tag() -> None:
    assert page("[a](b.md)", ADDRESS, "1.2.3.dev0") == f"[a]({ADDRESS}/blob/HEAD/b.md)"


def test_no_link_of_the_readme_leads_nowhere() -> None:
    assert _TARGET.findall(page(README, "", "1.2.3")) == []
    targets = _TARGET.findall(page(README, ADDRESS, "1.2.3"))
    assert len(targets) >= 20
    assert {target for target in targets if not target.startswith(f"{ADDRESS}/")} == set()


def test_a_wheel_has_the_page_of_its_version_and_address(scratch: Scratch, tmp_path: Path) -> None:
    project = (scratch.tree / "pyproject.toml").read_text(encoding="utf-8")
    project = project.replace('readme = "README.md"\n', "").replace(
        'dynamic = ["version"]', f'dynamic = ["readme", "version"]\nurls = {{ Repository = "{ADDRESS}" }}'
    )
    scratch.write(
        {
            "pyproject.toml": f"{project}\n[tool.hatch.metadata.hooks.custom]\n",
            "hatch_build.py": (ROOT / "hatch_build.py").read_text(encoding="utf-8"),
            "README.md": "[Start](docs/start.md)\n",
            "src/holdfast/__init__.py": '__version__ = "1.2.3"\n',
        }
    )
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(words, cwd=scratch.tree, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith("METADATA"))
        metadata = opened.read(name).decode()
    assert f"Project-URL: Repository, {ADDRESS}" in metadata
    assert f"[Start]({ADDRESS}/blob/v1.2.3/docs/start.md)" in metadata
