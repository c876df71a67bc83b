"""GET /v1/bookmarks: media type, author, tag, dates, one import, network, language."""

from typing import Final

import pytest

from bowerbird.model.posts.networks import NETWORKS, bits_of, called
from tests.support import make, saving, writing
from tests.support.imports import found, run
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


def _attachments(*types: str) -> list[dict[str, str]]:
    return [{"type": kind, "url": "https://example.com/1"} for kind in types]


async def test_media_type_matches_the_attachments_of_a_post(alice: Member) -> None:
    image = (await alice.save(attachments=_attachments("image")))["post_id"]
    video = (await alice.save(attachments=_attachments("video", "link")))["post_id"]
    gif = (await alice.save(attachments=_attachments("animated_gif")))["post_id"]
    poll = (await alice.save(attachments=_attachments("poll")))["post_id"]
    article = (await alice.save(article={"title": "Long"}))["post_id"]
    thread = (await alice.save(meta={"tweet_is_thread": True}))["post_id"]
    text = (await alice.save())["post_id"]

    for name in ("image", "Image", "photo"):
        assert await alice.ids(media_type=name) == [image]
    assert await alice.ids(media_type="video") == await alice.ids(media_type="link") == [video]
    for name in ("GIF", "animated_gif"):
        assert await alice.ids(media_type=name) == [gif]
    assert await alice.ids(media_type="poll") == [poll]
    assert await alice.ids(media_type="article") == [article]
    assert await alice.ids(media_type="thread") == [thread]
    assert await alice.ids(media_type="text") == [text, thread]


async def test_author_is_a_handle_or_the_exact_name(alice: Member) -> None:
    hers = await alice.save(author="Ada_L", name="Ada Lovelace")
    await alice.save(author="eve", name="Ada L")

    for text in ("Ada_L", "ada_l", "@ada_l", "@ADA_L", " ada_l ", "Ada Lovelace", "ADA lovelace"):
        assert await alice.ids(author=text) == [hers["post_id"]]
    for text in ("ada", "lovelace", "@Ada Lovelace", "ada_l%", "ada*", "@@ada_l"):
        assert await alice.ids(author=text) == []


async def test_tag_matches_label_names_ignoring_case_and_spacing(alice: Member) -> None:
    tagged = await alice.save(tags=["To Read", "Other"])
    await alice.save(tags=["To"])
    await alice.save()

    for text in ("To Read", "to read", "TO  READ", " to read "):
        assert await alice.ids(tag=text) == [tagged["post_id"]]
        assert (await alice.listed(tag=text))["meta"]["total_count"] == 1
    await alice.change(tagged, tags=["Other"])
    assert await alice.ids(tag="To Read") == []


async def test_bookmarked_bounds_apply_to_bookmarked_at(alice: Member) -> None:
    saved = await alice.save(
        bookmarked_at="2026-03-01T10:00:00Z", imported_at="2026-06-01T00:00:00"
    )
    unset = await alice.save()

    assert await alice.ids(bookmarked_from="2026-03-01T10:00:00Z") == [unset["post_id"]]
    assert await alice.ids(bookmarked_to="2026-03-01T10:00:00Z") == []
    between = {"bookmarked_from": "2026-03-01", "bookmarked_to": "2026-03-02"}
    assert await alice.ids(**between) == [saved["post_id"]]
    # Without bookmarked_at, the time of import counts.
    assert await alice.ids(bookmarked_from="2026-07-18T08:21:13.841837") == [unset["post_id"]]


WRITINGS = (
    "2026-01-01T10:00:00Z",
    "2026-01-01t10:00:00z",
    "2026-01-01T12:00:00+02:00",
    "2026-01-01T12:00:00+0200",
    "2026-01-01T05:00:00-05:00",
    "2026-01-01T10:00:00",
    "2026-01-01T10:00",
    "2026-01-01 10:00:00",
    "2026-01-01T10:00:00.000000000Z",
    "2026-01-01T10:00:00,0",
    # An unencoded + is read as a space.
    "2026-01-01T12:00:00 02:00",
    "2026-01-01 12:00 02:00",
    "  2026-01-01T10:00:00Z  ",
)


