"""Makes what a command prints, so that the command need not load the engine.

This runs in a thread of its own with its own connection to the store, so no hook event waits for it. If
anything fails, the answer is an error, and the command makes the view itself.
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
from holdfast.engine.home_store import lost, there_is_one
from holdfast.engine.repository import projects
from holdfast.errors import HoldfastError


async def answer(dispatcher: Dispatcher, body: bytes) -> dict[str, object]:
    """The named view for a directory's project and a command's environment, with a note for the user."""
    request: dict[str, Any] = json.loads(body)
    if request["is_current"]:
        await dispatcher.take_in_all()
    try:
        return await asyncio.to_thread(_view, dispatcher, request)
    except HoldfastError as error:
        return {"error": error.message}


def _view(dispatcher: Dispatcher, request: Mapping[str, Any]) -> dict[str, object]:
    # Loaded when the first command asks: no hook needs it.
    from holdfast.engine.views.command_views import VIEWS

    if not there_is_one(dispatcher.home) or lost(dispatcher.home):
        return {"error": "there is no store"}
    with dispatcher.own_engine() as own:
        environment: dict[str, str] = request["environment"]
        user_home = Path(environment["HOME"]) if environment.get("HOME") else own.user_home
        settings = partial(_settings, dispatcher.home, environment)
        engine = replace(own, user_home=user_home, config=settings)
        resolved = (
            projects.follow(engine.store, request["directory"], engine.clock())
            if request["directory"]
            else None
        )
        view = VIEWS[request["view"]](engine, resolved.project if resolved else None, **request["options"])
        return {"view": view, "note": resolved.note if resolved else ""}


def _settings(home: Path, environment: Mapping[str, str], project: Project) -> Config:
    return config.load(home, Path(project.root), project.project_id, environment).config
