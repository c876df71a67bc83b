"""Sends emails through the operator's mail server.

Callers must not send an email twice, so every failure says whether the server certainly did not
accept it (`MailDeferred`, `MailRefused`, `MailInterrupted`) or may have (`MailOutcomeUnknown`).
"""

import asyncio
import re
from contextlib import suppress
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, localtime, make_msgid, parseaddr
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from bowerbird.settings import PREFIX, Settings

if TYPE_CHECKING:
    from aiosmtplib.smtp import SMTP as SmtpClient  # noqa: N811 - it is a class

_TIMEOUT_S: Final = 20.0
_FIRST_PERMANENT_CODE: Final = 500
_DEFAULT_PORTS: Final = {"smtp": 587, "smtps": 465}
# Mail to this machine never crosses a network, so no certificate is required.
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# Python encodes an address that it folds, and then mail programs do not recognise the address in
# List-Unsubscribe. Lines of this length are not folded.
_MAX_LINE: Final = 900
# Not every mail server accepts bodies with more than seven bits.
_ASCII: Final = SMTP.clone(cte_type="7bit", max_line_length=_MAX_LINE)
_UTF8: Final = SMTPUTF8.clone(cte_type="7bit", max_line_length=_MAX_LINE)
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# The part before the @ may contain non-ASCII characters, but none with a meaning in SMTP.
_LOCAL_PART: Final = re.compile(r"(?!\.)(?!.*\.\.)[^\x00-\x20\x7f-\x9f@<>()\[\]\\,;:\"]+(?<!\.)")
_DOMAIN: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


class Email(Struct, frozen=True, kw_only=True):
    """One email to one recipient. `headers` are further ones of ours, such as List-Unsubscribe."""

    to: str
    subject: str
    text: str
    html: str | None = None
    headers: dict[str, str] = {}


class MailDeferred(Exception):  # noqa: N818 - SMTP's own word
    """The mail server did not accept the email now. A retry may succeed."""


class MailOutcomeUnknown(Exception):  # noqa: N818 - says what happened
    """The connection broke while the email was sent. The mail server may have accepted it."""


class MailRefused(Exception):  # noqa: N818 - says what happened
    """The mail server did not accept the email, and a retry would fail too."""


class MailInterrupted(asyncio.CancelledError):
    """The sender was stopped before it sent the email. The mail server did not accept it."""


class Mailer:
    def __init__(self, settings: Settings) -> None:
        self._url = urlsplit(settings.smtp_url)
        self._from_name, self._from_address = parseaddr(settings.mail_from)
        self._our_hostname = urlsplit(settings.site_origin).hostname or "localhost"

    @property
    def domain(self) -> str:
        """The domain of the sender, for Message-ID headers."""
        return self._from_address.rpartition("@")[2]

    @property
    def is_ready(self) -> bool:
        """Whether a mail server is configured."""
        return bool(self._url.hostname)

    async def send(self, email: Email) -> None:
        if not self.is_ready:
            raise MailDeferred(f"No mail server is configured. Set {PREFIX}SMTP_URL.")
        recipient = _recipient(email.to)
        message = self._message(email, recipient)
        client = _client(self._url, self._our_hostname)
        try:
            await self._prepare(client, recipient.addr_spec)
            await _send_data(client, message)
        finally:
            client.close()

    async def _prepare(self, client: "SmtpClient", to: str) -> None:
        """Does everything that comes before the DATA command."""
        try:
            await _connect(client)
            await self._send_envelope(client, to)
        except asyncio.CancelledError:
            raise MailInterrupted from None

    async def _send_envelope(self, client: "SmtpClient", to: str) -> None:
        import aiosmtplib as smtp  # noqa: PLC0415 - slow to import, and most installations send no email

        is_ascii = to.isascii()
        if not is_ascii and not client.supports_extension("smtputf8"):
            raise MailRefused("The mail server accepts only ASCII addresses.")
        encoding, options = ("ascii", []) if is_ascii else ("utf-8", ["SMTPUTF8"])
        try:
            await client.mail(self._from_address, options=options, encoding=encoding)
            await client.rcpt(to, encoding=encoding)
        except smtp.SMTPRecipientRefused as refused:
            raise _failure(refused.code, refused.message) from None
        except (smtp.SMTPException, OSError) as error:
            # If the server refuses our sender, a retry works once the settings are corrected.
            raise MailDeferred(_reason(error)) from None

    def _message(self, email: Email, recipient: Address) -> EmailMessage:
        message = EmailMessage(policy=_ASCII if recipient.addr_spec.isascii() else _UTF8)
        given = {name.lower() for name in email.headers}
        try:
            message["From"] = Address(self._from_name, addr_spec=self._from_address)
            message["To"] = recipient
            message["Subject"] = _CONTROLS.sub(" ", email.subject).strip()
            message["Date"] = format_datetime(localtime())
            if "message-id" not in given:
                message["Message-ID"] = make_msgid(domain=self.domain)
            for name, value in email.headers.items():
                message[name] = value
        except (ValueError, MessageError) as error:
            raise MailRefused(f"The email has an invalid header: {error}.") from None
        message.set_content(email.text)
        if email.html is not None:
            message.add_alternative(email.html, subtype="html")
        return message


