"""Reads the posts among the links of a CSV export of Raindrop.io."""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, read

_SOURCE = CsvSource(
    address=("url", "link"),
    title=("title",),
    saved_at=("created",),
    tags=("tags",),
    folder=("folder",),
    notes=("note", "highlights"),
)


def _fits(beginning: Beginning) -> bool:
    columns = beginning.columns
    return beginning.has_columns("url", "folder") and ("created" in columns or "note" in columns)


FORMAT = Format("Raindrop CSV", _fits, lambda file, _choices: read(file, _SOURCE))
