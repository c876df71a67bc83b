"""Makes export files from posts of a test's own, and reads what is in them."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from bowerbird.exports.posts_file import framed
from bowerbird.exports.writing import About, Made, ProcessLimits, make
from tests.support.make import post

MADE_AT = 1_794_700_800_000_000  # 15 November 2026


def bookmark(**fields: Any) -> dict[str, Any]:
    """A post as the API shows it, with its place in a library."""
    kept = {
        "imported_at": "2026-11-01T08:00:00.000000",
        "bookmarked_at": "2026-10-31T12:00:00.000000+00:00",
        "tags": None,
        "is_read": False,
        "is_archived": False,
    }
    return {**post(**fields), **{name: fields.get(name, value) for name, value in kept.items()}}


async def posts_file(folder: Path, posts: Sequence[dict[str, Any]], page: int = 3) -> Path:
    async def pages() -> AsyncIterator[bytes]:
        for start in range(0, len(posts), page):
            yield ",".join(json.dumps(post) for post in posts[start : start + page]).encode()

    file = folder / "posts.json"
    file.write_bytes(b"".join([piece async for piece in framed(pages())]))
    return file


def about(total: int, title: str = "All my bookmarks") -> About:
    return About(title=title, made_at=MADE_AT, total=total, description="Everything I have saved.")


class Progress:
    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    async def __call__(self, done: int, total: int) -> None:
        self.seen.append((done, total))


async def exported(
    format: str, folder: Path, posts: Sequence[dict[str, Any]], limits: ProcessLimits | None = None
) -> Made:
    file = await posts_file(folder, posts)
    return await make(
        format, file, folder, about(len(posts)), Progress(), limits=limits or ProcessLimits()
    )


def export(format: str, folder: Path, posts: Sequence[dict[str, Any]]) -> Made:
    return asyncio.run(exported(format, folder, posts))
