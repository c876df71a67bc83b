"""X-Service-Sandbox-Error: the failures that a client can ask for, to see how it takes them."""

from collections.abc import Iterable
from typing import Final

from bowerbird import errors
from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.openapi.sandbox_routes import SIMULATED
from bowerbird.wire.auth import unauthorized
from bowerbird.wire.replies import Header

_HEADER: Final = b"x-service-sandbox-error"
_RETRY_AFTER_S: Final = 30


def judge(headers: Iterable[Header], reference: str, site_origin: str) -> None:
    """Raises the refusal that the request asks for, if it asks for one; of several, the first."""
    sent = [(name.lower(), value) for name, value in headers]
    names = [value.decode("latin-1").strip() for name, value in sent if name == _HEADER]
    if not names:
        return
    for name in names:
        if name not in SIMULATED:
            accepted = ", ".join(SIMULATED)
            raise errors.invalid(
                "X-Service-Sandbox-Error", f"{errors.shown(name)} is not supported; {accepted} are"
            )
    has_key = any(name == b"authorization" for name, _ in sent)
    raise _simulated(SIMULATED[names[0]], reference, site_origin, has_key=has_key)


def _simulated(code: Code, reference: str, site_origin: str, *, has_key: bool) -> Refusal:
    sentence = f"Simulated failure: {CATALOGUE[code].when}."
    if code is Code.UNAUTHORIZED:
        return unauthorized(sentence, site_origin, is_bad_token=has_key)
    if code is Code.RATE_LIMITED:
        return Refusal(code, sentence, {"Retry-After": str(_RETRY_AFTER_S)})
    if code is Code.INTERNAL_ERROR:
        # A real one carries it too.
        sentence = f"{sentence} Reference: {reference}."
    return Refusal(code, sentence)
