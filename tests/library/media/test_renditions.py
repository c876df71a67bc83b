"""Large images have a small rendition for lists, and the operator sees how many are kept."""

import pytest

from bowerbird.library.upkeep import health
from bowerbird.library.upkeep.health import Mark
from bowerbird.storage.media import MediaStore
from tests.support.hosts.image_hosts import INSTANCE, X
from tests.support.posts import pictures
from tests.support.posts.keeping import Shelf, image

pytestmark = [pytest.mark.anyio, pytest.mark.both]


async def test_a_large_image_has_a_small_rendition_if_its_network_has_one(shelf: Shelf) -> None:
    large = pictures.png() + bytes(50_000)
    small, tiny = pictures.png(3, 2), pictures.png(4, 2)
    named = {
        f"https://{X}/media/a.png": f"https://{X}/media/a.png?name=small",
        f"https://{X}/media/b?format=png&name=orig": f"https://{X}/media/b?format=png&name=small",
        "https://cdn.bsky.app/img/feed_fullsize/plain/did/c@jpeg": (
            "https://cdn.bsky.app/img/feed_thumbnail/plain/did/c@jpeg"
        ),
    }
    for number, (url, rendition) in enumerate(named.items()):
        shelf.hosts.put(url, large + bytes([number]))
        shelf.hosts.put(rendition, small + bytes([number]))
    without = shelf.hosts.put(f"https://{X}/media/w.png", large + b"w")
    enough = shelf.hosts.put(f"https://{X}/media/e.png", tiny)
    post = await shelf.member.save(attachments=list(map(image, [*named, without, enough])))
    await shelf.run()

    account = await shelf.member.account()
    found = await shelf.kept.known(account, [*named, without, enough])
    sizes = {url: each.small and each.small.bytes for url, each in found.items()}
    assert sizes == dict.fromkeys(named, len(small) + 1) | {without: None, enough: None}
    state = await shelf.state()
    assert (state.kept, state.total) == (5, 5)
    assert state.bytes == sum(
        each.bytes for one in found.values() for each in (one.file, one.small) if each
    )
    assert len(shelf.stored()) == 8
    assert f"{X}/media/e.png?name=small" not in shelf.hosts.requests

    await shelf.member.remove(post["post_id"])
    await shelf.run()
    assert shelf.stored() == []
    assert (await shelf.state()).bytes == 0


async def test_a_preview_of_mastodon_is_the_small_rendition(shelf: Shelf) -> None:
    url = shelf.hosts.put(f"https://files.{INSTANCE}/a.png", pictures.png(9, 9) + bytes(50_000))
    small = shelf.hosts.put(f"https://files.{INSTANCE}/small/a.png", pictures.png(3, 3))
    elsewhere = "https://evil.example/small.png"
    for number, preview in enumerate((small, elsewhere)):
        attached = image(f"{url}?{number}", preview_image=preview)
        shelf.hosts.put(f"{url}?{number}", pictures.png(9, 9) + bytes(50_000 + number))
        post = await shelf.member.save(
            attachments=[attached], source="mastodon", source_id=str(number)
        )
        details = {**post["tweet_details"], "link": f"https://{INSTANCE}/@ada/{number}"}
        await shelf.member.change(post, tweet_details=details)

    await shelf.run()

    found = await shelf.kept.known(await shelf.member.account(), [f"{url}?0", f"{url}?1"])
    assert [each.small is not None for each in found.values()].count(True) == 1
    assert shelf.hosts.resolved.count("evil.example") == 0


async def test_the_operator_sees_how_many_images_are_kept(shelf: Shelf) -> None:
    await shelf.member.save(attachments=[image(shelf.picture("a")), image(f"https://{X}/gone")])
    await shelf.run()
    store = MediaStore(shelf.member.database)

    result = await health.images(shelf.settings, store)
    assert result.mark is Mark.GOOD
    assert result.sentence.startswith("1 kept, 0.0 MB; 0 waiting, 1 left out")

    [[(url, _)]] = [page async for page in store.kept_pages(shelf.member.account_id, 1)]
    assert url == shelf.picture("a")
    full = Shelf(shelf.member, shelf.hosts, shelf.folder, {"media_quota_mb": 1})
    heavy = shelf.hosts.put(f"https://{X}/b", pictures.png() + bytes(1_000_000))
    await shelf.member.save(attachments=[image(heavy)])
    await full.run()
    warned = await health.images(full.settings, store)
    assert (warned.mark, warned.fix) == (Mark.WARNING, "raise BOWERBIRD_MEDIA_QUOTA_MB")
