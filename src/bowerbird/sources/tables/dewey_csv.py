"""Reads the CSV exports of Dewey, which has had two sets of columns."""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, read

# "Tweet Date" is when the post was written. When it was saved, the file does not say.
_SOURCE = CsvSource(
    address=("tweet url", "post url"),
    text=("tweet content", "content", "post content"),
    author_name=("posted by",),
    author_username=("posted by twitter handle", "twitter handle"),
    profile_image=("posted by profile pic",),
    posted_at=("tweet date", "post date"),
    tags=("tags",),
    folder=("folder", "folders"),
    notes=("my notes", "comments", "notes"),
    media=("media",),
    is_in_order=True,
)


def _fits(beginning: Beginning) -> bool:
    columns = beginning.columns
    return "posted by" in columns and ("tweet url" in columns or "post url" in columns)


FORMAT = Format("Dewey CSV", _fits, lambda file, _choices: read(file, _SOURCE))
