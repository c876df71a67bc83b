"""Rows of CSV files: dialects, character sets, broken rows, bounds."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.sources.parsing.text_lines import (
    MAX_LINE_CHARACTERS,
    CsvRows,
    Row,
    sniff_delimiter,
    split_line,
)


def rows(text: str | bytes, delimiter: str = ",") -> list[Row]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(CsvRows(io.BytesIO(data), delimiter))


def cells(text: str | bytes, delimiter: str = ",") -> list[list[str]]:
    return [row.cells for row in rows(text, delimiter) if not row.problem]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_files_are_read_with_and_without_a_mark(encoding: str) -> None:
    assert cells("a,b\nä,😀\n".encode(encoding)) == [["a", "b"], ["ä", "😀"]]


def test_bytes_that_are_not_utf_8_are_windows_1252() -> None:
    table = CsvRows(io.BytesIO("a,b\nx,y\n“é”,€\n".encode("cp1252")), ",")

    assert [row.cells for row in table] == [["a", "b"], ["x", "y"], ["“é”", "€"]]
    assert table.first_windows_line == 3


def test_a_file_in_utf_8_with_one_broken_byte_keeps_its_other_characters() -> None:
    assert cells(b"a,b\n\xc3\xa4,\xe9\n") == [["a", "b"], ["ä", "é"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_one_of_the_header(delimiter: str) -> None:
    header = delimiter.join(["name", '"a,b;c\td,,;;\t\t"', "link"])

    assert sniff_delimiter(header + "\n,,,,,,,\n") == delimiter


@pytest.mark.parametrize("stated", ["sep=;", '"sep=;"', "SEP=;,,"])
def test_excel_may_state_the_delimiter_in_a_line_before_the_header(stated: str) -> None:
    text = f"{stated}\r\na,a,a;b\r\n1;2\r\n"

    assert sniff_delimiter(text) == ";"
    assert split_line(text, ";") == ["a,a,a", "b"]
    assert [row.cells for row in CsvRows(io.BytesIO(text.encode()), ";")] == [
        ["a,a,a", "b"],
        ["1", "2"],
    ]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_break_ends_a_row(line_break: str) -> None:
    found = rows(line_break.join(["a,b", "1,2", "", '3,"x\ny"']) + line_break)

    assert [(row.line, row.cells) for row in found] == [
        (1, ["a", "b"]),
        (2, ["1", "2"]),
        (4, ["3", "x\ny"]),
    ]


def test_characters_that_no_database_can_store_are_removed() -> None:
    assert cells(b"a,b\n1\x00,\x002\n") == [["a", "b"], ["1", "2"]]


def test_a_quotation_mark_without_its_partner_loses_only_its_own_row() -> None:
    found = rows('a,b\n1,"open\n2,x\n3,"y"\n4,z\n')

    assert [(row.line, row.cells) for row in found if not row.problem] == [
        (1, ["a", "b"]),
        (3, ["2", "x"]),
        (4, ["3", "y"]),
        (5, ["4", "z"]),
    ]
    assert [(row.line, row.problem) for row in found if row.problem] == [
        (2, "A quotation mark in this row is not closed.")
    ]


def test_quotation_marks_inside_a_cell_of_one_line_are_kept() -> None:
    assert cells('a,b\n1,"He said "hi" to me"\n2,x\n') == [
        ["a", "b"],
        ["1", 'He said hi" to me"'],
        ["2", "x"],
    ]


def test_a_row_with_too_many_cells_is_reported() -> None:
    assert rows("a,b\n1,2,3\n1,2,,\n")[1:] == [
        Row(2, [], "The row has 3 cells, but the header has 2."),
        Row(3, ["1", "2"]),
    ]


def test_a_short_row_is_filled_up_unless_the_file_ends_in_it() -> None:
    assert rows("a,b,c\n1\n2,3")[1:] == [
        Row(2, ["1", "", ""]),
        Row(3, [], "The file ends in the middle of this row."),
    ]


@pytest.mark.parametrize(
    "cell", ["x" * 200_000, '"' + "x" * 200_000 + '"', "x" * (MAX_LINE_CHARACTERS * 2 + 5)]
)
def test_a_huge_cell_loses_only_its_own_row(cell: str) -> None:
    found = rows(f"a,b\n1,{cell}\n2,x\n")

    assert [row.line for row in found if row.problem] == [2]
    assert [row.cells for row in found if not row.problem] == [["a", "b"], ["2", "x"]]


def test_an_endless_cell_loses_only_its_first_line() -> None:
    found = rows('a,b\n1,"' + ("x" * 100 + "\n") * 20_000)

    assert found[1].problem == "A cell has more than 131,072 characters."
    assert [row.line for row in found[1:]] == list(range(2, 20_002))


def test_many_open_quotation_marks_cost_linear_time() -> None:
    text = "a,b\n" + '1,"x\n"\n' * 100_000 + '1,"\n' * 100_001
    before = time.thread_time()

    found = rows(text)

    assert time.thread_time() - before < 20
    assert found[-1].problem


def test_the_process_wide_limit_of_python_is_not_changed() -> None:
    before = csv.field_size_limit()
    rows("a\n" + "x" * 300_000)

    assert csv.field_size_limit() == before


@given(
    st.lists(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
            min_size=3,
            max_size=3,
        ),
        min_size=1,
        max_size=8,
    )
)
def test_what_python_writes_is_read_back(table: list[list[str]]) -> None:
    output = io.StringIO()
    csv.writer(output).writerows([["a", "b", "c"], *table])

    assert cells(output.getvalue())[1:] == [row for row in table if any(map(str.strip, row))]
