"""SQL has the current form of the index as a number, because partial indexes need constants."""

import re
from pathlib import Path

import pytest

from bowerbird import storage
from bowerbird.search.words.tokens import INDEX_FORM

SQL = Path(storage.__file__).parent
OLDER_FORM = re.compile(r"word_form < (\d+)")


@pytest.mark.parametrize(
    "file", ["sqlite/word_counts.sql", "postgres/word_counts.sql", "sqlite/word_reads.sql"]
)
def test_posts_of_an_older_form_are_those_below_the_current_one(file: str) -> None:
    statements = (SQL / "sql" / file).read_text(encoding="utf-8")

    found = OLDER_FORM.findall(statements)

    assert found
    assert set(found) == {str(INDEX_FORM)}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_last_migration_of_the_index_of_older_posts_has_the_current_form(engine: str) -> None:
    migrations = sorted((SQL / "migrations" / engine).glob("*.sql"))
    created = [
        statement
        for migration in migrations
        for statement in migration.read_text(encoding="utf-8").split(";")
        if "INDEX bookmark_uncounted " in statement
    ]

    assert OLDER_FORM.findall(created[-1]) == [str(INDEX_FORM)]
