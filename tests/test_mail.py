"""Emails reach a real mail server, and every failure says whether it may have accepted them."""

import socket
from pathlib import Path
from typing import Any

import pytest

from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.settings import BadSetting, Settings
from tests.support.hosts import smtp
from tests.support.hosts.smtp import MailServer, mail_server

pytestmark = pytest.mark.anyio
FROM = "Bowerbird <birds@example.com>"


def mailer(server: MailServer, login: str = "", **settings: Any) -> Mailer:
    url = server.url.replace("smtp://", f"smtp://{login}")
    return Mailer(Settings(**{"smtp_url": url, "mail_from": FROM, **settings}))


def email(to: str = "alice@example.com", **fields: Any) -> Email:
    return Email(**{"to": to, "subject": "Hello", "text": "Good day.\n", **fields})


def content(part: Any) -> str:
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


async def test_an_email_arrives_with_text_html_and_extra_headers() -> None:
    unsubscribe = {"List-Unsubscribe": "<https://example.com/off>", "Message-ID": "<a@b>"}
    async with mail_server() as server:
        await mailer(server).send(email(html="<p>Good däy.</p>", headers=unsubscribe))

    (got,) = server.letters
    assert (got["From"], got["To"], got["Subject"]) == (FROM, "alice@example.com", "Hello")
    assert (got["List-Unsubscribe"], got["Message-ID"]) == ("<https://example.com/off>", "<a@b>")
    assert got["Date"].datetime.utcoffset() is not None
    assert got.get_content_type() == "multipart/alternative"
    assert content(got.get_body(("plain",))) == "Good day.\n"
    assert content(got.get_body(("html",))) == "<p>Good däy.</p>\n"


async def test_an_email_without_html_is_plain_text_with_a_new_message_id() -> None:
    async with mail_server() as server:
        await mailer(server).send(email(text="ünïcode\n.\nend\n"))
        await mailer(server).send(email())

    first, second = server.letters
    assert first.get_content_type() == "text/plain"
    assert content(first) == "ünïcode\n.\nend\n"
    assert first["Message-ID"].endswith("@example.com>")
    assert first["Message-ID"] != second["Message-ID"]


async def test_a_subject_cannot_add_a_header() -> None:
    async with mail_server() as server:
        await mailer(server).send(email(subject="Hi\r\nBcc: eve@example.com\n\nBody"))

    (got,) = server.letters
    assert got["Bcc"] is None
    assert got["Subject"] == "Hi Bcc: eve@example.com Body"
    assert server.recipients == ["alice@example.com"]


async def test_an_extra_header_cannot_add_another_one() -> None:
    async with mail_server() as server:
        for headers in ({"X-Note": "a\r\nBcc: eve@example.com"}, {"to": "eve@example.com"}):
            with pytest.raises(MailRefused, match="invalid header"):
                await mailer(server).send(email(headers=headers))

    assert server.letters == []


@pytest.mark.parametrize(
    "to",
    [
        "",
        "alice",
        "@example.com",
        "a@b\r\nBcc: eve@example.com",
        "a@b,eve@example.com",
        "<a@b",
        "a@b> SIZE=1",
        "a b@example.com",
        "a..b@example.com",
        "a@example.com\n",
        "al\udc80ce@example.com",
        "alice@ex\udc80mple.com",
    ],
)
async def test_an_invalid_recipient_is_refused_before_anything_is_sent(to: str) -> None:
    async with mail_server() as server:
        with pytest.raises(MailRefused, match="not a valid email address"):
            await mailer(server).send(email(to))

    assert server.recipients == []


async def test_a_non_ascii_address_needs_a_server_that_supports_it() -> None:
    async with mail_server(enable_SMTPUTF8=True) as supporting, mail_server() as other:
        await mailer(supporting).send(email("jörg@exämple.com"))
        with pytest.raises(MailRefused, match="ASCII"):
            await mailer(other).send(email("jörg@exämple.com"))
        await mailer(other).send(email("jorg@exämple.com"))

    assert supporting.recipients == ["jörg@xn--exmple-cua.com"]
    assert other.recipients == ["jorg@xn--exmple-cua.com"]


