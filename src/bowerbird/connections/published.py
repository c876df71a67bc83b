"""Where the networks publish single posts for everybody, and what they answer."""

import asyncio
import io
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import UNSET, Struct

from bowerbird.connections.records import Answer
from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.model.instants import with_offset
from bowerbird.model.posts.bookmarks import Metrics, PostMeta
from bowerbird.model.posts.networks import TIKTOK, TUMBLR, YOUTUBE, Reason
from bowerbird.sources import bluesky, mastodon
from bowerbird.sources.file_posts import FilePost, found_post, media_attachments, web_address
from bowerbird.sources.found import Choices, Found, FoundPost, mark
from bowerbird.sources.parsing.html_text import MAX_HTML_CHARACTERS, Tag, plain_text, tokens
from bowerbird.sources.parsing.json_values import at, count_at, list_at, text_at
from bowerbird.sources.post_links import BLUESKY, MASTODON, REDDIT, PostLink, X, parse

OK: Final = 200
NOT_ALLOWED: Final = 401
FORBIDDEN: Final = frozenset({NOT_ALLOWED, 403})
GONE: Final = frozenset({404, 410})


class Busy(Exception):  # noqa: N818 - named for what it is
    """The host gives no answers now. `retry_at` is when it allows the next request, or 0."""

    def __init__(self, reason: Reason = Reason.BUSY, retry_at: int = 0) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.retry_at = retry_at


# A post, or why there is none.
Outcome: TypeAlias = FoundPost | Reason
# Sends a request when it is the turn of the host, and returns what the host answers.
Ask: TypeAlias = Callable[[str], Awaitable[Answer]]
Read: TypeAlias = Callable[[Sequence[PostLink], Ask], Awaitable[dict[str, Outcome]]]


class Endpoint(Struct, frozen=True):
    # The host to ask, and those to which it may redirect.
    host: str
    read: Read
    # The links that one call of `read` takes.
    most: int = 1
    redirects_to: frozenset[str] = frozenset()


def adopted(found: Found, link: PostLink) -> Outcome:
    """The found post as the one that was asked for, whatever the answer calls it.

    It fills a post that the library has, and says nothing about when it was saved.
    """
    if not isinstance(found, FoundPost):
        return Reason.UNREADABLE
    record = found.record
    details = record.tweet_details
    meta = details.meta
    if meta.tweet_conversation_id == record.post_id:
        meta = msgspec.structs.replace(meta, tweet_conversation_id=link.post_id)
    return msgspec.structs.replace(
        found,
        record=msgspec.structs.replace(
            record,
            post_id=link.post_id,
            tweet_details=msgspec.structs.replace(details, link=link.link, meta=meta),
            bookmarked_at=UNSET,
        ),
        order_source=OrderSource.IMPORT,
        source=link.network,
        source_id="" if link.network == X else link.source_id,
        is_shown=True,
        is_mark=True,
    )


def gone(post_id: str, reason: Reason, now: int) -> FoundPost:
    """Says that the source does not show a post."""
    return mark(post_id, gone_at=with_offset(now), gone_reason=_WORDS[reason])


_WORDS: Final = {Reason.GONE: "not found", Reason.PROTECTED: "protected"}


_BLUESKY_HOST: Final = "public.api.bsky.app"
_XRPC: Final = f"https://{_BLUESKY_HOST}/xrpc"
_BLUESKY_POSTS: Final = 25
# Each takes a request.
_NAMES_AT_ONCE: Final = 2
_DID: Final = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}")
_BAD_REQUEST: Final = 400
# Keys of posts have 13 characters.
_LONGEST_KEY: Final = 64


