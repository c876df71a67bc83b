"""The statements for digests and statistics use an index, however many accounts there are."""

from typing import Any, Final

import pytest

from bowerbird.storage.database import Database

pytestmark = pytest.mark.anyio

VALUES: Final[dict[str, Any]] = {
    "account_id": 7,
    "after": 0,
    "now": 5,
    "limit": 50,
    "job_kind": "digest",
    "end_day": 20_700,
    "kind": "",
    "start": 0,
    "end": 10**15,
    "starts": "[0]",
    "ends": "[1]",
    "shifts": "[0]",
    "before": 10**15,
    "before_number": 0,
    "place": 0,
}
EXPECTED_INDEXES: Final = {
    ("digests", "due_accounts"): "COVERING INDEX digest_due",
    ("digests", "page"): "INDEX digest_by_end (account_id=?",
    ("digests", "unsent"): "INDEX digest_in_the_post (account_id=?",
    ("digest_posts", "between"): "INDEX bookmark_by_bookmarked (account_id=? AND bookmarked_at>?",
    ("digest_posts", "count_between"): "COVERING INDEX bookmark_by_bookmarked",
    ("digest_posts", "newest_unread"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("digest_posts", "oldest_unread"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("digest_posts", "by_label"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("digest_posts", "by_author"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "first_saved"): "COVERING INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "by_hour"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "by_author"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "by_label"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "labelled"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "newest"): "INDEX bookmark_by_bookmarked (account_id=? AND bookmarked_at>?",
}


@pytest.mark.parametrize(("resource", "name"), EXPECTED_INDEXES)
async def test_a_statement_uses_its_index(sqlite: Database, resource: str, name: str) -> None:
    sql = sqlite.queries(resource)
    parts = {part: sql[part] for part in ("columns", "candidate") if part in sql}

    rows = await sqlite.rows(f"EXPLAIN QUERY PLAN {sql[name].format(**parts)}", VALUES)

    plan = "\n".join(str(row[-1]) for row in rows)
    assert EXPECTED_INDEXES[resource, name] in plan
    if not name.startswith("by_"):
        assert "TEMP B-TREE" not in plan