@pytest.mark.parametrize("step", ["at_recipient", "at_data"])
async def test_a_permanent_refusal_differs_from_a_temporary_one(step: str) -> None:
    async with mail_server() as server:
        setattr(server, step, lambda _: "550 No such person")
        with pytest.raises(MailRefused, match="550 No such person"):
            await mailer(server).send(email())
        setattr(server, step, lambda _: "451 Come back later")
        with pytest.raises(MailDeferred, match="451 Come back later") as caught:
            await mailer(server).send(email())

    assert not isinstance(caught.value, MailOutcomeUnknown)
    assert server.letters == []


async def test_the_outcome_is_unknown_when_the_connection_breaks_after_the_data() -> None:
    async with mail_server() as server:
        server.at_data = lambda _: smtp.HANG_UP
        with pytest.raises(MailOutcomeUnknown):
            await mailer(server).send(email())

    assert len(server.letters) == 1


async def test_an_unreachable_server_defers_the_email() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with pytest.raises(MailDeferred) as caught:
        await Mailer(Settings(smtp_url=f"smtp://127.0.0.1:{port}", mail_from=FROM)).send(email())

    assert not isinstance(caught.value, MailOutcomeUnknown)


async def test_without_a_configured_server_nothing_is_sent() -> None:
    assert not Mailer(Settings()).is_ready
    with pytest.raises(MailDeferred, match="Set BOWERBIRD_SMTP_URL"):
        await Mailer(Settings()).send(email())


async def test_logs_in_with_the_password_and_defers_the_email_if_it_is_wrong() -> None:
    async with mail_server(password="p@ss/w:rd") as server:
        await mailer(server, "alice%40example.com:p%40ss%2Fw%3Ard@").send(email())
        with pytest.raises(MailDeferred, match="535"):
            await mailer(server, "alice:wrong@").send(email())

    assert server.logins[0] == ("alice@example.com", "p@ss/w:rd")
    assert len(server.letters) == 1


async def test_uses_encryption_if_the_server_offers_it(tmp_path: Path) -> None:
    async with mail_server(tls=tmp_path) as server:
        await mailer(server).send(email())

    assert server.was_encrypted == [True]


async def test_an_untrusted_certificate_of_another_machine_is_not_accepted(
    tmp_path: Path,
) -> None:
    async with mail_server("127.0.0.2", tls=tmp_path) as server:
        with pytest.raises(MailDeferred, match=r"(?i)certificate"):
            await mailer(server).send(email())

    assert server.letters == []


async def test_a_password_is_sent_to_another_machine_only_encrypted() -> None:
    async with mail_server("127.0.0.2", password="secret") as server:
        with pytest.raises(MailDeferred, match=r"(?i)starttls"):
            await mailer(server, "alice:secret@").send(email())

    assert server.logins == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"smtp_url": "http://u:hidden@example.com", "mail_from": FROM}, "SMTP_URL must be smtp:"),
        ({"smtp_url": "smtp://", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://u:hidden@host:99999", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://host/path", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://host"}, "MAIL_FROM is empty"),
        ({"mail_from": "nobody"}, "MAIL_FROM='nobody' must look like"),
        ({"mail_from": "a@b\r\nBcc: c@d"}, "must look like"),
        ({"mail_from": "a..b@c.example"}, "must look like"),
    ],
)
def test_an_invalid_setting_is_reported_without_its_password(
    settings: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadSetting, match=sentence) as caught:
        Settings(**settings).check()  # type: ignore[arg-type] # all values are strings

    assert "hidden" not in str(caught.value)


# Hosts of an operator's own network need no dot.
@pytest.mark.parametrize(
    "sender", ["a@nas", "Birds <a@localhost>", FROM, "<a.b+c@d.example>", "Die Vögel <a@b.example>"]
)
def test_a_sender_with_a_name_is_a_valid_setting(sender: str) -> None:
    settings = Settings(smtp_url="smtps://user:pass@mail.example.com", mail_from=sender)

    settings.check()

    assert settings.mail_from == sender
