"""Media of a post: their types as one number, texts of attachments, images kept here."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct

from bowerbird.model.posts.bookmarks import PostDetails

BITS: Final[Mapping[str, int]] = {
    "image": 1,
    "video": 2,
    "gif": 4,
    "article": 8,
    "link": 16,
    "poll": 32,
    "thread": 64,
    "text": 128,
}
SYNONYMS: Final[Mapping[str, str]] = {"photo": "image", "animated_gif": "gif"}

# The types of few posts, which the databases have an index of. It names this number.
RARE: Final = BITS["gif"] | BITS["article"] | BITS["poll"]
PICTURES: Final = BITS["image"] | BITS["video"] | BITS["gif"]
_ATTACHED: Final = BITS["image"] | BITS["video"] | BITS["gif"] | BITS["link"] | BITS["poll"]


def bits_of(details: PostDetails) -> int:
    """The media types of a post. Without attachments and article, its type is text."""
    bits = _attached(details.attachments)
    if details.article is not None:
        bits |= BITS["article"]
    if details.meta.tweet_is_thread or details.meta.is_sub_tweet_of_thread:
        bits |= BITS["thread"]
    if not bits & (_ATTACHED | BITS["article"]):
        bits |= BITS["text"]
    return bits


def bit_of(media_type: str) -> int | None:
    """The bit of a type in a client's spelling, or None for an unknown type."""
    name = media_type.strip().lower()
    return BITS.get(SYNONYMS.get(name, name))


def _attached(attachments: list[dict[str, Any]]) -> int:
    bits = 0
    for attachment in attachments:
        bits |= bit_of(str(attachment.get("type", ""))) or 0
    return bits & _ATTACHED


_FIELDS: Final = ("title", "description", "alt_text")
DOMAIN: Final = "attachments.domain"
TITLE: Final = "attachments.title"
# Sources give a choice as a text, or as an object with the text in it.
_CHOICE_FIELDS: Final = ("label", "text", "title", "name")


def attached_texts(attachments: object) -> list[tuple[str, str]]:
    """Each text with the name of its field. Attachments may have fields of any type."""
    if not isinstance(attachments, list):
        return []
    texts = [text for one in attachments if isinstance(one, dict) for text in _texts_of(one)]
    return list(dict.fromkeys(texts))


def _texts_of(attachment: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _FIELDS:
        if (text := attachment.get(name)) and isinstance(text, str):
            yield f"attachments.{name}", text
    choices = attachment.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if text := _choice(choice):
            yield "attachments.choices", text
    if domain := _domain(attachment):
        yield DOMAIN, domain


def _choice(choice: object) -> str:
    if isinstance(choice, dict):
        choice = next((choice[name] for name in _CHOICE_FIELDS if choice.get(name)), "")
    return choice if isinstance(choice, str) else ""


def _domain(attachment: dict[str, Any]) -> str:
    domain, url = attachment.get("domain"), attachment.get("url")
    if isinstance(domain, str) and domain:
        return domain
    if attachment.get("type") != "link" or not isinstance(url, str):
        return ""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


KIND: Final = "media"
FOLDER: Final = "media"
# Larger than any network allows; beyond it, the images of a post are ignored.
IMAGES_PER_POST_MAX: Final = 40
URL_MAX: Final = 2_048
_IMAGES: Final = frozenset({"image", "photo"})
_MOVING: Final = frozenset({"video", "gif", "animated_gif"})
_WITH_PREVIEW: Final = _MOVING | {"link"}


class MediaAccount(Struct, frozen=True):
    """Whether an account keeps images, how much it keeps, and which state of it was looked at."""

    is_keeping: bool = False
    is_clearing: bool = False
    files: int = 0
    bytes: int = 0
    # The quota that was too small for another image; 0 if none was.
    full_at: int = 0
    epoch: int = 0
    version: int = 0
    looked_at: int = 0


class UnknownPost(Struct, frozen=True):
    """A post whose images are not known yet."""

    number: int
    post_id: str
    content_hash: bytes
    rendering: bytes


class ImageLink(Struct, frozen=True):
    """An image of a post. `reason` says why it is left out, '' if it is to be fetched."""

    url: str
    instance: str
    reason: str
    # The small rendition, or ''.
    small_url: str = ""


class DueImage(Struct, frozen=True):
    url_key: str
    url: str
    instance: str
    # Failed attempts so far.
    tries: int
    small_url: str = ""


class FailedImage(Struct, frozen=True):
    """An image that was not fetched: its new state, why, and when it is due again."""

    url_key: str
    state: str
    reason: str
    tries: int
    due_at: int


class KeptImage(Struct, frozen=True):
    """A kept file. Width and height of a video are 0."""

    media_id: str
    type: str
    bytes: int
    width: int
    height: int

    @property
    def is_video(self) -> bool:
        return self.type.startswith("video/")


class KnownImage(Struct, frozen=True):
    """An image of a post: waiting, kept or left_out, why the last attempt failed, and its files."""

    state: str
    reason: str
    file: KeptImage | None
    # The small rendition, which lists show.
    small: KeptImage | None = None


class UnreadImage(Struct, frozen=True):
    """An image of a post. `text` is known if another post has the image too."""

    post_id: str
    url_key: str
    url: str
    media_id: str
    text: str | None


class MediaTotals(Struct, frozen=True):
    """The images of all accounts, and how many accounts have used their quota."""

    kept: int
    waiting: int
    left_out: int
    bytes: int
    full: int


def folder_of(account_id: int) -> str:
    return f"{FOLDER}/{account_id}"


def file_name(account_id: int, media_id: str) -> str:
    return f"{folder_of(account_id)}/{media_id}"


def url_key(url: str) -> str:
    return hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=16).hexdigest()


