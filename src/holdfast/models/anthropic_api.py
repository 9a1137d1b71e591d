"""A model behind Anthropic's Messages API, through its SDK.

Key and address are always passed, and only Holdfast's own headers are sent: what the SDK would find in the
environment belongs to other programs.
"""

from __future__ import annotations

from typing import Final

import anthropic

from holdfast.errors import ModelBusy, ModelError
from holdfast.models.base import CUT_OFF, REFUSED, Address, ModelAnswer, only_own_headers, status_error

_TROUBLE: Final = {"refusal": REFUSED, "max_tokens": CUT_OFF}
ITS_OWN: Final = "https://api.anthropic.com"


class AnthropicWriter:
    """One model of Anthropic's, or behind an API like it."""

    def __init__(self, model: str, address: Address) -> None:
        self._model = model
        self._address = address

    @property
    def name(self) -> str:
        return f"anthropic/{self._model}"

    def write(self, question: str, most_tokens: int) -> ModelAnswer:
        try:
            with _client(self._address) as client:
                answer = client.messages.create(
                    model=self._model,
                    max_tokens=most_tokens,
                    messages=[{"role": "user", "content": question}],
                )
        except (anthropic.AnthropicError, ValueError) as error:
            raise _translated(error) from error
        text = "".join(block.text for block in answer.content or () if block.type == "text")
        usage = answer.usage
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        trouble = _TROUBLE.get(answer.stop_reason or "", "")
        return ModelAnswer(text, usage.input_tokens + cached, usage.output_tokens, trouble)


def load(model: str, address: Address) -> AnthropicWriter:
    """The model of that name."""
    return AnthropicWriter(model, address)


def _client(address: Address) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key=address.key,
        base_url=address.base_url or ITS_OWN,
        timeout=address.timeout,
        max_retries=0,
        http_client=anthropic.DefaultHttpxClient(event_hooks={"request": [only_own_headers(address.key)]}),
        open_telemetry=False,
    )


def _translated(error: Exception) -> ModelError:
    match error:
        case anthropic.APIStatusError(status_code=status, message=message):
            return status_error(status, message, error.response.headers.get("retry-after", ""))
        case anthropic.APITimeoutError():
            return ModelBusy("no answer in time")
        case anthropic.APIConnectionError():
            return ModelBusy(f"it cannot be reached: {error}")
        case _:
            return ModelBusy(f"its answer cannot be read: {error}")
