"""Setup and unsetup: every file is changed as planned, and restored without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.install_request import WantedCopy, WantedEntry
from holdfast.errors import HoldfastError, ManifestUnreadable, SettingsUnreadable
from holdfast.files import install
from holdfast.files.install import ExcludedLine, Plan, Report, Role, Verb, read_manifest, without_exclusion
from tests.files.settings_texts import EVENTS, entry, settings_texts, value_of

NOON = 1_700_000_000_000
HOOK_CODE = b"print('hook')\n"


class Person:
    """Someone with a home, a harness in it, and Holdfast in both."""

    def __init__(self, home: Path) -> None:
        self.ours = home / ".holdfast"
        self.settings = home / ".some" / "settings.json"
        self.hook = install.hook_path(self.ours)

    def command(self, interpreter: str = "python3.12") -> str:
        return f"{interpreter} -I -S -c \"p='{self.hook}'\""

    def entries(self, interpreter: str = "python3.12") -> list[WantedEntry]:
        return [entry(event, self.command(interpreter), self.settings) for event in EVENTS]

    def plan(self, interpreter: str = "python3.12", now_ms: int = NOON) -> Plan:
        copies = [WantedCopy(self.hook, HOOK_CODE)]
        return install.plan_setup(self.entries(interpreter), copies, self.ours, now_ms)

    def setup(self, interpreter: str = "python3.12", now_ms: int = NOON) -> Report:
        return install.apply(self.plan(interpreter, now_ms))

    def unsetup(self) -> Report:
        return install.unsetup(self.ours)

    def writes(self, text: str) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_bytes(text.encode())

    def reads(self) -> str:
        return self.settings.read_bytes().decode()

    def hooks_of_ours(self) -> list[str]:
        """The events whose list ends with our entry, as it is wanted."""
        hooks = value_of(self.reads())["hooks"]
        return [one.path[1] for one in self.entries() if one.value in hooks.get(one.path[1], [])]

    def everything(self) -> dict[str, bytes | None]:
        """Every file and folder of the home, by name."""
        home = self.ours.parent
        return {
            str(path.relative_to(home)): path.read_bytes() if path.is_file() else None
            for path in sorted(home.rglob("*"))
            if path != self.ours
        }


@pytest.fixture
def ann(tmp_path: Path) -> Person:
    return Person(tmp_path)


TEXTS = [
    "{}",
    '{"model":"m"}',
    '{\n\t"b": 1,\n\t"a": [1.50, 2e0],\n\t"b": 2\n}\n\n',
    '\ufeff{\r\n  "hooks": {\r\n    "Stop": [ ]\r\n  }\r\n}\r\n',
    '{"hooks": {"SessionStart": [{"matcher": "x", "hooks": [{"type": "command", "command": "theirs"}]}]}}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_unsetup_leaves_every_byte_and_every_folder_as_before(ann: Person, text: str) -> None:
    ann.writes(text)
    before = ann.everything()
    done = ann.setup()
    assert [(one.path, one.verb) for one in done.changes] == [
        (ann.hook, Verb.CREATED),
        (ann.settings, Verb.CHANGED),
    ]
    assert ann.hooks_of_ours() == [*EVENTS]
    undone = ann.unsetup()
    assert [(one.path, one.verb) for one in undone.changes] == [
        (ann.settings, Verb.CHANGED),
        (ann.hook, Verb.REMOVED),
    ]
    assert undone.left == ()
    assert ann.everything() == before


@pytest.mark.parametrize("made", [[], [".some"]], ids=["no folder", "an empty folder"])
def test_settings_that_were_not_there_are_not_there_afterwards(ann: Person, made: list[str]) -> None:
    for folder in made:
        (ann.ours.parent / folder).mkdir()
    before = ann.everything()
    ann.setup()
    assert ann.hooks_of_ours() == [*EVENTS]
    ann.unsetup()
    assert ann.everything() == before


@given(text=settings_texts(), done=st.integers(0, 5), again=st.booleans())
def test_a_setup_that_died_half_way_can_be_undone_or_finished(
    tmp_path_factory: pytest.TempPathFactory, text: str, done: int, *, again: bool
) -> None:
    ann = Person(tmp_path_factory.mktemp("home"))
    ann.writes(text)
    install.apply(Plan(ann.plan().changes[:done]))
    if again:
        ann.setup(now_ms=NOON + 1)
        assert ann.hooks_of_ours() == [*EVENTS]
    ann.unsetup()
    assert ann.reads() == text
    assert not ann.hook.exists()


@pytest.mark.parametrize("again", [False, True], ids=["undone", "finished first"])
def test_a_setup_that_died_before_the_settings_leaves_an_empty_list_of_the_user(
    ann: Person, *, again: bool
) -> None:
    text = '{"hooks": {"Stop": []}, "hooks": {}}'
    ann.writes(text)
    install.apply(Plan(ann.plan().changes[:3]))
    if again:
        ann.setup(now_ms=NOON + 1)
    ann.unsetup()
    assert ann.reads() == text


def test_setup_twice_writes_nothing_the_second_time(ann: Person) -> None:
    ann.writes(TEXTS[1])
    ann.setup()
    once = ann.everything()
    again = ann.plan(now_ms=NOON + 1)
    assert {change.verb for change in again.changes} == {Verb.UNCHANGED}
    assert install.diff(again) == ""
    install.apply(again)
    assert ann.everything() == once


def test_what_is_ours_is_for_the_owner_alone(ann: Person) -> None:
    ann.writes("{}")
    ann.setup()
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (ann.ours, *ann.ours.rglob("*"))}
    assert modes == {True: 0o700, False: 0o600}
    assert len([*ann.ours.rglob("*")]) == 5


# ---------------------------------------------------------------- others write too


def test_what_others_wrote_since_setup_stays(ann: Person) -> None:
    ann.writes('{"model": "m"}')
    ann.setup()
    ann.writes(ann.reads().replace('"m"', '"n"'))
    assert [path.name.partition("-")[0] for path in ann.unsetup().left] == [str(NOON)]
    assert ann.reads() == '{"model": "n"}'


def test_a_file_that_we_made_stays_if_others_wrote_into_it(ann: Person) -> None:
    ann.setup()
    ann.writes(ann.reads().replace("{", '{\n  "model": "m",', 1))
    ann.unsetup()
    assert ann.reads() == '{\n  "model": "m"\n}\n'


def test_a_new_interpreter_renews_our_entries_and_keeps_the_first_backup(ann: Person) -> None:
    ann.writes(TEXTS[2])
    ann.setup("python3.11")
    kept = [path.read_bytes() for path in (ann.ours / "backups").iterdir()]
    ann.setup(now_ms=NOON + 1)
    assert ann.hooks_of_ours() == [*EVENTS]
    assert "python3.11" not in ann.reads()
    assert [path.read_bytes() for path in (ann.ours / "backups").iterdir()] == kept == [TEXTS[2].encode()]
    ann.unsetup()
    assert ann.reads() == TEXTS[2]


def test_a_second_setup_never_lets_the_first_backup_undo_what_others_wrote(ann: Person) -> None:
    ann.writes('{"model": "m"}')
    ann.setup("python3.11")
    ann.writes(ann.reads().replace('"m"', '"n"'))
    ann.setup(now_ms=NOON + 1)
    ann.unsetup()
    assert ann.reads() == '{"model": "n"}'


def test_an_entry_that_is_no_longer_wanted_goes_at_the_next_setup(ann: Person) -> None:
    ann.writes('{"model": "m"}')
    ann.setup()
    install.setup(ann.entries()[:1], [], ann.ours, NOON + 1)
    assert ann.hooks_of_ours() == [EVENTS[0]]
    assert [*value_of(ann.reads())["hooks"]] == [EVENTS[0]]
    ann.unsetup()
    assert ann.reads() == '{"model": "m"}'


def test_entries_are_known_again_when_the_manifest_is_lost(ann: Person) -> None:
    ann.writes('{"model": "m"}')
    ann.setup("python3.11")
    (ann.ours / "manifest.json").unlink()
    ann.setup(now_ms=NOON + 1)
    assert len(value_of(ann.reads())["hooks"]["Stop"]) == 1
    ann.unsetup()
    assert ann.reads() == '{"model": "m"}'


def test_settings_deleted_by_the_user_are_made_anew_and_go_again(ann: Person) -> None:
    before = ann.everything()
    ann.setup()
    ann.settings.unlink()
    ann.setup(now_ms=NOON + 1)
    assert ann.hooks_of_ours() == [*EVENTS]
    ann.unsetup()
    assert ann.everything() == before


def test_unsetup_brings_back_nothing_that_the_user_deleted(ann: Person) -> None:
    ann.writes("{}")
    ann.setup()
    ann.settings.unlink()
    assert [one.verb for one in ann.unsetup().changes] == [Verb.UNCHANGED, Verb.REMOVED]
    assert not ann.settings.exists()


def test_a_damaged_backup_is_not_put_back(ann: Person) -> None:
    ann.writes('{"model": "m"}')
    ann.setup()
    for backup in (ann.ours / "backups").iterdir():
        backup.write_bytes(b"damaged")
    ann.unsetup()
    assert ann.reads() == '{"model": "m"}'


def test_a_copy_that_someone_changed_is_left_and_named(ann: Person) -> None:
    ann.setup()
    ann.hook.write_bytes(b"mine now")
    assert ann.unsetup().left == (ann.hook,)
    assert ann.hook.read_bytes() == b"mine now"


def test_a_copy_elsewhere_is_renewed_unless_someone_changed_it(ann: Person) -> None:
    plugin = ann.ours.parent / "plugin.js"
    for content in (b"old", b"new"):
        done = install.setup((), [WantedCopy(plugin, content)], ann.ours, NOON)
        assert (plugin.read_bytes(), done.left) == (content, ())
    plugin.write_bytes(b"mine now")
    done = install.setup((), [WantedCopy(plugin, b"newer")], ann.ours, NOON)
    assert (plugin.read_bytes(), done.changes, done.left) == (b"mine now", (), (plugin,))
    assert ann.unsetup().left == (plugin,)


def test_settings_behind_a_link_are_edited_where_they_are(ann: Person, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_text(TEXTS[1])
    ann.settings.parent.mkdir()
    ann.settings.symlink_to(dotfiles)
    ann.setup()
    assert ann.hooks_of_ours() == [*EVENTS]
    ann.unsetup()
    assert ann.settings.is_symlink()
    assert dotfiles.read_text() == TEXTS[1]


def test_our_own_file_moved_behind_a_link_is_emptied_and_not_unlinked(ann: Person, tmp_path: Path) -> None:
    ann.setup()
    ann.settings.rename(tmp_path / "dotfiles.json")
    ann.settings.symlink_to(tmp_path / "dotfiles.json")
    ann.unsetup()
    assert ann.settings.is_symlink()
    assert ann.reads() == "{}\n"


def test_one_of_two_settings_files_can_be_undone_alone(ann: Person, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    ann.writes("{}")
    both = [*ann.entries(), entry("Stop", ann.command(), other)]
    install.setup(both, [WantedCopy(ann.hook, HOOK_CODE)], ann.ours, NOON)
    install.apply(install.plan_unsetup(ann.ours, [other]))
    assert other.read_text() == "{}"
    assert ann.hooks_of_ours() == [*EVENTS]
    assert ann.hook.exists()
    ann.unsetup()
    assert ann.reads() == "{}"
    assert [*ann.ours.iterdir()] == []


# ---------------------------------------------------------------- what is refused, and what is shown


@pytest.mark.parametrize(
    "content", [b"{ /* mine\n}", b"", b"{}}", b"\xff\xfe{\x00}\x00", b'{"hooks": 1}', b'{"a": "\xe9"}']
)
def test_unreadable_settings_are_refused_and_nothing_is_written_anywhere(ann: Person, content: bytes) -> None:
    ann.writes("")
    ann.settings.write_bytes(content)
    before = ann.everything()
    with pytest.raises(SettingsUnreadable, match=str(ann.settings)):
        ann.setup()
    assert ann.everything() == before
    assert not ann.ours.exists()


def test_settings_that_became_unreadable_stop_unsetup_before_it_begins(ann: Person) -> None:
    ann.writes("{}")
    ann.setup()
    ann.writes("{,}")
    before = ann.everything()
    with pytest.raises(SettingsUnreadable, match="line 1, column 2"):
        ann.unsetup()
    assert ann.everything() == before


def test_a_file_that_changed_after_the_plan_is_not_overwritten(ann: Person) -> None:
    ann.writes("{}")
    plan = ann.plan()
    ann.writes('{"model": "m"}')
    before = ann.everything()
    with pytest.raises(HoldfastError, match="changed in the meantime"):
        install.apply(plan)
    assert ann.everything() == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[]", "cannot be read"),
        (b'{"version": "one"}', "cannot be read"),
        (b'{"version": 1, "edited": [{}]}', "cannot be read"),
        (b'{"version": 1, "copied": [{"path": 3, "sha256": ""}]}', "cannot be read"),
        (b'{"version": 2, "edited": {}}', "has version 2; this Holdfast reads 1"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(ann: Person, content: bytes, why: str) -> None:
    ann.ours.mkdir()
    (ann.ours / "manifest.json").write_bytes(content)
    ann.writes("{}")
    for act in (ann.setup, ann.unsetup):
        with pytest.raises(ManifestUnreadable, match=why):
            act()
    assert ann.reads() == "{}"


def test_unsetup_without_a_setup_does_nothing(ann: Person) -> None:
    ann.writes("{}")
    assert ann.unsetup() == Report((), ())
    assert ann.reads() == "{}"
    assert not ann.ours.exists()


def test_a_plan_shows_the_change_and_makes_none(ann: Person) -> None:
    ann.writes('{"model":"m"}')
    plan = install.plan_setup([entry("Stop", "x", ann.settings)], [], ann.ours, NOON)
    group = '{"hooks":[{"type":"command","command":"x","timeout":5}]}'
    assert install.diff(plan).splitlines() == [
        f"--- {ann.settings}",
        f"+++ {ann.settings}",
        "@@ -1 +1 @@",
        '-{"model":"m"}',
        "\\ No newline at end of file",
        '+{"model":"m","hooks":{"Stop":[' + group + "]}}",
        "\\ No newline at end of file",
    ]
    assert [one.role for one in plan.changes] == [Role.RECORD, Role.RECORD, Role.SETTINGS]
    assert ann.everything() == {".some": None, ".some/settings.json": b'{"model":"m"}'}


BEFORE = [None, b"", b"# git\n", b"*.pyc", b"*.pyc\r\n", b"a\n\n"]


@pytest.mark.parametrize("before", BEFORE)
def test_unsetup_leaves_the_bytes_that_were_there(tmp_path: Path, before: bytes | None) -> None:
    home, file = tmp_path / "home", tmp_path / "repo/.git/info/exclude"
    (tmp_path / "repo/.git").mkdir(parents=True)
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before)
    assert install.add_exclusion(home, file, "/.holdfast/")
    assert install.add_exclusion(home, file, "/.agents/session_ledger.md")
    assert not install.add_exclusion(home, file, "/.holdfast/"), "once is enough"
    lines = file.read_text().splitlines()
    assert {"/.holdfast/", "/.agents/session_ledger.md"} <= set(lines)
    install.unsetup(home)
    assert (file.read_bytes() if file.exists() else None) == before
    assert file.parent.exists() == (before is not None)
    assert not (home / "manifest.json").exists()


def test_a_line_that_was_there_before_us_stays(tmp_path: Path) -> None:
    file = tmp_path / "exclude"
    file.write_bytes(b"/.holdfast/\n")
    assert not install.add_exclusion(tmp_path / "home", file, "/.holdfast/")
    install.unsetup(tmp_path / "home")
    assert file.read_bytes() == b"/.holdfast/\n"


def test_what_others_wrote_since_stays(tmp_path: Path) -> None:
    file = tmp_path / "exclude"
    file.write_bytes(b"*.pyc")
    install.add_exclusion(tmp_path / "home", file, "/.holdfast/")
    file.write_bytes(file.read_bytes() + b"mine\n")
    install.unsetup(tmp_path / "home")
    assert file.read_bytes() == b"*.pyc\nmine\n"


def test_a_repository_that_is_gone_needs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "repo" / "exclude"
    install.add_exclusion(tmp_path / "home", file, "/.holdfast/")
    file.unlink()
    file.parent.rmdir()
    install.unsetup(tmp_path / "home")
    assert not file.parent.exists()


def test_setup_keeps_what_the_manifest_tells_of_git(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "exclude"
    install.add_exclusion(home, file, "/.holdfast/")
    install.setup([], [], home, 0)
    assert [line.pattern for line in read_manifest(home).excluded] == ["/.holdfast/"]


EXCLUDE_TEXTS = st.lists(st.sampled_from(["", "*.pyc", "# word", " x"]), max_size=4)


@given(lines=EXCLUDE_TEXTS, ended=st.booleans())
def test_what_is_added_and_taken_back_is_as_before(lines: list[str], *, ended: bool) -> None:
    before = ("\n".join(lines) + ("\n" if ended else "")).encode()
    cut = before != b"" and not before.endswith(b"\n")
    after = before + (b"\n" if cut else b"") + b"/ours\n"
    assert without_exclusion(after, ExcludedLine(Path("exclude"), "/ours", made=False, cut=cut)) == before
