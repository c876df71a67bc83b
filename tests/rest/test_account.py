"""GET /v1/account, and the keys that every endpoint needs."""

from typing import Any

import httpx
import pytest

from bowerbird.model.accounts import Key
from bowerbird.model.keys import key_hash, new_account_id, new_key
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.database import Writable
from tests.support import make
from tests.support.published import of_accounts
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def _account(member: Member) -> dict[str, Any]:
    response = await member.get("/v1/account")
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


async def test_a_paid_account_has_unlimited_calls(alice: Member) -> None:
    await alice.save(is_read=True)
    await alice.save(is_archived=True)
    await alice.save()

    shown = await _account(alice)

    assert shown["plan"] == "pro"
    assert shown["limits"] == {
        "calls_per_month": None,
        "page_size": 100,
        "ranked_results": 1000,
        "filtering": True,
        "paging": True,
        "writing": True,
        "vector_search": True,
    }
    assert shown["calls"] == {"used": 0, "left": None, "next_month_begins": "2026-08-01"}
    assert shown["library"] == {"total": 3, "unread": 2, "archived": 1}


async def test_reading_a_free_account_shows_its_calls_without_using_one(free: Member) -> None:
    for _ in range(3):
        await free.listed()

    for _ in range(2):
        shown = await _account(free)
        assert shown["calls"] == {"used": 3, "left": 97, "next_month_begins": "2026-08-01"}
    assert shown["limits"]["calls_per_month"] == 100
    assert shown["limits"]["vector_search"] is False
    assert shown["vector_store"]["state"] == "off"


async def test_the_account_is_readable_after_the_monthly_calls_are_used_up(free: Member) -> None:
    for _ in range(101):
        await free.get("/v1/bookmarks")

    shown = await _account(free)

    assert (shown["calls"]["used"], shown["calls"]["left"]) == (100, 0)


async def test_the_account_reports_the_progress_of_its_vectors(alice: Member) -> None:
    model = "all-MiniLM-L6-v2-int8"
    empty = {"state": "ready", "embedded": 0, "total": 0, "model": model, "problem": None}
    assert (await _account(alice))["vector_store"] == empty

    await alice.save_all([make.post() for _ in range(4)])
    building = {**empty, "state": "building", "total": 4}
    assert (await _account(alice))["vector_store"] == building

    await alice.embed()
    ready = {**empty, "embedded": 4, "total": 4}
    assert (await _account(alice))["vector_store"] == ready

    await alice.save()
    assert (await _account(alice))["vector_store"] == {**ready, "total": 5}


CHALLENGE = (
    'Bearer realm="bowerbird", '
    'resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource"'
)

INVALID = CHALLENGE + ', error="invalid_token"'


async def _get_count(cast: Service, authorization: bytes | None) -> httpx.Response:
    headers = [] if authorization is None else [(b"authorization", authorization)]
    return await cast.nobody.get("/v1/bookmarks/count", headers=headers)


async def test_every_endpoint_needs_a_key(cast: Service) -> None:
    names = {"post_id": "42", "label_id": "1", "slug": "x", "job_id": "x", "digest_id": "x"}
    others = ("run_id", "change_id", "highlight_id", "rule_id", "share_id", "webhook_id")
    names |= dict.fromkeys((*others, "message_id"), "x")
    # A download link carries its own token.
    for path in of_accounts().keys() - {"/v1/exports/{job_id}/file"}:
        for method in ("GET", "HEAD", "POST", "DELETE"):
            response = await cast.nobody.request(method, path.format(**names))
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == CHALLENGE


async def test_a_request_without_a_bearer_key_gets_the_plain_challenge(cast: Service) -> None:
    key = cast.alice.key.encode()
    headers = (
        *(None, b"", b"Bearer", b"Bearer ", b"Bearer    ", key, b"Basic " + key),
        *(b"Token " + key, b"Bearer:" + key, b"Bearer\t" + key, b"\xff\xfe"),
    )

    for header in headers:
        response = await _get_count(cast, header)
        assert response.status_code == 401, header
        assert response.json()["code"] == "UNAUTHORIZED"
        assert response.headers["www-authenticate"] == CHALLENGE


async def test_an_unknown_or_malformed_key_is_an_invalid_token(cast: Service) -> None:
    key = cast.alice.key
    other_check = key[:-1] + ("0" if key[-1] != "0" else "1")
    texts = (
        *("x", "abc_" + key[4:], other_check, key[:-1], key + "0", key.lower(), key.upper()),
        *(f"{key} x", f'"{key}"', new_key(cast.alice.account_id), new_key(new_account_id())),
        *("bwr_" + "0" * 47, "bwr_" + "z" * 47, "eyJhbGciOiJIUzI1NiJ9.e30.x", "bwr_" * 5000),
    )
    sentences = set()

    for text in (*texts, "bwr_" + "\u00e9" * 47):
        response = await _get_count(cast, b"Bearer " + text.encode("latin-1"))
        assert response.status_code == 401, text
        assert response.headers["www-authenticate"] == INVALID
        sentences.add(response.json()["error"])
    assert len(sentences) == 1, "the sentence tells what kind of wrong a key is"


async def test_the_scheme_ignores_case_and_spaces(cast: Service) -> None:
    key = cast.alice.key.encode()

    for header in (b"bearer " + key, b"BEARER " + key, b"Bearer   " + key + b"  "):
        assert (await _get_count(cast, header)).status_code == 200


async def test_a_key_in_the_query_string_or_in_a_cookie_is_not_accepted(cast: Service) -> None:
    key = cast.alice.key
    cookie = await cast.nobody.get("/v1/bookmarks", headers={"Cookie": f"key={key}"})
    assert cookie.status_code == 401

    for name in ("access_token", "api_key", "key", "authorization"):
        response = await cast.nobody.get("/v1/bookmarks", params={name: key})
        assert response.status_code == 401


async def test_a_revoked_key_is_refused_at_once_and_others_still_work(cast: Service) -> None:
    keys, second = KeyStore(cast.database), new_key(cast.alice.account_id)
    made, owner = Key("second", "", 1, None), cast.alice.account_id
    await cast.database.write(
        lambda transaction: keys.create(Writable(transaction, owner), made, key_hash(second)), owner
    )
    assert (await _get_count(cast, f"Bearer {cast.alice.key}".encode())).status_code == 200

    await keys.revoke(cast.alice.account_id, "alice-key", b"", cast.clock())

    refused = await _get_count(cast, f"Bearer {cast.alice.key}".encode())
    assert refused.headers["www-authenticate"] == INVALID
    assert (await _get_count(cast, f"Bearer {second}".encode())).status_code == 200


async def test_a_key_stored_under_another_account_is_rejected(cast: Service) -> None:
    # A well-formed key for alice's account, stored only under bob's.
    text = new_key(cast.alice.account_id)
    key, keys = Key("odd", "", 1, None), KeyStore(cast.database)
    await cast.database.write(
        lambda within: keys.create(Writable(within, cast.bob.account_id), key, key_hash(text))
    )

    assert (await _get_count(cast, f"Bearer {text}".encode())).status_code == 401
