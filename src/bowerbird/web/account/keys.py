"""The keys of an account, and the extensions that send posts to it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.library.accounts.tokens import NotLive, VersionUse
from bowerbird.library.connections.connections import Connections
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Device
from bowerbird.model.arrival import IngestRun
from bowerbird.model.connections import Network
from bowerbird.web.imports.sources import run_state
from bowerbird.web.site import ShowPublished
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import Deprecation
from bowerbird.wire.responses.replies import Reply


def _extension(
    device: Device, run: IngestRun | None, times: Times, handles: Mapping[str, str]
) -> dict[str, Any]:
    number = device.source_user_id
    # When it was used is stored only now and then; a page is a use too.
    uses = [device.last_used_at, run.updated_at if run else None]
    used = max((at for at in uses if at is not None), default=None)
    sentence, kind = _run(run, times)
    return {
        "id": device.device_id,
        "name": device.name,
        "source_user": handles.get(number) or (f"number {number}" if number else ""),
        "created_at": times.day(device.created_at),
        "last_used": None if used is None else times.moment(used),
        "run": sentence,
        "run_kind": kind,
    }


def _run(run: IngestRun | None, times: Times) -> tuple[str, str]:
    """What became of the last run, and how it is marked."""
    if run is None:
        return "none yet", ""
    at = times.moment(run.updated_at).inline
    state, kind = run_state(run)
    return f"{state}, last page {at}" if kind == "busy" else f"{state}, {at}", kind


PATH: Final = "/keys"


def routes(
    services: Services,
    uses: VersionUse,
    deprecations: Sequence[Deprecation],
    pages: VisitPages,
    show_published: ShowPublished,
) -> list[PageRoute]:
    page = _KeysPage(services, uses, deprecations, pages)

    async def show(visit: Visit) -> Reply:
        return await (page.shown(visit) if visit.visitor else show_published(visit.request))

    def ended(name: str, said: str, end: Callable[[Visit], Awaitable[str]]) -> PageRoute:
        done = f"{PATH}?said={said}"
        return PageRoute(
            *("POST", f"{PATH}/{name}", end),
            page=PATH,
            done=done,
            otherwise=(NotLive, f"{done}-before"),
        )

    return [
        PageRoute("GET", PATH, show, Access.ANYONE),
        PageRoute("POST", PATH, page.create, Access.PROVED, PATH, again=page.shown, is_once=True),
        ended(
            *("revoke", "key-revoked"),
            lambda visit: services.keys.revoke(visit.account_id, visit.sent("key")),
        ),
        ended(
            *("disconnect", "extension-disconnected"),
            lambda visit: services.devices.revoke(visit.account_id, visit.sent("device")),
        ),
    ]


class _KeysPage:
    def __init__(
        self,
        services: Services,
        uses: VersionUse,
        deprecations: Sequence[Deprecation],
        pages: VisitPages,
    ) -> None:
        self._keys, self._devices = services.keys, services.devices
        self._runs = IngestRuns(services.database, services.clock)
        self._connections = Connections(services.database, services.clock)
        self._uses = uses
        self._deprecations = deprecations
        self._pages = pages

    async def shown(self, visit: Visit) -> Reply:
        keys = await self._keys.all(visit.account_id)
        return self._pages.show(
            visit,
            "keys.html",
            keys=[key for key in keys if key.revoked_at is None],
            extensions=await self._extensions(visit),
            sunsets=await self._ending(visit.account_id),
            new_name=visit.sent("name"),
            new_name_error=visit.problem,
            problem="",
        )

    async def _extensions(self, visit: Visit) -> list[dict[str, Any]]:
        """Those that are not disconnected."""
        account_id = visit.account_id
        devices = [one for one in await self._devices.all(account_id) if one.revoked_at is None]
        runs = await self._runs.last_of_devices(account_id) if devices else {}
        sources = await self._connections.all(account_id) if devices else []
        handles = {one.source_user_id: one.name for one in sources if one.network is Network.X}
        return [_extension(one, runs.get(one.device_id), visit.times, handles) for one in devices]

    async def _ending(self, account_id: int) -> list[tuple[str, Deprecation, str]]:
        """The versions of the API that the account calls and that end, with where to read more."""
        if not self._deprecations:
            return []
        called = await self._uses.recent(account_id)
        rows = [(each, deprecation.of_version(self._deprecations, each)) for each in called]
        return [(each, row, row.note_address(self._pages.site)) for each, row in rows if row]

    async def create(self, visit: Visit) -> Reply:
        created = await self._keys.issue(visit.account_id, visit.sent("name"))
        # Not after a redirect: the key would have to be kept until then.
        return self._pages.show(
            visit,
            "key_new.html",
            key=created.text,
            key_id=created.record.key_id,
            key_name=created.record.name,
        )
