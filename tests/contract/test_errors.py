"""What the contract says about errors: one test per sentence."""

from typing import Any

import httpx
import pytest

from bowerbird.errors import CATALOGUE
from bowerbird.storage.database import Transaction
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


def _failure(response: httpx.Response) -> tuple[int, str]:
    body = response.json()
    assert body["status"] is False
    assert isinstance(body["error"], str)
    assert body.keys() == {"status", "code", "error"} | (
        {"upgrade_url"} if response.status_code == 402 else set()
    )
    return response.status_code, body["code"]


async def test_a_success_has_status_data_and_meta(alice: Member) -> None:
    await alice.save(post_id="42")

    for path in ("/v1/bookmarks", "/v1/bookmarks/count", "/v1/bookmarks/42"):
        body = (await alice.get(path)).json()
        assert body.keys() == {"status", "data", "meta"}
        assert body["status"] is True
        assert isinstance(body["meta"], dict)


async def test_every_error_uses_the_error_envelope(
    cast: Service, alice: Member, free: Member
) -> None:
    for response in (
        await cast.nobody.get("/v1/bookmarks"),
        await free.get("/v1/bookmarks", tag="x"),
        await alice.get("/v1/bookmarks", limit="x"),
        await alice.get("/v1/nothing"),
        await alice.client.put("/v1/bookmarks"),
    ):
        assert _failure(response)[0] >= 400
    assert _failure(await cast.nobody.get("/v1/bookmarks")) == (401, "UNAUTHORIZED")


async def test_subscription_required_is_402(free: Member) -> None:
    for _ in range(100):
        await free.get("/v1/bookmarks")

    assert _failure(await free.get("/v1/bookmarks")) == (402, "SUBSCRIPTION_REQUIRED")


async def test_what_the_free_plan_lacks_is_402_with_upgrade_url(free: Member) -> None:
    for name, code in (
        ("tag", "FILTER_NOT_ALLOWED"),
        ("cursor", "PAGINATION_NOT_ALLOWED"),
        ("vector_search_term", "VECTOR_SEARCH_NOT_ALLOWED"),
    ):
        response = await free.get("/v1/bookmarks", **{name: "x"})
        assert _failure(response) == (402, code)
        assert response.json()["upgrade_url"] == "http://localhost:8080/upgrade"


async def test_invalid_request_is_400_and_names_the_parameter(alice: Member) -> None:
    wrong: dict[str, Any] = {
        "limit": 0,
        "cursor": "x",
        "is_unread_only": "maybe",
        "hide_archived": "maybe",
        "media_type": "smell",
        "posted_from": "soon",
        "posted_to": "soon",
        "bookmarked_from": "soon",
        "bookmarked_to": "soon",
        "sort_by": "taste",
        "sort_cursor": "x",
    }

    for name, value in wrong.items():
        response = await alice.get("/v1/bookmarks", **{name: value})
        assert _failure(response) == (400, "INVALID_REQUEST")
        assert response.json()["error"].startswith(f"{name}: ")


async def test_not_found_is_404(alice: Member) -> None:
    assert _failure(await alice.get("/v1/bookmarks/4711")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_internal_error_is_500(cast: Service, alice: Member) -> None:
    await alice.save()

    async def work(transaction: Transaction) -> None:
        await transaction.run("DROP TABLE content", {})

    await cast.database.write(work)

    assert _failure(await alice.get("/v1/bookmarks")) == (500, "INTERNAL_ERROR")


def test_each_error_code_has_the_status_in_the_contract() -> None:
    contract = {
        "UNAUTHORIZED": 401,
        "SUBSCRIPTION_REQUIRED": 402,
        "FILTER_NOT_ALLOWED": 402,
        "PAGINATION_NOT_ALLOWED": 402,
        "VECTOR_SEARCH_NOT_ALLOWED": 402,
        "INVALID_REQUEST": 400,
        "NOT_FOUND": 404,
        "RATE_LIMITED": 429,
        "INTERNAL_ERROR": 500,
    }

    assert {code: CATALOGUE[code].status for code in CATALOGUE}.items() >= contract.items()
