"""What a user also meets in the dashboard: an imported session, a hostile one, changed files and a handoff.

Put into a furnished home by the tests that look at them, also those in a browser.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from holdfast.core.brief.brief_input import Item
from holdfast.core.events.event import Action, Origin, ToolCalled, ToolReturned
from holdfast.core.evidence.file_edits import SAYS_WHY, FileEdit
from holdfast.core.evidence.trail import CommandRun, FileTouch, Trail, Utterance
from holdfast.core.memory.memory import Memory, MemoryKind, MemoryScope
from holdfast.core.session.session import IMPORTED, SessionTitle
from holdfast.core.sharing.bodies import AroundSession, encode_handoff, encode_memory, encode_session
from holdfast.core.sharing.identity import Machine, SharedName
from holdfast.core.sharing.items import Audience, SharedKind
from holdfast.core.sharing.local_paths import LocalPaths
from holdfast.stores.base import Lineage
from holdfast.stores.shared import ItemKey, StoredVersion
from tests.daemon.api.served import NEWEST, Furnished
from tests.stores.contract import MINUTE, document, ended, prompt, receipt

IMPORTED_KEY: Final = "from-an-import"
HOSTILE_KEY: Final = "hostile-one"
MARKUP: Final = "</pre></title><script>document.title='owned'</script><img src=x onerror=alert(2)>"
HOSTILE: Final = f"{MARKUP}\u202eturned\u2066around\u200b\x1b[31m `{MARKUP}` " + "W" * 10_000
HANDOFF: Final = "2026-01-01-main-finish-the-cart.md"


def put_imported(found: Furnished) -> None:
    """A session of which only the conversation and the trail are stored."""
    at, project = found.at, found.project
    asked = Utterance("Draw the parser's tree", at)
    trail = Trail(
        first_prompt=asked,
        goal=asked,
        prompts=(asked, Utterance("And mind the empty file", at + MINUTE)),
        files=(
            FileTouch(f"{project.root}/src/tree.py", Action.EDIT, 3, at),
            FileTouch(f"{project.root}/src/only_read.py", Action.READ, 1, at),
        ),
        commands=(
            CommandRun("pytest tests/test_tree.py", at, ok=False, reason="KeyError: 'leaf'"),
            CommandRun("ruff check", at, ok=True),
        ),
    )
    with found.store() as store, store.writing():
        session = ended(
            IMPORTED_KEY, project=project, last_event_at=at, ended_at=at, end_reason=IMPORTED, trail=trail
        )
        store.put_session(session, NEWEST)


FAILING_KEY: Final = "fails-to-edit"


def put_failures(found: Furnished) -> None:
    """A session in which an edit and a command failed."""
    at, root = found.at, found.project.root
    edit = ToolCalled(
        session=FAILING_KEY,
        record="e1",
        at=at,
        origin=Origin.TOOL,
        call="edit",
        tool="Edit",
        action=Action.EDIT,
        subject=f"{root}/src/cart.py",
    )
    run = replace(edit, record="e3", at=at + 2, call="run", tool="Bash", action=Action.RUN, subject="make")
    failed = ToolReturned(
        session=FAILING_KEY,
        record="e2",
        at=at + 1,
        origin=Origin.TOOL,
        call="edit",
        ok=False,
        text='Found 2 matches of the string.\nString: raise ValueError("failed to add up")',
    )
    output = "cc cart.c\ncart.c:3: error: expected a semicolon\nmake: stopped"
    with found.store() as store, store.writing():
        store.put_session(ended(FAILING_KEY, project=found.project, last_event_at=at, ended_at=at), NEWEST)
        for event in (edit, failed, run, replace(failed, record="e4", at=at + 3, call="run", text=output)):
            store.add_event(event, NEWEST)


ORIGINS_KEY: Final = "continues-s1"


def put_brief_of_everything(found: Furnished) -> str:
    """A brief that says something from each kind of source; the path of its page."""
    at, root = found.at, found.project.root
    items = (
        # It contains the sentence below, which is not from there.
        Item("Changed since", "Use the cart.md: gone since", at, "world", "since", rendered=True),
        Item("Goal", "Use the cart", at, "r1", "goal", rendered=True),
        Item("Done", "`ls` failed", at + 2, "", "check", rendered=True),
        Item("Rules", "Refused by the user: `rm`", at + 999, "", "reply", rendered=True),
        Item("Where", "src/cart.py", at, f"{root}/src/cart.py", "edit", lead="Changed", rendered=True),
        Item("Where", "a/one.py", at, f"{root}/a/one.py", "read", lead="Read last", rendered=True),
        Item("Where", "a/two.py", at, f"{root}/a/two.py", "read", lead="Read last", rendered=True),
    )
    lines = (
        *(f"- {item.text}" for item in items[1:4]),
        "- Changed: src/cart.py",
        "- Read last: a/{one, two}.py",
    )
    given = receipt(
        "everything",
        session="s2",
        predecessor=ORIGINS_KEY,
        created_at=at,
        text="\n".join(("## Context", *lines)),
        items=items,
    )
    with found.store() as store, store.writing():
        store.put_session(ended(ORIGINS_KEY, project=found.project, last_event_at=at, ended_at=at), NEWEST)
        store.add_lineage(Lineage(child=ORIGINS_KEY, parent="s1", kind="clear", at=at))
        store.add_receipt(given, NEWEST)
    return "/briefs/everything"


def put_passages(found: Furnished, count: int) -> None:
    """Texts of the imported session that a search finds."""
    put_imported(found)
    with found.store() as store, store.writing():
        for number in range(count):
            text = f"User: The `wombat {number}` is loose"
            passage = document(f"w{number}", text, session=IMPORTED_KEY, at=found.at, place=number)
            store.add_document(replace(passage, project_id=found.project.project_id), NEWEST)


def put_hostile(found: Furnished) -> None:
    """A session whose title, prompts and model are made to do harm."""
    at = found.at
    session = ended(
        HOSTILE_KEY,
        project=found.project,
        last_event_at=at,
        ended_at=at,
        title=SessionTitle(HOSTILE, by_user=True),
        model=HOSTILE,
        trail=Trail(goal=Utterance(HOSTILE, at), prompts=(Utterance(HOSTILE, at),)),
    )
    with found.store() as store, store.writing():
        store.put_session(session, NEWEST)
        store.add_event(prompt("hostile-1", session=HOSTILE_KEY, at=at, text=HOSTILE), NEWEST)


def put_edits(found: Furnished, count: int) -> None:
    """Files that the session `s1` changed, the first of them last."""
    with found.store() as store, store.writing():
        for number in range(count):
            edit = FileEdit(
                session="s1",
                record=f"edit-{number}",
                path=f"src/part_{number:03}.py",
                project_id=found.project.project_id,
                call=f"call-{number}",
                action=Action.EDIT,
                at=found.at - number,
                asked="Split the module",
                reason="It was too long to read.",
                strength=SAYS_WHY,
                done=True,
            )
            store.update_file_edits("s1", [edit], NEWEST)


def write_handoff(found: Furnished) -> str:
    """A handoff that waits; the path of its page."""
    path = Path(found.project.root) / ".agents" / "handoffs" / HANDOFF
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "# Handoff: Finish the cart\n\n- Status: open\n- Created: 2026-01-01T12:00:00Z\n- Session: `s1`\n"
        "- Harness: `claude-code`\n\n## Current Work\n- Rounding **each** line of `cart.py`\n"
    )
    return f"/handoffs?project={found.project.project_id}&name={HANDOFF}"


SHARED_KEY: Final = "5ha2ed00-of-the-laptop"
SHARED_NAME: Final = "example.com/acme/cart"


def put_shared(found: Furnished) -> None:
    """A session of the user's laptop, and what bob shared: a handoff for the user, and a hostile memory."""
    at, project = found.at, found.project
    trail = Trail(first_prompt=Utterance("Round the basket", at), goal=Utterance("Round the basket", at))
    there = ended(
        SHARED_KEY,
        project=project,
        last_event_at=at + MINUTE,
        changed_at=at + MINUTE,
        trail=trail,
        title=SessionTitle("Rounding in the basket"),
    )
    head = "# Handoff: Finish the tax\n\n- Status: open\n- To: `ann`\n- Created: 2026-01-02T10:00:00Z\n"
    handed = f"{head}\n## Next Step\n- go"
    memory = Memory("m", f"The port is 8081 {HOSTILE}", MemoryKind.FACT, MemoryScope.PROJECT, "", "", at)
    paths = LocalPaths((project.root,), ())
    versions = (
        _version(SharedKind.SESSION, SHARED_KEY, encode_session(there, paths, AroundSession()), at, "ann"),
        _version(SharedKind.HANDOFF, "h1", encode_handoff("tax.md", handed, paths), at, "bob"),
        _version(SharedKind.MEMORY, "team:m", encode_memory(memory, paths), at, "bob"),
    )
    with found.store() as store, store.writing():
        store.put_shared_name(SharedName(project.project_id, SHARED_NAME, at, at))
        for version in versions:
            store.put_version(version, NEWEST)


def _version(kind: SharedKind, id: str, body: str, at: int, person: str) -> StoredVersion:
    is_mine = person == "ann"
    return StoredVersion(
        ItemKey("hub", SHARED_NAME, kind, id),
        Machine("laptop-id", "laptop") if is_mine else Machine("desk-id", "bob's <desk>"),
        person,
        is_mine,
        revision=1,
        at=at,
        audience=Audience.OWN if is_mine else Audience.TEAM,
        body=body,
        recipient="ann" if kind is SharedKind.HANDOFF else "",
        sequence=1,
        received_at=at,
    )
