"""Reads the posts among the links of a CSV export of Pocket."""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, read

_SOURCE = CsvSource(
    address=("url",),
    title=("title",),
    saved_at=("time added",),
    tags=("tags",),
    tag_separators="|",
    is_archived=lambda cells: cells.get("status", "").strip().lower() == "archive",
)


def _fits(beginning: Beginning) -> bool:
    return beginning.has_columns("url", "time added")


FORMAT = Format("Pocket CSV", _fits, lambda file, _choices: read(file, _SOURCE))
