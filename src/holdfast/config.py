"""PLACEHOLDER until the real settings module lands: overwrite this file."""
from __future__ import annotations
import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True, slots=True)
class Continuity:
    enabled: bool = True
    prompt_interval: int = 10
    time_interval_ms: int = 900_000
    max_checkpoints_per_session: int = 50
    retention_days: int = 7
    recovery_budget_chars: int = 2000
    recovery_window_hours: int = 4

@dataclass(frozen=True, slots=True)
class Capture:
    exclude: tuple[str, ...] = ()

@dataclass(frozen=True, slots=True)
class Daemon:
    idle_exit_minutes: int = 120

@dataclass(frozen=True, slots=True)
class Brief:
    total_chars: int = 6000

@dataclass(frozen=True, slots=True)
class Config:
    continuity: Continuity = Continuity()
    capture: Capture = Capture()
    daemon: Daemon = Daemon()
    brief: Brief = Brief()

@dataclass(frozen=True, slots=True)
class Loaded:
    config: Config
    sources: Mapping[str, str]
    warnings: tuple[str, ...]

def home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOLDFAST_HOME") or Path.home() / ".holdfast")

def load(home: Path, project_root: Path | None, project_id: str | None, environment: Mapping[str, str], managed: Path = Path("/etc/holdfast/config.toml")) -> Loaded:
    return Loaded(Config(), {}, ())

def excluded(config: Config, path: str) -> bool:
    return any(fnmatch.fnmatch(path, p) for p in config.capture.exclude)
