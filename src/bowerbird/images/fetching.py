"""Fetches one image from another site, and trusts nothing about it.

Only https, only allowed hosts, only public addresses (`outgoing`). Every redirect is checked like
the first URL. Size and time are limited while the bytes arrive.
"""

import asyncio
from enum import StrEnum
from typing import Final
from urllib.parse import urljoin

import httpx2
from msgspec import Struct

from bowerbird.images import formats
from bowerbird.images.formats import ImageFormat
from bowerbird.images.hosts import AllowedHosts
from bowerbird.model.posts.media import URL_MAX
from bowerbird.outgoing import Connect, OutgoingRequests, PrivateAddress, Resolve, Response, resolve

MAX_BYTES: Final = 16 * 1024 * 1024
VIDEO_BYTES_MAX: Final = 32 * 1024 * 1024
MAX_PIXELS: Final = 40_000_000
MAX_REDIRECTS: Final = 3
TIMEOUT_S: Final = 30.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# The server may answer otherwise a while later.
_TEMPORARY: Final = frozenset({408, 425, 429})
_FIRST_ERROR_OF_SERVER: Final = 500
_DIGITS: Final = 18
_HEADERS: Final = {"Accept": ", ".join(formats.TYPES)}


class Reason(StrEnum):
    """Why an image was not fetched. The database has these texts."""

    HOST = "host"
    ADDRESS = "address"
    REDIRECTS = "redirects"
    GONE = "gone"
    REFUSED = "refused"
    SIZE = "size"
    TYPE = "type"
    PIXELS = "pixels"
    # Those below may pass.
    # The quota for videos is used.
    ROOM = "room"
    BUSY = "busy"
    TIME = "time"
    UNREACHABLE = "unreachable"


# Then the host has a problem, and its other images wait too.
TEMPORARY: Final = frozenset({Reason.BUSY, Reason.TIME, Reason.UNREACHABLE})
# A host that refuses one image may give it later.
RETRIED: Final = TEMPORARY | {Reason.REFUSED, Reason.ROOM}
_GONE: Final = frozenset({404, 410})


class NotFetched(Exception):  # noqa: N818 - named for what it is
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class FetchedImage(Struct, frozen=True):
    content: bytes
    format: ImageFormat


class Fetcher(OutgoingRequests):
    def __init__(
        self,
        allowed: AllowedHosts,
        *,
        resolve: Resolve = resolve,
        connect: Connect | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        super().__init__(resolve=resolve, connect=connect)
        self._allowed = allowed
        self._timeout_s = timeout_s

    async def fetch(
        self, url: str, instance: str = "", video_room: int | None = None
    ) -> FetchedImage:
        """`instance` is the server of the post, from which pictures may come too.

        `video_room`: how many bytes a video may have; None if it must be an image.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                content = await self._followed(url, instance, video_room)
        except TimeoutError:
            raise NotFetched(Reason.TIME) from None
        except (OSError, UnicodeError) as error:
            raise NotFetched(Reason.UNREACHABLE) from error
        is_video = video_room is not None and formats.is_video(content)
        found = formats.VIDEO if is_video else formats.format_of(content)
        if found is None:
            raise NotFetched(Reason.TYPE)
        if found.width * found.height > MAX_PIXELS:
            raise NotFetched(Reason.PIXELS)
        return FetchedImage(content, found)

    async def _followed(self, url: str, instance: str, video_room: int | None) -> bytes:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._get(url, instance, video_room)
            if isinstance(answer, bytes):
                return answer
            url = _joined(url, answer)
        raise NotFetched(Reason.REDIRECTS)

    async def _get(self, url: str, instance: str, video_room: int | None) -> bytes | str:
        """The content, or the URL of a redirect."""
        parsed = _parsed(url)
        if not self._allowed.has(parsed.raw_host.decode("ascii").lower(), instance):
            raise NotFetched(Reason.HOST)
        try:
            async with self.response("GET", parsed, _HEADERS) as response:
                return await _read(response, video_room)
        except PrivateAddress:
            raise NotFetched(Reason.ADDRESS) from None


async def _read(response: Response, video_room: int | None) -> bytes | str:
    status = response.status_code
    if status in _REDIRECTS and "location" in response.headers:
        return response.headers["location"]
    if status != httpx2.codes.OK:
        raise NotFetched(_reason_of(status))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise NotFetched(Reason.TYPE)
    content = bytearray()
    stated = response.headers.get("content-length", "")
    size = int(stated) if stated.isascii() and stated.isdecimal() and len(stated) < _DIGITS else 0
    async for part in response.content:
        content += part
        most, problem = MAX_BYTES, Reason.SIZE
        if video_room is not None and formats.is_video(content):
            most = min(VIDEO_BYTES_MAX, video_room)
            if VIDEO_BYTES_MAX >= max(len(content), size) > most:
                problem = Reason.ROOM
        if max(len(content), size) > most:
            raise NotFetched(problem)
    return bytes(content)


def _parsed(url: str) -> httpx2.URL:
    """A plain https URL. It comes from a post or from another server, so it may be any text."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        raise NotFetched(Reason.HOST) from None
    is_plain = parsed.scheme == "https" and not parsed.userinfo and parsed.port in (None, 443)
    if not is_plain or len(url) > URL_MAX:
        raise NotFetched(Reason.HOST)
    return parsed


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise NotFetched(Reason.REDIRECTS) from None


def _reason_of(status: int) -> Reason:
    if status in _TEMPORARY or status >= _FIRST_ERROR_OF_SERVER:
        return Reason.BUSY
    return Reason.GONE if status in _GONE else Reason.REFUSED
