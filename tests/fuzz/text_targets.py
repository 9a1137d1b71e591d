"""What people, repositories and models write for us to read: settings, Markdown, logs, answers, secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from holdfast.core.agent_log.records import path_to, read_log
from holdfast.core.agent_log.summary import object_in
from holdfast.core.documents import agents_yml, continuity, handoff, ledger, ledger_update
from holdfast.core.events.install_request import WantedBlock
from holdfast.core.evidence.patches import changes_in_patch
from holdfast.core.memory.passages import markdown_sections
from holdfast.core.redaction.redact import redact, redact_parts, redact_stream
from holdfast.core.sharing.identity import bound_name, shared_name
from holdfast.engine.backup.archive import ArchiveReader, ArchiveWriter, Description
from holdfast.engine.redaction.redactor import redact_as_seen
from holdfast.engine.repository.git_config import settings_in
from holdfast.errors import BackupUnreadable, SettingsUnreadable
from holdfast.files import json_text, markdown_text, toml_text
from tests.files import settings_texts, toml_texts
from tests.fuzz.target import Target, text_of

SALT = b"salt"
BLOCK = WantedBlock(Path("/home/you/AGENTS.md"), "Use the tools.\n")
JSON = (
    b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}, "a": [1, -2.5e3, null]}\n',
    b"// mine\n{\n  hooks: { 'Stop': [ /* none */ ], },\n  b: 0x1F, \"c\\u0041\": true,\n}\n",
)
TOML = (
    b'a = 1 #\n[servers.ours]\ncommand = "x"\nargs = ["-I", """\nmany\n"""]\n[[list]]\nb.c = 07:00:00\n',
    b"[a]\r\n'k' = { x = 1, y = 'z' }\r\n",
)
MARKDOWN = (
    b"# Mine\n\n<!-- holdfast:begin -->\nx\n<!-- holdfast:end -->\nbelow",
    b"---\nupdated: 2026-11-15\n---\n## Goal\n- ship it\n\n## Next Steps\n1. one\n   more\n* [ ] two\n",
    b"# Session Ledger\nUpdated: 2026-11-15\n\n## Goal\nShip (UNCONFIRMED)\n\n## State\n- Done:\n  - a\n",
    b"# Handoff: x\n\n- Status: open\n- Branch: `main`\n\n## Verification\n- `a` holds `x`\n- `b` exists\n",
    b"memory:\n  ledger: {path: 'x.md'}\n",
)
LOG = (
    b'{"type":"session","version":3,"id":"x","timestamp":"2026-11-15T10:00:00Z","cwd":"/p"}\n',
    b'{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"hi"}}\n' * 2,
)
SECRETS = (
    b"curl -u me:hunter2hunter2 https://a:b@example.org?token=abcdef0123456789abcdef",
    b"export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz password: 'correct horse'",
    b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75\n-----END RSA PRIVATE KEY-----\n\x1b[31mghp_\x1b[0m"
    + b"a1" * 18,
    "密码是 hunter2hunter2，别告诉别人".encode(),
)
PATCHES = (
    b"*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch",
    b'diff --git "a/\\303\\244" b/x\nrename from a\nrename to b\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
)
GIT_CONFIGS = (
    b'[core]\n\tbare\n[remote "origin"]\r\n\turl = "git@host:a/b" # x\n\tfetch = +refs/*:\\\n refs/*\n',
    b'[Branch.Main]\nremote = o\\"rigin ; y\n[remote "a\\"b"]url=x\n',
)
ADDRESSES = (
    b"ssh://git@[2001:db8::1]:22/acme/shop.git",
    b"https://you:secret@GitHub.com/Acme/%53hop.git/",
    "git@bücher.example:~you/shop".encode(),
)


def targets() -> Iterator[Target]:
    """One for each language that is read."""
    yield Target("settings-json", JSON, _json)
    yield Target("settings-toml", TOML, _toml)
    yield Target("settings-markdown", MARKDOWN, _markdown)
    yield Target("continuity", MARKDOWN, _continuity)
    yield Target("ledger", MARKDOWN, _ledger)
    yield Target("handoff", MARKDOWN, _handoff)
    yield Target(
        "agents-yml", MARKDOWN, lambda content: _ignore(agents_yml.parse_ledger_setting(text_of(content)))
    )
    yield Target("sections", MARKDOWN, lambda content: _ignore(markdown_sections(text_of(content))))
    yield Target("patches", PATCHES, lambda content: _ignore(changes_in_patch(text_of(content))))
    yield Target("logs", LOG, _log)
    yield Target("model-answers", JSON, lambda content: _ignore(object_in(text_of(content))))
    yield Target("redactor", SECRETS, _redact)
    yield Target("git-config", GIT_CONFIGS, lambda content: _ignore(list(settings_in(text_of(content)))))
    yield Target("remote-addresses", ADDRESSES, _address)
    yield Target("archives", ARCHIVES, _archive)


def _ignore(_: object) -> None:
    """That it was made at all is what counts."""


def _address(content: bytes) -> None:
    name = shared_name(text_of(content))
    assert name.isprintable()
    assert bound_name(text_of(content)).isprintable()


def _archive(content: bytes) -> None:
    """Whatever it holds is inside, or it is refused in our words."""
    with suppress(BackupUnreadable):
        for entry in ArchiveReader(BytesIO(content), "x").entries():
            assert not entry.path.is_absolute()
            assert ".." not in entry.path.parts


def _archive_of(*files: str) -> bytes:
    plain = BytesIO()
    archive = ArchiveWriter(plain, Description("1.0", 11, 1, "", "desk", 3))
    archive.add_folder("logs")
    for file in files:
        archive.add_file(file, iter([b"a", b"bc"]))
    archive.finish()
    return plain.getvalue()


ARCHIVES = (_archive_of(), _archive_of("store.db", "logs/daemon.log"))


def _json(content: bytes) -> None:
    """What is put in comes out, and all else is as it was; or the text is refused and nothing done."""
    text = content.decode("utf-8", "replace")
    if str(settings_texts.HOOK) in text:
        return  # Ours was there before: it is taken out with the rest.
    with suppress(SettingsUnreadable):
        edited = json_text.insert(text, settings_texts.WANTED[0], settings_texts.MARK)
        given = (settings_texts.PATHS, edited.hollows, settings_texts.MARK, settings_texts.FILE)
        assert json_text.remove(edited.text, *given) == text


def _toml(content: bytes) -> None:
    text = text_of(content)
    with suppress(SettingsUnreadable):
        edited = toml_text.insert(text, toml_texts.OURS, toml_texts.MARK)
        assert toml_text.insert(edited, toml_texts.OURS, toml_texts.MARK) == edited
        toml_text.remove(edited, [toml_texts.OURS.path], toml_texts.MARK, toml_texts.FILE)


def _markdown(content: bytes) -> None:
    text = text_of(content)
    with suppress(SettingsUnreadable):
        edited = markdown_text.insert_block(text, BLOCK)
        assert markdown_text.insert_block(edited, BLOCK) == edited
        taken_out = markdown_text.remove_block(edited, BLOCK.file)
        assert taken_out == text or "<!-- holdfast:begin -->" in text


def _continuity(content: bytes) -> None:
    text = text_of(content)
    document = continuity.parse(text)
    if isinstance(document, continuity.ContinuityDocument):
        assert continuity.render(document) == text
        said = continuity.summary_of(document)
        continuity.merge_summary(document, said, continuity.WrittenItems())


def _ledger(content: bytes) -> None:
    text = text_of(content)
    document = ledger.parse(text)
    assert ledger.render(document) == text
    ledger.is_ledger(text), ledger.conflict(text), ledger.last_updated(document)
    said = ledger.read(document)
    ledger_update.merge_ledger(document, ledger_update.LedgerInput(evidence=said), "2026-11-15 10:00")


def _handoff(content: bytes) -> None:
    text = text_of(content)
    _ignore((handoff.checks_in(text), handoff.pickup_prompt(text, "n", "/p/n.md", "Some harness")))
    if handoff.head_of(text):
        taken = handoff.mark_consumed(text, "2026-11-15 10:00", "me")
        head = handoff.head_of(taken)
        assert head is not None
        assert head.status.startswith("consumed")


def _log(content: bytes) -> None:
    log = read_log(text_of(content).splitlines())
    path_to(log.records)


def _redact(content: bytes) -> None:
    """What went through it once comes through a second time as it is, in one piece, in parts and streamed."""
    text = text_of(content)
    once = redact_as_seen(text, SALT)
    assert redact_as_seen(once, SALT) == once
    middle = len(text) // 2
    parts = redact_parts((text[:middle], text[middle:]), SALT)
    assert redact_parts(parts, SALT) == parts
    streamed = "".join(redact_stream([text[:middle], text[middle:]]))
    assert redact(streamed) == streamed
