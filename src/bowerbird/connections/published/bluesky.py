"""Reads posts of Bluesky, 25 at once. A post is named by the id of its author, not by the name."""

import asyncio
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from bowerbird.connections.published.records import OK, Ask, Endpoint, Outcome, adopted
from bowerbird.connections.records import Answer
from bowerbird.model.links import Reason
from bowerbird.sources.formats import Choices
from bowerbird.sources.networks import bluesky
from bowerbird.sources.parsing.json_values import list_at, text_at
from bowerbird.sources.post_links import PostLink

_HOST: Final = "public.api.bsky.app"
_XRPC: Final = f"https://{_HOST}/xrpc"
_PER_REQUEST: Final = 25
# Each takes a request.
_NAMES_AT_ONCE: Final = 2
_DID: Final = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}")
_BAD_REQUEST: Final = 400
# Keys of posts have 13 characters.
_LONGEST_KEY: Final = 64


async def _read(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
    """The names of some authors are left for later calls."""
    dids: dict[str, str | Reason] = {}
    wanted: dict[str, PostLink] = {}
    outcomes: dict[str, Outcome] = {}
    for link in links:
        _, _, author, collection, key = link.source_id.split("/", 4)
        if not _DID.fullmatch(author) and author not in dids:
            if len(dids) == _NAMES_AT_ONCE:
                continue
            dids[author] = await _did(author, ask)
        did = dids.get(author, author)
        if isinstance(did, Reason):
            outcomes[link.post_id] = did
        elif len(key) > _LONGEST_KEY:
            # The address of the request has room for 25 others.
            outcomes[link.post_id] = Reason.UNREADABLE
        else:
            wanted[f"at://{did}/{collection}/{key}"] = link
    return outcomes | (await _posts(wanted, ask) if wanted else {})


async def _did(name: str, ask: Ask) -> str | Reason:
    query = urlencode({"handle": name})
    answer = await ask(f"{_XRPC}/com.atproto.identity.resolveHandle?{query}")
    if answer.status == _BAD_REQUEST:
        # The author has another name now, or none.
        return Reason.GONE
    did = text_at(answer.value(), "did") if answer.status == OK else ""
    return did if _DID.fullmatch(did) else Reason.UNREADABLE


async def _posts(wanted: dict[str, PostLink], ask: Ask) -> dict[str, Outcome]:
    query = urlencode([("uris", uri) for uri in wanted])
    answer = await ask(f"{_XRPC}/app.bsky.feed.getPosts?{query}")
    # It may be a megabyte of posts.
    return await asyncio.to_thread(_outcomes, answer, wanted)


def _outcomes(answer: Answer, wanted: Mapping[str, PostLink]) -> dict[str, Outcome]:
    value = answer.value()
    if answer.status != OK or not isinstance(value, dict) or "posts" not in value:
        return {link.post_id: Reason.UNREADABLE for link in wanted.values()}
    found: dict[str, Any] = {text_at(one, "uri"): one for one in list_at(value, "posts")}
    return {
        # What is left out of the answer does not exist.
        link.post_id: _post(found[uri], link) if uri in found else Reason.GONE
        for uri, link in wanted.items()
    }


def _post(view: Any, link: PostLink) -> Outcome:
    [*found] = bluesky.read(io.BytesIO(msgspec.json.encode([view])), Choices())
    return adopted(found[0], link) if len(found) == 1 else Reason.UNREADABLE


ENDPOINT: Final = Endpoint(_HOST, _read, most=_PER_REQUEST)
