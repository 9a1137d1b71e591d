"""Imports go one way: core ← harnesses, stores, files, models ← engine ← daemon, cli, embed."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.architecture.source import Check, Finding, Source, assert_holds, findings_in, imported, package
from tests.tables import every_row

SIBLING_PACKAGES = frozenset({"harnesses", "stores", "files", "models"})
LANGUAGE = frozenset({"errors", "lazy_dataclass"})
"""What extends the language rather than says anything about sessions: every package may import it."""
BELOW_ENGINE = (
    SIBLING_PACKAGES
    | LANGUAGE
    | {"core", "config", "environment", "home", "hook", "relay", "settings", "skills", "system", "__init__"}
)
MAY_IMPORT = {
    "__init__": frozenset[str](),
    "__main__": frozenset({"cli"}),
    **dict.fromkeys(LANGUAGE, frozenset[str]()),
    "environment": frozenset({"__init__"}),
    "home": frozenset[str](),
    "hook": frozenset[str](),
    "relay": frozenset({"hook"}),
    "config": LANGUAGE | {"core", "home", "settings"},
    "settings": LANGUAGE | {"core"},
    "core": LANGUAGE,
    "skills": frozenset({"core"}),
    "system": frozenset[str](),
    **dict.fromkeys(SIBLING_PACKAGES, LANGUAGE | {"core", "system"}),
    "engine": BELOW_ENGINE,
    **dict.fromkeys(("daemon", "embed"), BELOW_ENGINE | {"engine"}),
    "cli": BELOW_ENGINE | {"engine", "daemon"},
}
"""What a package may import beside itself. `__init__` is the package's own: the version."""

SHARED_FOLDERS = frozenset({"stores/sql"})
"""What several implementations of a contract share; it knows none of them."""

DAEMON_CLIENT = "daemon.local.client"
"""All of the daemon that the command line may import: the other end of the wire."""


def one_way(source: Source) -> Iterator[Finding]:
    """A package imports the packages below it, never one above or beside it."""
    if source.package_name not in MAY_IMPORT:
        yield Finding(
            source.path,
            1,
            f"`{source.package_name}` is no known package; add it to MAY_IMPORT with what it may import",
        )
        return
    for name, line in _ours(source):
        target = name.split(".", 1)[0]
        if target != source.package_name and target not in MAY_IMPORT[source.package_name]:
            allowed = ", ".join(sorted(MAY_IMPORT[source.package_name])) or "nothing of ours"
            yield Finding(
                source.path,
                line,
                f"`{source.package_name}` may not import `{target}` (only {allowed}); "
                "take a value as an argument, or move what both need into `core`",
            )
        elif source.package_name == "cli" and target == "daemon" and not _within(name, DAEMON_CLIENT):
            yield Finding(
                source.path,
                line,
                f"`cli` may import `{DAEMON_CLIENT}` only; ask the daemon over its socket instead",
            )


def folders_apart(folders: frozenset[str]) -> Check:
    """Inside a package, one implementation's folder (`harnesses/alpha`) does not know another's."""

    def check(source: Source) -> Iterator[Finding]:
        own = "/".join(source.path.split("/")[:2])
        for name, line in _ours(source):
            theirs = "/".join(name.split(".")[:2])
            registry = source.path == f"{source.package_name}/__init__.py"
            if _uses_driver(own, name):
                continue
            if (
                theirs in folders
                and theirs != own
                and theirs.startswith(f"{source.package_name}/")
                and not registry
            ):
                contract = f"{source.package_name}/base.py"
                says = f"`{theirs}` is one implementation among others; share through `{contract}`"
                yield Finding(source.path, line, says)

    return check


def _uses_driver(own: str, name: str) -> bool:
    """A hub is a PostgreSQL database too; how one connects to it knows no table of the store."""
    return own == "stores/hub" and _within(name, "stores.postgres.connection")


def standard_library_only(source: Source) -> Iterator[Finding]:
    """What starts with every prompt or every command loads the standard library and nothing else."""
    allowed_of_ours = {
        "hook.py": (),
        "relay.py": ("holdfast.hook",),
        "system.py": (),
        "daemon/local/wire.py": (),
        "daemon/local/client.py": (
            "holdfast.errors",
            "holdfast.hook",
            "holdfast.system",
            "holdfast.daemon.local.wire",
        ),
    }.get(source.path)
    if allowed_of_ours is None:
        return
    for name, line in imported(source):
        standard = name.split(".", 1)[0] in sys.stdlib_module_names
        if not standard and not any(_within(name, allowed) for allowed in allowed_of_ours):
            yield Finding(
                source.path, line, f"`{name}` is not in the standard library; this file must start fast"
            )


