"""PDF and Markdown exports show the images that are kept, and describe the others."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from bowerbird.exports.tasks import FORMATS
from bowerbird.images.hosts import DEMO_HOST
from bowerbird.jobs.exports import ExportPictures
from bowerbird.requests import limits
from tests.exports.documents import Document
from tests.support import exporting
from tests.support.hosts.image_hosts import X
from tests.support.posts import pictures
from tests.support.posts.keeping import Shelf, image
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def document(cast: Service, folder: Path) -> tuple[Document, list[str]]:
    job = await exporting.export(cast, cast.alice, "pdf")
    file = folder / "export.pdf"
    file.write_bytes((await exporting.fetch(cast, job)).content)
    return Document(file), job["notes"]


async def test_a_pdf_shows_kept_images(cast: Service, shelf: Shelf, tmp_path: Path) -> None:
    hosts, alice = shelf.hosts, cast.alice
    for name, content in (
        ("jpeg", pictures.JPEG),
        ("png", pictures.png(300, 200)),
        ("gif", pictures.GIF),
        ("webp", pictures.WEBP),
        ("avif", pictures.AVIF),
    ):
        hosts.put(f"https://{X}/{name}", content)
    await alice.save(
        text="four",
        attachments=[
            image(f"https://{X}/{n}", alt_text=f"a {n}") for n in ("jpeg", "png", "gif", "webp")
        ],
    )
    await alice.save(text="one", quoted={"text": "q", "attachments": [image(f"https://{X}/png")]})
    await alice.save(attachments=[image(f"https://{X}/avif", alt_text="not for typst")])
    await alice.save(attachments=[image("https://evil.example/x", alt_text="not kept")])
    await shelf.run()

    shown, notes = await document(cast, tmp_path)

    assert sum(shown.images()) == 5
    assert notes == []
    for words in ("a jpeg", "a webp", "not for typst", "not kept", "four", "one"):
        assert shown.contains(words), words


async def test_a_markdown_export_has_kept_images_as_files(cast: Service, shelf: Shelf) -> None:
    shelf.hosts.put(f"https://{X}/jpeg", pictures.JPEG)
    shelf.hosts.put(f"https://{X}/avif", pictures.AVIF)
    images = [image(f"https://{X}/{n}", alt_text=f"a {n}") for n in ("jpeg", "avif", "missing")]
    await cast.alice.save(post_id="20", text="one", attachments=images)
    await cast.alice.save(post_id="21", text="two", attachments=images[:1])
    await shelf.run()

    job = await exporting.export(cast, cast.alice, "markdown")
    content = (await exporting.fetch(cast, job)).content

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        files = {name: archive.read(name) for name in names}
    shown = re.findall(r"!\[a (\w+)\]\((pictures/\w+\.\w+)\)", files["one-20.md"].decode())
    assert [name for name, _ in shown] == ["jpeg", "avif"]
    assert {file.rpartition(".")[2] for _, file in shown} == {"jpg", "avif"}
    assert files[shown[0][1]] == pictures.JPEG
    assert shown[0][1] in files["two-21.md"].decode()
    assert f"[Image: a missing](<https://{X}/missing>)" in files["one-20.md"].decode()
    assert len(names) == len(set(names)) == 4


async def test_a_damaged_image_does_not_spoil_the_others(
    cast: Service, shelf: Shelf, tmp_path: Path
) -> None:
    good = shelf.picture("good", 50)
    bad = shelf.hosts.put(f"https://{X}/bad", pictures.png_bomb(500, 500))
    await cast.alice.save(text="words", attachments=[image(good), image(bad, alt_text="damaged")])
    await shelf.run()
    assert (await shelf.state()).kept == 2

    shown, notes = await document(cast, tmp_path)

    assert sum(shown.images()) == 1
    assert notes == ["Some images are damaged. They are described instead."]
    assert shown.contains("damaged")


async def test_images_beyond_the_limit_are_described(
    cast: Service, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        await cast.alice.save(
            text=name, attachments=[image(shelf.picture(name, 50), alt_text=f"alt {name}")]
        )
    await shelf.run()
    state = await shelf.state()
    monkeypatch.setattr(limits, "EXPORT_PICTURES_BYTES_MAX", state.bytes - 1)

    shown, _ = await document(cast, tmp_path)

    assert sum(shown.images()) == 1
    assert shown.contains("alt a")
    assert shown.contains("alt b")


async def test_a_lost_file_is_described(cast: Service, shelf: Shelf, tmp_path: Path) -> None:
    await cast.alice.save(attachments=[image(shelf.picture("a"), alt_text="lost")])
    await shelf.run()
    for name in shelf.stored():
        (tmp_path / "files" / "media" / str(cast.alice.account_id) / name).unlink()

    shown, _ = await document(cast, tmp_path)

    assert sum(shown.images()) == 0
    assert shown.contains("lost")


async def test_the_drawings_of_the_demo_are_typeset(
    cast: Service, shelf: Shelf, tmp_path: Path
) -> None:
    await cast.alice.save(
        text="demo", attachments=[image(f"https://{DEMO_HOST}/kingfisher.jpg", alt_text="a bird")]
    )
    account = await cast.alice.account()
    page = (await cast.alice.client.get("/v1/bookmarks")).json()["data"]
    types = FORMATS["pdf"].pictures
    pictures_of = ExportPictures(cast.database, shelf.files, tmp_path / "pictures", types)

    await pictures_of.add(account, json.dumps(page).encode()[1:-1])
    folder = await pictures_of.finish()
    shown, notes = await document(cast, tmp_path)

    assert folder is not None
    assert (folder / "demo-kingfisher.svg").exists()
    assert notes == []
    assert shown.contains("a bird")
