"""GET /v1/views/{slug}/bookmarks returns the same posts as GET /v1/bookmarks."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rest.paging import pages
from tests.support import make, writing
from tests.support.service import Member
from tests.support.writing import DAY, HOUR

pytestmark = pytest.mark.anyio

BOOLEANS = st.sampled_from([True, False, "true", "0"])
DATES = st.sampled_from(["2026-01-02", "2026-01-03T12:00:00+02:00", "2026-01-05"])
QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "is_unread_only": BOOLEANS,
        "hide_archived": BOOLEANS,
        "media_type": st.sampled_from(["image", "photo", "text", "article"]),
        "author": st.sampled_from(["ada", "@EVE", "Ada L.", "nobody"]),
        "tag": st.sampled_from(["x", "X ", "y", "nothing"]),
        "posted_from": DATES,
        "posted_to": DATES,
        "bookmarked_from": DATES,
        "bookmarked_to": DATES,
        "q": st.sampled_from(["katze", "katze hund", "-katze", '"katze hund"', "ka*", "!!", " "]),
    },
)
SORTS = st.none() | st.fixed_dictionaries(
    {"sort_by": st.sampled_from(["title", "created_at", "posted_at", "author", "favorite_count"])},
    optional={"sort_order": st.sampled_from(["asc", "desc"])},
)


async def _fill(member: Member) -> None:
    texts = ("katze", "hund", "katze hund", "maus")
    await member.save_all(
        [
            make.post(
                post_id=str(number),
                sort_index=number,
                text=texts[number % 4],
                author=("ada", "eve")[number % 2],
                name=("Ada L.", "Eve")[number % 2],
                tags=[[], ["x"], ["y"], ["x", "y"]][number % 4],
                is_read=number % 3 == 0,
                is_archived=number % 5 == 0,
                posted_at=f"2026-01-0{1 + number % 6}T12:00:00+00:00",
                bookmarked_at=f"2026-01-0{1 + number % 7}T11:00:00+00:00",
                attachments=[{"type": "image"}] if number % 2 else [],
                metrics={"favorite_count": number % 3},
            )
            for number in range(1, 25)
        ]
    )


def _parameters(query: dict[str, Any], sort: dict[str, str] | None) -> dict[str, str]:
    """The parameters of the list that select the same posts."""
    texts = {k: str(v).lower() if isinstance(v, bool) else v for k, v in query.items()}
    return {"is_unread_only": "false", **texts, **(sort or {})}


async def _shown(member: Member, path: str, **params: Any) -> dict[str, Any]:
    response = await member.get(path, **params)
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def _crawled(member: Member, path: str, **params: Any) -> list[dict[str, Any]]:
    """Every page without its cursor and hints, because those of a view differ from the list's."""
    read = await pages(member, path, limit=7, **params)
    for page in read:
        for name in ("next_cursor", "hint", "did_you_mean"):
            page["meta"].pop(name, None)
    return read


EMPTY = [{"status": True, "data": [], "meta": {"limit": 7, "total_count": 0, "count": 0}}]


async def _strictly(member: Member, **params: Any) -> list[dict[str, Any]]:
    """The pages of a list; one empty page if no post has every word, as a view has it.

    The list refuses a time that ends before it starts. A view shows nothing then: its own dates
    and those of a bucket may exclude each other.
    """
    first = await member.get("/v1/bookmarks", **params)
    if first.status_code == 400 and "_from: is after " in first.text:
        return EMPTY
    read = await _crawled(member, "/v1/bookmarks", **params)
    return EMPTY if any(page["meta"].get("relaxed") for page in read) else read


@pytest.mark.both
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES, bucket=QUERIES, sort=SORTS)
async def test_a_view_returns_the_same_posts_as_the_list(
    alice: Member, query: dict[str, Any], bucket: dict[str, Any], sort: dict[str, str] | None
) -> None:
    if not (await alice.account()).total:
        await _fill(alice)
    bucket = {name: value for name, value in bucket.items() if name == "q" or name not in query}
    both = {**query, **bucket}
    if "q" in query and "q" in bucket:
        words = (query["q"], bucket["q"])
        both["q"] = "!!" if "!!" in words else " ".join(words)

    path = await writing.view(
        alice,
        base_query=query,
        default_sort=sort,
        triage_buckets=[{"slug": "b", "name": "B", "query": bucket}],
    )
    whole = await _crawled(alice, f"{path}/bookmarks")
    narrowed = await _crawled(alice, f"{path}/bookmarks", bucket="b")
    count = (await alice.get(path)).json()["data"]["count"]
    await writing.send(alice, "DELETE", path)

    assert whole == await _strictly(alice, **_parameters(query, sort))
    assert narrowed == await _strictly(alice, **_parameters(both, sort))
    assert count == whole[0]["meta"]["total_count"]


async def test_a_bucket_without_words_shows_nothing(alice: Member) -> None:
    await alice.save(post_id="1", text="katze")
    path = await writing.view(
        alice,
        base_query={"q": "katze"},
        triage_buckets=[{"slug": "b", "name": "B", "query": {"q": "?!"}}],
    )

    assert (await _shown(alice, f"{path}/bookmarks", bucket="b"))["data"] == []
    assert len((await _shown(alice, f"{path}/bookmarks"))["data"]) == 1


