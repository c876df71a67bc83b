"""Reads the rows of a CSV file of any of the usual dialects.

A row that cannot be read is reported, and reading continues with the line after the one where the
row starts: a quotation mark without its partner must not swallow the rest of the file.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from bowerbird.sources.parsing.text_lines import Line, SeekableFile, TextLines

_DELIMITERS: Final = ",;\t"
# People also write it inside of names, so it counts only in a line without the others.
_BAR: Final = "|"
# Excel begins a file with the delimiter of its rows: "sep=;".
_STATED: Final = re.compile(r'"?sep=([,;\t|])"?[ ,;\t|]*(?=[\r\n])', re.IGNORECASE)
MAX_ROW_CHARACTERS: Final = 1 << 20
_MAX_ROW_LINES: Final = 10_000
# Reading on after a broken row reads lines again. This bounds how much in all.
_MAX_REREAD_CHARACTERS: Final = 32 << 20
_NOT_CLOSED: Final = "A quotation mark in this row is not closed."


class Row(NamedTuple):
    line: int
    cells: list[str]
    # Why the row cannot be read, or "".
    problem: str = ""


class _RowTooLongError(Exception):
    pass


def sniff_delimiter(text: str) -> str:
    """The stated delimiter, or the one that occurs most in the first line, outside quotes."""
    if stated := _STATED.match(text):
        return stated[1]
    first_line = _first_line(text)
    outside = "".join(first_line.split('"')[::2])
    most = max(_DELIMITERS, key=outside.count)
    return most if most in outside or _BAR not in outside else _BAR


def split_line(text: str, delimiter: str) -> list[str]:
    """The cells of the first row of a text, or none if it cannot be read."""
    try:
        return next(csv.reader([_first_line(text)], delimiter=delimiter), [])
    except csv.Error:
        return []


def _first_line(text: str) -> str:
    stated = _STATED.match(text)
    return text[stated.end() if stated else 0 :].lstrip("\r\n").partition("\n")[0]


class CsvRows:
    """The rows of a file, the header among them. Empty lines are skipped."""

    def __init__(self, file: SeekableFile, delimiter: str) -> None:
        self._lines = TextLines(file)
        self._delimiter = delimiter
        self._waiting: deque[Line] = deque()
        self._row: list[Line] = []
        self._characters = 0
        self._reread = 0
        self._asked_past_end = False
        # The number of columns of the header, which is the first row.
        self._columns = 0

    @property
    def first_windows_line(self) -> int:
        return self._lines.first_windows_line

    def __iter__(self) -> Iterator[Row]:
        while row := self._next():
            if row.problem or any(map(str.strip, row.cells)):
                yield row

    def _next(self) -> Row | None:
        self._row, self._characters, self._asked_past_end = [], 0, False
        # One reader per row: after an error, its state is not defined.
        reader = csv.reader(self._row_lines(), delimiter=self._delimiter, strict=True)
        try:
            cells = next(reader)
        except StopIteration:
            return None
        except _RowTooLongError:
            return self._broken(f"The row is longer than {MAX_ROW_CHARACTERS >> 20} MiB.")
        except csv.Error:
            return self._checked(self._leniently())
        return self._checked(cells)

    def _leniently(self) -> list[str]:
        """The cells of a row of one line, with quotation marks in the middle of a cell.

        Not of several lines: there, the mark in the middle shows that a row before it is broken.
        """
        if len(self._row) > 1 or self._asked_past_end:
            return []
        return split_line(self._row[0].text, self._delimiter)

    def _checked(self, cells: list[str]) -> Row:
        """The row, if nothing speaks against it. No cells: its quotation marks are wrong."""
        while len(cells) > self._columns > 0 and not cells[-1]:
            cells.pop()
        if problem := self._problem(cells):
            return self._broken(problem)
        self._columns = self._columns or len(cells)
        return Row(self._row[0].number, cells + [""] * (self._columns - len(cells)))

    def _problem(self, cells: list[str]) -> str:
        last = self._row[-1].text
        columns = self._columns or len(cells)
        if any(line.is_cut for line in self._row):
            return "The line is too long."
        if not cells and self._characters > csv.field_size_limit():
            return f"A cell has more than {csv.field_size_limit():,} characters."
        # With more lines than one, the mark that ends a cell may belong to another row.
        is_mixed_up = len(self._row) > 1 and len(cells) != columns
        if self._asked_past_end or is_mixed_up or (not cells and last.strip()):
            return _NOT_CLOSED
        if len(cells) > columns:
            return f"The row has {len(cells)} cells, but the header has {columns}."
        if len(cells) < columns and last[-1:] not in "\r\n":
            return "The file ends in the middle of this row."
        return ""

    def _row_lines(self) -> Iterator[str]:
        while line := self._waiting.popleft() if self._waiting else self._lines.next():
            # A file may consist of empty lines, and a row for each would take ten times as long.
            if not self._row and not line.text.strip("\r\n"):
                continue
            if line.number == 1 and not self._row and _STATED.match(line.text):
                continue
            self._row.append(line)
            self._characters += len(line.text)
            if self._characters > MAX_ROW_CHARACTERS or len(self._row) > _MAX_ROW_LINES:
                raise _RowTooLongError
            yield line.text
        self._asked_past_end = bool(self._row)

    def _broken(self, problem: str) -> Row:
        """Reports the row, and continues with its second line."""
        first = self._row[0].number
        if len(self._row) > 1:
            self._reread += self._characters
            if self._reread <= _MAX_REREAD_CHARACTERS:
                self._waiting.extendleft(reversed(self._row[1:]))
            else:
                problem += f" Lines {first} to {self._row[-1].number} are skipped."
        return Row(first, [], problem)
