"""Many rows in few statements."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from bowerbird.storage.sqlite import writer

INSERT = """INSERT INTO post (number, text)
VALUES (:first + :number, :text)"""
PUT = INSERT + " ON CONFLICT (number) DO UPDATE SET text = excluded.text"


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE post (number INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    yield connection
    connection.close()


def rows(count: int, text: str = "") -> list[dict[str, object]]:
    return [{"first": 10, "text": f"{text}{n}", "number": n, "other": b""} for n in range(count)]


def stored(connection: apsw.Connection) -> list[Any]:
    return connection.execute("SELECT number, text FROM post ORDER BY number").fetchall()


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 100, 230])
def test_every_row_is_inserted(connection: apsw.Connection, count: int) -> None:
    writer.run_in_blocks(connection, INSERT, rows(count))

    assert stored(connection) == [(10 + n, str(n)) for n in range(count)]


def test_rows_replace_stored_ones_and_earlier_ones_in_order(connection: apsw.Connection) -> None:
    writer.run_in_blocks(connection, INSERT, rows(60))
    twice = [*rows(60, "first "), *rows(60, "second ")]

    writer.run_in_blocks(connection, PUT, twice)

    assert stored(connection) == [(10 + n, f"second {n}") for n in range(60)]


def test_a_missing_value_is_an_error(connection: apsw.Connection) -> None:
    with pytest.raises(KeyError):
        writer.run_in_blocks(connection, INSERT, [{"first": 1, "number": n} for n in range(60)])


def test_values_of_every_type_are_stored_as_they_are(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE value (number, value)")
    values = [None, b"", b"\x00a", True, -(2**63), 0.5, "", "\U0001f600 'quoted' :text ?", "a\n"]
    given = [{"number": n, "value": values[n % len(values)]} for n in range(100)]

    writer.run_in_blocks(connection, "INSERT INTO value VALUES (:number, :value)", given)

    stored = connection.execute("SELECT value FROM value ORDER BY number").fetchall()
    assert [row[0] for row in stored] == [one["value"] for one in given]
