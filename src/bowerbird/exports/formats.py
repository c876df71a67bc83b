"""The file formats of an export."""

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

ZIPPED_VOLUMES: Final = Format("application/zip", ".zip")
"""The format of a PDF export that is too large for one document."""
