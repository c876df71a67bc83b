"""The author, text and attachments of one post: what a saved and a quoted post have in common."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from bowerbird.model.posts.bookmarks import AuthorDetails
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.values import (
    MAX_ARTICLE_CHARACTERS,
    MAX_POST_CHARACTERS,
    Object,
    article_text,
    date_of_post,
    date_of_seconds,
    decoded,
    first_text,
    iso_date,
    mapping,
    objects,
    post_id,
    post_text,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
    written_date,
)

# Four times as many as X has allowed in a post so far.
MAX_ATTACHMENTS: Final = 16
TYPES: Final = {"photo": "image", "video": "video", "animated_gif": "gif"}


def media_of(legacy: Object) -> list[Object]:
    read = (_medium(medium) for medium in media_entities(legacy)[:MAX_ATTACHMENTS])
    return [attachment for attachment in read if attachment]


def media_entities(legacy: Object) -> list[Object]:
    """What X says about the media of a post. Only `extended_entities` has all of them."""
    extended = objects(at(legacy, "extended_entities", "media"))
    return extended or objects(at(legacy, "entities", "media"))


def _medium(medium: Object) -> Object | None:
    kind = TYPES.get(short_text(medium.get("type")), "")
    image = web_address(medium.get("media_url_https"))
    video = mapping(medium.get("video_info"))
    url = best_variant(video.get("variants"), "bitrate") if kind != "image" else ""
    if not kind or not (url or image):
        return None
    size = mapping(medium.get("original_info"))
    status = at(medium, "ext_media_availability", "status")
    return present(
        type=kind,
        url=url or image,
        preview_image=image if kind != "image" else None,
        width=whole_number(size.get("width")),
        height=whole_number(size.get("height")),
        duration_ms=whole_number(video.get("duration_millis")) or None,
        alt_text=first_text((medium.get("ext_alt_text"), medium.get("alt_text"))),
        media_key=short_text(medium.get("media_key")),
        expanded_url=web_address(medium.get("expanded_url")),
        available=status == "Available" if isinstance(status, str) else None,
    )


def best_variant(variants: object, bit_rate: str) -> str:
    """The address of the best MP4 file. The first variant is often a playlist instead."""
    best, best_rate = "", -1
    playlist = ""
    for variant in sequence(variants):
        address = web_address(at(variant, "url"))
        rate = whole_number(at(variant, bit_rate)) or 0
        if at(variant, "content_type") != "video/mp4":
            playlist = playlist or address
        elif address and rate > best_rate:
            best, best_rate = address, rate
    return best or playlist


_MAX_CHOICES: Final = 10
# The largest image first. "original" and "x_large" can be missing.
_IMAGES: Final = (
    "thumbnail_image_original",
    "summary_photo_image_original",
    "photo_image_full_size_original",
    "player_image_original",
    "thumbnail_image_large",
    "summary_photo_image_large",
    "photo_image_full_size_large",
    "player_image_large",
    "thumbnail_image",
    "summary_photo_image",
    "player_image",
)


def card_of(card: object, targets: Mapping[str, str]) -> Object | None:
    """The attachment of a card, or None if it has neither choices nor an address."""
    legacy = mapping(at(card, "legacy")) or mapping(card)
    values = _values(legacy.get("binding_values"))
    if short_text(legacy.get("name")).startswith("poll"):
        return _poll(values)
    if "unified_card" in values and (unified := _unified(values["unified_card"])):
        return unified
    # Since August 2026 some cards have no values, only the shortened link as their id.
    short = first_text((_string(values, "card_url"), legacy.get("url"), at(card, "rest_id")))
    url = web_address(targets.get(short, short))
    if not url:
        return None
    return present(
        type="link",
        url=url,
        title=_string(values, "title"),
        description=_string(values, "description"),
        domain=first_text((_string(values, "vanity_url"), _string(values, "domain"), host_of(url))),
        preview_image=_image(values),
    )


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _values(bindings: object) -> Object:
    """The values of a card by name. X writes a list of pairs, and wrote an object before."""
    if isinstance(bindings, dict):
        return bindings
    return {short_text(pair.get("key")): pair.get("value") for pair in objects(bindings)}


def _string(values: Object, name: str) -> str:
    return short_text(at(values.get(name), "string_value"))


def _image(values: Object) -> str:
    addresses = (web_address(at(values.get(name), "image_value", "url")) for name in _IMAGES)
    return next(filter(None, addresses), "")


def _poll(values: Object) -> Object | None:
    choices = []
    for number in range(1, _MAX_CHOICES + 1):
        label = _string(values, f"choice{number}_label")
        if label:
            votes = whole_number(at(values.get(f"choice{number}_count"), "string_value"))
            choices.append(present(label=label, count=votes))
    if not choices:
        return None
    ends_at = iso_date(_string(values, "end_datetime_utc"))
    return present(type="poll", choices=choices, ends_at=ends_at)


def _unified(value: object) -> Object | None:
    """The card of an advertiser's post, which is JSON inside a text."""
    card = decoded(str(at(value, "string_value") or ""))
    details = _first_data(at(card, "component_objects"), "title")
    target = mapping(_first_data(at(card, "destination_objects"), "url_data").get("url_data"))
    url = web_address(target.get("url"))
    if not url:
        return None
    images = mapping(at(card, "media_entities")).values()
    return present(
        type="link",
        url=url,
        title=short_text(at(details, "title", "content")),
        domain=first_text((target.get("vanity"), host_of(url))),
        preview_image=first_text(web_address(at(image, "media_url_https")) for image in images),
    )


