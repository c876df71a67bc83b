"""The abbreviations that the posts of an account explain.

They stay when the posts go. No more are learnt than a table and a query have room for.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from bowerbird.model.words import ABBREVIATION
from bowerbird.storage.database import Reader, Store
from bowerbird.storage.libraries import LockedLibrary

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
        """Adds what the words of new posts explain. Most explain nothing."""
        pairs = dict.fromkeys(
            pair for text in index_texts if ABBREVIATION in text for pair in _explained(text)
        )
        if not pairs:
            return
        transaction, account_id = library.transaction, library.account_id
        known = await self.of(transaction, account_id, [typed for typed, _ in pairs])
        new: list[tuple[str, str]] = []
        meanings = {typed: list(known.get(typed, ())) for typed, _ in pairs}
        for typed, meaning in pairs:
            if meaning not in meanings[typed] and len(meanings[typed]) < MOST_MEANINGS:
                meanings[typed].append(meaning)
                new.append((typed, meaning))
        if not new:
            return
        rows = await self._rows(transaction, "total", account_id=account_id)
        values = [
            {"account_id": account_id, "typed": typed, "meaning": meaning}
            for typed, meaning in islice(new, max(MOST - rows[0][0], 0))
        ]
        await transaction.run_many(self._sql["add"], values)


def _explained(index_text: str) -> list[tuple[str, str]]:
    tokens = [token[1:] for token in index_text.split() if token[0] == ABBREVIATION]
    parts = [token.partition(2 * ABBREVIATION) for token in tokens]
    return [
        (typed.replace(ABBREVIATION, " "), meaning.replace(ABBREVIATION, " "))
        for typed, _, meaning in parts
    ]