def _recipient(text: str) -> Address:
    local, _, domain = text.rpartition("@")
    try:
        domain = domain if domain.isascii() else domain.encode("idna").decode("ascii")
    except UnicodeError:
        domain = ""
    if not (local.isprintable() and _LOCAL_PART.fullmatch(local) and _DOMAIN.fullmatch(domain)):
        raise MailRefused(f"{text!a} is not a valid email address.")
    return Address(username=local, domain=domain)


def _client(url: SplitResult, our_hostname: str) -> "SmtpClient":
    from aiosmtplib.smtp import SMTP as SmtpClient  # noqa: N811, PLC0415 - see `_send_envelope`

    is_tls = url.scheme == "smtps"
    is_local = url.hostname in _LOCAL_HOSTS
    # None uses STARTTLS if the server offers it. A password must not leave this machine without.
    must_start_tls = True if url.username and not is_local else None
    return SmtpClient(
        hostname=url.hostname,
        port=url.port or _DEFAULT_PORTS[url.scheme],
        username=unquote(url.username) if url.username else None,
        password=unquote(url.password) if url.password else None,
        local_hostname=our_hostname,
        timeout=_TIMEOUT_S,
        use_tls=is_tls,
        start_tls=False if is_tls else must_start_tls,
        validate_certs=not is_local,
    )


async def _connect(client: "SmtpClient") -> None:
    import aiosmtplib as smtp  # noqa: PLC0415 - see `_send_envelope`

    try:
        await client.connect()
        await client.ehlo()
    except (smtp.SMTPException, OSError) as error:
        raise MailDeferred(_reason(error)) from None


async def _send_data(client: "SmtpClient", message: EmailMessage) -> None:
    import aiosmtplib as smtp  # noqa: PLC0415 - slow to import, and most installations send no email

    try:
        await client.data(message.as_bytes())
    except smtp.SMTPDataError as refused:
        raise _failure(refused.code, refused.message) from None
    except (smtp.SMTPException, OSError) as error:
        raise MailOutcomeUnknown(_reason(error)) from None
    with suppress(smtp.SMTPException, OSError):
        await client.quit()


def _failure(code: int, message: str) -> MailDeferred | MailRefused:
    reason = f"{code} {_CONTROLS.sub(' ', message)}"
    return MailRefused(reason) if code >= _FIRST_PERMANENT_CODE else MailDeferred(reason)


def _reason(error: BaseException) -> str:
    words = " ".join(str(part) for part in error.args) or type(error).__name__
    return _CONTROLS.sub(" ", words)
