"""Values are drawn as they were asked for, and the same ones each time."""

from __future__ import annotations

import re

import pytest

from tests.core.drawn import drawn, left


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    assert drawn("plain", "a") == drawn("plain", "a") != drawn("plain", "b")


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("gh|p_<A36>", r"ghp_[A-Za-z0-9]{36}"),
        ("uuid", r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"),
        ("hex", r"[0-9a-f]{32,64}"),
        ("word", r"[a-z]{5,14}"),
        ("base32", r"[A-Z2-7]{16,32}"),
    ],
)
def test_a_value_has_the_form_that_was_asked_for(form: str, pattern: str) -> None:
    assert all(re.fullmatch(pattern, drawn(form, str(number))) for number in range(20))


def test_what_is_left_is_reported() -> None:
    assert left("password=hunter2!x and plainly this", ["hunter2!x", "plainly"]) == ["plainly"]
