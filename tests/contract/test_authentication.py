"""What the contract says about authentication: one test per sentence."""

import httpx
import pytest

from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.accounts import Key
from bowerbird.model.keys import key_hash, new_key
from bowerbird.storage.accounts.keys import KeyStore
from tests.support import digesting, writing
from tests.support.in_turn import in_turn
from tests.support.published import document, of_accounts
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def _with_key(cast: Service, key: str) -> httpx.Response:
    return await cast.nobody.get("/v1/bookmarks", headers={"Authorization": f"Bearer {key}"})


async def _second_key(cast: Service) -> str:
    text = new_key(cast.alice.account_id)
    key = Key("second", "", cast.clock(), None)
    await KeyStore(cast.database).create(cast.alice.account_id, key, key_hash(text))
    return text


async def test_a_bearer_key_is_the_only_method(cast: Service) -> None:
    assert (await _with_key(cast, cast.alice.key)).status_code == 200
    assert document()["security"] == [{"key": []}]
    assert document()["components"]["securitySchemes"].keys() == {"key"}

    basic = await cast.nobody.get("/v1/bookmarks", auth=("alice", cast.alice.key))
    cookie = await cast.nobody.get("/v1/bookmarks", headers={"Cookie": f"key={cast.alice.key}"})
    assert basic.status_code == cookie.status_code == 401


async def test_every_request_needs_the_key(cast: Service) -> None:
    assert (await cast.alice.get("/v1/bookmarks")).status_code == 200
    assert (await cast.nobody.get("/v1/bookmarks")).status_code == 401


async def test_the_key_is_opaque_and_not_a_jwt(cast: Service) -> None:
    assert "." not in cast.alice.key
    assert "alice" not in cast.alice.key
    assert str(cast.alice.account_id) not in cast.alice.key


async def test_the_key_has_no_expiry(cast: Service) -> None:
    cast.clock.now += 100 * 365 * 86_400 * 1_000_000

    assert (await cast.alice.get("/v1/bookmarks")).status_code == 200


async def test_the_api_cannot_create_or_revoke_keys(cast: Service) -> None:
    for path in ("/v1/keys", "/v1/api-keys", "/v1/register", "/v1/keys/alice-key"):
        for method in ("GET", "POST", "DELETE"):
            assert (await cast.alice.client.request(method, path)).status_code == 404


async def test_a_new_key_does_not_invalidate_others(cast: Service) -> None:
    second = await _second_key(cast)

    assert (await _with_key(cast, cast.alice.key)).status_code == 200
    assert (await _with_key(cast, second)).status_code == 200


async def test_revocation_takes_effect_immediately_and_spares_other_keys(cast: Service) -> None:
    second = await _second_key(cast)
    await KeyStore(cast.database).revoke(cast.alice.account_id, "alice-key", b"", cast.clock())

    response = await _with_key(cast, cast.alice.key)

    assert response.status_code == 401
    assert response.json()["code"] == "UNAUTHORIZED"
    assert (await _with_key(cast, second)).status_code == 200


async def test_a_key_carries_every_permission_of_its_account(cast: Service) -> None:
    await cast.alice.save(post_id="42", tags=["x"])
    await cast.alice.embed()
    view = await writing.view(cast.alice)
    export = (await writing.send(cast.alice, "POST", "/v1/exports/json")).json()["data"]
    real = {"post_id": "42", "slug": view.rpartition("/")[2], "label_id": "none"}
    real["job_id"] = export["job_id"]
    now = cast.alice.clock.now
    await digesting.make(cast.alice)
    cast.alice.clock.now = now
    real["digest_id"] = "latest"
    runs = ImportRuns(cast.database, cast.clock)
    run = await runs.start(await cast.alice.account(), source="x", kind="file", client="")
    real["run_id"] = run.run_id
    change = {"action": "read", "tweet_ids": ["42"]}
    changed = await writing.send(cast.alice, "POST", "/v1/bookmarks/changes", change)
    real["change_id"] = changed.json()["data"]["change_id"]
    mark = {"start": 0, "end": 4}
    marked = await writing.send(cast.alice, "POST", "/v1/bookmarks/42/highlights", mark)
    real["highlight_id"] = marked.json()["data"]["id"]
    # The link to a file needs no API key.
    paths = {path: item for path, item in of_accounts().items() if not path.endswith("/file")}

    for path, item in paths.items():
        for method in item:
            # The only parameter that a read requires.
            params = {"by": "author"} if path.endswith("/facets") else {}
            response = await cast.alice.client.request(method, path.format(**real), params=params)
            # A write without a body is rejected for the missing body, never for permissions.
            accepted = (200,) if method == "get" else (200, 202, 400, 404)
            assert response.status_code in accepted
            if method == "delete":
                await cast.alice.save(post_id="42", tags=["x"])
                await writing.view(cast.alice)


async def test_there_is_no_token_endpoint(cast: Service) -> None:
    for path in ("/v1/oauth/token", "/v1/token", "/v1/authorize"):
        assert (await cast.alice.client.post(path)).status_code == 404


@in_turn("kind", ["missing", "malformed", "revoked"])
async def test_a_missing_malformed_or_revoked_key_is_401_with_a_challenge(
    cast: Service, kind: str
) -> None:
    headers = {
        "missing": {},
        "malformed": {"Authorization": "Bearer nonsense"},
        "revoked": {"Authorization": f"Bearer {cast.alice.key}"},
    }[kind]
    await KeyStore(cast.database).revoke(cast.alice.account_id, "alice-key", b"", cast.clock())

    response = await cast.nobody.get("/v1/bookmarks", headers=headers)

    assert response.status_code == 401
    assert response.json()["code"] == "UNAUTHORIZED"
    challenge = response.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="')
    metadata = "http://localhost:8080/.well-known/oauth-protected-resource"
    assert f'resource_metadata="{metadata}"' in challenge


async def test_the_api_cannot_create_accounts(cast: Service) -> None:
    for path in ("/v1/accounts", "/v1/account", "/v1/users", "/v1/signup"):
        assert (await cast.alice.client.post(path)).status_code in (404, 405)


async def test_a_key_reaches_only_its_own_accounts_posts(cast: Service) -> None:
    theirs = await cast.bob.save()

    assert await cast.alice.ids() == []
    response = await cast.alice.get(f"/v1/bookmarks/{theirs['post_id']}")
    assert response.status_code == 404