def image_url(attachment: Mapping[str, Any]) -> str:
    """The URL of the picture that an attachment shows: an image, a still, or that of a card."""
    kind = attachment.get("type")
    if kind in _IMAGES:
        return _url(attachment, "url") or _url(attachment, "preview_image")
    return _url(attachment, "preview_image") if kind in _WITH_PREVIEW else ""


def video_urls(details: Mapping[str, Any]) -> list[str]:
    """The URLs of the videos and animations of a post and of the post that it quotes."""
    quoted = details.get("quoted_tweet")
    parts = (details, quoted if isinstance(quoted, dict) else {})
    attached = [part.get("attachments") for part in parts]
    return [
        url
        for some in attached
        for each in (some if isinstance(some, list) else [])
        if isinstance(each, dict)
        and each.get("type") in _MOVING
        and (url := _url(each, "url"))
        and not _is_playlist(url)
    ][:IMAGES_PER_POST_MAX]


def watchable(attachment: dict[str, Any], post_url: object) -> dict[str, Any]:
    """The attachment as it is opened: many browsers only download a playlist, so the post is."""
    is_led = bool(post_url) and _is_playlist(_url(attachment, "url"))
    return {**attachment, "url": post_url} if is_led else attachment


def _is_playlist(url: str) -> bool:
    """Whether a URL names many files of a video, such as those of Bluesky."""
    return url.partition("?")[0].endswith(".m3u8")


def kept_video(attachment: Mapping[str, Any], known: Mapping[str, KnownImage]) -> KeptImage | None:
    """The file of a moving picture that is kept."""
    found = known.get(_url(attachment, "url")) if attachment.get("type") in _MOVING else None
    return found.file if found and found.file and found.file.is_video else None


def image_urls(details: Mapping[str, Any]) -> list[str]:
    """The URLs of the images and the cover of a post and of the post that it quotes."""
    return list(images_of(details))


def shown_urls(bookmark: Mapping[str, Any]) -> dict[str, str]:
    """The URLs of all that a saved post shows, each with that of its small rendition or ''."""
    details = bookmark.get("tweet_details")
    details = details if isinstance(details, dict) else {}
    quoted = details.get("quoted_tweet")
    urls = images_of(details)
    for post in (bookmark, quoted if isinstance(quoted, dict) else {}):
        if url := avatar_url(post):
            urls.setdefault(url, "")
    return urls


