"""Git, read from its own files: whose repository this is, its branch, HEAD, last commits and tracked files.

Git itself is never run: a repository's config names programs that git would start (fsmonitor, filters,
hooks); see docs/decisions/0002. Nothing here touches the working files (`engine.repository.world` looks at
those) or the environment. A repository is hostile ground: only regular files within a size limit are read, no
link inside a git directory is followed, and a pointer to a git directory elsewhere counts only if that place
points back. Whatever cannot be read is an empty value, never an exception.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from holdfast.core.events.world import Project
from holdfast.core.text.lazy_patterns import compiled
from holdfast.engine.repository.git_config import ConfigSetting, settings_in
from holdfast.lazy_dataclass import dataclass

MAX_COMMITS: Final = 5
MAX_SUBJECT: Final = 200
MAX_INDEX: Final = 64 * 1024 * 1024
MAX_PACKED_REFS: Final = 16 * 1024 * 1024
MAX_CONFIG: Final = 1024 * 1024
MAX_POINTER: Final = 8 * 1024
REFLOG_TAIL: Final = 64 * 1024
MAX_ENTRY: Final = 8 * 1024
MAX_LOOSE: Final = 4 * 1024
MAX_REMOTES: Final = 20
_UNPRINTABLE: Final = compiled("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
MAX_TRACKED: Final = (
    20_000  # checking this many files takes about a quarter of a second, while the user waits
)
HASH_SIZES: Final = {"sha1": 20, "sha256": 32}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as seen from one worktree: its top, its own git directory, and the one shared by all.

    All are real paths. In a bare repository the root is the git directory.
    """

    root: Path
    git_dir: Path
    common_dir: Path


@dataclass(frozen=True, slots=True)
class DirectoryPlace:
    """Where a directory belongs: its real path, the top of its project, its repository if one is trusted."""

    directory: Path
    root: Path
    repository: Repository | None


def identity(path: str) -> Project:
    """The project of a directory by paths alone: those of its git directories, or outside git its own.

    `engine.repository.projects` knows which of these projects moved, and which paths changed hands.
    """
    place = find(path)
    if place is None:
        return Project(path, path, short_hash(path), short_hash(path), path)
    git_dirs = place.repository or Repository(place.root, place.root, place.root)
    project_id, worktree_id = short_hash(str(git_dirs.common_dir)), short_hash(str(git_dirs.git_dir))
    return Project(path, str(place.directory), project_id, worktree_id, str(place.root))


def find(path: str) -> DirectoryPlace | None:
    """The place of a directory, found by climbing as git does but not across a mount point; None if gone.

    A `.git` that points elsewhere and is not confirmed from there ends the climb without a repository:
    otherwise a directory could pass for another project and be given its briefs.
    """
    directory = _real(path) if path else None
    if directory is None:
        return None
    device = _device(directory)
    for here in (directory, *directory.parents):
        if _device(here) != device:
            break
        # Every hook event climbs all directories above a project, and most have nothing of git's.
        if not (os.path.lexists(f"{here}/.git") or os.path.lexists(f"{here}/HEAD")):
            continue
        repository = _repository_at(here)
        if repository is not None or _kind(here / ".git") in (stat.S_IFREG, stat.S_IFLNK):
            return DirectoryPlace(directory, here, repository)
    return DirectoryPlace(directory, directory, None)


def head(repository: Repository) -> tuple[str, str]:
    """Branch and commit. Detached: no branch; unborn: no commit; unreadable: neither."""
    if not _keeps_refs_in_files(repository):
        return "", ""
    pointer = _read_line(repository.git_dir / "HEAD")
    if _OBJECT_ID.match(pointer):
        return "", pointer.decode("ascii")
    name = _ref_named_by(pointer)
    if not name:
        return "", ""
    return shown(name.removeprefix("refs/heads/")), _resolve(name, repository.common_dir)


def last_commits(repository: Repository) -> tuple[str, ...]:
    """Subjects of the commits made in this worktree, newest first; one that was amended away is left out."""
    if not _keeps_refs_in_files(repository):
        return ()
    tail = _read_end(repository.git_dir / "logs" / "HEAD", REFLOG_TAIL) or b""
    subjects: list[str] = []
    amended: set[bytes] = set()
    for line in reversed(tail.split(b"\n")):
        entry = _COMMIT.match(line)
        if entry is None:
            continue
        if entry["how"] == b"amend":
            amended.add(entry["old"])
        if entry["new"] not in amended:
            subjects.append(shown(os.fsdecode(entry["subject"]))[:MAX_SUBJECT])
        if len(subjects) == MAX_COMMITS:
            break
    return tuple(subjects)


