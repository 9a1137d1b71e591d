"""`holdfast config`: it names its file, explains a setting, and changes it without touching anything else."""

from __future__ import annotations

import tomllib

import pytest

from holdfast.settings import TABLE
from tests.cli.conftest import Person

WINDOW = "continuity.recovery_window_hours"
WRITTEN = """\
# mine, not to be lost
[continuity]   # how it goes on
prompt_interval = 7      # often

[capture]
exclude = [
  "~/private",  # the diary
]
"""


def has_settings(person: Person, text: str) -> None:
    person.home.mkdir(parents=True, exist_ok=True)
    (person.home / "config.toml").write_bytes(text.encode())


def settings_of(person: Person) -> str:
    return (person.home / "config.toml").read_bytes().decode()


def edits(person: Person, script: str) -> None:
    """The editor is a shell script that gets the file's path as `$1`."""
    editor = person.root / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    person.variables.update(EDITOR=str(editor), PATH="/usr/bin:/bin")


def test_it_names_its_file(person: Person) -> None:
    done = person.types("config")
    assert f"your settings are in {person.home / 'config.toml'}, which is not there yet" in done.err
    has_settings(person, WRITTEN)
    assert f"your settings are in {person.home / 'config.toml'}\n" in person.types("config").err
    assert person.types("config", "--json").json["file"] == str(person.home / "config.toml")


@pytest.mark.parametrize("key", TABLE)
def test_every_setting_is_explained(person: Person, key: str) -> None:
    done = person.types("config", key)
    setting = TABLE[key]
    assert done.status == 0
    assert " ".join(setting.doc.split()) in " ".join(done.out.split())
    assert f"allowed   {setting.allowed}" in done.out
    assert setting.variable in done.out


def test_an_explanation_says_where_the_value_comes_from(person: Person) -> None:
    has_settings(person, WRITTEN)
    row = person.types("config", "continuity.prompt_interval", "--json").json
    assert (row["value"], row["default"], row["lowest"], row["highest"]) == (7, 10, 1, 1000)
    assert row["source"] == str(person.home / "config.toml")
    person.variables["HOLDFAST_CONTINUITY_PROMPT_INTERVAL"] = "8"
    done = person.types("config", "continuity.prompt_interval")
    assert "continuity.prompt_interval = 8" in done.out
    assert "set by    $HOLDFAST_CONTINUITY_PROMPT_INTERVAL" in done.out


