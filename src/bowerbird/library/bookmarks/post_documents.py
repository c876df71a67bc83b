"""Changes what the owner has written about a post: the part of its document that is theirs.

Such a change writes the stored JSON again, and the words and vectors that come from it.
"""

from collections.abc import Callable, Sequence

from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.searching.counted_words import CountedWords, stored_post
from bowerbird.library.bookmarks.writing.bookmark_row import Row, searchable_texts, words_of
from bowerbird.library.vectors.sweeps import StaleVectors, embedding_text, text_hash
from bowerbird.model.posts.bookmarks import (
    Post,
    content_hash,
    post_json,
    rendered_post,
    rendering,
    without_saving_time,
)
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.storage.bookmarks.upsert import StoredPost, UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.imports import ChangeStore
from bowerbird.storage.libraries import LockedLibrary


class PostDocuments:
    def __init__(self, database: Database) -> None:
        self._store = UpsertStore(database)
        self._vectors = StaleVectors(database)
        self._changes = ChangeStore(database)
        self._counted = CountedWords(database)

    async def rewrite(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        post_id: str,
        change: Callable[[Post], Post],
    ) -> tuple[Post, Post] | None:
        """The post before and after; None if it stays. The caller advances the version."""
        found = await self._store.posts(transaction, library.account_id, library.place, [post_id])
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
            "word_form": INDEX_FORM,
        }
        reworded = [] if has_same_words else [existing.number]
        counted = await self._counted.of(transaction, library, reworded)
        await self._store.rewrite(transaction, library, row, counted)
        await self._mark_stale(transaction, library, existing.number, after)
        # Undoing an import must not take the owner's words away.
        await self._changes.forget(transaction, library.account_id, [existing.number])
        return before, after

    async def index(
        self, transaction: Transaction, library: LockedLibrary, numbers: Sequence[int]
    ) -> None:
        """Writes the words of stored bookmarks again, and marks their vectors if stale."""
        renderings = await self._store.renderings(transaction, library, numbers)
        rows: list[Row] = []
        for number, stored in renderings.items():
            post = stored_post(stored)
            if post is None:
                continue
            rows.append({"number": number, "words": words_of(post), "word_form": INDEX_FORM})
            await self._mark_stale(transaction, library, number, post)
        readable = [row["number"] for row in rows]
        counted = await self._counted.of(transaction, library, readable)
        await self._store.reword(transaction, library, rows, counted)

    async def _mark_stale(
        self, transaction: Transaction, library: LockedLibrary, number: int, post: Post
    ) -> None:
        """Marks the vectors of the post if its text changed; the next build replaces them."""
        await self._vectors.mark(
            transaction, library.account_id, [number], lambda _: text_hash(embedding_text(post))
        )


def _post_of(stored: StoredPost, post_id: str) -> Post:
    post = rendered_post(stored.rendering)
    if post is None:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"Post {post_id} is stored in a form that cannot be changed. Import it again.",
        )
    return without_saving_time(post, stored.existing.bookmarked_at)
