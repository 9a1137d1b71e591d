"""Memories are held against the files of the project that they were said in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.core.memory.audit import MemoryProblem
from holdfast.engine.memory.audit import audit
from holdfast.engine.repository.git import identity
from tests.engine.library import DAY, OTHER, Library


def test_a_file_that_is_gone_makes_its_memory_stale(library: Library, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "there.py").write_text("")
    shop = identity(str(tmp_path))
    library.remember("The parser is in src/there.py", shop)
    gone = library.remember("The lexer is in src/gone.py", shop).memory
    library.remember("The lexer is in src/gone.py", replace(shop, project_id="other"))
    audited = audit(library.engine(), shop, all_projects=True)
    assert audited.looked_at == 3
    stale = [memory.id for doubt, memory in audited.found if doubt.problem is MemoryProblem.STALE]
    assert gone.id in stale


def test_only_what_can_be_seen_from_here_is_looked_at(library: Library, tmp_path: Path) -> None:
    library.remember("Prefer tabs", OTHER)
    library.now += 100 * DAY
    assert audit(library.engine(), identity(str(tmp_path))).looked_at == 0
    (found,) = audit(library.engine(), OTHER).found
    assert found[0].problem is MemoryProblem.UNUSED
