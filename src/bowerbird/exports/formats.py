"""The forms in which a library can be taken along."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Format(NamedTuple):
    media_type: str
    suffix: str


FORMATS: Final[Mapping[str, Format]] = {
    "pdf": Format("application/pdf", ".pdf"),
    "csv": Format("text/csv; charset=utf-8", ".csv"),
    "json": Format("application/json", ".json"),
}

VOLUMES: Final = Format("application/zip", ".zip")
"""What a PDF export becomes when one document would be too large to make or to read."""
