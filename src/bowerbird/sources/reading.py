"""Reads a file that somebody owns: finds out what it is, and returns the posts in it.

The known files in a zip archive are read within bounds, and without unpacking it to disk. No name
in an archive is used as a path. The size of a file is counted while it is read, because an archive
can state any size.
"""

import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from io import SEEK_CUR
from typing import IO, Final, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec

from bowerbird.sources import (
    bluesky,
    general,
    link_files,
    mastodon,
    own_json,
    programs,
)
from bowerbird.sources.file_posts import as_liked, only_if_requested, shown
from bowerbird.sources.found import (
    BEGINNING_BYTES,
    Beginning,
    Choices,
    Format,
    Found,
    FoundPost,
    LeftOut,
    Notice,
    Reason,
    beginning_of,
    column_name,
)
from bowerbird.sources.link_files import PLAIN_LIST
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.x import files as x_files

# Tried in this order, the first that fits reads the file. To add a reader, add a line: the
# narrow ones above, the general ones below.
FORMATS: Final[tuple[Format, ...]] = (
    own_json.FORMAT,
    *x_files.FORMATS,
    *x_files.ARCHIVE_FORMATS,
    bluesky.FORMAT,
    *mastodon.FORMATS,
    *programs.OBJECTS,
    *general.OBJECTS,
    *link_files.HTML_FORMATS,
    *programs.TABLES,
    *general.TABLES,
    *link_files.TEXT_FORMATS,
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
# Control characters except tabs, ends of lines and pages, and the escape of old Japanese texts.
_NOT_IN_TEXTS: Final = bytes({*range(32), 127} - {9, 10, 11, 12, 13, 27})
_COLUMNS_SHOWN: Final = 4
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
        f"{name}, which also has {_joined(sorted(shared[name][1] - names))}"
        for name in close
        if shared[name][1] - names
    ]
    return f" Closest to it: {'; '.join(said)}." if said else ""


def _ends_too_soon(beginning: Beginning) -> bool:
    if beginning.is_cut or beginning.text.lstrip()[0] not in "[{":
        return False
    try:
        msgspec.json.decode(beginning.text)
    except msgspec.DecodeError as problem:
        return "truncated" in str(problem)
    except RecursionError:
        # It is too deep to tell.
        return False
    return False


def _advice(beginning: Beginning) -> str:
    if not beginning.text.strip():
        return _CHOOSE
    if _ends_too_soon(beginning):
        return "Download or save it again."
    if x_files.part_name(beginning):
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
    # A few of these bytes are damage, many are another kind of file.
    control = len(looked_at) - len(looked_at.translate(None, _NOT_IN_TEXTS))
    return "a file that is not text" if control * 20 > len(looked_at) else ""


def _text_kind(beginning: Beginning) -> str:
    text = beginning.text.lstrip()
    if not text:
        return "an empty file"
    if part := x_files.part_name(beginning):
        return f"the part {shown(part)} of an X archive, which has no bookmarks"
    if text[0] == "<":
        is_xml = text.startswith("<?xml")
        return "an XML file" if is_xml else "an HTML page that is not a bookmarks file"
    if text[0] in "[{":
        return _json_kind(beginning)
    if len(beginning.columns) > 1:
        return f"a CSV file in an unknown format, with the columns {_joined(beginning.columns)}"
    return f"a text file that begins with {shown(text[:60])}"


def _json_kind(beginning: Beginning) -> str:
    if _ends_too_soon(beginning):
        return "a JSON file that is cut off: it ends in the middle"
    # The path of a field: "a", "a[]", "a[].b" or "[].a".
    names = {re.split(r"[.[]", path.removeprefix("[]."))[0] for path in beginning.json}
    fields = sorted(name for name in names if name)
    if not fields:
        return "a JSON file without any fields"
    noun = "field" if len(fields) == 1 else "fields"
    return f"a JSON file in an unknown format, with the {noun} {_joined(fields)}"


def _joined(names: Sequence[str]) -> str:
    listed = ", ".join(shown(name) for name in names[:_COLUMNS_SHOWN])
    more = len(names) - _COLUMNS_SHOWN
    return f"{listed} and {more:,} more" if more > 0 else listed


# A record of two characters that cannot be read takes as long as one of a hundred that can.
MAX_UNREADABLE: Final = 100_000
# Of a file that was downloaded twice: "liked_posts (1).json".
_COPY: Final = re.compile(r" ?\([0-9]{1,3}\)(?=\.[a-z]+$)")


