"""Videos are kept where images are, if the operator allows it, within a quota of their own."""

from pathlib import Path

import pytest

from bowerbird.images.fetching import VIDEO_BYTES_MAX
from bowerbird.library.upkeep.checks import Checks
from bowerbird.storage.media import MediaStore
from tests.support.hosts.image_hosts import ImageHosts, X
from tests.support.posts.keeping import Shelf, image, video
from tests.support.posts.pictures import MP4
from tests.support.service import Member

pytestmark = pytest.mark.anyio


def shelf_of(member: Member, hosts: ImageHosts, folder: Path) -> Shelf:
    return Shelf(member, hosts, folder, {"keep_video": "on", "video_quota_mb": 1})


@pytest.mark.both
async def test_a_video_is_kept_with_its_still_and_goes_with_its_post(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = shelf_of(alice, hosts, tmp_path)
    film = hosts.put(f"https://{X}/film.mp4", MP4)
    still = shelf.picture("still")
    playlist = f"https://{X}/playlist.m3u8?tag=1"
    post = await alice.save(attachments=[video(film, still), video(playlist, still)])

    await shelf.run()

    assert await shelf.content(film) == MP4
    picture = await shelf.content(still)
    state = await shelf.state()
    assert picture is not None
    assert (state.kept, state.total, state.bytes) == (2, 2, len(picture))
    store = MediaStore(alice.database)
    assert await store.video_bytes(alice.account_id) == len(MP4)
    checks = Checks(alice.database, fixes=False, is_deep=False)
    assert await checks.account(await alice.account(), lambda _: None) == []

    await alice.remove(post["post_id"])
    await shelf.run()
    assert shelf.stored() == []
    assert (await shelf.state()).bytes == 0


async def test_without_the_setting_no_video_is_fetched(shelf: Shelf) -> None:
    film = shelf.hosts.put(f"https://{X}/film.mp4", MP4)
    await shelf.member.save(attachments=[video(film, shelf.picture("a")), image(film)])

    await shelf.run()

    # As an image it was asked for, and is none.
    assert await shelf.content(film) is None
    assert (await shelf.state()).left_out == {"type": 1}


@pytest.mark.both
async def test_a_video_without_room_waits_and_images_go_on(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = shelf_of(alice, hosts, tmp_path)
    films = [hosts.put(f"https://{X}/{n}.mp4", MP4 + bytes([n]) * 700_000) for n in range(2)]
    huge = f"https://{X}/huge.mp4"
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {VIDEO_BYTES_MAX + 1}\r\n\r\n"
    hosts.answers[f"{X}/huge.mp4"] = head.encode() + MP4
    still = shelf.picture("still")
    await alice.save(attachments=[video(url, still) for url in (*films, huge)])

    await shelf.run()

    state = await shelf.state()
    assert (state.is_full, state.without_room, state.left_out) == (False, 1, {"size": 1})
    assert await shelf.content(still) is not None
    assert [await shelf.content(url) is None for url in films].count(True) == 1
