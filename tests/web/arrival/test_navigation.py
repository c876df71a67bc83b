"""Every place of the navigation is a page, and every page leads to all of them."""

import re

import pytest

from bowerbird.web import navigation
from bowerbird.web.navigation import Place
from tests.web.library.conftest import Reader
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("place", navigation.EVERYWHERE, ids=lambda place: place.path)
async def test_a_place_of_the_navigation_is_a_page(ann: Reader, place: Place) -> None:
    assert (await ann.person.client.get(place.path)).status_code == 200


async def test_every_page_leads_to_every_place(ann: Reader) -> None:
    for page in ("/library", "/import", "/exports", "/account", "/save"):
        linked = re.findall(r'href="(/[a-z-]+)["?#]', await ann.page(page))
        assert {place.path for place in navigation.EVERYWHERE} <= set(linked), page


@pytest.mark.parametrize("page", ["/library", "/labels", "/views", "/trash", "/digests"])
async def test_the_navigation_has_each_place_once(ann: Reader, page: str) -> None:
    nav = (await ann.page(page)).partition('<nav class="side"')[2].partition("</nav>")[0]
    for place in (*navigation.SHELVES, *navigation.OVERVIEWS):
        assert nav.count(f'href="{place.path}"') == 1, place


async def test_the_place_where_somebody_is_has_a_mark(ann: Reader) -> None:
    for place in navigation.DOORS:
        page = await ann.page(place.path)
        assert f'href="{place.path}" aria-current="page"' in page


async def test_only_the_owner_is_led_to_the_page_of_the_operator(house: House) -> None:
    owner, other = await house.owner(), await house.member("other@example.com")
    assert 'href="/operator"' in (await owner.open("/account")).text
    assert 'href="/operator"' not in (await other.open("/account")).text
