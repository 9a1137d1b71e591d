"""Dream: a JSON sidecar beside the continuity that holds candidates for promotion, for the user to review.

It never rewrites continuity, memory files or instructions. Every step of the user is logged. A file that
cannot be read stops the command; nothing is guessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from holdfast import harnesses
from holdfast.core.documents.continuity import ContinuityPart
from holdfast.core.documents.continuity_summary import generated
from holdfast.core.documents.promotion import (
    Destination,
    PromotionCandidate,
    Proposal,
    ReviewState,
    ReviewStep,
    StepRefused,
    candidates,
    is_applied,
    layer_source,
    proposal,
    rebuild_candidates,
    take_step,
)
from holdfast.engine.documents import continuity_source
from holdfast.engine.documents.continuity import ContinuityFiles, layers, layers_with_paths
from holdfast.engine.documents.continuity_source import ContinuitySource
from holdfast.engine.engine import Engine
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.errors import HoldfastError, NotThere
from holdfast.files import atomic, audit_log, worktree
from holdfast.files.together import locked
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The sidecar: when it was built, from which files, and the candidates."""

    built_at: int
    sources: dict[str, str]
    """The continuity files, each with a hash of its content."""
    candidates: tuple[PromotionCandidate, ...]


@dataclass(frozen=True, slots=True)
class Inspected:
    """The sidecar, with remarks: why it is missing, or what changed since it was built."""

    snapshot: Snapshot | None
    diagnostics: tuple[str, ...]


def build(engine: Engine, continuity: ContinuityFiles, subagent: ContinuitySource | None = None) -> Snapshot:
    """Collect candidates from the continuity or, blocked at first, from a subagent's transcript."""
    at = engine.clock()
    with locked(_folder(continuity)):
        current_layers = layers(continuity)
        fresh = [
            one
            for layer in layers_with_paths(current_layers)
            for one in candidates(
                layer.summary, layer_source(layer.name), layer.by_user, blocked=False, at=at
            )
        ]
        if subagent is not None:
            fresh += _of_subagent(engine, continuity, subagent, at)
        prints = {str(layer.target.whole): _print(layer.target.read()) for layer in current_layers}
        before = _read(continuity)
        snapshot = Snapshot(at, prints, tuple(rebuild_candidates(before.candidates if before else (), fresh)))
        _write(continuity, snapshot)
    return snapshot


def inspect(continuity: ContinuityFiles) -> Inspected:
    """The sidecar as it is; nothing is built."""
    snapshot = _read(continuity)
    if snapshot is None:
        return Inspected(None, ("there is no dream snapshot; `holdfast dream build` makes one",))
    now = {str(layer.target.whole): _print(layer.target.read()) for layer in layers(continuity)}
    changed = [path for path in {**snapshot.sources, **now} if snapshot.sources.get(path) != now.get(path)]
    return Inspected(
        snapshot, tuple(f"`{path}` has changed since the snapshot was built" for path in changed)
    )


def take(
    engine: Engine, continuity: ContinuityFiles, id: str, step: ReviewStep, file: str = ""
) -> PromotionCandidate:
    """Take one review step with a candidate; it is logged before it takes effect."""
    with locked(_folder(continuity)):
        snapshot = _known(continuity)
        before = find(snapshot.candidates, id)
        after = take_step(before, step)
        if isinstance(after, StepRefused):
            raise HoldfastError(after.reason, after.hint)
        if step is ReviewStep.VERIFY and not is_applied(before, _content(continuity, before.became)):
            raise HoldfastError(
                f"`{before.became}` does not say it yet: {before.text}", "apply the proposal by hand first"
            )
        if step is ReviewStep.PROMOTE:
            after = replace(after, became=_promoted(engine, continuity, before, file))
        audit_log.append(_log(continuity), {"at": engine.clock(), "step": step.value, **as_json(after)})
        others = tuple(after if one.id == before.id else one for one in snapshot.candidates)
        _write(continuity, replace(snapshot, candidates=others))
    return after


def prepared(continuity: ContinuityFiles, candidate: PromotionCandidate, file: str = "") -> Proposal:
    """The change to an instruction file that would promote this candidate; nothing is written."""
    target = file or candidate.became or _instruction_file(continuity)
    return proposal(candidate, target, _content(continuity, target))


