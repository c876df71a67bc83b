"""Reads bookmarks in the format of the API: records, exports and saved answers.

A record that cannot be decoded is reported in our words: those of the decoder are for programs.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model import instants
from bowerbird.model.arrival import Completeness, Incoming, OrderSource
from bowerbird.model.json_depth import MAX_DEPTH, is_too_deep
from bowerbird.model.labels import NAME_RULE, clean_name, name_key
from bowerbird.model.posts import bookmarks, highlights
from bowerbird.model.posts.bookmarks import (
    ImportRecord,
    Post,
    check_open_fields,
    content_hash,
    post_json,
    with_highlights,
)
from bowerbird.sources.file_posts import invalid
from bowerbird.sources.found import Beginning, Choices, Format, Found, FoundPost, Notice
from bowerbird.sources.parsing import json_values
from bowerbird.sources.parsing.json_records import MalformedFile, Record, records
from bowerbird.sources.parsing.json_values import SUSPICIOUS_ESCAPE, reject_constant
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File, storable

# The decoder ends its message with the path of the field: " - at `$.tweet_details.text`".
_MESSAGE: Final = re.compile(r"^(?P<problem>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>.*)`")
_TYPE: Final = re.compile(r"Expected `(?P<expected>[^`]+)`(?:, got `(?P<got>[^`]+)`)?")
_BOUND: Final = re.compile(r"Expected `(?:int|float)` (?P<sign>[<>]=?) (?P<bound>\S+)")
_LENGTH: Final = re.compile(r"Expected `\w+` of length (?P<sign>[<>]=?) (?P<bound>\d+)")
_NAMES: Final = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_GOT: Final = {**_NAMES, "int": "a number", "float": "a number with a fraction"}
_SIGNS: Final = {"<=": "at most", "<": "less than", ">=": "at least", ">": "more than"}
_BROKEN: Final = ("JSON is malformed", "Input data was truncated")
# Python's own decoder says where a record is broken.
_PLACE_IN_JSON: Final = re.compile(r"line \d+ column \d+ \(char \d+\)$")


def sentence_of(message: str) -> str:
    """The message of the decoder as a sentence that names the field."""
    parted = _MESSAGE.match(message)
    assert parted
    path = parted["path"] or ""
    problem = parted["problem"].rstrip(".")
    if missing := _MISSING.fullmatch(problem):
        path = f"{path}.{missing['name']}" if path else missing["name"]
        problem = "is required"
    else:
        problem = _said(problem)
    return f"{path}: {problem}." if path else f"{_begun(problem)}."


def _begun(problem: str) -> str:
    return f"The record {problem}" if problem.startswith(("must ", "is ")) else problem


def _said(problem: str) -> str:
    if "matching regex" in problem:
        return "must be a string of 1 to 40 digits"
    for pattern, words in ((_LENGTH, "must have {} {} characters"), (_BOUND, "must be {} {}")):
        if bounded := pattern.fullmatch(problem):
            return words.format(_SIGNS[bounded["sign"]], bounded["bound"])
    if typed := _TYPE.fullmatch(problem):
        expected = " or ".join(_NAMES.get(one, one) for one in typed["expected"].split(" | "))
        return f"must be {expected}" + (
            f", got {_GOT.get(got, got)}" if (got := typed["got"]) else ""
        )
    if "out of range" in problem:
        return "must be a smaller number"
    if problem.startswith(_BROKEN) or _PLACE_IN_JSON.search(problem):
        return "is not valid JSON"
    return problem.replace("`", "'")


_decode: Final = msgspec.json.Decoder(ImportRecord).decode
_TOO_DEEP: Final = f"The record is nested more than {MAX_DEPTH} levels deep."


class InvalidRecord(Exception):  # noqa: N818 - named for what it is
    """A record that cannot be imported. The message names the field and the reason."""


class ParsedRecord(Struct, frozen=True):
    incoming: Incoming
    # The number of removed characters, which no database can store.
    removed: int


def read(raw: bytes, *, is_stored: bool = False) -> ParsedRecord:
    """`is_stored`: an earlier release imported the record, when deeper nesting was allowed."""
    try:
        # A search for its first two characters alone takes five times as long.
        is_suspicious = SUSPICIOUS_ESCAPE.search(raw)
        record, removed = _decode_cleaned(raw) if is_suspicious else (_decode(raw), 0)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidRecord(_sentence(error)) from None
    if not is_stored and is_too_deep(raw):
        raise InvalidRecord(_TOO_DEEP)
    try:
        check_open_fields(record.tweet_details)
    except msgspec.ValidationError as error:
        raise InvalidRecord(f"tweet_details.{_sentence(error)}") from None
    if record.gone_at or record.removed_at:
        record = _with_instants(record)
    if record.highlights and not is_stored:
        record = _with_passages(record)
    bookmarked_at = _optional_instant("bookmarked_at", record.bookmarked_at)
    if bookmarked_at is not UNSET:
        record = bookmarks.without_saving_time(record, bookmarked_at)
    record = bookmarks.completed(record if is_stored else with_offset(record))
    return ParsedRecord(_incoming(record, bookmarked_at), removed)


def completeness_of(post: Post) -> Completeness:
    """Lists and exports also have posts that are known only by their link. They stay such posts."""
    details = post.tweet_details
    has_content = details.text or details.article or details.attachments or details.quoted_tweet
    return Completeness.FULL if has_content else Completeness.STUB


def found_post(incoming: Incoming, line: int, *, is_whole: bool = False) -> FoundPost:
    record = incoming.record
    completeness = completeness_of(record)
    if completeness is Completeness.STUB:
        incoming = msgspec.structs.replace(incoming, completeness=Completeness.STUB)
    return FoundPost(
        record=record,
        line=line,
        completeness=completeness,
        order_source=OrderSource.X if record.sort_index is not UNSET else OrderSource.IMPORT,
        own=incoming,
        is_whole=is_whole,
    )


def whole_post(raw: bytes) -> FoundPost:
    """A record that replaces the content of a stored post."""
    return found_post(read(raw).incoming, 1, is_whole=True)


def post_of(record: Post) -> Post:
    """The part of a record that is stored as one document."""
    return Post(
        post_id=record.post_id,
        tweet_details=record.tweet_details,
        author_id=record.author_id,
        author_username=record.author_username,
        author_details=record.author_details,
        source=record.source,
        source_id=record.source_id,
        gone_at=record.gone_at or UNSET,
        # Without the time it says nothing.
        gone_reason=(record.gone_reason or UNSET) if record.gone_at else UNSET,
        removed_at=record.removed_at or UNSET,
        note=record.note or UNSET,
        image_texts=record.image_texts or UNSET,
        highlights=record.highlights or UNSET,
    )


def with_offset(record: ImportRecord) -> ImportRecord:
    """The record with a time of the post that has an offset. Without one it is UTC."""
    posted_at = record.tweet_details.posted_at
    if not posted_at or posted_at.endswith(("+00:00", "Z")):
        return record
    complete = instants.completed(posted_at)
    if complete == posted_at:
        return record
    details = msgspec.structs.replace(record.tweet_details, posted_at=complete)
    return msgspec.structs.replace(record, tweet_details=details)


def _with_instants(record: ImportRecord) -> ImportRecord:
    """The record with its instants in the format of the API."""
    given = {
        field: instants.with_offset(_instant(field, text))
        for field in ("gone_at", "removed_at")
        if (text := getattr(record, field))
    }
    return msgspec.structs.replace(record, **given)


def _with_passages(record: ImportRecord) -> ImportRecord:
    """The record with each highlight once, and at its place in the text."""
    passages = [
        msgspec.structs.replace(
            one,
            created_at=one.created_at
            and instants.with_offset(_instant("highlights.created_at", one.created_at)),
            comment=one.comment or UNSET,
        )
        for one in record.highlights or ()
    ]
    return with_highlights(record, highlights.joined((), passages))


def _incoming(record: ImportRecord, bookmarked_at: int | UnsetType) -> Incoming:
    posted_at = record.tweet_details.posted_at
    return incoming_of(
        record,
        _instant("tweet_details.posted_at", posted_at) if posted_at else instants.UNKNOWN,
        imported_at=_optional_instant("imported_at", record.imported_at),
        bookmarked_at=bookmarked_at,
        tags=_tags(record.tags),
    )


def incoming_of(record: ImportRecord, posted_at: int | None = None, **more: Any) -> Incoming:
    """The record with what is stored of it. `posted_at`: if the caller has read it."""
    if posted_at is None:
        posted_at = instants.parse(record.tweet_details.posted_at)
    data = post_json(post_of(record))
    moment = instants.UNKNOWN if posted_at is None else posted_at
    return Incoming(record, data, content_hash(data), moment, **more)


def _optional_instant(field: str, text: str | UnsetType) -> int | UnsetType:
    return UNSET if text is UNSET else _instant(field, text)


def _instant(field: str, text: str) -> int:
    instant = instants.parse(text)
    if instant is None:
        raise InvalidRecord(f"{field}: {text[:40]!r} is not an ISO 8601 date-time.")
    return instant


def _tags(names: list[str] | UnsetType | None) -> dict[str, str] | None:
    if names is UNSET:
        return None
    tags: dict[str, str] = {}
    for text in names or ():
        name = clean_name(text)
        if name is None:
            raise InvalidRecord(f"tags: a label name must have {NAME_RULE}, got {text[:40]!r}.")
        tags.setdefault(name_key(name), name)
    return tags


def _decode_cleaned(raw: bytes) -> tuple[ImportRecord, int]:
    """Decodes a record and removes the characters that no database can store. Slow, but rare."""
    removed = 0

    def clean(text: str) -> str:
        nonlocal removed
        removed += len(text)
        text = storable(text)
        removed -= len(text)
        return text

    cleaned = json_values.cleaned(json.loads(raw, parse_constant=reject_constant), clean)
    return msgspec.convert(cleaned, ImportRecord), removed


def _sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return "The record is not UTF-8 text."
    return sentence_of(str(error))


def _read_file(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    removed = 0
    try:
        for place, record in enumerate(records(Utf8File(file)), 1):
            found, count = _found(record, place)
            removed += count
            yield found
    except MalformedFile as problem:
        yield invalid(problem.line, str(problem))
    if removed:
        yield Notice(line=0, sentence=f"Characters that cannot be stored, removed: {removed:,}.")


def _found(record: Record, place: int) -> tuple[Found, int]:
    if record.problem:
        return invalid(record.line, record.problem, place), 0
    try:
        parsed = read(record.raw)
    except InvalidRecord as problem:
        return invalid(record.line, str(problem), place), 0
    found = found_post(parsed.incoming, record.line, is_whole=True)
    return _with_labels_kept(found), parsed.removed


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


FORMAT = Format("Bowerbird JSON", _fits, _read_file)
