"""The settings that files in deploy/ may name."""

import dataclasses
import re
from pathlib import Path
from typing import Any

from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS,
)

from bowerbird.settings import PREFIX, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
KNOWN = {PREFIX + each.name.upper() for each in dataclasses.fields(Settings)}
# Read by OpenTelemetry, if traces are on.
STANDARD = {OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS}
SECRET = {
    PREFIX + each.name.upper() for each in dataclasses.fields(Settings) if each.metadata["secret"]
} | {OTEL_EXPORTER_OTLP_HEADERS}


def settings_in(text: str) -> set[str]:
    return set(re.findall(rf"\b{PREFIX}[A-Z0-9_]+\b", text))


def checked(environment: dict[str, Any]) -> Settings:
    """The settings of an environment, as the service reads them."""
    ours = {name: str(value) for name, value in environment.items() if name.startswith(PREFIX)}
    return Settings.from_env(ours)
