"""Images of posts are kept once, counted, and removed with the last post that has them."""

from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Refusal
from bowerbird.images.fetching import Reason
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.media.downloads import RETRIES_S
from bowerbird.library.media.kept import MEGABYTE
from bowerbird.library.upkeep.checks import Checks
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.posts.media import file_name
from bowerbird.storage.database import Transaction, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.media import MediaStore
from tests.support import imports
from tests.support.hosts.image_hosts import INSTANCE, ImageHosts, X
from tests.support.posts import pictures
from tests.support.posts.keeping import Shelf, image, video
from tests.support.service import Member

pytestmark = pytest.mark.anyio
DAY = 86_400 * MICROSECONDS


async def test_the_images_and_stills_of_posts_are_kept(shelf: Shelf) -> None:
    photo, still, quoted = (shelf.picture(name) for name in ("photo", "still", "quoted"))
    film = shelf.picture("film")
    await shelf.member.save(
        attachments=[image(photo), video(film, still)],
        quoted={"text": "q", "attachments": [image(quoted)]},
    )

    await shelf.run()

    for url in (photo, still, quoted):
        assert await shelf.content(url) is not None
    assert await shelf.content(film) is None
    state = await shelf.state()
    assert (state.kept, state.total, state.waiting) == (3, 3, 0)
    contents = [await shelf.content(url) or b"" for url in (photo, still, quoted)]
    assert state.bytes == sum(map(len, contents))
    assert len(shelf.stored()) == 3
    assert sorted(shelf.hosts.requests) == sorted(
        url.removeprefix("https://") for url in (photo, still, quoted)
    )


