"""A full-text table in memory with the settings of the library's own table."""

from collections.abc import Iterator

import apsw
import pytest


@pytest.fixture(scope="session")
def fts5() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute(
        """CREATE VIRTUAL TABLE post USING fts5(tokens, tokenize="ascii tokenchars '#@_'");
           CREATE VIRTUAL TABLE token_position USING fts5vocab(post, instance);"""
    )
    yield connection
    connection.close()
