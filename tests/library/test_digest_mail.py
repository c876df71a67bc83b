"""Letters: each at most once, whatever the mail server or a worker does."""

import asyncio
from dataclasses import replace
from datetime import date
from email.message import EmailMessage
from typing import Any

import msgspec
import pytest

from bowerbird.library.digest_mail import PAUSES, DigestMail
from bowerbird.mail import Letter
from bowerbird.model.periods import PeriodKind, containing
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite import SqliteDatabase
from tests.support import digesting, service
from tests.support.digesting import MONDAY, instant
from tests.support.service import Member
from tests.support.smtp import HANG_UP, mail_server

pytestmark = pytest.mark.anyio

MINUTE = 60_000_000


async def with_letter(member: Member) -> None:
    """A digest of the week whose letter waits to be sent."""
    await digesting.prefer(member, "2026-07-18T12:00:00+00:00", mail=True)
    await member.save(
        bookmarked_at="2026-07-14T12:00:00+00:00", text="Blue <feathers> & *shells*", name="Ada L."
    )
    await digesting.make(member, can_mail=True)


async def state(member: Member) -> tuple[str, str | None]:
    mail = (await digesting.shown(member, format="json"))["mail"]
    return mail["state"], mail["reason"]


async def next_look(member: Member) -> int:
    """When the sweep sends a worker to the account, in minutes from now."""
    sql = "SELECT due_at FROM digest_preference WHERE account_id = :account_id"
    rows = await member.database.rows(sql, {"account_id": member.account_id})
    return -(-(int(rows[0][0]) - member.clock()) // MINUTE)


def part(letter: EmailMessage, kind: str) -> str:
    body = letter.get_body((kind,))
    assert body is not None
    content: str = body.get_content()
    return content


async def test_a_letter_has_two_parts_and_one_click_to_stop_it(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    (letter,) = server.to("alice@example.com")
    assert letter["Subject"] == "Your week in bookmarks: 13 to 19 July 2026"
    assert letter["From"] == "Bowerbird <birds@example.org>"
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter["List-Unsubscribe"].startswith("<https://birds.example.org/unsubscribe/")
    url = letter["List-Unsubscribe"].strip("<>")
    assert "Blue <feathers> & *shells*" in part(letter, "plain")
    assert "Blue &lt;feathers&gt; &amp; *shells*" in part(letter, "html")
    assert f"Stop these letters: {url}" in part(letter, "plain")
    assert f'href="{url}"' in part(letter, "html")
    assert await state(alice) == ("sent", None)


async def test_the_header_to_unsubscribe_is_on_one_line_for_every_reader(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    head, _, body = server.sources[0].partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if line.startswith(b"List-Unsubscribe:")]
    assert [line.endswith(b">") and b"<https://" in line for line in lines] == [True]
    # The most that mail may have in a line.
    assert max(map(len, body.split(b"\r\n"))) <= 998


async def test_no_address_of_the_account_s_letters_is_told_by_the_api(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert "unsubscribe" not in str(await digesting.shown(alice))


async def test_a_letter_is_sent_once_by_however_many_workers(
    opened_twice: tuple[Database, Database],
) -> None:
    cast = await service.build(opened_twice[0])
    await with_letter(cast.alice)
    async with mail_server() as server:
        first = digesting.mail(cast.alice, server)
        second = digesting.mail(replace(cast.alice, database=opened_twice[1]), server)
        workers = [first, second, first, second]
        await asyncio.gather(*(each.send_due(cast.alice.account_id) for each in workers))
        await first.send_due(cast.alice.account_id)

    assert len(server.letters) == 1


async def test_nothing_is_sent_that_nobody_asked_for(alice: Member) -> None:
    await alice.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    await digesting.make(alice, can_mail=True)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    assert await state(alice) == ("none", None)


async def test_who_wants_no_letters_any_more_gets_none_that_wait(alice: Member) -> None:
    await with_letter(alice)
    await digesting.prefer(alice, MONDAY, mail=False)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    assert await state(alice) == ("none", None)


async def test_while_the_server_is_away_it_is_tried_later_and_later(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        pass  # It is gone again, and its port with it.
    mail = digesting.mail(alice, server)
    waits = []
    for _ in PAUSES:
        await mail.send_due(alice.account_id)
        assert (await state(alice))[0] == "waiting"
        waits.append(await next_look(alice))
        alice.clock.now += waits[-1] * MINUTE - 1
        await mail.send_due(alice.account_id)
        assert await next_look(alice) == 1
        alice.clock.now += 1

    await mail.send_due(alice.account_id)

    assert waits == [5, 15, 45, 120, 360, 360, 360, 360]
    ended, reason = await state(alice)
    assert ended == "failed"
    assert reason
    assert await next_look(alice) > 24 * 60


async def test_a_letter_goes_out_when_the_server_is_back(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        server.at_recipient = lambda _: "451 Come back later"
        mail = digesting.mail(alice, server)
        await mail.send_due(alice.account_id)
        assert await state(alice) == ("waiting", "451 Come back later")
        server.at_recipient = lambda _: None
        alice.clock.now += 5 * MINUTE

        await mail.send_due(alice.account_id)

    assert len(server.letters) == 1
    assert await state(alice) == ("sent", None)


async def test_a_refusal_for_good_is_not_tried_again(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        server.at_recipient = lambda _: "550 No such bird"
        await digesting.mail(alice, server).send_due(alice.account_id)
        server.at_recipient = lambda _: None
        alice.clock.now += 24 * 60 * MINUTE

        await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    assert await state(alice) == ("refused", "550 No such bird")


async def test_a_letter_that_may_have_been_taken_is_not_sent_again(alice: Member) -> None:
    await with_letter(alice)
    async with mail_server() as server:
        server.at_data = lambda _: HANG_UP
        await digesting.mail(alice, server).send_due(alice.account_id)
        server.at_data = lambda _: None
        alice.clock.now += 24 * 60 * MINUTE

        await digesting.mail(alice, server).send_due(alice.account_id)

    assert len(server.letters) == 1
    assert (await state(alice))[0] == "unclear"


async def test_a_worker_that_ends_while_it_sends_leaves_it_unclear(alice: Member) -> None:
    await with_letter(alice)
    letters: list[Letter] = []

    async def ended(letter: Letter) -> None:
        letters.append(letter)
        raise asyncio.CancelledError

    dying = DigestMail(alice.database, alice.clock, ended, "https://birds.example.org")
    with pytest.raises(asyncio.CancelledError):
        await dying.send_due(alice.account_id)
    assert (await state(alice))[0] == "sending"
    assert await next_look(alice) == 60

    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)
        alice.clock.now += 60 * MINUTE
        await digesting.mail(alice, server).send_due(alice.account_id)
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert server.letters == []
    ended_as, reason = await state(alice)
    assert ended_as == "unclear"
    assert reason is not None
    assert "may have been sent" in reason
    assert await next_look(alice) > 24 * 60


async def test_a_letter_that_cannot_be_written_was_surely_not_sent(alice: Member) -> None:
    await with_letter(alice)
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


async def test_every_try_carries_the_same_mark(alice: Member) -> None:
    await with_letter(alice)
    marks: list[Any] = []

    async def away(letter: Letter) -> None:
        marks.append((letter.headers["Message-ID"], letter.headers["List-Unsubscribe"]))
        raise OSError("gone")

    for _ in range(2):
        mail = DigestMail(alice.database, alice.clock, away, "https://birds.example.org")
        with pytest.raises(OSError, match="gone"):
            await mail.send_due(alice.account_id)
        await _send_again(alice)

    assert len(marks) == 2
    assert len(set(marks)) == 1
    assert marks[0][0].startswith("<weekly-2026-07-13.")


async def _send_again(member: Member) -> None:
    sql = "UPDATE digest SET mail_state = 'waiting' WHERE account_id = :account_id"
    await member.database.write(lambda t: t.run(sql, {"account_id": member.account_id}))


async def test_a_digest_made_by_hand_before_its_time_is_still_mailed(alice: Member) -> None:
    await digesting.prefer(alice, "2026-07-18T12:00:00+00:00", mail=True)
    await alice.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    alice.clock.now = instant("2026-07-20T01:00:00+00:00")
    week = containing(PeriodKind.WEEKLY, date(2026, 7, 14))
    assert await digesting.making(alice).make(await alice.account(), week)

    await digesting.make(alice, can_mail=True)
    async with mail_server() as server:
        await digesting.mail(alice, server).send_due(alice.account_id)

    assert len(server.letters) == 1


async def test_an_hour_is_enough_for_a_server_that_takes_its_time(alice: Member) -> None:
    await with_letter(alice)
    taken = asyncio.Event()

    async def slow(_: Letter) -> None:
        alice.clock.now += 59 * MINUTE
        taken.set()

    mail = DigestMail(alice.database, alice.clock, slow, "https://birds.example.org")
    await mail.send_due(alice.account_id)

    assert taken.is_set()
    assert (await state(alice))[0] == "sent"


async def test_a_stop_before_the_letter_is_handed_over_leaves_it_to_the_next_worker(
    alice: Member,
) -> None:
    await with_letter(alice)
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
