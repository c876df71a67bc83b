"""Reads the items of a timeline into posts, in the order of their indexes."""

from collections.abc import Iterable, Sequence
from typing import Final

from bowerbird.sources.found import Completeness, Found, FoundPost, LeftOut, Reason
from bowerbird.sources.x import placing, posts
from bowerbird.sources.x.posts import Missing, Saved
from bowerbird.sources.x.timelines import Item
from bowerbird.sources.x.values import Object, at, mapping, short_text

_RICHNESS: Final = {Completeness.STUB: 0, Completeness.PREVIEW: 1, Completeness.FULL: 2}
_RESULTS: Final = ("tweet_results", "tweet_result", "tweetResult")
_TOMBSTONE: Final = "TimelineTombstone"
# What X shows between posts.
_OTHERS: Final = frozenset(
    {
        "TimelineLabel",
        "TimelineMessagePrompt",
        "TimelinePrompt",
        "TimelineTopic",
        "TimelineTrend",
        "TimelineUser",
    }
)
# So few posts without content are posts that X deleted. More of them are a sign that X has changed
# its answers, if they are most of the page.
_FEW: Final = 2


def read(
    items: Iterable[Item], now: int | None = None, tags: tuple[str, ...] = ()
) -> tuple[Found, ...]:
    """Reads the items of a page. X sends them in any order, and some of them twice.

    `now` is None if the indexes of the items say nothing about when they were saved.
    """
    best: dict[str, FoundPost] = {}
    left_out: list[LeftOut] = []
    ordered = sorted(items, key=_order)
    for line, (item, read) in enumerate(zip(ordered, _credible(ordered), strict=True), 1):
        if isinstance(read, Missing):
            left_out.append(_left_out(read, line, item))
        elif read is not None:
            place = placing.UNPLACED
            if now is not None:
                place = placing.place(read, item.sort_index, now)
            _keep_richer(best, placing.found(read, line, place, tags))
    return tuple(sorted((*best.values(), *left_out), key=lambda found: found.line))


def _credible(items: Sequence[Item]) -> list[Saved | Missing | None]:
    """What the items have. If most of them have nothing, they cannot be read; they are not gone."""
    found = [_read(item) for item in items]
    empty = sum(_is_empty(one) for one in found)
    shown = sum(isinstance(one, Saved) and not _is_empty(one) for one in found)
    if empty <= max(shown, _FEW):
        return found
    return [
        _unreadable(item) if _is_empty(one) else one for item, one in zip(items, found, strict=True)
    ]


def is_unknown(items: Sequence[Item], found: Sequence[Found]) -> bool:
    """Whether most posts of a page have an unknown form, apart from those that X calls deleted."""
    unread = sum(isinstance(one, LeftOut) and one.reason is Reason.INVALID for one in found)
    shown = sum(isinstance(one, FoundPost) for one in found)
    return unread > shown or (not found and has_unknown(items))


def has_unknown(items: Iterable[Item]) -> bool:
    """Whether an item may be anything: a post or a cursor in a form that nobody knows."""
    return any(
        not item.listed_id and _kind(item.content) not in _OTHERS and _read(item) is None
        for item in items
    )


def _is_empty(read: Saved | Missing | None) -> bool:
    """Whether there is neither content nor a word of X about why."""
    if isinstance(read, Missing):
        return read.is_empty or read.reason is Reason.INVALID
    return read is not None and read.completeness is Completeness.STUB


def _kind(content: object) -> str:
    return short_text(at(content, "itemType")) or short_text(at(content, "__typename"))


def _order(item: Item) -> tuple[int, int, int, str]:
    index = -1 if item.sort_index is None else item.sort_index
    return -index, item.number, -int(item.listed_id or 0), item.entry_id


def _keep_richer(best: dict[str, FoundPost], post: FoundPost) -> None:
    known = best.setdefault(post.record.post_id, post)
    if _rank(post) > _rank(known):
        best[post.record.post_id] = post


def _rank(post: FoundPost) -> tuple[int, int, int, str]:
    text = post.record.tweet_details.text
    return _RICHNESS[post.completeness], -post.line, len(text), text


def _left_out(missing: Missing, line: int, item: Item) -> LeftOut:
    return LeftOut(
        line=line,
        reason=missing.reason,
        sentence=missing.sentence,
        post_id=missing.post_id,
        sort_index=item.sort_index,
        source_reason=missing.source_reason,
    )


def _read(item: Item) -> Saved | Missing | None:
    """The post of an item. None for what X shows between posts, such as suggested accounts."""
    content = item.content
    if not isinstance(content, dict):
        return _unreadable(item)
    if content.get("promotedMetadata") or item.entry_id.startswith("promoted"):
        return _advertisement(item, content)
    name = next((name for name in _RESULTS if name in content), "")
    kind = _kind(content)
    if not name and kind == _TOMBSTONE:
        return _tombstone(item, content)
    if not name and kind != "TimelineTweet" and not item.listed_id:
        return None
    results = content.get(name)
    # X gives an empty object for a post that is gone.
    if not name or (results and "result" not in mapping(results)):
        return _unreadable(item)
    display_type = short_text(content.get("tweetDisplayType"))
    return posts.read(at(results, "result"), item.listed_id, display_type)


def _unreadable(item: Item) -> Missing | None:
    if item.listed_id:
        sentence = f"The entry of post {item.listed_id} cannot be read."
        return Missing(item.listed_id, Reason.INVALID, sentence)
    if item.entry_id and item.content is None:
        return None
    return Missing("", Reason.INVALID, "An entry of the page cannot be read.")


def _advertisement(item: Item, content: Object) -> Missing:
    read = posts.read(at(content, "tweet_results", "result"), item.listed_id)
    number = read.post_id if isinstance(read, Missing) else read.content.post_id
    return Missing(number, Reason.ADVERTISEMENT, f"Post {number or '?'} is an advertisement.")


def _tombstone(item: Item, content: Object) -> Missing:
    reason = posts.unavailable_reason({"tombstone": content.get("tombstoneInfo")}).rstrip(".")
    name = f"Post {item.listed_id}" if item.listed_id else "A post"
    sentence = f"{name} is not available on X{f': {reason}' if reason else ''}."
    return Missing(item.listed_id, Reason.UNAVAILABLE, sentence, reason)
