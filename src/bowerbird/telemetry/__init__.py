"""OpenTelemetry traces of requests and jobs, if `BOWERBIRD_TRACES` is on.

Nothing imports its modules otherwise, so the packages that it needs are an extra. The parts of the
service do not know it: the server wraps them when it starts.

Without traces, no package of OpenTelemetry's SDK is imported.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bowerbird.settings import BadSetting, Settings

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
