"""What SQLite's words become in PostgreSQL, and what is stored of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.stores.postgres.dialect import restored, terms_of, translated_statement
from holdfast.stores.sql import documents, forgetting, redactor_versions


def value_of(text: str) -> object:
    return translated_statement("select :text").values({"text": text})["text"]


@given(text=st.text(st.characters(codec=None) | st.sampled_from("\0\U0010fffe01")))
def test_any_text_is_the_same_when_it_is_read_again(text: str) -> None:
    stored = value_of(text)
    assert isinstance(stored, str)
    assert "\0" not in stored
    assert restored(stored) == text


def test_values_are_named_as_the_driver_wants_it() -> None:
    statement = translated_statement("select '50%' from t where a = :a and b in (:b, :a)")
    assert statement.text == "select '50%%' from t where a = %(a)s and b in (%(b)s, %(a)s)"
    assert statement.values({"a": 1, "b": None, "unused": 3}) == {"a": 1, "b": None}


def test_a_list_in_json_becomes_one_of_texts() -> None:
    statement = translated_statement("select 1 where a in (select value from json_each(:ids))")
    assert "unnest(cast(%(list_ids)s as text[])) as each(value)" in statement.text
    assert statement.values({"ids": '["a", "b\\u0000c"]'}) == {"list_ids": ["a", "b\U0010fffe0c"]}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("parse_hook(x)", "parse hook x"),
        ("Crème BRÛLÉE", "creme brulee"),
        ("“quoted” – a\0b", "quoted a b"),
        ("日本語", "日本語"),
        ("../src/a-b.py:12", "src a b py 12"),
        ("", ""),
    ],
)
def test_words_are_split_as_sqlite_splits_them(text: str, terms: str) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    "sql", [documents.ADD_DOCUMENT, forgetting.WRITE_DOCUMENT, redactor_versions.WRITE_DOCUMENT]
)
def test_a_document_takes_its_place_in_the_index_with_its_text(sql: str) -> None:
    text = translated_statement(sql).text
    assert "to_tsvector('words', %(terms_of_text" in text
    assert "%(length_of_text" in text
    assert "text" in text.replace("terms_of_text", "").replace("length_of_text", "")
