"""Behaviour shared by all /v1 endpoints: checks, headers, ETags, log, clients that leave."""

import asyncio
import itertools
import json
import re
import threading
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
import structlog
from msgspec import Struct

from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.sqlite.database import SqliteDatabase
from bowerbird.wire.responses.envelope import QueryMeta
from tests.support import databases, make, service
from tests.support.imports import found, run
from tests.support.offenders import Offenders
from tests.support.postgres import ThrowawayPostgres
from tests.support.posts.leaving import ENDLESS, Client
from tests.support.published import of_accounts
from tests.support.service import Member, Service
from tests.support.waiting import PATIENCE_S, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def cast_settings() -> dict[str, Any]:
    return {"sandbox": "on"}


PATHS = ("/v1/bookmarks", "/v1/bookmarks/count", "/v1/bookmarks/42")

# tests/requests/test_operations.py compares the methods of every path with the table.
ALLOWED = {
    "/v1/bookmarks": "GET, HEAD, POST, OPTIONS",
    "/v1/bookmarks/42": "GET, HEAD, PATCH, DELETE, OPTIONS",
    "/v1/labels/batch": "POST, OPTIONS",
    "/v1/views/x/bookmarks": "GET, HEAD, OPTIONS",
}


async def _with(member: Member, path: str = "/v1/bookmarks", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await member.client.get(path, headers=named)


async def _run(database: Database, sql: str, **values: Any) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run(sql, values)

    await database.write(work)


async def test_checks_run_in_a_fixed_order(cast: Service, free: Member) -> None:
    huge = {"Content-Length": "9999999"}
    query = "?author=a&limit=0"

    async def status(client: httpx.AsyncClient, method: str, path: str, **headers: str) -> int:
        return (await client.request(method, path, headers=headers)).status_code

    assert await status(cast.nobody, "POST", f"/v1/nothing{query}", **huge) == 401
    assert await status(free.client, "POST", f"/v1/nothing{query}", **huge) == 404
    assert await status(free.client, "PUT", f"/v1/bookmarks{query}", **huge) == 405
    assert await status(free.client, "GET", f"/v1/bookmarks{query}", **huge) == 413
    assert await status(free.client, "GET", f"/v1/bookmarks{query}") == 402
    assert await status(free.client, "GET", "/v1/bookmarks?limit=0") == 400
    assert await status(free.client, "GET", f"/v1/bookmarks/4711{query}") == 404


async def test_checks_of_writes_run_in_the_same_order(cast: Service, free: Member) -> None:
    await free.set_plan("pro")
    used = {"Idempotency-Key": "used"}
    await free.client.post("/v1/views", json={"name": "x"}, headers=used)
    await free.set_plan("free")
    huge, bad, good = b" " * 1_048_577, b"{}", b'{"label_name":"x","tweet_ids":["4711"]}'

    async def status(client: httpx.AsyncClient, path: str, body: bytes, **headers: str) -> int:
        return (await client.post(path, content=body, headers=headers)).status_code

    assert await status(cast.nobody, "/v1/nothing", huge, **used) == 401
    assert await status(free.client, "/v1/nothing", huge, **used) == 404
    assert await status(free.client, "/v1/labels", huge, **used) == 405
    assert await status(free.client, "/v1/labels/add", huge, **used) == 413
    assert await status(free.client, "/v1/labels/add", bad, **used) == 422
    assert await status(free.client, "/v1/labels/add", bad) == 402
    assert await status(cast.alice.client, "/v1/labels/add", bad) == 400
    assert await status(cast.alice.client, "/v1/labels/add", good) == 404


async def test_unknown_paths_are_404_in_the_error_envelope(alice: Member) -> None:
    paths = ("/v1", "/v1/", "/v1//bookmarks", "/v1/Bookmarks", "/v1/bookmarks/1/2", "/v1/%00")

    slashes = ("/v1/bookmarks/", "/v1/bookmarks/count/", "/v1/bookmarks/42/")
    for path in (*paths, *slashes, "/v1/bookmarks%0A", "/v1/%ff", "/v1/../v1/x", "/v1/labels/1/2"):
        response = await alice.client.get(path)
        assert response.status_code == 404, path
        assert response.json()["code"] == "NOT_FOUND"
        assert "location" not in response.headers


UNKNOWN_IDS = (
    *("404", "042", "42%20", "42%0A", "-42", "4.2e1", "abc", "%00", "42%00", "%25", "%C2%BD"),
    *("%D9%A4%D9%A2", "%ff", "%ed%a0%80", "9" * 20_000, "42%2F", "null", "..%2F42", "42;x"),
)


@pytest.mark.both
async def test_any_unknown_id_in_a_path_is_404(alice: Member) -> None:
    await alice.save(post_id="42", tags=["x"])
    await alice.embed()
    others = {"highlight_id": "x"}
    offenders = Offenders()
    for path, item in of_accounts().items():
        # A link to a file is refused by its token.
        if "{" not in path or path.endswith("/file"):
            continue
        for text in UNKNOWN_IDS:
            target = re.sub(r"\{(\w+)\}", lambda name: others.get(name[1], text), path)  # noqa: B023 - used at once
            for method, operation in item.items():
                content = operation.get("requestBody", {}).get("content", {})
                body = content.get("application/json", {}).get("example")
                response = await alice.client.request(method, target, json=body)
                with offenders.check((method, path, text[:20])):
                    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")
                    assert len(response.json()["error"]) < 400
    assert offenders == {}


async def test_a_wrong_method_is_405_and_lists_the_allowed_ones(alice: Member) -> None:
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")

    for method, (path, allowed) in itertools.product(methods, ALLOWED.items()):
        if method in allowed:
            continue
        response = await alice.client.request(method, path)
        assert response.status_code == 405
        assert response.json()["code"] == "METHOD_NOT_ALLOWED"
        assert response.headers["allow"] == allowed


async def test_head_returns_the_headers_of_get_without_a_body(alice: Member) -> None:
    await alice.save(post_id="42")

    for path in (*PATHS, "/v1/bookmarks?limit=0", "/v1/bookmarks/43", "/v1/nothing"):
        got, head = await alice.client.get(path), await alice.client.head(path)
        assert head.content == b""
        assert head.status_code == got.status_code
        for name in ("content-length", "etag", "content-type", "vary", "cache-control"):
            assert head.headers.get(name) == got.headers.get(name)


async def test_options_needs_no_api_key(cast: Service) -> None:
    for path, allowed in ALLOWED.items():
        response = await cast.nobody.options(path)
        assert response.status_code == 204
        assert response.content == b""
        assert response.headers["allow"] == allowed
        assert response.headers["access-control-allow-methods"] == allowed
        assert "Authorization" in response.headers["access-control-allow-headers"]
        assert "Idempotency-Key" in response.headers["access-control-allow-headers"]
        assert "If-Range, Range" in response.headers["access-control-allow-headers"]


async def test_any_origin_may_read_without_credentials(cast: Service, alice: Member) -> None:
    answers = [
        await alice.get("/v1/bookmarks"),
        await alice.get("/v1/bookmarks", limit=0),
        await cast.nobody.get("/v1/bookmarks"),
        await cast.nobody.options("/v1/bookmarks"),
        await alice.get("/v1/nothing"),
    ]

    for response in answers:
        assert response.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in response.headers
        exposed = {n.strip() for n in response.headers["access-control-expose-headers"].split(",")}
        assert exposed >= {"ETag", "Location", "Retry-After", "WWW-Authenticate", "Link"}


async def test_responses_are_private_and_must_be_revalidated(cast: Service, alice: Member) -> None:
    await alice.save(post_id="42")
    fresh = await alice.get("/v1/bookmarks/42")
    same = await _with(alice, "/v1/bookmarks/42", If_None_Match=fresh.headers["etag"])

    for response in (fresh, same, await cast.nobody.get("/v1/bookmarks")):
        assert response.headers["cache-control"] == "private, no-cache"
        assert response.headers["vary"] == "Authorization, Accept-Encoding"


async def test_an_etag_stays_the_same_while_nothing_changes(alice: Member, bob: Member) -> None:
    record = await alice.save(post_id="42")
    before = {path: (await alice.get(path)).headers["etag"] for path in PATHS}

    await bob.save(post_id="42")
    await alice.save_all([record])
    alice.clock.now += 10**12

    assert {path: (await alice.get(path)).headers["etag"] for path in PATHS} == before
    assert len(set(before.values())) == len(PATHS)


async def test_an_etag_changes_with_every_write_and_with_the_plan(alice: Member) -> None:
    record = await alice.save()
    seen = [(await alice.get("/v1/bookmarks")).headers["etag"]]

    await alice.change(record, tags=["x"])
    seen.append((await alice.get("/v1/bookmarks")).headers["etag"])
    record = await alice.change(record, tags=["x"], is_read=True)
    seen.append((await alice.get("/v1/bookmarks")).headers["etag"])
    await alice.save()
    seen.append((await alice.get("/v1/bookmarks")).headers["etag"])
    await alice.remove(record["post_id"])
    seen.append((await alice.get("/v1/bookmarks")).headers["etag"])
    await alice.set_plan("free")
    seen.append((await alice.get("/v1/bookmarks")).headers["etag"])

    assert len(set(seen)) == len(seen)


async def test_a_matching_if_none_match_is_304(alice: Member) -> None:
    await alice.save()
    tag = (await alice.get("/v1/bookmarks")).headers["etag"]

    for form in (tag, f'"other", W/{tag}', "*"):
        response = await _with(alice, If_None_Match=form)
        assert response.status_code == 304, form
        assert response.content == b""
        assert response.headers["etag"] == tag
        assert "content-type" not in response.headers
    for form in ('"other"', tag.strip('"'), tag[:-2] + '"', "", "*junk*"):
        assert (await _with(alice, If_None_Match=form)).status_code == 200, form


async def test_the_encoding_follows_accept_encoding(alice: Member) -> None:
    await alice.save_all([make.post(text="lang " * 50) for _ in range(10)])
    plain = await _with(alice, Accept_Encoding="identity")
    encodings = {
        "gzip": "gzip",
        "gzip, deflate, br, zstd": "zstd",
        "br": None,
    }

    for accepted, encoding in encodings.items():
        response = await _with(alice, Accept_Encoding=accepted)
        assert response.headers.get("content-encoding") == encoding, accepted
        assert int(response.headers["content-length"]) == response.num_bytes_downloaded
        assert response.content == plain.content
        assert (response.num_bytes_downloaded < len(plain.content)) == (encoding is not None)


async def test_small_responses_are_not_compressed(alice: Member) -> None:
    response = await _with(alice, Accept_Encoding="gzip")

    assert "content-encoding" not in response.headers


async def test_a_request_id_is_generated_unless_a_valid_one_is_sent(
    cast: Service, alice: Member
) -> None:
    made = {(await alice.get("/v1/bookmarks")).headers["x-request-id"] for _ in range(3)}
    own = await _with(alice, X_Request_Id="crawl-7:a.b_C")
    for hostile in ("", "a b", "a\tb", "<script>", "x" * 129, "ä", '"', "a,b"):
        response = await alice.client.get(
            "/v1/bookmarks", headers=[(b"x-request-id", hostile.encode())]
        )
        assert response.headers["x-request-id"] != hostile
        assert response.headers["x-request-id"].isascii()
    refused = await cast.nobody.get("/v1/x", headers={"X-Request-Id": "mine"})

    assert len(made) == 3
    assert own.headers["x-request-id"] == "crawl-7:a.b_C"
    assert refused.headers["x-request-id"] == "mine"


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
async def test_a_database_failure_is_503_with_retry_after(cast: Service) -> None:
    await _run(cast.database, "ALTER TABLE library RENAME TO elsewhere")

    response = await cast.alice.get("/v1/bookmarks")
    # An external database is the same for all tests.
    await _run(cast.database, "ALTER TABLE elsewhere RENAME TO library")

    assert response.status_code == 503
    assert response.json()["code"] == "SERVICE_UNAVAILABLE"
    assert int(response.headers["retry-after"]) > 0


async def test_each_request_logs_one_line_without_secrets(
    alice: Member, logged: list[dict[str, Any]]
) -> None:
    await alice.save_all([make.post(text="geheimwort", author="ada") for _ in range(3)])
    asked = {"q": "geheimwort", "author": "ada", "limit": 1}
    first = await alice.get("/v1/bookmarks", **asked)
    cursor = first.json()["meta"]["next_cursor"]
    await alice.get("/v1/bookmarks", **asked, cursor=cursor)
    await alice.get("/v1/bookmarks", q="geheimwort", cursor=cursor + "x")
    await alice.get("/v1/bookmarks/987654321")
    await alice.get("/v1/geheimwort")
    await alice.get("/v1/bookmarks", tag="geheimwort", sort_cursor="geheimwort")
    await _run(alice.database, "DROP TABLE content")
    await alice.get("/v1/bookmarks", **asked, hide_archived=0)

    text = "\n".join(_rendered(line) for line in logged)
    assert [line["status"] for line in logged if line["event"] == "request"] == [
        *(200, 200, 400, 404, 404, 400, 500)
    ]
    for secret in (alice.key, alice.key[15:45], "geheimwort", cursor, "987654321"):
        assert secret not in text
    line = next(line for line in logged if line["event"] == "request")
    assert line["route"] == "/v1/bookmarks"
    assert line["account"] == alice.account_id


async def test_a_refused_key_is_not_logged(cast: Service, logged: list[dict[str, Any]]) -> None:
    key = cast.alice.key
    await KeyStore(cast.database).revoke(cast.alice.account_id, "alice-key", b"", 1)

    await cast.alice.get("/v1/bookmarks")

    assert key not in json.dumps(logged)
    assert key[15:45] not in json.dumps(logged)


def _rendered(line: dict[str, Any]) -> str:
    """Renders a log line as the server does, with the traceback."""
    return repr(structlog.processors.format_exc_info(None, "info", dict(line)))


QUERIES = (
    *("/v1/bookmarks", "/v1/bookmarks/count", "/v1/bookmarks/facets", "/v1/labels", "/v1/digests"),
    *("/v1/imports", "/v1/views", "/v1/views/all", "/v1/account", "/v1/bookmarks/7"),
    *("/v1/digests/preferences", "/v1/sandbox/bookmarks", "/v1/sandbox/labels"),
    *("/v1/sandbox/views", "/v1/sandbox/views/{slug}", "/v1/sandbox/bookmarks/{post_id}"),
)


async def test_an_answer_names_the_parameters_without_effect(alice: Member) -> None:
    await alice.save(post_id="7")
    assert (await alice.client.post("/v1/views", json={"name": "All"})).status_code == 201
    for path in QUERIES:
        place = path
        if "{" in path:
            listed = (await alice.get(path.rpartition("/")[0])).json()
            place = path.format(**listed["data"][0])
        known = {"by": "label"} if path.endswith("facets") else {}
        plain = (await alice.get(place, **known)).json()

        response = await alice.get(place, edited_since="2026-01-01", Limit="1", **known)

        assert response.status_code == 200
        answer = response.json()
        assert answer["meta"].pop("ignored_parameters") == ["edited_since", "Limit"], path
        assert "ignored_parameters" not in plain["meta"]
        assert answer == plain


@pytest.mark.parametrize("path", ["/v1/bookmarks", "/v1/bookmarks/7", "/v1/views"])
async def test_values_of_such_parameters_do_not_change_the_answer(alice: Member, path: str) -> None:
    await alice.save(post_id="7")
    tags = {(await alice.get(path, _=str(n))).headers["etag"] for n in range(3)}
    plain = (await alice.get(path)).headers["etag"]

    # One entry of the cache, whatever their values are.
    assert len(tags) == 1
    assert plain not in tags


async def test_an_answer_to_a_job_names_them_too(alice: Member) -> None:
    await alice.save()
    change = {"action": "archive", "filters": {}}
    changed = (await alice.client.post("/v1/bookmarks/changes", json=change)).json()["data"]
    exported = await alice.client.post("/v1/exports/csv")
    run_id = await run(alice, found(post_id="1"))
    sandboxed = await alice.client.post("/v1/sandbox/exports/csv")

    for path in (
        f"/v1/bookmarks/changes/{changed['change_id']}",
        exported.headers["location"],
        f"/v1/imports/{run_id}",
        sandboxed.headers["location"],
    ):
        assert "ignored_parameters" not in (await alice.get(path)).json()["meta"]
        meta = (await alice.get(path, seed="7")).json()["meta"]
        assert meta["ignored_parameters"] == ["seed"], path


def test_every_read_but_a_file_names_them() -> None:
    reads = [one for one in OPERATIONS if one.method == "GET" and not one.is_file]
    assert [one.path for one in reads if not issubclass(one.meta or Struct, QueryMeta)] == []


def test_names_are_bounded_and_what_is_read_stays_as_it_was_sent() -> None:
    for sent, kept, ignored in (
        (b"", b"", ()),
        (b"limit=5&cursor=a%2Bb", b"limit=5&cursor=a%2Bb", ()),
        (b"x=1&limit=5&x=2&y", b"limit=5", ("x", "y")),
        # A known name may be percent-encoded; an empty one is no name.
        (b"l%69mit=5&=3&&z=", b"l%69mit=5", ("z",)),
        (b"%ff=1&a%00=2&" + b"n" * 500, b"", ("\ufffd", "a\x00", "n" * 64)),
    ):
        assert decoding.split_query(sent, ListQuery) == (kept, ignored)
    many = b"&".join(b"p%d=1" % n for n in range(1_000))
    assert decoding.split_query(many, ListQuery)[1] == tuple(f"p{n}" for n in range(20))


async def test_a_read_on_sqlite_ends_when_its_client_disconnects(
    sqlite: SqliteDatabase, tmp_path: Path, logged: list[MutableMapping[str, Any]]
) -> None:
    cast = await service.build(sqlite, data_dir=tmp_path)
    await cast.alice.save(tags=["x"])
    started = threading.Semaphore(0)

    def record(*_: Any) -> bool:
        started.release()
        return True

    for connection in sqlite._slow_readers.connections:  # noqa: SLF001 - a read that never ends
        connection.execute(ENDLESS.format(account_id=cast.alice.account_id))
        connection.set_exec_trace(record)
    # As many as one account may run, and two that wait.
    clients = [Client(cast, cast.alice, "/v1/bookmarks/count", query=b"tag=x") for _ in range(4)]
    assert await asyncio.to_thread(started.acquire, timeout=PATIENCE_S)

    for client in clients:
        await client.leave()

    assert [client.sent for client in clients] == [[]] * 4
    lines = [line for line in logged if line["event"] == "request"]
    assert [line["status"] for line in lines] == [499] * 4
    async with asyncio.timeout(PATIENCE_S):
        assert len(await cast.alice.ids(author="nobody")) == 0


async def test_a_read_on_postgresql_ends_when_its_client_disconnects(
    postgres: ThrowawayPostgres,
) -> None:
    limits = Limits(lock_s=60, statement_s=60)
    with postgres.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, 4, limits), limits)
        cast = await service.build(database)
        other, watcher = await asyncpg.connect(url), await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("LOCK TABLE bookmark IN ACCESS EXCLUSIVE MODE")
            client = Client(cast, cast.alice, "/v1/bookmarks/count", query=b"tag=x")

            async def waiting() -> int:
                count: int = await watcher.fetchval(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                )
                return count

            await until(waiting)
            await client.leave()

            async def is_stopped() -> bool:
                return await waiting() == 0

            await until(is_stopped)
        assert client.sent == []
        await other.close()
        await watcher.close()
        await database.close()
