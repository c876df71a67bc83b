"""The one shape of every JSON answer. Nothing else in the service writes "status"."""

from typing import Any, Final

import msgspec

from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.library.bookmarks.bookmarks import BookmarkList
from bowerbird.wire.replies import JSON, PRIVATE, Header, Reply

_encode: Final = msgspec.json.Encoder().encode


def success(data: Any, meta: Any = None) -> bytes:
    return _encode({"status": True, "data": data, "meta": meta or {}})


def success_of_one(item: bytes) -> bytes:
    """Around an object that is JSON already."""
    return b'{"status":true,"data":%b,"meta":{}}' % item


def success_of_many(items: bytes, meta: dict[str, Any]) -> bytes:
    """Around objects that are JSON already, parted by commas."""
    return b'{"status":true,"data":[%b],"meta":%b}' % (items, _encode(meta))


def page(shown: BookmarkList) -> bytes:
    """A page of bookmarks, whichever list it is of."""
    meta: dict[str, Any] = {
        "next_cursor": shown.next_cursor,
        "limit": shown.limit,
        "total_count": shown.total_count,
        "count": shown.count,
    }
    if shown.hint is not None:
        meta["hint"] = shown.hint
    if shown.vector_pending:
        meta["vector_pending"] = shown.vector_pending
    return success_of_many(shown.body, meta)


def marked(body: bytes) -> bytes:
    """A success of the sandbox: its meta, which stands last, says that it is one."""
    separator = b"" if body.endswith(b"{}}") else b","
    return b'%b%b"sandbox":true}}' % (body[:-2], separator)


def marked_refusal(refused: Refusal, upgrade_url: str) -> Reply:
    """A refusal of the sandbox: there it has a meta too."""
    reply = refusal(refused, upgrade_url)
    body = b'%b,"meta":{"sandbox":true}}' % reply.body[:-1]
    return Reply(reply.status, reply.headers, body)


def refusal(refused: Refusal, upgrade_url: str) -> Reply:
    body = {"status": False, "code": refused.code, "error": refused.sentence}
    # Every 402, and nothing else, tells where the plan is changed.
    if refused.status == CATALOGUE[Code.SUBSCRIPTION_REQUIRED].status:
        body["upgrade_url"] = upgrade_url
    headers: list[Header] = [JSON, *PRIVATE]
    headers += [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
    return Reply(refused.status, headers, _encode(body))


def fault(reference: str) -> Refusal:
    """A fault of ours: the caller gets a reference, the log gets the exception."""
    return Refusal(
        Code.INTERNAL_ERROR,
        f"Something went wrong here; it is logged under the reference {reference}.",
    )