async def _read_bluesky(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
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
    return outcomes | (await _bluesky_posts(wanted, ask) if wanted else {})


async def _did(name: str, ask: Ask) -> str | Reason:
    query = urlencode({"handle": name})
    answer = await ask(f"{_XRPC}/com.atproto.identity.resolveHandle?{query}")
    if answer.status == _BAD_REQUEST:
        # The author has another name now, or none.
        return Reason.GONE
    did = text_at(answer.value(), "did") if answer.status == OK else ""
    return did if _DID.fullmatch(did) else Reason.UNREADABLE


async def _bluesky_posts(wanted: dict[str, PostLink], ask: Ask) -> dict[str, Outcome]:
    query = urlencode([("uris", uri) for uri in wanted])
    answer = await ask(f"{_XRPC}/app.bsky.feed.getPosts?{query}")
    # It may be a megabyte of posts.
    return await asyncio.to_thread(_bluesky_outcomes, answer, wanted)


def _bluesky_outcomes(answer: Answer, wanted: Mapping[str, PostLink]) -> dict[str, Outcome]:
    value = answer.value()
    if answer.status != OK or not isinstance(value, dict) or "posts" not in value:
        return {link.post_id: Reason.UNREADABLE for link in wanted.values()}
    found: dict[str, Any] = {text_at(one, "uri"): one for one in list_at(value, "posts")}
    return {
        # What is left out of the answer does not exist.
        link.post_id: _bluesky_post(found[uri], link) if uri in found else Reason.GONE
        for uri, link in wanted.items()
    }


def _bluesky_post(view: Any, link: PostLink) -> Outcome:
    [*found] = bluesky.read(io.BytesIO(msgspec.json.encode([view])), Choices())
    return adopted(found[0], link) if len(found) == 1 else Reason.UNREADABLE


_BLUESKY: Final = Endpoint(_BLUESKY_HOST, _read_bluesky, most=_BLUESKY_POSTS)


# Ids of other forms are not those of the API.
_MASTODON_ID: Final = re.compile(
    r"(?P<host>[a-z0-9.-]{4,253})/(?:notice/)?(?P<id>[0-9A-Za-z]{1,40})", re.ASCII
)


def _mastodon(link: PostLink) -> Endpoint | None:
    named = _MASTODON_ID.fullmatch(link.source_id)
    return Endpoint(named["host"], _read_mastodon) if named else None


async def _read_mastodon(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
    return {link.post_id: await _mastodon_post(link, ask) for link in links}


async def _mastodon_post(link: PostLink, ask: Ask) -> Outcome:
    named = _MASTODON_ID.fullmatch(link.source_id)
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
    return await asyncio.to_thread(_mastodon_status, answer, link, named["id"])


def _mastodon_status(answer: Answer, link: PostLink, number: str) -> Outcome:
    if text_at(answer.value(), "id") != number:
        return Reason.UNREADABLE
    [*found] = mastodon.read(io.BytesIO(b"[%b]" % answer.body), Choices())
    return adopted(found[0], link) if len(found) == 1 else Reason.UNREADABLE


_X_NAME: Final = re.compile(r"/([A-Za-z0-9_]{1,20})/?")
_HANDLE: Final = re.compile(r"/@([A-Za-z0-9_.-]{1,100})/?")


def _x_url(link: PostLink) -> str:
    post = f"https://twitter.com/{link.author_username or 'i'}/status/{link.post_id}"
    query = urlencode({"url": post, "omit_script": "1", "dnt": "true"})
    return f"https://publish.twitter.com/oembed?{query}"


def _x_post(value: Any, link: PostLink) -> FilePost | None:
    """The text of the blockquote, if it quotes the post that was asked for."""
    html = text_at(value, "html")[:MAX_HTML_CHARACTERS]
    text, end, rest = html[max(html.find("<p"), 0) :].partition("</p>")
    if not end or not _quotes(rest, link):
        return None
    return FilePost(
        link=link,
        line=0,
        # Of a long post it is only the beginning, and pictures are missing.
        completeness=Completeness.PREVIEW,
        text=plain_text(text),
        author_name=text_at(value, "author_name"),
        author_username=_name(value, _X_NAME),
    )


def _quotes(html: str, link: PostLink) -> bool:
    links = (one.attribute("href") for one in tokens([html]) if isinstance(one, Tag))
    found = (parse(address) for address in links if address)
    return any(one is not None and one.post_id == link.post_id for one in found)


def _titled_post(value: Any, link: PostLink) -> FilePost | None:
    title, picture = text_at(value, "title"), web_address(text_at(value, "thumbnail_url"))
    if not title and not picture:
        return None
    return FilePost(
        link=link,
        line=0,
        completeness=Completeness.PREVIEW,
        text=title,
        author_name=text_at(value, "author_name"),
        author_username=link.author_username or _name(value, _HANDLE),
        attachments=[{"type": "image", "url": picture}] if picture else [],
    )


def _name(value: Any, form: re.Pattern[str]) -> str:
    try:
        found = form.fullmatch(urlsplit(text_at(value, "author_url")).path)
    except ValueError:
        return ""
    return found[1] if found else ""


def _reader(
    url: Callable[[PostLink], str], post: Callable[[Any, PostLink], FilePost | None]
) -> Read:
    async def read(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
        outcomes = {}
        for one in links:
            answer = await ask(url(one))
            # It may be a megabyte of tags.
            outcomes[one.post_id] = await asyncio.to_thread(_outcome, answer, one, post)
        return outcomes

    return read


def _outcome(
    answer: Answer, link: PostLink, post: Callable[[Any, PostLink], FilePost | None]
) -> Outcome:
    if answer.status in GONE:
        return Reason.GONE
    if answer.status == NOT_ALLOWED and link.network != X:
        # YouTube says so of a public video that other sites must not show.
        return Reason.SIGN_IN
    if answer.status in FORBIDDEN:
        return Reason.PROTECTED
    found = post(answer.value(), link) if answer.status == OK else None
    return Reason.UNREADABLE if found is None else adopted(found_post(found), link)


def _titled(address: str, page: str = "") -> Endpoint:
    """`page`: the form of a post's address that the endpoint knows, if it is not that of a link."""

    def url(link: PostLink) -> str:
        is_named = link.author_username or link.network == TIKTOK
        named = page.format(id=link.source_id, name=link.author_username or "_")
        return f"{address}{urlencode({'url': named if named and is_named else link.link})}"

    return Endpoint(urlsplit(address).netloc, _reader(url, _titled_post))


_OEMBED: Final[Mapping[str, Endpoint]] = {
    X: Endpoint(
        "publish.twitter.com",
        _reader(_x_url, _x_post),
        redirects_to=frozenset({"publish.x.com"}),
    ),
    YOUTUBE: _titled("https://www.youtube.com/oembed?format=json&"),
    # Its files have links without the name of the author; the number alone finds the video.
    TIKTOK: _titled("https://www.tiktok.com/oembed?", "https://www.tiktok.com/@{name}/video/{id}"),
    TUMBLR: _titled("https://www.tumblr.com/oembed/1.0?", "https://{name}.tumblr.com/post/{id}"),
}


_REDDIT_HOST: Final = "www.reddit.com"
_REDDIT_POSTS: Final = 50
_REMOVED: Final = frozenset({"[deleted]", "[removed]"})


async def _read_reddit(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
    query = urlencode({"id": ",".join(link.source_id for link in links), "raw_json": "1"})
    answer = await ask(f"https://{_REDDIT_HOST}/api/info.json?{query}")
    if answer.status in FORBIDDEN:
        # Reddit refuses some addresses for a while.
        raise Busy
    # It may be a megabyte of posts.
    return await asyncio.to_thread(_reddit_outcomes, answer, links)


def _reddit_outcomes(answer: Answer, links: Sequence[PostLink]) -> dict[str, Outcome]:
    children = at(answer.value(), "data", "children") if answer.status == OK else None
    if not isinstance(children, list):
        return {link.post_id: Reason.UNREADABLE for link in links}
    found = {text_at(one, "data", "name"): at(one, "data") for one in children}
    return {
        link.post_id: _reddit_post(found[link.source_id], link)
        if link.source_id in found
        else Reason.GONE
        for link in links
    }


def _reddit_post(thing: Any, link: PostLink) -> Outcome:
    text = text_at(thing, "body") or text_at(thing, "selftext")
    title, author = text_at(thing, "title"), text_at(thing, "author")
    if text in _REMOVED:
        return Reason.GONE
    created = at(thing, "created_utc")
    post = FilePost(
        link=link,
        line=0,
        completeness=Completeness.FULL,
        text="\n\n".join(filter(None, (title, text))),
        author_username="" if author in _REMOVED else author,
        posted_at=int(created) if isinstance(created, int | float) else None,
        attachments=_reddit_attachments(thing),
        meta=PostMeta(
            tweet_conversation_id=link.post_id,
            non_real_time_engagement_metrics=Metrics(
                reply_count=count_at(thing, "num_comments"),
                favorite_count=count_at(thing, "score"),
            ),
        ),
    )
    return adopted(found_post(post), link)


def _reddit_attachments(thing: Any) -> list[dict[str, Any]]:
    """The pictures of a gallery, the picture or page that a post links to."""
    url = web_address(text_at(thing, "url"))
    if at(thing, "is_self") is not False or not url:
        return []
    if text_at(thing, "post_hint") == "image":
        return media_attachments([url])
    items = list_at(thing, "gallery_data", "items")[:50]
    ids = [text_at(item, "media_id") for item in items]
    if ids:
        metadata = at(thing, "media_metadata")
        return media_attachments(text_at(at(metadata, one), "s", "u") for one in ids)
    return [{"type": "link", "url": url, "title": text_at(thing, "title")}]


_REDDIT: Final = Endpoint(_REDDIT_HOST, _read_reddit, most=_REDDIT_POSTS)


_ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    **_OEMBED,
    BLUESKY: _BLUESKY,
    REDDIT: _REDDIT,
}


def endpoint_of(link: PostLink) -> Endpoint | None:
    """None if nothing can be asked without an account at the network."""
    if link.network == MASTODON:
        return _mastodon(link)
    return _ENDPOINTS.get(link.network)
