"""Sends letters to people through the operator's mail server.

Whoever sends must know what became of a letter, so every failure says whether it was surely not
taken (`MailAway`, `MailRefused`) or may have been (`MailUnsure`).
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

_STEP_S: Final = 20.0
_FIRST_PERMANENT: Final = 500
_PORTS: Final = {"smtp": 587, "smtps": 465}
# Mail to this machine never leaves it: no certificate has to vouch for the way.
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# Bodies in seven bits: not every server on the way takes more. Long lines: an address that is
# folded comes out encoded, and then no mail program finds it in List-Unsubscribe.
_LINE: Final = 900
_ASCII: Final = SMTP.clone(cte_type="7bit", max_line_length=_LINE)
_UTF8: Final = SMTPUTF8.clone(cte_type="7bit", max_line_length=_LINE)
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Letters beyond ASCII may stand in the part before the @; what has a meaning in mail may not.
_LOCAL: Final = re.compile(r"(?!\.)(?!.*\.\.)[^\x00-\x20\x7f-\x9f@<>()\[\]\\,;:\"]+(?<!\.)")
_DOMAIN: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")
_OURS: Final = frozenset({"from", "to", "cc", "bcc", "sender", "subject", "date", "mime-version"})


class Email(Struct, frozen=True, kw_only=True):
    """One letter to one person. `headers` may hold List-Unsubscribe, Message-ID and the like."""

    to: str
    subject: str
    text: str
    html: str | None = None
    headers: dict[str, str] = {}


class MailAway(Exception):  # noqa: N818 - named for what is the case
    """The letter was not taken, and a later try may succeed."""


class MailUnsure(MailAway):
    """The connection broke after the letter was handed over: it may have been taken."""


class MailRefused(Exception):  # noqa: N818 - named for what is the case
    """The letter was not taken, and will not be."""


class MailInterrupted(asyncio.CancelledError):
    """Whoever sends was stopped before the letter was handed over: it was surely not taken."""


class Mailer:
    def __init__(self, settings: Settings) -> None:
        self._url = urlsplit(settings.smtp_url)
        self._from_name, self._from_address = parseaddr(settings.mail_from)
        self._our_name = urlsplit(settings.site_origin).hostname or "localhost"

    @property
    def domain(self) -> str:
        """The sender's, for identifiers of letters."""
        return self._from_address.rpartition("@")[2]

    @property
    def is_ready(self) -> bool:
        """Whether a mail server is set at all."""
        return bool(self._url.hostname)

    async def send(self, letter: Email) -> None:
        if not self.is_ready:
            raise MailAway(f"No mail server is set: {PREFIX}SMTP_URL is empty.")
        recipient = _recipient(letter.to)
        message = self._message(letter, recipient)
        client = _client(self._url, self._our_name)
        try:
            await self._announce(client, recipient.addr_spec)
            await _hand_over(client, message)
        finally:
            client.close()

    async def _announce(self, client: "SmtpClient", to: str) -> None:
        """All that comes before the letter itself."""
        try:
            await _connect(client)
            await self._address(client, to)
        except asyncio.CancelledError:
            raise MailInterrupted from None

    async def _address(self, client: "SmtpClient", to: str) -> None:
        import aiosmtplib as smtp  # noqa: PLC0415 - a start without mail shall not load it

        is_ascii = to.isascii()
        if not is_ascii and not client.supports_extension("smtputf8"):
            raise MailRefused("The mail server takes only addresses in ASCII letters.")
        encoding, options = ("ascii", []) if is_ascii else ("utf-8", ["SMTPUTF8"])
        try:
            await client.mail(self._from_address, options=options, encoding=encoding)
            await client.rcpt(to, encoding=encoding)
        except smtp.SMTPRecipientRefused as refused:
            raise _judged(refused.code, refused.message) from None
        except (smtp.SMTPException, OSError) as error:
            # A refused sender is the settings' fault, not the letter's.
            raise MailAway(_shown(error)) from None

    def _message(self, letter: Email, recipient: Address) -> EmailMessage:
        message = EmailMessage(policy=_ASCII if recipient.addr_spec.isascii() else _UTF8)
        given = {name.lower() for name in letter.headers}
        try:
            message["From"] = Address(self._from_name, addr_spec=self._from_address)
            message["To"] = recipient
            message["Subject"] = _CONTROLS.sub(" ", letter.subject).strip()
            message["Date"] = format_datetime(localtime())
            if "message-id" not in given:
                message["Message-ID"] = make_msgid(domain=self.domain)
            for name, value in letter.headers.items():
                _require_header(name, value)
                message[name] = value
        except (ValueError, MessageError) as error:
            raise MailRefused(f"The letter cannot be written: {error}.") from None
        message.set_content(letter.text)
        if letter.html is not None:
            message.add_alternative(letter.html, subtype="html")
        return message


def _require_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name) or name.lower().startswith("content-"):
        raise MailRefused(f"A letter has no header {name!r}.")
    if name.lower() in _OURS:
        raise MailRefused(f"The header {name} is the letter's own.")
    if _CONTROLS.search(value):
        raise MailRefused(f"The header {name} holds a line break or another control character.")


def _recipient(text: str) -> Address:
    local, _, domain = text.rpartition("@")
    try:
        domain = domain if domain.isascii() else domain.encode("idna").decode("ascii")
    except UnicodeError:
        domain = ""
    if not (local.isprintable() and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain)):
        raise MailRefused(f"{text!a} is not an address that mail can be sent to.")
    return Address(username=local, domain=domain)


def _client(url: SplitResult, our_name: str) -> "SmtpClient":
    from aiosmtplib.smtp import SMTP as SmtpClient  # noqa: N811, PLC0415 - see _hand_over

    is_tls = url.scheme == "smtps"
    is_here = url.hostname in _HERE
    # None takes STARTTLS where it is offered; a password leaves this machine only behind it.
    must_start_tls = True if url.username and not is_here else None
    return SmtpClient(
        hostname=url.hostname,
        port=url.port or _PORTS[url.scheme],
        username=unquote(url.username) if url.username else None,
        password=unquote(url.password) if url.password else None,
        local_hostname=our_name,
        timeout=_STEP_S,
        use_tls=is_tls,
        start_tls=False if is_tls else must_start_tls,
        validate_certs=not is_here,
    )


async def _connect(client: "SmtpClient") -> None:
    import aiosmtplib as smtp  # noqa: PLC0415 - see _hand_over

    try:
        await client.connect()
        await client.ehlo()
    except (smtp.SMTPException, OSError) as error:
        raise MailAway(_shown(error)) from None


async def _hand_over(client: "SmtpClient", message: EmailMessage) -> None:
    import aiosmtplib as smtp  # noqa: PLC0415 - a start without mail shall not load it

    try:
        await client.data(message.as_bytes())
    except smtp.SMTPDataError as refused:
        raise _judged(refused.code, refused.message) from None
    except (smtp.SMTPException, OSError) as error:
        raise MailUnsure(_shown(error)) from None
    with suppress(smtp.SMTPException, OSError):
        await client.quit()


def _judged(code: int, message: str) -> MailAway | MailRefused:
    sentence = f"{code} {_CONTROLS.sub(' ', message)}"
    return MailRefused(sentence) if code >= _FIRST_PERMANENT else MailAway(sentence)


def _shown(error: BaseException) -> str:
    words = " ".join(str(part) for part in error.args) or type(error).__name__
    return _CONTROLS.sub(" ", words)
