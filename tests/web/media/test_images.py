"""Kept images on pages: unless turned off, from our own origin only, for their owner only."""

import re
from base64 import b64decode
from pathlib import Path

import httpx
import pytest

from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support.hosts.image_hosts import X
from tests.support.posts import pictures
from tests.support.posts.keeping import Shelf, image, video
from tests.web.house import Reader, build, signed_in

pytestmark = pytest.mark.anyio
IMG = re.compile(r'<img src="([^"]*)"([^>]*)>')


async def show(reader: Reader, choice: str = "on", back: str = "/library") -> httpx.Response:
    return await reader.person.send("/library/images", "/library", show=choice, back=back)


async def test_a_page_shows_images_unless_they_are_turned_off(ann: Reader, shelf: Shelf) -> None:
    url = shelf.picture("a", 40)
    post = await ann.member.save(text="see", attachments=[image(url, alt_text="A blue bottle")])
    await shelf.run()

    for path in ("/library", f"/p/{post['post_id']}"):
        page = await ann.page(path)
        [(src, rest)] = IMG.findall(page)
        assert src.startswith("/media/")
        assert 'width="40" height="5"' in rest
        assert 'alt="A blue bottle"' in rest
        assert 'loading="lazy"' in rest
        assert X not in page.partition('class="more json"')[0].replace(f'href="{url}"', "")
    changed = await show(ann, "off")
    assert (changed.status_code, changed.headers["location"]) == (303, "/library")
    for path in ("/library", f"/p/{post['post_id']}"):
        page = await ann.page(path)
        assert "<img" not in page
        assert "Image: <i>A blue bottle</i>" in page
    await show(ann)
    assert "<img" in await ann.page("/library")


async def test_an_image_that_is_not_here_has_one_line(ann: Reader, shelf: Shelf) -> None:
    failing = {"busy": "503 Busy", "refused": "403 Forbidden"}
    for name, status in failing.items():
        shelf.hosts.put(f"https://{X}/{name}", b"", status)
    post = await ann.member.save(
        attachments=[
            image("https://evil.example/x.png", alt_text="Elsewhere"),
            image(f"https://{X}/gone", alt_text="A long table"),
            image(f"https://{X}/busy"),
            image(f"https://{X}/refused"),
            {**video(f"https://{X}/film.mp4", f"https://{X}/gone"), "duration_ms": 61_000},
        ]
    )
    assert "Image: <i>Elsewhere</i>" in await ann.page("/library")
    await shelf.run()

    for path in ("/library", f"/p/{post['post_id']}"):
        page = await ann.page(path)
        assert "<img" not in page
        assert page.count('class="absent"') == 5
        assert "Image not kept: <i>Elsewhere</i>" in page
        assert "Image gone: <i>A long table</i>" in page
        assert ">Image on its way<" in page.replace(" <a", "<a")
        assert ">Image refused by its site<" in page.replace(" <a", "<a")
        assert "Video gone, 1:01" in page


async def test_a_list_shows_four_images_of_a_post_and_its_page_all(
    ann: Reader, shelf: Shelf
) -> None:
    urls = [shelf.picture(f"p{number}", 7 + number) for number in range(6)]
    post = await ann.member.save(attachments=list(map(image, urls)))
    await shelf.run()

    listed, page = await ann.page("/library"), await ann.page(f"/p/{post['post_id']}")

    assert len(IMG.findall(listed)) == 4
    assert ">+2<" in listed
    assert len(IMG.findall(page)) == 6
    assert f'<a href="/p/{post["post_id"]}"><img' in listed
    assert re.search(r'<a href="(/media/\w+)" data-view><img src="\1"', page)


async def test_lists_load_small_renditions_and_the_page_the_original(
    ann: Reader, shelf: Shelf
) -> None:
    url = shelf.hosts.put(f"https://{X}/media/a.png", pictures.png(900, 600) + bytes(90_000))
    shelf.hosts.put(f"{url}?name=small", pictures.png(90, 60))
    post = await ann.member.save(attachments=[image(url)])
    await shelf.run()

    [(listed, size)] = IMG.findall(await ann.page("/library"))
    [(whole, _)] = IMG.findall(await ann.page(f"/p/{post['post_id']}"))

    assert 'width="90" height="60"' in size
    assert (await ann.person.client.get(listed)).content == pictures.png(90, 60)
    assert len((await ann.person.client.get(whole)).content) > 90_000


