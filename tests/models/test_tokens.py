"""Tokens are counted by the ranks that were asked for, and by no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.pressure import factor_of, window_of
from holdfast.errors import ModelError
from holdfast.models import tokens
from holdfast.models.known import KNOWN_MODELS


@pytest.mark.parametrize(("text", "ids"), tokens.KNOWN_IDS)
def test_a_text_has_as_many_tokens_as_ids(text: str, ids: tuple[int, ...]) -> None:
    assert tokens.load()([text]) == len(ids)


def test_texts_are_counted_together() -> None:
    assert tokens.load()(["hello world", "", "hello world"]) == 4


def test_a_long_text_has_about_as_many_in_pieces() -> None:
    words = "hello world " * 20_000
    assert tokens.load()([words]) == pytest.approx(60_000, rel=0.4)


def test_ranks_that_give_other_ids_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "ENCODING", "cl100k_base")
    with pytest.raises(ModelError, match="other tokens"):
        tokens.load()


COUNT = tokens.load()


@given(st.text(st.characters()))
def test_any_text_can_be_counted(text: str) -> None:
    assert 0 <= COUNT([text]) <= 4 * len(text)


@pytest.mark.parametrize(
    ("model", "window", "factor"),
    [
        ("claude-sonnet-4-5-20250929", 200_000, 1.16),
        ("claude-opus-4-8", 1_000_000, 1.56),
        ("claude-opus-5-5", 1_000_000, 1.56),
        ("us.anthropic.claude-haiku-4-5-v1:0", 200_000, 1.16),
        ("claude-sonnet-4-5[1m]", 1_000_000, 1.16),
        ("openai/gpt-5.5", 272_000, 1.0),
        ("gpt-4.1-mini", 1_047_576, 1.0),
    ],
)
def test_what_is_known_of_a_model(model: str, window: int, factor: float) -> None:
    assert (window_of(model, KNOWN_MODELS), factor_of(model, KNOWN_MODELS)) == (window, factor)


def test_no_name_stands_twice_in_the_table() -> None:
    names = [known.name for known in KNOWN_MODELS]
    assert len(set(names)) == len(names)
