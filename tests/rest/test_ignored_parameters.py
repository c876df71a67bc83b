"""Unknown query parameters have no effect, and each answer to a query names them."""

import pytest
from msgspec import Struct

from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.wire import query_strings
from bowerbird.wire.responses.envelope import QueryMeta
from tests.support.imports import found, run
from tests.support.service import Member

pytestmark = pytest.mark.anyio

QUERIES = (
    *("/v1/bookmarks", "/v1/bookmarks/count", "/v1/bookmarks/facets", "/v1/labels", "/v1/digests"),
    *("/v1/imports", "/v1/views", "/v1/views/all", "/v1/account", "/v1/bookmarks/7"),
    *("/v1/digests/preferences", "/v1/sandbox/bookmarks", "/v1/sandbox/labels"),
    *("/v1/sandbox/views", "/v1/sandbox/views/{slug}", "/v1/sandbox/bookmarks/{post_id}"),
)


async def test_an_answer_names_the_parameters_without_effect(alice: Member) -> None:
    await alice.save(post_id="7")
    assert (await alice.client.post("/v1/views", json={"name": "All"})).status_code == 201
    for path in QUERIES:
        place = path
        if "{" in path:
            listed = (await alice.get(path.rpartition("/")[0])).json()
            place = path.format(**listed["data"][0])
        known = {"by": "label"} if path.endswith("facets") else {}
        plain = (await alice.get(place, **known)).json()

        response = await alice.get(place, edited_since="2026-01-01", Limit="1", **known)

        assert response.status_code == 200
        answer = response.json()
        assert answer["meta"].pop("ignored_parameters") == ["edited_since", "Limit"], path
        assert "ignored_parameters" not in plain["meta"]
        assert answer == plain


async def test_views_and_similar_posts_name_them_too(alice: Member) -> None:
    post = await alice.save()
    await alice.embed()
    assert (await alice.client.post("/v1/views", json={"name": "All"})).status_code == 201

    for path in ("/v1/views/all/bookmarks", f"/v1/bookmarks/{post['post_id']}/similar"):
        meta = (await alice.get(path, author="ada", nothing="")).json()["meta"]
        assert meta["ignored_parameters"] == ["author", "nothing"]


async def test_every_page_of_a_list_names_them(alice: Member) -> None:
    """The later pages of a plain list are read a faster way."""
    for _ in range(3):
        await alice.save()
    cursor = ""
    for _ in range(3):
        meta = (await alice.listed(limit=1, cursor=cursor, seed="7"))["meta"]
        assert meta["ignored_parameters"] == ["seed"]
        cursor = meta["next_cursor"]
    assert "ignored_parameters" not in (await alice.listed(limit=1))["meta"]


@pytest.mark.parametrize("path", ["/v1/bookmarks", "/v1/bookmarks/7", "/v1/views"])
async def test_values_of_such_parameters_do_not_change_the_answer(alice: Member, path: str) -> None:
    await alice.save(post_id="7")
    tags = {(await alice.get(path, _=str(n))).headers["etag"] for n in range(3)}
    plain = (await alice.get(path)).headers["etag"]

    # One entry of the cache, whatever their values are.
    assert len(tags) == 1
    assert plain not in tags


async def test_an_answer_to_a_job_names_them_too(alice: Member) -> None:
    await alice.save()
    change = {"action": "archive", "filters": {}}
    changed = (await alice.client.post("/v1/bookmarks/changes", json=change)).json()["data"]
    exported = await alice.client.post("/v1/exports/csv")
    run_id = await run(alice, found(post_id="1"))
    sandboxed = await alice.client.post("/v1/sandbox/exports/csv")

    for path in (
        f"/v1/bookmarks/changes/{changed['change_id']}",
        exported.headers["location"],
        f"/v1/imports/{run_id}",
        sandboxed.headers["location"],
    ):
        assert "ignored_parameters" not in (await alice.get(path)).json()["meta"]
        meta = (await alice.get(path, seed="7")).json()["meta"]
        assert meta["ignored_parameters"] == ["seed"], path


def test_every_read_but_a_file_names_them() -> None:
    reads = [one for one in OPERATIONS if one.method == "GET" and not one.is_file]
    assert [one.path for one in reads if not issubclass(one.meta or Struct, QueryMeta)] == []


def test_names_are_bounded_and_what_is_read_stays_as_it_was_sent() -> None:
    for sent, kept, ignored in (
        (b"", b"", ()),
        (b"limit=5&cursor=a%2Bb", b"limit=5&cursor=a%2Bb", ()),
        (b"x=1&limit=5&x=2&y", b"limit=5", ("x", "y")),
        # A known name may be percent-encoded; an empty one is no name.
        (b"l%69mit=5&=3&&z=", b"l%69mit=5", ("z",)),
        (b"%ff=1&a%00=2&" + b"n" * 500, b"", ("\ufffd", "a\x00", "n" * 64)),
    ):
        assert query_strings.split(sent, ListQuery) == (kept, ignored)
    many = b"&".join(b"p%d=1" % n for n in range(1_000))
    assert query_strings.split(many, ListQuery)[1] == tuple(f"p{n}" for n in range(20))
