"""/media/{media_id}, and whether images are kept and shown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.assembly import Services
from bowerbird.library.media.kept import KeptImages, MediaState
from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import KeptImage, video_urls
from bowerbird.web.library.post_parts import ANIMATED, PostParts, urls_of
from bowerbird.web.visits.formats import size_text
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit, is_own_path
from bowerbird.wire.responses.replies import Header, Reply
from bowerbird.wire.responses.streaming import ByteRange, NotSatisfiable, requested_range

# The name of the cookie of a browser that shows no images.
COOKIE: Final = "images"
OFF: Final = "off"


def shows_images(visit: Visit) -> bool:
    return visit.jar.read(visit.request.headers.get(b"cookie"), COOKIE) != OFF


def show_images(visit: Visit, *, is_shown: bool) -> None:
    removed = visit.jar.remove(COOKIE)
    visit.cookies.append(removed if is_shown else visit.jar.write(COOKIE, OFF, _COOKIE_DAYS))


class ShownImages:
    """`is_offered`: whether the operator lets accounts keep images."""

    def __init__(self, kept: KeptImages, *, is_offered: bool) -> None:
        self._kept = kept
        self.is_offered = is_offered

    def values(self, visit: Visit) -> dict[str, Any]:
        """What the templates need for the switch."""
        shows = shows_images(visit)
        return {
            "can_show_images": self.is_offered,
            "shows_images": shows,
            "arrivals": ARRIVALS if shows and self.is_offered else "",
        }

    async def add(
        self,
        account: Account,
        parts: PostParts,
        bookmarks: Sequence[dict[str, Any]],
        *,
        with_videos: bool = False,
    ) -> None:
        """Lets the parts show the kept images of these posts. Only a post's page plays videos."""
        urls = urls_of(bookmarks)
        for each in bookmarks if with_videos else ():
            details = each.get("tweet_details")
            urls += video_urls(details) if isinstance(details, dict) else []
        await self.add_urls(account, parts, urls)

    async def add_urls(self, account: Account, parts: PostParts, urls: Iterable[str]) -> None:
        """One read, unless the browser shows no images."""
        if parts.images is not None:
            parts.images |= await self._kept.known(account, urls)