def test_a_table_is_listed_alone(person: Person) -> None:
    rows = person.types("config", "capture", "--json").json["settings"]
    assert [row["key"] for row in rows] == [key for key in TABLE if key.startswith("capture.")]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["continuty.enabled"], "continuity.enabled"),
        (["recovery_window_hours"], WINDOW),
        (["set", "recovery_window_hours", "3"], WINDOW),
        (["unset", "capture.exclud"], "capture.exclude"),
    ],
)
def test_a_mistyped_key_is_suggested(person: Person, words: list[str], meant: str) -> None:
    done = person.types("config", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith(f"did you mean `{meant}`?\n")
    assert not person.home.exists()


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", WINDOW, "12", "[continuity]\nrecovery_window_hours = 12\n"),
        (
            WRITTEN,
            "continuity.prompt_interval",
            "9",
            WRITTEN.replace("prompt_interval = 7 ", "prompt_interval = 9 "),
        ),
        (WRITTEN, WINDOW, "12", WRITTEN.replace("# often\n", "# often\nrecovery_window_hours = 12\n")),
        (WRITTEN, "recall.vectors", "false", WRITTEN + "\n[recall]\nvectors = false\n"),
        (
            WRITTEN,
            "capture.exclude",
            "~/a, b",
            WRITTEN.replace('[\n  "~/private",  # the diary\n]', '["~/a", "b"]'),
        ),
        ("[recall]\r\n# x\r\n", "recall.vectors", "true", "[recall]\r\nvectors = true\r\n# x\r\n"),
        (
            "continuity.prompt_interval = 3\n",
            WINDOW,
            "12",
            "continuity.prompt_interval = 3\ncontinuity.recovery_window_hours = 12\n",
        ),
        ("[capture]", "capture.exclude", '["a,b"]', '[capture]\nexclude = ["a,b"]\n'),
        ("# only this", WINDOW, "1", "# only this\n\n[continuity]\nrecovery_window_hours = 1\n"),
        ("[session]\ninherit = true\n", "session.inherit.enabled", "false", "[session]\ninherit = false\n"),
        ("[redact]\n", "redact.deny", "Nightjar", '[redact]\ndeny = ["Nightjar"]\n'),
    ],
)
def test_a_setting_is_written_and_every_other_byte_stays(
    person: Person, before: str, key: str, value: str, after: str
) -> None:
    has_settings(person, before)
    done = person.types("config", "set", key, value)
    assert (done.status, done.err) == (0, "")
    assert settings_of(person) == after
    tomllib.loads(after)
    source = person.types("config", key, "--json").json["source"]
    assert source == str(person.home / "config.toml")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (WINDOW, "9999", "must be a whole number from 1 to 720, not `9999`"),
        (WINDOW, "soon", "must be a whole number from 1 to 720, not `soon`"),
        ("continuity.enabled", "maybe", "must be true or false, not `maybe`"),
        ("continuity.extractor", "magic", 'must be "heuristic" or "model", not `magic`'),
        ("redact.deny", '["", "hunter2hunter2"]', "must be a list of texts that are not empty\n"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_and_nothing_is_written(
    person: Person, key: str, value: str, problem: str
) -> None:
    has_settings(person, WRITTEN)
    done = person.types("config", "set", key, value)
    assert (done.status, done.out) == (1, "")
    assert problem in done.err
    assert settings_of(person) == WRITTEN


@pytest.mark.parametrize(
    "text",
    [
        "continuity = { recovery_window_hours = 3 }\n",
        "[continuity\n",
        "[[continuity]]\nrecovery_window_hours = 3\n",
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left(person: Person, text: str) -> None:
    has_settings(person, text)
    done = person.types("config", "set", WINDOW, "5")
    assert (done.status, done.out) == (1, "")
    assert "config.toml" in done.err
    assert settings_of(person) == text


def test_unset_takes_one_line_away(person: Person) -> None:
    has_settings(person, WRITTEN)
    assert person.types("config", "unset", "continuity.prompt_interval").status == 0
    assert settings_of(person) == WRITTEN.replace("prompt_interval = 7      # often\n", "")
    again = person.types("config", "unset", "continuity.prompt_interval")
    assert (again.status, "does not set" in again.err) == (0, True)


def test_a_setting_for_one_project_goes_to_its_own_file(person: Person) -> None:
    assert person.types("config", "set", WINDOW, "5", "--project", ".").status == 0
    assert not (person.home / "config.toml").exists()
    assert person.types("config", WINDOW, "--json").json["value"] == 5
    elsewhere = person.root / "elsewhere"
    elsewhere.mkdir()
    assert person.types("config", WINDOW, "--json", cwd=elsewhere).json["value"] == 4
    refused = person.types("config", "set", "redact.deny", "x", "--project", ".")
    assert (refused.status, "for all projects or for none" in refused.err) == (1, True)


def test_what_a_variable_decides_is_said(person: Person) -> None:
    person.variables["HOLDFAST_CONTINUITY_RECOVERY_WINDOW_HOURS"] = "2"
    done = person.types("config", "set", WINDOW, "5")
    assert done.status == 0
    assert "note: $HOLDFAST_CONTINUITY_RECOVERY_WINDOW_HOURS decides it" in done.err


def test_an_edited_file_takes_its_place(person: Person) -> None:
    edits(person, """printf '[recall]\\nvectors = false\\n' >> "$1" """)
    done = person.types("config", "edit")
    assert (done.status, done.out) == (0, f"{person.home / 'config.toml'}\n")
    assert settings_of(person).startswith("# Holdfast's settings")
    assert person.types("config", "recall.vectors", "--json").json["value"] is False
    assert (person.home / "config.toml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[recall", "is not valid TOML"),
        ("[continuity]\nrecovery_window_hours = 9999", "line 2: `continuity.recovery_window_hours` must be"),
        ("[capture]\nexcluded = []", "line 2: `capture.excluded` is not a setting"),
        ("[recal]\nvectors = 1", "`recal.vectors` is not a setting"),
    ],
)
def test_an_edited_file_with_a_mistake_is_not_written(person: Person, line: str, problem: str) -> None:
    has_settings(person, WRITTEN)
    edits(person, f"cat > \"$1\" <<'END'\n{line}\nEND")
    done = person.types("config", "edit")
    assert (done.status, done.out) == (1, "")
    assert problem in done.err
    assert f"{person.home / 'config.toml'}" in done.err
    assert settings_of(person) == WRITTEN


def test_an_editor_that_fails_or_changes_nothing_changes_nothing(person: Person) -> None:
    has_settings(person, WRITTEN)
    edits(person, "exit 3")
    assert person.types("config", "edit").status == 1
    edits(person, "true")
    done = person.types("config", "edit")
    assert (done.status, done.err) == (0, "nothing was changed\n")
    del person.variables["EDITOR"]
    assert "no editor is set" in person.types("config", "edit").err
    assert settings_of(person) == WRITTEN


def test_a_change_is_told_with_the_value_that_counts_now(person: Person) -> None:
    done = person.types("config", "set", WINDOW, "12")
    assert done.out == f"{WINDOW} = 12 (set by {person.home / 'config.toml'})\n"
    assert person.types("config", "unset", WINDOW).out == f"{WINDOW} = 4 (the default)\n"
