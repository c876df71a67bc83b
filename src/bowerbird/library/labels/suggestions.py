"""Suggests labels of the account for its posts. The labelled posts are all it learns from.

Nothing is labelled by itself: a label that is added or removed changes the next suggestion. Of
labels that are refused, only their ids are stored, with the post.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bookmarks.writing.changeset import Changesets
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.words import order_key
from bowerbird.requests.limits import SUGGESTED_LABELS_MAX
from bowerbird.search.words.tokens import words
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Row, Transaction
from bowerbird.storage.labels import LabelStore

if TYPE_CHECKING:
    from bowerbird.search.label_votes import LabelledPosts, Votes

MOST: Final = 3
# Labels of the newest posts vote, which bounds the work in a large library.
PAIRS: Final = 20_000
# Of an account with more labels, the most used ones are suggested.
LABELS: Final = SUGGESTED_LABELS_MAX
# Of each post; few words decide.
_CHARACTERS: Final = 4_000
# Below it, a label is not suggested.
LEAST: Final = 0.5
# Nothing is certain.
SURE: Final = 0.99
# Of a label whose name is in the text of the post.
NAMED: Final = 0.5

Reason = Literal["meaning", "author", "words"]


class SuggestedLabel(Struct, frozen=True):
    label_id: str
    """Identifier of the label."""
    label_name: str
    score: float
    """How well it fits, from 0 to 1. Labels below 0.5 are not suggested."""
    reason: Reason
    """What counts most: similar posts, posts of the author, or the label's name in the text."""
    posts: int
    """Number of posts that the reason is based on; 0 for words."""
    color: str | None
    """Colour on the website; null if none was chosen."""


class RefusedLabel(Struct, frozen=True):
    post_id: str
    label_id: str
    """Identifier of the label that was refused."""
    label_name: str


class _Details(Struct):
    text: str | None = None
    article: dict[str, Any] | None = None


class _Post(Struct):
    tweet_details: _Details = msgspec.field(default_factory=_Details)
    tags: list[str] | None = None


class _Known(Struct, frozen=True):
    """The labels that can be suggested, by id, and their names by their first word."""

    rows: Mapping[int, Row]
    by_word: Mapping[str, Sequence[tuple[frozenset[str], int]]]

    @classmethod
    def of(cls, rows: Iterable[Row], star: str) -> "_Known":
        """`star`: the key of the label that a star adds, which says nothing about a subject."""
        by_id = {row[0]: row for row in rows if row[4] > 0 and row[2] != star}
        by_word = defaultdict(list)
        for label_id, row in by_id.items():
            if tokens := words(row[1]):
                by_word[tokens[0]].append((frozenset(tokens), label_id))
        return cls(by_id, by_word)


_post: Final = msgspec.json.Decoder(_Post).decode


