"""Both databases find the posts that a plain evaluation of the same tree finds."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.ranking import Rankings
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.model.words import Condition, Either, Field, Form, Part, Term, WordQuery
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from tests.support import databases, make, service

pytestmark = pytest.mark.anyio

WORDS = ("apple", "apricot", "banana", "cherry", "damson")
LABELS = ("Apple pie", "Reading", "cherry")
MEDIA = ("image", "video", "link")
POSTS = 120
HIDING = BookmarkFilter(unread_only=True, hide_archived=True)
EVERYTHING = BookmarkFilter(unread_only=False, hide_archived=False)


class Fruits(NamedTuple):
    store: BookmarkStore
    labels: LabelWords
    account: Account
    rankings: Rankings
    posts: dict[int, dict[str, Any]]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def fruits(
    request: pytest.FixtureRequest,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Fruits]:
    if request.param == "sqlite":
        fresh = databases.fresh_sqlite(sqlite_template, tmp_path_factory.mktemp("fruits"))
    else:
        fresh = databases.fresh_postgres(request.getfixturevalue("postgres"))
    async with fresh as database:
        built = await service.build(database)
        posts = [fruit(number) for number in range(POSTS)]
        await built.alice.save_all(posts)
        await built.bob.save_all([fruit(number) for number in range(30)])
        account = await built.alice.account()
        store = BookmarkStore(database)
        numbers = await store.numbers(account, EVERYTHING, None)
        rankings = Rankings(database, SemanticSearch(database))
        by_number = dict(zip(numbers, posts, strict=True))
        yield Fruits(store, LabelWords(database), account, rankings, by_number)


def fruit(number: int) -> dict[str, Any]:
    words = [word for place, word in enumerate(WORDS) if number % (place + 2) == 0]
    return make.post(
        text=" ".join(words[::-1] if number % 7 == 0 else words),
        author=("ada", "mia", "apple")[number % 3],
        name=("Ada L.", "Mia", "Ada")[number % 3],
        attachments=[{"type": kind} for place, kind in enumerate(MEDIA) if number >> place & 1],
        tags=[label for place, label in enumerate(LABELS) if number % (place + 4) == 1] or None,
        metrics={"favorite_count": number},
        is_read=number % 5 == 0,
        is_archived=number % 11 == 0,
        posted_at=f"2026-0{1 + number % 9}-10T00:00:00+00:00" if number % 13 else "",
        **({"note": "remember"} if number % 6 == 0 else {}),
    )


def evaluated(query: WordQuery, post: dict[str, Any], *, has_labels: bool) -> bool:
    def matches(part: Part) -> bool:
        if isinstance(part, Either):
            found = any(all(map(matches, branch)) for branch in part.branches)
        elif isinstance(part, Condition):
            found = CONDITIONS[part.field](part, post)
        else:
            found = contains(part, post, has_labels=has_labels)
        return found is not part.is_excluded

    return all(map(matches, query.parts))


def contains(term: Term, post: dict[str, Any], *, has_labels: bool) -> bool:
    texts = [
        post["tweet_details"]["text"],
        post.get("note", ""),
        post["author_details"]["name"].rstrip("."),
        post["author_username"],
        *((post.get("tags") or []) if has_labels else ()),
    ]
    fields = [text.lower().split() for text in texts]
    return any(occurs(form, fields) for form in (term, *term.forms))


def occurs(form: Any, fields: Sequence[Sequence[str]]) -> bool:
    if isinstance(form, Form) and not form.is_phrase:
        everywhere = {word for field in fields for word in field}
        return set(form.tokens) <= everywhere
    return any(in_a_row(form, field) for field in fields)


def in_a_row(form: Any, words: Sequence[str]) -> bool:
    *start, last = form.tokens
    for first in range(len(words) - len(start)):
        found = words[first + len(start)]
        ends = found.startswith(last) if form.is_prefix else found == last
        if ends and list(words[first : first + len(start)]) == start:
            return True
    return False


def posted(post: dict[str, Any]) -> int:
    """A post without a time has the one at which it was saved."""
    return instants.parse(post["tweet_details"]["posted_at"]) or service.NOW


def is_by(condition: Condition, post: dict[str, Any]) -> bool:
    name, handle = post["author_details"]["name"].lower(), post["author_username"]
    return condition.value in (name, handle, f"@{handle}")


def has(condition: Condition, post: dict[str, Any]) -> bool:
    if condition.value == "note":
        return "note" in post
    kinds = MEDIA[:2] if condition.value == "media" else (condition.value,)
    return any(each["type"] in kinds for each in post["tweet_details"]["attachments"])


def is_in_state(condition: Condition, post: dict[str, Any]) -> bool:
    return condition.value == "all" or bool(
        post["is_archived"]
        if condition.value == "archived"
        else post["is_read"] is (condition.value == "read")
    )


def likes(post: dict[str, Any]) -> int:
    metrics = post["tweet_details"]["meta"]["non_real_time_engagement_metrics"]
    return int(metrics["favorite_count"])


CONDITIONS: dict[Field, Callable[[Condition, dict[str, Any]], bool]] = {
    Field.AUTHOR: is_by,
    Field.LABEL: lambda c, post: c.value in [name.lower() for name in post.get("tags") or []],
    Field.HAS: has,
    Field.IS: is_in_state,
    Field.LIKES: lambda c, post: likes(post) >= int(c.value),
    Field.BEFORE: lambda c, post: posted(post) < (c.instant or 0),
    Field.AFTER: lambda c, post: posted(post) >= (c.instant or 0),
}

word = st.sampled_from([*WORDS, "ada", "remember", "pie", "none"])
tokens = st.lists(word, min_size=1, max_size=2).map(tuple)
forms = st.builds(Form, tokens, is_prefix=st.booleans(), is_phrase=st.just(value=True)) | st.builds(
    Form, tokens, is_phrase=st.just(value=False)
)
terms = st.builds(
    Term,
    tokens,
    is_excluded=st.booleans(),
    forms=st.lists(forms, max_size=2).map(tuple),
) | st.builds(
    Term, st.sampled_from([("ap",), ("apple", "ban"), ("ch",)]), is_prefix=st.just(value=True)
)


def conditions(field: Field, values: Iterable[str]) -> st.SearchStrategy[Condition]:
    chosen = st.sampled_from([*values])
    return st.builds(Condition, st.just(field), chosen, is_excluded=st.booleans())


dates = st.builds(
    Condition,
    st.sampled_from([Field.BEFORE, Field.AFTER]),
    st.just("date"),
    is_excluded=st.booleans(),
    instant=st.sampled_from(["2026-03-10", "2026-05-01", "2026-12-01"]).map(instants.parse),
)
leaves = (
    terms
    | conditions(Field.AUTHOR, ["ada", "@mia", "ada l.", "apple", "nobody"])
    | conditions(Field.LABEL, ["reading", "apple pie", "none"])
    | conditions(Field.HAS, [*MEDIA, "media", "note", "highlight", "poll"])
    | conditions(Field.IS, ["read", "unread", "archived", "all"])
    | conditions(Field.LIKES, ["0", "1", "100"])
    | dates
)
branches = st.recursive(
    leaves,
    lambda parts: st.builds(
        Either,
        st.lists(st.lists(parts, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(
            tuple
        ),
        is_excluded=st.booleans(),
    ),
    max_leaves=8,
)
trees = st.lists(branches, min_size=1, max_size=3).map(lambda parts: WordQuery(tuple(parts)))


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=trees, flags=st.sampled_from([HIDING, EVERYTHING]), has_labels=st.booleans())
async def test_a_database_finds_what_a_plain_evaluation_finds(
    fruits: Fruits,
    query: WordQuery,
    flags: BookmarkFilter,
    has_labels: bool,  # noqa: FBT001 - a generated value
) -> None:
    filter = msgspec.structs.replace(flags, words=query)
    if has_labels:
        filter = await fruits.labels.resolved(fruits.account, filter)

    expected = {
        number
        for number, post in fruits.posts.items()
        if evaluated(query, post, has_labels=has_labels)
        and not (flags.unread_only and (post["is_read"] or post["is_archived"]))
    }
    assert set(await fruits.store.numbers(fruits.account, filter, None)) == expected
    assert await fruits.store.count(fruits.account, filter) == len(expected)
    page = await fruits.store.page(fruits.account, filter, Sort(), None, POSTS)
    assert page.count == len(expected)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=trees)
async def test_ranking_returns_exactly_the_matches(fruits: Fruits, query: WordQuery) -> None:
    filter = BookmarkFilter(unread_only=False, hide_archived=False, words=query)
    ranking = await fruits.rankings.rank(fruits.account, filter, None, None)
    assert sorted(ranking.numbers) == list(await fruits.store.numbers(fruits.account, filter, None))
