"""What strangers read at the address of a share: pages of its posts, and their pictures.

Nothing else of the account is reachable: a post is read only as part of the shared list, and a
picture only if a post of that list has it.
"""

import re
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, SavedFilter, VectorState
from bowerbird.library.media.kept import KeptImages
from bowerbird.library.views.views import Views
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account, Plan
from bowerbird.model.labels import Audience, ListName, Share, Shared, View, ViewSort
from bowerbird.model.posts.filters import RELEVANCE, BookmarkFilter
from bowerbird.model.posts.media import KeptImage
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import filter_of
from bowerbird.requests.views import ViewQuery
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

_ADDRESS: Final = re.compile(r"[A-Za-z0-9_-]{3,40}", re.ASCII)
_MEDIA_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
_OPENED_MAX: Final = 1_000
_PICTURES_MAX: Final = 10_000
# An avatar belongs to all saved posts of its author.
_POSTS_OF_PICTURE: Final = 5_000


class Opened(Struct, frozen=True):
    """A share that is open now, and the state of its library."""

    share: Share
    # With every right of a plan: the plan counts shares, and does not narrow what they show.
    account: Account
    view: View | None
    # Equal as long as its list has not changed: minute and vectors, if they matter to it.
    minute: int
    vectors: VectorState | None
    # The number and bytes of the kept pictures, if it shows pictures.
    kept: tuple[int, int]

    @property
    def tag(self) -> str:
        vectors = "" if self.vectors is None else self.vectors.tag
        return f"{vectors} {self.kept}"


