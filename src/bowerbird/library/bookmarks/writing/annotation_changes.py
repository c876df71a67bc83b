"""Changes of notes and highlights by a person on the website, each with its undo."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.highlights import Highlights
from bowerbird.model.accounts import Account
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight, UpdateRequest
from bowerbird.storage.bookmarks.annotations import AnnotationStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")

KEPT_DAYS: Final = 30
# Of the notes and highlights that were replaced, the latest of each account are kept.
REPLACED_MAX: Final = 1_000
NOTE: Final = "note"


class _Noted(msgspec.Struct):
    note: str = ""


class AnnotationChanges:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._flags = Flags(database, clock)
        self._highlights = Highlights(database, clock)
        self._bookmarks = BookmarkStore(database)
        self._store = AnnotationStore(database)
        self._clock = clock

    async def set_note(self, account: Account, post_id: str, note: str) -> bool:
        """Whether the note is another one now. The one before it is kept."""
        return await self._run(
            account, lambda transaction: self._set_note(transaction, account, post_id, note)
        )

    async def mark(
        self, account: Account, post_id: str, request: NewHighlight
    ) -> HighlightedPassage:
        return await self._run(
            account, lambda t: self._highlights.add(t, account, post_id, request)
        )

    async def comment(
        self, account: Account, post_id: str, highlight_id: str, request: HighlightChange
    ) -> HighlightedPassage:
        return await self._run(
            account, lambda t: self._highlights.update(t, account, post_id, highlight_id, request)
        )

    async def unmark(self, account: Account, post_id: str, highlight_id: str) -> None:
        async def work(transaction: Transaction) -> None:
            removed = await self._highlights.remove(transaction, account, post_id, highlight_id)
            content = msgspec.json.encode(removed)
            await self._keep(transaction, account, (post_id, highlight_id, content))

        await self._run(account, work)

    async def undo(self, account: Account, post_id: str, annotation_id: str) -> None:
        """Brings the note before the last change back, or a highlight that was removed."""

        async def work(transaction: Transaction) -> None:
            oldest = self._clock() - KEPT_DAYS * 86_400 * MICROSECONDS
            content = await self._store.take_replaced(
                transaction, account.account_id, post_id, annotation_id, oldest
            )
            if content is None:
                raise Refusal(Code.NOT_FOUND, "This change cannot be undone any more.")
            if annotation_id == NOTE:
                await self._set_note(transaction, account, post_id, content.decode())
            else:
                passage = msgspec.json.decode(content, type=HighlightedPassage)
                await self._highlights.put_back(transaction, account, post_id, passage)

        await self._run(account, work)

    async def _set_note(
        self, transaction: Transaction, account: Account, post_id: str, note: str
    ) -> bool:
        stored = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        if stored is None:
            raise errors.not_found("post", post_id)
        change = UpdateRequest(note=note)
        result = await self._flags.update(transaction, account, [post_id], change, note=change.note)
        if result.affected:
            before = msgspec.json.decode(stored, type=_Noted).note
            await self._keep(transaction, account, (post_id, NOTE, before.encode()))
        return bool(result.affected)

    async def _keep(
        self, transaction: Transaction, account: Account, replaced: tuple[str, str, bytes]
    ) -> None:
        await self._store.put_replaced(
            transaction, account.account_id, replaced, self._clock(), REPLACED_MAX
        )

    async def _run(self, account: Account, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._database.write(work, account.account_id)
