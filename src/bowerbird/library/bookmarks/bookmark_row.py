"""Builds the stored row of a bookmark from its post and its placement in the library."""

from typing import Any

from bowerbird.model.attached_texts import attached_texts
from bowerbird.model.bookmarks import ImportRecord, Post, own_words
from bowerbird.model.folding import first_line, order_key
from bowerbird.model.media import bits_of
from bowerbird.model.rendering import RENDER_VERSION, rendering
from bowerbird.model.upsert import Incoming, Placement
from bowerbird.search.tokens import INDEX_FORM, index_text

Row = dict[str, Any]


def row_of(
    incoming: Incoming, placement: Placement, number: int, words: str, tags: bytes | None
) -> Row:
    row = draft_of(incoming, words)
    complete(row, incoming.post_json, placement, number, tags)
    return row


def draft_of(incoming: Incoming, words: str) -> Row:
    """The columns that depend only on the post."""
    arrival = incoming.record
    metrics = arrival.tweet_details.meta.non_real_time_engagement_metrics
    return {
        "post_id": arrival.post_id,
        "posted_at": incoming.posted_at,
        "media": bits_of(arrival.tweet_details),
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
        "render_version": RENDER_VERSION,
        "words": words,
        "word_form": INDEX_FORM,
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
    draft["completeness"] = placement.completeness
    draft["order_source"] = placement.order_source
    draft["rendering"] = rendering(
        post_json, placement.imported_at, placement.sort_index, placement.bookmarked_at
    )


def words_of(arrival: Post) -> str:
    """The searchable text of a post, as tokens."""
    return index_text(searchable_texts(arrival))


def searchable_texts(arrival: Post) -> list[str]:
    """The texts of a post that its tokens come from. Long texts come last."""
    details = arrival.tweet_details
    # With the @, so that @ada finds posts by ada as well as posts that mention her.
    handle = arrival.author_username and f"@{arrival.author_username}"
    fields = [handle, arrival.author_details.name, details.text, *own_words(arrival)]
    if details.attachments:
        fields += [text for _, text in attached_texts(details.attachments)]
    if details.quoted_tweet is not None or details.article is not None:
        fields += _texts_within(details.article or {}, details.quoted_tweet or {})
    return [field for field in fields if field]


def _thread(arrival: ImportRecord) -> str | None:
    meta = arrival.tweet_details.meta
    return meta.tweet_conversation_id if meta.is_sub_tweet_of_thread else None


def _title(arrival: ImportRecord) -> str:
    article = arrival.tweet_details.article or {}
    return article.get("title") or first_line(arrival.tweet_details.text)


def _texts_within(article: dict[str, Any], quoted: dict[str, Any]) -> list[str]:
    quoted_author = quoted.get("author_details") or {}
    fields = [quoted.get("author_username"), quoted_author.get("name"), quoted.get("text")]
    fields += [text for _, text in attached_texts(quoted.get("attachments"))]
    articles = (article, quoted.get("article") or {})
    fields += [one.get("title") for one in articles]
    fields += [one.get("plain_text") or one.get("preview_text") for one in articles]
    return [field for field in fields if field]
