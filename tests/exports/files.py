"""Writes export files from the posts of a test."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from bowerbird.exports.tasks import to_json_array
from bowerbird.exports.writer import DocumentInfo, ProcessLimits, WrittenFile, write_export
from tests.support.make import post

CREATED_AT = 1_794_700_800_000_000  # 15 November 2026


def bookmark(**fields: Any) -> dict[str, Any]:
    """A Bookmark as in an answer of the API."""
    bookmark_fields = {
        "imported_at": "2026-11-01T08:00:00.000000",
        "bookmarked_at": "2026-10-31T12:00:00.000000+00:00",
        "updated_at": "2026-11-01T08:00:00.000000+00:00",
        "tags": None,
        "is_read": False,
        "is_archived": False,
    }
    given = {name: fields.get(name, value) for name, value in bookmark_fields.items()}
    return {**post(**fields), **given}


async def posts_file(folder: Path, posts: Sequence[dict[str, Any]], page: int = 3) -> Path:
    async def pages() -> AsyncIterator[bytes]:
        for start in range(0, len(posts), page):
            yield ",".join(json.dumps(post) for post in posts[start : start + page]).encode()

    file = folder / "posts.json"
    file.write_bytes(b"".join([piece async for piece in to_json_array(pages())]))
    return file


def document_info(total: int) -> DocumentInfo:
    return DocumentInfo(
        title="All my bookmarks",
        created_at=CREATED_AT,
        total=total,
        description="Everything I have saved.",
    )


class Progress:
    def __init__(self) -> None:
        self.reports: list[tuple[int, int]] = []

    async def __call__(self, done: int, total: int) -> None:
        self.reports.append((done, total))


async def write_posts(
    format: str, folder: Path, posts: Sequence[dict[str, Any]], limits: ProcessLimits | None = None
) -> WrittenFile:
    file = await posts_file(folder, posts)
    document = document_info(len(posts))
    return await write_export(
        format, file, folder, document, Progress(), limits=limits or ProcessLimits()
    )


def export(format: str, folder: Path, posts: Sequence[dict[str, Any]]) -> WrittenFile:
    return asyncio.run(write_posts(format, folder, posts))