async def test_images_are_kept_unless_the_operator_or_the_account_forbids_it(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    off = Shelf(alice, hosts, tmp_path, {"keep_media": "off"})
    shelf = Shelf(alice, hosts, tmp_path)
    await alice.save(attachments=[image(shelf.picture("a"))])

    with pytest.raises(Refusal, match="keeps no images"):
        await off.switch()
    await off.run()
    assert not await off.is_due()
    assert not (await off.state()).is_keeping
    assert (await shelf.state()).is_keeping
    await shelf.switch(is_keeping=False)
    await shelf.run()
    assert hosts.requests == []

    await shelf.switch()
    await shelf.run()
    assert len(hosts.requests) == 1


async def test_an_account_that_has_decided_nothing_keeps_images(
    alice: Member, bob: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = Shelf(alice, hosts, tmp_path)
    assert not await shelf.is_due()
    await alice.save(attachments=[image(url := shelf.picture("a"))])
    assert await shelf.is_due()

    await shelf.run()

    assert await shelf.content(url) is not None
    assert not await shelf.is_due()
    assert await shelf.keeping.due_accounts(0) == []
    await Shelf(bob, hosts, tmp_path).preferences.clear(await bob.account())
    assert not (await Shelf(bob, hosts, tmp_path).state()).is_keeping


async def test_the_same_content_is_stored_once_per_account(
    shelf: Shelf, bob: Member, tmp_path: Path
) -> None:
    content = pictures.png(11, 3)
    urls = [shelf.hosts.put(f"https://{X}/{name}", content) for name in ("a", "b")]
    other = Shelf(bob, shelf.hosts, tmp_path)
    await other.switch()
    for url in urls:
        await shelf.member.save(attachments=[image(url)])
    await bob.save(attachments=[image(urls[0])])

    await shelf.run()
    await other.run()

    state = await shelf.state()
    assert (state.kept, state.bytes) == (2, len(content))
    assert len(shelf.stored()) == len(other.stored()) == 1
    assert shelf.stored() != other.stored()


async def test_an_image_goes_with_the_last_post_that_has_it(shelf: Shelf) -> None:
    shared, own = shelf.picture("shared"), shelf.picture("own")
    first = await shelf.member.save(attachments=[image(shared), image(own)])
    second = await shelf.member.save(attachments=[image(shared)])
    await shelf.run()

    await shelf.member.remove(first["post_id"])
    assert await shelf.is_due()
    await shelf.run()
    assert await shelf.content(own) is None
    assert await shelf.content(shared) is not None
    assert len(shelf.stored()) == 1

    await shelf.member.remove(second["post_id"])
    await shelf.run()
    assert shelf.stored() == []
    state = await shelf.state()
    assert (state.total, state.bytes) == (0, 0)


@pytest.mark.both
async def test_the_trash_keeps_images_until_it_is_emptied(shelf: Shelf) -> None:
    url = shelf.picture("a")
    post = await shelf.member.save(attachments=[image(url)])
    await shelf.run()
    deleted = await shelf.member.client.delete(f"/v1/bookmarks/{post['post_id']}")
    assert deleted.status_code == 200

    await shelf.run()
    assert await shelf.content(url) is not None

    shelf.member.clock.now += 31 * DAY
    await Sweeping(shelf.member.database, shelf.member.clock, pause_s=0).sweep()
    assert await shelf.is_due()
    await shelf.run()
    assert shelf.stored() == []
    assert not await shelf.is_due()


@pytest.mark.both
async def test_a_post_that_changes_has_its_new_images(shelf: Shelf) -> None:
    before, after = shelf.picture("before"), shelf.picture("after")
    post = await shelf.member.save(attachments=[image(before)])
    await shelf.run()

    details = {**post["tweet_details"], "attachments": [image(after)]}
    await shelf.member.change(post, tweet_details=details)
    await shelf.run()

    assert await shelf.content(before) is None
    assert await shelf.content(after) is not None
    assert len(shelf.stored()) == 1


@pytest.mark.both
async def test_a_full_quota_stops_the_downloads_and_says_so(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = Shelf(alice, hosts, tmp_path, {"media_quota_mb": 1})
    await shelf.switch()
    heavy = pictures.png() + bytes(400_000)
    posts = [
        await alice.save(attachments=[image(hosts.put(f"https://{X}/{n}", heavy + bytes([n])))])
        for n in range(5)
    ]

    await shelf.run()

    state = await shelf.state()
    assert (state.kept, state.waiting, state.is_full) == (2, 3, True)
    assert state.bytes <= MEGABYTE
    assert len(shelf.stored()) == 2
    assert not await shelf.is_due()
    asked = len(hosts.requests)
    await shelf.run()
    assert len(hosts.requests) == asked

    larger = Shelf(alice, hosts, tmp_path, {"media_quota_mb": 2})
    assert await larger.is_due()
    for post in posts[:3]:
        await alice.remove(post["post_id"])
    await shelf.run()
    state = await shelf.state()
    assert (state.kept, state.total, state.is_full) == (2, 2, False)


async def test_switching_off_keeps_what_is_kept(shelf: Shelf) -> None:
    url, later = shelf.picture("a"), shelf.picture("b")
    await shelf.member.save(attachments=[image(url)])
    await shelf.run()
    await shelf.switch(is_keeping=False)
    await shelf.member.save(attachments=[image(later)])

    await shelf.run()

    assert await shelf.content(url) is not None
    assert await shelf.content(later) is None
    await shelf.switch()
    await shelf.run()
    assert await shelf.content(later) is not None


@pytest.mark.both
async def test_clearing_deletes_everything_and_can_be_started_over(shelf: Shelf) -> None:
    for number in range(120):
        await shelf.member.save(attachments=[image(shelf.picture(f"p{number}", 7 + number))])
    await shelf.run()
    assert len(shelf.stored()) == 120

    await shelf.preferences.clear(await shelf.member.account())
    assert (await shelf.state()).is_clearing
    await shelf.run()

    state = await shelf.state()
    assert (state.is_clearing, state.is_keeping, state.total, state.bytes) == (False, False, 0, 0)
    assert shelf.stored() == []
    await shelf.switch()
    await shelf.run()
    assert (await shelf.state()).kept == 120


@pytest.mark.both
async def test_a_deleted_account_leaves_no_image(shelf: Shelf) -> None:
    await shelf.member.save(attachments=[image(shelf.picture("a"))])
    await shelf.run()
    deletion = AccountDeletion(shelf.member.database)

    await deletion.complete(shelf.member.account_id, shelf.files)

    assert shelf.stored() == []
    for table in ("media_account", "media_post", "media_link", "media_source", "media_file"):
        sql = f"SELECT count(*) FROM {table} WHERE account_id = :id"  # noqa: S608
        values = {"id": shelf.member.account_id}
        assert [row[0] for row in await shelf.member.database.rows(sql, values)] == [0]
    await shelf.run()


async def test_images_of_other_hosts_are_left_out_and_counted(shelf: Shelf) -> None:
    await shelf.member.save(
        attachments=[
            image("https://evil.example/a.png"),
            image(f"http://{X}/plain.png"),
            image("https://127.0.0.1/a.png"),
            image("javascript:alert(1)"),
            image("https://a b.example/"),
            {"type": "image"},
        ]
    )

    await shelf.run()

    state = await shelf.state()
    assert state.left_out == {Reason.HOST: 3}
    assert shelf.hosts.requests == shelf.hosts.resolved == []


async def test_a_post_of_mastodon_has_the_images_of_its_own_server(shelf: Shelf) -> None:
    own = shelf.hosts.put(f"https://files.{INSTANCE}/a.png", pictures.png(9, 9))
    record: dict[str, Any] = {"source": "mastodon", "source_id": "1"}
    for link, url in (
        (f"https://{INSTANCE}/@ada/1", own),
        (f"https://{INSTANCE}/@ada/2", "https://evil.example/a.png"),
        ("https://127.0.0.1/@ada/3", "https://127.0.0.1/a.png"),
    ):
        post = await shelf.member.save(attachments=[image(url)], **record)
        await shelf.member.change(post, tweet_details={**post["tweet_details"], "link": link})

    await shelf.run()

    assert await shelf.content(own) is not None
    assert (await shelf.state()).left_out == {Reason.HOST: 2}


async def test_a_failure_is_tried_again_later_and_not_for_ever(shelf: Shelf) -> None:
    url = shelf.hosts.put(f"https://{X}/a.png", b"", "503 Service Unavailable")
    await shelf.member.save(attachments=[image(url)])

    for pause in RETRIES_S:
        await shelf.run()
        await shelf.run()
        assert (await shelf.state()).waiting == 1
        assert not await shelf.is_due()
        shelf.member.clock.now += pause * MICROSECONDS
        assert await shelf.is_due()
    await shelf.run()

    assert len(shelf.hosts.requests) == len(RETRIES_S) + 1
    assert (await shelf.state()).left_out == {Reason.BUSY: 1}
    assert not await shelf.is_due()


@pytest.mark.both
async def test_an_import_of_the_same_post_gives_an_image_another_chance(shelf: Shelf) -> None:
    gone = shelf.hosts.put(f"https://{X}/a.png", b"", "404 Not Found")
    elsewhere = "https://evil.example/a.png"
    post = imports.found(attachments=[image(gone), image(elsewhere)])
    await imports.run(shelf.member, post)
    await shelf.member.save(attachments=[image(f"https://{X}/b.png")])
    await shelf.run()
    assert (await shelf.state()).left_out == {Reason.GONE: 2, Reason.HOST: 1}
    shelf.hosts.put(gone, pictures.JPEG)
    assert not await shelf.is_due()

    await imports.run(shelf.member, post)
    assert await shelf.is_due()
    await shelf.run()

    assert await shelf.content(gone) == pictures.JPEG
    assert (await shelf.state()).left_out == {Reason.GONE: 1, Reason.HOST: 1}


async def test_a_failure_that_passes_does_no_harm(shelf: Shelf) -> None:
    url = shelf.hosts.put(f"https://{X}/a.png", b"", "500 Internal Server Error")
    await shelf.member.save(attachments=[image(url)])
    await shelf.run()
    shelf.hosts.put(url, pictures.JPEG)
    shelf.member.clock.now += RETRIES_S[0] * MICROSECONDS

    await shelf.run()

    assert await shelf.content(url) == pictures.JPEG


async def test_a_host_that_fails_is_left_alone_for_a_while(shelf: Shelf) -> None:
    good = shelf.hosts.put("https://i.redd.it/good.png", pictures.png(13, 2))
    bad = [shelf.hosts.put(f"https://{X}/{n}", b"", "503 Busy") for n in range(40)]
    await shelf.member.save(attachments=[image(url) for url in bad[:20]])
    await shelf.member.save(attachments=[image(url) for url in bad[20:]])
    await shelf.member.save(attachments=[image(good)])

    await shelf.run()

    assert len([each for each in shelf.hosts.requests if each.startswith(X)]) < 10
    assert await shelf.content(good) is not None
    assert (await shelf.state()).waiting == 40


async def test_a_gone_image_and_a_wrong_one_are_not_tried_again(shelf: Shelf) -> None:
    urls = [
        shelf.hosts.put(f"https://{X}/1", b"", "404 Not Found"),
        shelf.hosts.put(f"https://{X}/2", b"<svg/>"),
        shelf.hosts.put(f"https://{X}/3", pictures.png_bomb(50_000, 50_000)),
        shelf.hosts.redirect(f"https://{X}/4", "https://127.0.0.1/"),
    ]
    await shelf.member.save(attachments=[image(url) for url in urls])

    await shelf.run()

    state = await shelf.state()
    assert state.left_out == {Reason.GONE: 1, Reason.TYPE: 1, Reason.PIXELS: 1, Reason.HOST: 1}
    assert state.waiting == 0
    assert shelf.stored() == []


@pytest.mark.both
async def test_files_that_nothing_names_are_deleted_after_a_day(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = shelf.picture("a")
    await shelf.member.save(attachments=[image(url)])
    await shelf.run()
    [kept] = shelf.stored()
    await shelf.files.put(file_name(shelf.member.account_id, "left-over"), b"x")

    await shelf.keeping.delete_leftovers()
    assert shelf.stored() == sorted([kept, "left-over"])
    monkeypatch.setattr("bowerbird.library.media.keeping._LEFTOVER_S", -60.0)
    await shelf.keeping.delete_leftovers()
    assert shelf.stored() == [kept]


async def test_images_are_kept_in_a_bucket(
    alice: Member, hosts: ImageHosts, s3: dict[str, Any], tmp_path: Path
) -> None:
    shelf = Shelf(
        alice, hosts, tmp_path, {**s3, "files_url": f"{s3['files_url']}/{alice.account_id}"}
    )
    await shelf.switch()
    url = shelf.picture("a")
    post = await alice.save(attachments=[image(url)])

    await shelf.run()
    content = await shelf.content(url)
    assert content == hosts.answers[url.removeprefix("https://")].partition(b"\r\n\r\n")[2]
    [found] = (await shelf.kept.among(await alice.account(), [url])).values()
    assert await shelf.files.size(file_name(alice.account_id, found.media_id)) == len(content)

    await alice.remove(post["post_id"])
    await shelf.run()
    assert await shelf.files.size(file_name(alice.account_id, found.media_id)) is None


async def test_a_store_that_cannot_be_reached_stops_the_turn(shelf: Shelf, tmp_path: Path) -> None:
    await shelf.member.save(attachments=[image(shelf.picture("a"))])
    (tmp_path / "files").write_text("not a folder")

    with pytest.raises(Refusal):
        await shelf.run()

    state = await shelf.state()
    assert (state.kept, state.waiting) == (0, 1)
    (tmp_path / "files").unlink()
    fresh = Shelf(shelf.member, shelf.hosts, tmp_path)
    await fresh.run()
    assert (await fresh.state()).kept == 1
    assert isinstance(fresh.files, Files)


@pytest.mark.both
async def test_images_of_no_account_are_found(shelf: Shelf) -> None:
    await shelf.member.save(attachments=[image(shelf.picture("a"))])
    await shelf.run()
    database = shelf.member.database
    tables = ("media_account", "media_post", "media_link", "media_source", "media_file")

    async def disown(transaction: Transaction) -> None:
        for table in tables:
            await transaction.run(f"UPDATE {table} SET account_id = 404", {})  # noqa: S608

    await database.write(disown)
    found = await Checks(database, fixes=True, is_deep=False).leftovers()

    assert [one.what for one in found] == [f"{table} rows of no account" for table in tables]
    assert await Checks(database, fixes=False, is_deep=False).leftovers() == []


@pytest.mark.both
async def test_an_image_is_looked_at_for_text_once_and_its_text_is_known_to_later_posts(
    shelf: Shelf,
) -> None:
    member = shelf.member
    photo = shelf.hosts.put(f"https://{X}/media/photo.png", pictures.png(160, 60))
    store = MediaStore(member.database)
    await member.save(attachments=[image(photo)])
    await shelf.run()
    (unread,) = await store.unread(member.account_id, 10)

    async def read(transaction: Transaction) -> None:
        await store.is_read(Writable(transaction, member.account_id), unread, "Invoice 48213")

    await member.database.write(read, member.account_id)
    assert await store.unread(member.account_id, 10) == []
    later = await member.save(attachments=[image(photo)])
    await shelf.run()

    assert (unread.url, unread.text) == (photo, None)
    (again,) = await store.unread(member.account_id, 10)
    assert (again.post_id, again.text) == (later["post_id"], "Invoice 48213")
