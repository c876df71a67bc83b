"""Finds the reader that fits a file, by what is in the file. Its name says nothing reliable."""

import re
from collections.abc import Sequence
from typing import Final

from bowerbird.sources import (
    general,
    json_programs,
    link_list,
    netscape_html,
    own_json,
    programs,
)
from bowerbird.sources.file_posts import shown
from bowerbird.sources.formats import Beginning, Format, column_name
from bowerbird.sources.networks import bluesky, mastodon, x_archive
from bowerbird.sources.x import files as x_files

# Tried in this order, the first that fits reads the file. To add a reader, add a line: the
# narrow ones above, the general ones below.
FORMATS: Final[tuple[Format, ...]] = (
    own_json.FORMAT,
    *x_files.FORMATS,
    *x_archive.FORMATS,
    bluesky.FORMAT,
    *mastodon.FORMATS,
    *json_programs.OBJECTS,
    *general.OBJECTS,
    *netscape_html.FORMATS,
    *programs.TABLES,
    *general.TABLES,
    *link_list.FORMATS,
)

ZIP_START: Final = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_KINDS_BY_START: Final = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"GIF8", "an image (GIF)"),
    (b"RIFF", "an image, a sound or a video (RIFF)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x1f\x8b", "a gzip file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"\xd0\xcf\x11\xe0", "an old Office document: save it as CSV first"),
    (b"bplist00", "a property list of macOS"),
    (b"mozLz40\x00", "a backup of Firefox: export the bookmarks as HTML instead"),
)
_BYTES_LOOKED_AT: Final = 4096
_NAMES_SHOWN: Final = 4
_CLOSE_SHOWN: Final = 2
_CHOOSE: Final = "Choose what the program exports as JSON, CSV, HTML or text."


class UnknownFile(Exception):  # noqa: N818 - named for what it is
    """A file that no reader fits. The message is a sentence that says what the file looks like."""


def recognise(beginning: Beginning) -> Format:
    kind = _binary_kind(beginning.data)
    if kind:
        advice = "" if "first" in kind or "instead" in kind else f" {_CHOOSE}"
        raise UnknownFile(f"This file cannot be imported. It looks like {kind}.{advice}")
    for format in FORMATS:
        if format.fits(beginning):
            return format
    raise UnknownFile(
        f"This file cannot be imported. It looks like {_text_kind(beginning)}."
        f"{_closest(beginning)} {_advice(beginning)}"
    )


def _closest(beginning: Beginning) -> str:
    """The formats that have some of the columns or fields of the file, as a sentence."""
    keys = {column_name(path.rpartition(".")[2]) for path in beginning.json}
    names = keys | set(beginning.columns)
    shared = {
        format.name: (len(format.signature & names) / len(format.signature), format.signature)
        for format in FORMATS
        if format.signature & names
    }
    close = sorted(shared, key=lambda name: -shared[name][0])[:_CLOSE_SHOWN]
    said = [
        f"{name}, which also has {_listed(sorted(shared[name][1] - names))}"
        for name in close
        if shared[name][1] - names
    ]
    return f" Closest to it: {'; '.join(said)}." if said else ""


def _advice(beginning: Beginning) -> str:
    if not beginning.text.strip():
        return _CHOOSE
    if x_archive.part_name(beginning):
        return "Choose the whole archive, or like.js from it."
    if beginning.text.lstrip()[0] == "<":
        return "Export the bookmarks of the browser or program, or save the links as text."
    return (
        "Nothing at its beginning is a link to a post or the id of one. A column or field with "
        "links, or a text with one per line, is enough."
    )


def _binary_kind(data: bytes) -> str:
    for start, kind in _KINDS_BY_START:
        if data.startswith(start):
            return kind
    if data.startswith(ZIP_START):
        return "a zip archive"
    if data[4:8] == b"ftyp":
        return "a video or an image (MP4, HEIC)"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    looked_at = data[:_BYTES_LOOKED_AT]
    # A few NUL bytes are damage, many are another kind of file.
    return "a binary file" if looked_at.count(0) * 20 > len(looked_at) else ""


def _text_kind(beginning: Beginning) -> str:
    text = beginning.text.lstrip()
    if not text:
        return "an empty file"
    if part := x_archive.part_name(beginning):
        return f"the part {shown(part)} of an X archive, which has no bookmarks"
    if text[0] == "<":
        is_xml = text.startswith("<?xml")
        return "an XML file" if is_xml else "an HTML page that is not a bookmarks file"
    if text[0] in "[{":
        return _json_kind(beginning)
    if len(beginning.columns) > 1:
        return f"a CSV file in an unknown format, with the columns {_listed(beginning.columns)}"
    return f"a text file that begins with {shown(text[:60])}"


def _json_kind(beginning: Beginning) -> str:
    # The path of a field: "a", "a[]", "a[].b" or "[].a".
    names = {re.split(r"[.[]", path.removeprefix("[]."))[0] for path in beginning.json}
    fields = sorted(name for name in names if name)
    if not fields:
        return "a JSON file without any fields"
    noun = "field" if len(fields) == 1 else "fields"
    return f"a JSON file in an unknown format, with the {noun} {_listed(fields)}"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(shown(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{listed} and {more:,} more" if more > 0 else listed
