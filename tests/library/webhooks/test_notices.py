"""An email says that a webhook was turned off, if the server sends email."""

from pathlib import Path

import pytest

from tests.support.hosts import smtp
from tests.support.hosts.hooks import Post, Receiver
from tests.support.service import Service

pytestmark = pytest.mark.anyio


def mailing(served: Service, receiver: Receiver, folder: Path, url: str) -> Post:
    more = {"smtp_url": url, "mail_from": "bowerbird@example.com"}
    return Post(served.alice, receiver, folder, more)


@pytest.mark.both
async def test_an_email_says_that_a_webhook_was_turned_off_and_why(
    served: Service, receiver: Receiver, tmp_path: Path
) -> None:
    async with smtp.mail_server() as mail:
        post = mailing(served, receiver, tmp_path, mail.url)
        await post.add("/secret-path")
        receiver.answer("410 Gone", path="/secret-path")
        await post.member.save()
        await post.deliver()
        assert await post.delivering.due_accounts(0) == []
        await post.deliver()

    [letter] = mail.to("alice@example.com")
    assert letter["Subject"] == f"The webhook to {receiver.host} was turned off"
    text = letter.get_content()
    assert "The answer was 410." in text
    assert "http://localhost:8080/webhooks" in text
    # The path may be a password of the receiver.
    assert "secret-path" not in text


async def test_an_email_that_the_server_does_not_take_now_is_sent_later(
    served: Service, receiver: Receiver, tmp_path: Path
) -> None:
    async with smtp.mail_server() as mail:
        mail.at_recipient = lambda _: "451 try later"
        post = mailing(served, receiver, tmp_path, mail.url)
        await post.add()
        receiver.answer("410 Gone")
        await post.member.save()
        await post.deliver()
        assert mail.letters == []
        post.wait(3_600)
        mail.at_recipient = lambda _: None
        assert list(await post.delivering.due_accounts(0)) == [post.member.account_id]
        await post.deliver()
        assert await post.delivering.due_accounts(0) == []

    assert len(mail.letters) == 1