def _first_data(parts: Any, field: str) -> Object:
    for part in mapping(parts).values():
        data = mapping(at(part, "data"))
        if field in data:
            return data
    return {}


def article_of(tweet: Object) -> Object | None:
    result = mapping(at(tweet, "article", "article_results", "result"))
    number = post_id(result.get("rest_id"))
    title = short_text(result.get("title"))
    body = _body(result)
    preview = article_text(result.get("preview_text"))
    return article_object(
        number,
        title,
        body,
        preview,
        web_address(at(result, "cover_media", "media_info", "original_img_url")),
        published_at=date_of_seconds(at(result, "metadata", "first_published_at_secs")),
        modified_at=date_of_seconds(at(result, "lifecycle_state", "modified_at_secs")),
    )


def article_object(
    number: str, title: str, body: str, preview: str, cover_image: str, **dates: str
) -> Object | None:
    """The fields of an article in the API; None if there is nothing of it."""
    if not (title or body or preview):
        return None
    article = present(
        id=number,
        title=title,
        plain_text=body,
        preview_text=preview,
        cover_image=cover_image,
        url=f"https://x.com/i/article/{number}" if number else "",
        **dates,
    )
    article["is_preview"] = not 0 < len(body) < MAX_ARTICLE_CHARACTERS
    return article


def _body(result: Object) -> str:
    body = article_text(result.get("plain_text"))
    return body if body.strip() else article_text(_joined(at(result, "content_state", "blocks")))


def _joined(blocks: object) -> str:
    """The text of the blocks: paragraphs with a blank line between them, items of a list without.

    Blocks without words are images and spaces.
    """
    parts: list[str] = []
    was_item = False
    for block in objects(blocks):
        text = article_text(block.get("text")).strip()
        if not text:
            continue
        is_item = short_text(block.get("type")).endswith("list-item")
        if parts:
            parts.append("\n" if is_item and was_item else "\n\n")
        parts.append(text)
        was_item = is_item
    return "".join(parts)


_MAX_WRAPPERS_OF_USER: Final = 4
# The suffix of the version with 48 pixels. The address without it is the original.
_SMALL_IMAGE: Final = re.compile(r"_normal(?=\.[A-Za-z]{2,5}$|$)")
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{1,50}")


