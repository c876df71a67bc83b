"""Reads saved_posts.csv and saved_comments.csv of Reddit's data request."""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, read

_SOURCE = CsvSource(
    address=("permalink",),
    text=("title", "body"),
    posted_at=("date", "created"),
    is_in_order=True,
)


def _fits(beginning: Beginning) -> bool:
    # The person's own posts have an "ip", their votes have a "direction".
    is_other = {"ip", "direction"} & set(beginning.columns)
    return beginning.has_columns("id", "permalink") and not is_other


FORMAT = Format(
    "Reddit CSV",
    _fits,
    lambda file, _choices: read(file, _SOURCE),
    other_files=frozenset({"hidden_posts.csv"}),
)
