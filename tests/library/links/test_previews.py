"""A preview shows what a network publishes, and stores nothing."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.model.posts.networks import ContentState
from bowerbird.requests.saving import read_links
from tests.support import saving, writing
from tests.support.hosts.links import Reader, x_link, x_url
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_links_are_shown_and_not_saved(reader: Reader) -> None:
    reader.put(x_url(x_link(2)), {}, "404 Not Found")
    links = read_links([reader.x_post(1), x_link(2), "https://example.org/"])

    result = await reader.reading.previews(await reader.member.account(), links)

    shown, gone, failed = result.results
    assert shown.preview is not None
    assert (shown.preview.text, shown.preview.author_name) == ("The nest is full.", "Nest Cam")
    assert gone.preview is not None
    assert gone.preview.content_state == ContentState.GONE
    assert failed.error is not None
    assert (await reader.member.listed())["meta"]["total_count"] == 0
    assert not await reader.is_due()
    account = await reader.member.account()
    with pytest.raises(Refusal, match="at most 5 items"):
        await reader.reading.previews(account, read_links([saving.X] * 6))


async def test_a_request_can_ask_for_a_preview(alice: Member) -> None:
    path = "/v1/bookmarks?preview=true"
    response = await writing.send(alice, "POST", path, {"links": [saving.X]})

    assert response.status_code == 200
    [item] = response.json()["data"]["results"]
    # This service asks nobody.
    assert item["preview"]["content_state"] == "link"
    assert (await alice.listed())["meta"]["total_count"] == 0
    wrong = await writing.send(alice, "POST", "/v1/bookmarks?preview=perhaps", {"links": ["a"]})
    assert wrong.status_code == 400