def first_reflog_entry(repository: Repository) -> bytes:
    """The oldest entry in the reflog of HEAD, as the directory that all worktrees share has it; or nothing.

    It says when, by whom and with which commit the repository began, until git drops it as too old.
    """
    if not _keeps_refs_in_files(repository):
        return b""
    start = _read_part(repository.common_dir / "logs" / "HEAD", MAX_ENTRY) or b""
    entry, newline, _ = start.partition(b"\n")
    return entry if newline and _MOVE.match(entry) else b""


def beginning(entry: bytes) -> int:
    """When the repository began, in seconds, if this reflog entry is its first; else 0."""
    match = _BEGINNING.match(entry)
    return int(match["at"]) if match else 0


def remote_addresses(repository: Repository) -> dict[str, str]:
    """The address of each remote by its name, as the repository's own settings give it."""
    addresses: dict[str, str] = {}
    for setting in _settings_in(repository.common_dir / "config"):
        if setting.section == "remote" and setting.subsection and setting.name == "url":
            # Git fetches from the first of several addresses; an empty one clears those before it.
            if setting.value:
                addresses.setdefault(setting.subsection, setting.value)
            else:
                addresses.pop(setting.subsection, None)
    return dict(list(addresses.items())[:MAX_REMOTES])


def tracked_remote(repository: Repository) -> str:
    """The name of the remote that the branch of this worktree tracks; empty if none."""
    pointer = _read_line(repository.git_dir / "HEAD") if _keeps_refs_in_files(repository) else b""
    branch = _ref_named_by(pointer).removeprefix("refs/heads/")
    remote = ""
    for setting in _settings_in(repository.common_dir / "config"):
        if (setting.section, setting.subsection, setting.name) == ("branch", branch, "remote"):
            remote = setting.value
    return remote


def moves_since(repository: Repository, commit: str) -> tuple[str, ...] | None:
    """What moved HEAD in this worktree since it was at that commit, newest first; None if unknown."""
    if not commit or not _keeps_refs_in_files(repository):
        return None
    if head(repository)[1] == commit:
        return ()
    tail = _read_end(repository.git_dir / "logs" / "HEAD", REFLOG_TAIL) or b""
    moves: list[str] = []
    for line in reversed(tail.split(b"\n")):
        entry = _MOVE.match(line)
        if entry is None:
            continue
        if entry["new"] == commit.encode():
            return tuple(moves)
        moves.append(shown(os.fsdecode(entry["what"]))[:MAX_SUBJECT])
    return None


def commits_made_on(repository: Repository) -> dict[str, str]:
    """The commit on which each one that was made in this worktree was made, as the log of HEAD says."""
    if not _keeps_refs_in_files(repository):
        return {}
    tail = _read_end(repository.git_dir / "logs" / "HEAD", REFLOG_TAIL) or b""
    entries = [entry for line in tail.split(b"\n") if (entry := _COMMIT.match(line))]
    # One that was amended or merged was made on another one.
    return {entry["new"].decode(): entry["old"].decode() for entry in entries if entry["how"] is None}


def loose_object(repository: Repository, id: str) -> bytes | None:
    """The start of the file that holds an object, still compressed; None if it is packed or not there."""
    return _read_part(repository.common_dir / "objects" / id[:2] / id[2:], MAX_LOOSE)


def tracked(repository: Repository, chosen: Choice, limit: int) -> tuple[str, ...]:
    """Names of the tracked files that are chosen, up to a limit; none if the index cannot be relied on."""
    return tuple(shown(name) for name in _in_index(repository, chosen, limit) or ())


def tracks(repository: Repository, name: str) -> bool | None:
    """Whether a file, named from the root, is tracked; None if the index cannot be relied on.

    Names that some file systems treat as the same count as the same.
    """
    if not os.path.lexists(repository.git_dir / "index"):
        return False
    compared = _as_compared(name)
    matches = _in_index(repository, lambda file: _as_compared(file.name) == compared, 1)
    return None if matches is None else bool(matches)


