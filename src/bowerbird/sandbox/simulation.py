"""The header X-Service-Sandbox-Error, with which a client simulates a failure to test itself."""

from collections.abc import Iterable
from typing import Final

from bowerbird import errors
from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.openapi.sandbox_routes import NONE, SIMULATED
from bowerbird.wire.auth import unauthorized
from bowerbird.wire.responses.replies import Header

_HEADER: Final = b"x-service-sandbox-error"
_RETRY_AFTER_S: Final = 30


def judge(headers: Iterable[Header], reference: str, site_origin: str) -> None:
    """Raises the error that the header requests, if any. Of several values the first one counts."""
    lowered = [(name.lower(), value) for name, value in headers]
    sent = [value.decode("latin-1").strip() for name, value in lowered if name == _HEADER]
    values = [value for value in sent if value != NONE]
    if not values:
        return
    for value in values:
        if value not in SIMULATED:
            raise errors.invalid(
                "X-Service-Sandbox-Error",
                f"unknown value {errors.shown(value)}. Valid values: {', '.join(SIMULATED)}",
            )
    has_key = any(name == b"authorization" for name, _ in lowered)
    raise _simulated(SIMULATED[values[0]], reference, site_origin, has_key=has_key)


def _simulated(code: Code, reference: str, site_origin: str, *, has_key: bool) -> Refusal:
    sentence = f"Simulated failure: {CATALOGUE[code].when}."
    if code is Code.UNAUTHORIZED:
        return unauthorized(sentence, site_origin, is_bad_token=has_key)
    if code is Code.RATE_LIMITED:
        return Refusal(code, sentence, {"Retry-After": str(_RETRY_AFTER_S)})
    if code is Code.INTERNAL_ERROR:
        sentence = f"{sentence} Reference: {reference}."
    return Refusal(code, sentence)
