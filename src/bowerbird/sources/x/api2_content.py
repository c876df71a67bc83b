"""The content of one post of X's API, and the objects that its pages include once for all posts."""

import re
from typing import Final, NamedTuple

from bowerbird.sources.x import dates, texts
from bowerbird.sources.x.authors import Author, original_image
from bowerbird.sources.x.cards import host
from bowerbird.sources.x.content import Content
from bowerbird.sources.x.media import MAX_ATTACHMENTS, TYPES, best_variant
from bowerbird.sources.x.values import (
    MAX_ARTICLE_CHARACTERS,
    MAX_POST_CHARACTERS,
    Object,
    article_text,
    at,
    first_text,
    mapping,
    objects,
    post_id,
    post_text,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

_MAX_REFERENCES: Final = 10
_MAX_CHOICES: Final = 10
_STATUS: Final = re.compile(r"/status/([1-9][0-9]{0,18})(/(?:photo|video)/[0-9]+)?$")


class Included(NamedTuple):
    posts: dict[str, Object]
    users: dict[str, Object]
    media: dict[str, Object]
    polls: dict[str, Object]

    @classmethod
    def of(cls, includes: object) -> "Included":
        listed = objects(at(includes, "tweets")) + objects(at(includes, "posts"))
        return cls(
            posts={post_id(each.get("id")): each for each in listed if post_id(each.get("id"))},
            users={post_id(each.get("id")): each for each in objects(at(includes, "users"))},
            media={
                short_text(each.get("media_key")): each for each in objects(at(includes, "media"))
            },
            polls={short_text(each.get("id")): each for each in objects(at(includes, "polls"))},
        )


def reference(post: Object, *kinds: str) -> str:
    """The id of the post that this one replies to, quotes or reposts, or ""."""
    listed = objects(post.get("referenced_tweets")) + objects(post.get("referenced_posts"))
    for each in listed[:_MAX_REFERENCES]:
        if each.get("type") in kinds and (number := post_id(each.get("id"))):
            return number
    return ""


def read(post: Object, number: str, included: Included, quoted_id: str) -> Content:
    note = mapping(post.get("note_tweet") or post.get("note_post"))
    note_text = post_text(note.get("text"))
    text = note_text or post_text(post.get("text"))
    links = objects(at(note, "entities", "urls")) + objects(at(post, "entities", "urls"))
    targets = {short_text(link.get("url")): _target(link) for link in links}
    own = {short_text(link.get("url")) for link in links if _is_own(link, number, quoted_id)}
    foreign = [link for link in links if short_text(link.get("url")) not in own]
    return Content(
        post_id=number,
        author=_author(post, included),
        text=texts.readable(text, targets, own - {""}),
        posted_at=dates.iso(post.get("created_at")) or dates.of_post(number),
        attachments=_attachments(post, included, foreign),
        article=_article(post, included),
        has_text=bool(text) or isinstance(post.get("text"), str),
        # Without the field of the note, X sends only the beginning of a long text.
        is_cut=len(text) == MAX_POST_CHARACTERS or (not note_text and texts.is_cut(text)),
    )


def _target(link: Object) -> str:
    return web_address(link.get("expanded_url")) or web_address(link.get("unwound_url"))


def _is_own(link: Object, number: str, quoted_id: str) -> bool:
    """Whether a link stands for the media of the post, or for the quoted post."""
    if isinstance(link.get("media_key"), str):
        return True
    status = _STATUS.search(short_text(link.get("expanded_url")))
    if status is None:
        return False
    return status[1] == quoted_id or (status[1] == number and bool(status[2]))


def _author(post: Object, included: Included) -> Author:
    number = post_id(post.get("author_id"))
    user = included.users.get(number, {}) if number else {}
    return Author(
        id=number,
        username=short_text(user.get("username")),
        name=short_text(user.get("name")),
        profile_image=original_image(web_address(user.get("profile_image_url"))),
    )


def _attachments(post: Object, included: Included, links: list[Object]) -> list[Object]:
    attached = mapping(post.get("attachments"))
    keys = dict.fromkeys(short_text(key) for key in sequence(attached.get("media_keys")))
    known = [included.media[key] for key in list(keys)[:MAX_ATTACHMENTS] if key in included.media]
    polls = [
        included.polls[number]
        for number in map(short_text, sequence(attached.get("poll_ids"))[:1])
        if number in included.polls
    ]
    found = [*map(_medium, known), *map(_poll, polls), _link(links)]
    return [attachment for attachment in found if attachment]


def _medium(medium: Object) -> Object | None:
    kind = TYPES.get(short_text(medium.get("type")), "")
    preview = web_address(medium.get("preview_image_url"))
    url = web_address(medium.get("url"))
    if kind != "image":
        url = best_variant(medium.get("variants"), "bit_rate") or url or preview
    if not kind or not url:
        return None
    return present(
        type=kind,
        url=url,
        preview_image=preview,
        width=whole_number(medium.get("width")),
        height=whole_number(medium.get("height")),
        duration_ms=whole_number(medium.get("duration_ms")) or None,
        alt_text=short_text(medium.get("alt_text")),
        media_key=short_text(medium.get("media_key")),
    )


def _poll(poll: Object) -> Object | None:
    options = objects(poll.get("options"))[:_MAX_CHOICES]
    choices = [
        present(label=short_text(each.get("label")), count=whole_number(each.get("votes")))
        for each in options
    ]
    ends_at = dates.iso(poll.get("end_datetime"))
    return present(type="poll", choices=choices, ends_at=ends_at) if choices else None


def _link(links: list[Object]) -> Object | None:
    """The first link that X shows with a title, as the web client shows a card."""
    for link in links:
        url = _target(link)
        if url and (title := short_text(link.get("title"))):
            images = (at(image, "url") for image in sequence(link.get("images")))
            return present(
                type="link",
                url=url,
                title=title,
                description=short_text(link.get("description")),
                domain=host(url),
                preview_image=first_text(map(web_address, images)),
            )
    return None


def _article(post: Object, included: Included) -> Object | None:
    article = mapping(post.get("article"))
    body = article_text(article.get("plain_text")) or article_text(article.get("text"))
    title = short_text(article.get("title"))
    preview = article_text(article.get("preview_text"))
    if not (title or body or preview):
        return None
    cover = included.media.get(short_text(article.get("cover_media")), {})
    number = post_id(article.get("id"))
    read = present(
        id=number,
        title=title,
        plain_text=body,
        preview_text=preview,
        cover_image=web_address(cover.get("url")),
        url=f"https://x.com/i/article/{number}" if number else "",
    )
    read["is_preview"] = not 0 < len(body) < MAX_ARTICLE_CHARACTERS
    return read