FILE: Final = "/media/{media_id}"
SHOW: Final = "/library/images"
ARRIVALS: Final = "/library/images/arrivals"
_ASKED_MAX: Final = 60
KEEP: Final = "/account/images"
CLEAR: Final = "/account/images/delete"
STATE: Final = "/account/images/state"
_ACCOUNT: Final = "/account"
_COOKIE_DAYS: Final = 400
_PAGES: Final = ("/library", "/p/", "/views/", _ACCOUNT)
# Nothing in the file can run, even if somebody opens it alone. A browser plays a video in a page of
# its own, which loads it: in a sandbox that page would be a stranger, without the cookie.
_POLICY: Final = b"sandbox; default-src 'none'"
_VIDEO_POLICY: Final = b"default-src 'none'; media-src 'self'"
_HEADERS: Final[list[Header]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-disposition", b"inline"),
    # Another image has another id.
    (b"cache-control", b"private, max-age=31536000, immutable"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
]
# Why images are not kept, in the order in which the page says it.
_WORDS: Final = {
    "host": "on sites from which this server downloads nothing",
    "gone": "gone",
    "refused": "refused by their site",
    "type": "not images of a known type",
    "size": "too large",
    "pixels": "with too many pixels",
    "room": "videos without room",
    "address": "at a private address",
    "redirects": "behind too many redirects",
    "busy": "on sites that did not answer",
    "time": "too slow",
    "unreachable": "unreachable",
}


def routes(services: Services, pages: VisitPages) -> list[PageRoute]:
    media = _MediaPages(services, pages)
    return [
        PageRoute("GET", FILE, media.file, is_page=False),
        PageRoute("GET", ARRIVALS, media.arrivals, is_json=True),
        PageRoute("POST", SHOW, media.show, page="/library"),
        PageRoute("POST", KEEP, media.keep, page=_ACCOUNT),
        PageRoute("POST", CLEAR, media.clear, page=_ACCOUNT),
        PageRoute("GET", STATE, media.state, is_json=True, page=_ACCOUNT),
    ]


class _MediaPages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._kept = services.kept_images
        self._preferences = services.media_preferences
        self._wake_worker = services.wake_worker
        self._pages = pages

    async def file(self, visit: Visit) -> Reply:
        """The file, or the part of it that a player asks for."""
        account = visit.account
        image = await self._kept.find(account, visit.named("media_id"))
        return await sent(self._kept, account, image, visit.request.headers, _HEADERS)

    async def arrivals(self, visit: Visit) -> Reply:
        """Which of the images that a page waits for are here, for a script."""
        keys = visit.asked("keys").split(",")[:_ASKED_MAX]
        known = await self._kept.by_key(visit.account, keys)
        files = {key: each.small or each.file for key, each in known.items()}
        images = {
            key: {
                "src": self._pages.path(f"/media/{file.media_id}"),
                "width": file.width,
                "height": file.height,
            }
            for key, file in files.items()
            if file is not None and file.type != ANIMATED and not file.is_video
        }
        return self._pages.json({"images": images})

    async def show(self, visit: Visit) -> Reply:
        show_images(visit, is_shown=visit.form.get("show") != OFF)
        back = visit.sent("back")
        is_ours = is_own_path(back) and urlsplit(back).path.startswith(_PAGES)
        return self._pages.go(back if is_ours else "/library")

    async def keep(self, visit: Visit) -> Reply:
        is_keeping = "keep" in visit.form
        show_images(visit, is_shown=is_keeping)
        await self._preferences.switch(visit.account, is_keeping=is_keeping)
        self._wake_worker()
        said = "images-kept" if is_keeping else "images-not-kept"
        return self._pages.go(f"{_ACCOUNT}?said={said}#images")

    async def clear(self, visit: Visit) -> Reply:
        await self._preferences.clear(visit.account)
        self._wake_worker()
        return self._pages.go(f"{_ACCOUNT}?said=images-deleted#images")

    async def state(self, visit: Visit) -> Reply:
        """How many images are here, for the script that follows the number."""
        state = await self._preferences.state(visit.account)
        job = {"id": "images", "done": state.kept, "total": state.total, "text": _progress(state)}
        return self._pages.json({"mark": _mark(state), "jobs": [job]})


async def sent(
    kept: KeptImages,
    account: Account,
    image: KeptImage,
    asked: Mapping[bytes, bytes],
    headers: Sequence[Header],
) -> Reply:
    """A file, or the part of it that a player asks for. `asked`: headers of the request."""
    # Another content has another id.
    tag = b'"%b"' % image.media_id.encode()
    try:
        span = (
            None
            if asked.get(b"if-range", tag) != tag
            else requested_range(asked.get(b"range"), image.bytes)
        )
    except NotSatisfiable:
        return Reply(416, [(b"content-range", b"bytes */%d" % image.bytes)])
    part = span or ByteRange(0, image.bytes)
    found = [
        (b"content-type", image.type.encode()),
        (b"content-length", b"%d" % (part.end - part.first)),
        (b"accept-ranges", b"bytes"),
        (b"etag", tag),
        (b"content-security-policy", _VIDEO_POLICY if image.is_video else _POLICY),
        *headers,
    ]
    if span is None:
        return Reply(200, found, stream=(await kept.open(account, image)).chunks)
    found.append((b"content-range", b"bytes %d-%d/%d" % (part.first, part.end - 1, image.bytes)))
    opened = await kept.open(account, image, part.first, part.end)
    return Reply(206, found, stream=opened.chunks)


def _progress(state: MediaState) -> str:
    size, quota = size_text(state.bytes), size_text(state.quota)
    return f"{state.kept:,} of {state.total:,} images, {size} of {quota}"


def _mark(state: MediaState) -> str:
    """Whether more images are on their way."""
    return "open" if state.waiting and state.is_keeping and not state.is_full else "done"


def on_account_page(state: MediaState) -> dict[str, Any] | None:
    """The images that account.html takes; None if there is nothing to say."""
    if not state.is_offered and not state.total:
        return None
    left_out = [
        (state.left_out[name], text) for name, text in _WORDS.items() if name in state.left_out
    ]
    return {
        "state": state,
        "progress": _progress(state),
        "mark": _mark(state),
        "left_out": left_out,
    }
