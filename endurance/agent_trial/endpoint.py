"""The model: an endpoint for chat completions in the form of OpenAI, of the operator's choice."""

import os
from typing import Any, Final

import httpx
from msgspec import Struct

Json = dict[str, Any]

TIMEOUT_S: Final = 180


class Unusable(Exception):  # noqa: N818 - the operator reads it as a sentence
    """The endpoint is not set, or does not answer as expected. Never with the key."""


class Endpoint(Struct, frozen=True):
    url: str
    model: str
    key: str = ""
    is_strict: bool = False

    def __repr__(self) -> str:
        return f"Endpoint({self.url}, {self.model})"

    def reply(self, messages: list[Json], functions: list[Json]) -> Json:
        """The next message of the model."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        sent = {"model": self.model, "messages": messages, "tools": functions}
        address = f"{self.url.rstrip('/')}/chat/completions"
        try:
            answer = httpx.post(address, json=sent, headers=headers, timeout=TIMEOUT_S)
        except httpx.HTTPError as fault:
            raise Unusable(f"The endpoint cannot be reached: {type(fault).__name__}.") from None
        if answer.status_code != httpx.codes.OK:
            # Its body may repeat the key.
            raise Unusable(f"The endpoint answered {answer.status_code}.")
        try:
            message: Json = answer.json()["choices"][0]["message"]
        except (ValueError, KeyError, IndexError, TypeError):
            raise Unusable("The endpoint answered something else than a completion.") from None
        return message


def from_environment() -> Endpoint:
    url, model = os.environ.get("AGENT_URL", ""), os.environ.get("AGENT_MODEL", "")
    if not url.startswith(("http://", "https://")) or not model:
        raise Unusable(
            "Set AGENT_URL to the address of an OpenAI-compatible API, such as "
            "http://localhost:11434/v1, and AGENT_MODEL to the name of a model."
        )
    return Endpoint(
        url, model, os.environ.get("AGENT_KEY", ""), os.environ.get("AGENT_STRICT") == "1"
    )
