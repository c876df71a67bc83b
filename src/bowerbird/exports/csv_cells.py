"""Makes the cells of a CSV file safe to open in a spreadsheet.

A leading apostrophe marks a cell as text; a program removes it to get the exact value. We mark
every cell that a spreadsheet would compute or round, and texts that it would read as a number, a
date, a time, a percentage or a price. Counts and the dates that the service writes stay unmarked.

Where commas separate decimals, a spreadsheet splits the file at semicolons, and some split it at
tabs. The quotes do not protect a cell then, so the parts of a text are marked in the same way.
"""

import re
import string
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Final

# Separates the cells of a row until its quotes are doubled. No cell may contain it.
_CELL_END: Final = "\0"
_BETWEEN: Final = '","'

# These signs begin a formula. Some spreadsheets accept their wide and small forms too, and skip
# blanks before them. Numbers of 16 or more digits would be rounded. A cell that begins with an
# apostrophe gets a second one, so that removing one always restores the value.
_FORMULA_SIGNS: Final = "=+-@＝＋－＠﹦﹢﹣﹫−"  # noqa: RUF001 - looking alike is the point
_BLANK: Final = r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
_is_risky: Final = re.compile(
    rf"'|[\t\r\n]|{_BLANK}*[{re.escape(_FORMULA_SIGNS)}]|{_BLANK}*\d{{16,}}{_BLANK}*\Z"
).match
# Texts that a spreadsheet reads as a number, a date, a time, a percentage or a price: "007",
# "1e10", "1/2", "3-4", "50%", "12:30", "$5", "May 1". It matches a few others, which is harmless.
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_looks_like_a_value: Final = re.compile(
    rf"(?=\D*\d)(?:[\d\s.,:/%()$€£¥₹₩₽¢+-]|(?:{_MONTHS})[a-z]*+"
    r"|e(?=[+-]?\d)|[ap]\.?m\.?|t(?=\d)|z)++|true|false",
    re.IGNORECASE,
).fullmatch
MAX_VALUE_CHARACTERS: Final = 40
_has_leading_zeros: Final = re.compile(r"0+[0-9]+").fullmatch
_DIGITS: Final = frozenset(string.digits)
MAX_EXACT_DIGITS: Final = 15

# Two letters with which a number or a date can begin. "e" and "t" are not enough for that: a digit
# must follow.
_VALUE_STARTS: Final = {start[:2] for start in (*_MONTHS.split("|"), "am", "pm", "true", "false")}
SAFE_STARTS: Final = frozenset(
    start
    for start in ("", *map("".join, product(string.ascii_letters, repeat=2)))
    if start.lower() not in _VALUE_STARTS and start[:1] not in ("z", "Z")
)
"""The first two characters of cells that need no mark, whatever follows.

Most cells begin with two letters, and looking these up is ten times faster than the patterns.
"""

# The beginning of a part, if a spreadsheet splits the file at semicolons or tabs: quotes may come
# before the sign then, and a line break begins a new row. They match parts without a sign too, so
# that a long run of blanks is read once. One pattern per separator: a search for one character is
# faster than a search for any of four.
_PARTS: Final = {
    separator: re.compile(
        rf"{separator}(?:(?!{_CELL_END}){_BLANK}|\")*+('*+[{re.escape(_FORMULA_SIGNS)}])?"
    )
    for separator in ";\t\r\n"
}
# Most parts begin with a word, and finding that out is faster than the patterns above.
_is_unusual_line: Final = re.compile(r"\n(?! *+[\w\n])").search
_is_unusual_clause: Final = re.compile(r";(?! *+[\w;])").search


class NulInCell(ValueError):  # noqa: N818 - it says what is wrong
    """A cell contains the character with which we separate cells."""


def text_cell(cell: str) -> str:
    """Marks a text that people wrote also if it looks like a number or a date."""
    if len(cell) <= MAX_VALUE_CHARACTERS and _looks_like_a_value(cell):
        return "'" + cell
    return escape_cell(cell)


def escape_cell(cell: str) -> str:
    if cell[:2] in SAFE_STARTS:
        return cell
    if _has_leading_zeros(cell):
        return "'" + cell
    if cell[:1] in _DIGITS and (len(cell) <= MAX_EXACT_DIGITS or not cell.strip().isdecimal()):
        return cell
    return "'" + cell if _is_risky(cell) else cell


def finished(cells: Sequence[str]) -> bytes:
    """A row as in RFC 4180, with every cell in quotes. Raises NulInCell.

    A search for one character is so fast that most rows are joined twice: once to look for
    characters that need work, and once with the separator.
    """
    texts = "".join(cells)
    if '"' in texts or _CELL_END in texts:
        return _with_doubled_quotes(cells, texts)
    row = _BETWEEN.join(cells)
    if (
        ("\n" in texts and _is_unusual_line(row))
        or (";" in texts and _is_unusual_clause(row))
        or "\t" in texts
        or "\r" in texts
    ):
        row = _with_marked_parts(row)
    return f'"{row}"\r\n'.encode()


def _with_doubled_quotes(cells: Sequence[str], texts: str) -> bytes:
    if _CELL_END in texts:
        raise NulInCell
    row = _with_marked_parts(_CELL_END.join(cells))
    row = row.replace('"', '""').replace(_CELL_END, _BETWEEN)
    return f'"{row}"\r\n'.encode()


def _with_marked_parts(row: str) -> str:
    # A set, because the same sign may follow a tab and a line break. -1: a part without a sign.
    places = {
        part.start(1)
        for separator, pattern in _PARTS.items()
        if separator in row
        for part in pattern.finditer(row)
    } - {-1}
    if not places:
        return row
    edges = [0, *sorted(places), len(row)]
    return "'".join([row[start:end] for start, end in pairwise(edges)])
