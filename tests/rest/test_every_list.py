"""What all lists with pages have in common."""

import pytest

from bowerbird.openapi.operations import OPERATIONS
from tests.rest.paging import pages
from tests.support import digesting, imports, make, writing
from tests.support.offenders import Offenders
from tests.support.service import Member

pytestmark = pytest.mark.anyio

LISTS = (
    *("/v1/bookmarks", "/v1/bookmarks/changes", "/v1/bookmarks/trash", "/v1/bookmarks/duplicates"),
    *("/v1/digests", "/v1/imports", "/v1/labels", "/v1/views/mine/bookmarks"),
)


def test_the_table_has_every_list_with_pages() -> None:
    queries = [(one.path, one.query.__struct_encode_fields__) for one in OPERATIONS if one.query]
    paged = {path for path, names in queries if "cursor" in names}

    # What happened to a library has no last page.
    assert paged - {"/v1/changes"} == {path.replace("/mine/", "/{slug}/") for path in LISTS}


async def fill(member: Member) -> None:
    """Three items or more for each list."""
    names = ("b", "C", "a", "É", "Z", "_")
    await member.save_all(
        [
            make.post(
                post_id=str(n),
                text=f"the text number {n // 2} of the nests of bowerbirds",
                tags=[name],
                bookmarked_at="2026-06-30T00:00:00+00:00",
            )
            for n, name in enumerate(names)
        ]
    )
    for number in ("11", "12", "13"):
        await imports.run(member, imports.found(post_id=number))
        await writing.send(member, "DELETE", f"/v1/bookmarks/{number}")
    await writing.view(member, "Mine")
    await digesting.prefer(member, "2026-07-01T00:00:00+00:00", frequency="daily")
    for day in ("02", "03", "04"):
        await digesting.make(member, f"2026-07-{day}T08:00:00+00:00")


async def test_pages_have_each_item_once_in_the_order_of_the_list(alice: Member) -> None:
    await fill(alice)
    offenders = Offenders()
    for path in LISTS:
        whole = (await alice.get(path, limit=100)).json()["data"]
        read = await pages(alice, path, limit=2)
        with offenders.check(path):
            assert len(whole) >= 3
            assert [item for page in read for item in page["data"]] == whole
            for page in read:
                meta = page["meta"]
                assert meta["count"] == len(page["data"]) <= meta["limit"] == 2
                assert meta.get("total_count", len(whole)) == len(whole)
    assert offenders == {}


async def test_a_cursor_is_valid_for_one_list_of_one_account(alice: Member, bob: Member) -> None:
    cursors = []
    for member in (bob, alice):
        await fill(member)
        firsts = [(await member.get(path, limit=1)).json() for path in LISTS]
        cursors += [first["meta"]["next_cursor"] for first in firsts]
    assert len(set(cursors)) == len(cursors), "the same items do not give the same cursor"
    own = dict(zip(LISTS, cursors[len(LISTS) :], strict=True))
    offenders = Offenders()
    for path in LISTS:
        for cursor in (*cursors, "x", "%ff", "A" * 9_000):
            response = await alice.get(path, cursor=cursor)
            with offenders.check((path, cursor[:20])):
                assert (response.status_code == 200) is (cursor == own[path])
                assert response.is_success or writing.sentence(response).startswith("cursor: ")
    assert offenders == {}


async def test_a_limit_is_a_positive_whole_number(alice: Member) -> None:
    await writing.view(alice, "Mine")
    for path in LISTS:
        for limit in ("0", "-1", "x", "1.5"):
            response = await alice.get(path, limit=limit)
            assert writing.refused(response) == (400, "INVALID_REQUEST"), (path, limit)
            assert writing.sentence(response).startswith("limit: ")
