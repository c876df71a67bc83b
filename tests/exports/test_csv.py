"""A spreadsheet opens the CSV file without computing, rounding or losing anything."""

import csv
import io
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.exports.csv_file import COLUMNS, escape_cell, finished, text_cell
from tests.exports.files import bookmark, export

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
RISKY_CHARACTERS = ";\"=+-@＝＋－＠﹢−\t\r\n' \u3000\u200b\ufeff0123456789"  # noqa: RUF001 - signs that begin formulas


VALUE_CHARACTERS = "0123456789.,:/%$€ eE+-apmM'tzTZ=\""


def rows(path: Path) -> list[dict[str, str]]:
    text = path.read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫−"  # noqa: RUF001 - signs that begin formulas
BLANKS = r"[\s\x01-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\"]"
MARKED_PART = re.compile(rf"([;\t\r\n]{BLANKS}*)'('*[{re.escape(SIGNS)}])")


def unmarked(cell: str) -> str:
    """Restores the value, as docs/export-formats.md tells readers to do."""
    return MARKED_PART.sub(r"\1\2", cell.removeprefix("'"))


def format_row(cells: Sequence[str], check: Callable[[str], str] = escape_cell) -> str:
    return finished([check(cell) for cell in cells]).decode()


def only_row(folder: Path, **fields: Any) -> dict[str, str]:
    (row,) = rows(export("csv", folder, [bookmark(**fields)]).path)
    return row


@given(st.lists(TEXTS | st.text(RISKY_CHARACTERS) | st.text(VALUE_CHARACTERS), min_size=1))
def test_every_cell_can_be_restored_exactly(cells: list[str]) -> None:
    for check in (escape_cell, text_cell):
        read = list(csv.reader(io.StringIO(format_row(cells, check), newline="")))
        assert [[unmarked(cell) for cell in row] for row in read] == [cells]


@given(st.text(" \t\u3000\u200b\ufeff\xa0\x1f"), st.sampled_from("=+-@＝＋－＠"), TEXTS)  # noqa: RUF001 - signs that begin formulas
def test_no_cell_begins_a_formula(blanks: str, sign: str, rest: str) -> None:
    assert escape_cell(blanks + sign + rest)[0] == "'"


FORMULAS = (
    "=cmd|'/c calc'!A1",
    '=HYPERLINK("https://evil.example","x")',
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u200b=1",
    "＝1＋1",  # noqa: RUF001 - wide signs are the point
    "''=1",
)


def test_a_formula_in_a_post_is_marked_as_text(tmp_path: Path) -> None:
    posts = [bookmark(text=formula, name=formula, tags=[formula]) for formula in FORMULAS]

    found = rows(export("csv", tmp_path, posts).path)

    for column in ("text", "author_name", "tags"):
        assert {row[column][0] for row in found} == {"'"}
        assert [unmarked(row[column]) for row in found] == list(FORMULAS)


SPLITTING = ("hello;{}", "hello\t{}", "a; \u200b{}", ';"{}', ';""{}', "x\n{}", "y\r\n{}", ";'{};{}")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_no_part_begins_a_formula_if_a_spreadsheet_splits_at_another_character(
    tmp_path: Path, delimiter: str
) -> None:
    texts = [text.format(*(formula,) * 2) for text in SPLITTING for formula in FORMULAS]
    posts = [bookmark(text=text, name=text, tags=[text], article={"title": text}) for text in texts]

    path = export("csv", tmp_path, posts).path

    text = path.read_bytes().decode("utf-8-sig")
    parts = [
        part
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        for part in row
    ]
    assert len(parts) > len(texts)
    blanks = re.compile(f"{BLANKS}*")
    assert [part for part in parts if blanks.sub("", part, count=1)[:1] in set(SIGNS)] == []
    assert [unmarked(row["text"]) for row in rows(path)] == texts


def test_a_long_run_of_blanks_is_written_quickly() -> None:
    cells = ["x" + "\n" * 500_000, ";" * 500_000, "x;" + "'" * 500_000]
    started = time.thread_time()

    format_row(cells)

    assert time.thread_time() - started < 5


def test_harmless_cells_stay_unchanged(tmp_path: Path) -> None:
    for harmless in ("tis", "2026-01-01", "a=b", "123456789012345", "日本", "😀", ""):
        assert escape_cell(harmless) == harmless
    texts = ["7 birds", "may", "at 12:30", "1 of 2", "v1.2.3", "e", "x" * 41, "marmarmar" * 4 + "!"]
    found = rows(export("csv", tmp_path, [bookmark(text=text) for text in texts]).path)
    assert [row["text"] for row in found] == texts


LIKE_VALUES = (
    *("007", "1e10", "1/2", "3-4", "50%", "12:30", "$5", "00123456789012", "5", "1.234,50 €"),
    *("2026-01-01", "(5)", "May 1", "SEPT2", "1 jan 2020", "9 PM", ".5", "true", " 7"),
)


