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
        '<div class="document"><h3>Continuity &lt;b&gt;</h3><h3>Goal</h3>'
        '<ul><li>Sell <code>things</code></li><li class="inner">inside</li>'
        "<li>&lt;script&gt;alert(1)&lt;/script&gt;</li><li>first</li></ul>"
        "<blockquote>quoted</blockquote>"
        '<pre tabindex="0">make test</pre><p>The end.</p></div>'
    )
