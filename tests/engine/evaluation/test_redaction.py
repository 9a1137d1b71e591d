"""Redaction, measured: which labels are read, what counts as gone, and what as changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.redaction.redact import redact
from holdfast.engine.evaluation.redaction import (
    ALL,
    Changed,
    Family,
    LabelledSecret,
    Share,
    clean_texts,
    false_redactions,
    family_of,
    halves,
    in_json,
    labelled_secrets,
    made_clean,
    measure_redaction,
    megabytes_per_second,
    missed_secrets,
    of_unknown_services,
    recall,
    rules_in,
    text_without_secrets,
)
from tests.core.made_up import HUNTER, PLAIN, made_up
from tests.engine.evaluation.test_survival import HARNESS, kept
from tests.harnesses.claude_code_records import assistant, text, user

GITHUB = "gh" + "p_" + made_up(36)
OPEN = "swordfish"

RULES = f"""
# Rules of some scanner.
rules:

- name: Acme Token
  id: acme.1

  # The form is published.
  pattern: '\\b(gh''?p_[A-Za-z0-9]{{36}})\\b'

  categories: [api, secret]
  references:
  - https://docs.example.com

  examples:
  - 'use {GITHUB}'
  - "token: \\"{GITHUB[:-1]}x\\""
  - |
      a: 1
        b: {GITHUB[:-1]}y

      c: 2

  negative_examples:
  - 'none'

- name: Credentials in MongoDB Connection String
  pattern: |
    (?x)(?i)
    mongodb:// ([a-z]+) : ([a-z0-9]+) @ ([a-z.]+)
  categories:
  - secret
  examples:
  - mongodb://me:swordfish9@two@db.example/x

- name: Acme Account
  pattern: '(acct_[0-9]+)'
  categories: [identifier]
  examples:
  - acct_1234

- name: Broken
  pattern: '(?P<'
  categories: [secret]
  examples:
  - x
