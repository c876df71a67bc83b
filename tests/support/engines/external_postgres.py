"""A database that the person who runs the tests has named: managed, behind a pooler, or Citus.

There is one database, so every test begins by emptying it, and tests run one after the other.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn, Self
from urllib.parse import urlsplit

import pytest

from tests.support.engines.postgres_binaries import installed_binaries
from tests.support.engines.psql import Psql
from tests.support.postgres import ThrowawayPostgres, client_environment

VARIABLE: Final = "BOWERBIRD_TEST_DATABASE_URL"
# Taken away: the servers that tests start refuse a variable that is no setting.
URL: Final = os.environ.pop(VARIABLE, "")
# Stays, so that the servers that tests start have it too.
ARE_STATEMENTS_NAMED: Final = os.environ.get("BOWERBIRD_POSTGRES_NAMED_STATEMENTS") != "off"
# Citus shows its shards with a number at the end.
_TABLES: Final = (
    "SELECT string_agg(format('%I', relname), ', ' ORDER BY relname) FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    " AND relname <> 'schema_migration' AND relname !~ '_[0-9]+$'"
    " AND pg_get_userbyid(relowner) = current_user"
)


class ExternalPostgres(ThrowawayPostgres):
    """Takes the calls for a server of our own, as far as one database allows."""

    def __init__(self) -> None:
        if "test" not in urlsplit(URL).path:
            raise ValueError(
                f"{VARIABLE} must name a database with 'test' in its name: the tests empty it."
            )
        self._url = URL
        self._fills: dict[str, Callable[[str], object]] = {}
        self._operator_of_tests = Psql(installed_binaries() / "psql", URL, client_environment())

    def __enter__(self) -> Self:
        return self

    def url(self, database: str = "postgres") -> str:  # noqa: ARG002 - There is one.
        return self._url

    def execute(self, statement: str, database: str = "postgres") -> str:  # noqa: ARG002
        return self._operator_of_tests.execute(statement)

    def create_template(
        self, name: str, build: Callable[[str], object], *, template: str = "template1"
    ) -> None:
        """The first one migrates and is kept; what fills a later one runs again for each test."""
        if template == "template1":
            build(self._url)
        self._fills[name] = build if template != "template1" else lambda _url: None

    def create_database(self, name: str, *, template: str = "template1") -> NoReturn:  # noqa: ARG002
        pytest.skip("needs a database of its own")

    @contextmanager
    def fresh_database(self, template: str = "template1") -> Iterator[str]:
        if template not in self._fills:
            pytest.skip("needs a database without tables")
        self._empty()
        self._fills[template](self._url)
        yield self._url

    def _empty(self) -> None:
        if tables := self.execute(_TABLES):
            self.execute(f"TRUNCATE {tables}")

    def __exit__(self, *_: object) -> None:
        self._operator_of_tests.close()

    def stop(self, *, keep: bool = False) -> NoReturn:  # noqa: ARG002
        _not_ours()

    def start(self) -> NoReturn:
        _not_ours()

    def crash(self) -> NoReturn:
        _not_ours()

    def pause(self) -> NoReturn:
        _not_ours()

    def resume(self) -> None:
        """Nothing was paused."""

    def kill_backends(self) -> NoReturn:
        _not_ours()


def _not_ours() -> NoReturn:
    pytest.skip("stops the server or its connections, which are not ours")
