"""Starts telemetry if the environment asks for it, with a collector that can be reached."""

import difflib
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import environment_variables
from opentelemetry.sdk import environment_variables as sdk_environment_variables
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
)
from requests import PreparedRequest, Request, RequestException, Response, Session, Timeout
from requests.exceptions import InvalidHeader, InvalidSchema

from bowerbird.settings import BadSetting, Settings

_PREFIX: Final = "OTEL_"
_NAME: Final = re.compile(r"[A-Z][A-Z_]+")
# The exporter would load a session of its own, but gets ours.
_UNUSED: Final = "_CREDENTIAL_PROVIDER"
_PROTOCOL: Final = "http/protobuf"


def _known() -> Iterator[str]:
    for module in (environment_variables, sdk_environment_variables):
        for value in vars(module).values():
            is_name = isinstance(value, str) and value.startswith(_PREFIX)
            if is_name and not value.endswith(_UNUSED):
                yield value


KNOWN: Final = frozenset(_known())


def without_effect(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that nothing reads, or whose value has no effect."""
    for name in sorted(environment):
        if name.startswith(_PREFIX) and name not in KNOWN:
            nearest = difflib.get_close_matches(name, sorted(KNOWN), n=1)
            hint = f" Did you mean {nearest[0]}?" if nearest else ""
            yield f"{name} is unknown and has no effect.{hint}"
    for name in (OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL):
        if environment.get(name, "").strip() not in ("", _PROTOCOL):
            yield f"{name} has no effect: the service sends {_PROTOCOL} only."


def invalid(record: logging.LogRecord, environment: Mapping[str, str]) -> str:
    """A sentence for what the SDK logs about a value while it reads the variables."""
    names = _names_in(record) or _names_with_value(record, environment)
    if not names:
        return "OpenTelemetry ignores the value of one of its variables (OTEL_…)."
    listed = " or ".join(names)
    return f"The value of {listed} is missing or invalid, so OpenTelemetry ignores it."


def _names_in(record: logging.LogRecord) -> list[str]:
    words = set(_NAME.findall(record.getMessage()))
    return sorted(name for name in KNOWN if {name, name.removeprefix(_PREFIX)} & words)


def _names_with_value(record: logging.LogRecord, environment: Mapping[str, str]) -> list[str]:
    given = record.args if isinstance(record.args, tuple) else ()
    parts = [each.strip().lower() for each in given if isinstance(each, str) and each.strip()]
    values = {name: environment[name].strip().lower() for name in sorted(KNOWN & {*environment})}
    equal = [name for name, value in values.items() if value in parts]
    return equal or [name for name, value in values.items() if any(part in value for part in parts)]


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


if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces

_MISSING: Final = (
    "BOWERBIRD_TRACES=on needs packages that are not installed (the extra `telemetry`). Run: "
    "make telemetry in a checkout, or pipx inject bowerbird opentelemetry-sdk "
    "opentelemetry-exporter-otlp-proto-http for a package"
)


@contextmanager
def started(settings: Settings) -> Iterator["Traces | None"]:
    """Raises BadSetting if traces are on and cannot work."""
    if settings.traces == "off":
        yield None
        return
    traces = _started(settings)
    try:
        yield traces
    finally:
        traces.stop()


def _started(settings: Settings) -> "Traces":
    try:
        from bowerbird.telemetry.traces import Traces  # noqa: PLC0415 - an optional package
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("bowerbird"):
            raise
        raise BadSetting(_MISSING) from error
    try:
        return Traces(settings)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise BadSetting(f"A variable of OpenTelemetry (OTEL_…) is invalid: {reason}.") from error
