"""`webhook`: what an operator does with the webhooks of an account."""

import asyncio
import base64
from pathlib import Path

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.webhooks.delivering import Delivering
from bowerbird.settings import Settings
from tests.cli.libraries import EMAIL, Library, sqlite_library

URL = "https://hooks.example.com/b"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path)
    library.run("account", "create", EMAIL)
    return library


def listed(library: Library) -> list[list[str]]:
    printed = library.run("webhook", "list", EMAIL).text
    assert "whsec_" not in printed
    return [line.split("\t") for line in printed.splitlines()]


def test_a_webhook_is_added_listed_and_removed(library: Library) -> None:
    options = ("--event", "post.created", "--event", "post.read", "--label", "Birds")
    secret = library.run("webhook", "add", EMAIL, URL, *options).text.split()[-1]

    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    [[webhook_id, state, _, events, url, problem]] = listed(library)
    assert (state, events, url, problem) == ("active", "post.created post.read", URL, "")
    removed = library.run("webhook", "remove", EMAIL, webhook_id)
    assert removed.text == f"Removed webhook {webhook_id}.\n"
    assert listed(library) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("add", EMAIL, "http://hooks.example.com"), "url: must begin with https://."),
        (("add", EMAIL, "https://127.0.0.1/"), "url: must be on the public internet."),
        (("add", EMAIL, URL, "--event", "post.eaten"), "events: no event 'post.eaten'; accepted"),
        (("add", EMAIL, URL, "--query", "x" * 1_001), "--query has more than 1,000 characters."),
        (("remove", EMAIL, "none"), "No webhook 'none' on this account."),
        (("test", EMAIL, "none"), "No webhook 'none' on this account."),
    ],
)
def test_what_is_wrong_is_said(library: Library, arguments: tuple[str, ...], problem: str) -> None:
    refused = library.run("webhook", *arguments)

    assert refused.code == 1
    assert problem in refused.text


def test_a_test_waits_for_a_worker(library: Library, tmp_path: Path) -> None:
    library.run("webhook", "add", EMAIL, URL)
    [[webhook_id, *_]] = listed(library)

    said = library.run("webhook", "test", EMAIL, webhook_id)

    assert said.text == "The test message is sent as soon as a worker runs.\n"

    async def waiting() -> int:
        settings = Settings(data_dir=tmp_path)
        async with opened_library(settings) as opened:
            account = await Accounts(opened.database, system_clock).find(EMAIL)
            delivering = Delivering(opened.database, system_clock, settings)
            found = await delivering.waiting_accounts(0)
            assert list(found) == [account.account_id]
            return len(found)

    assert asyncio.run(waiting()) == 1
