"""While a setting that protects cannot be read, every command says so, and only reading goes on."""

from __future__ import annotations

from tests.cli.conftest import HARNESS, Person

GOOD = '[redact]\ndeny = ["Xanadu-Meridian"]\n'


def test_commands_warn_refuse_to_write_and_still_read(person: Person) -> None:
    person.home.mkdir(mode=0o700)
    settings = person.home / "config.toml"
    settings.write_text(GOOD)
    assert person.types("remember", "the port is 8080").status == 0
    settings.write_text(f"{GOOD}[brief\n")
    warning = f"warning: nothing is captured, stored or shared: {settings} is not valid TOML: "
    for words in (["recall", "port"], ["config"], ["brief"]):
        done = person.types(*words)
        assert (done.status, done.err.startswith(warning)) == (0, True), words
        assert "line 3" in done.err.splitlines()[0]
    for words in (["remember", "the port is Xanadu-Meridian"], ["redact"], ["prune"]):
        done = person.types(*words, given="Xanadu-Meridian")
        assert (done.status, done.out) == (1, ""), words
        assert done.err.startswith(warning)
        assert "error: refused until these settings can be read" in done.err
    status = person.types("status", "--json")
    assert status.err == f"warning: {status.json['stopped']}\n"
    finding = next(one for one in person.types("doctor", "--json").json if one["check"] == "config")
    assert (finding["ok"], finding["fix"]) == (False, "correct that file")
    settings.write_text(GOOD)
    assert person.types("recall", "port", "--json").json[0]["text"] == "the port is 8080"


def test_a_session_that_lived_while_nothing_was_kept_is_there_once_the_file_is_corrected(
    person: Person,
) -> None:
    person.home.mkdir(mode=0o700)
    settings = person.home / "config.toml"
    settings.write_text("[capture\n")
    # What the agent is told is not looked at: on a busy machine the hook may not wait for it.
    assert person.prompts("call it Xanadu-Meridian").status == 0
    assert person.types("sessions", "--json").json == []
    files = [path for path in person.home.rglob("*") if path.is_file()]
    assert not [path for path in files if b"Xanadu-Meridian" in path.read_bytes()]
    settings.write_text(GOOD)
    (session,) = person.types("sessions", "--json").json
    assert (session["harness"], session["project"]) == (HARNESS, str(person.project))


def test_a_repositorys_broken_file_stops_what_is_done_there_only(person: Person) -> None:
    (person.project / "holdfast.toml").write_text("[capture\n")
    done = person.types("remember", "x")
    assert done.status == 1
    assert done.err.startswith("warning: nothing of this project is captured, stored or shared: ")
    elsewhere = person.root / "elsewhere"
    elsewhere.mkdir()
    done = person.types("remember", "x", cwd=elsewhere)
    assert (done.status, done.err) == (0, "")
