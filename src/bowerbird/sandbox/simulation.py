"""X-Service-Sandbox-Error: the failures that a client can ask for, to see how it takes them."""

from typing import Final

from bowerbird import errors
from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.rest.sandboxed import SIMULATED
from bowerbird.wire.auth import unauthorized

_HEADER: Final = b"x-service-sandbox-error"
_RETRY_AFTER_S: Final = 30


def judge(headers: dict[bytes, bytes], reference: str, site_origin: str) -> None:
    """Raises the refusal that the request asks for, if it asks for one."""
    value = headers.get(_HEADER)
    if value is None:
        return
    name = value.decode("latin-1").strip()
    if name not in SIMULATED:
        accepted = ", ".join(SIMULATED)
        raise errors.invalid(
            "X-Service-Sandbox-Error", f"{errors.shown(name)} is not supported; {accepted} are"
        )
    raise _simulated(SIMULATED[name], reference, site_origin, has_key=b"authorization" in headers)


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
