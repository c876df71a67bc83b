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
from tests.support.hosts.smtp import MailServer, mail_server
from tests.support.in_turn import in_turn

WEEK = ("--period", "weekly", "--date", "2020-01-08")


@pytest.fixture
def library(empty: Library, tmp_path: Path) -> Library:
    """A library with one post, saved on Wednesday 8 January 2020."""
    empty.run("account", "create", EMAIL)
    file = tmp_path / "posts.json"
    file.write_text(json.dumps([make.post(text="blue *shells*", bookmarked_at="2020-01-08")]))
    empty.run("import", EMAIL, file)
    return empty


@contextmanager
def serving_mail() -> Iterator[MailServer]:
    """A mail server in another thread, because a command runs its event loop in this one."""
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


def digest_with_mail(library: Library, server: MailServer, *arguments: str) -> Ran:
    variables = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.org"}
    return Library({**library.environment, **variables}).run("digest", EMAIL, *arguments)


def stored_digests(library: Library) -> list[tuple[Any, ...]]:
    return library.sql("SELECT kind, first_day, mail_state FROM digest ORDER BY kind, first_day")


def test_creates_a_digest_and_prints_it_as_markdown(library: Library) -> None:
    ran = library.run("digest", EMAIL, *WEEK)

    assert ran.code == 0
    assert ran.out.startswith(
        "# Your week in saved posts\n\n*6 to 12 January 2020*\n\nYou saved 1 post"
    )
    assert r"blue \*shells\*" in ran.out
    assert stored_digests(library) == [("weekly", 18267, "none")]


def test_a_second_run_prints_the_stored_digest(library: Library) -> None:
    first = library.run("digest", EMAIL, *WEEK)
    version = library.value("SELECT version FROM library")

    second = library.run("digest", EMAIL, *WEEK)

    assert second.out == first.out
    assert library.value("SELECT version FROM library") == version


def test_without_a_date_it_prints_the_latest_digest_that_is_due(library: Library) -> None:
    ran = library.run("digest", EMAIL)

    assert ran.code == 0
    assert "## Forgotten?" in ran.out or "## Worth reading" in ran.out
    assert stored_digests(library)[0][0] == "weekly"


@in_turn(
    ("arguments", "sentence"),
    [
        (
            ("--period", "daily", "--date", "2019-01-08"),
            "There is nothing to report for 8 January 2019.",
        ),
        (
            ("--period", "daily", "--date", "9990-01-01"),
            "1 January 9990 is not over yet in UTC.",
        ),
        (
            ("--date", "0001-01-01"),
            "--date 0001-01-01 is out of range. Its year must be 1971 to 9990.",
        ),
        (
            ("--date", "9999-12-31"),
            "--date 9999-12-31 is out of range. Its year must be 1971 to 9990.",
        ),
        (("--send",), "No mail server is configured. Set BOWERBIRD_SMTP_URL."),
    ],
)
def test_an_impossible_request_is_refused_with_one_sentence(
    library: Library, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = library.run("digest", EMAIL, *arguments)

    assert (ran.code, ran.text) == (1, f"Error: {sentence}")
    assert stored_digests(library) == []


def test_a_digest_is_emailed_once(library: Library) -> None:
    with serving_mail() as server:
        first = digest_with_mail(library, server, *WEEK, "--send")
        second = digest_with_mail(library, server, *WEEK, "--send")

    assert first.code == 0
    assert first.text.endswith(f"Emailed to {EMAIL}.\n")
    assert "This account has turned digest emails off." in first.text
    assert second.code == 1
    assert "A digest is emailed only once." in second.text
    assert server.recipients == [EMAIL]
    assert stored_digests(library) == [("weekly", 18267, "sent")]


def test_a_refused_email_is_reported_and_can_be_sent_again(library: Library) -> None:
    with serving_mail() as server:
        server.at_recipient = lambda _: "550 No such bird"
        first = digest_with_mail(library, server, *WEEK, "--send")
        server.at_recipient = lambda _: None
        second = digest_with_mail(library, server, *WEEK, "--send")

    assert first.code == 1
    assert first.text.endswith(f"Not emailed to {EMAIL} (refused): 550 No such bird\n")
    assert second.code == 0
    assert server.recipients == [EMAIL]
