"""The wheel and the sdist: the same bytes wherever they are built, typed, and holding what belongs there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from scripts.distributions import DistributionError, Distributions, build, check, machine_paths
from scripts.installed_size import EXTRAS, OWN, PURPOSES, normal
from tests.release.conftest import ROOT

TIME = 1_763_424_000


def copy_of_the_tree(target: Path) -> Path:
    """What would be committed now, in another directory."""
    for path in files_of_the_tree():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target / path)
    return target


def files_of_the_tree() -> frozenset[str]:
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = listed.stdout.decode().split("\0")
    return frozenset(path for path in paths if path and (ROOT / path).is_file())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    root = tmp_path_factory.mktemp("built")
    return build(copy_of_the_tree(root / "holdfast"), root / "dist", TIME)


def test_another_directory_mode_and_day_give_the_same_bytes(built: Distributions, tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path / "elsewhere")
    for file in (tree / "src").rglob("*.py"):
        file.chmod(0o600)
    again = build(tree, tmp_path / "dist", TIME)
    assert again.wheel.name == built.wheel.name
    assert again.wheel.read_bytes() == built.wheel.read_bytes()
    assert again.sdist.read_bytes() == built.sdist.read_bytes()


def test_the_sdist_builds_the_same_wheel(built: Distributions, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert build(tree, tmp_path / "dist", TIME).wheel.read_bytes() == built.wheel.read_bytes()


def test_both_hold_what_belongs_there_and_nothing_else(built: Distributions) -> None:
    check(built, files_of_the_tree())


def test_the_sdist_holds_no_tests_and_no_documents_but_these(built: Distributions) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {name for name in names if not name.startswith("src/holdfast/")} == {
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "SECURITY.md",
        "hatch_build.py",
        "pyproject.toml",
    }


def test_a_stray_file_is_found(tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path / "holdfast")
    tracked = files_of_the_tree()
    (tree / "src" / "holdfast" / "notes.txt").write_text("Call Ada.\n", encoding="utf-8")
    with pytest.raises(DistributionError, match=r"holds what does not belong there: holdfast/notes\.txt"):
        check(build(tree, tmp_path / "dist", TIME), tracked)


def test_a_missing_file_is_found(built: Distributions) -> None:
    with pytest.raises(DistributionError, match=r"lacks holdfast/new\.py"):
        check(built, files_of_the_tree() | {"src/holdfast/new.py"})


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("/home/" + "ada/src", True),
        ("see '/ro" + "ot/src'", True),
        ("/Users/" + "ada/x", True),
        ("/tmp/" + "build-1/x", True),
        ("/home/" + "you/src", False),
        ("~/src", False),
        ("https://example.com/home/" + "ada/x", False),
    ],
)
def test_a_path_of_a_machine_is_found(text: str, is_one: bool) -> None:  # noqa: FBT001
    assert bool(list(machine_paths({"holdfast/a.py": text.encode()}))) is is_one


def test_licences_and_the_marker_of_types_are_in_the_wheel(built: Distributions) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
        metadata = next(wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    (licence,) = (name for name in names if name.endswith(".dist-info/licenses/LICENSE"))
    assert licence.removesuffix("LICENSE") + "src/holdfast/models/minilm/NOTICE" in names
    assert "holdfast/py.typed" in names
    assert "Classifier: Typing :: Typed" in metadata
    assert "License-Expression: Apache-2.0" in metadata


CONSUMER = """
from holdfast import embed

store = embed.open_store()
session = store.load("demo", window=200_000)
reveal_type(session)
reveal_type(session.request("You are a coding agent.").messages)
reveal_type(session.should_compact())
session.ask(17)
"""
SEEN = [
    'consumer.py:6: note: Revealed type is "holdfast.embed.Session"',
    'consumer.py:7: note: Revealed type is "list[Any]"',
    'consumer.py:8: note: Revealed type is "bool"',
    (
        'consumer.py:9: error: Argument 1 to "ask" of "Session" has incompatible type "int"; '
        'expected "str | Sequence[Mapping[str, object]]"  [arg-type]'
    ),
]


def test_a_consumers_mypy_sees_the_types_of_an_installed_wheel(built: Distributions, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(built.wheel) as wheel:
        wheel.extractall(packages)
    (tmp_path / "consumer.py").write_text(CONSUMER, encoding="utf-8")
    python = next((tmp_path / "venv" / "bin").glob("python"))
    words = ["--strict", "--no-incremental", "--no-error-summary", "--python-executable", str(python)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "consumer.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == SEEN


def test_the_page_on_performance_says_what_each_package_and_extra_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    rows = {
        cells[1].strip(): cells[3].strip() for line in page.splitlines() if len(cells := line.split("|")) == 5
    }
    assert {OWN, *map(normal, project["dependencies"])} == PURPOSES.keys()
    assert {name: rows.get(name) for name in PURPOSES} == PURPOSES
    assert {extra: rows.get(f"`holdfast[{extra}]`") for extra in project["optional-dependencies"]} == EXTRAS