class Reading(NamedTuple):
    # What the file is, as people call it.
    name: str
    found: Iterator[Found]


def read(file: SeekableFile, choices: Choices = Choices()) -> Reading:  # noqa: B008 - immutable
    """Raises UnknownFile before anything is read if no reader fits."""
    beginning = beginning_of(file)
    if beginning.data.startswith(ZIP_START):
        return Reading("zip archive", _bounded(_Archive(file, choices).read()))
    format = recognise(beginning)
    name = _COPY.sub("", re.split(r"[/\\]", choices.name)[-1])
    return Reading(format.name, _bounded(_read(format, file, name, choices)))


def _read(format: Format, file: SeekableFile, name: str, choices: Choices) -> Iterator[Found]:
    found = format.read(file, choices)
    if name.lower() not in format.liked_files:
        return found
    return only_if_requested(map(as_liked, found), choices)


def _bounded(found: Iterator[Found]) -> Iterator[Found]:
    """Stops where too many records cannot be read."""
    unreadable = 0
    for one in found:
        yield one
        unreadable += isinstance(one, LeftOut) and one.reason is Reason.INVALID
        if unreadable >= MAX_UNREADABLE:
            sentence = (
                f"{MAX_UNREADABLE:,} records cannot be read, so the rest of the file was not read."
            )
            yield LeftOut(line=one.line, reason=Reason.INVALID, sentence=sentence)
            return


MAX_MEMBERS: Final = 50_000
# The list of files in an archive is read into memory.
MAX_DIRECTORY_BYTES: Final = 4 << 20
# What is read of all its files together to find out what they are. Each may have an equal share.
MAX_LOOK_BYTES: Final = 128 << 20
# What is read of all known files together.
MAX_READ_BYTES: Final = 256 << 20
MAX_RATIO: Final = 200
# Below this size, a file may be packed as densely as it likes.
_RATIO_FROM_BYTES: Final = 8 << 20
_NAMES_SHOWN: Final = 5
_ENCRYPTED: Final = 0x1
# Everything else in an archive, such as media, is not opened.
_ENDINGS: Final = frozenset(
    {
        *("js", "json", "jsonl", "ndjson", "har", "csv", "tsv", "txt", "md", "html", "htm"),
        *("zip", ""),
    }
)
_BROKEN: Final = (
    *(BadZipFile, zlib.error, EOFError, OSError, struct.error),
    *(NotImplementedError, RuntimeError, ValueError, IndexError),
)


class _OverBoundError(Exception):
    """The message is the rest of a sentence about the file."""


