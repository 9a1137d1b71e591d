"""Outputs are read as a person reads them: what passed, what failed, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.commands import outcomes
from holdfast.core.evidence.commands.outcomes import diagnosis, failure_reason, is_failure
from tests.tables import every_row

# Imported as a module: pytest would take `tests` and `TestSummary` for its own.

PYTEST = """
=================================== FAILURES ===================================
_________________________________ test_adds ____________________________________

    def test_adds() -> None:
>       assert add(1, 2) == 4
E       assert 3 == 4
E        +  where 3 = add(1, 2)

tests/test_sum.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_sum.py::test_adds - assert 3 == 4
FAILED tests/test_sum.py::test_rounds[one half] - assert 3 == 4
ERROR tests/test_io.py
==================== 2 failed, 31 passed, 1 skipped, 1 error in 0.42s ====================
"""
CHAINED = """
Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
subprocess.TimeoutExpired: timed out
"""
UNITTEST = """
======================================================================
FAIL: test_adds (tests.test_sum.SumTest.test_adds)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_sum.py", line 6, in test_adds
    self.assertEqual(add(1, 2), 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 5 tests in 0.001s

FAILED (failures=1, errors=1)
"""
JEST = """
 FAIL  src/sum.test.ts
  ● sum › adds two numbers

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

Tests:       1 failed, 2 skipped, 7 passed, 10 total
"""
VITEST = """
 FAIL  src/sum.test.ts > sum > adds two numbers
AssertionError: expected 3 to be 4 // Object.is equality
 Test Files  1 failed (1)
      Tests  1 failed | 9 passed (10)
"""
MOCHA = """
  Array
    1) finds nothing

  4 passing (12ms)
  1 failing

  1) Array
       #indexOf()
         finds nothing:
     AssertionError [ERR_ASSERTION]: -1 == 0
"""
GO = """
=== RUN   TestAdd
=== RUN   TestAdd/negative
    sum_test.go:12: got 3, want 4
--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/negative (0.00s)
--- PASS: TestZero (0.00s)
FAIL
FAIL\texample.org/sum\t0.003s
ok  \texample.org/io\t0.002s
FAIL
"""
CARGO = """
test sum::adds ... FAILED
test sum::zero ... ok

---- sum::adds stdout ----
thread 'sum::adds' panicked at src/sum.rs:9:5:
assertion `left == right` failed

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
error: test failed, to rerun pass `--lib`
"""
EXUNIT = """
  1) test adds two numbers (SumTest)
     test/sum_test.exs:5
     Assertion with == failed
     code:  assert add(1, 2) == 4
     left:  3
     right: 4

Finished in 0.1 seconds
2 doctests, 12 tests, 1 failure
"""
RSPEC = """
  1) Sum adds two numbers
     Failure/Error: expect(add(1, 2)).to eq(4)

       expected: 4
            got: 3

8 examples, 1 failure, 2 pending

rspec ./spec/sum_spec.rb:4 # Sum adds two numbers
"""
PHPUNIT = """
1) App\\Tests\\SumTest::testAdds
Failed asserting that 3 matches expected 4.

FAILURES!
Tests: 6, Assertions: 9, Failures: 2, Skipped: 1.
"""
NODE = """
not ok 2 - adds two numbers
# tests 4
# pass 3
# fail 1
"""
MAVEN = """
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!
[ERROR] org.example.SumTest.adds -- Time elapsed: 0.01 s <<< FAILURE!
[ERROR] Tests run: 12, Failures: 1, Errors: 1, Skipped: 2
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin
"""
GRADLE = """
SumTest > adds two numbers FAILED
    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>

14 tests completed, 1 failed
"""
CTEST = """
75% tests passed, 1 tests failed out of 4