async def test_every_notation_of_an_instant_is_equivalent(alice: Member) -> None:
    at = await alice.save(posted_at="2026-01-01T10:00:00Z")
    after = await alice.save(posted_at="2026-01-01T10:00:00.000001Z")
    before = await alice.save(posted_at="2026-01-01T09:59:59.999999Z")

    for text in WRITINGS:
        assert await alice.ids(posted_from=text) == [after["post_id"]]
        assert await alice.ids(posted_to=text) == [before["post_id"]]
        assert at["post_id"] not in await alice.ids(posted_from=text)


async def test_a_day_is_that_of_the_accounts_time_zone(alice: Member) -> None:
    late = (await alice.save(bookmarked_at="2026-10-31T22:30:00Z"))["post_id"]
    next_day = (await alice.save(bookmarked_at="2026-10-31T23:30:00Z"))["post_id"]
    assert len(await alice.ids(bookmarked_to="2026-10-31")) == 2

    body = {"time_zone": "Europe/Berlin"}
    await writing.send(alice, "PATCH", "/v1/digests/preferences", body)

    assert await alice.ids(bookmarked_to="2026-10-31") == [late]
    assert await alice.ids(bookmarked_from="2026-11-01") == [next_day]
    view = await writing.view(alice, base_query={"bookmarked_to": "2026-10-31"})
    assert (await alice.get(view)).json()["data"]["count"] == 1
    asked = {"action": "read", "filters": {"bookmarked_to": "2026-10-31"}, "dry_run": True}
    dry = await writing.send(alice, "POST", "/v1/bookmarks/changes", asked)
    assert dry.json()["data"]["count"] == 1


async def test_relative_dates_work_in_a_list_and_follow_the_clock(alice: Member) -> None:
    old = (await alice.save(posted_at="2026-07-10T00:00:00Z"))["post_id"]
    new = (await alice.save(posted_at="2026-07-18T01:00:00Z"))["post_id"]

    assert await alice.ids(posted_from="-7d") == [new]
    assert await alice.ids(posted_to="-7d") == [old]
    assert await alice.ids(posted_from="today") == [new]
    assert await alice.crawl(posted_from="last 30 days", limit=1) == [new, old]
    tag = (await alice.get("/v1/bookmarks", posted_from="-7d")).headers["etag"]
    alice.clock.now += 8 * 86_400 * 1_000_000
    assert await alice.ids(posted_from="-7d") == []
    again = await alice.client.get(
        "/v1/bookmarks", params={"posted_from": "-7d"}, headers={"If-None-Match": tag}
    )
    assert again.status_code == 200


@in_turn("what", ["posted", "bookmarked"])
async def test_a_time_that_ends_before_it_starts_is_refused(alice: Member, what: str) -> None:
    asked = {f"{what}_from": "2026-02-01", f"{what}_to": "2026-01-30"}
    bodies = {
        "/v1/bookmarks/changes": {"action": "read", "filters": asked, "dry_run": True},
        "/v1/exports/json": asked,
    }

    answers = [
        await alice.get("/v1/bookmarks", **asked),
        await alice.get("/v1/bookmarks/count", **asked),
        *[await writing.send(alice, "POST", path, body) for path, body in bodies.items()],
    ]

    for answer in answers:
        assert writing.refused(answer) == (400, "INVALID_REQUEST")
        assert writing.sentence(answer) == f"{what}_from: is after {what}_to."


@pytest.mark.both
async def test_filters_combine_and_the_total_reflects_them(alice: Member) -> None:
    wanted = {"author": "ada", "tags": ["x"], "attachments": _attachments("image"), "text": "katze"}
    match = await alice.save(**wanted)
    await alice.save(**{**wanted, "author": "eve"})
    await alice.save(**{**wanted, "tags": []})
    await alice.save(**{**wanted, "attachments": []})
    await alice.save(**{**wanted, "text": "hund"})
    await alice.save(**wanted, is_read=True)
    asked = {"author": "ada", "tag": "x", "media_type": "image", "q": "katze"}

    answer = await alice.listed(**asked, posted_from="2025-12-31", posted_to="2026-01-02")

    assert [bookmark["post_id"] for bookmark in answer["data"]] == [match["post_id"]]
    assert answer["meta"]["total_count"] == 1


EVERYTHING = {"is_unread_only": "false", "hide_archived": "false"}


