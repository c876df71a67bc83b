"""Invitations as the operator keeps them: created, listed, withdrawn, expired, and bounded."""

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Refusal
from bowerbird.library.sign_in.one_time_links import InvitationRefused, Invitations
from bowerbird.requests.limits import INVITATION_NOTE_MAX, INVITATIONS_MAX
from bowerbird.storage.database import Transaction
from tests.web.house import House

pytestmark = pytest.mark.anyio
DAY = 86_400 * MICROSECONDS


@pytest.fixture
def invitations(house: House) -> Invitations:
    return Invitations(house.database, house.clock)


async def use(house: House, invitations: Invitations, token: str) -> None:
    async def work(transaction: Transaction) -> None:
        await invitations.use(transaction, token)

    await house.database.write(work)


async def test_an_invitation_is_listed_until_it_is_used(
    house: House, invitations: Invitations
) -> None:
    first = await invitations.create("Ines")
    house.clock.now += MICROSECONDS
    await invitations.create("Jo")
    assert [link.detail for link in await invitations.all()] == ["Jo", "Ines"]
    assert await invitations.is_open(first)

    await use(house, invitations, first)

    assert [link.detail for link in await invitations.all()] == ["Jo"]
    assert not await invitations.is_open(first)
    with pytest.raises(InvitationRefused):
        await use(house, invitations, first)


async def test_an_invitation_expires_after_seven_days(
    house: House, invitations: Invitations
) -> None:
    token = await invitations.create()
    house.clock.now += 7 * DAY - 1
    assert await invitations.is_open(token)

    house.clock.now += 1

    assert not await invitations.is_open(token)
    assert not await invitations.all()
    with pytest.raises(InvitationRefused):
        await use(house, invitations, token)


async def test_a_withdrawn_invitation_does_not_work(house: House, invitations: Invitations) -> None:
    token = await invitations.create("Ines")
    [link] = await invitations.all()

    await invitations.withdraw(link.link_id)

    assert not await invitations.all()
    with pytest.raises(InvitationRefused):
        await use(house, invitations, token)
    with pytest.raises(Refusal, match="was used or withdrawn already"):
        await invitations.withdraw(link.link_id)


async def test_a_link_that_signs_in_is_no_invitation(
    house: House, invitations: Invitations
) -> None:
    token = await house.links.create_for_owner()

    assert not await invitations.is_open(token)
    with pytest.raises(InvitationRefused):
        await use(house, invitations, token)
    assert (await house.somebody().send("/link", "/link", token=token)).status_code == 200


async def test_open_invitations_are_bounded(invitations: Invitations) -> None:
    for _ in range(INVITATIONS_MAX):
        await invitations.create()
    with pytest.raises(Refusal, match="100 invitations are open already"):
        await invitations.create()

    await invitations.withdraw((await invitations.all())[0].link_id)

    await invitations.create()


@pytest.mark.parametrize("note", ["x" * (INVITATION_NOTE_MAX + 1), "two\nlines", "\u202e"])
async def test_a_note_is_short_and_printable(invitations: Invitations, note: str) -> None:
    with pytest.raises(Refusal, match="at most 100 printable characters"):
        await invitations.create(note)


async def test_the_owner_sees_invitations_in_the_activity_log(
    house: House, invitations: Invitations
) -> None:
    await house.owner()
    await invitations.create("Ines")

    rows = await house.database.rows("SELECT kind, detail FROM activity", {})
    assert ("invitation created", "Ines") in [tuple(row) for row in rows]
