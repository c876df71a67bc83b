"""Invitations on the operator's page."""

import re
from pathlib import Path

import pytest

from bowerbird.library.sign_in.invitations import Invitations
from bowerbird.storage.database import Database
from tests.web.sign_in.conftest import House, build

pytestmark = pytest.mark.anyio

LINK = re.compile(r"http://localhost:8080/link\?invitation=yes#([\w.-]+)")


async def test_the_link_of_an_invitation_is_shown_once_and_works(house: House) -> None:
    owner = await house.owner()

    created = await owner.send("/operator/invitations", "/operator", note="Ines")

    found = LINK.search(created.text)
    assert created.status_code == 200
    assert found
    assert await Invitations(house.database, house.clock).is_open(found[1])
    again = await owner.open("/operator")
    assert found[1] not in again.text
    assert "Ines" in again.text


async def test_a_withdrawn_invitation_no_longer_works(house: House) -> None:
    owner = await house.owner()
    invitations = Invitations(house.database, house.clock)
    token = await invitations.create("Ines")
    [link] = await invitations.all()

    withdrawn = await owner.send(
        "/operator/invitations/withdraw", "/operator", invitation=link.link_id
    )

    assert withdrawn.headers["location"] == "/operator?said=invitation-withdrawn#invitations"
    assert not await invitations.is_open(token)
    again = await owner.send("/operator/invitations/withdraw", "/operator", invitation=link.link_id)
    assert again.status_code == 404
    assert "used or withdrawn already" in again.text


async def test_a_refused_note_is_shown_with_the_reason(house: House) -> None:
    owner = await house.owner()

    refused = await owner.send("/operator/invitations", "/operator", note="<i>" * 100)

    assert refused.status_code == 400
    assert "printable characters" in refused.text
    assert "<i>" not in refused.text
    assert not LINK.search(refused.text)


async def test_a_closed_service_says_how_to_invite(database: Database, tmp_path: Path) -> None:
    house = build(database, tmp_path)
    owner = await house.owner()

    page = (await owner.open("/operator")).text

    assert "Nobody can create an account here." in page
    assert 'action="/operator/invitations"' not in page
