"""Whether PostgreSQL reads and writes only rows of one account, according to its plan.

Citus sends a statement to one node if each distributed table in it is limited to one account.
PostgreSQL derives the same conditions: if a table is joined by its account to another one that is
limited to a parameter, the plan shows the condition on both.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from bowerbird.storage import queries

# A parameter, or the account of a table that the plan has read before.
_VALUE: Final = r"\(?(?:\$\d+|[\w.]*\baccount_id)\)?(?:::bigint)?"
_ACCOUNT: Final = re.compile(
    rf"(?:^|[\s(])(?:\w+\.)?account_id = {_VALUE}[)\s]|{_VALUE} = (?:\w+\.)?account_id\)"
)
_CONDITIONS: Final = ("Index Cond", "Recheck Cond", "Filter", "Join Filter")


async def plan(connection: Any, sql: str) -> dict[str, Any]:
    """The plan for any values of the parameters."""
    text, names = queries.numbered(sql)
    # With values, PostgreSQL would make a plan for them.
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    await connection.execute(f"PREPARE routed AS {text}")
    values = f"({', '.join(['NULL'] * len(names))})" if names else ""
    found = await connection.fetchval(f"EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE routed{values}")
    await connection.execute("DEALLOCATE routed")
    root: dict[str, Any] = json.loads(found)[0]["Plan"]
    return root


def tables(root: dict[str, Any]) -> set[str]:
    return {node["Relation Name"] for node in _nodes(root) if "Relation Name" in node}


def unlimited(root: dict[str, Any], columns: dict[str, list[str]]) -> list[str]:
    """The tables of which the plan may read or write the rows of several accounts.

    `columns` has the tables that are distributed, with the names of their columns in order.
    """
    compared = _compared_subplans(root)
    return [
        f"{node['Node Type']} of {node['Relation Name']}"
        for node in _nodes(root)
        if node.get("Relation Name") in columns
        and node.get("Subplan Name") not in compared
        and not _is_limited(node, columns)
    ]


def _compared_subplans(root: dict[str, Any]) -> set[str]:
    """Subqueries that PostgreSQL runs once for all accounts, if it expects few rows.

    The statement itself compares their account with one that the plan has read before.
    """
    texts = " ".join(str(node.get(kind, "")) for node in _nodes(root) for kind in _CONDITIONS)
    return set(re.findall(r"account_id = \(hashed (SubPlan \d+)\)", texts))


def _is_limited(node: dict[str, Any], columns: dict[str, list[str]]) -> bool:
    if node["Node Type"] != "ModifyTable":
        return any(_ACCOUNT.search(f"{node.get(kind, '')} ") for kind in _CONDITIONS)
    if node["Operation"] != "Insert":
        # The rows come from scans of the same table, which are checked themselves.
        return True
    [source] = [below for below in node["Plans"] if below["Parent Relationship"] == "Outer"]
    value = source["Output"][columns[node["Relation Name"]].index("account_id")]
    return bool(re.fullmatch(rf"{_VALUE}|.*\.account_id", value))


def _nodes(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield root
    for below in root.get("Plans", ()):
        yield from _nodes(below)
