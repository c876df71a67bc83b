"""/sharing: sharing a label or a view, changing that, and private feeds."""

import re
from typing import Any

import httpx
import pytest

from tests.rest.test_shares import created, path_of
from tests.support import service, writing
from tests.support.service import Member
from tests.web.house import House, Reader, signed_in, text_of

pytestmark = pytest.mark.anyio


async def shares(member: Member) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await member.get("/v1/shares")).json()["data"]
    return found


def stranger(house: House) -> httpx.AsyncClient:
    return service.client_on(house.service)


async def test_a_label_is_shared_from_its_list(house: House, ann: Reader) -> None:
    await ann.member.save(tags=["field notes"], text="A blue nest")
    listed = await ann.page("/library?tag=field+notes&is_unread_only=false")
    [address] = re.findall(r'href="(/sharing/new\?[^"]*)"', listed)
    assert address == "/sharing/new?label=field+notes"
    assert "Share “field notes”" in await ann.page(address)

    answer = await ann.person.send(
        "/sharing/new",
        address,
        label="field notes",
        audience="link",
        title="Notes",
        pictures="on",
        hides_gone="on",
        ends="2026-09-30",
    )
    assert answer.status_code == 303, text_of(answer)

    [share] = await shares(ann.member)
    assert answer.headers["location"] == f"/sharing/{share['id']}?said=shared"
    assert (share["title"], share["pictures"], share["notes"]) == ("Notes", True, False)
    assert share["ends_at"] == "2026-10-01T00:00:00.000000+00:00"
    assert "A blue nest" in (await stranger(house).get(path_of(share))).text
    again = await ann.person.open(address)
    assert again.url.path == f"/sharing/{share['id']}"


async def test_the_form_leaves_an_end_that_it_does_not_change(ann: Reader) -> None:
    await ann.member.save(tags=["birds"])
    share = await created(ann.member, label_name="birds", ends_at="2026-07-01T10:00:00+00:00")
    page = f"/sharing/{share['id']}"
    fields = {"do": "save", "audience": "link"}

    await ann.person.send(page, page, **fields, title="Nests", ends="2026-07-01")
    [renamed] = await shares(ann.member)
    await ann.person.send(page, page, **fields, ends="2026-07-02")
    [longer] = await shares(ann.member)

    assert (renamed["title"], renamed["ends_at"]) == ("Nests", share["ends_at"])
    assert longer["ends_at"] == "2026-07-03T00:00:00.000000+00:00"


async def test_a_view_is_shared_and_changed(house: House, ann: Reader) -> None:
    view = {"name": "Nests", "base_query": {"q": "nest"}}
    await writing.send(ann.member, "POST", "/v1/views", view)
    assert "/sharing/new?view=nests" in await ann.page("/views/nests")
    form = "/sharing/new?view=nests"
    fields = {"view": "nests", "audience": "public", "name": "nests", "is_indexed": "on"}

    refused = await ann.person.send("/sharing/new", form, **{**fields, "name": "N"})
    await ann.person.send("/sharing/new", form, **fields)

    assert "name: must have 3 to 40 lowercase letters" in text_of(refused)
    assert 'name="is_indexed" checked' in refused.text
    [share] = await shares(ann.member)
    page = f"/sharing/{share['id']}"
    assert (share["url"], share["is_indexed"]) == ("http://localhost:8080/c/nests", True)
    assert (await stranger(house).get("/c/nests")).status_code == 200
    await ann.person.send(page, page, do="save", audience="link", title="Mine")
    [share] = await shares(ann.member)
    assert (share["audience"], share["title"], share["is_indexed"]) == ("link", "Mine", False)
    assert (await stranger(house).get("/c/nests")).status_code == 404
    for do, status in (("off", 404), ("on", 200), ("renew", 404)):
        await ann.person.send(page, page, do=do)
        assert (await stranger(house).get(path_of(share))).status_code == status
    await ann.person.send(page, page, do="delete")
    assert await shares(ann.member) == []
    assert "It is not shared any more." in await ann.page("/sharing?said=share-deleted")