class _Archive:
    def __init__(self, file: SeekableFile, choices: Choices) -> None:
        self._choices = choices
        # Bytes that were read of all its files.
        self.read_bytes = 0
        file.seek(0)
        try:
            # Never closed: the file belongs to the caller.
            self._zip = ZipFile(_BoundedReads(file))
        except _OverBoundError as problem:
            raise UnknownFile(f"This zip archive cannot be imported: {problem}.") from None
        except (*_BROKEN, UnicodeError, AssertionError):
            raise UnknownFile("This zip archive is damaged and cannot be read.") from None
        files = (info for info in self._zip.infolist() if not info.filename.endswith("/"))
        self._members = list(files)
        if len(self._members) > MAX_MEMBERS:
            raise UnknownFile(
                f"This zip archive cannot be imported: it has more than {MAX_MEMBERS:,} files. "
                "Unpack it and import the files one by one."
            )

    def read(self) -> Iterator[Found]:
        """Everything found in the known files. Raises UnknownFile at once if there are none."""
        ignored: list[str] = []
        problems: list[LeftOut] = []
        known: list[tuple[ZipInfo, Format]] = []
        opened = sum(_is_opened(info) for info in self._members)
        look = min(BEGINNING_BYTES, MAX_LOOK_BYTES // max(opened, 1))
        general: list[tuple[ZipInfo, Format]] = []
        for info in self._members:
            try:
                format = self._recognise(info, look)
                (general if format.is_general else known).append((info, format))
            except UnknownFile:
                ignored.append(info.filename)
            except _OverBoundError as problem:
                problems.append(_left_out(info, f"{problem}."))
            except _BROKEN:
                problems.append(_left_out(info, "the file is damaged."))
        # Beside the file of a network with the saved posts are others, with links to anything.
        if all(format.name == PLAIN_LIST for _, format in known):
            known += general
        else:
            ignored += [info.filename for info, _ in general]
        if not known and any(name.startswith("xl/") for name in ignored):
            raise UnknownFile(
                "This file cannot be imported. It looks like an Excel workbook. Save it as CSV and "
                "import that instead."
            )
        if not known and not problems:
            raise UnknownFile(
                "This zip archive has no file that can be imported."
                + (f" It has {_listed(ignored)}." if ignored else " It is empty.")
            )
        return self._read_known(known, ignored, problems)

    def _read_known(
        self, known: list[tuple[ZipInfo, Format]], ignored: list[str], problems: list[LeftOut]
    ) -> Iterator[Found]:
        names = Counter(info.filename for info, _ in known)
        for name, count in names.items():
            if count > 1:
                sentence = f"The archive has {count} files named {shown(name)}. All are read."
                yield Notice(line=0, sentence=sentence)
        for info, format in known:
            yield Notice(line=0, sentence=f"{shown(info.filename)} is read as {format.name}.")
            yield from self._read_member(info, format)
        yield from problems
        if ignored:
            yield Notice(line=0, sentence=f"Not imported: {_listed(ignored)}.")

    def _recognise(self, info: ZipInfo, look: int) -> Format:
        if not _is_opened(info):
            raise UnknownFile
        if info.flag_bits & _ENCRYPTED:
            raise _OverBoundError("it is encrypted")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise _OverBoundError("it is packed with a method that is not supported")
        with self._zip.open(info) as packed:
            beginning = beginning_of(packed, look)
        if beginning.data.startswith(ZIP_START):
            raise _OverBoundError("an archive inside an archive is not opened")
        format = recognise(beginning)
        name = _name(info).lower()
        if name in format.other_files or (format.only_files and name not in format.only_files):
            raise UnknownFile
        return format

    def _read_member(self, info: ZipInfo, format: Format) -> Iterator[Found]:
        try:
            with self._zip.open(info) as packed:
                member = _Member(packed, info, self)
                for found in _read(format, member, _name(info), self._choices):
                    yield _named(found, info)
        except _OverBoundError as problem:
            yield _left_out(info, f"{problem}. The records before that were read.")
        except _BROKEN:
            yield _left_out(info, "the file is damaged. The records before that were read.")


class _Member:
    """A file in an archive. Counts what is read."""

    def __init__(self, packed: IO[bytes], info: ZipInfo, archive: _Archive) -> None:
        self._packed, self._info, self._archive = packed, info, archive
        self._read = 0

    def read(self, size: int) -> bytes:
        # One byte more than is left shows that there are more.
        data = self._packed.read(min(size, MAX_READ_BYTES - self._archive.read_bytes + 1))
        self._read += len(data)
        self._archive.read_bytes += len(data)
        if self._archive.read_bytes > MAX_READ_BYTES:
            raise _OverBoundError(
                f"the files of the archive unpack to more than {MAX_READ_BYTES >> 20} MiB"
            )
        if self._read > max(_RATIO_FROM_BYTES, self._info.compress_size * MAX_RATIO):
            raise _OverBoundError(f"it unpacks to more than {MAX_RATIO} times its size")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._read = self._packed.seek(offset, whence)
        return self._read


class _BoundedReads:
    """The file of an archive. Python reads its list of files at once, so one read is bounded."""

    def __init__(self, file: SeekableFile) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_BYTES:
            raise _OverBoundError("its list of files is too long")
        data = self._file.read(size if size >= 0 else MAX_DIRECTORY_BYTES + 1)
        if len(data) > MAX_DIRECTORY_BYTES:
            raise _OverBoundError("its list of files is too long")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.seek(0, SEEK_CUR)

    def seekable(self) -> bool:
        return True


def _name(info: ZipInfo) -> str:
    return info.filename.rpartition("/")[2]


def _is_opened(info: ZipInfo) -> bool:
    name = _name(info)
    return "." not in name or name.rpartition(".")[2].lower() in _ENDINGS


def _named(found: Found, info: ZipInfo) -> Found:
    if isinstance(found, FoundPost):
        return found
    return msgspec.structs.replace(found, sentence=f"{shown(info.filename)}: {found.sentence}")


def _left_out(info: ZipInfo, problem: str) -> LeftOut:
    sentence = f"{shown(info.filename)} cannot be read: {problem}"
    return LeftOut(line=0, reason=Reason.INVALID, sentence=sentence)


def _listed(names: list[str]) -> str:
    first = ", ".join(shown(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    if len(names) == 1:
        return f"1 other file, {first}"
    return f"{len(names):,} other files: {first}" + (f" and {more:,} more" if more > 0 else "")
