"""What the hosting service reads: it follows the service's schemas, and names what exists here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML  # type: ignore[import-not-found,unused-ignore]

from scripts.build_site import SITE
from tests.release.conftest import ROOT

SERVICE = ROOT / ".github"
WORKFLOWS = sorted((SERVICE / "workflows").glob("*.yml"))
SCHEMAS = [
    *(("vendor.github-workflows", file) for file in WORKFLOWS),
    *(("custom.github-workflows-require-timeout", file) for file in WORKFLOWS),
    ("vendor.dependabot", SERVICE / "dependabot.yml"),
    ("vendor.github-issue-config", SERVICE / "ISSUE_TEMPLATE" / "config.yml"),
    *(
        ("vendor.github-issue-forms", file)
        for file in sorted((SERVICE / "ISSUE_TEMPLATE").glob("*.yml"))
        if file.stem != "config"
    ),
]


def read(file: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    return YAML(typ="safe").load(file)


def faults(schema: str, file: Path) -> str:
    """What the schema, which comes with the tool, finds wrong; nothing is fetched."""
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in WORKFLOWS:
        for name, job in read(file)["jobs"].items():
            yield f"{file.name}: {name}", job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in jobs():
        for step in job["steps"]:
            yield name, step


@pytest.mark.parametrize(("schema", "file"), SCHEMAS, ids=lambda value: getattr(value, "stem", value))
def test_each_file_follows_its_schema(schema: str, file: Path) -> None:
    assert faults(schema, file) == ""


def test_a_workflow_with_a_fault_does_not(tmp_path: Path) -> None:
    spoiled = tmp_path / "checks.yml"
    text = (SERVICE / "workflows" / "checks.yml").read_text(encoding="utf-8")
    spoiled.write_text(text.replace("runs-on:", "run-on:"), encoding="utf-8")
    assert "runs-on" in faults("vendor.github-workflows", spoiled)


def test_every_target_that_a_workflow_makes_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = {
        (name, target)
        for name, step in steps()
        for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))
    }
    assert len(made) >= 5
    assert {target for _, target in made} <= targets


def test_every_path_that_a_workflow_names_exists() -> None:
    named = {
        path
        for _, step in steps()
        for path in re.findall(r"(?<![\w/-])(?:tests|requirements)/[\w./-]+", step.get("run", ""))
    }
    assert "tests/systems" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_actions_are_pinned_by_version() -> None:
    used = [step["uses"] for _, step in steps() if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+(\.\d+)*", action)] == []


def test_three_systems_and_every_python_of_the_classifiers_are_tested() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "classifiers"
    ]
    pythons = [match[1] for one in classifiers if (match := re.search(r"Python :: (3\.\d+)$", one))]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    checks = read(SERVICE / "workflows" / "checks.yml")["jobs"]
    assert checks["tests"]["strategy"]["matrix"]["python"] == pythons
    assert checks["tests-on-windows"]["strategy"]["matrix"]["python"] == pythons
    systems = [*checks["tests"]["strategy"]["matrix"]["system"], checks["tests-on-windows"]["runs-on"]]
    assert [system.partition("-")[0] for system in systems] == ["ubuntu", "macos", "windows"]


UPLOADS = {
    "release.yml: publish": ("pypi", {"id-token": "write"}),
    "site.yml: deploy": ("github-pages", {"id-token": "write", "pages": "write"}),
}
"""The jobs that may ask for an identity, with their environment and permissions."""


def test_only_the_uploads_may_ask_for_an_identity_and_no_secret_is_used() -> None:
    asking = {name: job for name, job in jobs() if "id-token" in job.get("permissions", {})}
    assert {name: (job["environment"], job["permissions"]) for name, job in asking.items()} == UPLOADS
    assert not [step for job in asking.values() for step in job["steps"] if "run" in step]
    for file in WORKFLOWS:
        assert read(file)["permissions"] == {"contents": "read"}
        assert "secrets." not in file.read_text(encoding="utf-8")


def test_only_what_attaches_files_to_a_release_may_write_to_the_repository() -> None:
    assert [name for name, job in jobs() if "contents" in job.get("permissions", {})] == [
        "release.yml: attach"
    ]


def test_the_archives_for_gemini_cli_have_the_extension_at_their_root(tmp_path: Path) -> None:
    (step,) = (
        step for name, step in steps() if name == "release.yml: attach" and "tar " in step.get("run", "")
    )
    shutil.copytree(ROOT / "extensions", tmp_path / "extensions")
    subprocess.run(["sh", "-e", "-c", step["run"]], cwd=tmp_path, check=True)
    for system in ("linux", "darwin"):
        with tarfile.open(tmp_path / "extension" / f"{system}.holdfast.tar.gz") as archive:
            names = {name.removeprefix("./") for name in archive.getnames()}
        held = ROOT / "extensions" / "gemini"
        assert names >= {str(file.relative_to(held)) for file in held.rglob("*") if file.is_file()}


def test_the_site_is_published_from_where_it_is_built() -> None:
    paths = [
        step["with"]["path"] for name, step in steps() if "upload-pages-artifact" in step.get("uses", "")
    ]
    assert [ROOT / path for path in paths] == [SITE]


def test_pre_commit_uses_the_tools_of_the_repository() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, *words = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        assert (ROOT / program).exists()
        assert [word for word in words if word.startswith("tests/") and not (ROOT / word).exists()] == []
