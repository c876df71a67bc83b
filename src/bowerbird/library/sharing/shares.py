"""What an account can do with what it shares: list, create, change and delete it.

The operator sees what all accounts share, and may stop it.
"""

import secrets
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal, shown
from bowerbird.library.access import activity, plans, turns
from bowerbird.library.labels.label_list import LabelList
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import NEVER, Audience, Choices, ListName, Share, Shared
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.shares import NewShare, ShareChange, check_name, instant_of
from bowerbird.storage.database import Database, Readable, Reader, Transaction, Writable
from bowerbird.storage.stores import TimedService

PATH: Final = "/c/"
_CHOICES: Final = Choices.__struct_fields__
_SECRET_BYTES: Final = 20
_ID_BYTES: Final = 8
_LIST_NAMES: Final = {
    ListName.UNREAD: "Unread",
    ListName.ALL: "All posts",
    ListName.FAVOURITES: "Favourites",
    ListName.ARCHIVE: "Archive",
}


class ShareResponse(Struct, frozen=True, kw_only=True):
    """A shared list or a private feed as the API returns it."""

    id: str
    """Identifier of the share."""
    label_name: str | None
    """The label that it shows; null if it shows something else."""
    view: str | None
    """Slug of the Smart View that it shows; null if it shows something else."""
    list: ListName | None
    """The list of the library that it shows; null if it shows something else."""
    audience: Audience
    """link (a secret address), public (a name) or feed (a private feed)."""
    state: str
    """open; off (switched off), ended, stopped (by the operator) or forbidden (by the operator, for
    all accounts)."""
    url: str | None
    """Address of the page; null for a private feed."""
    atom_url: str
    """Address of the Atom feed."""
    json_url: str
    """Address of the JSON Feed."""
    title: str
    """Heading of the page, or the name of what it shows."""
    description: str
    """A sentence about it, or an empty text."""
    curator: str
    """The name of the account's owner there, or an empty text."""
    ends_at: str | None
    """When it ends; null for never."""
    pictures: bool
    """Whether kept images are shown."""
    saved_dates: bool
    """Whether the day of saving is shown."""
    highlights: bool
    """Whether highlights are shown."""
    notes: bool
    """Whether notes are shown."""
    hides_gone: bool
    """Whether posts are left out that their network does not show any more."""
    is_indexed: bool
    """Whether search engines may list it."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it was last changed."""


