"""The page for imports: links, forms with files, and labels that fit."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.tokens import Devices
from bowerbird.requests import limits
from bowerbird.storage.database import Transaction
from tests.support import make, writing
from tests.support.ingesting import listed
from tests.support.visiting import form_token
from tests.web.house import House, Reader, field_in, signed_in, text_of
from tests.web.imports.conftest import (
    brought_in,
    checked,
    form,
    part,
    post_form,
    posts,
    token_of,
)

pytestmark = pytest.mark.anyio


DAY = 86_400 * MICROSECONDS


async def count(house: House) -> int:
    rows = await house.database.rows("SELECT count(*) FROM bookmark", {})
    return int(rows[0][0])


async def test_pasted_links_are_saved(house: House) -> None:
    person = await house.owner()
    links = "https://x.com/ada/status/20\r\n\r\n  https://x.com/ada/status/21  \r\n"

    page = await person.send("/import/links", "/import", links=links)

    assert page.status_code == 200
    assert "2 posts saved." in text_of(page)
    assert await count(house) == 2


async def test_posts_that_are_only_links_show_their_progress_and_can_be_asked_for_again(
    house: House,
) -> None:
    person = await house.owner()
    links = "https://x.com/ada/status/20\nhttps://x.com/ada/status/21"
    page = await person.send("/import/links", "/import", links=links)
    assert 'data-follow="/import/fetch/2"' in page.text
    state = (await person.open("/import/fetch/5")).json()
    assert state["mark"] == "open"
    assert (state["jobs"][0]["done"], state["jobs"][0]["total"]) == (3, 5)

    async def left(transaction: Transaction) -> None:
        await transaction.run("UPDATE bare_link SET state = 'left', reason = 'gone'", {})

    await house.database.write(left)
    assert "2 of your posts are only a link" in text_of(await person.open("/import"))
    assert (await person.open("/import/fetch/2")).json()["mark"] == "done"

    await person.send("/import/fetch", "/import")
    assert "2 links are left to read." in text_of(await person.open("/import"))


async def test_a_link_that_fails_stays_in_the_field_with_the_reason(house: House) -> None:
    person = await house.owner()
    bad = "https://example.org/<script>alert(1)</script>"

    page = await person.send(
        "/import/links", "/import", links=f"https://x.com/ada/status/20\n{bad}"
    )

    assert "1 post saved, 1 is not a link to a post." in text_of(page)
    assert "is not a link to a post" in text_of(page)
    assert "links[1]" not in text_of(page)
    assert "<script>alert" not in page.text
    field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert field
    assert field[1] == "https://example.org/&lt;script&gt;alert(1)&lt;/script&gt;"


async def test_earlier_imports_are_listed_in_pages(house: House) -> None:
    person = await house.owner()
    for number in range(1, 23):
        check = await checked(house, person, posts(str(number)), f"file-{number}.json")
        await brought_in(house, person, check)

    first = await person.open("/import")
    [older] = re.findall(r'href="(/import\?before=[^"]+)"', first.text)
    second = await person.open(older)

    assert "22 in all" in text_of(first)
    assert re.findall(r"file-(\d+)\.json \(", text_of(first))[::3]
    assert "file-22.json" in first.text
    assert "file-2.json" not in first.text
    assert "file-2.json" in second.text
    assert "file-1.json" in second.text
    assert "file-3.json" not in second.text
    assert "Newest imports" in text_of(second)


async def test_an_old_import_offers_no_undo(house: House) -> None:
    person = await house.owner()
    done = await brought_in(house, person, await checked(house, person, posts("1")))
    run_id = re.findall(r'name="run" value="([^"]+)"', done.text)[0]
    assert run_id in (await person.open("/import")).text

    house.clock.now += 29 * DAY
    person = await house.owner()
    assert run_id in (await person.open("/import")).text
    house.clock.now += 2 * DAY
    page = await person.open("/import")
    late = await person.post("/import/undo", csrf=form_token(page.text), run=run_id)

    assert run_id not in page.text
    assert late.status_code == 400
    assert "can no longer be undone" in text_of(late)
    assert await count(house) == 1


async def test_an_unknown_message_or_page_does_no_harm(house: House) -> None:
    person = await house.owner()

    assert (await person.open("/import?undone=unknown")).status_code == 200
    assert (await person.client.get("/import?before=unknown")).status_code == 400


STOPPED = "stopped before"

BROWSED = "while you browsed"


async def send_part(house: House, kind: str, reason: str) -> None:
    """An extension sends the first page of a list, and ends the run."""
    account_id = await house.account_id()
    token = await Devices(house.database, house.clock).create(account_id, "Firefox, laptop")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(house.service.asgi),
        base_url="http://localhost:8080/ingest/v1",
        headers={"Authorization": f"Bearer {token}"},
    ) as laptop:
        started = await laptop.post("/runs", json={"source": "x", "kind": kind})
        run_id = started.json()["data"]["run_id"]
        page = await laptop.post(f"/runs/{run_id}/pages", json={"seq": 0, **listed([2, 1])})
        assert page.json()["data"]["inserted"] == 2
        if reason:
            await laptop.post(f"/runs/{run_id}/finish", json={"reason": reason})


@pytest.mark.parametrize(
    ("kind", "reason", "said", "unsaid"),
    [
        ("visit", "interrupted", BROWSED, STOPPED),
        ("visit", "", BROWSED, STOPPED),
        ("full", "interrupted", STOPPED, BROWSED),
        ("incremental", "interrupted", STOPPED, BROWSED),
    ],
)
async def test_a_visit_of_the_bookmarks_page_is_no_sync_that_stopped(
    house: House, kind: str, reason: str, said: str, unsaid: str
) -> None:
    person = await house.owner()
    await send_part(house, kind, reason)

    for path in ("/import", "/keys", "/sources"):
        page = text_of(await person.open(path))
        assert said in page, path
        assert unsaid not in page, path


async def test_an_undone_visit_is_shown_as_undone(house: House) -> None:
    person = await house.owner()
    await send_part(house, "visit", "interrupted")
    account = await house.accounts.find("owner@example.com")
    rows = await house.database.rows(
        "SELECT import_id FROM ingest_run WHERE account_id = :id", {"id": account.account_id}
    )

    undone = await person.send("/import/undo", "/import", run=rows[0][0])

    assert undone.status_code == 303
    page = text_of(await person.open("/import"))
    assert "undone: 2 posts removed" in page
    assert BROWSED not in page


async def _imported(house: House, plan: str = "pro") -> tuple[Reader, httpx.Response]:
    """The page of the result of an import of three posts, two by an author with a label."""
    ann = await signed_in(house, "ann@example.org", plan)
    await ann.member.set_plan("pro")
    for n in range(4):
        await ann.member.save(text=f"note {n}", author="ines", tags=['<b>"data"'])
    await ann.member.set_plan(plan)
    authors = {"31": "ines", "32": "ines", "33": "tomasz"}
    file = json.dumps([make.post(post_id=one, author=name) for one, name in authors.items()])
    return ann, await brought_in(house, ann.person, await checked(house, ann.person, file.encode()))


def _path(page: httpx.Response) -> str:
    return str(re.findall(r'href="(/import/labels/[0-9a-z]+)"', page.text)[0])


async def test_labels_that_fit_an_import_are_shown_added_and_undone(house: House) -> None:
    ann, done = await _imported(house)

    page = await ann.person.open(_path(done))
    assert "2 of 3 posts without a label have a clear one." in text_of(page)
    assert '<b>"data"' not in page.text
    [box] = re.findall(r'type="checkbox" name="(label-\d+)"', page.text)

    [back] = set(field_in(page, "back"))
    sent = await ann.person.send(_path(done), _path(done), **{box: "on", "back": back})
    after = await ann.person.open(sent.headers["location"])
    assert "Changed the labels of 2 posts." in text_of(after)
    assert await writing.labels(ann.member) == {'<b>"data"': 6}
    [change] = set(re.findall(r'name="change" value="([^"]+)"', after.text))
    await ann.person.send("/library/many/undo", _path(done), change=change)
    assert await writing.labels(ann.member) == {'<b>"data"': 4}

    empty = await ann.person.send(_path(done), _path(done))
    assert (empty.status_code, "Choose at least one label." in text_of(empty)) == (400, True)


async def test_a_free_account_is_offered_no_labels(house: House) -> None:
    ann, done = await _imported(house, "free")

    assert "/import/labels/" not in done.text
    run_id = field_in(done, "run")[0]
    assert (await ann.person.open(f"/import/labels/{run_id}")).status_code == 402


FILE = part("file", posts("1"), "posts.json")

MEGABYTE = b" " * 1_000_000


def stored(tmp_path: Path) -> list[Path]:
    folders = (tmp_path / "scratch", tmp_path / "files" / "checked")
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


async def jobs(house: House) -> int:
    rows = await house.database.rows("SELECT count(*) FROM file_import", {})
    return int(rows[0][0])


async def test_a_form_that_is_not_ours_or_has_not_one_file_stores_nothing(
    house: House, tmp_path: Path
) -> None:
    person = await house.owner()
    token = part("csrf", await token_of(person))
    ours, no_file = (403, "not sent by this site"), (400, "Choose a file first.")
    for body, (status, sentence) in {
        form(FILE): ours,
        form(FILE, token): ours,
        form(part("csrf", "made.up"), FILE): ours,
        form(part("csrf", ""), FILE): ours,
        form(part("csrf", await token_of(person), "token.txt"), FILE): ours,
        form(token): no_file,
        form(token, part("file", b"", "")): no_file,
        form(token, part("file", b"", "posts.json")): (400, "The file is empty"),
        form(token, FILE, part("file", posts("2"), "more.json")): (400, "one file at a time."),
    }.items():
        answer = await post_form(person, body)
        assert (answer.status_code, sentence in text_of(answer)) == (status, True), body
    plain = await person.send("/import/files", "/import", file="posts.json")
    assert (plain.status_code, no_file[1] in text_of(plain)) == (400, True)
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
