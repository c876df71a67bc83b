"""Reads a file that somebody owns: finds out what it is, and returns the posts in it."""

from collections.abc import Iterator
from typing import NamedTuple

from bowerbird.sources import archives
from bowerbird.sources.formats import Choices, beginning_of
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.recognition import ZIP_START, recognise


class Reading(NamedTuple):
    # What the file is, as people call it.
    name: str
    found: Iterator[Found]


def read(file: SeekableFile, choices: Choices = Choices()) -> Reading:  # noqa: B008 - immutable
    """Raises UnknownFile before anything is read if no reader fits."""
    beginning = beginning_of(file)
    if beginning.data.startswith(ZIP_START):
        return Reading("zip archive", archives.read(file, choices))
    format = recognise(beginning)
    return Reading(format.name, format.read(file, choices))
