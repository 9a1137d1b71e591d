"""Which files say something of the ledger, and that none of them can do harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.documents.agents_yml import LedgerSetting
from holdfast.core.documents.ledger import Ledger, LedgerEntry, new_ledger_text
from holdfast.files import ledger
from holdfast.files.ledger import LARGEST_AGENTS_FILE, read_agents_files

ON = "session:\n  ledger: true\n"


def test_without_files_nothing_is_said(tmp_path: Path) -> None:
    found = read_agents_files(tmp_path, {})
    assert (found.ledger_setting, found.warnings) == (LedgerSetting(), ())


def test_the_local_file_wins(tmp_path: Path) -> None:
    (tmp_path / ".agents.yml").write_text(f"{ON}  ledger_path: a.md\n")
    (tmp_path / ".agents.local.yml").write_text("session:\n  ledger: false\n")
    assert read_agents_files(tmp_path, {}).ledger_setting == LedgerSetting(ledger=False, ledger_path="a.md")


@pytest.mark.parametrize("named", ["config/agents.yml", "{root}/elsewhere.yml", "~/agents.yml"])
def test_the_environment_names_another_file(tmp_path: Path, named: str) -> None:
    (tmp_path / ".agents.yml").write_text("session:\n  ledger: false\n")
    home = tmp_path / "home"
    for file in (tmp_path / "config" / "agents.yml", tmp_path / "elsewhere.yml", home / "agents.yml"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(ON)
    environment = {"AGENTS_CONFIG": named.format(root=tmp_path), "HOME": str(home)}
    assert read_agents_files(tmp_path, environment).ledger_setting == LedgerSetting(ledger=True)


@pytest.mark.skipif(os.name == "nt", reason="there are no FIFOs, and links need a privilege")
@pytest.mark.parametrize("kind", ["fifo", "link", "directory", "large", "binary", "unclear"])
def test_what_cannot_be_used_is_named_and_ignored(tmp_path: Path, kind: str) -> None:
    file, outside = tmp_path / ".agents.yml", tmp_path / "outside"
    outside.write_text(ON)
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "link":
            file.symlink_to(outside)
        case "directory":
            file.mkdir()
        case "large":
            file.write_text(ON + "#" * LARGEST_AGENTS_FILE)
        case "binary":
            file.write_bytes(b"\xff\xfe\x00")
        case _:
            file.write_text("session:\n  ledger: perhaps\n")
    found = read_agents_files(tmp_path, {})
    assert found.ledger_setting == LedgerSetting()
    assert len(found.warnings) == 1
    assert str(file) in found.warnings[0]


def test_what_version_0_1_0_wrote_is_known_under_its_old_name_and_gets_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    place = ledger.place(tmp_path, "p", "w", tmp_path / "work", "ledger.md")
    place.folder.mkdir(parents=True)
    entry = Ledger(decisions=(LedgerEntry("use tabs"),))
    (place.folder / "ours.md").write_text(new_ledger_text(entry, ""))
    assert ledger.own_part(place).decisions == entry.decisions
    both = Ledger(decisions=(*entry.decisions, LedgerEntry("no globals")))
    ledger.write(place, new_ledger_text(both, "x"), both, 1, "s1", str)
    assert ledger.own_part(place).decisions == both.decisions
    assert sorted(path.name for path in place.folder.glob("*.md")) == ["written.md"]
