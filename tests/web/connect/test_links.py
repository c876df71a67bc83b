"""Whether a browser has used a link, on its own page and for the script of the page."""

import re

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from tests.support.visiting import Visitor
from tests.web.account.conftest import text_of
from tests.web.connect.conftest import redeem
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS
NAME = "<b>Firefox</b> on Linux"


async def new_link(person: Visitor) -> tuple[str, str]:
    """The code of a new link, and the path of its page."""
    page = (await person.send("/connect", "/connect")).text
    [code] = re.findall(r"/#([0-9A-Z]{4}-[0-9A-Z]{4})</code>", page)
    [path] = re.findall(r'href="(/connect/links/[0-9a-f]+)"', page)
    return code, path


async def state(person: Visitor, path: str) -> httpx.Response:
    return await person.client.get(f"{path}/state")


async def test_a_link_waits_until_a_browser_uses_it(house: House) -> None:
    person = await house.owner()
    code, path = await new_link(person)

    assert (await state(person, path)).json() == {"state": "waiting"}
    page = await person.open(path)
    assert "No browser has used the link yet." in text_of(page)
    assert f'href="{path}"' in page.text
    await redeem(house.service, code, NAME)

    assert (await state(person, path)).json() == {"state": "connected"}
    page = await person.open(path)
    assert f"Connected: {NAME}" in text_of(page)
    assert "<b>Firefox" not in page.text
    assert 'href="/library"' in page.text


async def test_a_link_names_the_browser_that_used_it_and_no_other(house: House) -> None:
    person = await house.owner()
    code, path = await new_link(person)
    other_code, other_path = await new_link(person)

    await redeem(house.service, other_code, "Firefox on Linux")
    assert (await state(person, path)).json() == {"state": "waiting"}
    await redeem(house.service, code, "Chrome on Windows")

    assert "Connected: Chrome on Windows" in text_of(await person.open(path))
    assert "Connected: Firefox on Linux" in text_of(await person.open(other_path))


async def test_an_expired_link_says_so(house: House) -> None:
    person = await house.owner()
    _, path = await new_link(person)

    house.clock.now += 10 * MINUTE

    assert (await state(person, path)).json() == {"state": "over"}
    page = text_of(await person.open(path))
    assert "This link no longer works." in page
    assert "Create another link" in page


async def test_a_browser_that_was_disconnected_is_not_shown_as_connected(house: House) -> None:
    person = await house.owner()
    code, path = await new_link(person)
    device = (await redeem(house.service, code)).json()["data"]["device_id"]

    await person.send("/keys/disconnect", "/keys", device=device)

    assert (await state(person, path)).json() == {"state": "over"}


async def test_other_people_learn_nothing_about_a_link(house: House) -> None:
    person = await house.owner()
    other = await house.member("other@example.com", "pro")
    code, path = await new_link(person)
    await redeem(house.service, code, NAME)

    for one in (path, "/connect/links/00000000", "/connect/links/%FF"):
        assert (await other.client.get(one)).status_code == 404
        refused = await state(other, one)
        assert (refused.status_code, "No link" in refused.text) == (404, True)
    stranger = house.somebody()
    assert (await stranger.client.get(path)).headers["location"].startswith("/sign-in?next=")
    assert (await state(stranger, path)).status_code == 401