class Shares(TimedService):
    def __init__(
        self, database: Database, views: Views, clock: Clock, site: str, *, is_allowed: bool
    ) -> None:
        """`site` is the origin of the addresses. `is_allowed`: by the operator."""
        super().__init__(database, clock)
        self._listed = LabelList(database)
        self._views = views
        self._site = site
        self.is_allowed = is_allowed

    async def all(self, account: Account) -> list[ShareResponse]:
        """The oldest first."""
        shares = await self._stores.shares.of_account(account.account_id)
        return [await self.response(account, share) for share in shares]

    async def stored(self, account: Account) -> list[Share]:
        return await self._stores.shares.of_account(account.account_id)

    async def find(self, account: Account, share_id: str, reader: Reader | None = None) -> Share:
        reader = reader or self._database
        found = await self._stores.shares.by_id(
            Readable(reader, account.account_id), _checked(share_id)
        )
        if found is None:
            raise errors.not_found("share", share_id)
        return found

    async def target(self, account: Account, request: NewShare) -> tuple[Shared, str]:
        """What a new share shows. Refuses a label or view that does not exist."""
        if request.label_name is not None:
            return Shared.LABEL, await self._listed.id_of(account, request.label_name)
        if request.view is not None:
            view = await self._views.find(account, request.view)
            await self._views.admit(account, view)
            return Shared.VIEW, view.slug
        assert request.list is not None
        return Shared.LIST, request.list

    async def create(
        self,
        transaction: Transaction,
        account: Account,
        request: NewShare,
        target: tuple[Shared, str],
    ) -> Share:
        """`target` was read before the transaction."""
        self._require_allowed()
        account_id, now = account.account_id, self._clock()
        library = await self._stores.libraries.lock(transaction, account_id)
        plans.check_shares(account, await self._stores.shares.count(library))
        kind, name = target
        choices = {each: getattr(request, each) for each in _CHOICES}
        share = Share(
            share_id=secrets.token_hex(_ID_BYTES),
            account_id=account_id,
            address=request.name or secrets.token_urlsafe(_SECRET_BYTES),
            audience=request.audience,
            kind=kind,
            target=name,
            is_on=request.is_on,
            is_stopped=False,
            ends_at=instant_of(request.ends_at),
            choices=Choices(**{each: _cleaned(value) for each, value in choices.items()}),
            revision=1,
            created_at=now,
            updated_at=now,
        )
        if not await self._name_within(transaction, account, share):
            raise errors.not_found(kind, name)
        if not await self._stores.shares.insert(transaction, share):
            raise _taken(share.address)
        await self._log(transaction, account, ActivityKind.SHARE_CREATED, share)
        return share

    async def bring_in(self, account: Account, requests: Sequence[NewShare]) -> int:
        """Adds what another account has shared, switched off. Returns how many were added.

        A label or view that this account does not have, or what its plan has no room for, is left
        out. A public name that somebody has becomes a secret address.
        """
        self._require_allowed()
        added = 0
        for request in requests:
            off = msgspec.structs.replace(request, is_on=False)
            ways = [off]
            if off.audience is Audience.PUBLIC:
                ways.append(msgspec.structs.replace(off, audience=Audience.LINK, name=None))
            for one in ways:
                if await self._is_added(account, one):
                    added += 1
                    break
        return added

    async def _is_added(self, account: Account, request: NewShare) -> bool:
        try:
            target = (
                (Shared.VIEW, request.view)
                if request.view is not None
                else await self.target(account, request)
            )
            await turns.change(self._database, account, self.create, request, target)
        except Refusal:
            return False
        return True

    async def change(
        self, transaction: Transaction, account: Account, share_id: str, request: ShareChange
    ) -> Share:
        account_id = account.account_id
        await self._stores.libraries.lock(transaction, account_id)
        share = await self.find(account, share_id, transaction)
        changed = _changed(share, request)
        if changed == share:
            return share
        if request.is_on is True:
            self._require_allowed()
        changed = msgspec.structs.replace(
            changed, revision=share.revision + 1, updated_at=self._clock()
        )
        if changed.address != share.address and not await self._stores.shares.claim(
            transaction, changed
        ):
            raise _taken(changed.address)
        await self._stores.shares.update(transaction, changed)
        await self._log(transaction, account, ActivityKind.SHARE_CHANGED, changed)
        return changed

    async def delete(self, transaction: Transaction, account: Account, share_id: str) -> Share:
        """Stops sharing, and frees the address. Returns the share as it was."""
        library = await self._stores.libraries.lock(transaction, account.account_id)
        share = await self.find(account, share_id, transaction)
        await self._stores.shares.delete(library, share.share_id)
        await self._log(transaction, account, ActivityKind.SHARE_DELETED, share)
        return share

    async def response(self, account: Account, share: Share) -> ShareResponse:
        return await self.response_within(self._database, account, share)

    async def response_within(
        self, reader: Reader, account: Account, share: Share
    ) -> ShareResponse:
        name = await self._name_within(reader, account, share)
        choices = msgspec.structs.asdict(share.choices)
        address = f"{self._site}{PATH}{share.address}"
        return ShareResponse(
            id=share.share_id,
            label_name=name if share.kind is Shared.LABEL else None,
            view=share.target if share.kind is Shared.VIEW else None,
            list=ListName(share.target) if share.kind is Shared.LIST else None,
            audience=share.audience,
            state=self.state(share),
            url=None if share.audience is Audience.FEED else address,
            atom_url=f"{address}.atom",
            json_url=f"{address}.json",
            ends_at=None if share.ends_at == NEVER else with_offset(share.ends_at),
            created_at=with_offset(share.created_at),
            updated_at=with_offset(share.updated_at),
            **{**choices, "title": share.choices.title or name},
        )

    def state(self, share: Share) -> str:
        if not self.is_allowed:
            return "forbidden"
        if share.is_stopped:
            return "stopped"
        if not share.is_on:
            return "off"
        return "ended" if share.has_ended(self._clock()) else "open"

    async def name_of(self, account: Account, share: Share) -> str:
        """The name of what a share shows; "" if it was deleted."""
        return await self._name_within(self._database, account, share)

    async def _name_within(self, reader: Reader, account: Account, share: Share) -> str:
        account_id = account.account_id
        library = Readable(reader, account_id)
        if share.kind is Shared.LABEL:
            label = await self._stores.labels.by_id(library, int(share.target))
            return label.name if label else ""
        if share.kind is Shared.LIST:
            return _LIST_NAMES[ListName(share.target)]
        view = await self._stores.views.by_slug(library, share.target)
        return view.name if view else ""

    def _require_allowed(self) -> None:
        if not self.is_allowed:
            raise Refusal(Code.INVALID_REQUEST, "The operator of this service forbids sharing.")

    async def _log(
        self, transaction: Transaction, account: Account, kind: ActivityKind, share: Share
    ) -> None:
        # A secret address is not written down.
        name = share.choices.title or await self._name_within(transaction, account, share)
        await self._stores.activity.add(
            Writable(transaction, account.account_id),
            activity.entry(self._clock, kind, f"“{name}”"),
        )


