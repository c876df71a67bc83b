"""The page for imports: pasted links and the list of earlier imports."""

import re

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.requests import limits
from tests.support.visiting import form_token
from tests.web.imports.conftest import brought_in, checked, posts, text_of
from tests.web.sign_in.conftest import House

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


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        (" \n ", "Paste at least one link."),
        ("https://x.com/a/status/1\n" * 101, "101 links are too many at once. Paste 100 at most."),
    ],
)
async def test_too_few_or_too_many_links_are_refused(
    house: House, links: str, sentence: str
) -> None:
    person = await house.owner()

    page = await person.send("/import/links", "/import", links=links)

    assert page.status_code == 400
    assert sentence in text_of(page)
    assert await count(house) == 0


async def test_as_many_links_as_allowed_are_saved(house: House) -> None:
    person = await house.owner()
    links = "\n".join(f"https://x.com/a/status/{n}" for n in range(1, limits.SAVED_MAX + 1))

    page = await person.send("/import/links", "/import", links=links)

    assert "100 posts saved." in text_of(page)


async def test_the_page_of_a_new_library_is_empty(house: House) -> None:
    person = await house.owner()

    assert "Nothing was imported yet." in text_of(await person.open("/import"))


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


async def test_an_undo_needs_the_token(house: House) -> None:
    person = await house.owner()

    assert (await person.post("/import/undo", run="x")).status_code == 403
