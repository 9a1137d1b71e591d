"""A document that people and agents write is shown as it reads, and nothing in it is markup."""

from __future__ import annotations

from holdfast.daemon.dashboard.markdown import rendered

TEXT = """---
title: x
---
# Continuity <b>

## Empty

## Goal

- Sell `things`
  - inside
- <script>alert(1)</script>

1. first

<!-- mark -->
> quoted

```sh
make test
```
The end.
"""


def test_headings_lists_code_and_paragraphs_are_elements() -> None:
    page = rendered(TEXT)
    assert page == (
        '<div class="document"><h3>Goal</h3>'
        '<ul><li>Sell <code>things</code></li><li class="inner">inside</li>'
        "<li>&lt;script&gt;alert(1)&lt;/script&gt;</li><li>first</li></ul>"
        "<blockquote>quoted</blockquote>"
        '<pre tabindex="0">make test</pre><p>The end.</p></div>'
    )


def test_a_long_list_is_folded_behind_its_first_items() -> None:
    page = rendered("\n".join(f"{number}. item {number}" for number in range(1, 13)))
    shown, _, folded = page.partition("<details>")
    assert shown.count("<li>") == 8
    assert '<summary>4 more</summary><ol start="9"><li>item 9</li>' in folded
    assert "<details>" not in rendered("\n".join(f"- item {number}" for number in range(9)))


def test_marks_of_bold_and_slanted_words_are_not_shown_but_names_are() -> None:
    page = rendered("_Last saved: noon_\n\n- Keep **each** line of `a**b**` in snake_case_name")
    assert "<p>Last saved: noon</p>" in page
    assert "Keep each line of <code>a**b**</code> in snake_case_name" in page
