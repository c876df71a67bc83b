"""Reads saved_posts.csv and saved_comments.csv of Reddit's data request."""

from bowerbird.sources.csv_posts import CsvSource, read
from bowerbird.sources.formats import Beginning, Format

_SOURCE = CsvSource(
    address=("permalink",),
    text=("title", "body"),
    posted_at=("date", "created"),
    is_in_order=True,
)


def _fits(beginning: Beginning) -> bool:
    # With a column for the text, the file is one of the person's own posts or comments.
    return beginning.has_columns("id", "permalink") and "ip" not in beginning.columns


FORMAT = Format("Reddit CSV", _fits, lambda file, _choices: read(file, _SOURCE))
