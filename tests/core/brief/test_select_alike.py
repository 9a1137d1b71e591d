"""Which of two similar sentences a brief says."""

from __future__ import annotations

import pytest

from holdfast.core.brief.brief_input import Item
from holdfast.core.brief.select import select


@pytest.mark.parametrize(
    ("section", "sentences", "told"),
    [
        (
            "Done",
            (
                "Reader, writer, parser and printer pass.",
                "The parser, the printer, the reader and the writer pass.",
            ),
            1,
        ),
        (
            "Done",
            (
                "Greased bearing number 4 before crane shift began.",
                "Greased bearing number 5 before crane shift began.",
            ),
            2,
        ),
        (
            "Rules",
            (
                "Always grease bearing number 4 before crane shift.",
                "Always grease bearing number 5 before crane shift.",
            ),
            2,
        ),
        ("Rules", ("Never touch legacy.py.", "Never touch legacy.py!"), 1),
        ("Rules", ("Never touch legacy.py.", "Never touch it."), 2),
        (
            "Failures",
            (
                "`make lint` failed (not run since the last edit)",
                "`make docs` failed (not run since the last edit)",
            ),
            2,
        ),
        (
            "Done",
            (
                "`mise lint && mise test` passed (not run since the last edit)",
                "`mise lint` passed (not run since the last edit)",
            ),
            1,
        ),
    ],
)
def test_what_only_repeats_another_sentence_is_left_out(
    section: str, sentences: tuple[str, ...], told: int
) -> None:
    items = [Item(section, text, at, score=2.0 - at) for at, text in enumerate(sentences)]
    assert len([one for one in select(items, 2_000) if one.rendered]) == told