"""


def finding(rule: str, value: str, line: str) -> dict[str, object]:
    return {"rule": rule, "line_data_list": [{"line": line, "value": value, "path": "./x", "line_num": 1}]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "secrets" / "somebody"
    folder.mkdir(parents=True)
    findings = [
        finding("Password", HUNTER, f"password = {HUNTER}"),
        finding("Password", OPEN, f"the fish is {OPEN}"),
        finding("Password", "$PASSWORD", "password = $PASSWORD"),
        finding("UUID", "550e8400-e29b-41d4-a716-446655440000", "id"),
    ]
    (folder / "labels.dev.json").write_text(json.dumps(findings))
    (folder / "other.json").write_text("{}")
    (folder / "rules.yml").write_text(RULES)
    (tmp_path / "data" / "rules.yml").write_text(RULES)
    records = [
        user("please look", uuid="u1"),
        assistant(text(f"password={HUNTER}"), uuid="a1", request="r"),
    ]
    kept(tmp_path / "data" / HARNESS / "s1.jsonl", records)
    return tmp_path / "data"


def test_labels_of_both_formats_are_read_below_a_folder_named_secrets(data: Path) -> None:
    found = {(label.family.value, label.value) for label in labelled_secrets(data)}
    assert found == {
        ("key_values", HUNTER),
        ("key_values", OPEN),
        ("provider_keys", GITHUB),
        ("provider_keys", GITHUB[:-1] + "x"),
        ("provider_keys", GITHUB[:-1] + "y"),
        ("urls", "swordfish9@two"),
    }
    assert labelled_secrets(data / "secrets") == labelled_secrets(data)
    assert labelled_secrets(data / HARNESS) == []


def test_rules_are_read_as_they_are_written() -> None:
    rules = [rule for rule in rules_in(RULES) if rule]
    assert [rule["name"] for rule in rules] == [
        ["Acme Token"],
        ["Credentials in MongoDB Connection String"],
        ["Acme Account"],
        ["Broken"],
    ]
    assert rules[0]["pattern"] == [r"\b(gh'?p_[A-Za-z0-9]{36})\b"]
    assert rules[0]["examples"][1] == f'token: "{GITHUB[:-1]}x"'
    assert rules[0]["examples"][2] == f"a: 1\n  b: {GITHUB[:-1]}y\n\nc: 2\n"
    assert rules[1]["categories"] == ["secret"]


@pytest.mark.parametrize(
    ("rule", "family"),
    [
        ("Github Classic Token", Family.PROVIDER_KEYS),
        ("Token", Family.KEY_VALUES),
        ("CMD Password", Family.KEY_VALUES),
        ("CURL Options", Family.KEY_VALUES),
        ("PEM Private Key", Family.PRIVATE_KEYS),
        ("URL Credentials", Family.URLS),
        ("Credentials in PostgreSQL Connection URI", Family.URLS),
        ("Password Hash (bcrypt)", Family.PASSWORD_HASHES),
    ],
)
def test_a_rules_name_tells_the_family(rule: str, family: Family) -> None:
    assert family_of(rule) is family


def test_a_secret_is_gone_if_its_value_stands_nowhere_in_what_is_left(data: Path) -> None:
    shares = recall(labelled_secrets(data))
    assert shares[Family.PROVIDER_KEYS] == Share(3, 3)
    assert shares[Family.URLS] == Share(1, 1)
    assert shares[Family.KEY_VALUES] == Share(1, 2)
    assert shares[ALL] == Share(5, 6)
    assert shares[Family.PRIVATE_KEYS].value is None
    assert [label.value for label in missed_secrets(labelled_secrets(data))] == [OPEN]


def test_who_finds_nothing_recalls_nothing_and_who_finds_all_recalls_all(data: Path) -> None:
    labels = labelled_secrets(data)
    assert recall(labels, lambda _: ())[ALL].value == 0
    assert recall(labels, lambda text: [(0, len(text))])[ALL].value == 1


def test_what_was_found_is_taken_out_once_however_it_overlaps() -> None:
    assert text_without_secrets("abcdef", lambda _: [(2, 4), (1, 3), (3, 5)]) == "a\0\0\0f"


def test_labels_in_json_are_spelt_as_json_spells_them() -> None:
    (label,) = in_json([LabelledSecret(Family.KEY_VALUES, "Password", 'a"b', 'x = "a\\"b"')])
    assert label.value == 'a\\"b'
    assert json.loads(label.text) == {"text": 'x = "a\\"b"'}


def test_halves_are_apart_and_together_all() -> None:
    labels = [LabelledSecret(Family.URLS, "r", made_up(20, seed=str(number)), "") for number in range(40)]
    first, second = halves(labels)
    assert 5 < len(first) < 35
    assert sorted(first + second, key=labels.index) == labels
    assert halves(list(reversed(labels))) == (list(reversed(first)), list(reversed(second)))


def test_a_secret_of_an_unknown_service_has_another_prefix_and_stands_beside_other_names() -> None:
    label = LabelledSecret(Family.PROVIDER_KEYS, "r", GITHUB, f"GITHUB_TOKEN={GITHUB} # {GITHUB}")
    (other,) = of_unknown_services([label])
    assert other.value[4:] == GITHUB[4:]
    assert other.value[:3] not in GITHUB
    assert other.text == f"PRCQDK_TOKEN={other.value} # {other.value}"


@pytest.mark.parametrize(
    ("family", "value"),
    [
        (Family.PRIVATE_KEYS, "AGE-SECRET-KEY-1" + made_up(40)),
        (Family.PROVIDER_KEYS, "eyJ" + made_up(40)),
        (Family.PROVIDER_KEYS, made_up(32, "0123456789abcdef")),
    ],
)
def test_what_belongs_to_no_service_stays_as_it_is(family: Family, value: str) -> None:
    label = LabelledSecret(family, "r", value, f"x={value}")
    assert list(of_unknown_services([label])) == [label]


def test_what_is_changed_in_clean_text_is_counted() -> None:
    changed = false_redactions(["clean", f"password={HUNTER}"])
    assert changed == Changed(characters=5 + 9 + len(HUNTER), redactions=1, changed=len(HUNTER))
    assert changed.redactions_per_million == pytest.approx(1e6 / changed.characters)
    assert changed.changed_per_million == pytest.approx(1e6 * len(HUNTER) / changed.characters)
    assert false_redactions([]).redactions_per_million is None


def test_speed_is_the_better_of_two_runs() -> None:
    ticks = iter([0.0, 4.0, 4.0, 6.0])
    assert megabytes_per_second(["a" * 1_000_000], lambda: next(ticks)) == 0.5
    assert megabytes_per_second([], lambda: 0.0) is None


def test_the_texts_of_a_transcript_are_those_that_would_be_recorded(data: Path) -> None:
    assert [one for one in clean_texts(data) if one] == ["please look", f"password={HUNTER}"]


@pytest.mark.parametrize(("name", "made"), list(made_clean(400).items()), ids=list(made_clean(1)))
def test_text_that_is_made_to_be_clean_is_left_alone_and_the_same_every_time(name: str, made: str) -> None:
    assert made.count("\n") >= 400
    assert made_clean(400)[name] == made
    assert [line for line in made.splitlines() if redact(line) != line] == []


def test_a_run_measures_everything(data: Path) -> None:
    clock: Iterator[float] = iter([0.0, 1.0, 1.0, 2.0])
    report = measure_redaction(
        labelled_secrets(data), list(clean_texts(data)), {"made": PLAIN}, lambda: next(clock)
    )
    assert report.recall[ALL] == Share(5, 6)
    assert report.recall_in_json[ALL] == Share(5, 6)
    assert sum(half[ALL].n for half in report.halves) == 6
    assert report.clean["transcripts"].redactions == 1
    assert report.clean["made"] == Changed(len(PLAIN), 0, 0)
    assert report.megabytes_per_second == pytest.approx(report.clean["transcripts"].characters / 1e6)
