"""One flow with a server on PostgreSQL: everything that the others do on SQLite, once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extension import library as real_libraries
from tests.extension.chromium import Chromium
from tests.extension.fake_x import FakeX, X
from tests.extension.patience import wait_until
from tests.extension.person import Person
from tests.support.databases import TEMPLATE
from tests.support.postgres import ThrowawayPostgres


@pytest.fixture
def postgres_person(
    chromium: Chromium, x: FakeX, postgres: ThrowawayPostgres, tmp_path: Path
) -> Iterator[Person]:
    with (
        postgres.fresh_database(TEMPLATE) as url,
        real_libraries.libraries(tmp_path, database_url=url) as libraries,
    ):
        person = Person(chromium, x, libraries.new())
        person.forget()
        yield person
        chromium.close_tabs()
        person.forget()


def test_a_library_on_postgres_follows_x(postgres_person: Person) -> None:
    person = postgres_person
    person.library.server.run("account", "removed-posts", person.library.email, "trash")
    account = person.x.world.sign_in(saved=45)
    folder = person.x.world.add_folder("Birds", account.in_order()[:3])

    person.connect()
    tab = person.sync()
    person.assert_same_library()
    tab.go(f"{X}/i/bookmarks/{folder.id}")
    wait_until(lambda: person.library.labelled("Birds") == set(folder.post_ids))
    post = person.x.world.add_post()
    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click("[data-testid=bookmark]")
    wait_until(lambda: person.library.post_ids()[:1] == [post.id])
    tab.click("[data-testid=removeBookmark]")

    wait_until(lambda: post.id not in person.library.post_ids())
    person.assert_same_library()
