"""Every place of the navigation is a page, and every page leads to all of them."""

import re
import struct
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird.web import navigation
from tests.web.conftest import PROXIED, OpenSite
from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio


async def test_a_place_of_the_navigation_is_a_page(ann: Reader) -> None:
    for place in navigation.EVERYWHERE:
        assert (await ann.person.client.get(place.path)).status_code == 200, place


async def test_every_page_leads_to_every_place(ann: Reader) -> None:
    for page in ("/library", "/import", "/exports", "/account", "/save"):
        linked = re.findall(r'href="(/[a-z-]+)["?#]', await ann.page(page))
        assert {place.path for place in navigation.EVERYWHERE} <= set(linked), page


async def test_the_navigation_has_each_place_once(ann: Reader) -> None:
    for page in ["/library", "/labels", "/views", "/trash", "/digests"]:
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


async def test_the_manifest_names_icons_that_have_their_size(site: httpx.AsyncClient) -> None:
    page = await site.get("/", headers={"Accept": "text/html"})
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page.text
    assert "manifest-src 'self'" in page.headers["content-security-policy"]
    answer = await site.get("/manifest.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        image = await site.get(icon["src"])
        assert image.headers["content-type"] == "image/png"
        width, height = struct.unpack(">II", image.content[16:24])
        assert icon["sizes"] == f"{width}x{height}"


async def test_everything_in_the_manifest_is_under_the_path_of_the_site(
    open_site: OpenSite,
) -> None:
    settings = PROXIED | {"site_url": "https://example.org/posts"}
    manifest = (await (await open_site(**settings)).get("/manifest.webmanifest")).json()
    paths = [manifest["start_url"], manifest["scope"], manifest["share_target"]["action"]]
    paths += [icon["src"] for icon in manifest["icons"]]
    assert all(urlsplit(path).path.startswith("/posts/") for path in paths)
