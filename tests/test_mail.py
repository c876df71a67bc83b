"""Letters reach a real mail server whole, and every failure says what became of them."""

import socket
from pathlib import Path
from typing import Any

import pytest

from bowerbird.mail import Letter, MailAway, Mailer, MailRefused, MailUnsure
from bowerbird.settings import BadSetting, Settings
from tests.support import smtp
from tests.support.smtp import MailServer, mail_server

pytestmark = pytest.mark.anyio
FROM = "Bowerbird <birds@example.com>"


def mailer(server: MailServer, login: str = "", **settings: Any) -> Mailer:
    url = server.url.replace("smtp://", f"smtp://{login}")
    return Mailer(Settings(**{"smtp_url": url, "mail_from": FROM, **settings}))


def letter(to: str = "alice@example.com", **fields: Any) -> Letter:
    return Letter(**{"to": to, "subject": "Hello", "text": "Good day.\n", **fields})


def content(part: Any) -> str:
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


async def test_a_letter_arrives_with_both_forms_and_its_own_headers() -> None:
    unsubscribe = {"List-Unsubscribe": "<https://example.com/off>", "Message-ID": "<a@b>"}
    async with mail_server() as server:
        await mailer(server).send(letter(html="<p>Good däy.</p>", headers=unsubscribe))

    (got,) = server.letters
    assert (got["From"], got["To"], got["Subject"]) == (FROM, "alice@example.com", "Hello")
    assert (got["List-Unsubscribe"], got["Message-ID"]) == ("<https://example.com/off>", "<a@b>")
    assert got["Date"].datetime.utcoffset() is not None
    assert got.get_content_type() == "multipart/alternative"
    assert content(got.get_body(("plain",))) == "Good day.\n"
    assert content(got.get_body(("html",))) == "<p>Good däy.</p>\n"


async def test_a_letter_without_html_is_plain_and_has_an_identifier_of_its_own() -> None:
    async with mail_server() as server:
        await mailer(server).send(letter(text="ünïcode\n.\nend\n"))
        await mailer(server).send(letter())

    first, second = server.letters
    assert first.get_content_type() == "text/plain"
    assert content(first) == "ünïcode\n.\nend\n"
    assert first["Message-ID"].endswith("@example.com>")
    assert first["Message-ID"] != second["Message-ID"]


async def test_no_subject_can_add_a_header() -> None:
    async with mail_server() as server:
        await mailer(server).send(letter(subject="Hi\r\nBcc: eve@example.com\n\nBody"))

    (got,) = server.letters
    assert got["Bcc"] is None
    assert got["Subject"] == "Hi Bcc: eve@example.com Body"
    assert server.recipients == ["alice@example.com"]


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({"X-Note": "a\r\nBcc: eve@example.com"}, "line break"),
        ({"X-Note": "a\x00b"}, "control character"),
        ({"X-Note\r\nBcc": "eve@example.com"}, "no header"),
        ({"Bcc": "eve@example.com"}, "letter's own"),
        ({"to": "eve@example.com"}, "letter's own"),
        ({"Content-Type": "text/html"}, "no header"),
        ({"Message-ID": "<a@b>\r\nBcc: eve@example.com"}, "line break"),
    ],
)
async def test_a_header_that_would_say_more_than_itself_is_refused(
    headers: dict[str, str], sentence: str
) -> None:
    async with mail_server() as server:
        with pytest.raises(MailRefused, match=sentence):
            await mailer(server).send(letter(headers=headers))

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
async def test_what_is_no_address_is_refused_before_anything_is_sent(to: str) -> None:
    async with mail_server() as server:
        with pytest.raises(MailRefused, match="not an address"):
            await mailer(server).send(letter(to))

    assert server.recipients == []


async def test_an_address_in_other_letters_needs_a_server_that_takes_it() -> None:
    async with mail_server(enable_SMTPUTF8=True) as able, mail_server() as unable:
        await mailer(able).send(letter("jörg@exämple.com"))
        with pytest.raises(MailRefused, match="ASCII"):
            await mailer(unable).send(letter("jörg@exämple.com"))
        await mailer(unable).send(letter("jorg@exämple.com"))

    assert able.recipients == ["jörg@xn--exmple-cua.com"]
    assert unable.recipients == ["jorg@xn--exmple-cua.com"]