class SharedLists(TimedService):
    def __init__(
        self,
        database: Database,
        views: Views,
        bookmarks: Bookmarks,
        kept: KeptImages,
        clock: Clock,
        *,
        is_allowed: bool,
    ) -> None:
        """`is_allowed`: by the operator."""
        super().__init__(database, clock)
        self._views = views
        self._bookmarks = bookmarks
        self._kept = kept
        self._is_allowed = is_allowed
        self._moment: tuple[int, int] | None = None
        self._opened: dict[str, Opened] = {}
        # Whether a picture belongs to a share, by the state of both.
        self._pictures = LruCache(_PICTURES_MAX)

    async def open(self, address: str, *, as_page: bool = False) -> Opened:
        """Refuses an address that is unknown, switched off or over, all with the same words."""
        if not self._is_allowed or not _ADDRESS.fullmatch(address):
            raise _unknown(address)
        now = self._clock()
        opened = await self._found(address, now)
        if opened is None or not opened.share.is_open(now):
            raise _unknown(address)
        if as_page and opened.share.audience is Audience.FEED:
            raise _unknown(address)
        return opened

    async def page(
        self, opened: Opened, after: str, limit: int, *, by_arrival: bool = False
    ) -> BookmarkList:
        """`by_arrival`: the post that was saved last first, whatever the order of the view."""
        filter = await self._filter(opened)
        sort = opened.view.default_sort if opened.view and not by_arrival else None
        sort = sort or ViewSort("")
        if sort.sort_by == RELEVANCE and filter.words is None and filter.meaning is None:
            sort = ViewSort("")
        query = ListQuery(
            limit=limit, cursor=after or None, sort_by=sort.sort_by, sort_order=sort.sort_order
        )
        of_view = opened.view and opened.view.base_query
        bound_to = ("share", opened.share.share_id, opened.share.choices.hides_gone, of_view, sort)
        saved = SavedFilter(filter, bound_to)
        return await self._bookmarks.list(opened.account, query, opened.vectors, saved=saved)

    async def name_of(self, opened: Opened) -> str:
        """The name of the label, view or list."""
        share, view = opened.share, opened.view
        if share.kind is Shared.LABEL:
            label = await self._label(opened)
            return label[0]
        return view.name if view else share.target.capitalize()

    async def picture(self, opened: Opened, media_id: str) -> KeptImage:
        """A kept picture of a post that the share shows."""
        account, share = opened.account, opened.share
        key = (
            *(account.account_id, account.epoch, account.version, opened.minute, opened.tag),
            *(share.share_id, share.revision, media_id),
        )
        found = self._pictures.get(key)
        if found is None:
            found = await self._has(opened, media_id)
            self._pictures.put(key, found)
        if not found:
            raise errors.not_found("image", media_id)
        return await self._kept.find(account, media_id)

    async def _has(self, opened: Opened, media_id: str) -> bool:
        if not opened.share.choices.pictures or not _MEDIA_ID.fullmatch(media_id):
            return False
        account = opened.account
        posts = await self._stores.media.posts_of(account.account_id, media_id, _POSTS_OF_PICTURE)
        if not posts:
            return False
        filter = await self._filter(opened)
        if filter.meaning is None:
            these = msgspec.structs.replace(filter, post_ids=tuple(posts))
            return await self._bookmarks.total(account, these) > 0
        # A ranking has the posts that are nearest of all.
        store = opened.vectors.store if opened.vectors else None
        ranked = await self._bookmarks.rankings.numbers(account, filter, store, is_ordered=False)
        numbers = await self._stores.bookmarks.numbers(account, _EVERYTHING, posts)
        return not set(ranked).isdisjoint(numbers)

    async def _found(self, address: str, now: int) -> Opened | None:
        generation = self._stores.shares.generation()
        # The second limits how long a write by another program stays unseen.
        moment = None if generation is None else (generation, now // MICROSECONDS)
        if moment is not None and moment == self._moment and address in self._opened:
            return self._opened[address]
        opened = await self._read(address, now)
        if moment is not None and opened is not None:
            if moment != self._moment or len(self._opened) >= _OPENED_MAX:
                self._moment = moment
                self._opened.clear()
            self._opened[address] = opened
        return opened

    async def _read(self, address: str, now: int) -> Opened | None:
        share = await self._stores.shares.by_address(address)
        if share is None:
            return None
        account = await self._stores.accounts.by_id(share.account_id, month_of(now))
        if account is None:
            return None
        account = msgspec.structs.replace(account, plan=Plan.PRO, calls_this_month=0)
        kept = (0, 0)
        if share.choices.pictures:
            media = await self._stores.media.account(self._library(share.account_id))
            kept = (media.files, media.bytes) if media else kept
        if share.kind is not Shared.VIEW:
            return Opened(share, account, None, 0, None, kept)
        view = await self._stores.views.by_slug(self._library(share.account_id), share.target)
        if view is None:
            return None
        vectors = await self._views.vector_state(account, [view])
        return Opened(share, account, view, self._views.minute([view]), vectors, kept)

    async def _filter(self, opened: Opened) -> BookmarkFilter:
        filter = await self._whole(opened)
        if opened.share.choices.hides_gone and opened.share.audience is not Audience.FEED:
            return msgspec.structs.replace(filter, is_gone=False)
        return filter

    async def _whole(self, opened: Opened) -> BookmarkFilter:
        share = opened.share
        if share.kind is Shared.VIEW:
            return await self._views.filter(opened.account, share.target, None)
        if share.kind is Shared.LABEL:
            _, key = await self._label(opened)
            return msgspec.structs.replace(_EVERYTHING, tag=key)
        name = ListName(share.target)
        if name is ListName.UNREAD:
            return BookmarkFilter()
        if name is ListName.ARCHIVE:
            return msgspec.structs.replace(_EVERYTHING, archived_only=True)
        if name is ListName.FAVOURITES:
            return filter_of(ViewQuery(q="is:starred", hide_archived="false"))
        return _EVERYTHING

    async def _label(self, opened: Opened) -> tuple[str, str]:
        """The name of the label and its key."""
        number = int(opened.share.target)
        label = await self._stores.labels.by_id(self._library(opened.account.account_id), number)
        if label is None:
            raise _unknown(opened.share.address)
        return label.name, label.name_key


def _unknown(address: str) -> Refusal:
    return errors.not_found("collection", address)
