"""Every page has the whole sidebar, and the settings have tabs."""

import re
import struct
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird.web import navigation
from tests.support import writing
from tests.web.conftest import PROXIED, OpenSite
from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio


LISTS = ("/library", "/views", "/labels", "/trash")
ROOMS = (*LISTS, *(place.path for place in navigation.ROOMS), "/save", "/account")


async def test_every_place_is_a_page_with_the_whole_sidebar_and_says_where_somebody_is(
    ann: Reader,
) -> None:
    await writing.send(ann.member, "POST", "/v1/views", {"name": "Nests", "base_query": {}})
    for path in (*ROOMS, *(place.path for place in navigation.SETTINGS)):
        page = await ann.page(path)
        side = page.partition('<nav class="side"')[2].partition("</nav>")[0]
        assert all(side.count(f'href="{room}"') == 1 for room in ROOMS), path
        assert 'href="/views/nests"' in side, path
        assert f'href="{path}" aria-current="page"' in page or path == "/save", path


async def test_the_settings_have_a_tab_per_page(ann: Reader) -> None:
    paths = [place.path for place in navigation.SETTINGS]
    for path in paths:
        tabs = (await ann.page(path)).partition("settabs")[2].partition("</nav>")[0]
        assert re.findall(r'href="(/[a-z-]+)"', tabs)[: len(paths)] == paths, path
    assert "settabs" not in await ann.page("/import")


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
