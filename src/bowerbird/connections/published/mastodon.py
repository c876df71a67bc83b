"""Reads public posts of Mastodon and similar servers."""

import asyncio
import io
import re
from collections.abc import Sequence
from typing import Final

from bowerbird.connections.published.records import (
    FORBIDDEN,
    GONE,
    OK,
    Ask,
    Endpoint,
    Outcome,
    adopted,
)
from bowerbird.connections.records import Answer
from bowerbird.model.links import Reason
from bowerbird.sources.formats import Choices
from bowerbird.sources.networks import mastodon
from bowerbird.sources.parsing.json_values import text_at
from bowerbird.sources.post_links import PostLink

# Ids of other forms are not those of the API.
_SOURCE_ID: Final = re.compile(
    r"(?P<host>[a-z0-9.-]{4,253})/(?:notice/)?(?P<id>[0-9A-Za-z]{1,40})", re.ASCII
)


def endpoint(link: PostLink) -> Endpoint | None:
    named = _SOURCE_ID.fullmatch(link.source_id)
    return Endpoint(named["host"], _read) if named else None


async def _read(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
    return {link.post_id: await _one(link, ask) for link in links}


async def _one(link: PostLink, ask: Ask) -> Outcome:
    named = _SOURCE_ID.fullmatch(link.source_id)
    if named is None:
        return Reason.NO_SOURCE
    answer = await ask(f"https://{named['host']}/api/v1/statuses/{named['id']}")
    if answer.status in FORBIDDEN:
        return Reason.SIGN_IN
    if answer.status in GONE and answer.is_json:
        # A post for followers only is not found either.
        return Reason.GONE
    if answer.status != OK:
        return Reason.UNREADABLE
    # A server may send a megabyte of tags.
    return await asyncio.to_thread(_status, answer, link, named["id"])


def _status(answer: Answer, link: PostLink, number: str) -> Outcome:
    if text_at(answer.value(), "id") != number:
        return Reason.UNREADABLE
    [*found] = mastodon.read(io.BytesIO(b"[%b]" % answer.body), Choices())
    return adopted(found[0], link) if len(found) == 1 else Reason.UNREADABLE
