"""Reads a file of bookmarks in the format of the API: an export, or a saved answer."""

from collections.abc import Iterator

from msgspec import UNSET

from bowerbird.sources import own_json
from bowerbird.sources.file_posts import invalid
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found, FoundPost, Notice, OrderSource
from bowerbird.sources.json_records import MalformedFile, Record, records
from bowerbird.sources.text_lines import SeekableFile, Utf8File


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    removed = 0
    try:
        for record in records(Utf8File(file)):
            found, count = _found(record)
            removed += count
            yield found
    except MalformedFile as problem:
        yield invalid(problem.line, str(problem))
    if removed:
        yield Notice(line=0, sentence=f"Characters that cannot be stored, removed: {removed:,}.")


def _found(record: Record) -> tuple[Found, int]:
    if record.problem:
        return invalid(record.line, record.problem), 0
    try:
        parsed = own_json.read(record.raw)
    except own_json.InvalidRecord as problem:
        return invalid(record.line, str(problem)), 0
    post = parsed.incoming.record
    order = OrderSource.X if post.sort_index is not UNSET else None
    found = FoundPost(record=post, line=record.line, order_source=order, own=parsed.incoming)
    return found, parsed.removed


def _fits(beginning: Beginning) -> bool:
    return any(
        beginning.json.has(f"{start}post_id", f"{start}tweet_details")
        for start in ("[].", "bookmarks[].", "data[].", "")
    )


FORMAT = Format("Bowerbird JSON", _fits, read)
