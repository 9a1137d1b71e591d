"""What an installation weighs: every distribution of a fresh environment, what needs it, and what extras add.

    python scripts/installed_size.py             # builds a wheel of this tree and installs it
    python scripts/installed_size.py --wheel W   # installs this wheel

Compiled files count, as an installer writes them. The interpreter and pip do not.
"""

# ruff: noqa: INP001, T201

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
OWN: Final = "holdfast"
TARGET_MB: Final = 120
MEGABYTE: Final = 1 << 20
PURPOSES: Final = {
    OWN: "Holdfast itself, 6 MB of it the table of word vectors",
    "apsw": "the store: SQLite with full-text search, the same version on every system",
    "backports-zstd": "reads packed transcripts (Codex); Python has it itself from 3.14 on",
    "click": "the command line",
    "fastapi": "the HTTP API",
    "msgspec": "reads transcripts and stored rows",
    "rich": "tables, colour and progress bars in a terminal",
    "simsimd": "compares vectors, for recall by meaning",
    "splintr-rs": "counts tokens before a window reaches a threshold; it has the ranks of many models",
    "uvicorn": "serves the HTTP API and the dashboard",
    "watchfiles": "sees when a transcript grows",
}
"""What each distribution that `pyproject.toml` names is for; the others say which of these needs them."""

EXTRAS: Final = {
    "anthropic": "a model of this vendor writes handovers (`checkpoint.model`)",
    "backup": "encrypts the file of `holdfast backup`",
    "openai": "a model behind an API of this kind writes handovers (`checkpoint.model`)",
    "postgres": "a PostgreSQL database as store, or as hub of several machines",
}
"""What each extra of `pyproject.toml` is for."""

LISTING: Final = """
import json, sys
from importlib.metadata import distributions
def size(one):
    return sum(file.locate().stat().st_size for file in one.files or [] if file.locate().is_file())
print(json.dumps([
    {"name": one.metadata["Name"], "requires": one.requires or [], "bytes": size(one)}
    for one in distributions(path=[sys.argv[1]])
]))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """One distribution: its size with its compiled files, and what it needs."""

    name: str
    size: int
    needs: frozenset[str]

    @property
    def megabytes(self) -> float:
        return self.size / MEGABYTE


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, help="the wheel to install; without it one is built")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = arguments.wheel or built(Path(folder))
        found = sorted(installed(str(wheel), Path(folder) / "venv"), key=lambda one: -one.size)
        plain = {one.name for one in found}
        added = {
            extra: [
                one for one in installed(f"{wheel}[{extra}]", Path(folder) / extra) if one.name not in plain
            ]
            for extra in extras()
        }
    report(found, added, as_json=arguments.json)
    return 0


def extras() -> list[str]:
    """The extras that `pyproject.toml` names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])


def built(folder: Path) -> Path:
    """A wheel of this tree."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(wheel: str, folder: Path) -> Iterator[Installed]:
    """Everything in a new environment with nothing but that wheel, its extra, and what they need."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", wheel], check=True, stdout=sys.stderr)
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = printed(python, site).strip()
    rows: list[dict[str, Any]] = json.loads(printed(python, LISTING, packages))
    for row in rows:
        needs = frozenset(normal(one) for one in row["requires"] if "extra ==" not in one)
        yield Installed(normal(row["name"]), row["bytes"], needs)


def printed(python: Path, code: str, *arguments: str) -> str:
    ran = subprocess.run([python, "-c", code, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout


def normal(name: str) -> str:
    """The name of a distribution at the start of a requirement, as all spell it alike."""
    match = re.match(r"[A-Za-z0-9._-]+", name)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else name


def purpose(one: Installed, found: list[Installed]) -> str:
    """What it is for: by our own words, or by what needs it."""
    needed_by = sorted(other.name for other in found if one.name in other.needs and other.name != OWN)
    return PURPOSES.get(one.name) or f"needed by {', '.join(needed_by)}"


def report(found: list[Installed], added: dict[str, list[Installed]], *, as_json: bool) -> None:
    rows = [{"name": one.name, "mb": round(one.megabytes, 1), "for": purpose(one, found)} for one in found]
    total = round(sum(one.megabytes for one in found), 1)
    more = [
        {
            "extra": extra,
            "mb": round(sum(one.megabytes for one in distributions), 1),
            "for": EXTRAS.get(extra, ""),
        }
        for extra, distributions in added.items()
    ]
    if as_json:
        print(json.dumps({"total_mb": total, "distributions": rows, "extras": more}))
        return
    print("| distribution | MB | what for |\n|---|--:|---|")
    for row in rows:
        print(f"| {row['name']} | {row['mb']} | {row['for']} |")
    print(f"| **all** | **{total}** | target: {TARGET_MB} |")
    print("\n| extra | MB more | what for |\n|---|--:|---|")
    for row in more:
        print(f"| `holdfast[{row['extra']}]` | {row['mb']} | {row['for']} |")


if __name__ == "__main__":
    sys.exit(main())