async def test_an_animation_waits_for_a_press(ann: Reader, shelf: Shelf) -> None:
    url = shelf.hosts.put(f"https://{X}/a.gif", pictures.GIF)
    post = await ann.member.save(attachments=[image(url, alt_text="A wave")])
    await shelf.run()

    page = await ann.page(f"/p/{post['post_id']}")

    assert "<img" not in page
    assert re.search(r'Animation: <i>A wave</i> <a href="/media/\w+"', page)


async def test_a_still_a_quote_and_a_cover_are_shown(ann: Reader, shelf: Shelf) -> None:
    still, quoted, cover = (shelf.picture(name) for name in ("still", "quoted", "cover"))
    post = await ann.member.save(
        attachments=[{**video(f"https://{X}/film.mp4", still), "duration_ms": 61_000}],
        quoted={"text": "q", "author_username": "b", "attachments": [image(quoted)]},
        article={"title": "T", "plain_text": "words", "cover_image": cover},
    )
    await shelf.run()

    page = await ann.page(f"/p/{post['post_id']}")

    assert len(IMG.findall(page)) == 3
    assert "1:01" in page


async def test_a_file_is_served_to_its_owner_with_safe_headers(
    ann: Reader, bob: Reader, shelf: Shelf
) -> None:
    content = pictures.WEBP + b"<script>alert(1)</script>"
    url = shelf.hosts.put(f"https://{X}/a", content)
    await ann.member.save(attachments=[image(url)])
    await shelf.run()
    [(src, _)] = IMG.findall(await ann.page("/library"))

    served = await ann.person.client.get(src)

    assert (served.status_code, served.content) == (200, content)
    assert served.headers["content-type"] == "image/webp"
    assert served.headers["content-length"] == str(len(content))
    assert served.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.headers["content-disposition"] == "inline"
    assert served.headers["cache-control"] == "private, max-age=31536000, immutable"
    head = await ann.person.client.head(src)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(content))
    other = await bob.person.client.get(src)
    unknown = await bob.person.client.get("/media/" + "0" * 32)
    assert (other.status_code, len(other.text)) == (404, len(unknown.text))
    stranger = await ann.house.somebody().client.get(src)
    assert (stranger.status_code, stranger.headers["location"][:8]) == (303, "/sign-in")


@pytest.mark.parametrize("media_id", ["..%2f..%2fbowerbird.db", "%00", "a" * 500, "%F0%9F%90%A6"])
async def test_any_other_id_is_not_found(ann: Reader, media_id: str) -> None:
    assert (await ann.person.client.get(f"/media/{media_id}")).status_code == 404


async def test_a_file_that_was_lost_is_not_found(ann: Reader, shelf: Shelf, tmp_path: Path) -> None:
    await ann.member.save(attachments=[image(shelf.picture("a"))])
    await shelf.run()
    [(src, _)] = IMG.findall(await ann.page("/library"))
    (tmp_path / "files" / "media" / str(ann.member.account_id) / src.rpartition("/")[2]).unlink()

    assert (await ann.person.client.get(src)).status_code == 404