class Author(NamedTuple):
    id: str = ""
    username: str = ""
    name: str = ""
    profile_image: str = ""

    @property
    def details(self) -> AuthorDetails:
        return AuthorDetails(
            name=self.name, username=self.username, profile_image=self.profile_image
        )

    def link(self, post_id: str) -> str:
        name = self.username if _USERNAME.fullmatch(self.username) else "i"
        return f"https://x.com/{name}/status/{post_id}"


def author_of(tweet: Object) -> Author:
    user = _user(mapping(tweet.get("core")))
    legacy = mapping(user.get("legacy"))
    # Since June 2025 these fields are in `core` and `avatar`; before, they were in `legacy`.
    core = mapping(user.get("core"))
    image = web_address(at(user, "avatar", "image_url"))
    return Author(
        id=post_id(user.get("rest_id")) or post_id(at(tweet, "legacy", "user_id_str")),
        username=first_text((core.get("screen_name"), legacy.get("screen_name"))),
        name=first_text((core.get("name"), legacy.get("name"))),
        profile_image=original_image(image or web_address(legacy.get("profile_image_url_https"))),
    )


def original_image(address: str) -> str:
    return _SMALL_IMAGE.sub("", address)


def _user(core: Object) -> Object:
    """The user below `user_results.result`, which X sometimes wraps twice."""
    user = mapping(core.get("user_results") or core.get("user_result"))
    for _ in range(_MAX_WRAPPERS_OF_USER):
        if not isinstance(user.get("result"), dict):
            break
        user = user["result"]
    return user


_LINK: Final = re.compile(r"https?://t\.co/[A-Za-z0-9]+")
_MAX_LINK_CHARACTERS: Final = 64
# X ends the beginning of a long text like this. The link leads to the post.
_CUT: Final = re.compile(r"…\s*(https?://t\.co/[A-Za-z0-9]+)?\Z")
# Bounds a text that repeats one short link to a long address. Real posts stay far below it.
MAX_ADDED_CHARACTERS: Final = 100_000
_ESCAPES: Final = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
}
_ESCAPE: Final = re.compile("|".join(_ESCAPES))
_AMPERSAND_AS_WRITTEN: Final = re.compile(f"&(?!{'|'.join(name[1:] for name in _ESCAPES)})")


def readable(text: str, targets: Mapping[str, str], hidden: Collection[str]) -> str:
    """Replaces shortened links by their targets, and removes the hidden ones from the end.

    Links are found by their text: the positions that X gives count characters before escapes are
    resolved, and differ between its formats.
    """
    return _expand(unescape(_without_end(text, hidden)), targets)


def may_be_cut(text: str) -> bool:
    """Whether a text may be the beginning of a longer one. Authors use dots, too."""
    return _CUT.search(text.rstrip()[-_MAX_LINK_CHARACTERS:]) is not None


def has_link_to_rest(text: str, hidden: Collection[str]) -> bool:
    """Whether a text of the web client may be cut: it then ends with a link to the rest.

    Links to the media of a post, which are hidden, come after whole texts as well.
    """
    cut = _CUT.search(text.rstrip()[-_MAX_LINK_CHARACTERS:])
    return cut is not None and cut[1] is not None and cut[1] not in hidden


def unescape(text: str) -> str:
    """Resolves the escapes that X writes, and no others: "&copy=1" in a link stays as it is.

    X escapes some texts and not others. An ampersand outside of an escape shows that the author's
    text was not escaped, so that "&lt;" in it is what the author wrote.
    """
    if "&" not in text or _AMPERSAND_AS_WRITTEN.search(text):
        return text
    return _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)


def _without_end(text: str, hidden: Collection[str]) -> str:
    end = len(text)
    while hidden and (start := _start_of_last_word(text, end)) is not None:
        word = text[start:end].rstrip()
        if word not in hidden:
            break
        end = start
    return text if end == len(text) else text[:end].rstrip()


def _start_of_last_word(text: str, end: int) -> int | None:
    """Where the link at the end of this part begins. Looks at a few characters only."""
    first = max(0, end - _MAX_LINK_CHARACTERS)
    start = text.rfind("http", first, end)
    return None if start < 0 else start


