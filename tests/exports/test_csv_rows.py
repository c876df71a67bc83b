"""The shortcuts for usual cells and rows do not change a single byte of them."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from bowerbird.exports import csv_file

RISKY = "=+-@＝−\t\r\n;'\" 0019.,:/%€eEtTzZapmMjanTRUEfalse\u3000\u200b日😀"  # noqa: RUF001 - signs that begin formulas
TEXTS = st.text(st.sampled_from(RISKY), max_size=12) | st.sampled_from(
    (
        *(
            "",
            "'",
            "true",
            "FALSE",
            "May 1",
            "sept2",
            "zmay1",
            "zoo",
            "am5",
            "pm",
            "e5",
            "t5",
            "ta",
        ),
        *("1947000000000000001", "0012", "-5", "123456789012345", "1234567890123456", " 1" * 21),
        *("2026-01-01T00:00:00+00:00", "https://e.example/a;b", "x\n- one\n@two", "\t\n\t=1"),
        *("x" * 41, "\r\n", ";;;=", ';"=', "==============", "\u0661" * 16, "\xff"),
    )
)


def is_marked(cell: str) -> bool:
    """Whether the patterns mark a cell, without the shortcuts for usual cells."""
    is_number = cell[:1] in string.digits and (len(cell) <= 15 or not cell.strip().isdecimal())
    return bool(
        re.fullmatch("0+[0-9]+", cell) or (not (cell and is_number) and csv_file._is_risky(cell))  # noqa: SLF001 - the pattern itself
    )


@given(TEXTS)
def test_a_cell_is_the_same_as_when_it_meets_every_pattern(cell: str) -> None:
    is_value = (
        len(cell) <= csv_file.MAX_VALUE_CHARACTERS and csv_file._looks_like_a_value(cell)  # noqa: SLF001 - the pattern itself
    )

    assert csv_file.escape_cell(cell) == ("'" + cell if is_marked(cell) else cell)
    assert csv_file.text_cell(cell) == ("'" + cell if is_value or is_marked(cell) else cell)