def _ours(source: Source) -> Iterator[tuple[str, int]]:
    """What it imports of the package, without the package's name; `__init__` for the package itself."""
    for name, line in imported(source):
        if name.startswith("."):
            yield _relative(source, name), line
        elif name == "holdfast" or _within(name, "holdfast.__version__"):
            yield "__init__", line
        elif _within(name, "holdfast"):
            yield name.removeprefix("holdfast."), line


def _relative(source: Source, name: str) -> str:
    """A relative import in full, so that it cannot hide where it leads."""
    level = len(name) - len(name.lstrip("."))
    parts = source.path.split("/")[:-level]
    return ".".join([*parts, name.lstrip(".")])


def _within(name: str, parent: str) -> bool:
    return name == parent or name.startswith(f"{parent}.")


def _folders_on_disk() -> frozenset[str]:
    """`harnesses/alpha` for every folder inside a package that holds implementations of one contract."""
    paths = (source.path.split("/") for source in package())
    return (
        frozenset("/".join(parts[:2]) for parts in paths if parts[0] in SIBLING_PACKAGES and len(parts) > 2)
        - SHARED_FOLDERS
    )


@pytest.mark.parametrize("check", [one_way, standard_library_only, folders_apart(_folders_on_disk())])
def test_the_package_keeps_its_direction(check: Check) -> None:
    assert_holds(check, package())


@every_row(
    ("path", "line"),
    [
        ("core/session/session.py", "from holdfast.stores.base import Store"),
        ("core/session/session.py", "from holdfast.config import load"),
        ("core/session/session.py", "def late():\n    import holdfast.engine.recording.record"),
        ("core/session/session.py", "from ...stores import base"),
        ("stores/memory.py", "from holdfast.files.atomic import write"),
        ("harnesses/base.py", "from holdfast import config"),
        ("files/atomic.py", "from holdfast.engine import record"),
        ("engine/recording/record.py", "from holdfast.daemon.local.client import ask"),
        ("daemon/main.py", "from holdfast.cli.main import main"),
        ("cli/status.py", "from holdfast.daemon.main import run"),
        ("cli/status.py", "import holdfast.daemon.clientele"),
        ("hook.py", "from holdfast.errors import HoldfastError"),
        ("errors.py", "from holdfast.core.events.event import Event"),
        ("config.py", "from holdfast.engine.recording.record import record"),
        ("attic/old.py", "import os"),
    ],
)
def test_an_import_against_the_direction_is_found(path: str, line: str) -> None:
    assert findings_in(one_way, path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("core/session/session.py", "from holdfast.core.events.event import Event"),
        ("core/session/session.py", "from holdfast.errors import HoldfastError"),
        ("stores/memory.py", "from . import base"),
        (
            "engine/recording/record.py",
            "from holdfast.stores.base import Store\nfrom holdfast.config import Config",
        ),
        ("cli/main.py", "from holdfast import __version__\nfrom holdfast.daemon.local.client import ask"),
        ("cli/commands/daemon/harness_commands.py", "from holdfast import hook"),
        ("hook.py", "import os, sys, _socket"),
    ],
)
def test_an_import_along_the_direction_is_fine(path: str, line: str) -> None:
    assert findings_in(one_way, path, line) == ""


@pytest.mark.parametrize("path", ["harnesses/alpha/hooks.py", "harnesses/base.py"])
def test_an_implementation_known_outside_its_folder_is_found(path: str) -> None:
    check = folders_apart(frozenset({"harnesses/alpha", "harnesses/beta"}))
    assert "harnesses/base.py" in findings_in(check, path, "from holdfast.harnesses.beta.hooks import parse")
    assert findings_in(check, path, "from holdfast.harnesses.fields import text") == ""


def test_what_implementations_share_knows_none_of_them() -> None:
    check = folders_apart(_folders_on_disk())
    assert findings_in(check, "stores/sqlite/store.py", "from holdfast.stores.sql.tables import Tables") == ""
    assert findings_in(check, "stores/sql/tables.py", "from holdfast.stores.sqlite.store import SqliteStore")


def test_a_hub_shares_connections_and_nothing_else_with_the_store() -> None:
    check = folders_apart(frozenset({"stores/hub", "stores/postgres"}))
    line = "from holdfast.stores.postgres.connection import connect"
    assert findings_in(check, "stores/hub/owner.py", line) == ""
    assert findings_in(check, "stores/hub/owner.py", line.replace("connection", "store"))
    assert findings_in(
        check, "stores/postgres/store.py", "from holdfast.stores.hub.names import checked_name"
    )


@pytest.mark.parametrize("path", ["hook.py", "daemon/local/client.py"])
def test_a_dependency_in_a_file_that_must_start_fast_is_found(path: str) -> None:
    assert "msgspec" in findings_in(standard_library_only, path, "import os\nimport msgspec")
    assert findings_in(standard_library_only, path, "import os\nfrom json import loads") == ""
