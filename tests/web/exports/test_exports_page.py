"""The page for exports: start, progress, download, errors and bounds."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird.requests.exports import ExportRequest
from bowerbird.requests.filters import readers
from bowerbird.web.library.filters import NAMES
from tests.support import waiting
from tests.support.visiting import Visitor
from tests.support.working import at_work
from tests.web.house import House, text_of

pytestmark = pytest.mark.anyio

CANCEL = re.compile(r'action="/exports/([0-9a-f]+)/cancel"')
FILE = re.compile(r'href="(/exports/[0-9a-f]+/file)"')


async def fill(person: Visitor, *numbers: int) -> None:
    links = "\n".join(f"https://x.com/ada/status/{number}" for number in numbers)
    saved = await person.send("/import/links", "/import", links=links)
    assert re.search(r"\d posts? saved", saved.text)


async def finished(house: House, person: Visitor) -> httpx.Response:
    """The page, once nothing is running."""

    async def is_over() -> bool:
        return not (await person.client.get("/exports/state")).json()["jobs"]

    async with at_work(house.service.worker):
        await waiting.until(is_over, 30)
    return await person.open("/exports")


async def start(person: Visitor, format: str = "json", **fields: str) -> httpx.Response:
    return await person.send("/exports", "/exports", format=format, posts="whole", **fields)


async def test_the_whole_library_is_exported_and_downloaded(house: House) -> None:
    person = await house.owner()
    await fill(person, 20, 21)

    started = await start(person)
    running = await person.open("/exports")
    done = await finished(house, person)

    assert started.headers["location"] == "/exports?said=export-started#files"
    assert "The whole library , JSON" in text_of(running)
    assert (
        '<noscript><meta http-equiv="refresh" content="3; url=/exports"></noscript>' in running.text
    )
    assert "refresh" not in done.text
    assert "2 posts, " in text_of(done)
    assert "Kept until" in text_of(done)
    [path] = FILE.findall(done.text)
    led = await person.client.get(path)
    assert led.status_code == 303
    target = urlsplit(led.headers["location"])
    file = await person.client.get(f"{target.path}?{target.query}")
    assert sorted(post["post_id"] for post in json.loads(file.content)) == ["20", "21"]


async def test_the_filters_in_the_address_narrow_the_export(house: House) -> None:
    person = await house.owner()
    await fill(person, 20, 21)

    page = await person.open("/exports?author=nobody&said=x&unknown=1")
    assert 'name="author" type="text" value="nobody"' in page.text
    assert 'value="filtered" checked' in page.text
    assert 'name="unknown"' not in page.text
    await person.send(
        "/exports", "/exports?author=nobody", format="json", posts="filtered", author="nobody"
    )
    done = await finished(house, person)

    assert "Narrowed by author nobody , JSON" in text_of(done)
    assert "0 posts" in text_of(done)


async def test_a_failed_export_says_why(house: House) -> None:
    person = await house.owner()
    await start(person)
    await house.database.write(
        lambda transaction: transaction.run(
            "UPDATE job SET state = 'failed', error = :error, completed_at = 1",
            {"error": "The disk is <b>full</b>."},
        )
    )

    page = await person.open("/exports")

    assert "The disk is &lt;b&gt;full&lt;/b&gt;." in page.text


async def test_every_option_of_the_api_has_a_field_with_words(house: House) -> None:
    person = await house.owner()
    await person.send("/import/links", "/import", links="https://x.com/ada/status/20")
    page = (await person.open("/exports")).text
    for name in readers(ExportRequest):
        assert f'name="{name}"' in page, name
        assert name in NAMES
    assert re.search(r'name="posted_from" type="date"', page)
    assert '<option value="article">Article</option>' in page
    # A date field cannot show it.
    relative = (await person.open("/exports?posted_from=-7d")).text
    assert 'name="posted_from" type="text" value="-7d"' in relative


async def test_an_export_is_cancelled_and_made_again(house: House) -> None:
    person = await house.owner()
    await fill(person, 20)
    await person.send(
        "/exports", "/exports", format="csv", posts="filtered", q="ada", is_unread_only="true"
    )
    [job_id] = CANCEL.findall((await person.open("/exports")).text)

    cancelled = await person.send(f"/exports/{job_id}/cancel", "/exports")
    assert cancelled.headers["location"] == "/exports?said=export-cancelled#files"
    page = await person.open("/exports")
    assert "Cancelled" in text_of(page)
    twice = await person.send(f"/exports/{job_id}/cancel", "/exports")
    assert twice.status_code == 404
    assert "The export has already ended." in text_of(twice)

    again = await person.send(f"/exports/{job_id}/again", "/exports")
    assert again.headers["location"] == "/exports?said=export-started#files"
    done = await finished(house, person)
    assert "Narrowed by hide_archived true, is_unread_only true, q ada , CSV" in text_of(done)
    assert len(FILE.findall(done.text)) == 1


async def test_a_file_is_deleted_before_its_day_is_over(house: House, tmp_path: Path) -> None:
    person = await house.owner()
    await fill(person, 20)
    await start(person)
    [path] = FILE.findall((await finished(house, person)).text)
    job_id = path.split("/")[2]
    led = (await person.client.get(path)).headers["location"]

    for _ in range(2):
        deleted = await person.send(f"/exports/{job_id}/delete", "/exports")
        assert deleted.headers["location"] == "/exports?said=export-deleted#files"
    page = await person.open("/exports")
    assert "its file is deleted" in text_of(page)
    assert (await person.client.get(path)).status_code == 404
    target = urlsplit(led)
    assert (await person.client.get(f"{target.path}?{target.query}")).status_code == 404
    assert not [file for file in (tmp_path / "files").rglob("*") if file.is_file()]
