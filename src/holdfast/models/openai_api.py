"""A model behind OpenAI's Chat Completions API, through its SDK, or behind any server that speaks like it.

Key and address are always passed, and only Holdfast's own headers are sent: what the SDK would find in the
environment belongs to other programs. The user's own server needs no key.
"""

from __future__ import annotations

from typing import Final

import openai

from holdfast.errors import ModelBusy, ModelError
from holdfast.models.base import CUT_OFF, REFUSED, Address, ModelAnswer, only_own_headers, status_error

_TROUBLE: Final = {"content_filter": REFUSED, "length": CUT_OFF}
ITS_OWN: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"


class OpenaiWriter:
    """One model behind such an API."""

    def __init__(self, model: str, address: Address) -> None:
        self._model = model
        self._address = address

    @property
    def name(self) -> str:
        return f"openai/{self._model}"

    def write(self, question: str, most_tokens: int) -> ModelAnswer:
        try:
            with _client(self._address) as client:
                answer = client.chat.completions.create(
                    model=self._model,
                    # Not `max_completion_tokens`: only the vendor's own server knows that.
                    max_tokens=most_tokens,
                    messages=[{"role": "user", "content": question}],
                )
        except (openai.OpenAIError, ValueError) as error:
            raise _translated(error) from error
        usage = answer.usage
        sent, received = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        if not answer.choices:
            return ModelAnswer("", sent, received)
        choice = answer.choices[0]
        trouble = REFUSED if choice.message.refusal else _TROUBLE.get(choice.finish_reason, "")
        return ModelAnswer(choice.message.content or "", sent, received, trouble)


def load(model: str, address: Address) -> OpenaiWriter:
    """The model of that name."""
    return OpenaiWriter(model, address)


def _client(address: Address) -> openai.OpenAI:
    key = address.key or NO_KEY
    return openai.OpenAI(
        api_key=key,
        base_url=address.base_url or ITS_OWN,
        timeout=address.timeout,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(event_hooks={"request": [only_own_headers(key)]}),
    )


def _translated(error: Exception) -> ModelError:
    match error:
        case openai.APIStatusError(status_code=status, message=message):
            return status_error(status, message, error.response.headers.get("retry-after", ""))
        case openai.APITimeoutError():
            return ModelBusy("no answer in time")
        case openai.APIConnectionError():
            return ModelBusy(f"it cannot be reached: {error}")
        case _:
            return ModelBusy(f"its answer cannot be read: {error}")
