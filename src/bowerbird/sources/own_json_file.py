"""Reads a file of bookmarks in the format of the API: an export, or a saved answer."""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from bowerbird.model.imports import Completeness
from bowerbird.sources import own_json
from bowerbird.sources.file_posts import invalid
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found, FoundPost, Notice
from bowerbird.sources.parsing.json_records import MalformedFile, Record, records
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File


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
    return _with_labels_kept(own_json.found_post(parsed.incoming, record.line)), parsed.removed


def _with_labels_kept(found: FoundPost) -> FoundPost:
    """The record; if it is only a link, without an empty list of labels.

    The post of an old export may have been completed and labelled since.
    """
    if found.completeness is not Completeness.STUB or found.record.tags or found.own is None:
        return found
    record = msgspec.structs.replace(found.record, tags=UNSET)
    own = msgspec.structs.replace(found.own, record=record, tags=None)
    return msgspec.structs.replace(found, record=record, own=own)


def _fits(beginning: Beginning) -> bool:
    has = beginning.json.has
    return (
        any(has(f"{start}post_id") for start in ("[].", "bookmarks[].", "data[].", ""))
        # An export of an account whose many labels come before its bookmarks, and empty files.
        or has("account", "keys[]", "calls[]")
        or has("data[]", "meta.next_cursor")
        or beginning.text.split() == ["[]"]
    )


FORMAT = Format("Bowerbird JSON", _fits, read)
