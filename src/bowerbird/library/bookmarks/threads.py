"""Folds the posts of one author in one conversation into one row of a list.

The row has the place of the post that comes first in the list, and shows the post that was written
first. Which posts belong to it depends on the list alone, not on a page: a page shows the row if it
has the first of them, and never the others. So no post is missing or shown twice, whichever page is
opened.
"""

from collections import defaultdict
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore

# The rest of a longer thread has rows of its own.
POSTS_MAX: Final = 100
# The post that the row shows, and the lines below it.
_SHOWN: Final = 3
# Inside of a text, quotation marks are escaped.
_MARKS: Final = (b'"tweet_is_thread":true', b'"is_sub_tweet_of_thread":true')
# The flags in a state.
_READ, _ARCHIVED = 1, 2


class Thread(Struct, frozen=True):
    """The posts of one row, in the order in which they were written."""

    post_ids: tuple[str, ...]
    # The post that comes first in the list.
    lead: str
    # The first posts as JSON.
    beginning: tuple[bytes, ...]
    is_read: bool
    is_archived: bool


class _Part(NamedTuple):
    post_id: str
    number: int
    state: int
    place: int


class _Meta(Struct):
    tweet_conversation_id: str = ""
    tweet_is_thread: bool = False
    is_sub_tweet_of_thread: bool = False


class _Details(Struct):
    meta: _Meta


class _Listed(Struct):
    post_id: str
    tweet_details: _Details


_decode: Final = msgspec.json.Decoder(list[_Listed]).decode


async def threads_of(
    store: BookmarkStore, account: Account, filter: BookmarkFilter, sort: Sort, page: bytes
) -> dict[str, Thread]:
    """The threads that a page of a list has posts of, by each of their posts."""
    names = _names(page)
    if not names:
        return {}
    found: dict[tuple[str, str], list[_Part]] = defaultdict(list)
    for thread, author, *part in await store.strands(account, filter, sort, names, POSTS_MAX):
        # Nobody knows whether posts without an author have the same one.
        if author:
            found[thread, author].append(_Part(*part))
    folded = [parts for parts in found.values() if len(parts) > 1]
    shown = await store.each(account, [one.number for parts in folded for one in parts[:_SHOWN]])
    threads: dict[str, Thread] = {}
    for parts in folded:
        beginning = tuple(shown[one.number] for one in parts[:_SHOWN] if one.number in shown)
        if len(beginning) < len(parts[:_SHOWN]):
            # A post was deleted since it was listed.
            continue
        thread = Thread(
            post_ids=tuple(one.post_id for one in parts),
            lead=min(parts, key=lambda one: one.place).post_id,
            beginning=beginning,
            is_read=all(one.state & _READ for one in parts),
            is_archived=all(one.state & _ARCHIVED for one in parts),
        )
        threads |= dict.fromkeys(thread.post_ids, thread)
    return threads


def _names(page: bytes) -> list[str]:
    """The threads that the posts of a page belong to: the ids of their first posts."""
    if not any(mark in page for mark in _MARKS):
        return []
    try:
        listed = _decode(b"[%b]" % page)
    except (msgspec.MsgspecError, RecursionError):
        # They are shown without their threads.
        return []
    names = []
    for one in listed:
        meta = one.tweet_details.meta
        if meta.is_sub_tweet_of_thread:
            names.append(meta.tweet_conversation_id)
        elif meta.tweet_is_thread:
            names.append(one.post_id)
    return list(dict.fromkeys(filter(None, names)))
