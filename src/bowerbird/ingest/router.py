"""Serves /ingest/v1: authenticates devices and keys, and handles runs, pages, events and files."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.ingest import bodies, operations
from bowerbird.ingest.bodies import receive_file
from bowerbird.ingest.operations import (
    PREFIX,
    FileProgress,
    FileResponse,
    SuggestedLabel,
    served_by,
)
from bowerbird.library.accounts.tokens import Devices
from bowerbird.library.imports.file_imports import ImportOptions
from bowerbird.library.imports.saving import Saving
from bowerbird.library.ingest.events import IngestEvents
from bowerbird.library.ingest.files import FileJobs, report_of
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.runs import IngestRuns, Rates
from bowerbird.library.labels.label_list import LabelList
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import FileImport
from bowerbird.model.instants import with_offset
from bowerbird.model.jobs import UNFINISHED
from bowerbird.model.json_depth import without_lone_surrogates
from bowerbird.model.keys import DEVICE_PREFIX
from bowerbird.requests import decoding, limits
from bowerbird.requests.saving import Events, FileQuery, FinishRequest, PageRequest, RunRequest
from bowerbird.storage.database import Transaction
from bowerbird.storage.files import UploadFolders
from bowerbird.wire import form_files, router, writes
from bowerbird.wire.auth import bearer_token, unauthorized
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import (
    MAX_BODY_BYTES,
    Authenticate,
    Pipeline,
    Request,
    Surface,
)
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import CORS, JSON, PRIVATE, REPLAYED, Header, Reply
from bowerbird.wire.router import Router, Served
from bowerbird.wire.routes import Call
from bowerbird.wire.writes import Writes, save_handler

T = TypeVar("T")

_MAX_BYTES: Final = limits.INGEST_PAGE_BYTES_MAX


class Sending:
    def __init__(
        self,
        runs: IngestRuns,
        pages: IngestPages,
        events: IngestEvents,
        *,
        labels: LabelList,
        saving: Saving,
        keyed: Writes,
        rates: Rates,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._pages = pages
        self._events = events
        self._labels = labels
        self._save = save_handler(saving, keyed)
        self._keyed = keyed
        self._rates = rates
        self._clock = clock

    def routes(self) -> list[Served]:
        return [
            served_by(operations.START_RUN, self._start_run),
            served_by(operations.GET_RUN, self._get_run),
            served_by(operations.SEND_PAGE, self._send_page, _MAX_BYTES),
            served_by(operations.FINISH_RUN, self._finish_run),
            served_by(operations.SEND_EVENTS, self._send_events, _MAX_BYTES),
            served_by(operations.STATUS, self._status),
            served_by(operations.LIST_LABELS, self._list_labels),
            served_by(operations.SAVE, self._save_posts),
        ]

    async def _start_run(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        sent, fingerprint = await bodies.received(request, partial(_run_request, request))

        async def start(transaction: Transaction) -> Reply:
            started = await self._runs.start(transaction, account, sent)
            return writes.created(started, f"{operations.PREFIX}/runs/{started.run_id}")

        key = request.headers.get(b"idempotency-key")
        return await self._keyed.once(account.account_id, start, key=key, fingerprint=fingerprint)

    async def _get_run(self, account: Account, request: Request) -> Reply:
        run = await self._runs.find(account, request.path_params["run_id"])
        return writes.done(await self._runs.status_of(account, run))

    async def _send_page(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        with self._rates.receiving(account):
            captured = partial(_captured, now=self._clock())
            seq, page = await bodies.received(request, captured, _MAX_BYTES)
            answer = await self._pages.take(account, request.path_params["run_id"], seq, page)
        replayed = [REPLAYED] if answer.is_replayed else []
        return Reply(200, [JSON, *PRIVATE, *replayed], envelope.success_of_one(answer.body))

    async def _send_events(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        with self._rates.receiving(account):
            events = await bodies.received(request, _events, _MAX_BYTES)
            return writes.done(await self._events.take(account, events.events))

    async def _finish_run(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        sent = await bodies.received(
            request, lambda body: decoding.decode(bodies.checked(body), FinishRequest)
        )
        run_id = request.path_params["run_id"]
        return writes.done(await self._runs.finish(account, run_id, sent))

    async def _status(self, account: Account, _: Request) -> Reply:
        return writes.done(await self._runs.status(account))

    async def _list_labels(self, account: Account, _: Request) -> Reply:
        found = await self._labels.matching(account, "", limits.DEVICE_LABELS_MAX)
        return writes.done([SuggestedLabel(one.label_name, one.count) for one in found])

    async def _save_posts(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        body = await bodies.received(request, bodies.checked)
        reply = await self._save(
            Call(
                account,
                request.method,
                RequestTarget(request.path, request.scope["query_string"], b"", None),
                request.path_params,
                body,
                request.headers.get(b"idempotency-key"),
            )
        )
        await self._runs.note_use(account)
        return reply


def _run_request(request: Request, body: bytes) -> tuple[RunRequest, bytes]:
    sent = decoding.decode(bodies.checked(body), RunRequest)
    return sent, writes.fingerprint(request.method, request.path, body)


def _captured(body: bytes, now: int) -> tuple[int, CapturedPage]:
    _check_values(body)
    # The payload is not checked here: the readers accept what other requests may not have.
    request = _readable(body, lambda body: decoding.decode(body, PageRequest, is_checked=True))
    sent_at = instants.parse(request.captured_at) if request.captured_at else None
    page = CapturedPage(
        format=request.format,
        payload=_payload(bytes(request.payload)),
        op=request.op,
        request_url=request.request_url,
        # A page from the future would win over every later event.
        captured_at=now if sent_at is None else min(sent_at, now),
    )
    return request.seq, page


def _readable(body: bytes, decode: Callable[[bytes], T]) -> T:
    """Half of a character, as a cut text has it: X sends it, although JSON must not have it."""
    try:
        return decode(body)
    except Refusal:
        readable = without_lone_surrogates(body)
        if readable == body:
            raise
        return decode(readable)


def _payload(raw: bytes) -> bytes:
    """JSON is sent as it is, or in a text: then it reaches the reader even if it is broken."""
    if not raw.startswith(b'"'):
        return raw
    try:
        payload = msgspec.json.decode(raw, type=str).encode("utf-8", "replace")
    except (msgspec.DecodeError, UnicodeDecodeError):
        # No reader understands it, so it is kept.
        return raw
    _check_values(payload)
    return payload


def _check_values(body: bytes) -> None:
    """A payload may be nested as deeply as its reader can read."""
    decoding.check_excess(body, max_depth=len(body))


def _events(body: bytes) -> Events:
    if body.lstrip()[:1] in (b"", b"{"):
        raise errors.invalid("body", "must be an array of events")
    return _readable(body, _events_of)


def _events_of(body: bytes) -> Events:
    decoding.parse(bodies.checked(body), msgspec.json.Decoder(msgspec.Raw).decode)
    # Only a payload can have characters that no database can store, and its readers remove them.
    return decoding.decode(b'{"events":%b}' % body, Events, is_checked=True)


_ACCEPTED: Final = 202
_RETRY_AFTER: Final[Header] = (b"retry-after", b"1")
_MAX_CLIENT: Final = 200


class FileHandlers:
    def __init__(
        self, files: FileJobs, folders: UploadFolders, *, rates: Rates, api_origin: str
    ) -> None:
        self._files = files
        self._folders = folders
        self._rates = rates
        self._api_origin = api_origin

    def routes(self) -> list[Served]:
        return [
            served_by(operations.SEND_FILE, self._send_file, form_files.MAX_BODY_BYTES),
            served_by(operations.GET_FILE, self._get_file),
        ]

    async def _send_file(self, account: Account, request: Request) -> Reply:
        self._rates.count(account)
        query = decoding.from_query(request.scope["query_string"], FileQuery)
        await self._files.require_room(account)
        with (
            self._rates.receiving(account),
            self._folders.receiving(account.account_id) as folder,
        ):
            upload = await receive_file(
                request.receive,
                folder.path,
                request.headers.get(b"content-type", b""),
                request.headers.get(b"content-encoding"),
            )
            file = await self._files.start(
                account,
                *upload,
                options=ImportOptions(
                    with_likes=query.with_likes == "true", is_dry_run=query.dry_run == "true"
                ),
                client=_client(request),
                on_end=folder.remove,
            )
        reply = writes.done(self._response(file), status=_ACCEPTED)
        location = f"{operations.PREFIX}/files/{file.job_id}".encode()
        headers = [*reply.headers, (b"location", location), _RETRY_AFTER]
        return Reply(reply.status, headers, reply.body)

    async def _get_file(self, account: Account, request: Request) -> Reply:
        file = await self._files.get(account, request.path_params["job_id"])
        reply = writes.done(self._response(file))
        more = [_RETRY_AFTER] if file.state in UNFINISHED else []
        return Reply(reply.status, [*reply.headers, *more], reply.body)

    def _response(self, file: FileImport) -> FileResponse:
        completed = file.completed_at
        return FileResponse(
            job_id=file.job_id,
            status=file.state,
            is_dry_run=file.is_dry_run,
            progress=FileProgress(file.done, file.size),
            poll_url=f"{self._api_origin}{operations.PREFIX}/files/{file.job_id}",
            file_size=file.size,
            error=file.error,
            report=report_of(file),
            created_at=with_offset(file.created_at),
            completed_at=None if completed is None else with_offset(completed),
        )


def _client(request: Request) -> str:
    sent = request.headers.get(b"user-agent", b"").decode("latin-1")
    return "".join(filter(str.isprintable, sent))[:_MAX_CLIENT]


class DeviceAuthenticator:
    """A revoked token stops working at once: every request reads its device."""

    def __init__(self, devices: Devices, by_key: Authenticate, site_origin: str) -> None:
        self._devices = devices
        self._by_key = by_key
        self._site_origin = site_origin

    async def __call__(self, header: bytes | None) -> Account:
        token = "" if header is None else bearer_token(header)
        if not token:
            problem = "No device token was sent" if header is None else "The header has no token"
            sentence = (
                f"{problem}; send a device token, or an API key, as Authorization: Bearer <TOKEN>."
            )
            raise unauthorized(sentence, self._site_origin, is_bad_token=False)
        if not token.startswith(DEVICE_PREFIX):
            return await self._account_of_key(header)
        caller = await self._devices.caller(token)
        if caller is None:
            sentence = "The device token is not valid."
            if await self._devices.is_revoked(token):
                sentence = "The device was revoked. Connect it again to send more posts."
            raise unauthorized(sentence, self._site_origin, is_bad_token=True)
        return caller

    async def _account_of_key(self, header: bytes | None) -> Account:
        try:
            return await self._by_key(header)
        except Refusal as refused:
            if refused.code is not Code.UNAUTHORIZED:
                raise
            sentence = "The device token or API key is not valid, or was revoked."
            raise Refusal(refused.code, sentence, refused.headers) from None


DOCUMENT: Final = f"{PREFIX}/openapi.json"


def _serve(
    routes: Sequence[Served],
    document: Callable[[], bytes],
    *,
    authenticate: Authenticate,
    metrics: RequestMetrics,
    upgrade_url: str,
) -> Pipeline:
    """`document` returns the OpenAPI document, which needs no token."""
    surface = Surface(
        routes=[(route.method, route.path) for route in routes],
        find=Router([*routes, _document(document)], ("OPTIONS",)).find,
        phrase_refusal=lambda refused, _: envelope.refusal(refused, upgrade_url),
        extra_headers=lambda _request, _reply: CORS,
        preflight=router.preflight,
        authenticate=authenticate,
    )
    return Pipeline(surface, metrics)


def _document(document: Callable[[], bytes]) -> Served:
    async def handle(_: Request) -> Reply:
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-cache")]
        return Reply(200, headers, document())

    return Served(
        method="GET", path=DOCUMENT, handle=handle, is_public=True, max_body_bytes=MAX_BODY_BYTES
    )


def ingest(
    services: Services,
    *,
    document: Callable[[], bytes],
    by_key: Authenticate,
    metrics: RequestMetrics,
) -> Pipeline:
    database, clock, settings = services.database, services.clock, services.settings
    runs, rates = IngestRuns(database, clock), services.rates
    sending = Sending(
        runs,
        IngestPages(database, clock, runs),
        IngestEvents(database, clock),
        labels=services.labels.listed,
        saving=services.saving,
        keyed=Writes(services.idempotency, settings.upgrade_url),
        rates=rates,
        clock=clock,
    )
    of_files = FileHandlers(
        services.file_jobs, services.uploads, rates=rates, api_origin=settings.api_origin
    )
    return _serve(
        [*sending.routes(), *of_files.routes()],
        document,
        authenticate=DeviceAuthenticator(services.devices, by_key, settings.site_origin),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
    )
