"""Reads posts from oEmbed answers: that of X has the text, others have a title and a picture."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from bowerbird.connections.published.records import (
    FORBIDDEN,
    GONE,
    NOT_ALLOWED,
    OK,
    Ask,
    Endpoint,
    Outcome,
    Read,
    adopted,
)
from bowerbird.connections.records import Answer
from bowerbird.model.imports import Completeness
from bowerbird.model.links import Reason
from bowerbird.model.networks import TIKTOK, TUMBLR, YOUTUBE, X
from bowerbird.sources.file_posts import FilePost, found_post, web_address
from bowerbird.sources.parsing.html_text import MAX_HTML_CHARACTERS, Tag, plain_text, tokens
from bowerbird.sources.parsing.json_values import text_at
from bowerbird.sources.post_links import PostLink, parse

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


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
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
