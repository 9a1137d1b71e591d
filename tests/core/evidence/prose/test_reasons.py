"""Which line of an output says what is wrong, where a tool has its own way to say it."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.commands.outcomes import reason

FORMATTED = """
src/reader.ts format ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Formatter would have printed the following content:

Checked 5 files in 17ms. No fixes applied.
Found 1 error.
    12 12 │   return {
check ━━━━━━━━━━━━━━━━━━━━━━━━

  × Some errors were emitted while running checks.
"""
LINTED = """
src/reader.ts:18:5 lint/style/useConst  FIXABLE  ━━━━━━━━━━━━━━━━━━━━

  × This let is only assigned once.

  > 18 │     let total = 0;
"""
ENGINE = """
ERR_PNPM_UNSUPPORTED_ENGINE\u2009 Unsupported environment (bad pnpm and/or Node.js version)

Expected version: >=20.0.0
Got: v14.16.0

This is happening because the package's manifest has an engines.node field specified.
To fix this issue, install the required Node version.
"""


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (FORMATTED, "src/reader.ts format: Formatter would have printed the following content"),
        (LINTED, "src/reader.ts:18:5 lint/style/useConst FIXABLE: This let is only assigned once."),
        ("src/reader.ts:7:2 parse ━━━━━━━━━\n", "src/reader.ts:7:2 parse"),
        (ENGINE, "ERR_PNPM_UNSUPPORTED_ENGINE Unsupported environment (bad pnpm and/or Node.js version)"),
        (
            'Unknown JSON field: "closedBy"\nAvailable fields:\n  body\n  url\n',
            'Unknown JSON field: "closedBy"',
        ),
        ("read --fast\n     ^ Unknown arguments\n\nA newer version is there.\n", "^ Unknown arguments"),
        ("unknown subcommand: ship\nsee the manual\n", "unknown subcommand: ship"),
        ("the state is unknown\nit ends here\n", "it ends here"),
    ],
)
def test_the_line_that_says_what_is_wrong_is_found(output: str, why: str) -> None:
    assert reason(output) == why
