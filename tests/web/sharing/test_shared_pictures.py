"""/c/NAME/media/ID: the pictures of a shared list, and no others."""

import re

import httpx
import pytest

from tests.rest.test_shares import change, created, path_of
from tests.support import keeping, service, writing
from tests.support.keeping import Shelf
from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio


def stranger(house: House) -> httpx.AsyncClient:
    return service.client_on(house.service)


async def pictures_on(house: House, path: str) -> list[str]:
    text = (await stranger(house).get(path)).text
    return re.findall(r'<img src="([^"]*)"', text)


@pytest.mark.both
async def test_pictures_come_from_here_while_a_post_of_the_share_has_them(
    house: House, ann: Reader, bob: Reader, shelf: Shelf
) -> None:
    member = ann.member
    mine, other, shared = (shelf.picture(name) for name in ("mine", "other", "shared"))
    post = await member.save(tags=["birds"], attachments=[keeping.image(mine, alt_text="A nest")])
    await member.save(tags=["walls"], attachments=[keeping.image(other)])
    await member.save(tags=["walls"], attachments=[keeping.image(shared)])
    await member.save(tags=["birds"], attachments=[keeping.image(shared)])
    await shelf.run()
    account = await member.account()
    kept = await shelf.kept.among(account, [mine, other, shared])
    share = await created(member, label_name="birds")
    path = path_of(share)
    nobody = stranger(house)

    sources = await pictures_on(house, path)
    first = await nobody.get(f"{path}/media/{kept[mine].media_id}")

    assert set(sources) == {f"{path}/media/{kept[url].media_id}" for url in (mine, shared)}
    assert (first.status_code, first.headers["content-type"]) == (200, "image/png")
    assert first.content == await shelf.content(mine)
    assert first.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "set-cookie" not in first.headers
    ranged = await nobody.get(f"{path}/media/{kept[mine].media_id}", headers={"Range": "bytes=0-3"})
    assert (ranged.status_code, ranged.content) == (206, first.content[:4])
    # Of another post of the account, of nobody, and at the share of somebody else.
    assert (await nobody.get(f"{path}/media/{kept[other].media_id}")).status_code == 404
    for name in ("x", "%00", "..%2f..", "a" * 65):
        assert (await nobody.get(f"{path}/media/{name}")).status_code == 404
    await bob.member.save(tags=["birds"])
    theirs = path_of(await created(bob.member, label_name="birds"))
    assert (await nobody.get(f"{theirs}/media/{kept[mine].media_id}")).status_code == 404
    # The post leaves the list.
    await writing.send(member, "DELETE", f"/v1/bookmarks/{post['post_id']}")
    assert (await nobody.get(f"{path}/media/{kept[mine].media_id}")).status_code == 404
    assert (await nobody.get(f"{path}/media/{kept[shared].media_id}")).status_code == 200


async def test_a_share_without_pictures_serves_none(
    house: House, ann: Reader, shelf: Shelf
) -> None:
    url = shelf.picture("mine")
    await ann.member.save(tags=["birds"], attachments=[keeping.image(url, alt_text="A nest")])
    await shelf.run()
    share = await created(ann.member, label_name="birds")
    [source] = await pictures_on(house, path_of(share))
    feed = await stranger(house).get(path_of(share, "json_url"))
    assert f'src=\\"http://localhost:8080{source}\\"' in feed.text

    await change(ann.member, share["id"], pictures=False)

    assert await pictures_on(house, path_of(share)) == []
    assert "A nest" in (await stranger(house).get(path_of(share))).text
    assert (await stranger(house).get(source)).status_code == 404


async def test_nothing_is_loaded_from_another_host(house: House, ann: Reader, shelf: Shelf) -> None:
    await ann.member.save(
        tags=["birds"],
        author_details={"name": "Ada", "profile_image": shelf.picture("face")},
        attachments=[
            keeping.video("https://video.twimg.com/a.mp4", shelf.picture("still")),
            {"type": "link", "url": "https://a.example/", "preview_image": shelf.picture("card")},
        ],
    )
    share = await created(ann.member, label_name="birds")
    before = await stranger(house).get(path_of(share))
    await shelf.run()

    after = await stranger(house).get(path_of(share))

    for response in (before, after):
        for tag in re.findall(r"<(?:img|link|video|source|iframe)\b[^>]*>", response.text):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag) or "canonical" in tag, tag
        assert "video.twimg.com" not in response.text
    assert len(re.findall("<img", after.text)) == 3