async def test_a_list_has_only_what_an_import_added_or_changed(alice: Member) -> None:
    await alice.save(post_id="1", text="short")
    first = await run(alice, found(post_id="2"), found(post_id="3"))
    second = await run(alice, found(post_id="3", text="other words, and more of them"))
    await alice.save(post_id="4")

    assert sorted(await alice.ids(import_run=first, **EVERYTHING)) == ["2", "3"]
    assert await alice.ids(import_run=second, **EVERYTHING) == ["3"]
    counted = await alice.get("/v1/bookmarks/count", import_run=first, **EVERYTHING)
    assert counted.json()["data"]["count"] == 2
    assert await alice.ids(import_run=first, q="more", **EVERYTHING) == ["3"]


async def test_an_import_that_was_undone_has_no_posts(alice: Member) -> None:
    one = await run(alice, found(post_id="2"))
    await writing.send(alice, "POST", f"/v1/imports/{one}/undo")
    assert await alice.ids(import_run=one, **EVERYTHING) == []


LINKS = [
    "https://x.com/jack/status/20",
    "https://example.social/@ada/1032",
    "https://youtu.be/Bower-Bird_",
    "https://youtu.be/Bower-Bird2",
    "https://www.linkedin.com/feed/update/urn:li:activity:7254567890123456789",
]


@pytest.mark.both
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


@pytest.mark.both
def test_the_number_of_a_network_is_never_used_twice() -> None:
    assert [known.number for known in NETWORKS.values()] == list(range(len(NETWORKS)))
    assert bits_of("elsewhere") not in {bits_of(name) for name in NETWORKS}


@pytest.mark.both
@pytest.mark.parametrize(
    ("text", "network"),
    [("YouTube", "youtube"), ("www.reddit.com", "reddit"), ("bsky.app", "bluesky"), ("me", None)],
)
def test_a_network_has_several_names(text: str, network: str | None) -> None:
    assert called(text) == network


GERMAN: Final = "Die Bücher sind alt, aber das Haus ist neu."

ENGLISH: Final = "The heron stood in the water and did not move."


async def fill(member: Member) -> None:
    stated = [("11", "de-AT"), ("12", "en"), ("13", "qme"), ("14", "no such tag")]
    await member.save_all([make.post(post_id=one, meta={"language": tag}) for one, tag in stated])
    # What the source says counts, not the text.
    await member.save(post_id="15", text=ENGLISH, meta={"language": "nl"})
    await member.save(post_id="16", text=GERMAN)
    await member.save(post_id="17", text="", article={"title": ENGLISH})
    await member.save(post_id="18", text="Thread 1/9")


async def listed(member: Member, **params: str) -> set[str]:
    return set(await member.crawl(limit="2", **params))


@pytest.mark.both
async def test_posts_are_found_by_their_language(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(meta={"language": "de"})

    for sort_by in ("sort_index", "posted_at", "title"):
        assert await listed(alice, language="de", sort_by=sort_by) == {"11", "16"}
        assert await listed(alice, language="EN-gb,nl", sort_by=sort_by) == {"12", "15", "17"}
    assert await listed(alice, language="und") == {"13", "14", "18"}
    assert await listed(alice, language="fr") == set()
    assert await listed(alice, q="lang:de OR lang:nl") == {"11", "15", "16"}
    assert await listed(alice, q="-lang:de -lang:und") == {"12", "15", "17"}
    count = await alice.get("/v1/bookmarks/count", language="de,en")
    assert count.json()["data"]["count"] == 4
    facets = await alice.get("/v1/bookmarks/facets", by="language")
    found = [(one["value"], one["count"]) for one in facets.json()["data"]]
    assert found == [("de", 2), ("en", 2), ("nl", 1)]


async def test_a_language_that_most_posts_have_is_read_in_the_order_of_the_list(
    alice: Member,
) -> None:
    posts = [make.post(post_id=str(one), text=GERMAN, posted_at=_day(one)) for one in range(1, 9)]
    await alice.save_all([*posts, make.post(post_id="20", text=ENGLISH, posted_at=_day(5))])

    for language in ("de", "de,fr"):
        found = await alice.crawl(language=language, sort_by="posted_at", limit="1")
        assert found == ["8", "7", "6", "5", "4", "3", "2", "1"]


def _day(number: int) -> str:
    return f"2026-02-{number:02}T00:00:00+00:00"


@pytest.mark.both
async def test_a_post_whose_language_changes_is_found_by_the_new_one(alice: Member) -> None:
    post = await alice.save(text=ENGLISH)
    details = {**post["tweet_details"], "text": GERMAN}
    await alice.change(post, tweet_details=details)

    assert await alice.ids(language="de") == [post["post_id"]]
    assert await alice.ids(language="en") == []
