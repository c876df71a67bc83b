"""The demo has pictures of our own making in the package."""

import json
from importlib import resources
from typing import Any

import pytest

from bowerbird.images import hosts
from bowerbird.library import demo
from bowerbird.model.posts.media import shown_urls
from tests.support.posts.keeping import Shelf
from tests.web.house import Reader

_POSTS: list[dict[str, Any]] = json.loads(
    resources.files("bowerbird.fixtures").joinpath("posts.json").read_text(encoding="utf-8")
)


def test_every_image_of_the_samples_is_drawn() -> None:
    urls = {url for post in _POSTS for url in shown_urls(post)}

    assert urls == set(hosts.drawings_by_url())


@pytest.mark.anyio
async def test_the_demo_shows_its_pictures_without_a_network(ann: Reader, shelf: Shelf) -> None:
    filled = await ann.person.send("/library/demo", "/library")
    assert filled.status_code == 303
    page = await ann.page("/library")
    await shelf.run()

    assert demo.size() > 30
    assert page.count('<img src="/static/demo-') > 5
    assert "/media/" not in page
    assert (await shelf.state()).total == 0
    assert shelf.hosts.requests == []
