"""Statements have names in traces, also those whose placeholders are filled."""

from bowerbird.telemetry.statements import UNKNOWN, StatementNames


def names() -> StatementNames:
    statements = {
        "one": "SELECT b.number FROM bookmark AS b WHERE b.post_id = :post_id",
        "page": "SELECT b.number FROM bookmark AS b WHERE {filters} LIMIT :limit",
        "numbers": "SELECT b.number FROM bookmark AS b WHERE {filters}",
        "joined": "{content} || x",
    }
    return StatementNames({"bookmarks": statements})


def test_a_statement_has_the_name_of_its_resource_and_its_own() -> None:
    one = "SELECT b.number FROM bookmark AS b WHERE b.post_id = :post_id"

    assert names().of(one) == "bookmarks.one"


def test_the_name_of_a_filled_statement_is_the_one_that_fits_best() -> None:
    filled = "SELECT b.number FROM bookmark AS b WHERE b.is_read AND b.author = :author"

    assert names().of(filled) == "bookmarks.numbers"
    assert names().of(f"{filled} LIMIT :limit") == "bookmarks.page"


def test_other_statements_have_no_name() -> None:
    assert names().of("SELECT 'a word of somebody'") == UNKNOWN
    assert names().of("content || x") == UNKNOWN