async def test_the_account_page_has_the_switch_and_says_how_far_it_is(
    ann: Reader, shelf: Shelf
) -> None:
    await shelf.switch(is_keeping=False)
    for name in ("a", "b"):
        await ann.member.save(attachments=[image(shelf.picture(name))])
    await ann.member.save(attachments=[image("https://evil.example/x.png")])
    assert "Show the images of my posts" in await ann.page("/account")

    kept = await ann.person.send("/account/images", "/account", keep="on")
    assert kept.headers["location"] == "/account?said=images-kept#images"
    [job] = await JobStore(ann.house.database).of_kind(ann.member.account_id, "media", 5)
    assert job.state == "pending"
    await shelf.run()

    page = await ann.page("/account")
    state = (await ann.person.open("/account/images/state")).json()
    [shown] = state["jobs"]
    assert (state["mark"], shown["done"], shown["total"]) == ("done", 2, 3)
    assert shown["text"] in page
    assert "2 of 3 images" in page
    assert "1.0 GB" in page
    assert "1 on sites from which this server downloads nothing" in page
    assert 'name="keep" value="on" type="checkbox" role="switch" checked' in page

    off = await ann.person.send("/account/images", "/account")
    assert off.headers["location"] == "/account?said=images-not-kept#images"
    assert not (await shelf.state()).is_keeping
    assert "<img" not in await ann.page("/library")
    await ann.person.send("/account/images/delete", "/account")
    assert "being deleted" in await ann.page("/account")
    await shelf.run()
    assert (await shelf.state()).total == 0


async def test_a_full_quota_is_said(ann: Reader, shelf: Shelf, tmp_path: Path) -> None:
    heavy = pictures.png() + bytes(600_000)
    for number in range(2):
        url = shelf.hosts.put(f"https://{X}/{number}", heavy + bytes([number]))
        await ann.member.save(attachments=[image(url)])
    house = build(ann.house.database, tmp_path, keep_media="on", media_quota_mb=1)
    await Shelf(ann.member, shelf.hosts, tmp_path, {"media_quota_mb": 1}).run()
    person = house.somebody()
    person.client.cookies.update(ann.person.client.cookies)

    page = (await person.open("/account")).text

    assert "There is no room for more images: 1 wait. None was deleted." in page
    assert "1 of 2 images, 600.1 kB of 1.0 MB" in page


async def test_the_download_of_the_account_contains_the_images(ann: Reader, shelf: Shelf) -> None:
    url = shelf.picture("a")
    await ann.member.save(attachments=[image(url), image(f"https://{X}/gone")])
    await shelf.run()

    [found] = (await ann.person.send("/account/export", "/account")).json()["images"]

    assert (found["url"], found["type"], found["width"]) == (url, "image/png", 7)
    assert b64decode(found["content"]) == await shelf.content(url)


async def test_authors_and_cards_have_their_pictures(ann: Reader, shelf: Shelf) -> None:
    face = f"https://{X}/profile_images/1/a_normal.jpg"
    shelf.hosts.put(f"https://{X}/profile_images/1/a_bigger.jpg", pictures.JPEG)
    card = {"type": "link", "url": "https://e.example/", "preview_image": shelf.picture("card")}
    author = {"name": "Ada", "username": "ada", "profile_image": face}
    post = await ann.member.save(attachments=[card], author_details=author)
    await shelf.run()

    for path in ("/library", f"/p/{post['post_id']}"):
        page = await ann.page(path)
        assert len(IMG.findall(page)) == 2
        assert 'class="card pict"' in page
    await show(ann, "off")
    assert "<img" not in await ann.page("/library")


async def test_a_page_learns_which_images_have_arrived(
    ann: Reader, bob: Reader, shelf: Shelf
) -> None:
    await ann.member.save(attachments=[image(shelf.picture("a", 40)), image(f"https://{X}/gone")])
    lines = re.findall(r'data-image="(\w+)"', await ann.page("/library"))
    assert len(lines) == 2
    path = "/library/images/arrivals?keys=" + ",".join([*lines, "x"])
    assert (await ann.person.client.get(path)).json() == {"images": {}}
    await shelf.run()

    [(key, found)] = (await ann.person.client.get(path)).json()["images"].items()

    assert key in lines
    assert (found["width"], found["height"]) == (40, 5)
    assert f'src="{found["src"]}"' in await ann.page("/library")
    assert "data-image" not in await ann.page("/library")
    assert (await bob.person.client.get(path)).json() == {"images": {}}
    stranger = await ann.house.somebody().client.get(path)
    assert stranger.status_code == 401


async def test_the_switches_need_a_token_and_lead_to_our_pages_only(ann: Reader) -> None:
    for path in ("/library/images", "/account/images", "/account/images/delete"):
        assert (await ann.person.post(path, show="on", keep="on")).status_code == 403
    elsewhere = await show(ann, back="https://evil.example/")
    assert elsewhere.headers["location"] == "/library"
    post = await ann.member.save()
    back = await show(ann, back=f"/p/{post['post_id']}")
    assert back.headers["location"] == f"/p/{post['post_id']}"


