"""`bowerbird digest`."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.libraries import EMAIL, Library, Ran
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.models import MODEL_DIR
from tests.support.smtp import MailServer, mail_server

WEEK = ("--period", "weekly", "--date", "2020-01-08")


@pytest.fixture
def library(empty: Library, tmp_path: Path) -> Library:
    """With one post, saved on Wednesday 8 January 2020."""
    empty.run("account", "create", EMAIL)
    file = tmp_path / "posts.json"
    file.write_text(json.dumps([make.post(text="blue *shells*", bookmarked_at="2020-01-08")]))
    empty.run("import", EMAIL, file)
    return empty


@contextmanager
def serving_mail() -> Iterator[MailServer]:
    """A mail server on a loop of its own: a command runs a loop on this thread."""
    started, loop = threading.Event(), asyncio.new_event_loop()
    holder: list[MailServer] = []
    ended = asyncio.Event()

    async def serve() -> None:
        async with mail_server() as server:
            holder.append(server)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert started.wait(20)
    try:
        yield holder[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def mailing(library: Library, server: MailServer, *arguments: str) -> Ran:
    variables = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.org"}
    return Library({**library.environment, **variables}).run("digest", EMAIL, *arguments)


def digests(library: Library) -> list[tuple[Any, ...]]:
    return library.sql("SELECT kind, first_day, mail_state FROM digest ORDER BY kind, first_day")


def test_a_digest_is_made_and_printed_as_markdown(library: Library) -> None:
    ran = library.run("digest", EMAIL, *WEEK)

    assert ran.code == 0
    assert ran.out.startswith(
        "# Your week in bookmarks\n\n*6 to 12 January 2020*\n\nYou saved 1 post"
    )
    assert r"blue \*shells\*" in ran.out
    assert digests(library) == [("weekly", 18267, "none")]


def test_the_second_time_it_is_only_read(library: Library) -> None:
    first = library.run("digest", EMAIL, *WEEK)
    version = library.value("SELECT version FROM library")

    second = library.run("digest", EMAIL, *WEEK)

    assert second.out == first.out
    assert library.value("SELECT version FROM library") == version


def test_without_a_date_it_is_the_latest_that_is_due(library: Library) -> None:
    ran = library.run("digest", EMAIL)

    assert ran.code == 0
    assert "## Forgotten?" in ran.out or "## Worth reading" in ran.out
    assert digests(library)[0][0] == "weekly"


def test_a_day_may_be_asked_for(library: Library) -> None:
    ran = library.run("digest", EMAIL, "--period", "daily", "--date", "2020-01-08")

    assert ran.out.startswith("# Your day in bookmarks\n\n*8 January 2020*")


@in_turn(
    ("arguments", "sentence"),
    [
        (
            ("--period", "daily", "--date", "2019-01-08"),
            "There is nothing to tell of 8 January 2019.",
        ),
        (
            ("--period", "daily", "--date", "9990-01-01"),
            "1 January 9990 is not over yet in UTC.",
        ),
        (
            ("--date", "0001-01-01"),
            "--date 0001-01-01 is out of range: it must be of the years 1971 to 9990.",
        ),
        (
            ("--date", "9999-12-31"),
            "--date 9999-12-31 is out of range: it must be of the years 1971 to 9990.",
        ),
        (("--send",), "No mail server is set. Set BOWERBIRD_SMTP_URL to send mail."),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(
    library: Library, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = library.run("digest", EMAIL, *arguments)

    assert (ran.code, ran.text) == (1, f"Error: {sentence}")
    assert digests(library) == []


def test_it_chooses_by_topic_as_the_worker_does(empty: Library, tmp_path: Path) -> None:
    """Five posts about bread outdo one about telescopes, unless topics are known."""
    library = Library({**empty.environment, "BOWERBIRD_MODEL_DIR": MODEL_DIR})
    library.run("account", "create", EMAIL, "--plan", "pro")
    texts = [f"baking sourdough bread at home, loaf {number}" for number in range(6)]
    likes = {"favorite_count": 1_000}
    posts = [make.post(text=t, author=f"baker{n}", metrics=likes) for n, t in enumerate(texts)]
    posts.append(make.post(text="a telescope shows the rings of Saturn", author="stars"))
    file = tmp_path / "posts.json"
    file.write_text(json.dumps([{**post, "bookmarked_at": "2020-01-08"} for post in posts]))
    library.run("import", EMAIL, file)
    library.run("embed", EMAIL)

    ran = library.run("digest", EMAIL, "--period", "daily", "--date", "2020-01-20")

    worth_reading = ran.out.partition("## Worth reading")[2].partition("##")[0]
    assert "telescope" in worth_reading, ran.text


def test_an_unknown_address_is_told(library: Library) -> None:
    ran = library.run("digest", "nobody@example.com")

    assert ran.code == 1
    assert "No account has the address" in ran.text


def test_it_is_mailed_once(library: Library) -> None:
    with serving_mail() as server:
        first = mailing(library, server, *WEEK, "--send")
        second = mailing(library, server, *WEEK, "--send")

    assert first.code == 0
    assert first.text.endswith(f"Mailed to {EMAIL}.\n")
    assert "This account takes no letters; this one goes because you ask for it." in first.text
    assert second.code == 1
    assert "it is not sent again" in second.text
    assert server.recipients == [EMAIL]
    assert digests(library) == [("weekly", 18267, "sent")]


def test_a_letter_that_was_not_taken_is_told_and_can_be_sent_again(library: Library) -> None:
    with serving_mail() as server:
        server.at_recipient = lambda _: "550 No such bird"
        first = mailing(library, server, *WEEK, "--send")
        server.at_recipient = lambda _: None
        second = mailing(library, server, *WEEK, "--send")

    assert first.code == 1
    assert first.text.endswith(f"Not mailed to {EMAIL} (refused): 550 No such bird\n")
    assert second.code == 0
    assert server.recipients == [EMAIL]
