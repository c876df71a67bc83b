"""Reads a file that somebody owns: finds out what it is, and returns the posts in it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from bowerbird.sources import archives
from bowerbird.sources.formats import Choices, beginning_of
from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.recognition import ZIP_START, recognise

# A record of two characters that cannot be read takes as long as one of a hundred that can.
MAX_UNREADABLE: Final = 100_000


class Reading(NamedTuple):
    # What the file is, as people call it.
    name: str
    found: Iterator[Found]


def read(file: SeekableFile, choices: Choices = Choices()) -> Reading:  # noqa: B008 - immutable
    """Raises UnknownFile before anything is read if no reader fits."""
    beginning = beginning_of(file)
    if beginning.data.startswith(ZIP_START):
        return Reading("zip archive", _bounded(archives.read(file, choices)))
    format = recognise(beginning)
    return Reading(format.name, _bounded(format.read(file, choices)))


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
