"""What the owner has written about a post, as values that a change keeps: note and highlights."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from bowerbird.model.bulk import Changed, ValueKind, replaced, value_key
from bowerbird.model.posts import highlights
from bowerbird.model.posts.bookmarks import Post, with_highlights
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.requests import limits

Note = str | UnsetType | None
Passages = Sequence[HighlightedPassage] | UnsetType | None


def replaced_values(post_id: str, before: Post, after: Post) -> list[Changed]:
    """The values of a post that differ, as they were."""
    was, now = _values(post_id, before), _values(post_id, after)
    keys = [key for key in (was | now) if was.get(key) != now.get(key)]
    return [replaced(key, was.get(key)) for key in keys]


def _values(post_id: str, post: Post) -> dict[str, Any]:
    found: dict[str, Any] = {
        value_key(ValueKind.HIGHLIGHT, f"{post_id}:{one.id}"): one for one in post.highlights or ()
    }
    if post.note:
        found[value_key(ValueKind.NOTE, post_id)] = post.note
    return found


def with_value(note: Note, passages: Passages, one: Changed) -> tuple[Note, Passages]:
    """Note and highlights of a post with one of them as it was.

    A passage that does not fit any more, or that is marked again, stays away.
    """
    kind, _, id = one.post_id.partition(":")
    if kind == ValueKind.NOTE:
        return (UNSET if one.kept is None else msgspec.json.decode(one.kept, type=str)), passages
    highlight_id = id.partition(":")[2]
    stored = list(passages or ())
    place = next((n for n, each in enumerate(stored) if each.id == highlight_id), len(stored))
    found: list[HighlightedPassage] = []
    if one.kept is not None:
        found.append(msgspec.json.decode(one.kept, type=HighlightedPassage))
    others = [*stored[:place], *stored[place + 1 :]]
    if any(each.where == new.where for new in found for each in others):
        return note, passages
    stored[place : place + 1] = found
    is_full = len(stored) > limits.HIGHLIGHTS_MAX or not highlights.fits(stored)
    return note, passages if found and is_full else (stored or UNSET)


def post_with_value(post: Post, one: Changed) -> Post:
    note, passages = with_value(post.note, post.highlights, one)
    return with_highlights(msgspec.structs.replace(post, note=note or UNSET), passages or ())
