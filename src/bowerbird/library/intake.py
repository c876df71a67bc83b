"""Takes posts into a library: new ones in, changed ones over, unchanged ones left alone.

What an arrival says wins, what it leaves unset keeps the library's value. Taking the same
arrivals twice changes nothing.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import Arrival
from bowerbird.model.folding import first_line, order_key
from bowerbird.model.intake import Counts, Incoming, Known, Outcome, Standing, counts_of
from bowerbird.model.media import bits_of
from bowerbird.model.rendering import RENDER_VERSION, rendering, tags_json
from bowerbird.search.tokens import index_text
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.intake import IntakeStore, Label, Opened


class Intake:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = IntakeStore(database)
        self._clock = clock

    async def take(self, account: Account, arrivals: Sequence[Incoming]) -> Outcome:
        """One transaction for all of them; no two may be of the same post."""
        known = await self._store.glance(account, [a.post_id for a in arrivals])
        # Most of a repeated import is unchanged; seeing that takes a read, not a transaction.
        differing = [a for a in arrivals if _differs(a, known.get(a.post_id))]
        unchanged = Outcome(unchanged=len(arrivals) - len(differing))
        if not differing:
            return unchanged
        words = {a.post_id: _words(a.arrival) for a in differing}

        async def work(transaction: Transaction) -> Outcome:
            return await self._put(transaction, account.account_id, differing, words)

        return unchanged + await self._database.write(work)

    async def _put(
        self,
        transaction: Transaction,
        account_id: int,
        arrivals: Sequence[Incoming],
        words: dict[str, str],
    ) -> Outcome:
        opened = await self._store.open(transaction, account_id)
        if opened is None:
            raise Refusal(Code.NOT_FOUND, "The account was deleted meanwhile.")
        known = await self._store.known(transaction, opened, [a.post_id for a in arrivals])
        labels = await self._labels(transaction, opened, arrivals)
        batch = _Batch(opened, labels, known, self._clock())
        for arrival in arrivals:
            batch.add(arrival, words[arrival.post_id])
        await self._store.insert(transaction, opened, batch.new)
        await self._store.update(transaction, opened, batch.changed)
        await self._store.relabel(transaction, opened, batch.attached, batch.detached)
        await self._store.close(transaction, opened, batch.change)
        return batch.outcome

    async def _labels(
        self, transaction: Transaction, opened: Opened, arrivals: Sequence[Incoming]
    ) -> dict[str, Label]:
        named: dict[str, str] = {}
        for arrival in arrivals:
            for key, name in (arrival.tags or {}).items():
                named.setdefault(key, name)
        labels = await self._store.labels(transaction, opened.account_id)
        missing = {key: name for key, name in named.items() if key not in labels}
        if missing:
            labels |= await self._store.add_labels(transaction, opened, missing, self._clock())
        return labels


class _Batch:
    """Sorts the arrivals of one transaction into what storage has to write."""

    def __init__(
        self, opened: Opened, labels: dict[str, Label], known: dict[str, Known], now: int
    ) -> None:
        self._opened, self._labels, self._known, self._now = opened, labels, known, now
        self.new: list[dict[str, Any]] = []
        self.changed: list[dict[str, Any]] = []
        self.attached: list[tuple[int, int]] = []
        self.detached: list[tuple[int, int]] = []
        self.change = Counts()
        self.outcome = Outcome()

    def add(self, incoming: Incoming, words: str) -> None:
        known = self._known.get(incoming.post_id)
        if not _differs(incoming, known):
            self.outcome += Outcome(unchanged=1)
            return
        standing = _standing(incoming, known, self._now)
        number = known.number if known else self._take_number()
        tags = self._relabel(incoming, known, number)
        row = _row(incoming, standing, number, words, tags)
        self.change += counts_of(standing)
        if known is None:
            self.new.append(row)
            self.outcome += Outcome(new=1)
        else:
            self.change += -counts_of(known)
            self.changed.append(row)
            self.outcome += Outcome(changed=1)

    def _take_number(self) -> int:
        self._opened.next_number += 1
        return self._opened.next_number - 1

    def _relabel(self, incoming: Incoming, known: Known | None, number: int) -> bytes | None:
        """Notes the labels that come and go; returns the ready names of those that stand."""
        before = known.tags if known else frozenset[str]()
        after = before if incoming.tags is None else frozenset(incoming.tags)
        self.attached += [(self._labels[k].label_id, number) for k in sorted(after - before)]
        self.detached += [(self._labels[k].label_id, number) for k in sorted(before - after)]
        return tags_json([self._labels[key].name for key in sorted(after)])


def _differs(incoming: Incoming, known: Known | None) -> bool:
    if known is None or incoming.content_hash != known.content_hash:
        return True
    if incoming.tags is not None and known.tags != incoming.tags.keys():
        return True
    return _standing(incoming, known, now=0) != Standing(
        known.sort_index, known.imported_at, known.bookmarked_at, known.is_read, known.is_archived
    )


def _standing(incoming: Incoming, known: Known | None, now: int) -> Standing:
    arrival = incoming.arrival
    imported_at = _first_set(incoming.imported_at, known and known.imported_at, now)
    bookmarked_at = _first_set(incoming.bookmarked_at, known and known.bookmarked_at, imported_at)
    # X's own form: milliseconds of bookmarking in the high bits.
    from_date = (bookmarked_at // 1000) << 20
    return Standing(
        sort_index=_first_set(arrival.sort_index, known and known.sort_index, from_date),
        imported_at=imported_at,
        bookmarked_at=bookmarked_at,
        is_read=_first_set(arrival.is_read, known and known.is_read, False),  # noqa: FBT003 - a default
        is_archived=_first_set(arrival.is_archived, known and known.is_archived, False),  # noqa: FBT003 - a default
    )


def _first_set(given: Any, held: Any, default: Any) -> Any:
    if given is not UNSET:
        return given
    return default if held is None else held


def _row(
    incoming: Incoming, standing: Standing, number: int, words: str, tags: bytes | None
) -> dict[str, Any]:
    arrival = incoming.arrival
    metrics = arrival.tweet_details.meta.non_real_time_engagement_metrics
    return {
        "number": number,
        "post_id": arrival.post_id,
        "sort_index": standing.sort_index,
        "is_read": standing.is_read,
        "is_archived": standing.is_archived,
        "imported_at": standing.imported_at,
        "bookmarked_at": standing.bookmarked_at,
        "posted_at": incoming.posted_at,
        "media": bits_of(arrival.tweet_details),
        "author_key": order_key(arrival.author_username),
        "author_name_key": order_key(arrival.author_details.name),
        "title_key": order_key(_title(arrival)),
        "quote_count": metrics.quote_count,
        "reply_count": metrics.reply_count,
        "retweet_count": metrics.retweet_count,
        "bookmark_count": metrics.bookmark_count,
        "favorite_count": metrics.favorite_count,
        "content_hash": incoming.content_hash,
        "render_version": RENDER_VERSION,
        "tags": tags,
        "rendering": rendering(
            incoming.post_json, standing.imported_at, standing.sort_index, standing.bookmarked_at
        ),
        "words": words,
    }


def _title(arrival: Arrival) -> str:
    article = arrival.tweet_details.article or {}
    return article.get("title") or first_line(arrival.tweet_details.text)


def _words(arrival: Arrival) -> str:
    """Everything of a post that a word can be found in, as tokens. Long texts come last."""
    details = arrival.tweet_details
    quoted = details.quoted_tweet or {}
    articles = [details.article or {}, quoted.get("article") or {}]
    quoted_author = quoted.get("author_details") or {}
    fields: list[str | None] = [
        arrival.author_username,
        arrival.author_details.name,
        details.text,
    ]
    fields += [quoted.get("author_username"), quoted_author.get("name"), quoted.get("text")]
    fields += [article.get(name) for name in ("title", "plain_text") for article in articles]
    return index_text([field for field in fields if field])
