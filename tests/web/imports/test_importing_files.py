"""Importing a file on the website: check, import, result, undo."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.ingest.files import CheckedImports
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from tests.support.visiting import form_token
from tests.web.house import House, build, text_of
from tests.web.imports.conftest import brought_in, checked, part, posts, send_file

pytestmark = pytest.mark.anyio

HOUR = 3_600 * MICROSECONDS


async def count(house: House) -> int:
    rows = await house.database.rows("SELECT count(*) FROM bookmark", {})
    return int(rows[0][0])


def kept(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "files" / "checked").rglob("*") if path.is_file()]


async def test_a_file_is_checked_imported_and_undone(house: House, tmp_path: Path) -> None:
    person = await house.owner()

    check = await checked(house, person, posts("1", "2"))
    said = text_of(check)
    assert check.status_code == 200
    assert "Nothing has been written yet." in said
    assert "posts.json" in said
    assert "Found: Bowerbird JSON" in said
    assert "Bring in 2 posts" in said
    assert await count(house) == 0

    done = await brought_in(house, person, check)
    assert "2 posts are in" in text_of(done)
    assert "Possible until" in text_of(done)
    assert await count(house) == 2
    assert kept(tmp_path) == []

    [run_id] = set(re.findall(r'name="run" value="([^"]+)"', done.text))
    undone = await person.post("/import/undo", csrf=form_token(done.text), run=run_id)
    after = await person.open(undone.headers["location"])
    assert "The import is undone: 2 posts removed." in text_of(after)
    assert "posts.json (Bowerbird JSON)" in text_of(after)
    assert await count(house) == 0


async def test_the_page_lists_files_that_are_not_imported_yet(house: House) -> None:
    person = await house.owner()
    assert "Files that are not imported yet" not in text_of(await person.open("/import"))
    started = await send_file(person, posts("1", "2"))
    path = started.headers["location"]

    assert "posts.json being checked" in text_of(await person.open("/import"))

    await house.service.file_imports.finished()
    other = await checked(house, person, posts("3"), "other.json")
    page = await person.open("/import")
    assert "posts.json checked: 2 new, 0 changed" in text_of(page)
    assert f'href="{path}"' in page.text
    stranger = await house.member("zoe@example.org")
    assert "posts.json" not in text_of(await stranger.open("/import"))

    gone = await person.send(f"{path}/cancel", "/import")
    assert gone.headers["location"] == "/import?said=import-cancelled"
    await brought_in(house, person, other)
    assert "Files that are not imported yet" not in text_of(await person.open("/import"))


async def test_a_file_that_cannot_be_read_takes_no_place_of_others(house: House) -> None:
    person = await house.owner()
    check = await checked(house, person, posts("1"))

    for name in ("a.bin", "b.bin"):
        assert "Not imported" in text_of(await checked(house, person, b"\x00" * 99, name))
    assert "b.bin could not be read" in text_of(await person.open("/import"))
    await checked(house, person, posts("2"), "other.json")

    assert "1 post is in" in text_of(await brought_in(house, person, check))


async def test_a_check_tells_what_is_left_out_and_why(house: House) -> None:
    person = await house.owner()
    await brought_in(house, person, await checked(house, person, posts("1")))
    rows = (
        b"id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        b"1,A post,mine,,https://x.com/ada/status/20,Unsorted,,2026-01-01T00:00:00.000Z,,,false\n"
        b"2,A page,,,https://example.org/page,Unsorted,,2026-01-01T00:00:00.000Z,,,false\n"
        b"3,Another,,,https://x.com/ada/status/21,Unsorted,,2099-01-01T00:00:00.000Z,,,false\n"
    )

    said = text_of(await checked(house, person, rows, "raindrop.csv"))

    assert "Found: Raindrop CSV" in said
    assert "New 2 kept" in said
    assert "Not a post 1 links that are not posts: left out" in said
    assert "Future dates 1 dates of saving in the future: not used" in said
    assert "Notes 1 posts with a note of yours, which is kept" in said
    assert "Line 3" in said
    assert "The row that is left out Line" in said
    assert "until you import or cancel it, or check two others, and until " in said


async def test_a_file_without_news_offers_no_import(house: House) -> None:
    person = await house.owner()
    content = posts("1")
    await brought_in(house, person, await checked(house, person, content))

    check = await checked(house, person, content)

    assert "Nothing in this file is new." in text_of(check)
    assert f'action="{check.request.url.path}/import"' not in check.text


async def test_a_file_of_which_everything_is_left_out_says_why(house: House) -> None:
    person = await house.owner()
    rows = b"title,url,time_added\nA,https://example.org/a,1\nB,https://example.org/b,1\nC,,1\n"

    check = await checked(house, person, rows, "pocket.csv")

    said = text_of(check)
    assert (
        "Nothing in this file can be imported. "
        "Left out: 2 links that are not posts and 1 row that cannot be read." in said
    )
    assert "Nothing in this file is new" not in said
    # As the command counts them.
    assert "Found 0 New 0 Changed 0 Left out 3" in said
    # The links are listed, and a file has them.
    assert "2 links that are not posts https://example.org/a https://example.org/b" in said
    listed = await person.open(f"{check.request.url.path}/links")
    assert listed.text == "https://example.org/a\nhttps://example.org/b\n"
    assert listed.headers["content-disposition"] == 'attachment; filename="links.txt"'
    assert f'action="{check.request.url.path}/import"' not in check.text


async def test_an_unknown_file_gets_a_sentence(house: House) -> None:
    person = await house.owner()

    page = await checked(house, person, b"%PDF-1.7 ...", "report.pdf")

    assert "This file cannot be imported. It looks like a PDF." in text_of(page)
    assert "Nothing was written." in text_of(page)


async def test_liked_posts_come_along_only_on_request(house: House) -> None:
    person = await house.owner()
    like = {"like": {"tweetId": "20", "fullText": "a post", "expandedUrl": "https://x.com/i/20"}}
    likes = b"window.YTD.like.part0 = " + json.dumps([like]).encode()

    plain = await checked(house, person, likes, "like.js")
    chosen = await checked(house, person, likes, "like.js", part("likes", "yes"))

    assert "Not requested 1 liked posts: left out" in text_of(plain)
    sentence = "Only liked posts are in this file; to import them, choose it again with"
    assert sentence in text_of(plain)
    assert "Bring in 1 post" in text_of(chosen)
    path = chosen.request.url.path
    started = await person.post(f"{path}/import", csrf=form_token(chosen.text), likes="yes")
    await house.service.file_imports.finished()
    assert "1 post is in" in text_of(await person.open(started.headers["location"]))
    assert 'name="likes" value="yes"' in chosen.text


async def test_a_file_of_the_list_is_imported_with_the_liked_posts_it_was_checked_with(
    house: House,
) -> None:
    person = await house.owner()
    like = {"like": {"tweetId": "20", "fullText": "a post", "expandedUrl": "https://x.com/i/20"}}
    likes = b"window.YTD.like.part0 = " + json.dumps([like]).encode()
    await checked(house, person, likes, "like.js", part("likes", "yes"))

    [path] = re.findall(r'href="(/import/files/[^"]+)"', (await person.open("/import")).text)

    assert 'name="likes" value="yes"' in (await person.open(path)).text


async def test_a_running_job_shows_its_progress_and_refreshes_itself(house: House) -> None:
    person = await house.owner()

    content = posts("1")
    started = await send_file(person, content)
    path = started.headers["location"]
    page = await person.open(path)

    refresh = f'<noscript><meta http-equiv="refresh" content="2; url={path}"></noscript>'
    assert refresh in page.text
    assert f"0 bytes of {len(content)} bytes" in text_of(page)
    state = (await person.client.get(f"{path}/state")).json()
    assert state["mark"] == "open"
    assert state["jobs"][0]["total"] == len(content)
    await house.service.file_imports.finished()
    assert (await person.client.get(f"{path}/state")).json()["mark"] == "completed"


async def test_a_form_that_is_sent_twice_imports_once(house: House) -> None:
    person = await house.owner()
    check = await checked(house, person, posts("1"))
    path, token = check.request.url.path, form_token(check.text)

    both = await asyncio.gather(*(person.post(f"{path}/import", csrf=token) for _ in range(3)))
    await house.service.file_imports.finished()
    later = await person.post(f"{path}/import", csrf=token)

    assert len({answer.headers["location"] for answer in (*both, later)}) == 1
    runs = await house.database.rows("SELECT count(*) FROM import_run", {})
    assert runs[0][0] == 1
    again = text_of(await person.open(path))
    assert "This file was imported after the check." in again
    assert "See the result" in again


async def test_a_form_that_was_overtaken_by_its_copy_leads_to_the_same_import(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await house.owner()
    check = await checked(house, person, posts("1"))
    path, token = check.request.url.path, form_token(check.text)
    copy, reached, go_on = CheckedImports.copy, asyncio.Event(), asyncio.Event()

    async def first_one_waits(files: CheckedImports, *file: Any) -> None:
        if not reached.is_set():
            reached.set()
            await go_on.wait()
        await copy(files, *file)

    monkeypatch.setattr(CheckedImports, "copy", first_one_waits)
    slow = asyncio.create_task(person.post(f"{path}/import", csrf=token))
    await reached.wait()
    fast = await person.post(f"{path}/import", csrf=token)
    go_on.set()

    assert (await slow).headers["location"] == fast.headers["location"]
    await house.service.file_imports.finished()


async def test_a_cancelled_file_is_deleted(house: House, tmp_path: Path) -> None:
    person = await house.owner()
    check = await checked(house, person, posts("1"))
    path, token = check.request.url.path, form_token(check.text)
    assert len(kept(tmp_path)) == 1

    cancelled = await person.post(f"{path}/cancel", csrf=token)
    late = await person.post(f"{path}/import", csrf=token)

    assert cancelled.headers["location"] == "/import?said=import-cancelled"
    assert kept(tmp_path) == []
    assert late.status_code == 400
    assert "The file is not kept any more." in text_of(late)
    assert await count(house) == 0


async def test_a_checked_file_can_be_imported_for_a_day(house: House) -> None:
    person = await house.owner()
    check = await checked(house, person, posts("1"))
    path, token = check.request.url.path, form_token(check.text)

    house.clock.now += 24 * HOUR + MICROSECONDS
    late = await person.post(f"{path}/import", csrf=token)

    assert late.status_code == 400
    assert "The file is not kept any more." in text_of(late)


async def test_checked_files_are_deleted_with_their_account(house: House, tmp_path: Path) -> None:
    await house.owner()
    person = await house.member("leaving@example.com")
    await checked(house, person, posts("1"))
    rows = await house.database.rows("SELECT account_id FROM file_import", {})

    await AccountDeletion(house.database).complete(rows[0][0], Files(Settings(data_dir=tmp_path)))

    assert kept(tmp_path) == []


async def test_another_node_imports_what_one_has_checked(house: House, tmp_path: Path) -> None:
    """Both nodes use the same files, as PostgreSQL requires."""
    person = await house.owner()
    check = await checked(house, person, posts("1"))
    files_url = (tmp_path / "files").as_uri()
    second = build(house.database, tmp_path / "second", files_url=files_url)
    there = second.somebody()
    there.client.cookies.update(person.client.cookies)

    done = await brought_in(second, there, check)

    assert "1 post is in" in text_of(done)
    assert await count(house) == 1


async def test_an_account_has_two_checked_files_at_most(house: House, tmp_path: Path) -> None:
    person = await house.owner()

    pages = [await checked(house, person, posts(str(n))) for n in range(1, 4)]

    assert len(kept(tmp_path)) == limits.CHECKED_FILES_MAX == 2
    # Nobody else on this machine reads them.
    assert not any(file.stat().st_mode & 0o077 for file in kept(tmp_path))
    assert "not kept any more" in text_of(await person.open(pages[0].request.url.path))
    assert "1 post is in" in text_of(await brought_in(house, person, pages[2]))
