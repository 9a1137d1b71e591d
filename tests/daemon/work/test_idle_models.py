"""Models are loaded on first use, and dropped when nothing has used them for a while."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.daemon.work.idle_models import IdleModel


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def model_and_loads() -> tuple[IdleModel[object], list[object], Clock]:
    loads: list[object] = []
    clock = Clock()

    def load() -> object:
        loads.append(object())
        return loads[-1]

    return IdleModel(load, clock), loads, clock


def test_it_is_loaded_on_first_use_and_only_then() -> None:
    model, loads, _ = model_and_loads()
    assert loads == []
    assert model() is model() is loads[0]
    assert len(loads) == 1


def test_it_is_dropped_when_it_was_not_used_for_so_long_and_loaded_again() -> None:
    model, loads, clock = model_and_loads()
    model()
    clock.now += 99
    assert not model.drop_unused(100)
    model()
    clock.now += 99
    assert not model.drop_unused(100)
    clock.now += 1
    assert model.drop_unused(100)
    assert not model.drop_unused(100)
    model()
    assert len(loads) == 2


def test_a_model_that_cannot_be_loaded_is_not_tried_at_every_use() -> None:
    tries: list[int] = []
    model = IdleModel(lambda: tries.append(1), Clock())
    assert (model(), model(), len(tries)) == (None, None, 1)


COUNTER = """
import os, time
from holdfast import models
from holdfast.daemon.work.idle_models import IdleModel, return_memory
def resident(): return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
counter = IdleModel(models.counter, time.monotonic)
counter()(["a text"])
loaded = resident()
assert counter.drop_unused(0)
return_memory()
print(loaded - resident())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_the_memory_of_the_token_counter_comes_back(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNTER], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) > 20


def test_what_a_daemon_does_not_use_for_most_of_its_life_is_not_loaded() -> None:
    code = "import sys, holdfast.daemon.main, holdfast.models.static; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"ctypes", "importlib.resources", "zipfile", "sqlite3"} & set(done.stdout.split())
