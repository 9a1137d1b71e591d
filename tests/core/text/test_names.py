"""Names are told from plain words: identifiers, references, paths, and what a program is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text.names import COMMON, names, paths, program_name, references
from tests.tables import every_row


@every_row(
    ("text", "found"),
    [
        ("parse_hook() reads what SessionStore keeps.", ("parse_hook", "SessionStore")),
        ("Set MAX_RETRIES and httpTimeout, then call run().", ("MAX_RETRIES", "httpTimeout", "run()")),
        ("It raised ValueError (ECONNREFUSED), exit by SIGKILL.", ("ValueError", "ECONNREFUSED", "SIGKILL")),
        ("error[E0308] and TS2304", ("E0308", "TS2304")),
        ("Store::open and app.engine.record", ("Store::open", "app.engine.record")),
        ("self.retry_count grows in HTTPServer", ("retry_count", "HTTPServer")),
        ("tests/test_a.py::test_adds and test_b.py::TestSum::test_zero", ("test_adds", "TestSum::test_zero")),
        ("Calendar.next_day/2 in Elixir", ("Calendar.next_day",)),
        ("修改parse_hook函数", ("parse_hook",)),
        (r"printf('\nOverwriting\tTabName') and \bMAX_RETRIES\b", ("TabName", "MAX_RETRIES")),
        ("parse_hook, parse_hook and parse_hook", ("parse_hook",)),
        ("`fmt.Fprint()` but not done.Then", ("fmt.Fprint",)),
    ],
)
def test_identifiers_are_found(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, with Capitals and ACRONYMS. Even (in parentheses).",
        "see src/my_app/retry_loop.py and https://example.org/my_page",
        "package.json, node.js, example.com, e.g. this, i.e. that",
        "GitHub and JavaScript, isinstance() and __init__",
        "items.forEach and console.log",
        "--dry_run -x my-kebab_case-name",
        "the APIs and the URLs of iOS",
        "id a1B2c3D4e5 is random",
        "",
        "a border of A3BE8C, of EBCB8B and of 8ABeB7ff",
    ],
)
def test_what_is_no_identifier_is_left_out(text: str) -> None:
    assert names(text) == ()


@every_row(
    ("text", "found"),
    [
        ("fixes #12 and GH-7, see PROJ-123", ("#12", "GH-7", "PROJ-123")),
        ("closes owner/repo#45", ("owner/repo#45",)),
        ("commit 1a2b3c4 reverts deadbee1", ("1a2b3c4", "deadbee1")),
        ("[main 9f8e7d6] Add a clock", ("9f8e7d6",)),
        ("0a1b2c3 Add a clock\n4d5e6f7 Mend it", ("0a1b2c3", "4d5e6f7")),
        ("at v1.2.3, from 3.12.7 to v2.0", ("v1.2.3", "3.12.7", "v2.0")),
        ("run with --dry-run and --no-cache=1", ("--dry-run", "--no-cache")),
        ("claude --allowedTools Bash --max_turns 3", ("--allowedTools", "--max_turns")),
        ("any of --no-${what}, --no-*", ()),
        ("https://example.org/a/b?token=1#x, ok", ("https://example.org/a/b",)),
        ("see “https://example.org/a.js” there", ("https://example.org/a.js",)),
        ("(see http://localhost:8080/health).", ("http://localhost:8080/health",)),
        ("listens on localhost:3000 and 127.0.0.1:5432", ("localhost:3000", "127.0.0.1:5432")),
        ("CVE-2024-12345 in v1.0.0-rc1", ("CVE-2024-12345", "v1.0.0-rc1")),
        ("a" * 20 + "1" * 20, ("a" * 20 + "1" * 20,)),
    ],
)
def test_references_are_found(text: str, found: tuple[str, ...]) -> None:
    assert references(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "UTF-8 and SHA-256, ISO-8601",
        "the value deadbee1 is a number, 1234567 too",
        "commit to it; facade is a word",
        "colour #ff0000 and &#123;",
        "192.168.0.10 is an address",
        "a -- b, ---, -x",
        "123e4567-e89b-12d3-a456-426614174000",
        "1.5 seconds",
        "",
    ],
)
def test_what_points_nowhere_is_left_out(text: str) -> None:
    assert references(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("edit src/app/retry.py:12:5 and README.md.", ("src/app/retry.py", "README.md")),
        ("(in `./web/index.ts`), ~/notes.md", ("web/index.ts", "~/notes.md")),
        ("/repo/lib/a.ex and ../b.ex", ("/repo/lib/a.ex", "../b.ex")),
        ("app/(admin)/[id]/page.tsx", ("app/(admin)/[id]/page.tsx",)),
        ("tests/test_a.py::test_adds", ("tests/test_a.py",)),
        ("folders src/ and docs/guides", ("src/", "docs/guides")),
        ("Makefile, .gitignore, .env.local", ("Makefile", ".gitignore", ".env.local")),
        ("--config=conf/app.toml", ("conf/app.toml",)),
        ("C:\\work\\app\\main.py", ("C:\\work\\app\\main.py",)),
        ("@docs/plan.md twice: docs/plan.md", ("docs/plan.md",)),
        ("next.js/docs/a.md and src/s/t/", ("next.js/docs/a.md", "src/s/t/")),
    ],
)
def test_paths_are_found(text: str, found: tuple[str, ...]) -> None:
    assert paths(text) == found


@every_row(
    "text",
    [
        "and/or, either/or, read/write/execute",
        "https://example.org/a/b.html",
        "node.js and example.com",
        "origin/main, feature/new-clock, application/json",
        "1/2 of 2024/01/02",
        "*.py files in $HOME/x.py",
        "> /dev/null",
        "response.json() and items.map(x)",
        "/compact",
        "a.m. and e.g. and 3.5",
        "",
        "sed -e s/main-new/main/g",
        "main.ts/reader.ts share it",
        "node_modules/.bin/tsc -p .",
    ],
)
def test_what_is_no_path_is_left_out(text: str) -> None:
    assert paths(text) == ()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["git", "commit"], "git commit"),
        (["/usr/bin/git", "--no-pager", "log"], "git log"),
        (["npm", "run", "build"], "npm run build"),
        (["node_modules/.bin/jest", "src"], "jest"),
        (["python", "-m", "pytest"], "python -m pytest"),
        (["python", "-m", "pip", "install", "x"], "python -m pip install"),
        (["node", "--test", "a.js"], "node --test"),
        (["git"], "git"),
        (["", "x"], ""),
        ([], ""),
    ],
)
def test_a_program_has_a_name(words: list[str], name: str) -> None:
    assert program_name(words) == name


PIECES = st.sampled_from(
    [
        "a_b",
        "aB",
        "::",
        ".",
        "/",
        "()",
        "#1",
        "--x",
        "v1.",
        "https://",
        "deadbee1",
        "commit ",
        "[",
        "(",
        "\\",
        "@",
        "~",
    ]
)


@given(st.lists(PIECES | st.text(max_size=6)))
def test_any_text_can_be_read_and_names_are_in_it(pieces: list[str]) -> None:
    text = "".join(pieces)
    for found in (*names(text), *references(text), *paths(text)):
        assert found in text
    assert not COMMON.intersection(names(text))


@every_row(
    "piece", ["a", "a_", "a.", "a::", "a/", "a-", "#1", "--a", "1a2b3c4 ", "(a/", "[a", "@", "http://"]
)
def test_long_and_repetitive_texts_are_read(piece: str) -> None:
    text = piece * 20_000
    assert len(names(text)) <= 1
    assert len(references(text)) <= 2
    assert isinstance(paths(text), tuple)


@given(
    st.lists(st.sampled_from(["npx", "git", "npm", "run", "python", "-m", "-C", "", "x", "-"]), max_size=30)
)
def test_any_words_can_be_named(words: list[str]) -> None:
    assert isinstance(program_name(words), str)
