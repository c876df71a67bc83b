"""Finds posts that have the same text, links or pictures as others."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bowerbird.storage.database import Reader, Store

Same = Literal["link", "text", "picture"]


class GroupedPost(NamedTuple):
    print: int
    number: int
    post_id: str
    link_print: int | None
    text_print: int | None


class Prints(NamedTuple):
    text: int | None
    link: int | None
    picture: int | None


class DuplicateStore(Store):
    resource = "duplicates"

    async def groups(
        self, account_id: int, same: Same, after: int, limit: int
    ) -> Sequence[tuple[int, int]]:
        """The next groups by their print, each with the number of its posts."""
        values = {"account_id": account_id, "after": after, "limit": limit}
        sql = self._sql["groups"].format(same=same)
        return [(print, count) for print, count in await self._database.slow_rows(sql, values)]

    async def posts(
        self, account_id: int, same: Same, prints: Sequence[int], most: int
    ) -> list[GroupedPost]:
        """The first posts of each of these groups."""
        values = {"account_id": account_id, "prints": prints, "most": most}
        sql = self._sql["posts"].format(same=same)
        return [GroupedPost(*row) for row in await self._database.slow_rows(sql, values)]

    async def prints(
        self, reader: Reader, account_id: int, post_ids: Sequence[str]
    ) -> dict[str, Prints]:
        rows = await self._rows(
            reader,
            "prints",
            account_id=account_id,
            post_ids=post_ids,
        )
        return {post_id: Prints(*prints) for post_id, *prints in rows}