@pytest.mark.parametrize("of", ["list unread", "label field notes", "view nests"])
async def test_a_private_feed_is_made_and_deleted(house: House, ann: Reader, of: str) -> None:
    await ann.member.save(tags=["field notes"], text="A nest")
    view = {"name": "Nests", "base_query": {"q": "nest"}}
    await writing.send(ann.member, "POST", "/v1/views", view)

    await ann.person.send("/sharing", "/sharing", of=of)

    [share] = await shares(ann.member)
    assert share["audience"] == "feed"
    listed = await ann.page("/sharing?said=feed-created")
    assert share["atom_url"] in listed
    assert "A nest" in (await stranger(house).get(path_of(share, "atom_url"))).text
    page = f"/sharing/{share['id']}"
    await ann.person.send(page, page, do="renew")
    assert (await stranger(house).get(path_of(share, "atom_url"))).status_code == 404
    await ann.person.send(page, page, do="delete")
    assert await shares(ann.member) == []


@pytest.mark.parametrize("of", ["", "list", "list x", "label x", "view x", "label \x00", "x y"])
async def test_a_feed_of_nothing_is_refused(ann: Reader, of: str) -> None:
    refused = await ann.person.send("/sharing", "/sharing", of=of)

    assert refused.status_code in (400, 404)
    assert await shares(ann.member) == []


@pytest.mark.parametrize("path", ["/sharing/new", "/sharing/new?label=x", "/sharing/new?view=%00"])
async def test_what_does_not_exist_has_no_form(ann: Reader, path: str) -> None:
    assert (await ann.person.open(path)).status_code == 404


async def test_nobody_sees_or_changes_the_share_of_another(ann: Reader, bob: Reader) -> None:
    await bob.member.save(tags=["birds"])
    share = await created(bob.member, label_name="birds", title="Geheim")
    page = f"/sharing/{share['id']}"

    assert (await ann.person.open(page)).status_code == 404
    for do in ("delete", "off", "renew", "save"):
        assert (await ann.person.send(page, "/sharing", do=do)).status_code == 404
    assert "Geheim" not in await ann.page("/sharing")
    assert await shares(bob.member) == [share]


@pytest.mark.both
async def test_the_operator_stops_a_share(house: House) -> None:
    owner = await house.owner()
    ann = await signed_in(house, "ann@example.com")
    await ann.member.save(tags=["birds"])
    share = await created(ann.member, label_name="birds", title="Nests")
    secret = share["url"].rpartition("/")[2]
    page = await owner.open("/operator")
    assert "Nests" in page.text
    assert secret not in page.text

    await owner.send("/operator/shares/stop", "/operator", share=share["id"])

    assert (await stranger(house).get(path_of(share))).status_code == 404
    [stopped] = await shares(ann.member)
    assert stopped["state"] == "stopped"
    assert "The operator stopped the sharing of “Nests”" in await ann.page("/activity")
    one = f"/sharing/{share['id']}"
    await ann.person.send(one, one, do="on")
    assert (await stranger(house).get(path_of(share))).status_code == 404
    await owner.send("/operator/shares/allow", "/operator", share=share["id"])
    assert (await stranger(house).get(path_of(share))).status_code == 200
    unknown = await owner.send("/operator/shares/stop", "/operator", share="a-b")
    assert "No share has the id" in text_of(unknown)
    await ann.member.client.aclose()


async def test_the_operator_reads_all_shares_page_by_page(house: House) -> None:
    owner = await house.owner()
    ann = await signed_in(house, "ann@example.com")
    await ann.member.save(tags=["birds"])
    for number in range(25):
        await created(ann.member, label_name="birds", title=f"number {number:02}")

    first = (await owner.open("/operator")).text
    [older] = re.findall(r'href="(/operator\?shares=[^"#]*)', first)
    second = (await owner.open(older)).text

    found = re.findall(r"<bdi>(number \d\d)</bdi>", first + second)
    assert sorted(found) == [f"number {number:02}" for number in range(25)]
    for wrong in ("x", "1", "1-", "1-%C3%A9", "9" * 30 + "-a"):
        assert (await owner.open(f"/operator?shares={wrong}")).status_code == 400
    await ann.member.client.aclose()