def find(rows: Sequence[PromotionCandidate], id: str) -> PromotionCandidate:
    """The candidate with that id, or with the only id that begins with it."""
    matches = [one for one in rows if one.id.startswith(id)] if id else []
    if len(matches) != 1:
        hint = "`holdfast dream candidates` lists them"
        if matches:
            raise HoldfastError(f"several candidates begin with `{id}`", hint)
        raise NotThere(f"there is no candidate `{id}`", hint)
    return matches[0]


def as_json(candidate: PromotionCandidate) -> dict[str, Any]:
    """A candidate as JSON."""
    return {**asdict(candidate), "lane": candidate.lane.value, "standing": candidate.standing.value}


def _of_subagent(
    engine: Engine, continuity: ContinuityFiles, source: ContinuitySource, at: int
) -> list[PromotionCandidate]:
    session = continuity_source.read(engine, source, continuity.project)
    redact = engine.redactor(continuity.project).of_session(source.session)
    summaries = generated(session).layers.values()
    all_candidates = (
        one
        for summary in summaries
        for one in candidates(summary, str(source.transcript), (), blocked=True, at=at)
    )
    return [replace(one, text=redact(one.text)) for one in all_candidates]


def _promoted(engine: Engine, continuity: ContinuityFiles, candidate: PromotionCandidate, file: str) -> str:
    """Promote a candidate; returns the id of the memory, or the file that the proposal is for."""
    if candidate.lane is Destination.DURABLE:
        return remember(engine, continuity.project, MemoryRequest(candidate.text), source="dream").memory.id
    target = file or _instruction_file(continuity)
    change = proposal(candidate, target, _content(continuity, target))
    atomic.write(
        _folder(continuity) / "proposals" / f"{candidate.id}.json", json.dumps(asdict(change)).encode()
    )
    return target


def _instruction_file(continuity: ContinuityFiles) -> str:
    root = Path(continuity.project.root)
    file_names = harnesses.instruction_files()
    return next((name for name in file_names if (root / name).is_file()), file_names[0])


def _content(continuity: ContinuityFiles, file: str) -> str:
    raw = worktree.read(Path(continuity.project.root), file)
    return (raw or b"").decode("utf-8", "replace")


def _known(continuity: ContinuityFiles) -> Snapshot:
    snapshot = _read(continuity)
    if snapshot is None:
        raise NotThere("there is no dream snapshot", "`holdfast dream build` makes one")
    return snapshot


def _read(continuity: ContinuityFiles) -> Snapshot | None:
    path = _folder(continuity) / "snapshot.json"
    raw = atomic.read(path)
    if raw is None:
        return None
    try:
        content = json.loads(raw)
        rows = tuple(_candidate(row) for row in content["candidates"])
        return Snapshot(int(content["built_at"]), dict(content["sources"]), rows)
    except (ValueError, KeyError, TypeError) as error:
        raise HoldfastError(
            f"`{path}` cannot be read: {error}", "put it aside and run `holdfast dream build`"
        ) from error


def _candidate(row: dict[str, Any]) -> PromotionCandidate:
    kinds: dict[str, Callable[[str], Any]] = {
        "lane": Destination,
        "standing": ReviewState,
        "part": ContinuityPart,
    }
    return PromotionCandidate(
        **{name: kinds[name](value) if name in kinds else value for name, value in row.items()}
    )


def _write(continuity: ContinuityFiles, snapshot: Snapshot) -> None:
    rows = [as_json(one) for one in snapshot.candidates]
    content = {"built_at": snapshot.built_at, "sources": snapshot.sources, "candidates": rows}
    atomic.write(
        _folder(continuity) / "snapshot.json", json.dumps(content, ensure_ascii=False, indent=1).encode()
    )


def _folder(continuity: ContinuityFiles) -> Path:
    return continuity.places.folder.parent / "dream"


def _log(continuity: ContinuityFiles) -> Path:
    return continuity.log.with_name("dream-log.jsonl")


def _print(raw: bytes | None) -> str:
    return hashlib.sha256(raw or b"").hexdigest()[:16]
