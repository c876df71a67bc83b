"""Receives the file of a form. The token of the form has to come before the file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import form_files
from bowerbird.wire.form_files import NoFile, SentFile, TwoFiles

# A body up to here is received, though not stored, so that the browser shows the answer: it shows
# an error of its own if the server closes the connection early.
MAX_BODY_BYTES: Final = 4 * limits.INGEST_FILE_BYTES_MAX
_MAX_SIZE: Final = f"{limits.INGEST_FILE_BYTES_MAX // 1_000_000} MB"


class NotOurForm(Refusal):
    """The form has no valid token before its file."""


async def receive(visit: Visit, folder: Path) -> SentFile:
    """The file in `folder`; the fields before it are then the form of the visit."""

    def admit(fields: Mapping[str, str]) -> None:
        visit.form = fields
        if not visit.has_valid_token():
            raise NotOurForm(Code.INVALID_REQUEST, "The form has no valid token before its file.")

    kind = visit.request.headers.get(b"content-type", b"")
    return await form_files.receive_form(visit.request.receive, folder, kind, admit)


def explained(refused: Refusal) -> str:
    """Why a file was not received, for the person who chose it."""
    if isinstance(refused, NoFile):
        return "Choose a file first."
    if isinstance(refused, TwoFiles):
        return "Choose one file at a time."
    if refused.code is Code.PAYLOAD_TOO_LARGE:
        return (
            f"The file is larger than {_MAX_SIZE}. Pack it as a zip file, or import it with the "
            "command on the server."
        )
    if refused.code is Code.INVALID_REQUEST:
        return "The file is empty, or did not arrive whole. Choose it again."
    return refused.sentence
