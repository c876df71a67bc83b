"""The rows of a CSV file, with every cell checked by itself: slow and easy to follow.

The export must write exactly these rows.
"""

import re
import string
from collections.abc import Sequence
from typing import Any, Final

from bowerbird.exports.csv_file import COLUMNS, Row

# The columns that hold text written by people.
_TEXTS: Final = frozenset(
    (
        *("author_username", "author_name", "tags", "text", "article_title", "article_text"),
        *("quoted_author", "quoted_text", "note", "highlights"),
    )
)
_IS_TEXT: Final = tuple(name in _TEXTS for name in COLUMNS)

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
_looks_like_a_value: Final = re.compile(
    r"(?=\D*\d)(?:[\d\s.,:/%()$€£¥₹₩₽¢+-]|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*+"
    r"|e(?=[+-]?\d)|[ap]\.?m\.?|t(?=\d)|z)++|true|false",
    re.IGNORECASE,
).fullmatch
# A new part of a cell, if a spreadsheet splits the file at semicolons or tabs: quotes may come
# before the sign then, and a line break begins a new row. It matches parts without a sign too, so
# that a long run of blanks is read once. NUL separates our cells.
_PART: Final = re.compile(rf"([;\t\r\n](?:(?!\0){_BLANK}|\")*+)('*+[{re.escape(_FORMULA_SIGNS)}])?")
_MAX_VALUE_CHARACTERS: Final = 40
_has_leading_zeros: Final = re.compile(r"0+[0-9]+").fullmatch
# Most cells begin with a letter, and testing for that is six times faster than the pattern.
_LETTERS: Final = frozenset(string.ascii_letters) | {""}
_DIGITS: Final = frozenset(string.digits)
_MAX_EXACT_DIGITS: Final = 15
_CELL_END: Final = "\0"


def reference_row(row: Row) -> bytes:
    return format_row(cells(row), _IS_TEXT).encode()


def format_row(cells: Sequence[str], are_texts: Sequence[bool] | None = None) -> str:
    """A row as in RFC 4180, with every cell in quotes."""
    safe = [cell if cell[:1] in _LETTERS else escape_cell(cell) for cell in cells]
    if are_texts is not None:
        for column, is_text in enumerate(are_texts):
            if (
                is_text
                and len(cells[column]) <= _MAX_VALUE_CHARACTERS
                and looks_like_a_value(cells[column])
            ):
                safe[column] = "'" + cells[column]
    row = _CELL_END.join(safe)
    if row.count(_CELL_END) != len(cells) - 1:
        return format_row([cell.replace(_CELL_END, "") for cell in cells], are_texts)
    row = _PART.sub(_marked_part, row)
    row = row.replace('"', '""').replace(_CELL_END, '","')
    return f'"{row}"\r\n'


def _marked_part(part: re.Match[str]) -> str:
    return part[0] if part[2] is None else f"{part[1]}'{part[2]}"


def looks_like_a_value(cell: str) -> bool:
    """Whether a spreadsheet would convert the text to a number or a date."""
    return _looks_like_a_value(cell) is not None


def escape_cell(cell: str) -> str:
    if _has_leading_zeros(cell):
        return "'" + cell
    if cell[:1] in _DIGITS and (len(cell) <= _MAX_EXACT_DIGITS or not cell.strip().isdecimal()):
        return cell
    return "'" + cell if _is_risky(cell) else cell


def cells(row: Row) -> Sequence[str]:
    details, meta = row.tweet_details, row.tweet_details.meta
    metrics = meta.non_real_time_engagement_metrics
    return (
        row.post_id,
        details.link,
        row.author_username,
        row.author_details.name,
        row.author_id,
        details.posted_at,
        row.bookmarked_at,
        row.imported_at,
        "true" if row.is_read else "false",
        "true" if row.is_archived else "false",
        ", ".join(row.tags) if row.tags else "",
        details.text,
        *_article(details.article),
        *_quoted(details.quoted_tweet),
        *_media(details.attachments),
        meta.tweet_conversation_id,
        meta.tweet_reply_to_tweet_id or "",
        "true" if meta.tweet_is_thread or meta.is_sub_tweet_of_thread else "false",
        str(metrics.favorite_count),
        str(metrics.retweet_count),
        str(metrics.reply_count),
        str(metrics.quote_count),
        str(metrics.bookmark_count),
        str(row.sort_index),
        row.gone_at or "",
        row.removed_at or "",
        row.note or "",
        "\n\n".join(map(_highlight, row.highlights)),
    )


def _highlight(passage: Any) -> str:
    return f"{passage.quote}\n({passage.comment})" if passage.comment else passage.quote


def _article(article: Any) -> tuple[str, str, str]:
    if article is None:
        return ("", "", "")
    text = article.plain_text or article.preview_text or ""
    return (article.title or "", text, article.url or "")


def _quoted(quoted: Any) -> tuple[str, str, str]:
    if quoted is None:
        return ("", "", "")
    return (quoted.author_username or "", quoted.text or "", quoted.link or "")


def _media(attachments: list[Any]) -> tuple[str, str]:
    # One link per line: an address may contain commas.
    types = [attachment.type or "" for attachment in attachments]
    links = [attachment.url for attachment in attachments if attachment.url]
    return ", ".join(types), "\n".join(links)