class LabelSuggestions:
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._database = database
        self._changesets = Changesets(database)
        self._accounts = AccountStore(database)
        self._labels = LabelStore(database)
        self._posts = BookmarkStore(database)
        self._meaning = meaning

    async def of_post(self, account: Account, post_id: str) -> list[SuggestedLabel]:
        found = await self.of_posts(account, [post_id])
        if post_id not in found:
            raise errors.not_found("post", post_id)
        return found[post_id]

    async def of_posts(
        self, account: Account, post_ids: Sequence[str]
    ) -> dict[str, list[SuggestedLabel]]:
        """The labels that fit each of these posts, without those that it has, best first.

        Posts that are not in the library are left out.
        """
        plans.check_writes(account)
        ids = [each for each in post_ids if is_post_id(each)]
        asked = await self._labels.asked(account.account_id, ids)
        if not asked:
            return {}
        pairs = await self._labels.newest_pairs(account.account_id, PAIRS)
        if not pairs[0]:
            return {row[0]: [] for row in asked}
        labelled = await asyncio.to_thread(_read, *pairs)
        first = int(labelled.numbers[0])
        authors = sorted({row[2] for row in asked if row[2]})
        by_author = await self._labels.by_authors(account.account_id, authors, first)
        contents = await self._posts.by_post_ids(account, [row[0] for row in asked])
        reading = await self._accounts.reading(self._database, account.account_id)
        labels = await self._labels.most_used(account.account_id, LABELS)
        names = {row[0]: row[1] for row in labels}
        near = await self._near(account, labelled, [row[1] for row in asked], names)

        def choose() -> dict[str, list[SuggestedLabel]]:
            known, found = _Known.of(labels, name_key(reading.favourite)), {}
            for (post_id, number, author, refused), votes in zip(asked, near, strict=True):
                if post_id not in contents:
                    continue
                post = _post(json_depth.cut(contents[post_id]))
                own = labelled.by_author(by_author.get(author, ""), number)
                fit = _chosen(known, post, votes, own)
                kept = [one for one in fit if f",{one.label_id}," not in refused]
                found[post_id] = kept[:MOST]
            return found

        return await asyncio.to_thread(choose)

    async def of_new(self, account: Account, author: str, text: str) -> list[SuggestedLabel]:
        """The labels that fit a post that is not saved yet, by its author and its words."""
        plans.check_writes(account)
        pairs = await self._labels.newest_pairs(account.account_id, PAIRS)
        if not pairs[0]:
            return []
        labelled = await asyncio.to_thread(_read, *pairs)
        first, key = int(labelled.numbers[0]), order_key(author)
        by_author = await self._labels.by_authors(account.account_id, [key] if key else [], first)
        reading = await self._accounts.reading(self._database, account.account_id)
        labels = await self._labels.most_used(account.account_id, LABELS)

        def choose() -> list[SuggestedLabel]:
            known = _Known.of(labels, name_key(reading.favourite))
            own = labelled.by_author(by_author.get(key, ""), 0)
            return _chosen(known, _Post(_Details(text)), {}, own)[:MOST]

        return await asyncio.to_thread(choose)

    async def refuse(
        self, transaction: Transaction, account: Account, post_id: str, label_id: str
    ) -> RefusedLabel:
        """The label is not suggested for this post any more."""
        plans.check_writes(account)
        changeset = await self._changesets.open(
            transaction, account.account_id, label_ids=[label_id]
        )
        await changeset.load([post_id])
        post, label = changeset.post(post_id), changeset.label_of_id(label_id)
        if post is None:
            raise errors.not_found("post", post_id)
        if label is None:
            raise errors.not_found("label", label_id)
        await changeset.refuse([post], label)
        await changeset.finish(0)
        return RefusedLabel(post_id, label_id, label.name)

    async def _near(
        self,
        account: Account,
        labelled: "LabelledPosts",
        asked: Sequence[int],
        names: Mapping[int, str],
    ) -> "list[Votes]":
        """Votes by meaning; none without vectors."""
        none: list[Votes] = [{} for _ in asked]
        store = await self._meaning.serving(account)
        if store is None or not store.dimensions:
            return none
        try:
            found = await self._meaning.label_nearness(
                account,
                store,
                asked,
                labelled.groups,
                [names.get(one, "") for one in labelled.known],
            )
        except Refusal:
            # Authors and words still tell something.
            return none
        if found is None:
            return none
        return await asyncio.to_thread(lambda: list(map(labelled.by_meaning, found)))


def _read(numbers: str, label_ids: str) -> "LabelledPosts":
    from bowerbird.search.label_votes import LabelledPosts  # noqa: PLC0415 - imports numpy

    return LabelledPosts.read(numbers, label_ids)


def _chosen(known: _Known, post: _Post, near: "Votes", author: "Votes") -> list[SuggestedLabel]:
    named = dict.fromkeys(_named(known, post), (NAMED, 0))
    reasons: tuple[tuple[Reason, Votes], ...] = (
        ("meaning", near),
        ("author", author),
        ("words", named),
    )
    own = set(post.tags or ())
    unlikely: dict[int, float] = {}
    most: dict[int, tuple[float, int, Reason]] = {}
    for reason, votes in reasons:
        for label_id, (score, posts) in votes.items():
            unlikely[label_id] = unlikely.get(label_id, 1.0) * (1 - score)
            if label_id not in most or score > most[label_id][0]:
                most[label_id] = (score, posts, reason)
    found = []
    for label_id, share in unlikely.items():
        row = known.rows.get(label_id) if 1 - share >= LEAST else None
        if row is not None and row[1] not in own:
            _, posts, reason = most[label_id]
            score = min(round(1 - share, 2), SURE)
            found.append(SuggestedLabel(str(label_id), row[1], score, reason, posts, row[6]))
    found.sort(key=lambda each: (-each.score, each.label_name))
    return found


def _named(known: _Known, post: _Post) -> Iterable[int]:
    """The labels whose whole name is in the text of a post."""
    article = post.tweet_details.article or {}
    texts = (post.tweet_details.text, article.get("title"), article.get("plain_text"))
    joined = " ".join(text[:_CHARACTERS] for text in texts if isinstance(text, str))
    tokens = frozenset(words(joined))
    for token in tokens & known.by_word.keys():
        for name, label_id in known.by_word[token]:
            if name <= tokens:
                yield label_id
