"""The content of one post of X's web client: what a saved and a quoted post have in common."""

from typing import Final, NamedTuple

from bowerbird.sources.x import articles, authors, cards, dates, media, texts
from bowerbird.sources.x.authors import Author
from bowerbird.sources.x.values import (
    MAX_POST_CHARACTERS,
    Object,
    at,
    mapping,
    objects,
    post_id,
    post_text,
    short_text,
    web_address,
)

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


def read(unwrapped: Unwrapped, number: str, *, hides_quote: bool) -> Content:
    tweet = unwrapped.tweet
    legacy = mapping(tweet.get("legacy"))
    author = authors.of_post(tweet)
    note = at(tweet, "note_tweet", "note_tweet_results", "result")
    note_text = post_text(at(note, "text"))
    full_text = legacy.get("full_text")
    text = note_text or post_text(full_text)
    targets = _targets(legacy, note)
    own_links = _hidden(legacy, hides_quote=hides_quote)
    return Content(
        post_id=number,
        author=author,
        text=texts.readable(text, targets, own_links),
        posted_at=dates.written(legacy.get("created_at")) or dates.of_post(number),
        attachments=_attachments(tweet, legacy, targets, own_links),
        article=articles.of_post(tweet),
        has_text=bool(note_text) or isinstance(full_text, str),
        is_cut=(
            unwrapped.is_preview
            or legacy.get("truncated") is True
            or ("note_tweet" in tweet and not note_text)
            or len(text) == MAX_POST_CHARACTERS
            or (not note_text and texts.has_link_to_rest(text, own_links))
        ),
    )


def _attachments(
    tweet: Object, legacy: Object, targets: dict[str, str], own_links: set[str]
) -> list[Object]:
    attachments = media.of_post(legacy)
    # The card of a link to the post's own media or quoted post repeats what the post has.
    card = tweet.get("card")
    if card is not None and short_text(at(card, "rest_id")) not in own_links:
        read = cards.attachment(card, targets)
        attachments += [read] if read else []
    return attachments


def _targets(legacy: Object, note: object) -> dict[str, str]:
    """The target of each shortened link, as far as X says it."""
    known = objects(at(legacy, "entities", "urls")) + objects(at(note, "entity_set", "urls"))
    targets = {
        short_text(link.get("url")): web_address(link.get("expanded_url"))
        for link in media.entities(legacy) + known
    }
    quote = mapping(legacy.get("quoted_status_permalink"))
    if quote:
        targets.setdefault(short_text(quote.get("url")), web_address(quote.get("expanded")))
    return targets


def _hidden(legacy: Object, *, hides_quote: bool) -> set[str]:
    """The links at the end of a text that stand for its media and for the quoted post."""
    hidden = {short_text(medium.get("url")) for medium in media.entities(legacy)}
    if hides_quote:
        hidden.add(short_text(at(legacy, "quoted_status_permalink", "url")))
    return hidden - {""}
