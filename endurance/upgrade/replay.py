"""Sends the acknowledged writes to a new library of the new release, and compares the rows."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import asyncpg

from endurance.upgrade.findings import Reader
from endurance.upgrade.ledger import Write

# Every column of a post, so that those of later steps are compared too. The numbers of posts and
# labels depend on the order of the writes, and `updated_at` on their time.
_POSTS: Final = """
SELECT b.post_id,
       CAST(to_jsonb(b) - 'account_id' - 'number' - 'updated_at' AS text),
       CAST(to_jsonb(c) - 'account_id' - 'number' - 'tags' AS text),
       CAST(k.words AS text),
       (SELECT string_agg(l.name, ',' ORDER BY l.name)
          FROM bookmark_label AS bl
          JOIN label AS l ON l.account_id = bl.account_id AND l.label_id = bl.label_id
         WHERE bl.account_id = b.account_id AND bl.number = b.number)
  FROM bookmark AS b
  JOIN person AS p ON p.account_id = b.account_id
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
  LEFT JOIN keyword AS k ON k.account_id = b.account_id AND k.number = b.number
 WHERE p.email = $1
 ORDER BY b.post_id
"""
_COUNTS: Final = """
SELECT 'word ' || w.word, CAST(w.posts AS text)
  FROM word_count AS w JOIN person AS p ON p.account_id = w.account_id
 WHERE p.email = $1 AND w.posts <> 0
 UNION ALL
SELECT 'label ' || l.name, CAST(l.bookmark_count AS text)
  FROM label AS l JOIN person AS p ON p.account_id = l.account_id
 WHERE p.email = $1
 UNION ALL
SELECT 'library', concat_ws(' ', l.total, l.unread, l.archived, l.fresh)
  FROM library AS l JOIN person AS p ON p.account_id = l.account_id
 WHERE p.email = $1
 ORDER BY 1
"""
_REPLAYED: Final = frozenset({"save", "update", "delete"})
_PARTS: Final = ("columns", "content", "words", "labels")


def replay(reader: Reader, writes: Iterable[Write], account: str) -> list[str]:
    """Only the changes of posts, in the order in which they were acknowledged."""
    problems = []
    for write in writes:
        if write.account == account and write.kind in _REPLAYED:
            answer = reader.send(write)
            if not answer.is_success:
                problems.append(f"{write.method} {write.path}: {answer.status_code} {answer.text}")
    return problems


def different_rows(upgraded: str, fresh: str, account: str) -> list[str]:
    return asyncio.run(_different_rows(upgraded, fresh, account))


async def _different_rows(upgraded: str, fresh: str, account: str) -> list[str]:
    found, wanted = await _rows(upgraded, account), await _rows(fresh, account)
    problems = []
    for name in sorted({*found, *wanted}):
        ours, other = found.get(name), wanted.get(name)
        if ours == other:
            continue
        if ours is None or other is None:
            problems.append(f"{name}: {ours} instead of {other}")
            continue
        parts = zip(_PARTS, ours, other, strict=False)
        problems += [f"{name}, {part}: {a} instead of {b}" for part, a, b in parts if a != b]
    return problems


async def _rows(url: str, account: str) -> dict[str, tuple[Any, ...]]:
    connection: Any = await asyncpg.connect(url)
    try:
        posts = await connection.fetch(_POSTS, account)
        counts = await connection.fetch(_COUNTS, account)
    finally:
        await connection.close()
    rows = {f"post {row[0]}": tuple(row)[1:] for row in posts}
    return rows | {row[0]: tuple(row)[1:] for row in counts}
