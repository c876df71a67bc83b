"""Reads the posts among the documents of a CSV export of Readwise Reader."""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, is_true, read

_SOURCE = CsvSource(
    address=("url",),
    title=("title",),
    saved_at=("saved date",),
    tags=("document tags",),
    notes=("document note", "notes", "note"),
    is_archived=lambda cells: cells.get("location", "").strip().lower() == "archive",
    is_read=lambda cells: is_true(cells.get("seen", "")),
)


def _fits(beginning: Beginning) -> bool:
    return beginning.has_columns("url", "document tags", "saved date")


FORMAT = Format("Readwise Reader CSV", _fits, lambda file, _choices: read(file, _SOURCE))
