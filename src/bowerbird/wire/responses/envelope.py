"""The envelope of every JSON answer, and its meta. Nothing else in the service writes "status"."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.errors import CATALOGUE, Advice, Code, Refusal
from bowerbird.library.bookmarks.list_request import BookmarkList, ByMeaning
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.model.posts.networks import ContentState, PostContent
from bowerbird.wire.responses.replies import (
    CORS,
    ENVIRONMENT,
    JSON,
    PRIVATE,
    Header,
    Reply,
    Unsettled,
)


class QueryMeta(Struct, frozen=True, kw_only=True):
    """In the answer to every read but a file. `AnswerCache` sets it, or the route without one."""

    ignored_parameters: list[str] | UnsetType = UNSET


class BookmarkMeta(QueryMeta, frozen=True, kw_only=True):
    content_state: ContentState
    content_problem: str | UnsetType = UNSET


def content_meta(content: PostContent) -> BookmarkMeta:
    return BookmarkMeta(content_state=content.state, content_problem=content.problem or UNSET)


class PageMeta(QueryMeta, frozen=True, kw_only=True):
    next_cursor: str | None
    """Send it as cursor to get the next page. null on the last page."""
    limit: int
    """The page size that was used."""
    total_count: int
    count: int


class ListMeta(PageMeta, frozen=True, kw_only=True):
    hint: str | UnsetType = UNSET
    """Why a search found nothing, only hidden bookmarks or only similar ones, whether a search by
    meaning may help, and how many bookmarks it cannot find yet; absent otherwise."""
    relaxed: bool | UnsetType = UNSET
    """true if no bookmark has every word of q, so that those with some of the words are listed,
    best first; absent otherwise."""
    did_you_mean: str | UnsetType = UNSET
    """q with other words in place of words that no bookmark has; absent if none was probably
    misspelled."""
    vector_pending: int | UnsetType = UNSET
    """Number of bookmarks that a search by meaning cannot find yet, or only by an earlier text."""
    not_found: Sequence[str] | UnsetType = UNSET
    """The ids that the library does not have; absent unless ids is sent."""


class ChangesMeta(QueryMeta, frozen=True, kw_only=True):
    next_cursor: str
    """Send it as cursor to go on from here, also later. Store it with what you have copied."""
    has_more: bool
    """Whether more is there already. If not, call again later."""
    limit: int
    """The page size that was used."""
    count: int
    """Number of events on this page."""


class DuplicatesMeta(QueryMeta, frozen=True, kw_only=True):
    next_cursor: str | None
    """Send it as cursor to get the next page. null on the last page."""
    limit: int
    """The page size that was used, at most 50."""
    count: int
    """Number of groups on this page. It may have fewer than limit, and not be the last."""
    hint: str | UnsetType = UNSET
    """Set while posts of an earlier release wait until a job has looked at them."""


class FacetMeta(QueryMeta, frozen=True, kw_only=True):
    by: str
    """What was counted by."""
    count: int
    """Number of values in data."""
    total_count: int
    """Number of values in all."""
    bookmarks: int
    """Number of bookmarks that match."""
    bookmarks_read: int | UnsetType = UNSET
    """Number of these that were read for their links, if not all were."""


class LabelListMeta(QueryMeta, frozen=True, kw_only=True):
    """Empty unless limit or cursor is sent."""

    next_cursor: str | UnsetType | None = UNSET
    """Send it as cursor to get the next page. null on the last page."""
    limit: int | UnsetType = UNSET
    """The page size that was used. Absent if neither limit nor cursor was sent."""
    total_count: int | UnsetType = UNSET
    """Number of labels that the account has."""
    count: int | UnsetType = UNSET
    """Number of labels on this page."""


class DigestListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class ChangeListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class TrashListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class ImportListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class BatchMeta(Struct, frozen=True):
    message: str
    # Of all operations or posts together, if they have changed something.
    change: BulkChange | UnsetType = UNSET


class UndoMeta(Struct, frozen=True):
    # Absent if nothing has changed.
    change: BulkChange | UnsetType = UNSET


class ChangeMeta(Struct, frozen=True):
    message: str
    affected: int
    not_found: list[str]
    further_ids: list[str] | UnsetType = UNSET
    not_changed: list[str] | UnsetType = UNSET
    # Absent if nothing has changed.
    change: BulkChange | UnsetType = UNSET


class LabelMeta(Struct, frozen=True):
    # Absent if nothing has changed.
    change: BulkChange | UnsetType = UNSET


class ViewListMeta(QueryMeta, frozen=True, kw_only=True):
    counts_pending: int | UnsetType = UNSET
    """Number of views with a count that is earlier or pending; absent if 0."""


_encode: Final = msgspec.json.Encoder().encode
_BY_MEANING: Final = {
    ByMeaning.READY: "To search by meaning, send the question as vector_search_term.",
    ByMeaning.BUILDING: "Search by meaning is not ready yet: the vectors are being built.",
}
_ADVICE: Final = {
    Advice.SEARCH_BY_WORD: "q searches by word.",
    Advice.MERGE_LABELS: "To merge two labels, use POST /v1/labels/{label_id}/merge.",
}


def success(data: Any, meta: Any = None) -> bytes:
    return _encode({"status": True, "data": data, "meta": meta or {}})


def success_of_one(item: bytes, meta: Struct | None = None) -> bytes:
    """Wraps an object that is already JSON."""
    return b'{"status":true,"data":%b,"meta":%b}' % (item, _encode({} if meta is None else meta))


def success_of_many(items: bytes, meta: Struct) -> bytes:
    """Wraps objects that are already JSON, separated by commas."""
    return b'{"status":true,"data":[%b],"meta":%b}' % (items, _encode(meta))


def page(found: BookmarkList) -> bytes | Unsettled:
    """One page of any list of bookmarks."""
    meta = ListMeta(
        next_cursor=found.next_cursor,
        limit=found.limit,
        total_count=found.total_count,
        count=found.count,
        hint=_hint(found) or UNSET,
        relaxed=found.is_relaxed or UNSET,
        did_you_mean=found.did_you_mean or UNSET,
        vector_pending=found.vector_pending or UNSET,
        not_found=UNSET if found.not_found is None else found.not_found,
    )
    body = success_of_many(found.body, meta)
    return body if found.is_settled else Unsettled(body)


def _hint(found: BookmarkList) -> str:
    sentences = [found.hint] if found.hint else []
    if found.hidden:
        verb = "post matches" if found.hidden == 1 else "posts match"
        sentences.append(
            f"{found.hidden} read or archived {verb}. Send is_unread_only=false and "
            "hide_archived=false to see them."
        )
    if found.by_meaning is not None:
        sentences.append(_BY_MEANING[found.by_meaning])
    if found.vector_pending:
        is_one = found.vector_pending == 1
        what = "1 post" if is_one else f"{found.vector_pending:,} posts"
        whose = "its vector is" if is_one else "their vectors are"
        sentences.append(f"{what} cannot be found by meaning yet: {whose} being built.")
    return " ".join(sentences)


def naming_ignored(body: bytes, names: Sequence[str]) -> bytes:
    """Adds the names of parameters without effect to the meta of an answer, if there are any."""
    if not names:
        return body
    return _with_meta(body, b'"ignored_parameters":%b' % _encode(names))


def marked(body: bytes) -> bytes:
    """Marks an answer of the sandbox in its meta."""
    return _with_meta(body, b'"sandbox":true')


def _with_meta(body: bytes, field: bytes) -> bytes:
    """Adds to the meta of an answer, which is its last field."""
    separator = b"" if body.endswith(b"{}}") else b","
    return b"%b%b%b}}" % (body[:-2], separator, field)


def marked_refusal(refused: Refusal, upgrade_url: str) -> Reply:
    """A refusal with the mark of the sandbox."""
    reply = refusal(refused, upgrade_url)
    body = b'%b,"meta":{"sandbox":true}}' % reply.body[:-1]
    return Reply(reply.status, reply.headers, body)


def refusal(refused: Refusal, upgrade_url: str) -> Reply:
    sentence = refused.sentence
    if refused.advice is not None:
        sentence = f"{sentence} {_ADVICE[refused.advice]}"
    body = {"status": False, "code": refused.code, "error": sentence}
    # Every 402, and no other answer, has the address for an upgrade.
    if refused.status == CATALOGUE[Code.SUBSCRIPTION_REQUIRED].status:
        body["upgrade_url"] = upgrade_url
    headers: list[Header] = [JSON, *PRIVATE]
    headers += [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
    return Reply(refused.status, headers, _encode(body))


def fault(reference: str) -> Refusal:
    """A server error: the caller gets a reference, the log gets the exception."""
    return Refusal(
        Code.INTERNAL_ERROR,
        f"Internal error. It is logged with the reference {reference}.",
    )


SANDBOX: Final = "/v1/sandbox"
_API: Final = "/v1/"


def unrouted(refused: Refusal, upgrade_url: str, path: str) -> Reply:
    """`path`: as far as it was read."""
    if path == SANDBOX or path.startswith(f"{SANDBOX}/"):
        # Every response of the sandbox says that it is one.
        reply = marked_refusal(refused, upgrade_url)
        return Reply(reply.status, [*reply.headers, ENVIRONMENT, *CORS], reply.body)
    reply = refusal(refused, upgrade_url)
    if path.startswith(_API):
        return Reply(reply.status, [*reply.headers, *CORS], reply.body)
    return reply
