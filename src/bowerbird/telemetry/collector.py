"""Sends to the collector, and says in one sentence why that failed.

The SDK's own messages contain the URL, which may have a password in it, and some have no cause.
"""

import os
import socket
import ssl
from http import HTTPStatus
from typing import Any, Final

from requests import PreparedRequest, Request, RequestException, Response, Session, Timeout
from requests.exceptions import InvalidHeader, InvalidSchema

_BAD_URL: Final = "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL with http:// or https://."


class WatchedSession(Session):
    """Remembers why the last request failed."""

    def __init__(self) -> None:
        super().__init__()
        # Empty after a request that succeeded.
        self.failure = ""

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        try:
            response = super().send(request, **kwargs)
        except (OSError, ValueError) as error:
            self.failure = _failure(error)
            raise
        status = response.status_code
        self.failure = (
            "" if response.ok else f"The collector answered with status {_named(status)}."
        )
        return response

    def prepare_request(self, request: Request) -> PreparedRequest:
        try:
            return super().prepare_request(request)
        except InvalidHeader:
            self.failure = "OTEL_EXPORTER_OTLP_HEADERS has a value that no header can have."
            raise
        except RequestException:
            self.failure = _BAD_URL
            raise


def _failure(error: BaseException) -> str:
    if isinstance(error, InvalidSchema):
        return _BAD_URL
    if isinstance(error, Timeout):
        return "The collector did not answer in time."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "The name of the collector cannot be resolved."
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of the collector is refused: {cause.verify_message}."
        if isinstance(cause, OSError) and cause.errno:
            return f"The collector cannot be reached: {os.strerror(cause.errno)}."
        cause = _inner(cause)
    return f"Sending to the collector failed ({type(error).__name__})."


def _inner(error: BaseException) -> BaseException | None:
    """The libraries keep the error that they wrap in different places."""
    kept = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    return next((each for each in kept if isinstance(each, BaseException)), None)


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)
