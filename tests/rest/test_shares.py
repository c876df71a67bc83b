"""GET and POST /v1/shares; GET, PATCH and DELETE /v1/shares/{share_id}."""

import asyncio
from typing import Any

import httpx
import pytest

from bowerbird.library.accounts.accounts import AccountDeletion
from tests.support import writing
from tests.support.service import Member, Service
from tests.support.writing import DAY

pytestmark = pytest.mark.anyio


async def create(member: Member, **fields: Any) -> httpx.Response:
    return await writing.send(member, "POST", "/v1/shares", fields)


async def change(member: Member, share_id: str, **fields: Any) -> httpx.Response:
    return await writing.send(member, "PATCH", f"/v1/shares/{share_id}", fields)


async def created(member: Member, **fields: Any) -> dict[str, Any]:
    response = await create(member, **fields)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()["data"]
    return found


def path_of(share: dict[str, Any], form: str = "url") -> str:
    path: str = share[form].removeprefix("http://localhost:8080")
    return path


async def test_a_label_is_shared_at_a_secret_address(alice: Member) -> None:
    await alice.save(tags=["birds"])

    share = await created(alice, label_name="Birds")

    address = share["url"].removeprefix("http://localhost:8080/c/")
    assert len(address) == 27
    assert share == {
        "id": share["id"],
        "label_name": "birds",
        "view": None,
        "list": None,
        "audience": "link",
        "state": "open",
        "url": f"http://localhost:8080/c/{address}",
        "atom_url": f"http://localhost:8080/c/{address}.atom",
        "json_url": f"http://localhost:8080/c/{address}.json",
        "title": "birds",
        "description": "",
        "curator": "",
        "ends_at": None,
        "pictures": True,
        "saved_dates": False,
        "highlights": False,
        "notes": False,
        "hides_gone": True,
        "is_indexed": False,
        "created_at": "2026-07-18T08:21:13.841838+00:00",
        "updated_at": "2026-07-18T08:21:13.841838+00:00",
    }
    assert (await alice.get("/v1/shares")).json()["data"] == [share]
    assert (await alice.get(f"/v1/shares/{share['id']}")).json()["data"] == share


async def test_every_field_can_be_changed(alice: Member) -> None:
    await alice.save(tags=["birds"])
    share = await created(alice, label_name="birds", audience="public", name="birds-of-ann")
    sent = {
        "title": "Birds",
        "description": "Nests.",
        "curator": "Ann",
        "ends_at": "2026-09-01T00:00:00.000000+00:00",
        "pictures": False,
        "saved_dates": True,
        "highlights": True,
        "notes": True,
        "hides_gone": False,
        "is_indexed": True,
    }

    changed = (await change(alice, share["id"], name="nests", is_on=False, **sent)).json()["data"]

    assert {name: changed[name] for name in sent} == sent
    assert changed["url"] == "http://localhost:8080/c/nests"
    assert changed["state"] == "off"
    assert (await alice.get(f"/v1/shares/{share['id']}")).json()["data"] == changed


async def test_a_name_belongs_to_one_share_of_all_accounts(alice: Member, bob: Member) -> None:
    await alice.save(tags=["birds"])
    await bob.save(tags=["birds"])
    await created(alice, label_name="birds", audience="public", name="birds")
    other = await created(bob, label_name="birds", audience="public", name="other")

    taken = await create(bob, label_name="birds", audience="public", name="birds")
    renamed = await change(bob, other["id"], name="birds")

    assert (taken.status_code, renamed.status_code) == (400, 400)
    assert taken.json()["error"] == renamed.json()["error"] == "name: 'birds' is taken."


@pytest.mark.both
async def test_of_two_that_take_a_name_at_once_one_is_refused(alice: Member, bob: Member) -> None:
    both = (alice, bob)
    for member in both:
        await member.save(tags=["birds"])
    shares = [await created(member, label_name="birds") for member in both]

    for number in range(4):
        name = {"audience": "public", "name": f"nests-{number}"}
        answers = await asyncio.gather(
            *(change(one, share["id"], **name) for one, share in zip(both, shares, strict=True))
        )
        assert sorted(answer.status_code for answer in answers) == [200, 400]


async def test_a_new_address_ends_the_old_one(cast: Service) -> None:
    alice = cast.alice
    await alice.save(tags=["birds"])
    share = await created(alice, label_name="birds")

    changed = (await change(alice, share["id"], new_address=True)).json()["data"]

    assert changed["url"] != share["url"]
    assert (await cast.nobody.get(path_of(share))).status_code == 404
    assert (await cast.nobody.get(path_of(changed))).status_code == 200


async def test_a_public_share_becomes_secret(cast: Service) -> None:
    alice = cast.alice
    await alice.save(tags=["birds"])
    share = await created(alice, label_name="birds", audience="public", name="birds")

    changed = (await change(alice, share["id"], audience="link")).json()["data"]

    assert (await cast.nobody.get("/c/birds")).status_code == 404
    assert (await cast.nobody.get(path_of(changed))).status_code == 200


