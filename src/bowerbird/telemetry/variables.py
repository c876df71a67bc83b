"""Problems with OpenTelemetry's variables, which its SDK ignores or only logs.

A sentence names the variable and never its value: OTEL_EXPORTER_OTLP_HEADERS has a token in it.
"""

import difflib
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Final

from opentelemetry import environment_variables
from opentelemetry.sdk import environment_variables as sdk_environment_variables
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
)

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
