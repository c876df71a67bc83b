"""Builds the stored row of a bookmark from its post and its placement in the library.

Also the words that stored posts are counted with: those that their stored JSON gives.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from bowerbird.model import json_depth, languages
from bowerbird.model.arrival import Incoming, Placement
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.posts import networks, traits
from bowerbird.model.posts.bookmarks import (
    RENDER_VERSION,
    ImportRecord,
    Post,
    check_open_fields,
    own_words,
    rendering,
)
from bowerbird.model.posts.media import DOMAIN, TITLE, attached_texts, bits_of
from bowerbird.model.words import first_line, order_key
from bowerbird.search.words.languages import sure_language
from bowerbird.search.words.tokens import COUNTED_FORM, index_form, index_text
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Stores
from bowerbird.storage.words.word_counts import occurrences

Row = dict[str, Any]


class SearchableTexts(NamedTuple):
    """What the tokens of a post come from. Long texts come last."""

    texts: list[str]
    # Of people and sites: they do not show the language of the texts.
    names: list[str]
    addresses: list[str]
    # Of articles and of linked pages. The texts have them too.
    titles: list[str]


def row_of(
    incoming: Incoming, placement: Placement, number: int, words: str | None, tags: bytes | None
) -> Row:
    row = draft_of(incoming, words)
    complete(row, incoming.post_json, placement, number, tags)
    return row


def draft_of(incoming: Incoming, words: str | None) -> Row:
    """The columns that depend only on the post. Without words, a `Batch` finds them if needed."""
    arrival = incoming.record
    metrics = arrival.tweet_details.meta.non_real_time_engagement_metrics
    return {
        "post_id": arrival.post_id,
        "posted_at": incoming.posted_at,
        "author_key": order_key(arrival.author_username),
        "author_name_key": order_key(arrival.author_details.name),
        "title_key": order_key(_title(arrival)),
        "quote_count": metrics.quote_count,
        "reply_count": metrics.reply_count,
        "retweet_count": metrics.retweet_count,
        "bookmark_count": metrics.bookmark_count,
        "favorite_count": metrics.favorite_count,
        "content_hash": incoming.content_hash,
        "thread": _thread(arrival),
        **traits_of(arrival),
        "render_version": RENDER_VERSION,
        "words": words,
        "word_form": index_form(),
    }


def complete(
    draft: Row, post_json: bytes, placement: Placement, number: int, tags: bytes | None
) -> None:
    """Adds the columns that depend on the library."""
    draft["number"] = number
    draft["tags"] = tags
    draft["sort_index"] = placement.sort_index
    draft["is_read"] = placement.is_read
    draft["is_archived"] = placement.is_archived
    draft["imported_at"] = placement.imported_at
    draft["bookmarked_at"] = placement.bookmarked_at
    if draft["posted_at"] == UNKNOWN:
        draft["posted_at"] = placement.bookmarked_at
    draft["completeness"] = placement.completeness
    draft["order_source"] = placement.order_source
    draft["rendering"] = rendering(
        post_json, placement.imported_at, placement.sort_index, placement.bookmarked_at
    )


def words_of(arrival: Post) -> str:
    """The searchable text of a post, as tokens."""
    return index_text(*searchable_texts(arrival))


def searchable_texts(arrival: Post) -> SearchableTexts:
    details = arrival.tweet_details
    # With the @, so that @ada finds posts by ada as well as posts that mention her.
    handle = arrival.author_username and f"@{arrival.author_username}"
    names = [handle, arrival.author_details.name]
    texts = [details.text, *own_words(arrival)]
    titles: list[str] = []
    if details.attachments:
        titles += _add_attached(details.attachments, texts, names)
    if details.quoted_tweet is not None or details.article is not None:
        quoted = details.quoted_tweet or {}
        titles += _add_texts_within(details.article or {}, quoted, texts, names)
    texts += [one.text for one in arrival.image_texts or ()]
    return SearchableTexts(
        list(filter(None, texts)),
        list(filter(None, names)),
        traits.linked_addresses(details),
        list(filter(None, titles)),
    )


def language_of(post: Post) -> str:
    """The code of the language that the source gives or the text shows, or ""."""
    details = post.tweet_details
    if details.meta.language and (code := languages.code_of(details.meta.language)):
        return code
    article = details.article or {}
    written = (details.text, article.get("title"), article.get("plain_text"))
    return sure_language(next((text for text in written if isinstance(text, str) and text), ""))


def traits_of(post: Post) -> Row:
    """The columns that filters and the search for duplicates use."""
    return {
        "media": media_of(post),
        "language": language_of(post),
        "text_print": traits.text_print(post),
        "link_print": traits.link_print(post),
        "picture_print": traits.picture_print(post),
    }


def media_of(post: Post) -> int:
    """The media, the network and the traits of a post as one number."""
    bits = bits_of(post.tweet_details) | networks.bits_of(post.source)
    return bits | traits.bits_of(post)


def _thread(arrival: ImportRecord) -> str | None:
    meta = arrival.tweet_details.meta
    return meta.tweet_conversation_id if meta.is_sub_tweet_of_thread else None


def _title(arrival: ImportRecord) -> str:
    article = arrival.tweet_details.article or {}
    return article.get("title") or first_line(arrival.tweet_details.text)


def _add_attached(attachments: object, texts: list[str], names: list[str]) -> list[str]:
    """The titles among the texts."""
    found = attached_texts(attachments)
    for field, text in found:
        (names if field == DOMAIN else texts).append(text)
    return [text for field, text in found if field == TITLE]


def _add_texts_within(
    article: dict[str, Any], quoted: dict[str, Any], texts: list[str], names: list[str]
) -> list[str]:
    """The titles among the texts."""
    quoted_author = quoted.get("author_details") or {}
    names += [quoted.get("author_username") or "", quoted_author.get("name") or ""]
    texts.append(quoted.get("text") or "")
    of_links = _add_attached(quoted.get("attachments"), texts, names)
    articles = (article, quoted.get("article") or {})
    titles = [one.get("title") or "" for one in articles]
    texts += titles
    texts += [one.get("plain_text") or one.get("preview_text") or "" for one in articles]
    return titles + of_links


# More takes too long on the event loop.
_FEW_BYTES: Final = 8_192

_decode: Final = msgspec.json.Decoder(Post).decode


async def counted_words(
    database: Database, library: LockedLibrary, numbers: Sequence[int]
) -> Counter[str]:
    """The occurrences of words in those bookmarks that are counted.

    Call it before they change: the words of the index cannot be read.
    """
    if not numbers:
        return Counter()
    counts = Stores.of(database).word_counts
    renderings = await counts.counted_renderings(library, numbers, COUNTED_FORM)
    if sum(map(len, renderings)) <= _FEW_BYTES:
        return stored_occurrences(renderings)
    return await database.computed(lambda: stored_occurrences(renderings))


def stored_occurrences(renderings: Sequence[bytes]) -> Counter[str]:
    return occurrences(stored_words(rendering) or "" for rendering in renderings)


def stored_words(rendering: bytes) -> str | None:
    """The tokens of a stored post; None if it cannot be read."""
    post = stored_post(rendering)
    return None if post is None else words_of(post)


def stored_post(rendering: bytes) -> Post | None:
    """A post from its stored JSON; None if it cannot be decoded or a field has a wrong type."""
    try:
        post = _decode(json_depth.cut(rendering + b"}"))
        check_open_fields(post.tweet_details)
    except msgspec.MsgspecError:
        return None
    return post
