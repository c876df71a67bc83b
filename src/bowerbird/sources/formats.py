"""What a reader of files declares about itself: its name, which files it fits, how it reads."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from bowerbird.sources.found import Found
from bowerbird.sources.parsing.csv_rows import sniff_delimiter, split_line
from bowerbird.sources.parsing.json_walk import Outline, outline
from bowerbird.sources.parsing.text_lines import SeekableFile, decode

BEGINNING_BYTES: Final = 256 << 10
_END_OF_TIME: Final = 2**63 - 1
# A list of links in Markdown begins like one in JSON.
_MARKDOWN: Final = re.compile(r"\s*\[[^\[\]\"\n]{0,500}\]\(")
_NEW_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Choices(NamedTuple):
    """What the owner of a file asks for."""

    # Liked posts are not bookmarks, so they are imported only on request.
    with_likes: bool = False
    # The time of reading, in microseconds: a date of saving after it is not one. Readers have no
    # clock of their own.
    now: int = _END_OF_TIME
    # What the owner calls the file. It counts only if files of one shape differ by their names.
    name: str = ""


class Beginning(NamedTuple):
    """The first bytes of a file, read in the ways that recognition needs."""

    data: bytes
    text: str
    # The keys of the values at its beginning. Empty if the file is not JSON.
    json: Outline
    # The names in the first row, in lower case with spaces between words. Empty for JSON and HTML.
    columns: tuple[str, ...]
    delimiter: str
    # There may be more, so that the last line may not be complete.
    is_cut: bool

    def has_columns(self, *names: str) -> bool:
        return all(name in self.columns for name in names)


class Format(NamedTuple):
    # As people call it: "Dewey CSV".
    name: str
    fits: Callable[[Beginning], bool]
    read: Callable[[SeekableFile, Choices], Iterator[Found]]
    # Files of an archive that have the same shape, but not the same meaning.
    other_files: frozenset[str] = frozenset()
    # The only files of an archive that have this meaning, if many have the same shape; and those
    # of them that have liked posts, also if they come alone.
    only_files: frozenset[str] = frozenset()
    liked_files: frozenset[str] = frozenset()
    # Fits files of no program in particular. In an archive, the files of a program come first.
    is_general: bool = False
    # What the program calls the columns or fields by which its files are recognised.
    signature: frozenset[str] = frozenset()


def beginning_of(file: SeekableFile, size: int = BEGINNING_BYTES) -> Beginning:
    file.seek(0)
    data = b""
    # A file may give less than it was asked for.
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    text = decode(data)
    start = "" if _MARKDOWN.match(text) else text.lstrip()[:1]
    delimiter = sniff_delimiter(text)
    is_table = bool(text.strip()) and start not in ("{", "[", "<")
    return Beginning(
        data,
        text,
        outline(text) if start in ("{", "[") else Outline(),
        tuple(map(column_name, split_line(text, delimiter))) if is_table else (),
        delimiter,
        is_cut=len(data) == size,
    )


def column_name(text: str) -> str:
    """The name of a column or field without the differences between programs.

    "Tweet_URL" and "tweetUrl" are "tweet url".
    """
    words = _NEW_WORD.sub(" ", text[:200]).replace("_", " ").replace("-", " ")
    return " ".join(words.lower().split())[:100]
