"""The manifest with which the site is installed."""

import struct
from urllib.parse import urlsplit

import httpx
import pytest

from tests.web.conftest import PROXIED, OpenSite

pytestmark = pytest.mark.anyio


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
