"""/v1/views: create, show, change, order and delete."""

import unicodedata
from typing import Any
from urllib.parse import quote

import pytest

from tests.support import writing
from tests.support.service import Member
from tests.support.writing import DAY, SECOND

pytestmark = pytest.mark.anyio


async def _create(member: Member, **fields: Any) -> Any:
    return await writing.send(member, "POST", "/v1/views", fields)


# Creating
async def test_a_view_is_created_and_shown(alice: Member) -> None:
    await alice.save(tags=["x"], is_read=True)
    await alice.save()
    bucket = {"slug": "unread", "name": "Unread", "query": {"is_unread_only": True}}

    response = await _create(
        alice,
        name="  My   View ",
        description="What I keep.",
        base_query={"tag": "x"},
        default_sort={"sort_by": "posted_at", "sort_order": "asc"},
        triage_buckets=[bucket],
    )

    assert response.status_code == 201
    assert response.headers["location"] == "/v1/views/my-view"
    assert response.json()["data"] == {
        "slug": "my-view",
        "name": "My View",
        "description": "What I keep.",
        "base_query": {"tag": "x"},
        "default_sort": {"sort_by": "posted_at", "sort_order": "asc"},
        "triage_buckets": [bucket],
        "position": 1,
        "is_pinned": True,
        "count": 1,
        "count_state": "exact",
        "created_at": "2026-07-18T08:21:13.841838+00:00",
        "updated_at": "2026-07-18T08:21:13.841838+00:00",
    }
    shown = (await alice.get("/v1/views/my-view")).json()["data"]
    assert shown == response.json()["data"]
    assert (await alice.get("/v1/views")).json()["data"] == [shown]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_an_account_can_have_at_most_200_views(alice: Member) -> None:
    for number in range(200):
        assert (await _create(alice, name=str(number))).status_code == 201

    response = await _create(alice, name="one more")

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert len((await alice.get("/v1/views")).json()["data"]) == 200


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "name: "),
    ({"name": None}, "name: "),
    ({"name": "  "}, "name: "),
    ({"base_query": {"limit": "5"}}, "Unknown field 'limit' in base_query. "),
    ({"base_query": {"sort_by": "title"}}, "Unknown field 'sort_by' in base_query. "),
    ({"base_query": {"tags": "x"}}, "Unknown field 'tags' in base_query. Did you mean tag? "),
    ({"base_query": {"media_type": "smell"}}, "base_query.media_type: "),
    ({"base_query": {"posted_to": "last 7 moons"}}, "base_query.posted_to: "),
    ({"default_sort": 7}, "default_sort: "),
    (
        {"default_sort": {"sort_by": "title", "order": "desc"}},
        "Unknown field 'order' in default_sort. ",
    ),
    (
        {"triage_buckets": [{"name": "b", "qurey": {}}]},
        "Unknown field 'qurey' in triage_buckets[0]. Did you mean query? ",
    ),
    ({"default_sort": "taste"}, "default_sort: must be one of "),
    ({"default_sort": {"sort_by": "title", "sort_order": "up"}}, "default_sort.sort_order: "),
    ({"triage_buckets": [{"name": str(n)} for n in range(21)]}, "triage_buckets: "),
    ({"triage_buckets": [{"name": "a"}, {}]}, "triage_buckets[1].name: "),
    ({"triage_buckets": [{"name": "a"}, {"name": "A"}]}, "triage_buckets[1].slug: "),
    (
        {"triage_buckets": [{"name": "a", "query": {"media_type": "smell"}}]},
        "triage_buckets[0].query.media_type: ",
    ),
    (
        {"base_query": {"tag": "x"}, "triage_buckets": [{"name": "a", "query": {"tag": "y"}}]},
        "triage_buckets[0].query.tag: ",
    ),
]


async def test_an_invalid_view_is_refused_and_its_field_named(alice: Member) -> None:
    path = await writing.view(alice, "kept")
    before = (await alice.get("/v1/views")).content

    for wrong, named in WRONG:
        body = {"name": "n", **wrong} if wrong else {}
        answers = [await writing.send(alice, "POST", "/v1/views", body)]
        if wrong:
            answers.append(await writing.send(alice, "PATCH", path, wrong))
        for response in answers:
            assert writing.refused(response) == (400, "INVALID_REQUEST"), wrong
            assert writing.sentence(response).startswith(named), writing.sentence(response)
    assert (await alice.get("/v1/views")).content == before


