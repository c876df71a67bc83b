"""POST /connect/redeem: an extension trades a connect code for a device token."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.tokens import Devices
from bowerbird.model.keys import parse_code
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from tests.support import writing
from tests.support.models import MODELS
from tests.support.visiting import ORIGIN
from tests.web.connect.conftest import code_of, redeem, sent
from tests.web.house import House

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS
WRONG = "0000-0000"
ELSEWHERE = "198.51.100.9"


async def names(house: House, email: str = "owner@example.com") -> list[str]:
    devices = Devices(house.database, house.clock)
    return [device.name for device in await devices.all(await house.account_id(email))]


async def status(house: House, token: str) -> httpx.Response:
    transport = httpx.ASGITransport(house.service.asgi)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        return await client.get("/ingest/v1/status", headers=headers)


async def test_a_code_becomes_a_device_of_its_account(house: House) -> None:
    person = await house.owner()

    answer = await redeem(house.service, await code_of(person))

    assert answer.status_code == 200
    body = answer.json()
    token, device_id = body["data"].pop("token"), body["data"].pop("device_id")
    assert body == {
        "status": True,
        "data": {
            "email": "owner@example.com",
            "ingest_url": f"{ORIGIN}/ingest/v1",
            "library_url": f"{ORIGIN}/library",
            "keys_url": f"{ORIGIN}/keys",
        },
        "meta": {},
    }
    assert answer.headers["cache-control"] == "no-store"
    shown = (await status(house, token)).json()["data"]
    assert shown["device_id"] == device_id
    assert await names(house) == ["Chromium on Linux"]
    assert "Connected the extension “Chromium on Linux”" in (await person.open("/activity")).text


async def test_a_code_that_is_used_twice_at_once_creates_one_device(house: House) -> None:
    code = await code_of(await house.owner())

    answers = await asyncio.gather(*(redeem(house.service, code) for _ in range(5)))

    assert sorted(one.status_code for one in answers) == [200, 404, 404, 404, 404]
    assert len(await names(house)) == 1


async def test_a_code_expires_after_ten_minutes(house: House) -> None:
    person = await house.owner()
    early, late = await code_of(person), await code_of(person)
    house.clock.now += 10 * MINUTE - 1

    assert (await redeem(house.service, early)).status_code == 200
    house.clock.now += 1
    assert writing.refused(await redeem(house.service, late)) == (404, "NOT_FOUND")


async def test_a_deleted_account_takes_its_codes_along(house: House) -> None:
    await house.owner()
    other = await house.member("other@example.com")
    code = await code_of(other)

    await other.send("/account/delete", "/account/delete", phrase="other@example.com")

    assert (await redeem(house.service, code)).status_code == 404


async def test_wrong_codes_are_limited_per_address(house: House) -> None:
    person = await house.owner()
    code = await code_of(person)
    for _ in range(limits.CONNECT_TRIES_MAX):
        assert (await redeem(house.service, WRONG)).status_code == 404
        house.clock.now += MINUTE

    refused = await redeem(house.service, code)
    assert writing.refused(refused) == (429, "RATE_LIMITED")
    assert refused.headers["retry-after"] == "300"
    # Not a stranger, who is elsewhere.
    assert (await redeem(house.service, code, address=ELSEWHERE)).status_code == 200

    house.clock.now += 5 * MINUTE
    assert (await redeem(house.service, await code_of(person))).status_code == 200


async def test_addresses_of_one_ipv6_network_count_together(house: House) -> None:
    for number in range(limits.CONNECT_TRIES_MAX):
        answer = await redeem(house.service, WRONG, address=f"2001:db8::{number}")
        assert answer.status_code == 404

    assert (await redeem(house.service, WRONG, address="2001:db8::ffff")).status_code == 429
    assert (await redeem(house.service, WRONG, address="2001:db8:0:1::1")).status_code == 404


async def test_a_flood_of_guesses_neither_finds_a_code_nor_stops_its_owner(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECT_TRIES_OF_ALL_MAX", 3)
    person = await house.owner()
    code = await code_of(person)
    for number in range(3):
        assert (
            await redeem(house.service, WRONG, address=f"203.0.113.{number}")
        ).status_code == 404

    wrong = await redeem(house.service, WRONG, address=ELSEWHERE)
    right = await redeem(house.service, code, address=ELSEWHERE)
    assert wrong.status_code == right.status_code == 429
    assert wrong.json() == right.json()
    assert "retry-after" in right.headers

    # The person has created the code at this address.
    assert (await redeem(house.service, code)).status_code == 200
    house.clock.now += 10 * MINUTE
    assert (await redeem(house.service, WRONG, address=ELSEWHERE)).status_code == 404


async def test_an_account_with_50_devices_keeps_its_code_but_the_tries_count(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DEVICES_MAX", 1)
    code = await code_of(await house.owner())
    devices = Devices(house.database, house.clock)
    account_id = await house.account_id()
    token = await devices.create(account_id, "first")

    for _ in range(limits.CONNECT_TRIES_MAX):
        refused = await redeem(house.service, code)
        assert writing.refused(refused) == (400, "INVALID_REQUEST")
        assert "1 devices, the maximum" in writing.sentence(refused)

    await devices.revoke(account_id, token)
    assert (await redeem(house.service, code)).status_code == 429
    assert (await redeem(house.service, code, address=ELSEWHERE)).status_code == 200


async def test_a_name_is_cleaned_and_stays_text(house: House) -> None:
    person = await house.owner()
    hostile = "  <script>alert(1)</script>\r\nSet-Cookie: a=b\t x  "

    answer = await redeem(house.service, await code_of(person), hostile)

    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert await names(house) == ["<script>alert(1)</script> Set-Cookie: a=b x"]
    page = (await person.open("/keys")).text
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


async def test_a_huge_body_is_refused(house: House) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(limits.REDEEM_BYTES_MAX + 1):
            yield b" "

    for body in (b" " * (limits.REDEEM_BYTES_MAX + 1), pieces()):
        refused = await sent(house.service, content=body)
        assert writing.refused(refused) == (413, "PAYLOAD_TOO_LARGE")
        assert writing.sentence(refused) == "The body is larger than 4 KiB."


async def test_an_extension_of_any_origin_may_call_it_without_credentials(house: House) -> None:
    headers = {
        "Origin": "moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }

    preflight = await sent(house.service, method="OPTIONS", headers=headers)
    answers = [
        await sent(house.service, json={"code": WRONG}, headers=headers),
        await redeem(house.service, await code_of(await house.owner())),
    ]

    assert preflight.status_code == 204
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert "Content-Type" in preflight.headers["access-control-allow-headers"]
    for answer in (preflight, *answers):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        assert "set-cookie" not in answer.headers


async def test_the_answer_has_the_configured_addresses(
    database: Database, tmp_path: Path, house: House
) -> None:
    code = await code_of(await house.owner())
    configured = Settings(
        data_dir=tmp_path,
        base_url="https://api.library.example",
        site_url="https://library.example",
    )
    service = app.build(configured, database, house.clock, MODELS)

    answer = await redeem(service, code)

    shown = answer.json()["data"]
    assert shown["ingest_url"] == "https://api.library.example/ingest/v1"
    assert shown["library_url"] == "https://library.example/library"
    assert shown["keys_url"] == "https://library.example/keys"


async def test_right_codes_are_not_counted(house: House) -> None:
    person = await house.owner()

    for _ in range(limits.CONNECT_TRIES_MAX + 1):
        assert (await redeem(house.service, await code_of(person))).status_code == 200


async def test_tries_at_once_are_limited_too(house: House) -> None:
    answers = await asyncio.gather(*(redeem(house.service, WRONG) for _ in range(12)))

    assert [one.status_code for one in answers].count(404) == limits.CONNECT_TRIES_MAX


async def test_a_code_may_be_typed_and_works_once(house: House) -> None:
    person = await house.owner()
    assert parse_code("oOil-L234") == "0011-1234"
    for form in ("{}", "  {}\n"):
        code = await code_of(person)
        written = form.format(code.lower().replace("-", " "))
        assert (await redeem(house.service, written)).status_code == 200
        again = await redeem(house.service, code, address=ELSEWHERE)
        assert writing.refused(again) == (404, "NOT_FOUND")
    assert len(await names(house)) == 2


async def test_other_links_are_no_codes_and_codes_are_no_links(house: House) -> None:
    code = await code_of(await house.owner())

    async def become(transaction: Transaction, kind: str) -> None:
        await transaction.run("UPDATE one_time_link SET kind = :kind", {"kind": kind})

    for kind in ("account", "invitation"):
        await house.database.write(partial(become, kind=kind))
        assert (await redeem(house.service, code)).status_code == 404
        entered = await house.somebody().send("/link", "/link", token=code)
        assert entered.status_code == 410


async def test_an_impossible_name_is_refused_and_the_code_stays(house: House) -> None:
    code = await code_of(await house.owner())
    for number, name in enumerate(("x" * 101, "x" * 3_000, "a\u202eb", "a\x00b", 7, None, ["a"])):
        refused = await redeem(house.service, code, name, f"203.0.113.{number}")
        assert writing.refused(refused) == (400, "INVALID_REQUEST"), name

    assert (await redeem(house.service, code)).status_code == 200


MALFORMED: list[dict[str, Any]] = [
    *({"json": {"code": code}} for code in (12345678, None, "x" * 65)),
    {"json": {"name": "no code"}},
    {"json": {"code": WRONG, "account_id": 1}},
    {"json": [WRONG]},
    {"content": b""},
    {"content": b"code=K7QM-2XRD", "headers": {"Content-Type": "text/plain"}},
    {"data": {"code": WRONG}},
    {"files": {"code": WRONG}},
    *({"content": body} for body in (b'{"code": "\xff"}', b'{"code":"\\u0000"}', b"[" * 4_096)),
]


async def test_malformed_codes_and_bodies_are_refused(house: House) -> None:
    for number, request in enumerate(MALFORMED):
        refused = await sent(house.service, f"203.0.113.{number}", **request)
        assert writing.refused(refused) == (400, "INVALID_REQUEST"), request
    for number, code in enumerate(("", "K7QM", "K7QM-2XRDX", "\uff2b" * 8, "'--%00;()")):
        unknown = await redeem(house.service, code, address=f"192.0.2.{100 + number}")
        assert writing.refused(unknown) == (404, "NOT_FOUND"), code


async def test_a_try_counts_before_its_body_is_read(house: House) -> None:
    for _ in range(limits.CONNECT_TRIES_MAX):
        refused = await sent(house.service, content=b"{")
        assert writing.refused(refused) == (400, "INVALID_REQUEST")

    assert writing.refused(await sent(house.service, content=b"{")) == (429, "RATE_LIMITED")


async def test_a_page_or_an_encoded_body_cannot_use_up_the_tries_of_its_visitor(
    house: House,
) -> None:
    for origin in (
        "https://evil.example",
        "http://localhost:8080",
        "null",
        "",
        "file://",
        "chrome://x",
    ):
        refused = await sent(house.service, json={"code": WRONG}, headers={"Origin": origin})
        assert writing.refused(refused) == (400, "INVALID_REQUEST"), origin
    for encoding in ("gzip", "zstd", "identity", ""):
        headers = {"Content-Encoding": encoding}
        refused = await sent(house.service, content=gzip.compress(b"{}"), headers=headers)
        assert writing.refused(refused) == (400, "INVALID_REQUEST"), encoding
        assert writing.sentence(refused) == "Content-Encoding: must be absent."

    assert (await redeem(house.service, await code_of(await house.owner()))).status_code == 200
