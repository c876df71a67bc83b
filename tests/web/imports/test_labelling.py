"""The page with labels that fit an import: look, apply, undo."""

import json
import re

import httpx
import pytest

from tests.support import make, writing
from tests.web.house import House, Reader, field_in, signed_in, text_of
from tests.web.imports.conftest import brought_in, checked

pytestmark = pytest.mark.anyio


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


async def test_an_import_of_somebody_else_is_not_found(house: House) -> None:
    _, done = await _imported(house)
    bob = await signed_in(house, "bob@example.org")

    assert (await bob.person.open(_path(done))).status_code == 404
    sent = await bob.person.send(_path(done), "/import", **{"label-1": "on"})
    assert sent.status_code == 404


async def test_a_free_account_is_offered_no_labels(house: House) -> None:
    ann, done = await _imported(house, "free")

    assert "/import/labels/" not in done.text
    run_id = field_in(done, "run")[0]
    assert (await ann.person.open(f"/import/labels/{run_id}")).status_code == 402
