"""Emails: each is sent at most once, whatever the mail server or a worker does."""

import asyncio
from dataclasses import replace
from datetime import date
from email.message import EmailMessage
from typing import Any

import msgspec
import pytest

from bowerbird.library.digests.emails import RETRY_DELAYS, DigestEmails
from bowerbird.mail import Email
from bowerbird.model.instants import PeriodKind, period_containing
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import digesting, service
from tests.support.digesting import MONDAY, instant
from tests.support.hosts.smtp import HANG_UP, MailServer, mail_server
from tests.support.service import Member

pytestmark = pytest.mark.anyio

MINUTE = 60_000_000


async def with_pending_email(member: Member) -> None:
    """Creates the digest of the week, with an email that is due."""
    await digesting.prefer(member, "2026-07-18T12:00:00+00:00", mail=True)
    await member.save(
        bookmarked_at="2026-07-14T12:00:00+00:00", text="Blue <feathers> & *shells*", name="Ada L."
    )
    await digesting.make(member, can_mail=True)


async def state(member: Member) -> tuple[str, str | None]:
    mail = (await digesting.shown(member, format="json"))["mail"]
    return mail["state"], mail["reason"]


async def minutes_until_due(member: Member) -> int:
    """When the sweep adds a job for the account, in minutes from now."""
    sql = "SELECT due_at FROM digest_preference WHERE account_id = :account_id"
    rows = await member.database.rows(sql, {"account_id": member.account_id})
    return -(-(int(rows[0][0]) - member.clock()) // MINUTE)


def part(email: EmailMessage, kind: str) -> str:
    body = email.get_body((kind,))
    assert body is not None
    content: str = body.get_content()
    return content


async def sent_by(member: Member) -> MailServer:
    """Sends the emails of an account that are due; returns the server that received them."""
    async with mail_server() as server:
        await digesting.mail(member, server).send_due(member.account_id)
    return server


async def test_an_email_has_text_and_html_and_a_one_click_unsubscribe(alice: Member) -> None:
    await with_pending_email(alice)
    server = await sent_by(alice)

    (email,) = server.to("alice@example.com")
    assert email["Subject"] == "Your week in saved posts: 13 to 19 July 2026"
    assert email["From"] == "Bowerbird <birds@example.org>"
    assert email["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert email["Auto-Submitted"] == "auto-generated"
    assert email["List-Unsubscribe"].startswith("<https://birds.example.org/unsubscribe/")
    url = email["List-Unsubscribe"].strip("<>")
    assert "Blue <feathers> & *shells*" in part(email, "plain")
    assert "Blue &lt;feathers&gt; &amp; *shells*" in part(email, "html")
    assert f"Unsubscribe from these emails: {url}" in part(email, "plain")
    assert f'href="{url}"' in part(email, "html")
    head, _, body = server.sources[0].partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if line.startswith(b"List-Unsubscribe:")]
    assert [line.endswith(b">") and b"<https://" in line for line in lines] == [True]
    # SMTP allows no longer lines.
    assert max(map(len, body.split(b"\r\n"))) <= 998
    assert await state(alice) == ("sent", None)
    # The API never returns the link.
    assert "unsubscribe" not in str(await digesting.shown(alice))


async def test_concurrent_workers_send_one_email(opened_twice: tuple[Database, Database]) -> None:
    cast = await service.build(opened_twice[0])
    await with_pending_email(cast.alice)
    async with mail_server() as server:
        first = digesting.mail(cast.alice, server)
        second = digesting.mail(replace(cast.alice, database=opened_twice[1]), server)
        workers = [first, second, first, second]
        await asyncio.gather(*(each.send_due(cast.alice.account_id) for each in workers))
        await first.send_due(cast.alice.account_id)

    assert len(server.letters) == 1


@pytest.mark.parametrize("was_on", [False, True])
async def test_no_email_is_sent_unless_it_is_wanted(alice: Member, *, was_on: bool) -> None:
    if was_on:
        await with_pending_email(alice)
        await digesting.prefer(alice, MONDAY, mail=False)
    else:
        await alice.save(bookmarked_at="2026-07-14T12:00:00+00:00")
        await digesting.make(alice, can_mail=True)

    assert (await sent_by(alice)).letters == []
    assert await state(alice) == ("none", None)


async def test_an_unreachable_server_is_retried_with_growing_delays(alice: Member) -> None:
    await with_pending_email(alice)
    async with mail_server() as server:
        pass  # Stop the server, so that its port refuses connections.
    mail = digesting.mail(alice, server)
    waits = []
    for _ in RETRY_DELAYS:
        await mail.send_due(alice.account_id)
        assert (await state(alice))[0] == "waiting"
        waits.append(await minutes_until_due(alice))
        alice.clock.now += waits[-1] * MINUTE - 1
        await mail.send_due(alice.account_id)
        assert await minutes_until_due(alice) == 1
        alice.clock.now += 1

    await mail.send_due(alice.account_id)

    assert waits == [5, 15, 45, 120, 360, 360, 360, 360]
    last_state, reason = await state(alice)
    assert last_state == "failed"
    assert reason
    assert await minutes_until_due(alice) > 24 * 60


async def test_an_email_is_sent_when_the_server_accepts_it_again(alice: Member) -> None:
    await with_pending_email(alice)
    async with mail_server() as server:
        server.at_recipient = lambda _: "451 Come back later"
        await digesting.mail(alice, server).send_due(alice.account_id)
        assert await state(alice) == ("waiting", "451 Come back later")
    alice.clock.now += 5 * MINUTE

    async def slow(_: Email) -> None:
        alice.clock.now += 59 * MINUTE

    # The server may take almost an hour.
    mail = DigestEmails(alice.database, alice.clock, slow, "https://birds.example.org")
    await mail.send_due(alice.account_id)
    assert await state(alice) == ("sent", None)
    assert (await sent_by(alice)).letters == []


@pytest.mark.parametrize(
    ("answers", "letters", "end"),
    [
        ({"at_recipient": "550 No such bird"}, 0, ("refused", "550 No such bird")),
        # The email may have been accepted.
        ({"at_data": HANG_UP}, 1, ("unclear", None)),
    ],
)
async def test_a_rejected_email_and_one_with_an_unclear_end_are_not_sent_again(
    alice: Member, answers: dict[str, str], letters: int, end: tuple[str, str | None]
) -> None:
    await with_pending_email(alice)
    async with mail_server() as server:
        for moment, answer in answers.items():
            setattr(server, moment, lambda _, answer=answer: answer)
        await digesting.mail(alice, server).send_due(alice.account_id)
        for moment in answers:
            setattr(server, moment, lambda _: None)
        alice.clock.now += 24 * 60 * MINUTE
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert len(server.letters) == letters
    ended, reason = await state(alice)
    assert ended == end[0]
    assert reason == end[1] or end[1] is None


async def test_an_email_becomes_unclear_when_its_worker_stops_while_sending(alice: Member) -> None:
    await with_pending_email(alice)

    async def cancelled(_: Email) -> None:
        raise asyncio.CancelledError

    dying = DigestEmails(alice.database, alice.clock, cancelled, "https://birds.example.org")
    with pytest.raises(asyncio.CancelledError):
        await dying.send_due(alice.account_id)
    assert (await state(alice))[0] == "sending"
    assert await minutes_until_due(alice) == 60

    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)
        alice.clock.now += 60 * MINUTE
        await digesting.mail(alice, server).send_due(alice.account_id)
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    last_state, reason = await state(alice)
    assert last_state == "unclear"
    assert reason is not None
    assert "may have been sent" in reason
    assert await minutes_until_due(alice) > 24 * 60