def test_a_text_that_looks_like_a_number_or_date_is_marked_as_text(tmp_path: Path) -> None:
    posts = [
        bookmark(
            text=value,
            author=value,
            name=value,
            tags=[value],
            article={"title": value, "plain_text": value},
            quoted={"author_username": value, "text": value},
            note=value,
            highlights=[{"id": "a", "quote": value}],
        )
        for value in LIKE_VALUES
    ]

    found = rows(export("csv", tmp_path, posts).path)

    for column in (
        *("text", "author_username", "author_name", "tags", "article_title", "article_text"),
        *("quoted_author", "quoted_text", "note", "highlights"),
    ):
        assert [row[column] for row in found] == [f"'{value}" for value in LIKE_VALUES], column


def test_counts_stay_numbers_and_leading_zeros_are_kept_in_every_column(tmp_path: Path) -> None:
    row = only_row(
        tmp_path, metrics={"favorite_count": 5}, meta={"tweet_conversation_id": "00123456789012"}
    )

    assert (row["favorite_count"], row["quote_count"]) == ("5", "0")
    assert row["conversation_id"] == "'00123456789012"
    assert row["posted_at"] == "2026-01-01T00:00:00+00:00"


def test_long_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    row = only_row(
        tmp_path, post_id="1947000000000000001", sort_index=2**62, text="1234567890123456"
    )

    assert row["post_id"] == "'1947000000000000001"
    assert row["sort_index"] == f"'{2**62}"
    assert row["text"] == "'1234567890123456"


def test_a_row_contains_all_fields_of_a_post(tmp_path: Path) -> None:
    row = only_row(
        tmp_path,
        text='He said "no",\nand left.',
        author="ada",
        name="Ada",
        tags=["Design", "Later"],
        is_read=True,
        article={"title": "T", "plain_text": "long", "url": "https://e.example/a"},
        quoted={"author_username": "bob", "text": "quoted", "link": "https://x.com/bob/status/1"},
        attachments=[
            {"type": "image", "url": "https://e.example/1,2.jpg"},
            {"type": "poll", "choices": ["a"]},
            {"type": "video", "url": "https://e.example/2.mp4"},
        ],
        meta={"tweet_conversation_id": "77", "tweet_is_thread": True},
        metrics={"favorite_count": 5, "retweet_count": 4, "reply_count": 3},
    )

    expected = {
        "text": 'He said "no",\nand left.',
        "author_username": "ada",
        "author_name": "Ada",
        "posted_at": "2026-01-01T00:00:00+00:00",
        "bookmarked_at": "2026-10-31T12:00:00.000000+00:00",
        "imported_at": "2026-11-01T08:00:00.000000",
        "tags": "Design, Later",
        "is_read": "true",
        "is_archived": "false",
        "article_title": "T",
        "article_text": "long",
        "article_link": "https://e.example/a",
        "quoted_author": "bob",
        "quoted_text": "quoted",
        "quoted_link": "https://x.com/bob/status/1",
        "media_types": "image, poll, video",
        "media_links": "https://e.example/1,2.jpg\nhttps://e.example/2.mp4",
        "conversation_id": "77",
        "is_thread": "true",
        "favorite_count": "5",
        "retweet_count": "4",
        "reply_count": "3",
        "quote_count": "0",
    }
    assert {name: row[name] for name in expected} == expected


def test_articles_quotes_and_attachments_may_have_no_fields(tmp_path: Path) -> None:
    row = only_row(tmp_path, article={}, quoted={"text": None}, attachments=[{}])

    assert row["article_title"] == row["quoted_text"] == row["media_links"] == ""


def test_a_null_character_does_not_split_a_cell(tmp_path: Path) -> None:
    posts = [bookmark(text="first"), bookmark(text=r"a\0b\u0000" + "\0c\0\0", name="\0=1")]

    first, second = rows(export("csv", tmp_path, posts).path)

    assert (first["text"], first["highlights"]) == ("first", "")
    assert (second["text"], second["author_name"]) == (r"a\0b\u0000" + "c", "'=1")


def test_the_file_has_a_byte_order_mark_a_header_and_crlf_line_ends(tmp_path: Path) -> None:
    written = export("csv", tmp_path, [bookmark(text="a\nb"), bookmark()])
    content = written.path.read_bytes()

    assert content.startswith(b'\xef\xbb\xbf"post_id","link",')
    assert content.count(b"\r\n") == 3
    assert content.endswith(b"\r\n")
    assert (written.media_type, written.suffix) == ("text/csv; charset=utf-8", ".csv")


def test_an_export_without_posts_has_only_the_header(tmp_path: Path) -> None:
    content = export("csv", tmp_path, []).path.read_bytes().decode("utf-8-sig")

    assert content == format_row(COLUMNS)


def test_the_state_at_the_source_and_the_owners_words_are_the_last_columns(tmp_path: Path) -> None:
    passages = [{"id": "a", "quote": "one"}, {"id": "b", "quote": "two", "comment": "=2"}]
    row = only_row(tmp_path, gone_at="2026-07-01T00:00:00+00:00", note="=1+1", highlights=passages)

    assert COLUMNS[-4:] == ("gone_at", "removed_at", "note", "highlights")
    assert row["highlights"] == "one\n\ntwo\n(=2)"
    assert (row["gone_at"], row["removed_at"]) == ("2026-07-01T00:00:00+00:00", "")
    assert row["note"] == "'=1+1"
