"""`bowerbird notify-sunset`: emails every recent caller once, whatever fails."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import click
import pytest

from bowerbird.cli.commands.sunset import ending_of, require_enough_notice
from bowerbird.model.accounts import VersionSunset
from bowerbird.wire.deprecation import Deprecation
from tests.cli.libraries import Library, Ran
from tests.support.hosts import smtp
from tests.support.hosts.smtp import MailServer, mail_server_beside
from tests.support.in_turn import in_turn
from tests.support.waiting import wait_until

NOTE = "https://example.com/docs/v2"
GIVEN = ("v1", "--note", NOTE, "--sunset", "2099-12-31")
SOON = date.fromordinal(date.today().toordinal() + 100).isoformat()  # noqa: DTZ011 - one day more or less does not matter
CALLERS = ("ann@example.com", "ben@example.com", "cat@example.com", "dan@example.com")


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server_beside() as server:
        yield server


@pytest.fixture
def library(empty: Library, server: MailServer) -> Library:
    """A library with four accounts that called v1 recently."""
    mail = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.com"}
    library = Library({**empty.environment, **mail})
    for email in CALLERS:
        add_call(library, email)
    return library


def add_call(library: Library, email: str, version: str = "v1", days_ago: int = 0) -> None:
    library.run("account", "create", email)
    account_id = library.value(f"SELECT account_id FROM person WHERE email = '{email}'")  # noqa: S608 - ours
    # Not the day on which the tests started, which may have ended.
    today = int(time.time()) // 86_400
    values = f"({account_id}, '{version}', {today - days_ago})"
    library.sql(f"INSERT INTO version_use VALUES {values}")  # noqa: S608 - ours


def emails_sent(server: MailServer) -> Counter[str]:
    return Counter(server.recipients)


def send(library: Library, *more: str) -> Ran:
    return library.run("notify-sunset", *GIVEN, "--send", *more)


def test_a_dry_run_lists_recipients_and_sends_nothing(library: Library, server: MailServer) -> None:
    ran = library.run("notify-sunset", *GIVEN)

    assert ran.code == 0
    assert sorted(line.split("\t")[1] for line in ran.out.splitlines()) == sorted(CALLERS)
    assert "Would email 4 accounts. Nothing was sent; to send, add --send." in ran.text
    assert server.letters == []
    assert library.sql("SELECT * FROM sunset_notice") == []


def test_every_caller_gets_one_email_in_two_runs(library: Library, server: MailServer) -> None:
    first = send(library)
    second = send(library)

    assert (first.code, first.out) == (0, "sent 4\n")
    assert (second.code, second.out) == (0, "sent 0\n")
    assert "An earlier run emailed 4 accounts." in second.text
    assert emails_sent(server) == dict.fromkeys(CALLERS, 1)


def test_the_email_says_what_ends_when_and_what_to_do(library: Library, server: MailServer) -> None:
    send(library)

    (email,) = server.to("ann@example.com")
    text = email.get_content()
    assert email["Subject"] == "Version v1 of the API ends on 2099-12-31"
    assert email["Auto-Submitted"] == "auto-generated"
    assert email["Message-ID"].startswith("<sunset-v1-")
    for part in ("version\nv1 of the API", "2099-12-31", NOTE, "/keys", "ann@example.com"):
        assert part in text.replace("\r\n", "\n"), part


def test_only_accounts_that_called_this_version_in_90_days_are_emailed(
    library: Library, server: MailServer
) -> None:
    add_call(library, "edge@example.com", days_ago=90)
    add_call(library, "late@example.com", days_ago=91)
    add_call(library, "other@example.com", version="v2")
    library.run("account", "create", "never@example.com")

    send(library)

    assert emails_sent(server) == dict.fromkeys((*CALLERS, "edge@example.com"), 1)


def test_callers_beyond_the_first_page_get_an_email_too(
    library: Library, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.storage.accounts.credentials._PAGE", 1)

    send(library)

    assert emails_sent(server) == dict.fromkeys(CALLERS, 1)


def test_accounts_without_an_email_address_are_listed(library: Library, server: MailServer) -> None:
    account_id = library.value("SELECT account_id FROM person WHERE email = 'ann@example.com'")
    library.sql("UPDATE person SET email = '' WHERE email = 'ann@example.com'")

    for ran in (library.run("notify-sunset", *GIVEN), send(library)):
        assert f"{account_id}\thas no email address; contact its owner another way" in ran.out
    assert emails_sent(server) == dict.fromkeys(CALLERS[1:], 1)


def test_a_refused_email_is_reported_and_sent_again_only_on_request(
    library: Library, server: MailServer
) -> None:
    server.at_recipient = lambda to: "550 Nobody here" if to.startswith("ben") else None
    refused = send(library)
    server.at_recipient = lambda _: None
    second = send(library)
    resent = send(library, "--resend-to", "Ben@example.com")

    assert refused.code == 1
    assert "ben@example.com\trefused by the mail server: 550 Nobody here" in refused.out
    assert (
        "ben@example.com\trefused by the mail server in an earlier run; "
        "to send again: --resend-to ben@example.com" in second.out
    )
    assert (second.code, resent.code) == (0, 0)
    assert emails_sent(server) == dict.fromkeys(CALLERS, 1)


def test_the_next_run_retries_a_temporary_failure(library: Library, server: MailServer) -> None:
    server.at_data = lambda to: "451 Later" if to.startswith("ben") else None
    first = send(library)
    server.at_data = lambda _: None
    second = send(library)

    assert first.code == 1
    assert "ben@example.com\tnot accepted now; the next run retries: 451 Later" in first.out
    assert (second.code, second.out) == (0, "sent 1\n")
    assert emails_sent(server) == dict.fromkeys(CALLERS, 1)


def test_an_email_that_may_have_arrived_is_sent_again_only_on_request(
    library: Library, server: MailServer
) -> None:
    server.at_data = lambda to: smtp.HANG_UP if to.startswith("ben") else None
    first = send(library)
    server.at_data = lambda _: None
    second = send(library)
    before = emails_sent(server)
    resent = send(library, "--again-to", "ben@example.com")

    assert (first.code, second.code, resent.code) == (1, 1, 0)
    assert "ben@example.com\tmay have been delivered; not sent again automatically" in first.out
    assert "ben@example.com\tmay have been delivered (" in second.out
    assert before == dict.fromkeys(CALLERS, 1)
    assert emails_sent(server)["ben@example.com"] == 2
    one, two = server.to("ben@example.com")
    assert one["Message-ID"] == two["Message-ID"]


def test_the_next_run_finishes_a_killed_one_and_sends_nothing_twice(
    library: Library, server: MailServer
) -> None:
    started: list[Any] = []

    def kill_the_sender(_: str) -> None:
        # The server accepts the third email, but the sender is killed before it knows.
        if len(server.letters) == 2:
            started[0].send_signal(signal.SIGKILL)
            started[0].wait()

    server.at_data = kill_the_sender
    with library.start("notify-sunset", *GIVEN, "--send") as process:
        started.append(process)
        process.communicate()
    server.at_data = lambda _: None
    assert process.returncode == -signal.SIGKILL
    # The server notes the third email after the sender is gone.
    wait_until(lambda: len(server.letters) == 3)
    (third,) = {email["To"] for email in server.letters[2:]}

    ran = send(library)

    assert ran.code == 1
    assert f"{third}\tmay have been delivered (" in ran.out
    assert emails_sent(server) == dict.fromkeys(CALLERS, 1)


def test_two_concurrent_runs_send_nothing_twice(library: Library, server: MailServer) -> None:
    for number in range(20):
        add_call(library, f"more{number}@example.com")
    runs = [library.start("notify-sunset", *GIVEN, "--send") for _ in range(2)]
    for run in runs:
        _, errors = run.communicate()
        assert run.returncode in (0, 1), errors

    assert set(emails_sent(server).values()) == {1}
    assert len(emails_sent(server)) == 24


def test_an_unreachable_mail_server_ends_the_run_and_marks_no_account(empty: Library) -> None:
    with mail_server_beside() as server:
        pass
    mail = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.com"}
    library = Library({**empty.environment, **mail})
    for number in range(7):
        add_call(library, f"p{number}@example.com")

    ran = send(library)

    assert ran.code == 1
    assert ran.out.count("not accepted now") == 5
    assert "The mail server seems to be down. Did not try 2 accounts." in ran.text
    assert library.sql("SELECT * FROM sunset_notice") == []


@in_turn(
    ("arguments", "sentence"),
    [
        (
            ("1", "--note", NOTE, "--sunset", "2099-12-31"),
            "'1' is not a version. Write it like v1.",
        ),
        (("v1", "--sunset", "2099-12-31"), "--note is required: the http(s) address"),
        (
            ("v1", "--note", "docs", "--sunset", "2099-12-31"),
            "--note is required: the http(s) address",
        ),
        (("v1", "--note", NOTE), "--sunset is required: the day the version ends."),
        (("v1", "--note", NOTE, "--sunset", "2020-01-01"), "2020-01-01 is not in the future."),
        (("v1", "--note", NOTE, "--sunset", SOON), "at least 180 days' notice."),
        ((*GIVEN, "--send"), "No mail server is configured. Set BOWERBIRD_SMTP_URL."),
    ],
)
def test_an_invalid_argument_is_reported_before_anything_is_sent(
    empty: Library, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = empty.run("notify-sunset", *arguments)

    assert ran.code == 1
    assert sentence in ran.text


def test_day_and_note_come_from_the_deprecation_table() -> None:
    row = Deprecation(
        method="*", path="/v1", since=date(2027, 1, 1), sunset=date(2027, 12, 31), note="/docs/v2"
    )

    found = ending_of("v1", None, None, [row], "https://example.com")

    assert found == VersionSunset("v1", date(2027, 12, 31), NOTE)
    with pytest.raises(
        click.ClickException, match="2028-01-01 contradicts the API, which announces 2027-12-31"
    ):
        ending_of("v1", None, date(2028, 1, 1), [row], "https://example.com")
    with pytest.raises(
        click.ClickException, match="v3 contradicts the API, which announces https://example"
    ):
        ending_of("v1", "https://example.com/v3", None, [row], "https://example.com")
    assert ending_of("v1", NOTE, None, [row], "https://example.com") == found
    require_enough_notice(found, date(2027, 12, 1), [row])


def test_without_a_deprecation_the_first_run_needs_180_days_notice() -> None:
    ending = VersionSunset("v1", date(2027, 12, 31), NOTE)

    require_enough_notice(ending, date(2027, 7, 4), [])
    with pytest.raises(
        click.ClickException, match=r"is in 179 days\. Clients must get at least 180"
    ):
        require_enough_notice(ending, date(2027, 7, 5), [])
    require_enough_notice(ending, date(2027, 7, 5), [], has_started=True)
