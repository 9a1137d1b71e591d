"""Config: layers in order, bounds kept, a stranger's file harmless, the reference page up to date."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import config
from holdfast.config import Loaded, excluded, load
from holdfast.errors import ConfigError
from holdfast.settings import TABLE, Brief, Capture, Config, Continuity, Daemon
from tests.tables import every_row

ROOT = Path(__file__).resolve().parents[1]
PROJECT = "p1"


class Place:
    """The files of all layers, below one directory."""

    def __init__(self, below: Path) -> None:
        self.managed = below / "etc" / "config.toml"
        self.home = below / "home"
        self.user = self.home / "config.toml"
        self.root = below / "project"
        self.shared = self.root / "holdfast.toml"
        self.local = self.home / "projects" / PROJECT / "config.toml"
        for file in (self.managed, self.user, self.shared, self.local):
            file.parent.mkdir(parents=True, exist_ok=True)

    def load(self, **environment: str) -> Loaded:
        return load(self.home, self.root, PROJECT, {"HOME": "/home/you", **environment}, managed=self.managed)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_every_setting_has_its_default(place: Place) -> None:
    assert place.load() == Loaded(
        Config(
            Continuity(
                enabled=True,
                prompt_interval=10,
                time_interval_ms=900_000,
                max_checkpoints_per_session=50,
                retention_days=7,
                recovery_budget_chars=2000,
                recovery_window_hours=4,
            ),
            Capture(exclude=()),
            Daemon(idle_exit_minutes=120),
            Brief(total_chars=6000),
        ),
        {},
        (),
    )


def test_a_later_layer_wins_and_each_setting_names_what_set_it(place: Place) -> None:
    layers = [place.managed, place.user, place.shared, place.local]
    for number, layer in enumerate(layers, 1):
        layer.write_text(f"[continuity]\nprompt_interval = {number}\n")
        loaded = place.load()
        assert loaded.config.continuity.prompt_interval == number
        assert loaded.sources == {"continuity.prompt_interval": str(layer)}
    loaded = place.load(HOLDFAST_CONTINUITY_PROMPT_INTERVAL="9")
    assert loaded.config.continuity.prompt_interval == 9
    assert loaded.sources == {"continuity.prompt_interval": "$HOLDFAST_CONTINUITY_PROMPT_INTERVAL"}


def test_without_a_project_only_the_users_layers_count(place: Place) -> None:
    for layer in (place.shared, place.local):
        layer.write_text("[continuity]\nprompt_interval = 3\n")
    place.user.write_text("[brief]\ntotal_chars = 700\n")
    loaded = load(place.home, None, None, {}, managed=place.managed)
    assert (loaded.config.continuity.prompt_interval, loaded.config.brief.total_chars) == (10, 700)


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("[continuity]\nprompt_interval = 0", "continuity.prompt_interval", "from 1 to 1_000"),
        ("[continuity]\nprompt_interval = 1001", "continuity.prompt_interval", "from 1 to 1_000"),
        ("[continuity]\nprompt_interval = '5'", "continuity.prompt_interval", "from 1 to 1_000"),
        ("[continuity]\nprompt_interval = 5.0", "continuity.prompt_interval", "from 1 to 1_000"),
        ("[continuity]\nprompt_interval = true", "continuity.prompt_interval", "from 1 to 1_000"),
        ("[continuity]\nenabled = 1", "continuity.enabled", "true or false"),
        ("[capture]\nexclude = 'x'", "capture.exclude", "a list of texts"),
        ("[capture]\nexclude = ['a', 1]", "capture.exclude", "a list of texts"),
        ("[capture]\nexclude = ['']", "capture.exclude", "a list of texts"),
        ("[daemon]\nidle_exit_minutes = -1", "daemon.idle_exit_minutes", "from 0 to 10_080"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_key_and_range(
    place: Place, text: str, key: str, allowed: str
) -> None:
    for layer in (place.managed, place.user, place.local):
        layer.write_text(text)
        with pytest.raises(ConfigError) as caught:
            place.load()
        assert str(layer) in caught.value.message
        assert f"`{key}`" in caught.value.message
        assert allowed in caught.value.message
        assert caught.value.hint
        layer.unlink()


def test_a_file_that_is_no_toml_is_an_error_that_names_file_and_line(place: Place) -> None:
    place.user.write_text("[continuity\n")
    with pytest.raises(ConfigError, match=r"home/config\.toml is not valid TOML: .*line 1"):
        place.load()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * (1 << 20) + b"#"], ids=["not text", "too large"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(place: Place, content: bytes) -> None:
    place.user.write_bytes(content)
    with pytest.raises(ConfigError, match=r"home/config\.toml cannot be read"):
        place.load()


@pytest.mark.parametrize("text", ["[continuity]\nprompts = 5", "[weather]\nrain = true", "loose = 1"])
def test_a_key_that_is_no_setting_is_named_and_ignored(place: Place, text: str) -> None:
    place.user.write_text(text)
    loaded = place.load()
    assert loaded.config == Config()
    assert len(loaded.warnings) == 1
    assert str(place.user) in loaded.warnings[0]
    assert "is not a setting" in loaded.warnings[0]


SHARED_SETTINGS = {
    "continuity.prompt_interval",
    "continuity.time_interval_ms",
    "continuity.recovery_budget_chars",
    "capture.exclude",
}
ALL_SETTINGS = [(*setting.key.rsplit(".", 1), setting.default) for setting in TABLE.values()]


@pytest.mark.parametrize(("section", "name", "default"), ALL_SETTINGS)
def test_a_repository_may_set_what_is_harmless_and_nothing_else(
    place: Place, section: str, name: str, default: object
) -> None:
    number = str(int(default) + 1) if isinstance(default, int) else ""
    other = {bool: str(not default).lower(), int: number, str: '"x"', tuple: '["x"]'}
    place.shared.write_text(f"[{section}]\n{name} = {other[type(default)]}\n")
    loaded = place.load()
    if f"{section}.{name}" in SHARED_SETTINGS:
        assert loaded.sources == {f"{section}.{name}": str(place.shared)}
        assert loaded.warnings == ()
    else:
        assert loaded.config == Config()
        assert loaded.warnings == (
            f"{place.shared}: a repository may not set `{section}.{name}`; it is ignored",
        )


@pytest.mark.parametrize(
    "text", ["[continuity]\nprompt_interval = 0", "[continuity", "\x00", "a = " + "[" * 5000]
)
def test_a_repositorys_file_cannot_stop_anyone(place: Place, text: str) -> None:
    place.shared.write_text(text)
    loaded = place.load()
    assert loaded.config == Config()
    assert len(loaded.warnings) == 1
    assert str(place.shared) in loaded.warnings[0]


@pytest.mark.skipif(os.name == "nt", reason="there are no FIFOs, and links need a privilege")
@pytest.mark.parametrize("kind", ["fifo", "link", "directory"])
def test_a_repositorys_file_that_is_no_plain_file_is_not_read(place: Place, kind: str) -> None:
    outside = place.root.parent / "outside.toml"
    outside.write_text("[continuity]\nprompt_interval = 3\n")
    match kind:
        case "fifo":
            os.mkfifo(place.shared)
        case "link":
            place.shared.symlink_to(outside)
        case _:
            place.shared.mkdir()
    loaded = place.load()
    assert loaded.config == Config()
    assert len(loaded.warnings) == 1


def test_a_repository_adds_to_what_is_excluded_and_takes_nothing_away(place: Place) -> None:
    place.user.write_text('[capture]\nexclude = ["~/private/"]\n')
    place.shared.write_text('[capture]\nexclude = ["scratch"]\n')
    loaded = place.load()
    assert loaded.config.capture.exclude == ("/home/you/private", "scratch")
    assert loaded.sources == {"capture.exclude": f"{place.user}, {place.shared}"}


@pytest.mark.parametrize(
    ("variable", "text", "section", "name", "value"),
    [
        ("HOLDFAST_CONTINUITY_ENABLED", "false", "continuity", "enabled", False),
        ("HOLDFAST_CONTINUITY_ENABLED", "0", "continuity", "enabled", False),
        ("HOLDFAST_CONTINUITY_RETENTION_DAYS", " 30 ", "continuity", "retention_days", 30),
        ("HOLDFAST_CAPTURE_EXCLUDE", "~/a, /b/*", "capture", "exclude", ("/home/you/a", "/b/*")),
        ("HOLDFAST_CAPTURE_EXCLUDE", "", "capture", "exclude", ()),
    ],
)
def test_the_environment_sets_each_type(
    place: Place, variable: str, text: str, section: str, name: str, value: object
) -> None:
    assert getattr(getattr(place.load(**{variable: text}).config, section), name) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("HOLDFAST_CONTINUITY_ENABLED", "maybe"),
        ("HOLDFAST_CONTINUITY_RETENTION_DAYS", "seven"),
        ("HOLDFAST_CONTINUITY_RETENTION_DAYS", "-7"),
        ("HOLDFAST_CONTINUITY_RETENTION_DAYS", ""),
        ("HOLDFAST_CAPTURE_EXCLUDE", "a,,b"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(place: Place, variable: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        place.load(**{variable: text})
    assert f"${variable}" in caught.value.message


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/srv/work/secret", "/srv/work/secret"),
        ("/srv/work/secret", "/srv/work/secret/deep/er"),
        ("/srv/work/*", "/srv/work/a/b"),
        ("*/scratch-*", "/home/you/scratch-1/src"),
        ("node_modules", "/p/node_modules/x"),
        ("*.tmp", "/p/a.tmp"),
    ],
)
def test_a_path_is_excluded_by_itself_or_by_a_directory_above(pattern: str, path: str) -> None:
    assert excluded(Config(capture=Capture(exclude=("/other", pattern))), path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/srv/work/secret", "/srv/work/secretly"),
        ("/srv/work/*", "/srv/work"),
        ("node_modules", "/p/my_node_modules"),
        ("/srv/Work", "/srv/work"),
    ],
)
def test_a_path_that_no_pattern_means_is_captured(pattern: str, path: str) -> None:
    assert not excluded(Config(capture=Capture(exclude=("/other", pattern))), path)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_pattern_and_no_path_breaks_exclusion(pattern: str, path: str) -> None:
    assert excluded(Config(capture=Capture(exclude=(pattern,))), path) in {True, False}
    assert not excluded(Config(), path)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HOLDFAST_HOME": "/srv/hf", "HOME": "/home/you"}, "/srv/hf"),
        ({"HOLDFAST_HOME": "~/hf", "HOME": "/home/you"}, "/home/you/hf"),
        ({"HOLDFAST_HOME": "", "HOME": "/home/you"}, "/home/you/.holdfast"),
        ({"HOME": "/home/you"}, "/home/you/.holdfast"),
    ],
)
def test_the_home_is_where_the_environment_says(environment: dict[str, str], expected: str) -> None:
    assert config.home(environment) == Path(expected)


def test_the_reference_page_is_what_the_code_says() -> None:
    page = (ROOT / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
    assert page == config.reference(), "run `python -m holdfast.config > docs/reference/config.md`"


@every_row(("section", "name", "default"), ALL_SETTINGS)
def test_the_reference_page_describes_every_setting(section: str, name: str, default: object) -> None:
    assert f"## `{section}.{name}`\n" in config.reference()
