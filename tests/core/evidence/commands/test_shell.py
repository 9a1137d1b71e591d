"""Commands are read as a person reads them: which files they change, what they are called, how they look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action
from holdfast.core.evidence.commands.shell import (
    ProgramCall,
    calls,
    display_form,
    edits,
    normal_form,
    program,
    reads,
)
from holdfast.core.evidence.patches import FileChange
from tests.tables import every_row

EDIT, WRITE, DELETE = Action.EDIT, Action.WRITE, Action.DELETE


def edited(*paths: str) -> tuple[FileChange, ...]:
    return tuple(FileChange(path, EDIT) for path in paths)


def written(*paths: str) -> tuple[FileChange, ...]:
    return tuple(FileChange(path, WRITE) for path in paths)


def deleted(*paths: str) -> tuple[FileChange, ...]:
    return tuple(FileChange(path, DELETE) for path in paths)


@every_row(
    ("command", "changes"),
    [
        ("sed -i 's/a/b/' src/x.py src/y.py", edited("src/x.py", "src/y.py")),
        ("sed -i '' -e 's/a > b/c/' x.py", edited("x.py")),
        ("sed -i.bak -E 's/a/b/' x.py", edited("x.py")),
        ("sed -n '1,80p' x.py", ()),
        ("perl -0pi -e 's/a\\n/b/' x.py", edited("x.py")),
        ("perl -MFile::Find -e 'print 1' x.py", ()),
        ("echo hi > out.txt", written("out.txt")),
        ("echo hi >>notes.md 2>&1", edited("notes.md")),
        ("make &> build.log", written("build.log")),
        ("make | tee -a build.log", edited("build.log")),
        ("make 2>&1 | tee build.log | tail -5", written("build.log")),
        ("cat > src/new.py <<'EOF'\nif a > b:\n    print('it')\nEOF", written("src/new.py")),
        ("cat <<-EOF > a.md\n\tx > y\n\tEOF\nrm b.md", (*written("a.md"), *deleted("b.md"))),
        ("git mv a.py b.py", (FileChange("a.py", EDIT, "b.py"),)),
        ("mv a.py src/", (FileChange("a.py", EDIT, "src/a.py"),)),
        (
            "mv a.py b.py lib",
            (FileChange("a.py", EDIT, "lib/a.py"), FileChange("b.py", EDIT, "lib/b.py")),
        ),
        ("mv src/app lib/app", (FileChange("src/app", EDIT, "lib/app"),)),
        ("cp -r .env.example .env", written(".env")),
        ("cp a.svg assets/", written("assets/a.svg")),
        ("rm -rf build dist *.egg-info", deleted("build", "dist")),
        ("git rm -r --cached vendor", ()),
        ("git -C web rm old.ts", deleted("web/old.ts")),
        ("touch -t 202401010000 a.py", written("a.py")),
        ("cd web && npm i && rm src/a.ts", deleted("web/src/a.ts")),
        ("cd /repo/web && (cd ../api && rm x.py) && rm y.ts", deleted("/repo/api/x.py", "/repo/web/y.ts")),
        ('cd "$DIR" && rm x.py /repo/y.py', deleted("/repo/y.py")),
        ("sudo -u app env A=1 timeout 5 rm x.py", deleted("x.py")),
        ("bash -lc 'cd src && touch a.py'", written("src/a.py")),
        ("if true; then rm a.py; fi", deleted("a.py")),
        ("rm 'a file.txt' b\\ c.txt", deleted("a file.txt", "b c.txt")),
        ("cat > app/[id]/page.tsx <<EOF\nx\nEOF", written("app/[id]/page.tsx")),
    ],
)
def test_file_changes_are_seen_in_a_command(command: str, changes: tuple[FileChange, ...]) -> None:
    assert edits(command) == changes


@every_row(
    "command",
    [
        "ls > /dev/null 2>&1",
        "echo hi >&2",
        "echo hi > $OUT",
        'echo hi > "$(mktemp)"',
        "diff <(sort a) <(sort b)",
        "tee >(wc -l) < a.txt",
        "echo 'a > b' \"c > d\"",
        "git commit -m \"$(cat <<'EOF'\nuse x > y, don't rm z\nEOF\n)\"",
        "awk '$1 > 5' a.txt",
        "[[ $a > b ]] && ls",
        "echo hi > /tmp/note.md",
        "cd /tmp && touch x",
        "rm *.pyc",
        "rg -n 'rm -rf' src # rm a.py",
        "python -c 'x = 1 << 3'",
        "rm",
        "",
    ],
)
def test_what_is_no_file_change_is_not_seen_as_one(command: str) -> None:
    assert edits(command) == ()


def test_every_file_of_a_patch_in_a_command_is_seen_from_where_it_began() -> None:
    command = (
        "cd web && apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y > z\n"
        "*** Add File: b.ts\n+x\n*** End Patch\nPATCH\nrm c.ts"
    )
    assert edits(command) == (*edited("web/a.ts"), *written("web/b.ts"), *deleted("web/c.ts"))


def test_a_project_among_temporary_files_keeps_its_files() -> None:
    assert edits("cd /tmp/work && touch x", "/tmp/work") == written("/tmp/work/x")


@every_row(
    ("command", "name"),
    [
        ("git commit -m 'x'", "git commit"),
        ("git -C web --no-pager log -3", "git log"),
        ("git add -A && git commit -m 'x'", "git commit"),
        ("npm run build -- --watch", "npm run build"),
        ("cd web && CI=1 npm test | tail -5", "npm test"),
        ("pnpm --filter @x/web test:unit", "pnpm test:unit"),
        (".venv/bin/python -m pytest tests -q", "python -m pytest"),
        ("uv run pytest tests/x.py", "uv run pytest"),
        ("uv run --extra dev python -m pytest", "uv run python -m pytest"),
        ("cargo +nightly test --all", "cargo test"),
        ("docker compose -f dev.yml up -d", "docker compose up"),
        ("sudo timeout 60 pytest -x", "pytest"),
        ("time make -j8 check", "make check"),
        ("npx --yes tsc --noEmit", "npx tsc"),
        ("python3 scripts/load.py --all", "python3 scripts/load.py"),
        ("python - <<'EOF'\nimport os\nEOF", "python"),
        ("bash -c 'cd x && go test ./...'", "go test"),
        ("kubectl -n prod get pods", "kubectl get"),
        ("gh pr create --fill", "gh pr create"),
        ("./scripts/check.sh --fast", "./scripts/check.sh"),
        ("echo start && mix test", "mix test"),
        ("mkdir -p build", "mkdir"),
        ("cd src", "cd"),
        ("$RUNNER test", ""),
        ("", ""),
    ],
)
def test_a_program_is_called_what_a_person_calls_it(command: str, name: str) -> None:
    assert program(command) == name


@every_row(
    ("command", "text"),
    [
        ("cd /repo/web && npm test 2>&1 | tail -50", "npm test"),
        ("cd web && npm test", "cd web && npm test"),
        ("pytest -q 2>&1 | head -20 | cat", "pytest -q"),
        ("make lint 2>&1 && make test 2>&1", "make lint && make test"),
        ("rg -n 'a | tail' src", "rg -n 'a | tail' src"),
        ("cat > x.md <<'EOF'\n# Title\n\nlong text\nEOF", "cat > x.md <<EOF…"),
        ("python - <<EOF | tail -3\nprint(1)\nEOF", "python - <<EOF…"),
        ("npm ci \\\n  --quiet || true", "npm ci --quiet"),
        ("tail -5 a.log", "tail -5 a.log"),
        ("(cd /repo && make | tail -1)", "(cd /repo && make | tail -1)"),
        ("cd /repo\n\n# build it\nnpm run build\ngit push", "npm run build; git push"),
        ("# what is there\nmake all # of it", "make all"),
        ("make &&\n  npm test |\n  tail -3\n", "make && npm test"),
        ("for f in a b; do\n  make $f\ndone\nls", "for f in a b; do make $f; done; ls"),
        ("cat > x.md <<'EOF'\n# Title\nEOF\ngit push", "cat > x.md <<EOF…; git push"),
        ('git commit -m "one\n\n# two"\ngit push', 'git commit -m "one # two"; git push'),
        ("echo a#b", "echo a#b"),
        ("", ""),
    ],
)
def test_a_command_is_shown_without_what_hides_it(command: str, text: str) -> None:
    assert display_form(command, 200) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest -q", "cd /repo && pytest -q 2>&1 | tail -20"),
        ("pytest  -q", "pytest -q"),
        ("go test ./...", "cd api && go test ./... 2>&1 | grep FAIL"),
        ("npm test", "npm test 2>/dev/null || true"),
        ("make check", "cd a; cd b && make check | tee out.log"),
        ("mix test", "mix test 2>&1 | grep -A 20 'FAIL\\|panic' | head"),
        ("python - <<EOF\nprint(1)\nEOF", "cd x && python - <<'EOF'\nprint(1)\nEOF"),
        ("cargo test", "cargo test \n"),
    ],
)
def test_two_runs_of_one_check_are_the_same(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("python - <<EOF\nprint(1)\nEOF", "python - <<EOF\nprint(2)\nEOF"),
        ("npm test && npm run lint", "npm test"),
        ("rg 'x | tail'", "rg 'x'"),
    ],
)
def test_two_different_checks_are_not_the_same(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


PIECES = st.sampled_from(
    ["cd a && ", "rm ", "'", '"', "$(", ")", "`", "<<EOF\n", "\nEOF\n", " > ", ">>", "|", ";", "\\", "{",
     "x ", "-i ", "bash -c ", "npx ", "sed ", "mv ", "git ", "-C ", "[[", "#", "\n", "=", "${", "<(", "A=1 "]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=60))
def test_any_text_can_be_read_as_a_command(pieces: list[str]) -> None:
    command = "".join(pieces)
    assert all(change.path for change in edits(command))
    assert "\n" not in display_form(command, 80)
    assert len(display_form(command, 80)) <= 80
    assert isinstance(program(command), str)
    assert "\n" not in normal_form(command)


@pytest.mark.parametrize(
    "piece", ["cd a && ", "x=1 ", "npx ", '"$(', "'", "<<EOF\n", "( ", "a > b ", "{,", "bash -c '"]
)
def test_long_and_repetitive_commands_are_read(piece: str) -> None:
    command = piece * 5_000
    assert isinstance(edits(command), tuple)
    assert isinstance(program(command), str)
    assert len(display_form(command, 100)) <= 100
    assert isinstance(normal_form(command), str)


@every_row(
    ("command", "ran"),
    [
        ("git log --oneline -3 | head", [("git log", "git log --oneline -3")]),
        ("cd /x && bun run build 2>&1", [("bun run build", "bun run build")]),
        (
            "mix compile --warnings-as-errors && mix credo --strict lib/app/services/the_registry.ex",
            [("mix compile", "mix compile --warnings-as-errors"), ("mix credo", "mix credo --strict …")],
        ),
        ('bash -lc "cargo test --all"', [("cargo test", "cargo test --all")]),
        ('git commit -m "$(cat <<EOF\nfix\nEOF\n)"', [("git commit", "git commit -m …")]),
        (
            "bd show task-7 && bd close task-7",
            [("bd show", "bd show task-7"), ("bd close", "bd close task-7")],
        ),
        (
            "pnpm --filter @acme/the-report-with-a-long-name build",
            [("pnpm build", "pnpm --filter … build")],
        ),
        (
            "go test -tags=integration,e2e -v -run TestResume_SessionLogAlreadyExists ./cmd",
            [("go test", "go test -tags -v -run … ./cmd")],
        ),
        (
            f"prettier {' '.join(f'src/{n}.ts' for n in range(9_999))}",
            [("prettier", "prettier … src/7.ts src/8.ts src/9.ts …")],
        ),
        ("git commit -m 'Mend the reader'", [("git commit", "git commit -m 'Mend the reader'")]),
        ("tmux kill-session -t '$21'", [("tmux kill-session", "tmux kill-session -t '$21'")]),
        ('git commit -m "it\'s all there"', [("git commit", "git commit -m …")]),
        ("ls -la | grep x; echo done; sed -n 1,20p a.py; git mv a b", []),
        # Refused by the shell, and still no program is called like a folder.
        ("npx eslint app/(shop)/cart.ts", [("npx eslint", "npx eslint app/(shop)/cart.ts")]),
    ],
)
def test_the_programs_of_a_command_are_reported_as_they_were_called(
    command: str, ran: list[tuple[str, str]]
) -> None:
    assert [(call.program, call.form) for call in calls(command, 40)] == ran


def test_a_long_call_is_reported_by_its_options() -> None:
    command = "terraform apply -var-file=production/eu-west/main.tfvars -auto-approve"
    assert calls(command, 40) == (ProgramCall("terraform apply", "terraform apply -var-file -auto-approve"),)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat src/a.py", ["src/a.py"]),
        ("sed -n '1,40p' src/a.py && nl -ba src/b.py | head -5", ["src/a.py", "src/b.py"]),
        ("sed -i s/a/b/ src/a.py", []),
        ("cat > src/a.py <<EOF\nx\nEOF", []),
        ("cat $FILE src/*.py", []),
        ("cd /app/src && cat a.py b/c.py", ["/app/src/a.py", "/app/src/b/c.py"]),
        ("cd src && (cd lib && cat a.py); cat b.py", ["src/lib/a.py", "src/b.py"]),
        ("cd $WHERE && cat a.py /app/b.py", ["/app/b.py"]),
        ("bash -lc 'cd src && cat a.py'", ["src/a.py"]),
        ("cat README.md /tmp/log.txt", []),
    ],
)
def test_the_files_that_a_command_shows_are_read(command: str, files: list[str]) -> None:
    assert [change.path for change in reads(command)] == files
    assert {change.action for change in reads(command)} <= {Action.READ}