def _as_compared(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _in_index(repository: Repository, chosen: Choice, limit: int) -> tuple[str, ...] | None:
    settings = _settings(repository.git_dir, repository.common_dir)
    index = _read(repository.git_dir / "index", MAX_INDEX)
    hash_size = HASH_SIZES.get(settings.get("extensions.objectformat", "sha1"))
    if index is None or hash_size is None or not _owns_its_root(repository, settings):
        return None
    try:
        return chosen_in(index, hash_size, chosen, limit)
    except (ValueError, IndexError, struct.error):
        return None


def worktrees(repository: Repository) -> tuple[Repository, ...]:
    """The repository as each of its worktrees sees it; the main one first, if it has files."""
    common = repository.common_dir
    settings = _settings(common, common)
    main = _configured_root(common, settings) or (common.parent if common.name == ".git" else None)
    pointers = sorted(common.glob("worktrees/*/gitdir"))
    linked = (_worktree_of(pointer.parent) for pointer in pointers)
    places = (find(str(root)) for root in dict.fromkeys((main, repository.root, *linked)) if root is not None)
    repositories = [
        place.repository for place in places if place is not None and place.repository is not None
    ]
    bare = settings.get("core.bare") in _YES
    return tuple(
        one
        for one in repositories
        if one.common_dir == common and one.root != common and not (bare and one.git_dir == common)
    )


def shown(text: str) -> str:
    """A name or subject as text that fits on one line and can be stored, whatever bytes it was made of."""
    return _UNPRINTABLE.sub("\ufffd", text)


def _repository_at(here: Path) -> Repository | None:
    """The repository whose worktree begins here, or whose git directory this is."""
    git_dir = _git_dir_of(here)
    common = _common_dir(git_dir) if git_dir is not None else None
    if git_dir is not None and common is not None and _is_git_dir(git_dir, common):
        repository = Repository(here, git_dir, common)
        return repository if _points_back(repository) else None
    common = _common_dir(here)
    return Repository(here, here, common) if common is not None and _is_git_dir(here, common) else None


def _git_dir_of(here: Path) -> Path | None:
    """Where `.git` leads: itself if it is a directory, else what the file or link names; not yet believed."""
    dot_git = here / ".git"
    if _kind(dot_git) != stat.S_IFREG:
        return _real(dot_git)
    pointer = _read(dot_git, MAX_POINTER) or b""
    return _named_by(pointer.removeprefix(b"gitdir: "), here) if pointer.startswith(b"gitdir: ") else None


def _common_dir(git_dir: Path) -> Path | None:
    """The directory that all worktrees share; None if a claim to share another's does not hold.

    Only `<common>/worktrees/<name>` may name `<common>`: a stranger cannot place a directory there.
    """
    claim = git_dir / "commondir"
    if not os.path.lexists(claim):
        return git_dir
    common = _named_by(_read(claim, MAX_POINTER) or b"", git_dir)
    return common if common is not None and git_dir.parent == common / "worktrees" else None


def _is_git_dir(git_dir: Path, common_dir: Path) -> bool:
    return all(map(os.path.lexists, (git_dir / "HEAD", common_dir / "objects", common_dir / "refs")))


def _points_back(repository: Repository) -> bool:
    """Whether the git directory points back to this worktree. One inside the worktree needs no pointer."""
    root, git_dir = repository.root, repository.git_dir
    if git_dir != repository.common_dir:
        return _worktree_of(git_dir) == root
    return git_dir.is_relative_to(root) or _configured_root(git_dir, _settings(git_dir, git_dir)) == root


def _worktree_of(git_dir: Path) -> Path | None:
    """The top of the linked worktree that a git directory is of; None if it is not there."""
    pointer = _read(git_dir / "gitdir", MAX_POINTER) or b""
    return _named_by(os.path.dirname(pointer.rstrip(b"\r\n")), git_dir)  # noqa: PTH120 (bytes)


def _owns_its_root(repository: Repository, settings: dict[str, str]) -> bool:
    """Whether the index describes the files under the root: not if bare, nor with another root set."""
    if repository.git_dir != repository.common_dir:
        return True
    is_bare = repository.root == repository.git_dir or settings.get("core.bare") in _YES
    return not is_bare and _configured_root(repository.git_dir, settings) in (None, repository.root)


def _configured_root(git_dir: Path, settings: dict[str, str]) -> Path | None:
    """What `core.worktree` names (submodules have it); None where it is not set."""
    return _named_by(os.fsencode(settings.get("core.worktree", "")), git_dir)


_YES: Final = ("true", "yes", "on", "1")


def _settings(git_dir: Path, common_dir: Path) -> dict[str, str]:
    """The repository's own settings as `section.key`; no subsections, no includes."""
    settings = _plain_settings(common_dir / "config")
    if settings.get("extensions.worktreeconfig") in _YES:
        settings |= _plain_settings(git_dir / "config.worktree")
    return settings


def _plain_settings(file: Path) -> dict[str, str]:
    return {
        f"{each.section}.{each.name}": each.value for each in _settings_in(file) if each.subsection is None
    }


def _settings_in(file: Path) -> Iterator[ConfigSetting]:
    return settings_in(os.fsdecode(_read(file, MAX_CONFIG) or b""))


def _keeps_refs_in_files(repository: Repository) -> bool:
    """Whether refs are plain files. A reftable has its own format, and plain files beside it mean nothing."""
    settings = _settings(repository.git_dir, repository.common_dir)
    return settings.get("extensions.refstorage", "files") == "files"


_OBJECT_ID: Final = compiled(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF_PART: Final = r"/(?!\.)[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.lock)(?<!\.)"
_REF_NAME: Final = compiled(rf"refs(?:{_REF_PART})+\Z")
_COMMIT: Final = compiled(
    rb"(?P<old>[0-9a-f]+) (?P<new>[0-9a-f]+) [^\t]*\tcommit(?: \((?P<how>[a-z-]+)\))?: (?P<subject>.*)"
)

_BEGINNING: Final = compiled(rb"0+ [^\t]*> (?P<at>[0-9]{1,12}) [+-][0-9]{4}\t")
_MOVE: Final = compiled(rb"[0-9a-f]+ (?P<new>[0-9a-f]+) [^\t]*\t(?P<what>.*)")


def _ref_named_by(line: bytes) -> str:
    name = os.fsdecode(line.removeprefix(b"ref:").strip())
    return name if line.startswith(b"ref:") and _REF_NAME.match(name) and ".." not in name else ""


def _resolve(name: str, common_dir: Path) -> str:
    """The commit a ref stands for, loose before packed. An unreadable loose ref hides a stale packed one."""
    for _ in range(5):
        path = common_dir / name
        if _kind(path) in (0, stat.S_IFDIR):
            return _packed(name, common_dir)
        line = _read_line(path)
        if _OBJECT_ID.match(line):
            return line.decode("ascii")
        name = _ref_named_by(line)
        if not name:
            return ""
    return ""


def _packed(name: str, common_dir: Path) -> str:
    packed = _read(common_dir / "packed-refs", MAX_PACKED_REFS) or b""
    line = rb"^([0-9a-f]{40}|[0-9a-f]{64}) " + re.escape(os.fsencode(name)) + rb"\r?$"
    match = re.search(line, packed, re.MULTILINE)
    return match[1].decode("ascii") if match else ""


_PLAINLY: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


def _read(path: Path, limit: int) -> bytes | None:
    """A regular file within a size limit, whole; None for anything else."""
    content = _read_end(path, limit + 1)
    return content if content is not None and len(content) <= limit else None


def _read_line(path: Path) -> bytes:
    return (_read(path, MAX_POINTER) or b"").rstrip(b"\r\n ")


def _read_end(path: Path, limit: int) -> bytes | None:
    """The last bytes of a regular file that no link leads to."""
    return _read_part(path, limit, from_end=True)


def _read_part(path: Path, limit: int, *, from_end: bool = False) -> bytes | None:
    """The first or last bytes of a regular file. Opening never waits, not even at a FIFO."""
    try:
        if _real(path.parent) != path.parent:
            return None
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _PLAINLY)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            file.seek(max(0, status.st_size - limit) if from_end else 0)
            return file.read(limit)
    except (OSError, ValueError):
        return None


def _named_by(pointer: bytes, base: Path) -> Path | None:
    """The real path that a pointer names, relative to where git reads it from; None if it is not there."""
    target = pointer.rstrip(b"\r\n")
    return _real(base / os.fsdecode(target)) if target else None


def _real(path: str | Path) -> Path | None:
    try:
        return Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        return None


def _kind(path: Path) -> int:
    """What kind of file this is, as `stat.S_IF…`; 0 for none."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (OSError, ValueError):
        return 0


def _device(directory: Path) -> int:
    """Which file system a directory is on; 0 if unknown."""
    try:
        return directory.lstat().st_dev
    except OSError:
        return 0


def short_hash(text: str) -> str:
    """A short name for a path or a mark that reveals nothing of it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class TrackedFile(NamedTuple):
    """A file or link in the index, with its kind (`stat.S_IF…`), size and time when git last saw it clean."""

    name: str
    kind: int
    modified_ns: int
    """0 if git never looked at the file. The seconds, like the size, are kept modulo 2**32."""
    size: int
    is_unsettled: bool
    """In conflict, or added with intent only."""


Choice: TypeAlias = Callable[[TrackedFile], bool]


_STAT: Final = struct.Struct(">8x II 8x I 8x I")  # mtime in seconds and nanoseconds, mode, size
_ASSUME_VALID, _EXTENDED, _STAGE = 0x8000, 0x4000, 0x3000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000
_MAX_NAME: Final = 4096
_UNSAFE_NAME: Final = re.compile(rb"(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)
_COMPRESSED: Final = 4


def chosen_in(index: bytes, hash_size: int, chosen: Choice, limit: int) -> tuple[str, ...]:
    signature, version, count = struct.unpack_from(">4sII", index)
    if signature != b"DIRC" or version not in (2, 3, _COMPRESSED):
        raise ValueError("not an index of a known version")
    if count > MAX_TRACKED:
        raise ValueError("more files than there is time to look at")
    offset, name = 12, b""
    names: dict[str, None] = {}
    for _ in range(count):
        flags_at = offset + _STAT.size + hash_size
        flags, following = struct.unpack_from(">HH", index, flags_at)
        name_at, extended = (flags_at + 4, following) if flags & _EXTENDED else (flags_at + 2, 0)
        name, end = _name_at(index, name_at, name if version == _COMPRESSED else None)
        if len(names) < limit:
            file = _tracked_file(name, _STAT.unpack_from(index, offset), flags, extended)
            if file is not None and chosen(file):
                names[file.name] = None
        offset = end if version == _COMPRESSED else offset + ((end - offset + 7) & ~7)
    _refuse_needed_extensions(index, offset, len(index) - hash_size)
    return tuple(names)


def _tracked_file(name: bytes, stat_data: tuple[int, ...], flags: int, extended: int) -> TrackedFile | None:
    """What an entry says; None for a submodule, a sparse directory, and files that git was told to skip."""
    seconds, nanoseconds, mode, size = stat_data
    kind = stat.S_IFMT(mode)
    if kind not in (stat.S_IFREG, stat.S_IFLNK) or flags & _ASSUME_VALID or extended & _SKIP_WORKTREE:
        return None
    if _UNSAFE_NAME.search(name):
        raise ValueError("a name that leaves the worktree")
    is_unsettled = bool(flags & _STAGE or extended & _INTENT_TO_ADD)
    return TrackedFile(os.fsdecode(name), kind, seconds * 1_000_000_000 + nanoseconds, size, is_unsettled)


def _name_at(index: bytes, at: int, previous: bytes | None) -> tuple[bytes, int]:
    """The name at an offset and the offset behind its NUL; a compressed one begins like the previous name."""
    prefix = b""
    if previous is not None:
        dropped, at = _varint(index, at)
        prefix = previous[: max(0, len(previous) - dropped)]
    end = index.index(b"\0", at, at + _MAX_NAME)
    name = prefix + index[at:end]
    if len(name) > _MAX_NAME:
        raise ValueError("a longer name than any file has")
    return name, end + 1


def _varint(index: bytes, at: int) -> tuple[int, int]:
    number = index[at] & 0x7F
    while index[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (index[at] & 0x7F)
        if number > _MAX_NAME:
            raise ValueError("more to drop than any name has")
    return number, at + 1


def _refuse_needed_extensions(index: bytes, offset: int, end: int) -> None:
    """Refuse lower-case extensions, which change what the entries mean: `link` moves most to another file."""
    while offset < end:
        signature, size = struct.unpack_from(">4sI", index, offset)
        if signature[:1].islower() and signature != b"sdir":
            raise ValueError("an index that cannot be read alone")
        offset += 8 + size
