"""/c/NAME: the page of a share, its feeds and its pictures, for strangers.

It is a surface of its own: no session, no cookie, no script. What it sends is cached until the
library or the share changes.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.sharing.shared_lists import Opened, SharedLists
from bowerbird.library.sharing.shares import PATH
from bowerbird.lru import LruCache
from bowerbird.model.labels import Audience
from bowerbird.requests.limits import (
    CURSOR_MAX,
    FEED_POSTS,
    SHARED_BUILDS_MAX,
    SHARED_POSTS,
    SHARED_WAITING_MAX,
)
from bowerbird.web.media import sent
from bowerbird.web.pages import safety_headers
from bowerbird.web.sharing.entries import ATOM, JSON_FEED, Entries, Feed, atom, json_feed, legal
from bowerbird.web.templating import Templates
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses.answer_cache import AnswerCache, RequestTarget, is_among
from bowerbird.wire.responses.replies import Finished, Header, Reply

PREFIX: Final = PATH.rstrip("/")
_HTML: Final = "text/html"
_FORMATS: Final = {".atom": ATOM, ".json": JSON_FEED}
_CHARSET: Final = {_HTML: "text/html; charset=utf-8", ATOM: f"{ATOM}; charset=utf-8"}
_PAGE_POLICY: Final = (
    b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'none'"
)
_FEED_POLICY: Final = b"default-src 'none'; frame-ancestors 'none'"
_NOT_INDEXED: Final[Header] = (b"x-robots-tag", b"noindex")
# Checked again for each use: sharing may have been stopped.
_CACHED: Final[Header] = (b"cache-control", b"public, no-cache")
_KEPT_BY_304: Final = (b"etag", b"last-modified", b"cache-control", b"vary", b"x-robots-tag")
# The page of another site may show them: many feed readers are websites.
_PICTURE: Final[list[Header]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-disposition", b"inline"),
    (b"cache-control", b"private, max-age=86400"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"referrer-policy", b"no-referrer"),
    _NOT_INDEXED,
]
_TIMES_MAX: Final = 10_000
_NOT_FOUND: Final = 404


class SharedPages:
    """`answers` is the cache of the API: a share takes no memory of its own."""

    def __init__(self, services: Services, templates: Templates, answers: AnswerCache) -> None:
        settings = services.settings
        self._lists: SharedLists = services.shared_lists
        self._kept = services.kept_images
        self._clock: Clock = services.clock
        self._templates = templates
        self._answers = answers
        self._site = settings.site_origin
        self._base_path = urlsplit(self._site).path.rstrip("/")
        self._entries = Entries(services.kept_images, self._base_path, self._site)
        self._safety = safety_headers(is_secure=self._site.startswith("https://"))
        self._turns = asyncio.Semaphore(SHARED_BUILDS_MAX)
        self._making: dict[Any, asyncio.Task[Reply]] = {}
        # When this process first saw the present content of a document, by its hash.
        self._seen = LruCache(_TIMES_MAX)
        handlers = {"GET": self.document, "HEAD": self.document}
        pictures = {"GET": self.picture, "HEAD": self.picture}
        self._document = RoutedPath(f"{PATH}{{name}}", handlers, ", ".join(handlers))
        self._picture = RoutedPath(f"{PATH}{{name}}/media/{{id}}", pictures, ", ".join(pictures))

    def find(self, path: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        name, *rest = path.removeprefix(PATH).split("/")
        if not path.startswith(PATH) or not name or "\x00" in path:
            return None, {}
        if not rest:
            return self._document, {"name": name}
        if len(rest) == 2 and rest[0] == "media":  # noqa: PLR2004 - "media" and its id
            return self._picture, {"name": name, "id": rest[1]}
        return None, {}

    async def document(self, request: Request) -> Reply:
        name, media_type = request.path_params["name"], _HTML
        for ending, kind in _FORMATS.items():
            if name.endswith(ending):
                name, media_type = name.removesuffix(ending), kind
        opened = await self._lists.open(name, as_page=media_type == _HTML)
        after = _after(request.scope["query_string"])
        share = opened.share
        target = RequestTarget(
            path=f"{PATH}{share.share_id} {share.revision} {media_type}",
            query_string=after.encode(),
            accept_encoding=request.headers.get(b"accept-encoding", b""),
            if_none_match=None,
            minute=opened.minute,
            vectors=opened.tag,
        )

        async def build() -> Finished:
            async with self._turns:
                body = await self._made(opened, after, media_type)
            return self._finished(opened, (share.share_id, media_type, after), body, media_type)

        reply = await self._once(
            (opened.account, target), lambda: self._answers.answer(opened.account, target, build)
        )
        return _unless_modified(reply, request.headers)

    async def picture(self, request: Request) -> Reply:
        opened = await self._lists.open(request.path_params["name"])
        image = await self._lists.picture(opened, request.path_params["id"])
        return await sent(self._kept, opened.account, image, request.headers, _PICTURE)

    async def _once(self, key: Any, make: Callable[[], Awaitable[Reply]]) -> Reply:
        """Requests for the same document wait for one that makes it."""
        task = self._making.get(key)
        if task is None:
            if len(self._making) >= SHARED_WAITING_MAX:
                raise errors.unavailable("Too many shared pages are being made.", 2)
            task = asyncio.ensure_future(make())
            self._making[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)

    def _forget(self, key: Any, task: "asyncio.Task[Reply]") -> None:
        del self._making[key]
        if not task.cancelled():
            # Retrieved also if all who waited are gone.
            task.exception()

    async def _made(self, opened: Opened, after: str, media_type: str) -> bytes:
        is_feed = media_type != _HTML
        limit = FEED_POSTS if is_feed else SHARED_POSTS
        listed = await self._lists.page(opened, after, limit, by_arrival=is_feed)
        entries = await self._entries.of(opened, listed, is_feed=is_feed)
        share, name = opened.share, await self._lists.name_of(opened)
        title = legal(share.choices.title or name).strip() or "Untitled"
        address = f"{self._site}{PATH}{share.address}"
        following = urlencode({"after": listed.next_cursor}) if listed.next_cursor else ""
        if not is_feed:
            html = self._templates.render(
                "shared.html",
                share=share.choices,
                title=title,
                path=f"{self._base_path}{PATH}{share.address}",
                address=address,
                entries=entries,
                total=listed.total_count,
                following=following,
                is_first=not after,
            )
            return legal(html).encode("utf-8", "replace")
        ending = ".atom" if media_type == ATOM else ".json"
        feed = Feed(
            share=share,
            title=title,
            address=f"{address}{ending}" + (f"?{urlencode({'after': after})}" if after else ""),
            page="" if share.audience is Audience.FEED else address,
            next=f"{address}{ending}?{following}" if following else "",
            entries=entries,
            content=self._content,
        )
        return atom(feed) if media_type == ATOM else json_feed(feed)

    def _content(self, entry: Mapping[str, Any]) -> str:
        return self._templates.render("shared_content.html", entry=entry)

    def _finished(self, opened: Opened, key: Any, body: bytes, media_type: str) -> Finished:
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        known = self._seen.get(key)
        if known is None or known[0] != digest:
            known = (digest, self._clock() // MICROSECONDS)
            self._seen.put(key, known)
        # Not of the version of the library, which would tell strangers when it is used.
        changed = format_datetime(datetime.fromtimestamp(known[1], UTC), usegmt=True)
        headers: list[Header] = [
            (b"content-type", _CHARSET.get(media_type, media_type).encode()),
            (b"etag", f'W/"{digest}"'.encode()),
            (b"last-modified", changed.encode()),
            _CACHED,
            (b"vary", b"Accept-Encoding"),
            (b"content-security-policy", _PAGE_POLICY if media_type == _HTML else _FEED_POLICY),
            *self._safety,
        ]
        if not opened.share.choices.is_indexed:
            headers.append(_NOT_INDEXED)
        return Finished(body, headers)

    def phrase_refusal(self, refused: Refusal, request: Request) -> Reply:
        """One page for everything that is not there, whatever the reason is."""
        headers = [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
        is_missing = refused.code in (Code.NOT_FOUND, Code.INVALID_REQUEST)
        status = refused.status
        if is_missing:
            status = _NOT_FOUND
        elif refused.code is not Code.METHOD_NOT_ALLOWED and status < 500:  # noqa: PLR2004
            # Its view cannot be read now: the vectors are being built.
            status = 503
        sentence = "Nothing is shared at this address." if is_missing else "Try again in a minute."
        media_type, body = "text/plain; charset=utf-8", f"{sentence}\n".encode()
        if b"text/html" in request.headers.get(b"accept", b""):
            html = self._templates.render("shared_missing.html", sentence=sentence)
            media_type, body = _CHARSET[_HTML], html.encode()
        fixed: list[Header] = [
            (b"content-type", media_type.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"content-security-policy", _PAGE_POLICY),
            *self._safety,
            _NOT_INDEXED,
        ]
        return Reply(status, [*fixed, *headers], body)


def surface(services: Services, answers: AnswerCache, metrics: RequestMetrics) -> Pipeline:
    templates = Templates(services.settings, has_sandbox=services.settings.sandbox == "on")
    pages = SharedPages(services, templates, answers)
    return Pipeline(
        Surface(
            find=pages.find,
            phrase_refusal=pages.phrase_refusal,
            extra_headers=lambda _request, _reply: (),
            reads_bodies=False,
        ),
        metrics,
    )


def _after(query: bytes) -> str:
    """Where a page continues. Other parameters mean nothing, and are no other page."""
    if not query:
        return ""
    if len(query) > CURSOR_MAX:
        raise errors.invalid("after", "is too long")
    found = parse_qs(query.decode("latin-1"))
    return found.get("after", [""])[0]


def _unless_modified(reply: Reply, headers: Mapping[bytes, bytes]) -> Reply:
    """304 for those who have it. If-None-Match decides if both are sent (RFC 9110, 13.2.2)."""
    found = dict(reply.headers)
    if (sent_tags := headers.get(b"if-none-match")) is not None:
        has_it = is_among(found[b"etag"].removeprefix(b"W/"), sent_tags)
    else:
        has_it = _is_since(found[b"last-modified"], headers.get(b"if-modified-since"))
    if not has_it:
        return reply
    return Reply(304, [(name, value) for name, value in reply.headers if name in _KEPT_BY_304])


def _is_since(changed: bytes, since: bytes | None) -> bool:
    if since is None:
        return False
    try:
        asked = parsedate_to_datetime(since.decode("latin-1"))
        return parsedate_to_datetime(changed.decode()) <= asked.astimezone(UTC)
    except (ValueError, OverflowError):
        return False
