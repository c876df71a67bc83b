"""What people see when a page cannot be shown: never a stack trace, always what to do."""

import re
from pathlib import Path

import httpx
import pytest

from bowerbird.library.access.attempt_limits import BURST
from bowerbird.storage.database import Transaction
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.web.visits import visit
from tests.support.visiting import form_token
from tests.web.house import House

pytestmark = pytest.mark.anyio

PLAIN = {"Accept": "*/*"}


async def break_activity(house: House) -> None:
    """Damages the database, as nothing but a defect does."""

    async def work(transaction: Transaction) -> None:
        await transaction.run("ALTER TABLE activity RENAME TO lost", {})

    await house.database.write(work)


def move_database(folder: Path) -> None:
    """Takes the file away from under the running service."""
    (folder / FILE_NAME).rename(folder / "elsewhere.db")


def heading(page: httpx.Response) -> str:
    found = re.search(r"<h1>([^<]+)</h1>", page.text)
    assert found, page.text
    return found[1]


def assert_is_a_page(page: httpx.Response) -> None:
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_an_internal_error_shows_a_reference_and_nothing_of_the_cause(house: House) -> None:
    owner = await house.owner()
    await break_activity(house)

    page = await owner.open("/activity")

    assert page.status_code == 500
    assert_is_a_page(page)
    assert heading(page) == "Something went wrong"
    assert "Sign in" not in page.text
    reference = re.search(r"Reference <code>([^<]+)</code>", page.text)
    assert reference
    assert reference[1] == page.headers["x-request-id"]
    for word in ("activity", "Traceback", "sqlite", "apsw", "SELECT"):
        assert word not in page.text


@pytest.mark.parametrize("path", ["/nowhere", "/p/404", "/operator"])
async def test_a_missing_page_leads_signed_in_people_to_their_library(
    house: House, path: str
) -> None:
    await house.owner()
    member = await house.member("member@example.com")

    page = await member.open(path)
    assert page.status_code == 404
    assert 'class="btn main" href="/library">Your library</a>' in page.text
    assert "Sign in" not in page.text

    strange = await house.somebody().open("/nowhere")
    assert strange.status_code == 404
    assert 'href="/sign-in">Sign in</a>' in strange.text
    assert "Your library" not in strange.text


async def test_an_internal_error_is_one_sentence_for_a_program(house: House) -> None:
    owner = await house.owner()
    await break_activity(house)

    answer = await owner.client.get("/activity", headers=PLAIN)

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(answer.text.splitlines()) == 1
    assert "apsw" not in answer.text


async def test_a_database_that_does_not_answer_gives_the_maintenance_page(
    house: House, tmp_path: Path
) -> None:
    owner = await house.owner()
    token = form_token((await owner.open("/account")).text)
    move_database(tmp_path)

    page = await owner.post("/account/sessions/end-others", csrf=token)

    assert page.status_code == 503
    assert int(page.headers["retry-after"]) >= 1
    assert_is_a_page(page)
    assert heading(page) == "Back in a moment"
    assert f"Try again in {page.headers['retry-after']} seconds." in page.text
    answer = await owner.post("/account/sessions/end-others", csrf=token, headers=PLAIN)
    assert (answer.status_code, answer.headers["content-type"]) == (
        503,
        "text/plain; charset=utf-8",
    )


@pytest.mark.parametrize("path", ["/docs", "/account", "/sign-in"])
async def test_an_unknown_method_is_refused_with_those_that_work(house: House, path: str) -> None:
    person = house.somebody()

    page = await person.client.request("DELETE", path)

    assert page.status_code == 405
    assert "GET" in page.headers["allow"]
    assert_is_a_page(page)
    assert heading(page) == "This page cannot do that"
    answer = await person.client.request("DELETE", path, headers=PLAIN)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


async def test_a_form_that_is_too_large_is_refused(house: House) -> None:
    person = house.somebody()

    page = await person.post("/link", token="x" * (visit.MAX_BYTES + 1))

    assert page.status_code == 413
    assert_is_a_page(page)
    assert heading(page) == "That is too large"


async def test_too_many_attempts_are_refused_with_the_time_to_wait(house: House) -> None:
    person = house.somebody()
    for _ in range(BURST):
        assert (await person.send("/link", "/link", token="x")).status_code == 410

    page = await person.send("/link", "/link", token="x")

    assert page.status_code == 429
    assert int(page.headers["retry-after"]) >= 1
    assert_is_a_page(page)
    assert heading(page) == "Too many attempts"
