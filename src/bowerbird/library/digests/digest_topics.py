"""Finds the topics of posts for a digest, if the account's vectors are built."""

import asyncio
from collections.abc import Mapping, Sequence

from bowerbird.library.digests.contents import UNREAD_POSTS
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database
from bowerbird.storage.digests.digest_posts import DigestPostStore


class DigestTopics:
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._posts = DigestPostStore(database)
        self._meaning = meaning

    async def of(self, account: Account, numbers: Sequence[int]) -> Mapping[int, int]:
        """Only posts with a vector have a topic. Empty until the account's vectors are built."""
        store = await self._meaning.serving(account)
        if store is None or not store.dimensions or not numbers:
            return {}
        from bowerbird.search.meaning.topics import topics  # noqa: PLC0415 - imports numpy

        stored = await self._posts.vectors(account, store.model, numbers)
        return await asyncio.to_thread(topics, stored, store.dimensions, UNREAD_POSTS)
