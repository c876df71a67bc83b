"""Device tokens: where they work, and where not."""

import pytest

from bowerbird.library.accounts.tokens import Devices
from bowerbird.model.keys import DEVICE_PREFIX, new_key
from bowerbird.requests import limits
from tests.support import ingesting, writing
from tests.support.in_turn import in_turn
from tests.support.ingesting import Sender, data, sender
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


def token_of(device: Sender) -> str:
    return device.client.headers["Authorization"].removeprefix("Bearer ")


@in_turn("path", ["/v1/bookmarks", "/v1/account", "/mcp"])
async def test_a_device_token_is_refused_elsewhere(laptop: Sender, path: str) -> None:
    method = "POST" if path == "/mcp" else "GET"
    response = await laptop.client.request(method, path, json={})

    assert response.status_code == 401
    assert "A device token cannot be used here, only under /ingest/v1." in response.text


async def test_an_api_key_works_for_ingest_too(cast: Service, alice: Member) -> None:
    await ingesting.device(cast, alice)
    by_key = sender(cast, alice, alice.key)

    run = await by_key.start(source_user_id="111")
    await by_key.start(source_user_id="222")
    result = await by_key.send(run["run_id"], 0, ingesting.listed([1]))

    assert result["inserted"] == 1
    assert data(await by_key.get("/status"))["device_id"] is None


@in_turn("header", [None, "Bearer", "Bearer dev_", "Basic eDp5", "Bearer dev_x", "Bearer x"])
async def test_a_refusal_names_the_device_token(cast: Service, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}

    response = await cast.nobody.get("/ingest/v1/status", headers=headers)

    assert writing.refused(response) == (401, "UNAUTHORIZED")
    assert "device token" in writing.sentence(response).lower()
    assert "www-authenticate" in response.headers


@pytest.mark.both
async def test_a_forged_token_of_an_account_is_refused(cast: Service, alice: Member) -> None:
    await ingesting.device(cast, alice)
    forged = sender(cast, alice, new_key(alice.account_id, DEVICE_PREFIX))

    response = await forged.get("/status")
    assert writing.refused(response) == (401, "UNAUTHORIZED")
    assert "revoked" not in writing.sentence(response)


@pytest.mark.both
async def test_a_free_account_pays_no_call(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.free)

    await laptop.read_list("full", [2, 1])
    await laptop.get("/status")

    assert (await cast.free.account()).calls_this_month == 0


async def test_the_last_use_is_stored(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    laptop.clock.now += 5 * ingesting.MINUTE
    await laptop.send(run_id, 0, ingesting.listed([1]))

    [device] = await Devices(alice.database, laptop.clock).all(alice.account_id)

    assert device.last_used_at == laptop.clock.now


async def test_revoked_devices_do_not_pile_up(
    cast: Service, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REVOKED_DEVICES_MAX", 2)
    devices = Devices(cast.database, cast.clock)
    await devices.create(alice.account_id, "kept")
    theirs = await devices.create(cast.bob.account_id, "theirs")
    await devices.revoke(cast.bob.account_id, theirs)

    for number in range(4):
        cast.clock.now += 1
        token = await devices.create(alice.account_id, f"device {number}")
        await devices.revoke(alice.account_id, token)

    assert [one.name for one in await devices.all(alice.account_id)] == [
        "kept",
        "device 2",
        "device 3",
    ]
    assert len(await devices.all(cast.bob.account_id)) == 1
