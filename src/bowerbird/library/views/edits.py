"""Changes of a Smart View, each in its own transaction, for people who click on it."""

from collections.abc import Awaitable, Callable

from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.model.accounts import Account
from bowerbird.requests.limits import VIEWS_MAX
from bowerbird.requests.views import NewView, ViewChange
from bowerbird.storage.database import Database, Transaction


class ViewEdits:
    def __init__(self, database: Database, views: Views) -> None:
        self._database = database
        self._views = views

    async def create(self, account: Account, request: NewView) -> ViewResponse:
        return await self._run(account, lambda t: self._views.create(t, account, request))

    async def update(self, account: Account, slug: str, request: ViewChange) -> ViewResponse:
        return await self._run(account, lambda t: self._views.update(t, account, slug, request))

    async def move(self, account: Account, slug: str, by: int) -> ViewResponse:
        """Moves a view up (a negative number of places) or down."""
        view = await self._views.find(account, slug)
        position = min(max(view.position + by, 1), VIEWS_MAX)
        return await self.update(account, slug, ViewChange(position=position))

    async def pin(self, account: Account, slug: str, *, is_pinned: bool) -> ViewResponse:
        return await self.update(account, slug, ViewChange(is_pinned=is_pinned))

    async def delete(self, account: Account, slug: str) -> ViewResponse:
        return await self._run(account, lambda t: self._views.delete(t, account, slug))

    async def restore(self, account: Account, slug: str) -> ViewResponse:
        return await self._run(account, lambda t: self._views.restore(t, account, slug))

    async def _run(
        self, account: Account, work: Callable[[Transaction], Awaitable[ViewResponse]]
    ) -> ViewResponse:
        return await self._database.write(work, account.account_id)