async def test_dates_in_a_view_can_be_relative(alice: Member) -> None:
    await alice.save(posted_at="2026-07-18T08:00:00+00:00")
    texts = (
        *("last 7 days", "Last 1 Day", "last 12 hours", "last 2 weeks", "last 3 months"),
        *("last 1 year", "-7d", "-12h", "-2w", "-3m", "-1y", " -7D ", "-9999y", "last 9999 years"),
        *("2026-01-31", "2026-01-31T08:00:00+02:00"),
    )

    for text in texts:
        response = await _create(alice, name="x", base_query={"posted_from": text})
        assert response.status_code == 201, text
        assert response.json()["data"]["base_query"] == {"posted_from": text}
        assert response.json()["data"]["count"] == 1, text
        path = response.headers["location"]
        assert (await alice.get(f"{path}/bookmarks")).json()["meta"]["total_count"] == 1, text


async def test_default_sort_can_be_a_string_or_have_an_empty_order(alice: Member) -> None:
    response = await _create(alice, name="x", default_sort="title")
    path = await writing.view(alice, default_sort={"sort_by": "title", "sort_order": ""})

    assert response.json()["data"]["default_sort"] == {"sort_by": "title"}
    assert (await alice.get(f"{path}/bookmarks")).status_code == 200


# Changing
async def test_a_patch_changes_only_the_sent_fields_and_keeps_the_slug(alice: Member) -> None:
    await alice.save(tags=["x"])
    path = await writing.view(alice, "Cats", description="d", base_query={"tag": "y"})
    alice.clock.now += DAY

    response = await writing.send(
        alice, "PATCH", path, {"name": "Dogs", "base_query": {"tag": "x"}}
    )

    view = response.json()["data"]
    assert response.status_code == 200
    assert (view["slug"], view["name"], view["description"]) == ("cats", "Dogs", "d")
    assert (view["base_query"], view["count"]) == ({"tag": "x"}, 1)
    assert view["created_at"] == "2026-07-18T08:21:13.841838+00:00"
    assert view["updated_at"] == "2026-07-19T08:21:13.841838+00:00"
    assert (await alice.get(path)).json()["data"] == view


async def test_null_clears_optional_fields(alice: Member) -> None:
    path = await writing.view(
        alice,
        description="d",
        base_query={"tag": "x"},
        default_sort="title",
        triage_buckets=[{"name": "a"}],
    )

    body = dict.fromkeys(("description", "base_query", "default_sort", "triage_buckets"))
    view = (await writing.send(alice, "PATCH", path, body)).json()["data"]

    assert (view["description"], view["base_query"]) == ("", {})
    assert (view["default_sort"], view["triage_buckets"]) == (None, [])


async def test_a_new_query_must_not_conflict_with_the_existing_buckets(alice: Member) -> None:
    path = await writing.view(alice, triage_buckets=[{"name": "a", "query": {"tag": "x"}}])

    response = await writing.send(alice, "PATCH", path, {"base_query": {"tag": "y"}})

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith("triage_buckets[0].query.tag: ")