async def test_an_email_that_cannot_be_rendered_stays_pending(alice: Member) -> None:
    await with_pending_email(alice)
    broken = "UPDATE content SET rendering = CAST('{' AS {bytes})"
    kind = "BLOB" if isinstance(alice.database, SqliteDatabase) else "bytea"
    await alice.database.write(lambda t: t.run(broken.replace("{bytes}", kind), {}))

    async with mail_server() as server:
        with pytest.raises(msgspec.DecodeError):
            await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    sql = "SELECT mail_state FROM digest WHERE account_id = :account_id"
    rows = await alice.database.rows(sql, {"account_id": alice.account_id})
    assert rows[0][0] == "waiting"


async def test_every_attempt_has_the_same_message_id(alice: Member) -> None:
    await with_pending_email(alice)
    headers: list[Any] = []

    async def unreachable(email: Email) -> None:
        headers.append((email.headers["Message-ID"], email.headers["List-Unsubscribe"]))
        raise OSError("gone")

    for _ in range(2):
        mail = DigestEmails(alice.database, alice.clock, unreachable, "https://birds.example.org")
        with pytest.raises(OSError, match="gone"):
            await mail.send_due(alice.account_id)
        await _send_again(alice)

    assert len(headers) == 2
    assert len(set(headers)) == 1
    assert headers[0][0].startswith("<weekly-2026-07-13.")


async def _send_again(member: Member) -> None:
    sql = "UPDATE digest SET mail_state = 'waiting' WHERE account_id = :account_id"
    await member.database.write(lambda t: t.run(sql, {"account_id": member.account_id}))


async def test_a_digest_created_by_hand_before_it_is_due_is_still_emailed(alice: Member) -> None:
    await digesting.prefer(alice, "2026-07-18T12:00:00+00:00", mail=True)
    await alice.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    alice.clock.now = instant("2026-07-20T01:00:00+00:00")
    week = period_containing(PeriodKind.WEEKLY, date(2026, 7, 14))
    assert await digesting.making(alice).create(await alice.account(), week)
    await digesting.make(alice, can_mail=True)

    assert len((await sent_by(alice)).letters) == 1


async def test_an_email_stays_pending_if_the_worker_stops_before_sending(alice: Member) -> None:
    await with_pending_email(alice)
    reached = asyncio.Event()

    async def says_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        assert (await reader.readline()).startswith(b"EHLO")
        reached.set()
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(says_nothing, "127.0.0.1", 0)
    async with silent, mail_server() as server:
        url = f"smtp://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        sending = asyncio.create_task(
            digesting.mail(alice, server, smtp_url=url).send_due(alice.account_id)
        )
        await reached.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

        assert await state(alice) == ("waiting", None)
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert len(server.to("alice@example.com")) == 1
    assert await state(alice) == ("sent", None)


async def test_an_account_without_an_address_gets_its_digest_but_no_email(alice: Member) -> None:
    await with_pending_email(alice)
    sql = "UPDATE person SET email = '' WHERE account_id = :account_id"
    await alice.database.write(lambda t: t.run(sql, {"account_id": alice.account_id}))

    assert (await sent_by(alice)).letters == []
    assert await state(alice) == ("none", "The account has no email address.")
    # A sweep does not come back to it before the next digest.
    assert await minutes_until_due(alice) > 24 * 60
