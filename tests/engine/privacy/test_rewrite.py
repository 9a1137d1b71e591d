"""Rewriting: a newer redactor, or a longer list, reaches what is stored already."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.redaction.redact import NO_LISTS, VERSION, Lists
from holdfast.engine.health import doctor
from holdfast.engine.privacy.rewrite import ROWS, rewrite
from holdfast.engine.redaction.redactor import Redactor, mark_of
from holdfast.settings import Redact
from holdfast.stores.sqlite import open_in_memory
from tests.engine.stage import Stage

TOKEN = "ghp_" + "Qw3r" * 9
SALT = b"0" * 16


def everything(stage: Stage) -> str:
    return "\n".join(text.text for text in stage.store.texts())


def deny(stage: Stage, *words: str) -> Lists:
    stage.config = replace(stage.config, redact=Redact(deny=words))
    return Lists(deny=words)


def rewritten(stage: Stage, lists: Lists) -> int:
    """Step by step to the end; how many steps it took."""
    steps = 1
    while rewrite(stage.store, stage.home, Redactor(lists, SALT), stage.now):
        steps += 1
    return steps


def worked(stage: Stage, *texts: str) -> None:
    stage.write("a", *(("prompt", text) for text in texts), ("edits", "/x/y.c"))
    stage.payload("a", "end", reason="other")


def test_what_is_recorded_is_marked_with_its_redactor(stage: Stage) -> None:
    worked(stage, f"push with {TOKEN}")
    assert TOKEN not in everything(stage)
    assert stage.store.redaction(str(VERSION)).stale == 0
    assert stage.store.redaction("another").stale == stage.store.redaction("another").rows > 0


def test_a_word_that_is_denied_later_goes_from_what_is_stored(stage: Stage) -> None:
    worked(stage, "the code name is Bluebell")
    assert "Bluebell" in everything(stage)
    rewritten(stage, deny(stage, "Bluebell"))
    assert "Bluebell" not in everything(stage)
    assert "[REDACTED" in everything(stage)


def test_a_word_that_is_denied_is_never_stored(stage: Stage) -> None:
    lists = deny(stage, "Bluebell")
    worked(stage, "the code name is Bluebell")
    assert "Bluebell" not in everything(stage)
    assert stage.store.redaction(mark_of(lists)).stale == 0


def test_a_checkpoint_of_an_older_session_goes_through_the_redactor_of_today(stage: Stage) -> None:
    stage.write("a", ("prompt", "the code name is Bluebell"))
    stage.payload("a", "prompt", text="and now?", turn="t")
    lists = deny(stage, "Bluebell")
    stage.payload("a", "end", reason="other")
    (taken,) = stage.store.checkpoints(10)
    assert "Bluebell" not in taken.digest
    assert stage.store.redaction(mark_of(lists)).stale > 0, "the session itself is still to be done"


def test_it_takes_small_steps_and_stops(stage: Stage) -> None:
    worked(stage, *(f"step {number}" for number in range(ROWS + 50)))
    steps = rewritten(stage, Lists(deny=("Bluebell",)))
    assert steps == 3
    assert rewritten(stage, Lists(deny=("Bluebell",))) == 1


def test_logs_are_rewritten_in_place_and_once(stage: Stage) -> None:
    log = stage.home / "logs" / "daemon.log"
    log.parent.mkdir()
    log.write_text(f"pushed with {TOKEN}\nBluebell sails\n", encoding="utf-8")
    with log.open("a", encoding="utf-8") as writer:
        rewritten(stage, Lists(deny=("Bluebell",)))
        writer.write("and on\n")
    text = log.read_text(encoding="utf-8")
    assert TOKEN not in text
    assert "Bluebell" not in text
    assert text.endswith("sails\nand on\n")
    log.write_text("Bluebell again\n", encoding="utf-8")
    rewritten(stage, Lists(deny=("Bluebell",)))
    assert "Bluebell" in log.read_text(encoding="utf-8"), "what is written since went through the log's own"


def test_copies_that_an_older_redactor_wrote_go_once_all_is_rewritten(stage: Stage) -> None:
    copy = stage.home / "backups" / "store-20260101T120000Z-schema-0001.db"
    aside = stage.home / "store.corrupt-20260101T120000Z.db"
    copy.parent.mkdir()
    for path in (copy, aside):
        path.write_text("Bluebell")
    worked(stage, "no code name")
    assert rewrite(stage.store, stage.home, Redactor(Lists(deny=("Bluebell",)), SALT), stage.now)
    assert copy.exists(), "there is more to rewrite"
    rewritten(stage, Lists(deny=("Bluebell",)))
    assert not copy.exists()
    assert aside.exists(), "a damaged store is for a person to look at"
    copy.write_text("a copy of today")
    rewritten(stage, Lists(deny=("Bluebell",)))
    assert copy.exists()


class TestMarks:
    def test_it_names_the_version_and_tells_lists_apart(self) -> None:
        marks = [mark_of(lists) for lists in (NO_LISTS, Lists(deny=("a",)), Lists(allow=("a",)))]
        assert marks[0] == str(VERSION)
        assert len(set(marks)) == 3
        assert all(mark.split("-")[0] == str(VERSION) for mark in marks)

    def test_the_same_secret_has_the_same_tag_in_one_session_only(self) -> None:
        redactor = Redactor(NO_LISTS, SALT)
        first, again, other = (redactor.redacted(key, f"push with {TOKEN}") for key in ("a", "a", "b"))
        assert first == again != other
        assert redactor.redacted("a", first) == first

    def test_another_store_has_other_tags(self) -> None:
        one, other = (Redactor(NO_LISTS, secret) for secret in (SALT, b"1" * 16))
        assert one.redacted("a", TOKEN) != other.redacted("a", TOKEN)


def test_the_secret_is_made_once_and_kept(stage: Stage) -> None:
    worked(stage, "hello")
    found = stage.store.session("a")
    assert found is not None
    engine = replace(stage.engine(), new_secret=lambda: b"another")
    assert engine.redactor(found.project) == stage.engine().redactor(found.project)
    with stage.store.writing():
        stage.store.forget_all(stage.now)
    assert engine.redactor(found.project).secret == b"another"


def test_the_doctor_says_how_far_it_is(stage: Stage) -> None:
    worked(stage, "one", "two")
    (stage.home / "config.toml").write_text('[redact]\ndeny = ["Bluebell"]\n')
    rows = stage.store.redaction("").rows
    before = doctor.check_redactor(stage.store, stage.home, {})
    assert before == doctor.fine("redactor", f"{rows} of {rows} rows still to be rewritten")
    lists = Lists(deny=("Bluebell",))
    rewritten(stage, lists)
    after = doctor.check_redactor(stage.store, stage.home, {})
    assert after == doctor.fine("redactor", f"all {rows} rows redacted by version {mark_of(lists)}")
    assert doctor.check_redactor(open_in_memory(), stage.home / "nowhere", {}).ok
