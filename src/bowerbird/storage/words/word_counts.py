"""In how many posts of an account each word of the index occurs.

Every change of a post changes the counts in the same transaction. A change of many counts, as in an
import of a file, is only written down there: a job adds it a few seconds later. Posts whose words
were written by an earlier release are not counted until the job has written them again.

Also the abbreviations that its posts explain. They stay when the posts go, until too many others
are explained.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.words import ABBREVIATION, GAP, UNCOUNTED_END
from bowerbird.storage.database import Reader, Row, Store, Transaction, Values, place_values
from bowerbird.storage.libraries import LockedLibrary

# The row that counts the posts themselves. No token is empty.
_POSTS: Final = ""
# Ends the tokens that are not counted.
_UNCOUNTED: Final = f"{UNCOUNTED_END} "
# Adding to a count takes 2 µs. An import of a file changes 4,000 counts per transaction; adding to
# them would take a third of its time.
_ADDED_AT_ONCE: Final = 2_000

# More words are not looked up on the event loop.
_FEW_WORDS: Final = 100

_decode: Final = msgspec.json.Decoder(dict[str, int]).decode


# The sort index and the number of a post, and what is before all of them.
ListedPost = tuple[int, int]
BEFORE_ALL: Final[ListedPost] = (-(2**63), 0)


class UncountedPost(Struct, frozen=True):
    """A post whose words have an old form."""

    number: int
    content_hash: bytes
    media: int
    # Empty if the content is lost.
    rendering: bytes


def _encoded(words: Collection[str]) -> str:
    return msgspec.json.encode(list(words)).decode()


def occurrences(index_texts: Iterable[str]) -> Counter[str]:
    """In how many of the posts each word occurs, and how many posts there are."""
    texts = list(index_texts)
    counts = Counter(chain.from_iterable(set(_counted(text)) for text in texts))
    del counts[GAP]
    counts[_POSTS] = len(texts)
    return counts


def _counted(index_text: str) -> list[str]:
    return index_text.rpartition(_UNCOUNTED)[2].split()


class WordCounts(Store):
    resource = "word_counts"

    async def of(self, account: Account, words: Collection[str]) -> dict[str, int]:
        """How many counted posts contain each word. Words that none contains are left out."""
        if not words:
            return {}
        # JSON: the driver of PostgreSQL takes longer to write an array, on the event loop.
        values = {"account_id": account.account_id, "words": _encoded(words)}
        # The words that a misspelled one can mean are thousands.
        read = self._database.rows if len(words) <= _FEW_WORDS else self._database.slow_rows
        return dict(tuple(row) for row in await read(self._sql["of"], values))

    async def of_and_total(
        self, account: Account, words: Collection[str]
    ) -> tuple[dict[str, int], int]:
        """The counts of the words, and how many posts are counted, in one read."""
        found = await self.of(account, {*words, _POSTS})
        total = found.pop(_POSTS, 0)
        return found, total

    async def total(self, account: Account) -> int:
        """How many posts are counted."""
        return (await self.of(account, [_POSTS])).get(_POSTS, 0)

    async def change(
        self, library: LockedLibrary, before: Mapping[str, int], after: Mapping[str, int]
    ) -> None:
        """Replaces the occurrences of some posts by what they are after a change."""
        changes = Counter(after)
        changes.subtract(before)
        await self.add(library, changes)

    async def add(self, library: LockedLibrary, changes: Mapping[str, int]) -> None:
        """Adds to the counts, or leaves that to `add_pending`."""
        changed = changes
        if 0 in changes.values():
            changed = {word: change for word, change in changes.items() if change}
        if not changed:
            return
        account_id = library.account_id
        # A count can only be lowered after those before it have been added.
        if len(changed) > _ADDED_AT_ONCE or await self.is_pending(library.transaction, account_id):
            values = {"account_id": account_id, "changes": msgspec.json.encode(changed).decode()}
            await library.transaction.run(self._sql["add_later"], values)
        else:
            await self._add(library.transaction, account_id, changed)

    async def add_pending(self, library: LockedLibrary) -> bool:
        """Adds the oldest changes that were left; False if there are none."""
        values = {"account_id": library.account_id}
        rows = await library.transaction.rows(self._sql["next_pending"], values)
        for number, changes in rows:
            await self._add(library.transaction, library.account_id, _decode(changes))
            await library.transaction.run(self._sql["delete_pending"], {**values, "number": number})
        return bool(rows)

    async def _add(
        self, transaction: Transaction, account_id: int, changes: Mapping[str, int]
    ) -> None:
        """Words that no post contains any more lose their rows."""
        # In the order in which they are stored.
        ordered = {word: changes[word] for word in sorted(changes)}
        values = {"account_id": account_id, "changes": msgspec.json.encode(ordered).decode()}
        await transaction.run(self._sql["add"], values)
        if lowered := [word for word, change in ordered.items() if change < 0]:
            words = lowered
            await self._run(transaction, "delete_absent", account_id=account_id, words=words)

    async def is_pending(self, reader: Reader, account_id: int) -> bool:
        """Whether changes are left to add."""
        rows = await reader.rows(self._sql["is_pending"], {"account_id": account_id})
        return bool(rows[0][0])

    async def counted_renderings(
        self, library: LockedLibrary, numbers: Sequence[int], word_form: int
    ) -> list[bytes]:
        """The stored JSON of the counted ones among these bookmarks."""
        values = {
            "account_id": library.account_id,
            "place": library.place,
            "numbers": numbers,
            "word_form": word_form,
        }
        rows = await library.transaction.rows(self._sql["renderings"], values)
        return [row[0] or b"" for row in rows]

    async def counted_page(
        self, account: Account, word_form: int, after: int, limit: int
    ) -> list[tuple[int, bytes]]:
        """(number, stored JSON) of counted bookmarks after a number."""
        values = place_values(account)
        values |= {"word_form": word_form, "after": after, "limit": limit}
        rows = await self._database.slow_rows(self._sql["counted_posts"], values)
        return [(number, rendering or b"") for number, rendering in rows]

    async def stored(self, account: Account) -> dict[str, int]:
        """All counts with the changes that are left to add, in the form of `occurrences`."""
        rows = await self._read_slowly("stored", account_id=account.account_id)
        return dict(tuple(row) for row in rows)

    async def due_accounts(self, after: int, limit: int, *, job_kind: str) -> list[int]:
        """Accounts with changes to add, or with posts of an old form, that have no such job."""
        values = {"limit": limit, "job_kind": job_kind}
        while rows := await self._read_due(values | {"after": after}):
            if due := [account_id for account_id, has_job in rows if not has_job]:
                return due
            after = rows[-1][0]
        return []

    async def _read_due(self, values: Values) -> Sequence[Row]:
        return await self._database.slow_rows(self._sql["due_accounts"], values)

    async def uncounted(self, account: Account, limit: int) -> list[tuple[int, int]]:
        """(number, stored bytes) of the first posts of an old form."""
        rows = await self._read_slowly("uncounted", **place_values(account), limit=limit)
        return [(number, size) for number, size in rows]

    async def without_readings(
        self, account: Account, after: ListedPost, limit: int, word_form: int
    ) -> list[tuple[ListedPost, int]]:
        """The next Japanese posts whose words have no readings, with the stored bytes of each."""
        sort_index, number = after
        values = {"sort_index": sort_index, "number": number, "word_form": word_form}
        rows = await self._read_slowly(
            "without_readings", **place_values(account), **values, limit=limit
        )
        return [((sort_index, number), size) for sort_index, number, size in rows]

    async def japanese_accounts(self, after: int, limit: int) -> list[int]:
        rows = await self._read_slowly("japanese_accounts", after=after, limit=limit)
        return [row[0] for row in rows]

    async def lacks_readings(self, account_id: int, word_form: int) -> bool:
        """Looks at all Japanese posts of the account if none lacks its readings."""
        values = {"account_id": account_id, "word_form": word_form}
        return bool(await self._read_slowly("lacks_readings", **values))

    async def uncounted_posts(
        self, account: Account, numbers: Sequence[int], word_form: int
    ) -> list[UncountedPost]:
        """Those among these whose form is older."""
        values = {**place_values(account), "numbers": numbers, "word_form": word_form}
        rows = await self._read_slowly("uncounted_posts", **values)
        return [
            UncountedPost(number, hash, media, rendering or b"")
            for number, hash, media, rendering in rows
        ]

    async def still_uncounted(
        self, library: LockedLibrary, numbers: Sequence[int], word_form: int
    ) -> dict[int, bytes]:
        """The content hash of each of these posts whose form is older."""
        values = {"account_id": library.account_id, "numbers": numbers, "word_form": word_form}
        rows = await library.transaction.rows(self._sql["still_uncounted"], values)
        return dict(tuple(row) for row in rows)


MOST: Final = 2_000
MOST_MEANINGS: Final = 3


class Abbreviations(Store):
    resource = "abbreviations"

    async def of(
        self, reader: Reader, account_id: int, typed: Sequence[str]
    ) -> Mapping[str, Sequence[str]]:
        """What each of these words and phrases means. Unknown ones are left out."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for text, meaning in await self._rows(reader, "of", account_id=account_id, typed=typed):
            found[text].append(meaning)
        return found

    async def learn(self, library: LockedLibrary, index_texts: Sequence[str]) -> None:
        """Adds what the words of new posts explain, in both directions. Most explain nothing.

        If there are too many, those that posts explained longest ago give way.
        """
        explained = dict.fromkeys(
            pairs for text in index_texts if ABBREVIATION in text for pairs in _explained(text)
        )
        if not explained:
            return
        transaction, account_id = library.transaction, library.account_id
        typed = list(dict.fromkeys(pair[0] for pairs in explained for pair in pairs))
        known = await self.of(transaction, account_id, typed)
        meanings = {one: list(known.get(one, ())) for one in typed}
        [(total, latest)] = await self._rows(transaction, "latest", account_id=account_id)
        values: list[Values] = []
        for number, pairs in enumerate(explained, latest + 1):
            new = [(short, long) for short, long in pairs if long not in meanings[short]]
            if any(len(meanings[one]) >= MOST_MEANINGS for one, _ in new):
                continue
            total += len(new)
            for one, meaning in new:
                meanings[one].append(meaning)
            values += [
                {"account_id": account_id, "typed": one, "meaning": meaning, "explained": number}
                for one, meaning in pairs
            ]
        if values:
            await transaction.run_many(self._sql["add"], values)
        if total > MOST:
            forgotten = {"account_id": account_id, "forgotten": total - MOST}
            await transaction.run(self._sql["forget"], forgotten)


_Pair = tuple[str, str]


def _explained(index_text: str) -> Iterator[tuple[_Pair, ...]]:
    """Each abbreviation and its words, in both directions; one of a single word in one."""
    tokens = [token[1:] for token in index_text.split() if token[0] == ABBREVIATION]
    parts = [token.replace(ABBREVIATION, " ").partition("  ") for token in tokens]
    pairs = [(typed, meaning) for typed, _, meaning in parts]
    for pair, following in zip_longest(pairs, pairs[1:], fillvalue=("", "")):
        typed, meaning = pair
        if " " not in typed and " " not in meaning:
            yield (pair,)
        elif following[1] == typed:
            yield pair, following