@pytest.mark.both
async def test_deleting_a_share_ends_it_at_once(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")
    assert (await cast.nobody.get(path_of(share))).status_code == 200

    deleted = await writing.send(cast.alice, "DELETE", f"/v1/shares/{share['id']}")

    assert deleted.json()["data"] == share
    for form in ("url", "atom_url", "json_url"):
        assert (await cast.nobody.get(path_of(share, form))).status_code == 404
    assert (await cast.alice.get(f"/v1/shares/{share['id']}")).status_code == 404


async def test_a_share_can_be_created_switched_off(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds", is_on=False)

    assert share["state"] == "off"
    assert (await cast.nobody.get(path_of(share))).status_code == 404
    await change(cast.alice, share["id"], is_on=True)
    assert (await cast.nobody.get(path_of(share))).status_code == 200


@pytest.mark.both
async def test_deleting_a_label_ends_its_sharing(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds", audience="public", name="birds")
    [label] = (await cast.alice.get("/v1/labels")).json()["data"]

    await writing.send(cast.alice, "DELETE", f"/v1/labels/{label['id']}")
    await cast.alice.save(tags=["birds"])

    assert (await cast.nobody.get(path_of(share))).status_code == 404
    assert (await cast.alice.get("/v1/shares")).json()["data"] == []


async def test_a_repeated_request_for_a_share_gets_its_answer_after_the_label_is_deleted(
    alice: Member,
) -> None:
    await alice.save(tags=["birds"])
    fields = {"label_name": "birds"}
    first = await writing.send(alice, "POST", "/v1/shares", fields, key="once")
    [label] = (await alice.get("/v1/labels")).json()["data"]
    await writing.send(alice, "DELETE", f"/v1/labels/{label['id']}")

    again = await writing.send(alice, "POST", "/v1/shares", fields, key="once")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"


@pytest.mark.both
async def test_a_view_with_the_slug_of_a_deleted_one_is_not_shared(cast: Service) -> None:
    query = {"name": "Birds", "base_query": {"tag": "birds"}}
    await writing.send(cast.alice, "POST", "/v1/views", query)
    share = await created(cast.alice, view="birds")
    assert (share["view"], share["title"]) == ("birds", "Birds")

    await writing.send(cast.alice, "DELETE", "/v1/views/birds")
    await writing.send(cast.alice, "POST", "/v1/views", query)

    assert (await cast.nobody.get(path_of(share))).status_code == 404


async def test_a_share_ends_on_its_day(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds", ends_at="2026-07-19T00:00:00+00:00")
    assert (await cast.nobody.get(path_of(share))).status_code == 200

    cast.clock.now += DAY

    assert (await cast.nobody.get(path_of(share))).status_code == 404
    assert (await cast.alice.get("/v1/shares")).json()["data"][0]["state"] == "ended"


async def test_a_free_account_has_one_share(free: Member) -> None:
    await free.save(tags=["birds"])
    share = await created(free, label_name="birds")

    refused = await create(free, list="all", audience="feed")

    assert (refused.status_code, refused.json()["code"]) == (402, "SUBSCRIPTION_REQUIRED")
    await writing.send(free, "DELETE", f"/v1/shares/{share['id']}")
    await created(free, list="all", audience="feed")


async def test_an_account_has_fifty_shares(alice: Member) -> None:
    await alice.save(tags=["birds"])
    for _ in range(50):
        await created(alice, label_name="birds")

    refused = await create(alice, label_name="birds")

    assert refused.status_code == 400
    assert refused.json()["error"].startswith("An account can have 50 shared lists")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "label_name: or view or list is required"),
        ({"label_name": "birds", "view": "x"}, "label_name: or view or list is required"),
        ({"list": "all"}, "list: can only have a private feed"),
        ({"label_name": "birds", "audience": "public"}, "name: must have 3 to 40"),
        ({"label_name": "birds", "audience": "public", "name": "a--b"}, "name: must have 3"),
        ({"label_name": "birds", "audience": "public", "name": "Birds"}, "name: must have 3"),
        ({"label_name": "birds", "audience": "public", "name": "b.atom"}, "name: must have 3"),
        ({"label_name": "birds", "name": "birds"}, "name: is only for audience public"),
        ({"label_name": "birds", "ends_at": "soon"}, "ends_at: must be a time"),
        ({"label_name": "birds", "title": "a\u0007"}, "title: must have a visible"),
        ({"label_name": "birds", "title": "\u200b"}, "title: must have a visible"),
        ({"label_name": "birds", "curator": "\u3164 \u2060"}, "curator: must have a visible"),
        ({"label_name": "birds", "description": "\u2800"}, "description: must have a visible"),
        ({"label_name": "birds", "title": "a\u0000"}, "title: contains"),
    ],
)
async def test_a_wrong_share_is_refused(
    alice: Member, fields: dict[str, Any], problem: str
) -> None:
    await alice.save(tags=["birds"])

    refused = await create(alice, **fields)

    assert refused.status_code == 400
    assert problem in refused.json()["error"]


@pytest.mark.parametrize("fields", [{"label_name": "walls"}, {"view": "walls"}])
async def test_what_does_not_exist_is_not_shared(alice: Member, fields: dict[str, Any]) -> None:
    assert (await create(alice, **fields)).status_code == 404


async def test_a_private_feed_stays_private(cast: Service) -> None:
    await cast.alice.save()
    share = await created(cast.alice, list="unread", audience="feed")

    assert share["url"] is None
    page = path_of(share, "atom_url").removesuffix(".atom")
    assert (await cast.nobody.get(page)).status_code == 404
    assert (await cast.nobody.get(f"{page}.atom")).status_code == 200
    refused = await change(cast.alice, share["id"], audience="public", name="birds")
    assert refused.json()["error"].startswith("audience: a private feed stays one")


async def test_a_deleted_account_shares_nothing(cast: Service) -> None:
    await cast.bob.save(tags=["birds"])
    share = await created(cast.bob, label_name="birds")

    await AccountDeletion(cast.database).start(cast.bob.account_id)

    assert (await cast.nobody.get(path_of(share))).status_code == 404
    assert not await cast.database.rows("SELECT * FROM share", {})
