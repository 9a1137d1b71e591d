"""The contracts of the models: what each kind is asked, and what it answers.

A model that cannot answer raises ModelError; asking one never makes anything else fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from holdfast.errors import ModelBusy, ModelError
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from httpx2 import Request


Vector: TypeAlias = tuple[float, ...]
"""A text's direction, at length one; empty if the model knows none of its words."""

Count: TypeAlias = Callable[[Iterable[str]], int]
"""How many tokens these texts have together, as o200k counts them."""


class Embedder(Protocol):
    """Compares texts by meaning. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Which model it is. Vectors can be compared only with those of the same name."""
        ...

    @property
    def dimensions(self) -> int:
        """How long its vectors are."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Where each text points; two that mean the same have a dot product near one."""
        ...

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        """How much of these words each text says, in the same words or in like ones, from 0 to 1.

        Finer than a vector, which is the average of all that a text says, and made from the text itself: so
        it is for the few texts that a search has found.
        """
        ...

    def knows(self, words: Sequence[str]) -> bool:
        """Whether it knows what any of these words means, and not merely how it is spelled."""
        ...


REFUSED: Final = "it refused to answer"
CUT_OFF: Final = "its answer was cut off"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model wrote, and how many tokens it was sent and gave back, as it counted them."""

    text: str
    sent: int
    received: int
    trouble: str = ""
    """Why the text is of no use, although it was paid for."""


@dataclass(frozen=True, slots=True)
class Address:
    """An API's address and key; an empty address is the vendor's own."""

    key: str
    base_url: str = ""
    timeout: float = 60.0


class Writer(Protocol):
    """Answers one question with one text. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Which model it is, for a person."""
        ...

    def write(self, question: str, most_tokens: int) -> ModelAnswer:
        """The answer, of at most so many tokens. ModelBusy if it is worth asking again, else ModelError."""
        ...


def status_error(status: int, message: str, retry_after: str) -> ModelError:
    """What an HTTP status says about asking again; `retry_after` is the header of that name."""
    if status in _PASSING or status >= 500:
        return ModelBusy(f"HTTP {status}", after=float(retry_after) if retry_after.isdecimal() else 0.0)
    return ModelError(f"HTTP {status}: {message}")


_PASSING: Final = frozenset({408, 409, 429})


AGENT: Final = "holdfast"
_OF_THE_PROTOCOL: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding"),
        *("anthropic-version", "authorization", "host", "user-agent", "x-api-key"),
    }
)
"""Of the SDKs' own headers, those that a server needs to understand a request."""


def only_own_headers(key: str) -> Callable[[Request], None]:
    """What takes everything else out of a request before it is sent, and leaves it this key and no other."""

    def keep(request: Request) -> None:
        headers = request.headers
        for name in list(headers):
            if name.lower() not in _OF_THE_PROTOCOL:
                del headers[name]
        headers["host"] = request.url.netloc.decode("ascii")
        headers["user-agent"] = AGENT
        for name, own_value in (("authorization", f"Bearer {key}"), ("x-api-key", key)):
            if name in headers:
                headers[name] = own_value

    return keep
