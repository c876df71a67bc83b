"""Forms with a file: whose they are, what they have to contain, and how large they may be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird.requests import limits
from tests.web.house import House, text_of
from tests.web.imports.conftest import form, part, post_form, posts, send_file, token_of

pytestmark = pytest.mark.anyio

FILE = part("file", posts("1"), "posts.json")
MEGABYTE = b" " * 1_000_000


def stored(tmp_path: Path) -> list[Path]:
    folders = (tmp_path / "scratch", tmp_path / "files" / "checked")
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


async def jobs(house: House) -> int:
    rows = await house.database.rows("SELECT count(*) FROM file_import", {})
    return int(rows[0][0])


async def test_a_form_without_the_token_before_the_file_stores_nothing(
    house: House, tmp_path: Path
) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))

    answers = [
        await post_form(person, body)
        for body in (
            form(FILE),
            form(FILE, token),
            form(part("csrf", "made.up"), FILE),
            form(part("csrf", ""), FILE),
            form(part("csrf", await token_of(person), "token.txt"), FILE),
        )
    ]

    assert [answer.status_code for answer in answers] == [403] * 5
    assert "not sent by this site" in text_of(answers[0])
    assert stored(tmp_path) == []
    assert await jobs(house) == 0


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
async def test_a_form_of_another_site_is_refused_before_it_is_read(
    house: House, origin: str
) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for piece in (token, FILE, b"--b--\r\n"):
            read += 1
            yield piece

    answer = await post_form(person, body(), Origin=origin)

    assert answer.status_code == 403
    assert read == 0


async def test_a_form_without_a_file_gets_a_sentence(house: House) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))

    nothing = await post_form(person, form(token))
    unchosen = await post_form(person, form(token, part("file", b"", "")))
    plain = await person.send("/import/files", "/import", file="posts.json")
    empty = await send_file(person, b"")

    for answer in (nothing, unchosen, plain):
        assert answer.status_code == 400
        assert "Choose a file first." in text_of(answer)
    assert (empty.status_code, "The file is empty" in text_of(empty)) == (400, True)
    assert await jobs(house) == 0


async def test_two_files_are_refused(house: House, tmp_path: Path) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))

    answer = await post_form(person, form(token, FILE, part("file", posts("2"), "more.json")))

    assert answer.status_code == 400
    assert "Choose one file at a time." in text_of(answer)
    assert stored(tmp_path) == []


async def test_a_form_without_its_boundary_is_refused(house: House) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))

    for content_type in [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=c",
    ]:
        answer = await post_form(person, form(token, FILE), content_type)
        assert answer.status_code == 400, content_type
        assert "did not arrive whole" in text_of(answer)


async def test_a_broken_form_is_refused(house: House, tmp_path: Path) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))
    bodies = (
        b"",
        token,
        token + FILE[:-20],
        form(token, part("\xff", b"\xff"), FILE),
        form(token, token, FILE),
        form(token, part("long", "x" * 100_000), FILE),
        form(token, *(part(f"f{n}", "x") for n in range(30)), FILE),
        token + b"--b\r\n" + b"x" * 100_000,
    )

    answers = [await post_form(person, body) for body in bodies]

    assert [answer.status_code for answer in answers] == [400] * len(bodies)
    assert stored(tmp_path) == []
    assert await jobs(house) == 0


async def test_a_file_of_60_mb_gets_a_sentence_and_leaves_nothing(
    house: House, tmp_path: Path
) -> None:
    person = await house.owner()
    head = part("csrf", await token_of(person)) + part("file", b"", "big.json")[:-2]
    largest = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal largest
        yield head
        for _ in range(60):
            yield MEGABYTE
            largest = max([largest, *(path.stat().st_size for path in stored(tmp_path))])
        yield b"\r\n--b--\r\n"

    answer = await post_form(person, body())

    assert answer.status_code == 413
    assert "The file is larger than 50 MB." in text_of(answer)
    assert 40_000_000 < largest <= limits.INGEST_FILE_BYTES_MAX + 64 * 1024
    assert stored(tmp_path) == []


async def test_a_body_beyond_all_bounds_is_not_received(house: House) -> None:
    person = await house.owner()
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read += 1
        yield b""

    size = str(4 * limits.INGEST_FILE_BYTES_MAX + 1)
    answer = await post_form(person, body(), **{"Content-Length": size})

    assert answer.status_code == 413
    assert read == 0


async def test_a_file_of_exactly_the_bound_is_read(house: House) -> None:
    person = await house.owner()
    content = posts("1")
    padded = content[:-1] + b" " * (limits.INGEST_FILE_BYTES_MAX - len(content)) + b"]"

    fits = await send_file(person, padded)
    await house.service.file_imports.finished()
    larger = await send_file(person, padded + b" ")

    assert "Bring in 1 post" in text_of(await person.open(fits.headers["location"]))
    assert larger.status_code == 413
