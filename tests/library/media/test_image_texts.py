"""The text in kept images is found by words, if the operator wants it."""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from bowerbird.settings import BadSetting, Settings
from tests.support import imports
from tests.support.hosts.image_hosts import ImageHosts, X
from tests.support.posts.keeping import Shelf, image
from tests.support.service import Member

pytestmark = pytest.mark.anyio
ON: dict[str, Any] = {"image_text": "on"}


def written(*lines: str) -> bytes:
    """A picture with this text."""
    picture = Image.new("RGB", (900, 80 * len(lines) + 40), "white")
    font = ImageFont.load_default(40)
    for place, line in enumerate(lines):
        ImageDraw.Draw(picture).text((20, 20 + 80 * place), line, fill="black", font=font)
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@pytest.mark.both
async def test_a_search_finds_the_text_of_an_image_and_says_where_it_is(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = Shelf(alice, hosts, tmp_path, ON)
    url = hosts.put(f"https://{X}/a.png", written("Invoice 48213", "quarterly report"))
    broken = hosts.put(f"https://{X}/b.png", written("never seen")[:500])
    first = await alice.save(text="first", attachments=[image(broken), image(url)])
    second = await alice.save(text="second", attachments=[image(url)])

    await shelf.run()

    listed = await alice.listed(q="invoice", highlight="true")
    assert {one["post_id"] for one in listed["data"]} == {first["post_id"], second["post_id"]}
    (found,) = [one for one in listed["data"] if one["post_id"] == first["post_id"]]
    assert found["image_texts"] == [{"url": url, "text": "Invoice 48213\nquarterly report"}]
    assert found["highlight"]["field"] == "image_texts.text"
    assert "<mark>Invoice</mark> 48213" in found["highlight"]["html"]
    version = (await alice.account()).version
    await shelf.run()
    assert (await alice.account()).version == version


async def test_the_text_stays_when_the_post_is_imported_again_and_is_imported_itself(
    alice: Member, bob: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    url = hosts.put(f"https://{X}/a.png", written("Invoice 48213"))
    post = await alice.save(text="first", attachments=[image(url)])
    await Shelf(alice, hosts, tmp_path, ON).run()
    (exported,) = (await alice.listed(q="48213"))["data"]

    await imports.take(
        alice,
        imports.found(post_id=post["post_id"], text="a longer text", attachments=[image(url)]),
    )
    (kept,) = (await alice.listed(q="48213"))["data"]
    await imports.take(bob, imports.found(image_texts=exported["image_texts"]))

    assert kept["tweet_details"]["text"] == "a longer text"
    (copied,) = (await bob.listed(q="48213"))["data"]
    assert copied["image_texts"] == kept["image_texts"] == exported["image_texts"]


async def test_a_later_post_with_the_same_image_has_its_text(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf = Shelf(alice, hosts, tmp_path, ON)
    url = hosts.put(f"https://{X}/a.png", written("Invoice 48213"))
    await alice.save(attachments=[image(url)])
    await shelf.run()
    for file in (tmp_path / "files" / "media").rglob("*"):
        if file.is_file():
            file.write_bytes(b"not read again")

    await alice.save(attachments=[image(url)])
    await shelf.run()

    assert (await alice.listed(q="invoice"))["meta"]["count"] == 2


async def test_text_is_not_read_unless_the_operator_turns_it_on(
    alice: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    url = hosts.put(f"https://{X}/a.png", written("Invoice 48213"))
    await alice.save(attachments=[image(url)])

    await Shelf(alice, hosts, tmp_path).run()

    assert (await alice.listed(q="invoice"))["data"] == []


def test_the_setting_needs_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    Settings(image_text="on").check()
    monkeypatch.setitem(sys.modules, "rapidocr", None)

    with pytest.raises(BadSetting, match=r"rapidocr is missing.*bowerbird\[ocr\]"):
        Settings(image_text="on").check()
