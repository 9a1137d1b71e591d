"""Viewing: gives a command what it is to print, so that it need not load what makes that.

It is made in a thread of its own with its own way to the store, as the command would: no letter waits for it.
Where anything stands in the way, the answer is an error, and the command looks for itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast import config
from holdfast.config import Config
from holdfast.core.events.world import Project
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.engine.repository import projects
from holdfast.errors import HoldfastError
from holdfast.stores.held import emptied


async def answer(dispatcher: Dispatcher, body: bytes) -> dict[str, object]:
    """A view by its name, for a directory's project and with a command's variables, and a note about both."""
    asked: dict[str, Any] = json.loads(body)
    if asked["is_current"]:
        await dispatcher.take_in_all()
    try:
        return await asyncio.to_thread(_view, dispatcher, asked)
    except HoldfastError as error:
        return {"error": error.message}


def _view(dispatcher: Dispatcher, asked: Mapping[str, Any]) -> dict[str, object]:
    # Loaded when the first command asks: no hook needs it.
    from holdfast.engine.views.command_views import VIEWS

    path = dispatcher.home / "store.db"
    if not path.exists() or emptied(path):
        return {"error": "there is no store"}
    with dispatcher.own_desk() as own:
        environment: dict[str, str] = asked["environment"]
        user_home = Path(environment["HOME"]) if environment.get("HOME") else own.user_home
        settings = partial(_settings, dispatcher.home, environment)
        engine = replace(own, user_home=user_home, config=settings)
        found = (
            projects.follow(engine.store, asked["directory"], engine.clock()) if asked["directory"] else None
        )
        view = VIEWS[asked["view"]](engine, found.project if found else None, **asked["options"])
        return {"view": view, "note": found.note if found else ""}


def _settings(home: Path, environment: Mapping[str, str], project: Project) -> Config:
    return config.load(home, Path(project.root), project.project_id, environment).config
