"""Changes the note and highlights of a post, which its owner writes, and keeps them for an undo.

Such a change writes the stored JSON again, and the words and vectors that come from it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.writing.bookmark_row import (
    counted_words,
    searchable_texts,
    traits_of,
    words_of,
)
from bowerbird.library.vectors.builds import StaleVectors, embedding_text, text_hash
from bowerbird.model.bulk import Changed, ValueKind, replaced, value_key
from bowerbird.model.posts import highlights
from bowerbird.model.posts.bookmarks import (
    Post,
    content_hash,
    post_json,
    rendered_post,
    rendering,
    with_highlights,
    without_saving_time,
)
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.requests import limits
from bowerbird.search.words.tokens import index_form
from bowerbird.storage.bookmarks.upsert import StoredPost
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service


class PostDocuments(Service):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._vectors = StaleVectors(database)

    async def rewrite(
        self, library: LockedLibrary, post_id: str, change: Callable[[Post], Post]
    ) -> tuple[Post, Post] | None:
        """The post before and after; None if it stays. The caller advances the version."""
        found = await self._stores.upserts.posts(library, library.place, [post_id])
        stored = found[post_id]
        before = _post_of(stored, post_id)
        after = change(before)
        if after == before:
            return None
        existing, data = stored.existing, post_json(after)
        has_same_words = searchable_texts(after) == searchable_texts(before)
        row = {
            "number": existing.number,
            "content_hash": content_hash(data),
            "rendering": rendering(
                data, existing.imported_at, existing.sort_index, existing.bookmarked_at
            ),
            "words": None if has_same_words else words_of(after),
            "word_form": index_form(),
        }
        reworded = [] if has_same_words else [existing.number]
        counted = await counted_words(self._database, library, reworded)
        await self._stores.upserts.rewrite(library, row, counted)
        # An earlier release has perhaps not looked for them, and its words are of this one now.
        traits = {"number": existing.number, **traits_of(after)}
        await self._stores.upserts.set_traits(library, [traits])
        await self._vectors.mark(
            library.transaction,
            library.account_id,
            [existing.number],
            lambda _: text_hash(embedding_text(after)),
        )
        # Undoing an import must not take the owner's words away.
        await self._stores.import_changes.forget(library, [existing.number])
        return before, after


def _post_of(stored: StoredPost, post_id: str) -> Post:
    post = rendered_post(stored.rendering)
    if post is None:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"Post {post_id} is stored in a form that cannot be changed. Import it again.",
        )
    return without_saving_time(post, stored.existing.bookmarked_at)


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