def _changed(share: Share, request: ShareChange) -> Share:
    sent = {name: getattr(request, name) for name in _CHOICES}
    choices = {name: _cleaned(value) for name, value in sent.items() if value is not UNSET}
    changes: dict[str, Any] = {"choices": msgspec.structs.replace(share.choices, **choices)}
    if request.is_on is not UNSET:
        changes["is_on"] = request.is_on
    if request.ends_at is not UNSET:
        changes["ends_at"] = instant_of(request.ends_at)
    return msgspec.structs.replace(share, **changes, **_address(share, request))


def _address(share: Share, request: ShareChange) -> dict[str, Any]:
    """The audience and the address, if they change."""
    audience = share.audience if request.audience is UNSET else Audience(request.audience)
    name = None if request.name is UNSET else request.name
    if (audience is Audience.FEED) is not (share.audience is Audience.FEED):
        raise errors.invalid("audience", "a private feed stays one; create a share instead")
    is_public = audience is Audience.PUBLIC
    if is_public and request.new_address:
        raise errors.invalid("new_address", "is for secret addresses; send another name")
    if is_public and name is None and share.audience is Audience.PUBLIC:
        return {}
    try:
        check_name(audience, name)
    except InvalidField as invalid:
        raise errors.invalid(invalid.field, invalid.problem) from None
    if is_public:
        return {"audience": audience, "address": name}
    if request.new_address or audience is not share.audience:
        return {"audience": audience, "address": secrets.token_urlsafe(_SECRET_BYTES)}
    return {}


def _cleaned(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value if value is not None else ""


def _checked(share_id: str) -> str:
    """PostgreSQL refuses some characters, which no id has."""
    return share_id if share_id.isascii() and share_id.isalnum() else ""


def _taken(name: str) -> Refusal:
    return errors.invalid("name", f"{errors.shown(name)} is taken")


PER_PAGE: Final = 20
_LATEST: Final = (2**63 - 1, "")


class ShareOverview(TimedService):
    async def page(self, before: tuple[int, str] = _LATEST) -> Sequence[Share]:
        """The newest first, and one more than a page if there are more."""
        return await self._stores.shares.page(before, PER_PAGE + 1)

    async def all(self) -> list[Share]:
        found: list[Share] = []
        before = _LATEST
        while page := await self._stores.shares.page(before, PER_PAGE):
            found += page
            before = (page[-1].created_at, page[-1].share_id)
        return found

    def state(self, share: Share) -> str:
        if share.is_stopped:
            return "stopped"
        return "open" if share.is_open(self._clock()) else "closed"

    async def stop(self, share_id: str, *, is_stopped: bool = True) -> None:
        """Stops a share of any account at once, or allows it again. Its account sees that."""
        kind = ActivityKind.SHARE_FORBIDDEN if is_stopped else ActivityKind.SHARE_ALLOWED

        async def work(transaction: Transaction) -> bool:
            if not share_id.isascii() or not share_id.isalnum():
                return False
            found = await self._stores.shares.stop(
                transaction, share_id, self._clock(), is_stopped=is_stopped
            )
            if found is None:
                return False
            account_id, choices = found
            detail = f"“{choices.title}”" if choices.title else ""
            await self._stores.activity.add(
                Writable(transaction, account_id), activity.entry(self._clock, kind, detail)
            )
            return True

        if not await self._database.write(work):
            raise Refusal(Code.NOT_FOUND, f"No share has the id {shown(share_id)}.")