async def test_deleting_a_view_keeps_its_bookmarks(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    path = await writing.view(alice, base_query={"tag": "x"})
    shown = (await alice.get(path)).json()["data"]

    response = await writing.send(alice, "DELETE", path)

    assert response.status_code == 200
    assert response.json()["data"] == shown
    for end in ("", "/bookmarks"):
        assert writing.refused(await alice.get(path + end)) == (404, "NOT_FOUND")
    assert (await alice.get("/v1/views")).json()["data"] == []
    assert await alice.ids() == ["1"]
    assert (await writing.send(alice, "DELETE", path)).status_code == 404


async def test_only_views_with_relative_dates_change_their_etag_over_time(alice: Member) -> None:
    still = await writing.view(alice, "Still", base_query={"posted_from": "2026-01-01"})
    moving = await writing.view(alice, "Moving", base_query={"posted_from": "-7d"})
    bucket = {"name": "b", "query": {"posted_from": "-7d"}}
    inside = await writing.view(alice, "Inside", triage_buckets=[bucket])
    paths = [still, f"{still}/bookmarks", moving, f"{moving}/bookmarks", inside, "/v1/views"]

    before = [(await alice.get(path)).headers["etag"] for path in paths]
    at_once = [(await alice.get(path)).headers["etag"] for path in paths]
    alice.clock.now += 61 * SECOND
    later = [(await alice.get(path)).headers["etag"] for path in paths]

    assert at_once == before
    assert [one == other for one, other in zip(before, later, strict=True)] == [
        # That of one view only shows another answer.
        *(True, True, True, False, True, False)
    ]


async def test_the_free_plan_can_read_views_but_not_write_them(free: Member) -> None:
    await free.set_plan("pro")
    path = await writing.view(free)
    await free.set_plan("free")

    assert (await free.get("/v1/views")).status_code == 200
    assert (await free.get(path)).status_code == 200
    refused = await writing.send(free, "PATCH", path, {"name": "x"})
    assert writing.refused(refused) == (402, "SUBSCRIPTION_REQUIRED")


async def test_null_and_empty_values_in_a_query_are_ignored(alice: Member) -> None:
    await alice.save(is_read=True)
    await alice.save()

    made = await _create(alice, name="v", base_query={"is_unread_only": None, "tag": ""})

    assert made.json()["data"]["count"] == 2
    assert made.json()["data"]["base_query"] == {}


async def test_an_invalid_body_is_reported_before_an_unknown_view(alice: Member) -> None:
    wrong: list[dict[str, Any]] = [
        {"name": 5},
        {"triage_buckets": [{"name": "a"}, {"name": "A"}]},
        {"base_query": {"tag": "x"}, "triage_buckets": [{"name": "a", "query": {"tag": "y"}}]},
    ]

    for body in wrong:
        response = await writing.send(alice, "PATCH", "/v1/views/nope", body)
        assert writing.refused(response) == (400, "INVALID_REQUEST")


async def test_the_slug_is_made_from_the_name(alice: Member) -> None:
    slugs = {
        "My View": "my-view",
        "  a & b  ": "a-b",
        "\u00c9tudes d'\u00e9t\u00e9": "etudes-d-ete",
        "Smørrebrød & Straße": "smørrebrød-straße",
        "İstanbul": "istanbul",
        "\u732b": "\u732b",
        "Λίστα Στίχος": "λίστα-στίχος",
        "日本語 の ノート": "日本語-の-ノート",
        "हिन्दी पुस्तक": "हिन्दी-पुस्तक",
        "\u0645\u06cc\u200c\u062f\u0648": "\u0645\u06cc\u062f\u0648",
        "🐦🌿": "bird-herb",
        "🇩🇪": "d-e",
        "a\u202eb": "ab",
        "---": "view",
        "\u3164\u0301": "view-2",
        "../../etc": "etc",
        "x" * 100: "x" * 60,
    }

    for name, slug in slugs.items():
        response = await _create(alice, name=name)
        assert response.json()["data"]["slug"] == slug
        assert response.headers["location"] == f"/v1/views/{quote(slug)}"
        shown = await alice.get(response.headers["location"])
        assert shown.json()["data"]["name"] == response.json()["data"]["name"]


async def test_a_slug_is_found_with_separate_accents(alice: Member) -> None:
    await _create(alice, name="Λίστα")
    apart = quote(unicodedata.normalize("NFD", "λίστα"))
    assert apart != quote("λίστα")

    assert (await alice.get(f"/v1/views/{apart}")).status_code == 200
    changed = await writing.send(alice, "PATCH", f"/v1/views/{apart}", {"name": "Other"})
    assert changed.json()["data"]["slug"] == "λίστα"


async def _slugs(member: Member) -> list[str]:
    views = (await member.get("/v1/views")).json()["data"]
    assert [view["position"] for view in views] == list(range(1, len(views) + 1))
    return [view["slug"] for view in views]


@pytest.mark.both
async def test_a_view_can_be_moved(alice: Member) -> None:
    for name in "abcd":
        await _create(alice, name=name)

    for slug, position, expected in (
        ("d", 1, "dabc"),
        ("d", 3, "abdc"),
        ("a", 4, "bdca"),
        ("b", 200, "dcab"),
        ("c", 2, "dcab"),
    ):
        change = {"position": position}
        moved = await writing.send(alice, "PATCH", f"/v1/views/{slug}", change)
        assert moved.json()["data"]["position"] == expected.index(slug) + 1
        assert await _slugs(alice) == list(expected)

    await writing.send(alice, "DELETE", "/v1/views/c")
    assert await _slugs(alice) == list("dab")


async def test_a_view_is_pinned_unless_it_says_otherwise(alice: Member) -> None:
    pinned = (await _create(alice, name="a")).json()["data"]
    other = (await _create(alice, name="b", is_pinned=False)).json()["data"]
    assert (pinned["is_pinned"], other["is_pinned"]) == (True, False)

    changed = await writing.send(alice, "PATCH", "/v1/views/b", {"is_pinned": True})

    assert changed.json()["data"]["is_pinned"] is True
    assert (await alice.get("/v1/views/b")).json()["data"]["is_pinned"] is True


async def test_a_position_is_a_place_in_the_list(alice: Member) -> None:
    await _create(alice, name="x")
    wrong: list[Any] = [0, 201, 1.5, "1", None, True]

    for position in wrong:
        response = await writing.send(alice, "PATCH", "/v1/views/x", {"position": position})
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert response.json()["error"].startswith("position: ")
