"""The named statements: the same on both databases, limited to an account, and portable."""

import re
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from bowerbird import storage
from bowerbird.search.words.tokens import COUNTED_FORM, INDEX_FORM
from bowerbird.storage import migrations, queries
from tests.storage.test_routing import SWEEPS

FOLDER = Path(str(resources.files("bowerbird.storage"))) / "sql"
DIALECTS = ("sqlite", "postgres")
# Faster ways to find keyword hits that only SQLite needs.
SQLITE_ONLY = {"word_reads", "word_segments", "list_reads"}
NOT_A_LIBRARY_TABLE = {
    *("person", "secret", "schema_migration", "json_each"),
    # Found by a token, by a name or by an account elsewhere, before the account is known.
    *("one_time_link", "spent_attempt", "provider_identity", "share"),
    # Hosts are asked for all accounts together.
    "host_turn",
}
# Statements for operators and sweeps, which concern all accounts or rows without an account.
ACROSS_ACCOUNTS = {name for _, name in SWEEPS} | {
    # A part of a sweep, a list of the operator, the version of SQLite.
    *("expired_condition", "starting_with", "engine"),
    # How many posts all accounts have.
    *("posts_of_all", "totals", "room_used"),
    # They merge segments of the whole index, and read no posts.
    *("start_index_merge", "continue_index_merge", "merged_from", "set_merged_from", "merge"),
    *("pause_index_merge", "merge_index", "resume_index_merge"),
}
FILES = sorted(FOLDER.rglob("*.sql"))
STATEMENTS = {
    (str(file.relative_to(FOLDER).with_suffix("")), name): sql
    for file in FILES
    for name, sql in queries.parse(file.read_text(encoding="utf-8")).items()
}
NOT_PORTABLE = {
    r"::": "write CAST(x AS t)",
    r"\bILIKE\b": "fold the text instead",
    r"\bNOW\s*\(|CURRENT_TIME": "pass the time",
    r"IS NULL OR": "compose the filter",
    # OFFSET may find the last row of a page, but must not skip earlier pages.
    r"\bOFFSET\b(?! :limit - 1)": "page by keys",
}


def names(dialect: str) -> dict[str, set[str]]:
    return {
        file.name.partition(".")[0]: set(queries.parse(file.read_text(encoding="utf-8")))
        for file in FOLDER.rglob(f"*.{dialect}.sql")
    }


def test_both_databases_have_the_same_names() -> None:
    in_sqlite = {stem: found for stem, found in names("sqlite").items() if stem not in SQLITE_ONLY}

    assert in_sqlite == names("postgres")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_name_is_both_in_the_shared_file_and_in_that_of_a_dialect(dialect: str) -> None:
    shared = {
        file.stem: set(queries.parse(file.read_text(encoding="utf-8")))
        for file in FILES
        if file.name.count(".") == 1
    }

    doubled = {stem: found & shared.get(stem, set()) for stem, found in names(dialect).items()}

    assert not any(doubled.values()), doubled


def test_no_name_is_twice_in_a_file() -> None:
    doubled = {}
    for file in FILES:
        found = re.findall(r"^-- name: (\w+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        if again := [name for name, count in Counter(found).items() if count > 1]:
            doubled[str(file.relative_to(FOLDER))] = again

    assert doubled == {}


def test_every_statement_is_limited_to_an_account() -> None:
    assert len(STATEMENTS) > 200
    unbound = [
        (file, name)
        for (file, name), sql in STATEMENTS.items()
        if name not in ACROSS_ACCOUNTS
        and set(re.findall(r"\b(?:FROM|JOIN|INTO|(?<!DO )UPDATE)\s+(\w+)", sql))
        - NOT_A_LIBRARY_TABLE
        and not re.search(r":account_id\b|:place\b", sql)
    ]

    assert unbound == []


def test_every_statement_is_portable() -> None:
    offenders = {
        (file, name): advice
        for (file, name), sql in STATEMENTS.items()
        for pattern, advice in NOT_PORTABLE.items()
        if re.search(pattern, sql, re.IGNORECASE)
    }

    assert offenders == {}


def test_every_listed_exception_exists() -> None:
    known = {name for file in FILES for name in queries.parse(file.read_text(encoding="utf-8"))}

    assert known >= ACROSS_ACCOUNTS


def test_parameters_are_numbered_in_the_order_of_their_first_use() -> None:
    sql = "SELECT :b, :a, :b, CAST(:a AS text), 'x' FROM t WHERE c = :long_name"

    text, order = queries.numbered(sql)

    assert text == "SELECT $1, $2, $1, CAST($2 AS text), 'x' FROM t WHERE c = $3"
    assert order == ("b", "a", "long_name")


@pytest.mark.parametrize(
    ("sqlite", "postgres"),
    [
        (
            "b.number IN (SELECT value FROM json_each(:numbers))",
            "b.number = ANY(CAST(:numbers AS bigint[]))",
        ),
        (
            "JOIN content AS c ON c.place = :place + b.number",
            "JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number",
        ),
        ("FROM bookmark AS b INDEXED BY bookmark_by_post", "FROM bookmark AS b"),
        (
            "CROSS JOIN label AS l ON l.account_id = :account_id",
            "JOIN label AS l ON l.account_id = :account_id",
        ),
        ("CAST(:body AS BLOB)", "CAST(:body AS bytea)"),
    ],
)
def test_a_shared_statement_has_the_words_of_each_database(sqlite: str, postgres: str) -> None:
    shared = sqlite if "INDEXED BY" in sqlite or "CROSS JOIN" in sqlite else postgres

    assert queries.adapted(shared, "sqlite") == sqlite
    assert queries.adapted(shared, "postgres") == postgres


def test_comments_are_removed_from_a_statement() -> None:
    parsed = queries.parse("-- name: one\n-- why\nSELECT 1\n\n-- name: two\nSELECT 2\n")

    assert parsed == {"one": "SELECT 1", "two": "SELECT 2"}


SQL = Path(storage.__file__).parent
OLDER_FORM = re.compile(r"word_form < (\d+)")


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("word_counts.sql", INDEX_FORM),
        ("word_counts.sqlite.sql", INDEX_FORM),
        ("word_counts.postgres.sql", INDEX_FORM),
        ("word_reads.sqlite.sql", COUNTED_FORM),
    ],
)
def test_posts_of_an_older_form_are_those_below_the_current_one(file: str, form: int) -> None:
    statements = (FOLDER / "words" / file).read_text(encoding="utf-8")

    found = OLDER_FORM.findall(statements)

    assert found
    assert set(found) == {str(form)}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_last_migration_of_the_index_of_older_posts_has_the_current_form(engine: str) -> None:
    created = [
        statement
        for migration in migrations.available(engine)
        for statement in migration.sql.split(";")
        if "CREATE INDEX" in statement and "WHERE word_form <" in statement
    ]

    assert OLDER_FORM.findall(created[-1]) == [str(INDEX_FORM)]
