"""Says what an import would do, and writes nothing.

Each chunk is compared with the library as it would be after the chunks before it.
"""

from collections.abc import Callable, Iterable, Sequence
from tempfile import SpooledTemporaryFile
from typing import Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.label_renames import LabelRoom
from bowerbird.library.bookmarks.writing.upsert_batch import differs, placement_of
from bowerbird.library.imports.intake import Intake, IntakeOutcome, outcome_of
from bowerbird.library.imports.planning import Known, Write, conversations
from bowerbird.model.accounts import Account
from bowerbird.model.imports import ExistingBookmark, Incoming
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.sources.found import FoundPost
from bowerbird.storage.bookmarks.upsert import StoredPost
from bowerbird.storage.database import Database, place_of
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LockedLibrary

# Each takes about 200 bytes of memory. Of further posts, a second record is compared with the
# library as it is.
MAX_REMEMBERED: Final = 200_000
_BYTES_IN_MEMORY: Final = 4 << 20


class DryRun:
    def __init__(self, database: Database, clock: Clock, account: Account) -> None:
        self._database = database
        self._account = account
        self._clock = clock
        self._intake = Intake(database, clock, finds_words=False)
        self._labels = LabelStore(database)
        self._posts = _PostsAfter()
        self._threads: dict[str, set[str]] = {}
        self._created = dict[str, Label]()
        self._started_at = clock()
        self._placed = 0

    def close(self) -> None:
        self._posts.close()

    async def take(self, found: Sequence[FoundPost]) -> IntakeOutcome:
        """What taking these posts would do, after all that were taken before."""
        prepared = await self._intake.prepare(self._account, found, known_after=self._after(found))
        plan, posts = prepared.plan, prepared.known.posts
        self._placed = plan.placed
        room = await self._room([write.incoming for write in plan.writes])
        new: set[str] = set()
        changed: set[str] = set()
        for write in plan.writes:
            stored = posts.get(write.incoming.post_id)
            existing = None if stored is None else stored.existing
            incoming = room.fit(write.incoming, existing)
            if not differs(incoming, existing):
                continue
            if existing is None:
                new.add(incoming.post_id)
            elif not write.is_minor:
                changed.add(incoming.post_id)
            self._remember(write, incoming, existing)
        self._created |= {label.name_key: label for label in room.created}
        labels = tuple(label.name for label in room.created)
        left_out = tuple(room.left_out)
        return outcome_of(plan.items, frozenset(changed), left_out, frozenset(new), labels)

    def _after(self, found: Sequence[FoundPost]) -> Callable[[Known], Known]:
        ids = [one.record.post_id for one in found]

        def after(known: Known) -> Known:
            threads = {(one, author) for one in ids for author in self._threads.get(one, ())}
            return known._replace(
                posts={**known.posts, **self._posts.among([*ids, *conversations(found)])},
                threads=known.threads | threads,
                started_at=self._started_at,
                placed=self._placed,
            )

        return after

    async def _room(self, arrivals: Sequence[Incoming]) -> LabelRoom:
        account_id = self._account.account_id
        keys = {key for arrival in arrivals for key in arrival.tags or ()}
        labels = dict[str, Label]()
        count = 0
        if keys - self._created.keys():
            labels = await self._labels.named(self._database, account_id, sorted(keys))
            count = await self._labels.count(account_id) + len(self._created)
        # Nothing is locked, because nothing is written: only its next numbers are used.
        opened = LockedLibrary(account_id, place_of(self._account.local_number), 0, 0, 0)
        return LabelRoom(
            opened, labels | self._created, limits.LABELS_MAX - count, limits.POST_LABELS_MAX
        )

    def _remember(
        self, write: Write, incoming: Incoming, existing: ExistingBookmark | None
    ) -> None:
        tags = frozenset[str]() if existing is None else existing.tags
        placement = placement_of(incoming, existing, self._clock())
        after = ExistingBookmark(
            number=0 if existing is None else existing.number,
            content_hash=incoming.content_hash,
            tags=tags if incoming.tags is None else frozenset(incoming.tags),
            **msgspec.structs.asdict(placement),
        )
        # A rendering is an object without its end.
        is_kept = self._posts.put(incoming.post_id, StoredPost(after, incoming.post_json[:-1]))
        if is_kept and write.draft["thread"]:
            self._threads.setdefault(write.draft["thread"], set()).add(write.draft["author_key"])


class _PostsAfter:
    """Posts as they would be in the library. Many of them are in a temporary file."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_BYTES_IN_MEMORY)  # noqa: SIM115 - closed by its owner
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(StoredPost).decode

    def close(self) -> None:
        self._file.close()

    def put(self, post_id: str, post: StoredPost) -> bool:
        """Whether there was room for it."""
        if post_id not in self._places and len(self._places) >= MAX_REMEMBERED:
            return False
        data = self._encode(post)
        self._file.seek(self._end)
        self._file.write(data)
        self._places[post_id] = self._end, len(data)
        self._end += len(data)
        return True

    def among(self, post_ids: Iterable[str]) -> dict[str, StoredPost]:
        found = {}
        for post_id in post_ids:
            if place := self._places.get(post_id):
                self._file.seek(place[0])
                found[post_id] = self._decode(self._file.read(place[1]))
        return found
