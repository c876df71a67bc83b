"""One account sees, counts and guesses nothing of another. A row an endpoint."""

from typing import Any, Final

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.support import make
from tests.support.published import document
from tests.support.service import Member

pytestmark = pytest.mark.anyio

THEIRS: Final = ("7001", "7002", "7003")

# Every way to ask an endpoint for what is bob's. {post_id} and {cursor} are filled in.
ASKED: Final = {
    ("get", "/v1/bookmarks"): [
        "",
        "?is_unread_only=false&hide_archived=false",
        "?tag=theirs",
        "?author=bob",
        "?author=Bob%20B.",
        "?q=geheim",
        "?q=-nichts",
        "?q=geheim&sort_by=relevance",
        "?media_type=image",
        "?posted_from=2000-01-01&bookmarked_from=2000-01-01",
        "?cursor={cursor}",
        "?sort_by=title&sort_cursor=a",
        "?sort_cursor=9999999",
    ],
    ("get", "/v1/bookmarks/count"): [
        "",
        "?is_unread_only=false&hide_archived=false",
        "?tag=theirs",
        "?author=bob",
        "?q=geheim",
        "?q=-nichts",
    ],
    ("get", "/v1/bookmarks/{post_id}"): [""],
}


def test_every_endpoint_is_asked() -> None:
    published = {
        (method, path)
        for path, item in document()["paths"].items()
        for method in item
        if method in ("get", "put", "post", "patch", "delete")
    }

    assert published == set(ASKED)


async def _fill(bob: Member) -> str:
    posts = [
        make.post(
            post_id=post_id,
            text="geheim",
            author="bob",
            name="Bob B.",
            tags=["theirs"],
            attachments=[{"type": "image"}],
            is_read=post_id == THEIRS[2],
        )
        for post_id in THEIRS
    ]
    await bob.save_all(posts)
    cursor: str = (await bob.listed(limit=1))["meta"]["next_cursor"]
    return cursor


def _traces(value: Any) -> list[Any]:
    """Every count and every text in an answer."""
    if isinstance(value, dict):
        return [trace for item in value.values() for trace in _traces(item)]
    if isinstance(value, list):
        return [trace for item in value for trace in _traces(item)]
    return [value]


@pytest.mark.parametrize(("method", "path"), ASKED)
async def test_an_endpoint_tells_nothing_of_another_account(
    alice: Member, bob: Member, method: str, path: str
) -> None:
    targets = [path + query for query in ASKED[method, path]]
    # What an account answers where nobody has saved anything yet.
    blank = [
        (await alice.client.request(method, target.format(post_id=THEIRS[0], cursor="x"))).content
        for target in targets
    ]
    cursor = await _fill(bob)
    # Another instance, that has no answer of the first round left.
    alice = alice.on(app.build(Settings(answer_cache_mb=0), alice.database, alice.clock))

    for target, before in zip(targets, blank, strict=True):
        filled = target.format(post_id=THEIRS[0], cursor=cursor)
        response = await alice.client.request(method, filled)
        if "cursor={cursor}" in target:
            assert response.status_code == 400
        else:
            assert response.content == before, target
        assert not {*THEIRS, "geheim", "theirs", "bob"} & set(_traces(response.json()))


async def test_equal_ids_and_labels_stay_apart(alice: Member, bob: Member) -> None:
    await _fill(bob)
    mine = make.post(post_id=THEIRS[0], text="meins", tags=["Theirs"])
    await alice.save_all([mine])

    assert await alice.ids(tag="theirs") == [THEIRS[0]]
    assert await bob.ids(tag="theirs") == [THEIRS[1], THEIRS[0]]
    assert (await alice.listed())["data"][0]["tags"] == ["Theirs"]
    assert (await bob.get(f"/v1/bookmarks/{THEIRS[0]}")).json()["data"]["tags"] == ["theirs"]


async def test_what_one_removes_the_other_keeps(alice: Member, bob: Member) -> None:
    await _fill(bob)
    await alice.save_all([make.post(post_id=THEIRS[0], text="geheim")])

    await alice.remove(THEIRS[0])

    assert len(await bob.ids(q="geheim", is_unread_only="false")) == 3


async def test_answers_kept_for_one_are_not_given_to_another(alice: Member, bob: Member) -> None:
    await _fill(bob)
    theirs = await bob.get("/v1/bookmarks")

    mine = await alice.client.get(
        "/v1/bookmarks", headers={"If-None-Match": theirs.headers["etag"]}
    )

    assert mine.status_code == 200
    assert mine.json()["data"] == []
