"""Statements that PostgreSQL runs and Citus refuses are noticed without a cluster."""

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.storage.test_catalogue import CONTROL, LIBRARY
from tests.storage.test_routing import statements
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

CALL = re.compile(r"\b([a-z_]+)\(")
TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)")
# The names of the lists of a WITH.
LISTS = re.compile(r"\b([a-z_]+) AS (?:MATERIALIZED )?\((?=\s*SELECT)")
SUBQUERY = re.compile(r"EXISTS \((SELECT[^()]*(?:\([^()]*\)[^()]*)*)\)")

EXAMPLES = {
    "UPDATE job SET due_at = date_part('epoch', clock_timestamp()) WHERE account_id = :a": (
        "a volatile function in a change"
    ),
    "DELETE FROM job WHERE account_id = :a AND due_at < random()": (
        "a volatile function in a change"
    ),
    "INSERT INTO idempotency (account_id) SELECT l.account_id FROM library AS l"
    " RETURNING (SELECT u.uses FROM daily_use AS u)": "a query in RETURNING",
    "INSERT INTO word_change (number) VALUES ((SELECT max(p.number) FROM word_change AS p))": (
        "a query in VALUES"
    ),
    "INSERT INTO api_call (account_id, calls) SELECT :account_id, 1 WHERE :limit > 0": (
        "a parameter without a type"
    ),
    "INSERT INTO api_call (account_id, calls) SELECT CAST(:account_id AS bigint), 1"
    " FROM library AS l WHERE l.account_id = :account_id ON CONFLICT (account_id)"
    " DO UPDATE SET calls = api_call.calls + 1 WHERE api_call.calls < :limit": (
        "a parameter without a type"
    ),
    "SELECT p.account_id FROM person AS p"
    " WHERE NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = p.account_id)": (
        "tables of the coordinator and of nodes compared row by row"
    ),
    "WITH due AS (SELECT w.account_id FROM word_change AS w) SELECT d.account_id,"
    " EXISTS (SELECT 1 FROM job AS j WHERE j.account_id = d.account_id) FROM due AS d": (
        "a list compared with a table row by row"
    ),
    "UPDATE job SET due_at = date_part('epoch', statement_timestamp()) WHERE account_id = :a": None,
    "WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)"
    " SELECT count(*) FROM library AS l"
    " WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = l.account_id)": None,
}


def refused(sql: str, volatile: set[str]) -> str | None:
    """Why Citus does not run this statement, as far as its text shows."""
    verb = sql.lstrip("( \n").split()[0]
    is_volatile = bool(volatile.intersection(CALL.findall(sql)))
    tables = set(TABLE.findall(sql))
    is_mixed = bool(tables & CONTROL and tables & LIBRARY)
    reasons = {
        "a volatile function in a change": verb not in ("INSERT", "SELECT") and is_volatile,
        "a query in RETURNING": _has(r"RETURNING\b.*\(\s*SELECT\b", sql),
        "a query in VALUES": _has(r"\bVALUES\s*\(.*\(\s*SELECT\b", sql),
        "a parameter without a type": (
            verb == "INSERT"
            and _has(
                r"\bSELECT(?!.*\bFROM\b).*[ ,]:\w"
                r"|SELECT (?:CAST\()?:account_id\b.*\bDO UPDATE\b.*\bWHERE\b",
                sql,
            )
        ),
        "tables of the coordinator and of nodes compared row by row": (
            is_mixed and "EXISTS" in sql and "MATERIALIZED" not in sql
        ),
        "a list compared with a table row by row": _compares_a_list(sql),
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)


def _has(shape: str, sql: str) -> bool:
    return bool(re.search(shape, sql, re.DOTALL))


def _compares_a_list(sql: str) -> bool:
    inner, outer = " ".join(SUBQUERY.findall(sql)), SUBQUERY.sub("", sql)
    names = re.findall(r"\)\s+AS (\w+)", outer)
    for listed in LISTS.findall(sql):
        names += re.findall(rf"\b(?:FROM|JOIN)\s+{listed} AS (\w+)", outer)
    return any(_has(rf"= {name}\.account_id\b", inner) for name in names)


@pytest.fixture
async def volatile(postgres: ThrowawayPostgres) -> AsyncIterator[set[str]]:
    with postgres.fresh_database(databases.TEMPLATE) as url:
        connected: Any = await asyncpg.connect(url)
        rows = await connected.fetch("SELECT proname FROM pg_proc WHERE provolatile = 'v'")
        await connected.close()
        yield {name for (name,) in rows}


async def test_the_refused_shapes_are_noticed(volatile: set[str]) -> None:
    assert {sql: refused(sql, volatile) for sql in EXAMPLES} == EXAMPLES


async def test_no_statement_has_a_shape_that_citus_refuses(volatile: set[str]) -> None:
    every = statements()
    found = {name: why for name, sql in every.items() if (why := refused(sql, volatile))}
    assert found == {}