async def test_relevance_applies_only_to_keyword_searches(alice: Member) -> None:
    await alice.save(post_id="1", text="katze katze katze")
    await alice.save(post_id="2", text="katze und sehr viele andere worte die nicht zaehlen")
    ranked = await writing.view(alice, base_query={"q": "katze"}, default_sort="relevance")
    plain = await writing.view(alice, default_sort="relevance")

    assert (await _shown(alice, f"{ranked}/bookmarks"))["data"] == (
        await alice.listed(q="katze", sort_by="relevance")
    )["data"]
    assert (await _shown(alice, f"{plain}/bookmarks"))["data"] == (await alice.listed())["data"]


async def test_an_unknown_bucket_is_refused_and_the_known_ones_listed(alice: Member) -> None:
    path = await writing.view(alice, triage_buckets=[{"name": "a"}, {"name": "b"}])

    response = await alice.get(f"{path}/bookmarks", bucket="c")

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response) == "bucket: no bucket 'c'; this view has: a, b."


async def test_cursors_with_relative_dates_stay_valid_as_time_passes(alice: Member) -> None:
    saved = [
        (await alice.save(posted_at=f"2026-07-{number:02}T08:00:00+00:00"))["post_id"]
        for number in range(10, 19)
    ]
    path = f"{await writing.view(alice, base_query={'posted_from': '-9d'})}/bookmarks"

    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await _shown(alice, path, limit=2, cursor=cursor)
        seen += [bookmark["post_id"] for bookmark in page["data"]]
        cursor = page["meta"]["next_cursor"]
        alice.clock.now += HOUR

    assert seen == saved[::-1]
    first = await _shown(alice, path, limit=2)
    alice.clock.now += 3 * DAY
    later = await _shown(alice, path, limit=50, cursor=first["meta"]["next_cursor"])
    assert [bookmark["post_id"] for bookmark in later["data"]] == saved[3:-2][::-1]


async def test_a_cursor_is_valid_only_for_its_view(alice: Member) -> None:
    for _ in range(3):
        await alice.save()
    path = await writing.view(alice, "One", triage_buckets=[{"name": "a"}])
    other = await writing.view(alice, "Other")
    cursor = (await _shown(alice, f"{path}/bookmarks", limit=1))["meta"]["next_cursor"]

    for target, params in (
        (f"{other}/bookmarks", {"cursor": cursor}),
        (f"{path}/bookmarks", {"cursor": cursor, "bucket": "a"}),
    ):
        response = await alice.get(target, **params)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("cursor: ")
    await writing.send(alice, "PATCH", path, {"name": "Renamed"})
    assert (await alice.get(f"{path}/bookmarks", cursor=cursor)).status_code == 200
    await writing.send(alice, "PATCH", path, {"base_query": {"q": "post"}})
    assert (await alice.get(f"{path}/bookmarks", cursor=cursor)).status_code == 400


async def test_the_free_plan_has_the_same_restrictions_as_in_the_list(free: Member) -> None:
    await free.set_plan("pro")
    filtered = f"{await writing.view(free, base_query={'tag': 'x'})}/bookmarks"
    bucket = {"name": "b", "query": {"author": "x"}}
    open_query = {"q": "x", "is_unread_only": True, "hide_archived": False}
    plain = await writing.view(
        free, base_query=open_query, default_sort="title", triage_buckets=[bucket]
    )
    await free.set_plan("free")

    assert (await free.get(f"{plain}/bookmarks")).status_code == 200
    for path, params, code in (
        (filtered, {}, "FILTER_NOT_ALLOWED"),
        (filtered, {"limit": "0"}, "FILTER_NOT_ALLOWED"),
        (filtered, {"bucket": "nothing"}, "FILTER_NOT_ALLOWED"),
        (f"{plain}/bookmarks", {"bucket": "b"}, "FILTER_NOT_ALLOWED"),
        (f"{plain}/bookmarks", {"cursor": "x"}, "PAGINATION_NOT_ALLOWED"),
        ("/v1/views/nothing/bookmarks", {"cursor": "x"}, "PAGINATION_NOT_ALLOWED"),
    ):
        assert writing.refused(await free.get(path, **params)) == (402, code), (path, params)


async def test_a_view_can_need_several_labels(alice: Member) -> None:
    both = await alice.save(tags=["Birds, small", "Nests"])
    one = await alice.save(tags=["Nests"])
    labels = ["birds, small", "nests"]

    path = await writing.view(alice, "any", base_query={"label": labels})
    query = {"label": labels, "label_match": "all", "posted_from": "-99y"}
    every = await writing.view(alice, "all", base_query=query)

    shown = (await alice.get(path)).json()["data"]
    assert (shown["count"], shown["base_query"]) == (2, {"label": labels})
    found = (await alice.get(f"{every}/bookmarks")).json()["data"]
    assert [post["post_id"] for post in found] == [both["post_id"]]
    listed = await alice.ids(label="Birds, small")
    assert listed == [both["post_id"]]
    assert one["post_id"] in await alice.ids(label="Birds, Nests")
