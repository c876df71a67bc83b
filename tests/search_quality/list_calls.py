"""Calls the list endpoint without an HTTP client, which would take more time than the search."""

import asyncio
from urllib.parse import urlencode

import msgspec
from starlette.types import ASGIApp, Message

from bowerbird.library.bookmarks.searching.explaining import NOT_CLOSE
from tests.search_quality.measuring import Answer


async def listed(app: ASGIApp, key: str, parameters: dict[str, str]) -> Answer:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/bookmarks",
        "query_string": urlencode(parameters).encode(),
        "headers": [(b"authorization", f"Bearer {key}".encode())],
    }
    received: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if received:
            return received.pop()
        # The client stays connected until the response is complete.
        return await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert sent[0]["status"] == 200, body
    answer = msgspec.json.decode(body)
    meta = answer["meta"]
    post_ids = [post["post_id"] for post in answer["data"]]
    is_close = NOT_CLOSE not in meta.get("hint", "")
    return Answer(post_ids, meta["total_count"], meta.get("relaxed", False), is_close)
