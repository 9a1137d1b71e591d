"""Renewal after an update: only what setup wrote changes, and only where it still is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.core.events.install_request import WantedCopy
from holdfast.files import install
from holdfast.files.install import Plan, read_manifest
from tests.files.settings_texts import entry, value_of
from tests.files.test_install import HOOK_CODE, NOON, Person

OLD, NEW = "python3.11", "python3.12"
SETTINGS = '{\n\t"model": "m"\n}\n'


class Updated(Person):
    """Someone who ran setup, and whose Holdfast was updated since."""

    def skill(self, name: str) -> Path:
        return self.settings.parent / "skills" / name / "SKILL.md"

    def copies(self, skills: Sequence[str], text: str) -> list[WantedCopy]:
        return [
            WantedCopy(self.hook, HOOK_CODE),
            *(WantedCopy(self.skill(name), text.encode()) for name in skills),
        ]

    def sets_up(
        self, *, events: Sequence[str] = ("Stop", "Start"), skills: Sequence[str] = ("a", "b")
    ) -> None:
        entries = [entry(event, self.command(OLD), self.settings) for event in events]
        install.setup(entries, self.copies(skills, "old"), self.ours, NOON)

    def plan_of_update(
        self, *, events: Sequence[str] = ("Stop", "Start"), skills: Sequence[str] = ("a", "b")
    ) -> Plan:
        entries = [entry(event, self.command(NEW), self.settings) for event in events]
        return install.plan_renewal(entries, self.copies(skills, "new"), self.ours)

    def events(self) -> dict[str, list[str]]:
        """The command lines for each event."""
        hooks = value_of(self.reads())["hooks"]
        return {
            event: [hook["command"] for one in entries for hook in one["hooks"]]
            for event, entries in hooks.items()
        }


@pytest.fixture
def ann(tmp_path: Path) -> Updated:
    person = Updated(tmp_path)
    person.writes(SETTINGS)
    return person


def test_entries_and_files_are_renewed_and_unsetup_still_leaves_no_trace(ann: Updated) -> None:
    before = ann.everything()
    ann.sets_up()
    install.apply(ann.plan_of_update())
    assert ann.events() == {"Stop": [ann.command(NEW)], "Start": [ann.command(NEW)]}
    assert ann.skill("a").read_text() == "new"
    ann.unsetup()
    assert ann.everything() == before


def test_renewing_twice_is_the_same_as_once(ann: Updated) -> None:
    ann.sets_up()
    install.apply(ann.plan_of_update())
    assert [change for change in ann.plan_of_update().changes if change.before != change.after] == []


def test_what_a_version_adds_comes_and_what_it_dropped_goes(ann: Updated) -> None:
    before = ann.everything()
    ann.sets_up()
    install.apply(ann.plan_of_update(events=("Start", "End"), skills=("b", "c")))
    assert set(ann.events()) == {"Start", "End"}
    assert not ann.skill("a").parent.exists()
    assert ann.skill("c").read_text() == "new"
    ann.unsetup()
    assert ann.everything() == before


def test_setup_itself_drops_what_this_version_no_longer_has(ann: Updated) -> None:
    ann.sets_up()
    ann.sets_up(skills=("b", "c"))
    assert not ann.skill("a").parent.exists()
    assert {one.path for one in read_manifest(ann.ours).copied} == {ann.hook, ann.skill("b"), ann.skill("c")}


def test_what_someone_took_out_stays_out_through_any_number_of_updates(ann: Updated) -> None:
    ann.sets_up()

    hooks = value_of(ann.reads())["hooks"]
    del hooks["Stop"]
    ann.writes(json.dumps({"model": "m", "hooks": hooks}))
    ann.skill("a").unlink()
    for _ in range(2):
        install.apply(ann.plan_of_update(events=("Stop", "Start", "End"), skills=("a", "b", "c")))
        assert ann.events() == {"Start": [ann.command(NEW)]}
        assert not ann.skill("a").exists()
        assert not ann.skill("c").exists()
    assert ann.skill("b").read_text() == "new"


def test_what_someone_changed_stays_as_it_is_also_if_this_version_dropped_it(ann: Updated) -> None:
    ann.sets_up()
    ann.skill("a").write_text("mine")
    ann.skill("b").write_text("mine")
    install.apply(ann.plan_of_update(skills=("b", "c")))
    assert ann.skill("a").read_text() == "mine"
    assert ann.skill("b").read_text() == "mine"


def test_settings_that_are_gone_are_not_written_again(ann: Updated) -> None:
    ann.sets_up()
    ann.settings.unlink()
    install.apply(ann.plan_of_update())
    assert not ann.settings.exists()


def test_nothing_is_written_where_setup_never_was(ann: Updated) -> None:
    install.apply(install.plan_renewal(ann.entries(), (), ann.ours))
    assert ann.reads() == SETTINGS
