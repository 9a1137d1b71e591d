"""A home of its own for every test, and whoever reads another program's sessions finds none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.embed import SessionStore
from tests.embed.loop import write_settings


@pytest.fixture(autouse=True)
def nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose settings keep out what a test is not about: the line with the gauge, and the flush."""
    where = tmp_path / "home"
    write_settings(where, pressure={"show_in_context": False}, memory_flush={"enabled": False})
    return where


@pytest.fixture
def project(tmp_path: Path) -> Path:
    where = tmp_path / "project"
    where.mkdir()
    return where


@pytest.fixture
def store(home: Path, project: Path) -> Iterator[SessionStore]:
    opened = embed.open_store(home, project=project)
    yield opened
    opened.close()
