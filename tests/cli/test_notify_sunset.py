"""`bowerbird notify-sunset`: everybody who called is told, once, whatever happens on the way."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import click
import pytest

from bowerbird.cli.notifying import ending_of, require_time
from bowerbird.model.sunsets import Ending
from bowerbird.wire.deprecation import Deprecation
from tests.cli.libraries import Library, Ran
from tests.support import smtp
from tests.support.in_turn import in_turn
from tests.support.smtp import MailServer, mail_server_beside

NOTE = "https://example.com/docs/v2"
GIVEN = ("v1", "--note", NOTE, "--sunset", "2099-12-31")
CALLERS = ("ann@example.com", "ben@example.com", "cat@example.com", "dan@example.com")
TODAY = int(time.time()) // 86_400


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server_beside() as server:
        yield server


@pytest.fixture
def library(empty: Library, server: MailServer) -> Library:
    """Four accounts that called v1 of late."""
    mail = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.com"}
    library = Library({**empty.environment, **mail})
    for email in CALLERS:
        called(library, email)
    return library


def called(library: Library, email: str, version: str = "v1", days_ago: int = 0) -> None:
    library.run("account", "create", email)
    account_id = library.value(f"SELECT account_id FROM person WHERE email = '{email}'")  # noqa: S608 - ours
    values = f"({account_id}, '{version}', {TODAY - days_ago})"
    library.sql(f"INSERT INTO version_use VALUES {values}")  # noqa: S608 - ours


def told(server: MailServer) -> Counter[str]:
    return Counter(server.recipients)


def send(library: Library, *more: str) -> Ran:
    return library.run("notify-sunset", *GIVEN, "--send", *more)


def test_a_dry_run_shows_who_would_be_told_and_sends_nothing(
    library: Library, server: MailServer
) -> None:
    ran = library.run("notify-sunset", *GIVEN)

    assert ran.code == 0
    assert sorted(line.split("\t")[1] for line in ran.out.splitlines()) == sorted(CALLERS)
    assert "4 accounts would be told. Nothing was sent: add --send." in ran.text
    assert server.letters == []
    assert library.sql("SELECT * FROM sunset_notice") == []


def test_everybody_gets_one_letter_and_a_second_run_sends_none(
    library: Library, server: MailServer
) -> None:
    first = send(library)
    second = send(library)

    assert (first.code, first.out) == (0, "told 4\n")
    assert (second.code, second.out) == (0, "told 0\n")
    assert "4 accounts had been told before." in second.text
    assert told(server) == dict.fromkeys(CALLERS, 1)


def test_the_letter_says_what_ends_when_and_what_to_do(
    library: Library, server: MailServer
) -> None:
    send(library)

    (letter,) = server.to("ann@example.com")
    text = letter.get_content()
    assert letter["Subject"] == "Version v1 of the API ends on 2099-12-31"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter["Message-ID"].startswith("<sunset-v1-")
    for part in ("version\nv1 of the API", "2099-12-31", NOTE, "/keys", "ann@example.com"):
        assert part in text.replace("\r\n", "\n"), part


def test_only_who_called_this_version_in_90_days_is_told(
    library: Library, server: MailServer
) -> None:
    called(library, "edge@example.com", days_ago=90)
    called(library, "late@example.com", days_ago=91)
    called(library, "other@example.com", version="v2")
    library.run("account", "create", "never@example.com")

    send(library)

    assert told(server) == dict.fromkeys((*CALLERS, "edge@example.com"), 1)


def test_callers_beyond_a_page_are_told_too(
    library: Library, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.storage.sunset_notices._PAGE", 1)

    send(library)

    assert told(server) == dict.fromkeys(CALLERS, 1)


def test_an_account_without_an_address_is_named(library: Library, server: MailServer) -> None:
    account_id = library.value("SELECT account_id FROM person WHERE email = 'ann@example.com'")
    library.sql("UPDATE person SET email = '' WHERE email = 'ann@example.com'")

    for ran in (library.run("notify-sunset", *GIVEN), send(library)):
        assert f"{account_id}\thas no address; tell its owner in another way" in ran.out
    assert told(server) == dict.fromkeys(CALLERS[1:], 1)


def test_a_deleted_account_gets_no_letter(library: Library, server: MailServer) -> None:
    library.run("account", "delete", "ann@example.com", "--yes")

    send(library)

    assert told(server) == dict.fromkeys(CALLERS[1:], 1)


def test_a_refusal_is_told_at_the_end_and_tried_only_when_named(
    library: Library, server: MailServer
) -> None:
    server.at_recipient = lambda to: "550 Nobody here" if to.startswith("ben") else None
    refused = send(library)
    server.at_recipient = lambda _: None
    second = send(library)
    named = send(library, "--again-to", "Ben@example.com")

    assert refused.code == 1
    assert "ben@example.com\trefused by the mail server: 550 Nobody here" in refused.out
    assert "ben@example.com\trefused before; to send once more: --again-to ben@" in second.out
    assert (second.code, named.code) == (0, 0)
    assert told(server) == dict.fromkeys(CALLERS, 1)


def test_what_cannot_be_taken_for_now_is_tried_by_the_next_run(
    library: Library, server: MailServer
) -> None:
    server.at_data = lambda to: "451 Later" if to.startswith("ben") else None
    first = send(library)
    server.at_data = lambda _: None
    second = send(library)

    assert first.code == 1
    assert "ben@example.com\tnot taken for now; the next run tries again: 451 Later" in first.out
    assert (second.code, second.out) == (0, "told 1\n")
    assert told(server) == dict.fromkeys(CALLERS, 1)


def test_a_letter_that_may_have_arrived_is_not_sent_again_by_itself(
    library: Library, server: MailServer
) -> None:
    server.at_data = lambda to: smtp.HANG_UP if to.startswith("ben") else None
    first = send(library)
    server.at_data = lambda _: None
    second = send(library)
    before = told(server)
    named = send(library, "--again-to", "ben@example.com")

    assert (first.code, second.code, named.code) == (1, 1, 0)
    assert "ben@example.com\tperhaps delivered; not sent again by itself" in first.out
    assert "ben@example.com\tperhaps told (" in second.out
    assert before == dict.fromkeys(CALLERS, 1)
    assert told(server)["ben@example.com"] == 2
    one, two = server.to("ben@example.com")
    assert one["Message-ID"] == two["Message-ID"]


def test_who_has_had_the_letter_cannot_be_named_again(library: Library, server: MailServer) -> None:
    send(library)

    ran = send(library, "--again-to", "ben@example.com")

    assert ran.code == 1
    assert "'ben@example.com' has no letter about v1 that is unsure or was refused." in ran.text
    assert told(server)["ben@example.com"] == 1


def test_a_killed_run_is_finished_by_the_next_and_nobody_is_told_twice(
    library: Library, server: MailServer
) -> None:
    started: list[Any] = []

    def killing(_: str) -> None:
        # The third letter is taken, but the sender does not live to hear of it.
        if len(server.letters) == 2:
            started[0].send_signal(signal.SIGKILL)
            started[0].wait()

    server.at_data = killing
    with library.start("notify-sunset", *GIVEN, "--send") as process:
        started.append(process)
        process.communicate()
    server.at_data = lambda _: None
    assert process.returncode == -signal.SIGKILL
    (third,) = {letter["To"] for letter in server.letters[2:]}

    ran = send(library)

    assert ran.code == 1
    assert f"{third}\tperhaps told (" in ran.out
    assert told(server) == dict.fromkeys(CALLERS, 1)


def test_two_runs_at_once_tell_nobody_twice(library: Library, server: MailServer) -> None:
    for number in range(20):
        called(library, f"more{number}@example.com")
    runs = [library.start("notify-sunset", *GIVEN, "--send") for _ in range(2)]
    for run in runs:
        _, errors = run.communicate()
        assert run.returncode in (0, 1), errors

    assert set(told(server).values()) == {1}
    assert len(told(server)) == 24


def test_a_server_that_is_down_ends_the_run_and_marks_nobody(empty: Library) -> None:
    with mail_server_beside() as server:
        pass
    mail = {"BOWERBIRD_SMTP_URL": server.url, "BOWERBIRD_MAIL_FROM": "birds@example.com"}
    library = Library({**empty.environment, **mail})
    for number in range(7):
        called(library, f"p{number}@example.com")

    ran = send(library)

    assert ran.code == 1
    assert ran.out.count("not taken for now") == 5
    assert "The mail server seems to be down; 2 accounts left untried." in ran.text
    assert library.sql("SELECT * FROM sunset_notice") == []


@in_turn(
    ("arguments", "sentence"),
    [
        (("1", "--note", NOTE, "--sunset", "2099-12-31"), "'1' is not a version such as v1."),
        (("v1", "--sunset", "2099-12-31"), "--note must be the http(s) address"),
        (("v1", "--note", "docs", "--sunset", "2099-12-31"), "--note must be the http(s) address"),
        (("v1", "--note", NOTE), "--sunset must be the day on which the version ends."),
        (("v1", "--note", NOTE, "--sunset", "2020-01-01"), "2020-01-01 is not in the future."),
        ((*GIVEN, "--send"), "BOWERBIRD_SMTP_URL is empty: there is no way to send mail."),
    ],
)
def test_what_is_missing_is_said_before_anything_is_sent(
    empty: Library, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = empty.run("notify-sunset", *arguments)

    assert ran.code == 1
    assert sentence in ran.text


def test_the_table_of_deprecations_knows_the_day_and_the_note() -> None:
    row = Deprecation(
        method="*", path="/v1", since=date(2027, 1, 1), sunset=date(2027, 12, 31), note="/docs/v2"
    )

    found = ending_of("v1", None, None, [row], "https://example.com")

    assert found == Ending("v1", date(2027, 12, 31), NOTE)
    with pytest.raises(click.ClickException, match="v1 ends on 2027-12-31"):
        ending_of("v1", None, date(2028, 1, 1), [row], "https://example.com")
    with pytest.raises(click.ClickException, match="clients are told to read https://example"):
        ending_of("v1", "https://example.com/v3", None, [row], "https://example.com")
    assert ending_of("v1", NOTE, None, [row], "https://example.com") == found
    require_time(found, date(2027, 12, 1), [row])


def test_without_a_row_the_day_is_180_days_off_when_the_first_is_told() -> None:
    ending = Ending("v1", date(2027, 12, 31), NOTE)

    require_time(ending, date(2027, 7, 4), [])
    with pytest.raises(click.ClickException, match="is 179 days off; clients are promised at"):
        require_time(ending, date(2027, 7, 5), [])
    require_time(ending, date(2027, 7, 5), [], is_begun=True)


def test_a_day_that_is_near_is_refused_before_anything_is_sent(
    library: Library, server: MailServer
) -> None:
    near = date.fromordinal(date.today().toordinal() + 100).isoformat()  # noqa: DTZ011 - a day off is none

    ran = library.run("notify-sunset", "v1", "--note", NOTE, "--sunset", near, "--send")

    assert ran.code == 1
    assert "clients are promised at least 180" in ran.text
    assert told(server) == Counter()
