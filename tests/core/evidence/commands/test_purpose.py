"""What a command line is run for: to do something, to check it behind a filter, or only to look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.commands.purpose import Purpose, final_search, purpose_of
from tests.tables import every_row


@every_row(
    "command",
    [
        "npm run build -w web 2>&1 | tail -5",
        "npx tsc --noEmit --pretty | head -30",
        "cd /app && npx tsgo --noEmit 2>&1 | head",
        "npm run check 2>&1 | grep -E 'error|warn' | head -20",
        "mise run lint 2>&1 | tail -20",
        "cargo clippy 2>&1 | tee clippy.log",
        "make -j8 2>&1 | sed -n 1,40p",
        "./gradlew assembleDebug | tail -40",
        "bash -lc 'npm run lint | tail -3'",
        "npx eslint src || true",
        "go vet ./... || echo failed",
        "npm run typecheck; echo done",
        "npm run build\necho $?",
        "(cd web && npm run build) 2>&1 | tail -3",
        "npm run build | tail -5 && git status --short",
        "CI=1 pnpm -r build 2>&1 | awk 'NR<40'",
        "python3 -m compileall -q . | tail -3",
    ],
)
def test_a_check_behind_a_filter_does_not_say_by_its_status_how_it_went(command: str) -> None:
    assert purpose_of(command) is Purpose.CHECK


@every_row(
    "command",
    [
        "ls missing",
        "cd src && echo there",
        "sed -n '1,80p' src/a.ts",
        "cd src && grep -rn frobnicate . | head -20",
        "cat a.py 2>/dev/null || echo none",
        "find . -name '*.py' | xargs grep -l frobnicate",
        "git -C /app show HEAD:a.py | nl -ba | sed -n 1,20p",
        "git status && git log --oneline -3 && git branch --show-current",
        "git diff main -- tests/check.py > /dev/null",
        "npm run build --help",
        "bash -lc 'rg -n x src'",
        "for f in a.py b.py; do wc -l $f; done",
        "which node && node --version",
        "gh pr view 12 --json title",
        "test -f dist/build.js",
        "tmux capture-pane -pt work:0 -S -80",
        "curl -sSL -H 'Accept: application/json' https://api.example.org/items | jq '.[].id'",
        "node -e \"console.log(require('./package.json').version)\"",
        "cd web && npx tsx -e \"import { root } from './src/paths'; console.log(root())\"",
        "python3 -c 'import reader; print(reader.__file__)'",
    ],
)
def test_what_only_shows_or_searches_is_a_look(command: str) -> None:
    assert purpose_of(command) is Purpose.LOOK


@every_row(
    "command",
    [
        "npm run build",
        "cd web && npm run build && npm test",
        "npm run lint || npm run lint:fix",
        "make test | ./summarize",
        "git push 2>&1 | tail -3",
        "node print.js | head",
        "docker logs build | tail -20",
        "npm run build | tail -3; cat docs/errors.md",
        "sed -i s/a/b/ a.py",
        "cat > build.sh <<'EOF'\nmake\nEOF",
        "grep x a.py > found.txt",
        "find . -name '*.pyc' -delete",
        "find . -name '*.log' | xargs rm",
        "ls\nmake test",
        "git branch -D old",
        "mkdir build",
        "tmux kill-session -t work",
        "curl -X POST https://api.example.org/items",
        "curl -sSLo lexer.tgz https://example.org/lexer.tgz",
        'python3 -c \'open("a.txt", "w").close()\'',
        "node -e \"require('fs').writeFileSync('a', 'b')\"",
        "perl -0pi -e 's/a/b/' a.py",
        "node serve.js",
        "",
    ],
)
def test_everything_else_is_to_do_something(command: str) -> None:
    assert purpose_of(command) is Purpose.DO


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("make | grep -i error", ("grep", "-i", "error")),
        ("git -C /app grep -n x", ("git", "grep", "-n", "x")),
        ("ls | xargs grep -l x", ("grep", "-l", "x")),
        ("rg x && make", ()),
        ("", ()),
    ],
)
def test_the_search_at_the_end_is_found(command: str, words: tuple[str, ...]) -> None:
    assert final_search(command) == words


@given(st.text("ab-|&;<>()'\"\n $gitxargs/", max_size=40))
def test_any_command_line_has_an_aim(command: str) -> None:
    assert purpose_of(command) in Purpose
    assert isinstance(final_search(command), tuple)