async def test_a_server_that_keeps_no_images_has_no_switch(
    database: Database, tmp_path: Path
) -> None:
    reader = await signed_in(build(database, tmp_path, keep_media="off"), "ann@example.com")
    await reader.member.save()

    assert "Show images" not in await reader.page("/library")
    assert "Show the images" not in await reader.page("/account")
    refused = await reader.person.send("/account/images", "/account", keep="on")
    assert refused.status_code == 400
    await reader.member.client.aclose()


async def test_a_page_reads_the_kept_images_once_and_only_if_it_shows_them(
    ann: Reader, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        await ann.member.save(attachments=[image(shelf.picture(f"p{number}", 7 + number))])
    await shelf.run()
    read: list[str] = []
    rows = type(ann.house.database).rows

    async def counted(self: Database, sql: str, values: object) -> object:
        if "media_" in sql:
            read.append(sql)
        return await rows(self, sql, values)  # type: ignore[arg-type]

    monkeypatch.setattr(type(ann.house.database), "rows", counted)
    page = await ann.page("/library")
    assert len(IMG.findall(page)) == 30
    assert len(read) == 1
    read.clear()
    await ann.page("/library?density=compact")
    assert read == []
    await show(ann, "off")
    read.clear()
    await ann.page("/library")
    assert read == []


async def test_a_video_that_is_a_playlist_is_watched_at_its_post(
    ann: Reader, shelf: Shelf, tmp_path: Path
) -> None:
    playlist = "https://video.bsky.app/watch/did/cid/playlist.m3u8"
    attached = [video(playlist, shelf.picture("still"))]
    post = await ann.member.save(attachments=attached)
    await Shelf(ann.member, shelf.hosts, tmp_path, {"keep_video": "on"}).run()

    page = await ann.page(f"/p/{post['post_id']}")

    assert f'<a href="{post["tweet_details"]["link"]}" rel="noreferrer"><img' in page


async def test_a_kept_video_plays_here_and_is_sent_in_ranges(
    ann: Reader, shelf: Shelf, tmp_path: Path
) -> None:
    film = shelf.hosts.put(f"https://{X}/film.mp4", pictures.MP4)
    post = await ann.member.save(attachments=[video(film, shelf.picture("still"))])
    page = f"/p/{post['post_id']}"
    await shelf.run()
    assert re.search(rf'<a href="{film}" rel="noreferrer"><img', await ann.page(page))
    await ann.member.remove(post["post_id"])
    await shelf.run()
    post = await ann.member.save(attachments=[video(film, shelf.picture("still"))])
    page = f"/p/{post['post_id']}"
    await Shelf(ann.member, shelf.hosts, tmp_path, {"keep_video": "on"}).run()

    found = re.search(r'<a href="(/media/\w+)" data-view="Video"><img', await ann.page(page))

    assert found
    whole = await ann.person.client.get(found[1])
    assert (whole.status_code, whole.content) == (200, pictures.MP4)
    assert whole.headers["content-type"] == "video/mp4"
    tag = whole.headers["etag"]
    size = len(pictures.MP4)
    part = {"Range": "bytes=10-19"}
    for headers, status, content in (
        (part, 206, pictures.MP4[10:20]),
        ({**part, "If-Range": tag}, 206, pictures.MP4[10:20]),
        ({**part, "If-Range": '"other"'}, 200, pictures.MP4),
        ({"Range": "bytes=-5"}, 206, pictures.MP4[-5:]),
        ({"Range": f"bytes={size}-"}, 416, b""),
    ):
        sent = await ann.person.client.get(found[1], headers=headers)
        assert (sent.status_code, sent.content) == (status, content)
        if status != 200:
            first, last = (10, 19) if "10-19" in headers["Range"] else (size - 5, size - 1)
            span = "*" if status == 416 else f"{first}-{last}"
            assert sent.headers["content-range"] == f"bytes {span}/{size}"
