"""Setup and unsetup over files of every language at once: merged, and gone again without a trace."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.install_request import InstallEntry, Json, WantedBlock, WantedCopy, WantedMember
from holdfast.files import install
from holdfast.files.install import Report
from tests.files.settings_texts import entry, settings_texts
from tests.files.test_toml_text import texts as toml_texts

NOON = 1_700_000_000_000


class Person:
    """Someone with a harness that has hooks in JSON, servers in TOML and instructions in Markdown."""

    def __init__(self, home: Path) -> None:
        self.ours = home / ".holdfast"
        self.folder = home / ".some"
        self.hooks, self.config = self.folder / "hooks.json", self.folder / "config.toml"
        self.instructions = self.folder / "AGENTS.md"

    @property
    def relay(self) -> str:
        return str(self.ours / "bin" / "relay.py")

    def wanted(self, python: str = "python3.12") -> list[InstallEntry]:
        hook = install.hook_path(self.ours)
        server: dict[str, Json] = {"command": python, "args": ["-I", self.relay]}
        return [
            entry("Stop", f"{python} -c \"p='{hook}'\"", self.hooks),
            WantedMember(self.config, ("servers", "ours"), server, self.relay),
            WantedBlock(self.instructions, f"Use the tools of {python}."),
        ]

    def setup(self, python: str = "python3.12", now_ms: int = NOON) -> Report:
        copies = [WantedCopy(install.hook_path(self.ours), b"hook"), WantedCopy(Path(self.relay), b"relay")]
        return install.setup(self.wanted(python), copies, self.ours, now_ms)

    def writes(self, texts: dict[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (self.folder / name).write_bytes(text.encode())

    def has(self) -> dict[str, str]:
        return {path.name: path.read_bytes().decode() for path in sorted(self.folder.glob("*"))}


markdown_texts = st.sampled_from(("", "# Mine\n", "No end", "\n\n", "a\r\nb\r\n"))
files = st.fixed_dictionaries(
    {"hooks.json": settings_texts(), "config.toml": toml_texts, "AGENTS.md": markdown_texts}
)


@pytest.fixture
def ann(tmp_path: Path) -> Person:
    return Person(tmp_path)


@given(before=files, again=st.booleans())
def test_every_file_is_as_before(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], *, again: bool
) -> None:
    ann = Person(tmp_path_factory.mktemp("home"))
    ann.writes(before)
    ann.setup("python3.11")
    if again:
        ann.setup(now_ms=NOON + 1)
        assert ann.relay in ann.config.read_text(encoding="utf-8")
        assert "Use the tools of python3.12." in ann.instructions.read_text(encoding="utf-8")
    assert install.unsetup(ann.ours).left == ()
    assert ann.has() == before


@given(before=files)
def test_every_file_is_as_before_but_for_what_others_wrote_meanwhile(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str]
) -> None:
    ann = Person(tmp_path_factory.mktemp("home"))
    ann.writes(before)
    ann.setup()
    ann.config.write_bytes(ann.config.read_bytes() + b"\n[later]\nx = 1\n")
    ann.instructions.write_bytes(ann.instructions.read_bytes() + b"\nLater.\n")
    install.unsetup(ann.ours)
    after = ann.has()
    assert after["hooks.json"] == before["hooks.json"]
    assert after["config.toml"].startswith(before["config.toml"])
    assert after["config.toml"].endswith("\n[later]\nx = 1\n")
    assert ann.relay not in after["config.toml"]
    assert after["AGENTS.md"].startswith(before["AGENTS.md"])
    assert after["AGENTS.md"].endswith("\nLater.\n")
    assert "holdfast" not in after["AGENTS.md"]


def test_files_that_were_not_there_are_not_there_afterwards(ann: Person) -> None:
    ann.setup()
    assert ann.has().keys() == {"hooks.json", "config.toml", "AGENTS.md"}
    install.unsetup(ann.ours)
    assert not ann.folder.exists()
