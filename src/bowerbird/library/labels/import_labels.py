"""Labels for what an import has brought in: the best one of each post that clearly has one.

Nothing is stored between looking and applying: both compare the posts again.
"""

from collections import defaultdict
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.library.bulk.changes import NewChange, packed_parts
from bowerbird.library.bulk.selection import EXAMPLE_CHARACTERS, Example
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.labels.suggestions import LabelSuggestions, SuggestedLabel
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, ChangedLabel
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.requests.labels import ImportLabelling
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service

# The newest posts of an import are compared: 3,000 take half a second of CPU.
COMPARED: Final = 3_000
_TOGETHER: Final = 500
_EXAMPLES: Final = 3
_bookmark: Final = msgspec.json.Decoder(Bookmark).decode


class FittingLabel(Struct, frozen=True):
    label_id: str
    """Identifier of the label."""
    label_name: str
    count: int
    """Number of posts that it is the best label for."""
    color: str | None
    """Colour on the website; null if none was chosen."""
    examples: list[Example]
    """Up to three of the posts, those that it fits best."""


class LabelsOfImport(Struct, frozen=True):
    """Which labels fit the posts of an import that have none."""

    count: int
    """Number of posts that a label clearly fits."""
    compared: int
    """Number of posts without a label that were compared: the newest 3,000 of the import."""
    labels: list[FittingLabel]
    """The labels, those of most posts first."""
    notice: str | None
    """Why more may be found later, or null."""


class _Found(Struct, frozen=True):
    compared: int
    # The posts of each label, the best first.
    of_labels: dict[SuggestedLabel, list[str]]

    @property
    def count(self) -> int:
        return sum(map(len, self.of_labels.values()))


class ImportLabels(Service):
    def __init__(
        self,
        database: Database,
        imports: ImportRuns,
        suggestions: LabelSuggestions,
        meaning: SemanticSearch,
    ) -> None:
        super().__init__(database)
        self._imports = imports
        self._suggestions = suggestions
        self._meaning = meaning

    async def of_run(self, account: Account, run_id: str) -> LabelsOfImport:
        found = await self._find(account, run_id)
        shown = [one for ids in found.of_labels.values() for one in ids[:_EXAMPLES]]
        contents: dict[str, bytes] = {}
        for first in range(0, len(shown), _TOGETHER):
            contents |= await self._stores.bookmarks.by_post_ids(
                account, shown[first : first + _TOGETHER]
            )
        labels = [
            FittingLabel(
                *(label.label_id, label.label_name, len(ids), label.color),
                [_example(contents[one]) for one in ids[:_EXAMPLES] if one in contents],
            )
            for label, ids in found.of_labels.items()
        ]
        return LabelsOfImport(found.count, found.compared, labels, await self._notice(account))

    async def change(self, account: Account, run_id: str, request: ImportLabelling) -> NewChange:
        """The change that gives the posts their labels, to start it."""
        found = await self._find(account, run_id)
        wanted = found.of_labels
        if request.label_ids is not None:
            chosen = frozenset(request.label_ids)
            wanted = {label: ids for label, ids in wanted.items() if label.label_id in chosen}
        pairs = [f"{one}:{label.label_id}" for label, ids in wanted.items() for one in ids]
        expected = request.expected_count
        if expected is not None and expected != len(pairs):
            raise Refusal(
                Code.COUNT_MISMATCH,
                f"expected_count is {expected:,}, but a label fits {len(pairs):,} posts. Nothing "
                "was changed.",
            )
        return NewChange(
            BulkAction.LABEL_BATCH,
            packed_parts(pairs),
            len(pairs),
            labels=[ChangedLabel(int(one.label_id), one.label_name) for one in wanted],
        )

    async def _find(self, account: Account, run_id: str) -> _Found:
        run = await self._imports.get(account, run_id)
        filter = BookmarkFilter(
            unread_only=False, hide_archived=False, unlabelled=True, import_run=run.run_id
        )
        ids = (await self._stores.bookmarks.post_ids(account, filter))[-COMPARED:]
        fitting: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        labels: dict[str, SuggestedLabel] = {}
        for first in range(0, len(ids), _TOGETHER):
            some = ids[first : first + _TOGETHER]
            found = await self._suggestions.of_posts(account, some)
            for post_id, (best, *_) in ((key, each) for key, each in found.items() if each):
                labels.setdefault(best.label_id, best)
                fitting[best.label_id].append((-best.score, post_id))
        order = sorted(fitting, key=lambda one: (-len(fitting[one]), labels[one].label_name))
        return _Found(
            len(ids), {labels[one]: [key for _, key in sorted(fitting[one])] for one in order}
        )

    async def _notice(self, account: Account) -> str | None:
        store = await self._meaning.serving(account)
        if store is not None and not store.missing(account.total):
            return None
        return (
            "Not all posts can be compared by meaning yet. More labels may be found in some "
            "minutes."
            if store is not None
            else "Search by meaning is not ready for this library. Until it is, authors and the "
            "words of posts alone decide which labels fit."
        )


def _example(content: bytes) -> Example:
    post = _bookmark(json_depth.cut(content))
    text = post.tweet_details.text[:EXAMPLE_CHARACTERS]
    return Example(post.post_id, post.author_username, text)
