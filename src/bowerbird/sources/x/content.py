"""The author, text and attachments of one post: what a saved and a quoted post have in common."""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from bowerbird.model.bookmarks import AuthorDetails
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.attachments import article_of, card_of, media_entities, media_of
from bowerbird.sources.x.values import (
    MAX_POST_CHARACTERS,
    Object,
    date_of_post,
    first_text,
    mapping,
    objects,
    post_id,
    post_text,
    short_text,
    web_address,
    written_date,
)

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