@pytest.mark.parametrize("place", ["at_recipient", "at_data"])
async def test_a_server_s_no_is_told_from_its_not_now(place: str) -> None:
    async with mail_server() as server:
        setattr(server, place, lambda _: "550 No such person")
        with pytest.raises(MailRefused, match="550 No such person"):
            await mailer(server).send(letter())
        setattr(server, place, lambda _: "451 Come back later")
        with pytest.raises(MailAway, match="451 Come back later") as caught:
            await mailer(server).send(letter())

    assert not isinstance(caught.value, MailUnsure)
    assert server.letters == []


async def test_a_connection_that_breaks_after_the_letter_leaves_it_unsure() -> None:
    async with mail_server() as server:
        server.at_data = lambda _: smtp.HANG_UP
        with pytest.raises(MailUnsure):
            await mailer(server).send(letter())

    assert len(server.letters) == 1


async def test_a_server_that_is_down_is_away() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with pytest.raises(MailAway) as caught:
        await Mailer(Settings(smtp_url=f"smtp://127.0.0.1:{port}", mail_from=FROM)).send(letter())

    assert not isinstance(caught.value, MailUnsure)


async def test_without_a_server_nothing_is_sent() -> None:
    assert not Mailer(Settings()).is_ready
    with pytest.raises(MailAway, match="BOWERBIRD_SMTP_URL is empty"):
        await Mailer(Settings()).send(letter())


async def test_the_password_is_used_and_a_wrong_one_is_no_fault_of_the_letter() -> None:
    async with mail_server(password="p@ss/w:rd") as server:
        await mailer(server, "alice%40example.com:p%40ss%2Fw%3Ard@").send(letter())
        with pytest.raises(MailAway, match="535"):
            await mailer(server, "alice:wrong@").send(letter())

    assert server.logins[0] == ("alice@example.com", "p@ss/w:rd")
    assert len(server.letters) == 1


async def test_an_offered_encryption_is_used(tmp_path: Path) -> None:
    async with mail_server(tls=tmp_path) as server:
        await mailer(server).send(letter())

    assert server.was_encrypted == [True]


async def test_a_certificate_that_nobody_vouches_for_is_taken_from_this_machine_alone(
    tmp_path: Path,
) -> None:
    async with mail_server("127.0.0.2", tls=tmp_path) as server:
        with pytest.raises(MailAway, match=r"(?i)certificate"):
            await mailer(server).send(letter())

    assert server.letters == []


async def test_a_password_leaves_this_machine_only_encrypted() -> None:
    async with mail_server("127.0.0.2", password="secret") as server:
        with pytest.raises(MailAway, match=r"(?i)starttls"):
            await mailer(server, "alice:secret@").send(letter())

    assert server.logins == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"smtp_url": "http://u:hidden@example.com", "mail_from": FROM}, "SMTP_URL must be smtp:"),
        ({"smtp_url": "smtp://", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://u:hidden@host:99999", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://host/path", "mail_from": FROM}, "SMTP_URL must be"),
        ({"smtp_url": "smtp://host"}, "MAIL_FROM is empty"),
        ({"mail_from": "nobody"}, "MAIL_FROM='nobody' is not an address"),
        ({"mail_from": "a@b\r\nBcc: c@d"}, "is not an address"),
        ({"mail_from": "a..b@c"}, "is not an address"),
    ],
)
def test_a_setting_that_cannot_work_is_named_without_its_password(
    settings: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadSetting, match=sentence) as caught:
        Settings(**settings).check()  # type: ignore[arg-type] # only texts are given

    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("sender", ["a@b", FROM, "<a.b+c@d.example>", "Die Vögel <a@b.example>"])
def test_a_sender_may_have_a_name(sender: str) -> None:
    settings = Settings(smtp_url="smtps://user:pass@mail.example.com", mail_from=sender)

    settings.check()

    assert settings.mail_from == sender
