"""The handlers of files that devices send: the body is the file itself, or a form with one file.

It may be compressed by gzip or zstd.
"""

import asyncio
from pathlib import Path
from typing import Final, NamedTuple

from starlette.types import Receive

from bowerbird.ingest import bodies as ingest_bodies
from bowerbird.ingest import operations
from bowerbird.ingest.operations import FileProgress, FileResponse
from bowerbird.ingest.router import served_by
from bowerbird.library.imports.file_imports import ImportOptions
from bowerbird.library.ingest.files import FileJobs, report_of
from bowerbird.library.ingest.rates import Rates
from bowerbird.model.accounts import Account
from bowerbird.model.arrival.ingest import FileImport
from bowerbird.model.instants import with_offset
from bowerbird.model.jobs import UNFINISHED
from bowerbird.requests.ingest import FileQuery
from bowerbird.storage.files.uploads import UploadFolders
from bowerbird.wire import form_files, query_strings, writes
from bowerbird.wire.pipeline import Request
from bowerbird.wire.responses.replies import Header, Reply
from bowerbird.wire.router import Served


class Upload(NamedTuple):
    path: Path
    size: int


async def receive_file(
    receive: Receive, folder: Path, content_type: bytes, content_encoding: bytes | None
) -> Upload:
    """The received file in `folder`. Raises a refusal if it is too large or incomplete."""
    encoding = ingest_bodies.encoding_of(content_encoding)
    boundary = form_files.boundary_of(content_type)
    sent, file = folder / "sent", folder / "file"
    with form_files.created(sent) as target:
        await form_files.store(receive, target)
    if encoding:
        unpacked = folder / "unpacked"
        await asyncio.to_thread(_decompress, sent, unpacked, encoding)
        sent = unpacked
    if boundary is not None:
        await asyncio.to_thread(form_files.extract, sent, file, boundary)
        sent = file
    size = await asyncio.to_thread(lambda: sent.stat().st_size)
    form_files.require_size(size)
    return Upload(sent, size)


def _decompress(source: Path, target: Path, encoding: bytes) -> None:
    with source.open("rb") as packed, form_files.created(target) as unpacked:
        ingest_bodies.decompress(packed, unpacked, encoding, form_files.MAX_BODY_BYTES)


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
        query = query_strings.read(request.scope["query_string"], FileQuery)
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
    """The name of the program, for the list of imports."""
    sent = request.headers.get(b"user-agent", b"").decode("latin-1")
    return "".join(filter(str.isprintable, sent))[:_MAX_CLIENT]
