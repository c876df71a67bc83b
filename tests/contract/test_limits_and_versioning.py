"""What the contract says about limits and versions: one test per sentence."""

from typing import Any

import pytest

from tests.support.published import document
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

# Field -> type, from the contract's tables. No field is ever removed or given another type.
BOOKMARK = {
    "post_id": "string",
    "author_id": "string",
    "author_username": "string",
    "is_read": "boolean",
    "is_archived": "boolean",
    "imported_at": "string",
    "sort_index": "integer",
}
POST_DETAILS = {"text": "string", "link": "string", "posted_at": "string", "attachments": "array"}
POST_META = {
    "tweet_conversation_id": "string",
    "tweet_is_thread": "boolean",
    "is_sub_tweet_of_thread": "boolean",
}
AUTHOR_DETAILS = {"name": "string", "username": "string", "profile_image": "string"}
METRICS = dict.fromkeys(
    ("quote_count", "reply_count", "retweet_count", "bookmark_count", "favorite_count"), "integer"
)
PARAMETERS = {
    "limit": "integer",
    "cursor": "string",
    "is_unread_only": "boolean",
    "hide_archived": "boolean",
    "media_type": "string",
    "author": "string",
    "tag": "string",
    "posted_from": "string",
    "posted_to": "string",
    "bookmarked_from": "string",
    "bookmarked_to": "string",
    "sort_by": "string",
    "sort_cursor": "string",
    "q": "string",
    "vector_search_term": "string",
}


def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = document()["components"]["schemas"][name]
    return schema


def _parameters() -> dict[str, dict[str, Any]]:
    listed = document()["paths"]["/v1/bookmarks"]["get"]["parameters"]
    return {parameter["name"]: parameter for parameter in listed}


# Limits


async def test_a_page_has_20_bookmarks_by_default_and_at_most_100(alice: Member) -> None:
    await alice.save_all(
        [{"post_id": str(number), "tweet_details": {}} for number in range(1, 131)]
    )

    assert len(await alice.ids()) == 20
    assert len(await alice.ids(limit=100)) == 100
    assert len(await alice.ids(limit=101)) == 100


async def test_there_is_no_rate_limit_and_no_rate_limit_header(alice: Member) -> None:
    for _ in range(150):
        response = await alice.get("/v1/bookmarks/count")
        assert response.status_code == 200
    assert not [name for name in response.headers if "ratelimit" in name.lower()]


async def test_the_free_plan_does_not_allow_a_second_page(free: Member) -> None:
    await free.save_all([{"post_id": str(number), "tweet_details": {}} for number in range(1, 111)])

    first = await free.listed(limit=100)
    response = await free.get("/v1/bookmarks", cursor=first["meta"]["next_cursor"])

    assert first["meta"]["count"] == 100
    assert response.status_code == 402


async def test_a_paid_plan_allows_filters_and_pagination(free: Member) -> None:
    await free.save_all([{"post_id": str(number), "tweet_details": {}} for number in range(1, 4)])
    await free.set_plan("pro")

    assert len(await free.crawl(limit=1)) == 3
    assert await free.ids(author="ada") == []


# Versioning


async def test_the_version_is_in_the_path_and_only_v1_exists(cast: Service) -> None:
    assert (await cast.alice.get("/v1/bookmarks")).status_code == 200
    for path in ("/bookmarks", "/v2/bookmarks", "/v0/bookmarks"):
        assert (await cast.alice.get(path)).status_code == 404
    assert all(path.startswith("/v1/") for path in document()["paths"])


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Bookmark", BOOKMARK),
        ("PostDetails", POST_DETAILS),
        ("PostMeta", POST_META),
        ("AuthorDetails", AUTHOR_DETAILS),
        ("Metrics", METRICS),
    ],
)
def test_no_field_is_removed_renamed_or_retyped(name: str, fields: dict[str, str]) -> None:
    schema = _schema(name)

    assert {field: schema["properties"][field]["type"] for field in fields} == fields
    assert set(fields) <= set(schema["required"])


def test_no_endpoint_is_removed() -> None:
    contract = {
        ("get", "/v1/bookmarks"),
        ("get", "/v1/bookmarks/count"),
        ("get", "/v1/bookmarks/{post_id}"),
        ("get", "/v1/labels"),
        ("post", "/v1/labels/add"),
        ("post", "/v1/labels/remove"),
        ("post", "/v1/labels/batch"),
        ("get", "/v1/views"),
        ("get", "/v1/views/{slug}"),
        ("get", "/v1/views/{slug}/bookmarks"),
    }

    published = {(m, path) for path, item in document()["paths"].items() for m in item}
    assert contract <= published


def test_no_query_parameter_is_removed_or_becomes_required() -> None:
    published = _parameters()

    assert {name: published[name]["schema"]["type"] for name in PARAMETERS} == PARAMETERS
    for item in document()["paths"].values():
        for operation in item.values():
            for parameter in operation["parameters"]:
                # Counts by a property cannot be guessed, and no older request has the parameter.
                may_be_required = parameter["in"] == "path" or parameter["name"] == "by"
                assert may_be_required or not parameter["required"]


def test_no_request_field_is_removed_or_becomes_required() -> None:
    label, operation = _schema("LabelRequest"), _schema("LabelOperation")

    assert {"tweet_ids", "label_name"} <= label["properties"].keys()
    assert {"op", "tweet_ids", "label_name"} <= operation["properties"].keys()
    assert set(label.get("required", ())) <= {"tweet_ids", "label_name"}
    assert set(operation["required"]) <= {"op", "tweet_ids", "label_name"}
    assert _schema("BatchRequest")["required"] == ["operations"]


def test_the_documented_defaults_match_the_contract() -> None:
    published = _parameters()

    assert published["limit"]["schema"]["default"] == 20
    assert published["is_unread_only"]["schema"]["default"] is True
    assert published["hide_archived"]["schema"]["default"] is True
    assert {"created_at", "title"} <= set(published["sort_by"]["schema"]["enum"])
    assert {"article", "video", "image"} <= set(published["media_type"]["schema"]["enum"])


async def test_unknown_parameters_are_ignored(alice: Member) -> None:
    saved = await alice.save()

    assert await alice.ids(of_tomorrow="1") == [saved["post_id"]]


async def test_no_endpoint_is_deprecated_yet(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks")

    assert not {"deprecation", "sunset", "link"} & set(response.headers)
