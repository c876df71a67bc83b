"""Reads posts of Mastodon: saved answers of its API, and the archive that a server gives its users.

The API has lists of statuses, as /api/v1/bookmarks returns them. In an archive, bookmarks.json and
likes.json are lists of addresses: `{"type": "OrderedCollection", "orderedItems": [...]}`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from bowerbird.model import languages
from bowerbird.model.arrival import Completeness
from bowerbird.model.posts.bookmarks import Metrics, PostMeta
from bowerbird.sources.file_posts import (
    LIKED,
    FilePost,
    found_in,
    found_post,
    not_a_post,
    only_if_requested,
    web_address,
)
from bowerbird.sources.found import Beginning, Choices, Format, Found
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.html_text import plain_text
from bowerbird.sources.parsing.json_values import (
    PART,
    Unreadable,
    at,
    count_at,
    list_at,
    read_records,
    text_at,
    walk,
)
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import (
    MASTODON,
    MAX_LINK_CHARACTERS,
    PostLink,
    foreign_post,
    parse_fediverse,
    post_id_of,
)

_KINDS: Final = {"image": "image", "video": "video", "gifv": "gif", "audio": "audio"}
_MAX_ATTACHMENTS: Final = 50


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return found_in(read_records(Utf8File(file)), _found)


def _found(line: int, status: Any) -> Found:
    # A boost has no text of its own: the post is the one that was boosted.
    boosted = at(status, "reblog")
    status = boosted if isinstance(boosted, dict) else status
    link = _link(status)
    if link is None:
        raise Unreadable("The record has no address of a post.")
    return found_post(
        FilePost(
            link=link,
            line=line,
            completeness=Completeness.FULL,
            text=_text(status),
            author_id=text_at(status, "account", "id"),
            author_name=text_at(status, "account", "display_name"),
            author_username=_author(status, link),
            profile_image=text_at(status, "account", "avatar"),
            posted_at=at(status, "created_at"),
            is_in_order=True,
            attachments=_attachments(status),
            quoted_post=_quoted(status),
            meta=_meta(status, link),
        )
    )


def _link(status: Any) -> PostLink | None:
    uri, url = text_at(status, "uri"), web_address(text_at(status, "url"))
    for address in (uri, url):
        link = parse_fediverse(address)
        if link is not None and link.network == MASTODON:
            return link._replace(link=url or link.link)
    address = web_address(uri) or url
    if not address or len(address) > MAX_LINK_CHARACTERS:
        return None
    return foreign_post(MASTODON, address, "", url or address)


def _author(status: Any, link: PostLink) -> str:
    """The name with the server, which the API leaves out for people on the same server."""
    name = text_at(status, "account", "acct")
    if not name or "@" in name:
        return name or link.author_username
    host = (text_at(status, "account", "url") or link.link).partition("://")[2].partition("/")[0]
    return f"{name}@{host}" if host else name


def _text(status: Any) -> str:
    # After an edit, some clients get the source of the text as well.
    text = plain_text(text_at(status, "content")) or text_at(status, "text")
    warning = plain_text(text_at(status, "spoiler_text"))
    return f"{warning}\n\n{text}" if warning else text


def _attachments(status: Any) -> list[dict[str, Any]]:
    media = list_at(status, "media_attachments")[:_MAX_ATTACHMENTS]
    found = [item for medium in media if (item := _medium(medium))]
    card, poll = at(status, "card"), at(status, "poll")
    if isinstance(card, dict) and (url := web_address(at(card, "url"))):
        found.append(
            {
                "type": "link",
                "url": url,
                "title": text_at(card, "title"),
                "description": text_at(card, "description"),
                "preview_image": web_address(at(card, "image")) or None,
            }
        )
    if isinstance(poll, dict):
        options = list_at(poll, "options")[:_MAX_ATTACHMENTS]
        choices = [
            {"label": text_at(option, "title"), "count": count_at(option, "votes_count")}
            for option in options
        ]
        ends_at = dates.read(at(poll, "expires_at"))
        found.append({"type": "poll", "choices": choices, "ends_at": ends_at})
    return found


def _medium(medium: Any) -> dict[str, Any] | None:
    url = web_address(at(medium, "url")) or web_address(at(medium, "remote_url"))
    if not url:
        return None
    size = at(medium, "meta", "original")
    return {
        "type": _KINDS.get(text_at(medium, "type"), "file"),
        "url": url,
        "preview_image": web_address(at(medium, "preview_url")) or None,
        "width": count_at(size, "width") or None,
        "height": count_at(size, "height") or None,
        "alt_text": text_at(medium, "description") or None,
    }


def _quoted(status: Any) -> dict[str, Any] | None:
    """The quoted post. Mastodon nests it in an object with its state, others do not."""
    quote = at(status, "quote")
    inner = at(quote, "quoted_status")
    quoted = inner if isinstance(inner, dict) else quote
    if not isinstance(quoted, dict):
        return None
    link = _link(quoted)
    if link is None:
        is_gone = "state" in quoted
        return {"unavailable": True, "reason": text_at(quote, "state")} if is_gone else None
    author = _author(quoted, link)
    return {
        "post_id": link.post_id,
        "text": _text(quoted),
        "link": link.link,
        "posted_at": dates.read(at(quoted, "created_at")),
        "author_id": text_at(quoted, "account", "id"),
        "author_username": author,
        "author_details": {
            "name": text_at(quoted, "account", "display_name"),
            "username": author,
            "profile_image": web_address(at(quoted, "account", "avatar")),
        },
        "attachments": _attachments(quoted),
    }


def _meta(status: Any, link: PostLink) -> PostMeta:
    reply_to = text_at(status, "in_reply_to_id")
    is_own_reply = bool(reply_to) and text_at(status, "in_reply_to_account_id") == text_at(
        status, "account", "id"
    )
    host, _, number = link.source_id.partition("/")
    # The ids are those of the server that was asked. They mean something only for its own posts.
    is_of_server = bool(reply_to) and number == text_at(status, "id")
    parent = post_id_of(MASTODON, f"{host}/{reply_to}") if is_of_server else None
    return PostMeta(
        tweet_reply_to_tweet_id=parent,
        tweet_reply_to_user_id=text_at(status, "in_reply_to_account_id") or None,
        tweet_conversation_id=link.post_id,
        tweet_is_thread=is_own_reply,
        is_sub_tweet_of_thread=is_own_reply,
        non_real_time_engagement_metrics=Metrics(
            quote_count=count_at(status, "quotes_count"),
            reply_count=count_at(status, "replies_count"),
            retweet_count=count_at(status, "reblogs_count"),
            favorite_count=count_at(status, "favourites_count"),
        ),
        language=languages.stated(at(status, "language")),
    )


def _fits(beginning: Beginning) -> bool:
    for start in ("[]", "", "data[]", "bookmarks[]"):
        dot = f"{start}." if start else ""
        if beginning.json.has(f"{dot}account.acct", f"{dot}content", f"{dot}uri"):
            return True
    return False


_NAME: Final = re.compile(r'"id"\s*:\s*"(bookmarks|likes)\.json"')


def _read(file: SeekableFile, labels: list[str]) -> Iterator[Found]:
    def found(line: int, address: Any) -> Found:
        if not isinstance(address, str):
            raise Unreadable("The record is not an address.")
        link = parse_fediverse(address)
        if link is None:
            return not_a_post(line, address)
        # The posts are in the order in which they were written, the oldest first. That says
        # nothing about saving, so a list of bookmarks gives them better places.
        return found_post(FilePost(link=link, line=line, labels=labels))

    return found_in(walk(Utf8File(file), {"orderedItems": [PART]}), found)


def _name(beginning: Beginning) -> str:
    match = _NAME.search(beginning.text) if beginning.json.has("orderedItems[]") else None
    return match[1] if match else ""


API: Final = Format("Mastodon JSON", _fits, read)
FORMATS: Final = (
    Format(
        "bookmarks of a Mastodon archive",
        lambda start: _name(start) == "bookmarks",
        lambda file, _choices: _read(file, []),
    ),
    Format(
        "likes of a Mastodon archive",
        lambda start: _name(start) == "likes",
        lambda file, choices: only_if_requested(_read(file, [LIKED]), choices),
    ),
    API,
)
