"""Heritage: whoever wants old sessions inherited is told on the first run what there is, and how to take it.

Nothing is taken here: an agent's first session begins with it, and `holdfast import` makes it findable.
"""

from __future__ import annotations

import os
from pathlib import Path

from holdfast import config, harnesses
from holdfast.cli import access
from holdfast.cli.printing import say
from holdfast.engine.inherit import own_key, to_inherit
from holdfast.stores.codec import to_iso


def say_what_could_be_inherited() -> None:
    """Say it where the settings want sessions inherited and none was yet; nothing otherwise."""
    project = access.project_at(None)
    settings = config.load(access.home(), Path(project.root), project.project_id, os.environ).config.session
    if not settings.inherit.enabled:
        return
    key = settings.default_key
    with access.stored_desk() as desk:
        found = to_inherit(desk, project, os.environ)
    if not found:
        return
    reader, newest = harnesses.log_reader(), found[0]
    count = f"{len(found)} session{'s' if len(found) > 1 else ''} that could be inherited"
    where = f"the newest of {to_iso(newest.updated_at)[:10]} in `{newest.path}`"
    say(f"\n{reader.title}: {count}, {where}; they are only ever read")
    if any(log.key == key for log in found):
        say(f"`{key}`: your agent's first `load()` begins with it and goes on as `{own_key(key)}`")
    else:
        say(f"`{key}`: not among them; `session.default_key` says which one is inherited")
    say(f"`holdfast import {reader.name}` makes what was said in all of them findable")
