"""Posts can be found and counted by their network."""

import pytest

from bowerbird.model.posts.networks import NETWORKS, bits_of, called
from tests.support import saving
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

LINKS = [
    "https://x.com/jack/status/20",
    "https://example.social/@ada/1032",
    "https://youtu.be/Bower-Bird_",
    "https://youtu.be/Bower-Bird2",
    "https://www.linkedin.com/feed/update/urn:li:activity:7254567890123456789",
]


async def test_posts_are_found_and_counted_by_network(alice: Member) -> None:
    ids = [one["post_id"] for one in await saving.results(alice, links=LINKS)]

    async def found(query: str) -> set[str]:
        body = await alice.listed(q=query)
        return {one["post_id"] for one in body["data"]}

    assert await found("site:youtube") == {ids[2], ids[3]}
    assert await found("site:Twitter.com") == {ids[0]}
    assert await found("-site:youtube -site:x") == {ids[1], ids[4]}
    assert await found("site:mastodon OR site:linkedin") == {ids[1], ids[4]}
    for network in ("youtube", "YouTube.com"):
        body = await alice.listed(network=network)
        assert {one["post_id"] for one in body["data"]} == {ids[2], ids[3]}
    assert (await alice.listed(network="x"))["meta"]["total_count"] == 1
    refused = await alice.client.get("/v1/bookmarks/count?network=myspace")
    assert refused.status_code == 400
    assert "network: must be one of x, mastodon" in refused.json()["error"]
    facets = (await alice.client.get("/v1/bookmarks/facets?by=network&limit=2")).json()
    assert facets["data"] == [
        {"value": "youtube", "count": 2, "name": "YouTube"},
        {"value": "linkedin", "count": 1, "name": "LinkedIn"},
    ]
    assert (facets["meta"]["total_count"], facets["meta"]["bookmarks"]) == (4, 5)


async def test_a_post_of_an_unknown_network_is_of_none_of_the_table(alice: Member) -> None:
    record = {"post_id": "1" * 30, "source": "elsewhere", "tweet_details": {"text": "caps"}}
    await saving.results(alice, posts=[record])

    assert (await alice.listed(q="site:x"))["data"] == []
    assert (await alice.listed(q="-site:x"))["meta"]["total_count"] == 1
    facets = (await alice.client.get("/v1/bookmarks/facets?by=network")).json()
    assert facets["data"] == []


def test_the_number_of_a_network_is_never_used_twice() -> None:
    assert [known.number for known in NETWORKS.values()] == list(range(len(NETWORKS)))
    assert bits_of("elsewhere") not in {bits_of(name) for name in NETWORKS}


@pytest.mark.parametrize(
    ("text", "network"),
    [("YouTube", "youtube"), ("www.reddit.com", "reddit"), ("bsky.app", "bluesky"), ("me", None)],
)
def test_a_network_has_several_names(text: str, network: str | None) -> None:
    assert called(text) == network
