"""Writing rows in bulk does not change a single byte of them."""

import re
import string
from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import posts
from bowerbird.exports import csv_file
from bowerbird.exports.csv_file import COLUMNS, Row, format_row

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
COUNTS = st.sampled_from((0, 7, -1, 10**15 - 1, 10**15, 2**63 - 1, -(2**63))) | st.integers(0, 99)
OPTIONAL = TEXTS | st.none()
ROWS = st.fixed_dictionaries(
    {
        "post_id": TEXTS,
        "author_id": TEXTS,
        "author_username": TEXTS,
        "author_details": st.fixed_dictionaries({"name": TEXTS}),
        "imported_at": st.just("2026-11-01T08:00:00.000000"),
        "bookmarked_at": st.just("2026-10-31T12:00:00.000000+00:00"),
        "sort_index": COUNTS,
        "tags": st.none() | st.lists(TEXTS, max_size=2),
        "is_read": st.booleans(),
        "is_archived": st.booleans(),
        "gone_at": OPTIONAL,
        "removed_at": OPTIONAL,
        "note": OPTIONAL,
        "highlights": st.lists(
            st.fixed_dictionaries({"quote": TEXTS}, optional={"comment": TEXTS}), max_size=2
        ),
        "tweet_details": st.fixed_dictionaries(
            {
                "text": TEXTS,
                "link": TEXTS,
                "posted_at": TEXTS,
                "attachments": st.lists(
                    st.fixed_dictionaries({}, optional={"type": OPTIONAL, "url": OPTIONAL}),
                    max_size=2,
                ),
                "article": st.none()
                | st.dictionaries(
                    st.sampled_from(("title", "plain_text", "preview_text", "url")), OPTIONAL
                ),
                "quoted_tweet": st.none()
                | st.dictionaries(st.sampled_from(("author_username", "text", "link")), OPTIONAL),
                "meta": st.fixed_dictionaries(
                    {
                        "tweet_conversation_id": TEXTS,
                        "tweet_reply_to_tweet_id": OPTIONAL,
                        "tweet_is_thread": st.booleans(),
                        "is_sub_tweet_of_thread": st.booleans(),
                        "non_real_time_engagement_metrics": st.fixed_dictionaries(
                            {
                                f"{name}_count": COUNTS
                                for name in ("favorite", "retweet", "reply", "quote", "bookmark")
                            }
                        ),
                    }
                ),
            }
        ),
    }
)


# The columns with text that people wrote.
TEXT_COLUMNS = {
    *("author_username", "author_name", "tags", "text", "article_title", "article_text"),
    *("quoted_author", "quoted_text", "note", "highlights"),
}


def reference_row(row: Row) -> bytes:
    """A row without the shortcuts for usual cells: every cell meets every pattern."""
    marked = [_marked(cell, name) for cell, name in zip(cells(row), COLUMNS, strict=True)]
    joined = csv_file._with_marked_parts("\0".join(marked))  # noqa: SLF001 - as above
    quoted = joined.replace('"', '""').replace("\0", '","')
    return f'"{quoted}"\r\n'.encode()


def _marked(cell: str, column: str) -> str:
    is_number = cell[:1] in string.digits and (len(cell) <= 15 or not cell.strip().isdecimal())
    is_marked = (
        (
            column in TEXT_COLUMNS
            and len(cell) <= csv_file.MAX_VALUE_CHARACTERS
            and csv_file._looks_like_a_value(cell)  # noqa: SLF001 - the pattern itself
        )
        or re.fullmatch("0+[0-9]+", cell)
        or (not (cell and is_number) and csv_file._is_risky(cell))  # noqa: SLF001 - the pattern itself
    )
    return "'" + cell if is_marked else cell


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


@settings(max_examples=80)
@given(st.lists(ROWS, min_size=1, max_size=3))
def test_rows_are_the_same_as_when_every_cell_is_checked(values: list[dict[str, Any]]) -> None:
    rows = [msgspec.convert(each, Row) for each in values]

    assert b"".join(map(format_row, rows)) == b"".join(map(reference_row, rows))


def test_rows_of_usual_posts_are_the_same_as_when_every_cell_is_checked() -> None:
    rows = [msgspec.json.decode(post, type=Row) for post in posts.batch(0, 0, 500)]

    assert b"".join(map(format_row, rows)) == b"".join(map(reference_row, rows))
