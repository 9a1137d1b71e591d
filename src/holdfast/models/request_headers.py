"""Request headers: send only what Holdfast's own settings account for.

The SDKs add to their requests whatever the environment sets for other programs: headers, another key, an
organisation, a project. Holdfast sends none of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from httpx2 import Request

AGENT: Final = "holdfast"
_OF_THE_PROTOCOL: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding"),
        *("anthropic-version", "authorization", "host", "user-agent", "x-api-key"),
    }
)
"""Of the SDKs' own headers, those that a server needs to understand a request."""


def only_ours(key: str) -> Callable[[Request], None]:
    """What takes everything else out of a request before it is sent, and leaves it this key and no other."""

    def keep(request: Request) -> None:
        headers = request.headers
        for name in list(headers):
            if name.lower() not in _OF_THE_PROTOCOL:
                del headers[name]
        headers["host"] = request.url.netloc.decode("ascii")
        headers["user-agent"] = AGENT
        for name, ours in (("authorization", f"Bearer {key}"), ("x-api-key", key)):
            if name in headers:
                headers[name] = ours

    return keep
