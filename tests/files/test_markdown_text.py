"""The editor of Markdown text: our block in and out, every other byte as it was."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.events.install_request import WantedBlock
from holdfast.errors import SettingsUnreadable
from holdfast.files import markdown_text

FILE = Path("/home/you/.some/AGENTS.md")
OURS = WantedBlock(FILE, "# Ours\n\nUse the tools.\n")
NEWER = WantedBlock(FILE, "# Ours\n\nUse the better tools.\n")
BLOCK = "<!-- holdfast:begin -->\n# Ours\n\nUse the tools.\n<!-- holdfast:end -->\n"

lines = st.sampled_from(("# Mine", "", "Never use tabs.", "  - a", "<!-- mine -->", "```sh", "holdfast"))
texts = st.builds(
    lambda parts, newline, end: newline.join(parts) + end,
    st.lists(lines, max_size=6),
    st.sampled_from(("\n", "\r\n")),
    st.sampled_from(("", "\n", "\n\n", "\r\n", "\r")),
)


def inserted(text: str) -> str:
    return markdown_text.insert_block(text, OURS)


def removed(text: str) -> str:
    return markdown_text.remove_block(text, FILE)


@given(texts)
@example("# Mine\r")
def test_taking_out_leaves_the_very_text_from_before(text: str) -> None:
    assert inserted(text).startswith(text)
    assert removed(inserted(text)) == text


@given(texts)
def test_putting_in_twice_is_the_same_as_once_and_a_newer_one_takes_its_place(text: str) -> None:
    once = inserted(text)
    assert inserted(once) == once
    newer = markdown_text.insert_block(once, NEWER)
    assert newer == once.replace("the tools", "the better tools")
    assert removed(newer) == text


@given(texts)
def test_taking_out_what_was_never_put_in_changes_nothing(text: str) -> None:
    assert removed(text) == text


@given(texts, st.sampled_from(("\nMore.\n", "More.", "\n\n# Later\n")))
def test_what_others_wrote_behind_it_stays(text: str, later: str) -> None:
    whole = removed(inserted(text) + later)
    assert whole.startswith(text)
    assert whole.endswith(later)


@pytest.mark.parametrize(
    ("text", "grown"),
    [("", BLOCK), ("Mine.\n", f"Mine.\n\n{BLOCK}"), ("Mine.", f"Mine.\n{BLOCK}")],
)
def test_it_stands_at_the_end_an_empty_line_below(text: str, grown: str) -> None:
    assert inserted(text) == grown


def test_a_second_copy_of_the_block_goes_with_the_first() -> None:
    assert inserted(f"{BLOCK}\nMine.\n\n{BLOCK}") == f"{BLOCK}\nMine.\n\n"
    assert removed(f"{BLOCK}\nMine.\n\n{BLOCK}") == "\nMine.\n"


@pytest.mark.parametrize("text", ["<!-- holdfast:begin -->\nmine\n", "a <!-- holdfast:begin -->"])
def test_a_block_without_an_end_is_refused(text: str) -> None:
    for edit in (inserted, removed):
        with pytest.raises(SettingsUnreadable, match="without `<!-- holdfast:end -->`"):
            edit(text)


@pytest.mark.parametrize(("text", "empty"), [("", True), (" \n\n", True), ("a", False)])
def test_a_text_without_a_word_holds_nothing(text: str, *, empty: bool) -> None:
    assert markdown_text.is_blank_text(text) is empty
