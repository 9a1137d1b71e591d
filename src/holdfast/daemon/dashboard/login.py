"""A browser's login: a one-time link is exchanged for a cookie, and the link becomes invalid."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse

from holdfast.daemon.access.guard import COOKIE
from holdfast.daemon.access.keys import COOKIE_DAYS
from holdfast.daemon.api.executor import Executor

_DAY: Final = 86_400
# The page refreshes instead of redirecting: after a redirect a browser would not send the new cookie if
# another site opened the link.
_OPEN: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta http-equiv="refresh" content="0;url=/"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/static/icon.svg"></head>
<body><p><a href="/">Go on to the dashboard</a></p></body></html>
"""
_SPENT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta name="color-scheme" content="light dark"></head>
<body><main><h1>This link was used, or is too old</h1>
<p>Run <code>holdfast dashboard</code> again: it makes a new one.</p></main></body></html>
"""


async def let_in(request: Request) -> HTMLResponse:
    """Give the browser that follows a link its cookie, once."""
    executor: Executor = request.app.state.executor
    cookie = executor.keys.spend(request.query_params.get("key", ""))
    if not cookie:
        return HTMLResponse(_SPENT, 403)
    answer = HTMLResponse(_OPEN)
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=COOKIE_DAYS * _DAY,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer
