"""Sentences of the contract that neither the document nor the tests of an endpoint say."""

import pytest

from bowerbird.errors import CATALOGUE
from tests.support.published import document
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_what_the_free_plan_lacks_is_402_with_upgrade_url(free: Member) -> None:
    for name, code in (
        ("tag", "FILTER_NOT_ALLOWED"),
        ("cursor", "PAGINATION_NOT_ALLOWED"),
        ("vector_search_term", "VECTOR_SEARCH_NOT_ALLOWED"),
    ):
        response = await free.get("/v1/bookmarks", **{name: "x"})
        assert (response.status_code, response.json()["code"]) == (402, code)
        assert response.json()["upgrade_url"] == "http://localhost:8080/upgrade"


def test_each_error_code_has_the_status_in_the_contract() -> None:
    gates = ("FILTER_NOT_ALLOWED", "PAGINATION_NOT_ALLOWED", "VECTOR_SEARCH_NOT_ALLOWED")
    contract = {
        **dict.fromkeys(gates, 402),
        "UNAUTHORIZED": 401,
        "SUBSCRIPTION_REQUIRED": 402,
        "INVALID_REQUEST": 400,
        "NOT_FOUND": 404,
        "RATE_LIMITED": 429,
        "INTERNAL_ERROR": 500,
    }

    assert {code: CATALOGUE[code].status for code in CATALOGUE}.items() >= contract.items()


def test_the_documented_defaults_match_the_contract() -> None:
    listed = document()["paths"]["/v1/bookmarks"]["get"]["parameters"]
    published = {parameter["name"]: parameter["schema"] for parameter in listed}

    assert published["limit"]["default"] == 20
    assert published["is_unread_only"]["default"] is published["hide_archived"]["default"] is True
    assert {"created_at", "title"} <= set(published["sort_by"]["enum"])
    assert {"article", "video", "image"} <= set(published["media_type"]["enum"])


def test_every_post_put_and_patch_accepts_an_idempotency_key() -> None:
    for path, item in document()["paths"].items():
        for method in {"post", "put", "patch"} & item.keys():
            listed = item[method].get("parameters", [])
            named = {(p["in"], p["name"]) for p in listed if "name" in p}
            assert ("header", "Idempotency-Key") in named, (method, path)


async def test_only_v1_exists_without_a_rate_limit_or_deprecations(cast: Service) -> None:
    for path in ("/bookmarks", "/v2/bookmarks", "/v0/bookmarks"):
        assert (await cast.alice.get(path)).status_code == 404
    assert all(path.startswith("/v1/") for path in document()["paths"])
    for _ in range(150):
        response = await cast.alice.get("/v1/bookmarks")
        assert response.status_code == 200
    unwanted = ("ratelimit", "deprecation", "sunset", "link")
    assert not [name for name in response.headers if name.lower().endswith(unwanted)]