_X_AVATAR: Final = re.compile(
    r"(https://pbs\.twimg\.com/profile_images/[^?#]+?)(?:_normal|_bigger|_mini|_400x400)?(\.\w+)"
)
_BLUESKY_AVATAR: Final = "https://cdn.bsky.app/img/avatar/"
_BLUESKY_FACE: Final = "https://cdn.bsky.app/img/avatar_thumbnail/"


def avatar_url(post: Mapping[str, Any]) -> str:
    """The URL of the author's picture, as small as the network has it, or ''."""
    author = post.get("author_details")
    url = _url(author, "profile_image") if isinstance(author, dict) else ""
    if found := _X_AVATAR.fullmatch(url):
        return f"{found[1]}_bigger{found[2]}"
    if url.startswith(_BLUESKY_AVATAR):
        return _BLUESKY_FACE + url.removeprefix(_BLUESKY_AVATAR)
    return url


def images_of(details: Mapping[str, Any]) -> dict[str, str]:
    """The URLs of images, each with that of its small rendition or ''."""
    quoted = details.get("quoted_tweet")
    parts = (details, quoted if isinstance(quoted, dict) else {})
    found: dict[str, str] = {}
    for part in parts:
        for url, small in (*_attached_images(part), _cover(part)):
            if url and len(found) < IMAGES_PER_POST_MAX:
                found.setdefault(url, small)
    return found


def _attached_images(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    attached = part.get("attachments")
    return [
        (url, small_url(url, _url(each, "preview_image")))
        for each in (attached if isinstance(attached, list) else [])
        if isinstance(each, dict) and (url := image_url(each))
    ]


def _cover(part: Mapping[str, Any]) -> tuple[str, str]:
    article = part.get("article")
    url = _url(article, "cover_image") if isinstance(article, dict) else ""
    return url, small_url(url)


_X_IMAGE: Final = re.compile(
    r"(https://pbs\.twimg\.com/(?:media|card_img|\w+_thumb)/[^?#:]+)(?::\w+)?"
    r"(?:\?(?:.*&)?(format=\w+))?"
)
_BLUESKY_IMAGE: Final = "https://cdn.bsky.app/img/feed_fullsize/"
_BLUESKY_SMALL: Final = "https://cdn.bsky.app/img/feed_thumbnail/"


def small_url(url: str, preview: str = "") -> str:
    """The URL of a small rendition that the network has, or ''.

    A server of Mastodon states it as the preview of an image.
    """
    if found := _X_IMAGE.match(url):
        path, form = found.groups()
        return f"{path}?{form}&name=small" if form else f"{path}?name=small"
    if url.startswith(_BLUESKY_IMAGE):
        return _BLUESKY_SMALL + url.removeprefix(_BLUESKY_IMAGE)
    return preview if preview != url else ""


# Parameters of an address that ask for a size or a format of the same picture.
_RENDITION: Final = re.compile(
    r"(?:name|size|format|fm|auto|fit|crop|resize|quality|q|dpr|w|h|width|height|maxwidth)"
)
_EXTENSION: Final = re.compile(r"(?:\.(?:jpe?g|png|webp|avif|gif)|@\w+)$", re.IGNORECASE)


def picture_address(url: str) -> str:
    """The address of a picture without what asks for a size or a format."""
    if url.startswith((_BLUESKY_IMAGE, _BLUESKY_SMALL)):
        # The last part is a hash of the picture.
        return _EXTENSION.sub("", url.rpartition("/")[2])
    if found := _X_IMAGE.match(url):
        return _EXTENSION.sub("", found[1])
    try:
        parts = urlsplit(url)
        query = [one for one in parse_qsl(parts.query) if not _RENDITION.fullmatch(one[0])]
    except ValueError:
        return url
    return f"{parts.netloc}{parts.path}?{urlencode(query)}"


def _url(attachment: Mapping[str, Any], name: str) -> str:
    value = attachment.get(name)
    if not isinstance(value, str) or not value.startswith(("https://", "http://")):
        return ""
    is_plain = value.isprintable() and " " not in value and len(value) <= URL_MAX
    return value if is_plain else ""