The following tests FAILED:
\t  3 - sum_test (Failed)
"""


@every_row(
    ("text", "passed", "failures", "failing"),
    [
        (
            PYTEST,
            31,
            3,
            ("tests/test_sum.py::test_adds", "tests/test_sum.py::test_rounds[one half]", "tests/test_io.py"),
        ),
        ("12 passed, 2 warnings in 1.20s", 12, 0, ()),
        (UNITTEST, 3, 2, ("test_adds",)),
        ("Ran 5 tests in 0.1s\n\nOK (skipped=2)", 3, 0, ()),
        (JEST, 7, 1, ("sum › adds two numbers",)),
        (VITEST, 9, 1, ("src/sum.test.ts > sum > adds two numbers",)),
        (" 4 pass\n 1 fail\n(fail) sum > adds [0.50ms]\n", 4, 1, ("sum > adds",)),
        (MOCHA, 4, 1, ("Array #indexOf() finds nothing",)),
        (GO, 1, 1, ("TestAdd/negative",)),
        (CARGO, 4, 1, ("sum::adds",)),
        ("     Summary [   0.1s] 9 tests run: 8 passed, 1 failed, 0 skipped", 8, 1, ()),
        (EXUNIT, 11, 1, ("adds two numbers (SumTest)",)),
        (RSPEC, 5, 1, ("Sum adds two numbers",)),
        (PHPUNIT, 3, 2, ("App\\Tests\\SumTest::testAdds",)),
        ("OK (6 tests, 9 assertions)", 6, 0, ()),
        (NODE, 3, 1, ("adds two numbers",)),
        ("ℹ pass 3\nℹ fail 1\n✖ adds two numbers (1.2ms)", 3, 1, ("adds two numbers",)),
        (MAVEN, 8, 2, ("org.example.SumTest.adds",)),
        (GRADLE, 13, 1, ("SumTest > adds two numbers",)),
        (CTEST, 3, 1, ("sum_test",)),
        ("Failed!  - Failed:     1, Passed:     8, Skipped:     0, Total:     9", 8, 1, ()),
        ("\x1b[31m1 failed\x1b[0m, 2 passed in 0.1s", 2, 1, ()),
    ],
)
def test_test_runs_are_counted(text: str, passed: int, failures: int, failing: tuple[str, ...]) -> None:
    assert outcomes.count_tests(text) == outcomes.TestSummary(passed, failures, failing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no tests ran in 0.01s",
        "3 passed the exam in June",
        "the tests failed, I think",
        "?   \texample.org/sum\t[no test files]",
        "Build succeeded in 3.2s",
        "1 file changed, 2 insertions(+)",
        "Ran 5 migrations in 2s",
    ],
)
def test_what_is_no_test_run_is_not_counted(text: str) -> None:
    assert outcomes.count_tests(text) is None


@every_row(
    ("text", "why"),
    [
        (PYTEST, "assert 3 == 4"),
        (UNITTEST, "AssertionError: 3 != 4"),
        (JEST, "expect(received).toBe(expected) // Object.is equality; Expected: 4; Received: 3"),
        (VITEST, "AssertionError: expected 3 to be 4 // Object.is equality"),
        (MOCHA, "AssertionError [ERR_ASSERTION]: -1 == 0"),
        (GO, "sum_test.go:12: got 3, want 4"),
        (
            CARGO,
            "thread 'sum::adds' panicked at src/sum.rs:9:5: assertion `left == right` failed",
        ),
        (EXUNIT, "Assertion with == failed; code: assert add(1, 2) == 4; left: 3; right: 4"),
        (RSPEC, "Failure/Error: expect(add(1, 2)).to eq(4); expected: 4; got: 3"),
        (GRADLE, "org.opentest4j.AssertionFailedError: expected: <4> but was: <3>"),
        (
            CHAINED,
            "subprocess.TimeoutExpired: timed out",
        ),
        (
            "error[E0308]: mismatched types\n --> src/a.rs:3:5\nerror: aborting due to 1 previous error",
            "error[E0308]: mismatched types",
        ),
        (
            "src/x.ts(3,5): error TS2304: Cannot find name 'y'.",
            "src/x.ts(3,5): error TS2304: Cannot find name 'y'.",
        ),
        ("a.c:3:5: error: expected ';'\nmake: *** [Makefile:2: a.o] Error 1", "a.c:3:5: error: expected ';'"),
        ("cc a.c\nmake: *** [Makefile:2: a.o] Error 1", "make: *** [Makefile:2: a.o] Error 1"),
        ("Exit code 1\nError:\n  the port is taken", "the port is taken"),
        (
            '$ lint .\n  × Imports are not sorted.\nerror: script "lint" exited with code 1',
            "× Imports are not sorted.",
        ),
        ("npm error code ENOENT\nnpm error enoent no package.json", "npm error enoent no package.json"),
        ("fails: error: int\nsed: can't read a.py: No such file", "sed: can't read a.py: No such file"),
        (
            "** (RuntimeError) no secret was given\n    lib/a.ex:3: A.b/1",
            "** (RuntimeError) no secret was given",
        ),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("zsh: command not found: nope", "zsh: command not found: nope"),
        (
            "306 | const error: E = x\nTypeError: x is not a function\n    at a.js:3",
            "TypeError: x is not a function",
        ),
        ("[build] $ run\n[build] ERROR task failed\nmain.go:4:2: undefined: x", "main.go:4:2: undefined: x"),
        (
            r"Validation failed:\n\n[FORMAT] Code is not formatted.\nRun 'mix format'.\n\nFix it.",
            "Validation failed: [FORMAT] Code is not formatted.",
        ),
        (
            "It failed:\\n\\n[CREDO]\\nChecking ...\n┃ \n┃ [D] ↘ Nested modules could be aliased.\n",
            "[D] ↘ Nested modules could be aliased.",
        ),
        (
            r"It can't be: the hook failed:\n\n[TYPES]\nLooking up modules\n",
            "It can't be: the hook failed: [TYPES]",
        ),
        (
            r'error: the literal "\n" and "\n" are not allowed',
            r'error: the literal "\n" and "\n" are not allowed',
        ),
        (r"error: no such file: C:\new\a.py", r"error: no such file: C:\new\a.py"),
        ("Exit code 1", ""),
        ("FAILED (failures=1)", ""),
        ("", ""),
        (
            "=== RUN TestX\n    hooks.go:155: INFO on\n    resume_test.go:88: not there\n--- FAIL: TestX\n",
            "resume_test.go:88: not there",
        ),
        (
            " ERR_PNPM_BAD_ENGINE  Unsupported environment\n\nTo fix this issue, install another Node.\n",
            "ERR_PNPM_BAD_ENGINE Unsupported environment",
        ),
    ],
)
def test_the_line_that_says_why_is_found(text: str, why: str) -> None:
    assert failure_reason(text) == why


def test_a_long_reason_ends_at_a_word() -> None:
    told = failure_reason("ValueError: " + "word " * 100)
    assert len(told) <= outcomes.REASON_LENGTH
    assert told.endswith("word…")


@every_row(
    ("text", "exit_status", "ok", "verdict"),
    [
        ("", 0, True, False),
        ("", 1, True, True),
        ("all is well", 2, True, True),
        ("", None, True, False),
        ("", None, False, True),
        ("Exit code 1\noops", None, True, True),
        ("...\n1 failed, 3 passed in 0.4s", None, True, True),
        ("...\n1 failed, 3 passed in 0.4s", 0, True, True),
        ("...\n4 passed in 0.4s", 0, True, False),
        ("1 failed, 3 passed in 0.4s\n" + "and then much was printed\n" * 100, 0, True, False),
        ("12 tests, 0 failures", None, True, False),
        ("Error: in a text that was read", 0, True, False),
    ],
)
def test_failure_differs_from_success(text: str, exit_status: int | None, ok: bool, verdict: bool) -> None:  # noqa: FBT001
    assert is_failure(text, exit_status, ok=ok) is verdict


@every_row(
    ("text", "why"),
    [
        ("a.ts(5,15): error TS2305: No 'T'.\nnpm error code 2", "a.ts(5,15): error TS2305: No 'T'."),
        ("app/(shop)/p.tsx:7:3 - error TS2344: Not T.", "app/(shop)/p.tsx:7:3 - error TS2344: Not T."),
        ("a.ts\x1b[0m:1:2 - \x1b[91merror\x1b[0m TS2304: No 'x'.", "a.ts:1:2 - error TS2304: No 'x'."),
        ("web:build: a.ts(3,5): error TS2304: No name.", "web:build: a.ts(3,5): error TS2304: No name."),
        ("error[E0308]: mismatched types\n --> src/a.rs:3:5", "error[E0308]: mismatched types"),
        ("error: could not compile `a`\nerror: no such module", "error: no such module"),
        ("a.c:3:5: error: expected ';'\nmake: *** [a.o] Error 1", "a.c:3:5: error: expected ';'"),
        ("a.py:3: error: Incompatible types\nFound 1 error in 1 file", "a.py:3: error: Incompatible types"),
        ("# example.com/a\n./a.go:4:2: undefined: x", "./a.go:4:2: undefined: x"),
        ("/app/a.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
         "3:5 error 'x' is not defined no-undef"),
        ("✖ 3 problems (1 error, 2 warnings)", "✖ 3 problems (1 error, 2 warnings)"),
        ("Found 2 errors in 2 files.", "Found 2 errors in 2 files."),
        ("Found 3 errors (2 fixed, 1 remaining).", "Found 3 errors (2 fixed, 1 remaining)."),
        ("npm error code 2\nnpm error path /app\nnpm error command sh -c tsc", "npm error command sh -c tsc"),
        ("npm ERR! missing script: build", "npm ERR! missing script: build"),
        ("a.go:3: not checked (errcheck)\n[lint] ERROR task failed", "a.go:3: not checked (errcheck)"),
        # what passes
        ("Found 0 errors. Watching for file changes.", ""),
        ("✖ 2 problems (0 errors, 2 warnings)", ""),
        ("Found 3 errors (3 fixed, 0 remaining).", ""),
        ("0 errors, 4 warnings", ""),
        ("const error: E = x\n  error: message,", ""),
        ("  throw new Error(`error TS${code}: x`)", ""),
        ("it says error: when a name is missing ... ok", ""),
        ("[warning] the call failed: error: no such file", ""),
        ("error: no such key (expected)\n4 passed in 0.4s", ""),
        ("dist/error.js  1.2 kB\nbuilt in 2s", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_a_checker_prints_only_when_it_fails_is_known_by_the_form_of_its_line(
    text: str, why: str
) -> None:
    assert diagnosis(text) == why


LINES = st.sampled_from(
    ["E   x", "Traceback (most recent call last)", "ValueError:", "error:", "FAIL\t", "--- FAIL: a",
     "1 failed in 1s", "make: *** x", "Tests:  1 failed, 1 total", " 1 failing", "Ran 1 test in 1s",
     "FAILED (", "\x1b[31m", "expect("]
)  # fmt: skip


@given(st.lists(LINES | st.text(max_size=30)))
def test_any_output_can_be_read(lines: list[str]) -> None:
    text = "\n".join(lines)
    summary = outcomes.count_tests(text)
    assert summary is None or (summary.passed >= 0 and len(summary.failing) <= outcomes.NAMES_KEPT)
    assert len(failure_reason(text)) <= outcomes.REASON_LENGTH
    assert "\n" not in failure_reason(text)
    assert len(diagnosis(text)) <= outcomes.REASON_LENGTH
    assert is_failure(text, 1, ok=True)


@pytest.mark.parametrize(
    "piece", ["=", "E   ", "Error", "error: ", "a.b:1: ", "1 failed, ", "\n", "x: ", "\x1b[", " 1) a\n   "]
)
def test_long_and_repetitive_output_is_read(piece: str) -> None:
    text = piece * 50_000
    assert len(failure_reason(text)) <= outcomes.REASON_LENGTH
    assert len(diagnosis(text)) <= outcomes.REASON_LENGTH
    assert outcomes.count_tests(text) is None


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("ok  \ta/b\t0.1s\nok  \ta/c\t(cached)\n?   \ta/d\t[no test files]\n", (2, 0, ())),
        ("ok  \ta/b\t0.1s\nFAIL\ta/c [build failed]\nFAIL\n", (1, 1, ("a/c",))),
        (
            "--- FAIL: TestSum (0.0s)\n--- FAIL: TestIo (0.0s)\nFAIL\nFAIL\ta/c\t0.1s\nok  \ta/b\t0.1s\n",
            (1, 1, ("TestSum", "TestIo")),
        ),
    ],
)
def test_packages_are_not_counted_as_tests(text: str, counted: tuple[int, int, tuple[str, ...]]) -> None:
    assert outcomes.count_tests(text) == outcomes.TestSummary(*counted, unit="package")


def test_failing_tests_alone_are_counted_as_such() -> None:
    assert outcomes.count_tests("--- FAIL: TestSum (0.0s)\n") == outcomes.TestSummary(0, 1, ("TestSum",))


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
    assert failure_reason(output) == why
