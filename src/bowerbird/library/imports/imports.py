"""Imports files of bookmarks into a library, chunk by chunk.

Each chunk is one transaction: it is written completely or not at all, and before the next chunk
is compared with the library.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from bowerbird.clock import Clock
from bowerbird.errors import shown
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.model.accounts import Account
from bowerbird.model.upsert import Incoming, LeftOutLabels, UpsertOutcome
from bowerbird.requests import limits
from bowerbird.sources import own_json
from bowerbird.sources.own_json import InvalidRecord
from bowerbird.sources.parsing import json_records
from bowerbird.sources.parsing.json_records import MalformedFile, Readable
from bowerbird.storage.database import Database

# A chunk is written in less than 20 ms, so that the writes of a running server do not wait.
_CHUNK_POSTS: Final = 200
# With long articles or many labels, a chunk has fewer posts.
_CHUNK_BYTES: Final = 1 << 20
_CHUNK_LABELS: Final = 1_000
_SHOWN_NAMES: Final = 20


class RefusedRecord(NamedTuple):
    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(slots=True)
class Tally:
    """The counts of an import. Only committed chunks are counted."""

    outcome: UpsertOutcome = field(default_factory=UpsertOutcome)
    refused: int = 0
    removed_characters: int = 0
    left_out_labels: int = 0

    @property
    def imported(self) -> int:
        return self.outcome.new + self.outcome.changed + self.outcome.unchanged


class Import:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        account: Account,
        on_refusal: Callable[[RefusedRecord], None],
        tally: Tally,
    ) -> None:
        """`on_refusal` also gets the records that were imported without some of their labels."""
        self._upsert = Upsert(database, clock)
        self._account = account
        self._on_refusal = on_refusal
        self._tally = tally

    async def read(self, file: Readable, name: str) -> None:
        """Imports one file. If it is cancelled, the current chunk is still completed."""
        for chunk in self._chunks(file, name):
            await _complete(asyncio.create_task(self._write(chunk, name)))

    async def _write(self, chunk: "_Chunk", name: str) -> None:
        outcome = await self._upsert.take(self._account, list(chunk.posts.values()))
        for left_out in outcome.left_out:
            self._tally.left_out_labels += len(left_out.names)
            line = chunk.lines[left_out.post_id]
            self._on_refusal(RefusedRecord(name, line, _left_out(left_out)))
        # Reported above; an import of a million posts must not keep them all in memory.
        self._tally.outcome += msgspec.structs.replace(outcome, left_out=())
        self._tally.removed_characters += chunk.removed_characters

    def _chunks(self, file: Readable, name: str) -> Iterator["_Chunk"]:
        chunk = _Chunk()
        for record in self._records(file, name):
            if record.problem:
                self._refuse(name, record.line, record.problem)
                continue
            try:
                read = own_json.read(record.raw)
            except InvalidRecord as error:
                self._refuse(name, record.line, str(error))
                continue
            # The later of two records of a post wins, so the earlier one is written first.
            if chunk.is_full or read.incoming.post_id in chunk.posts:
                yield chunk
                chunk = _Chunk()
            chunk.add(read.incoming, read.removed, len(record.raw), record.line)
        if chunk.posts:
            yield chunk

    def _records(self, file: Readable, name: str) -> Iterator[json_records.Record]:
        try:
            yield from json_records.records(file)
        except MalformedFile as error:
            self._refuse(name, error.line, str(error))

    def _refuse(self, name: str, line: int, reason: str) -> None:
        self._tally.refused += 1
        self._on_refusal(RefusedRecord(name, line, reason))


def _left_out(labels: LeftOutLabels) -> str:
    names = ", ".join(map(shown, labels.names[:_SHOWN_NAMES]))
    if len(labels.names) > _SHOWN_NAMES:
        names += f" and {len(labels.names) - _SHOWN_NAMES:,} more"
    return (
        f"Post {labels.post_id} was imported without {len(labels.names):,} of its labels, because "
        f"{labels.reason}: {names}."
    )


async def _complete(writing: asyncio.Task[None]) -> None:
    """Waits until the chunk is written, even if the import is cancelled."""
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        # Retrieve the exception; asyncio warns otherwise.
        writing.exception()
        raise


@dataclass(slots=True)
class _Chunk:
    posts: dict[str, Incoming] = field(default_factory=dict)
    # The line of each post in its file.
    lines: dict[str, int] = field(default_factory=dict)
    size: int = 0
    labels: int = 0
    removed_characters: int = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self.posts) >= _CHUNK_POSTS
            or self.size >= _CHUNK_BYTES
            or self.labels >= _CHUNK_LABELS
        )

    def add(self, incoming: Incoming, removed_characters: int, size: int, line: int) -> None:
        self.posts[incoming.post_id] = incoming
        self.lines[incoming.post_id] = line
        self.labels += min(len(incoming.tags or ()), limits.POST_LABELS_MAX)
        self.size += size
        self.removed_characters += removed_characters
