"""`pytest --statements` fails if a statement of storage/sql ran on one database only, or on none.

Most tests run on SQLite alone. A statement that PostgreSQL refuses would then be noticed by
nobody, so `make test` asks for this. Every statement gets a comment with its name, because many
are put together from several; what the databases execute is searched for these comments.
Only the test processes themselves are watched, not the servers that they start.
"""

import re
from typing import Any, Final

import apsw
import pytest

from bowerbird.storage import queries

_NAME_IN_COMMENT: Final = re.compile(r"/\* ran (\S+) \*/")
_DIALECTS: Final = ("sqlite", "postgres")
# Not the status of failed tests: the Makefile runs those again.
_NOT_RUN: Final = 9


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--statements",
        action="store_true",
        help="fail if a statement did not run on both databases",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--statements"):
        config.pluginmanager.register(_Watch(), "ran-statements")


class _Watch:
    def __init__(self) -> None:
        self._ran: set[str] = set()
        self._texts: set[str] = set()
        plain, plain_numbered = queries.parts, queries.numbered

        def parts(resource: str, dialect: str) -> queries.Queries:
            texts = plain(resource, dialect)
            # A database may have nothing to do where the other one has: an empty text is not run.
            return {
                name: _marked(text, f"{dialect}:{resource}.{name}") for name, text in texts.items()
            }

        def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
            self._note(sql)
            return plain_numbered(sql)

        def watch(connection: apsw.Connection) -> None:
            connection.exec_trace = self._traced

        # mypy sees functions where the modules have variables of the same type.
        queries.__dict__.update(parts=parts, numbered=numbered)
        apsw.connection_hooks.append(watch)

    def _traced(self, _cursor: apsw.Cursor, sql: str, _bindings: Any) -> bool:
        self._note(sql)
        return True

    def _note(self, sql: str) -> None:
        if sql not in self._texts:
            self._texts.add(sql)
            self._ran.update(_NAME_IN_COMMENT.findall(sql))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._ran.update(getattr(node, "workeroutput", {}).get("ran_statements", ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["ran_statements"] = sorted(self._ran)
        elif self._missing():
            session.exitstatus = _NOT_RUN

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in self._missing():
            terminalreporter.write_line(f"No test ran the statement {name}")

    def _missing(self) -> list[str]:
        return sorted(_named() - self._ran)


def _marked(text: str, name: str) -> str:
    # Behind the first word, by which tests tell statements from parts of them.
    # A part that begins with another one has that one's braces around its first word.
    return re.sub(r"\A\W*\w+\}?", rf"\g<0> /* ran {name} */ ", text, count=1)


def _named() -> set[str]:
    """Every statement of every dialect, in the form in which it is noted."""
    return {
        f"{dialect}:{resource}.{name}"
        for dialect in _DIALECTS
        for resource, statements in queries.every(dialect).items()
        for name, text in statements.items()
        if text
    }