def _expand(text: str, targets: Mapping[str, str]) -> str:
    budget = MAX_ADDED_CHARACTERS

    def target(match: re.Match[str]) -> str:
        nonlocal budget
        address = targets.get(match[0])
        if not address or len(address) > budget:
            return match[0]
        budget -= len(address)
        return address

    return _LINK.sub(target, text) if targets else text


_MAX_WRAPPERS: Final = 4
_PREVIEW: Final = "TweetPreviewDisplay"


class Unwrapped(NamedTuple):
    tweet: Object
    # X showed only the beginning of the post.
    is_preview: bool


class Content(NamedTuple):
    post_id: str
    author: Author
    text: str
    posted_at: str
    attachments: list[Object]
    article: Object | None
    has_text: bool
    # The text is the beginning of a longer one.
    is_cut: bool

    @property
    def link(self) -> str:
        return self.author.link(self.post_id)


def unwrap(result: object) -> Unwrapped:
    """Removes wrappers, such as TweetWithVisibilityResults. The inner post has no type name."""
    tweet = mapping(result)
    is_preview = False
    for _ in range(_MAX_WRAPPERS):
        inner = tweet.get("tweet")
        if "legacy" in tweet or not isinstance(inner, dict):
            break
        is_preview = is_preview or tweet.get("__typename") == _PREVIEW
        tweet = inner
    return Unwrapped(tweet, is_preview)


def id_of(tweet: Object) -> str:
    return post_id(tweet.get("rest_id")) or post_id(at(tweet, "legacy", "id_str"))


def read_content(unwrapped: Unwrapped, number: str, *, hides_quote: bool) -> Content:
    tweet = unwrapped.tweet
    legacy = mapping(tweet.get("legacy"))
    author = author_of(tweet)
    note = at(tweet, "note_tweet", "note_tweet_results", "result")
    note_text = post_text(at(note, "text"))
    full_text = legacy.get("full_text")
    text = note_text or post_text(full_text)
    targets = _targets(legacy, note)
    own_links = _hidden(legacy, hides_quote=hides_quote)
    return Content(
        post_id=number,
        author=author,
        text=readable(text, targets, own_links),
        posted_at=written_date(legacy.get("created_at")) or date_of_post(number),
        attachments=_attachments(tweet, legacy, targets, own_links),
        article=article_of(tweet),
        has_text=bool(note_text) or isinstance(full_text, str),
        is_cut=(
            unwrapped.is_preview
            or legacy.get("truncated") is True
            or ("note_tweet" in tweet and not note_text)
            or len(text) == MAX_POST_CHARACTERS
            or (not note_text and has_link_to_rest(text, own_links))
        ),
    )


def _attachments(
    tweet: Object, legacy: Object, targets: dict[str, str], own_links: set[str]
) -> list[Object]:
    attachments = media_of(legacy)
    # The card of a link to the post's own media or quoted post repeats what the post has.
    card = tweet.get("card")
    if card is not None and short_text(at(card, "rest_id")) not in own_links:
        read = card_of(card, targets)
        attachments += [read] if read else []
    return attachments


def _targets(legacy: Object, note: object) -> dict[str, str]:
    """The target of each shortened link, as far as X says it."""
    known = objects(at(legacy, "entities", "urls")) + objects(at(note, "entity_set", "urls"))
    targets = {
        short_text(link.get("url")): web_address(link.get("expanded_url"))
        for link in media_entities(legacy) + known
    }
    quote = mapping(legacy.get("quoted_status_permalink"))
    if quote:
        targets.setdefault(short_text(quote.get("url")), web_address(quote.get("expanded")))
    return targets


def _hidden(legacy: Object, *, hides_quote: bool) -> set[str]:
    """The links at the end of a text that stand for its media and for the quoted post."""
    hidden = {short_text(medium.get("url")) for medium in media_entities(legacy)}
    if hides_quote:
        hidden.add(short_text(at(legacy, "quoted_status_permalink", "url")))
    return hidden - {""}
