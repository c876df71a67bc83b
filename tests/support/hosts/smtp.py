"""A real mail server on loopback that stores emails, and can refuse them or disconnect."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from threading import Thread
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.support.hosts.loopback import certificate

# The reply of the mail server to an address; None accepts it.
Says = Callable[[str], str | None]
HANG_UP = "hang up"


@dataclass
class MailServer:
    """Tests read the emails from `letters`, and set `at_recipient` and `at_data` to refuse some."""

    host: str
    port: int = 0
    letters: list[EmailMessage] = field(default_factory=list)
    sources: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)
    at_recipient: Says = lambda _: None
    at_data: Says = lambda _: None
    password: str | None = None

    @property
    def url(self) -> str:
        return f"smtp://{self.host}:{self.port}"

    def to(self, address: str) -> list[EmailMessage]:
        return [letter for letter in self.letters if letter["To"] == address]

    async def handle_RCPT(  # noqa: N802 - named by aiosmtpd
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if refused := self.at_recipient(address):
            return refused
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - named by aiosmtpd
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        said = self.at_data(envelope.rcpt_tos[0])
        if said is None or said == HANG_UP:
            content = cast("bytes", envelope.content)
            self.sources.append(content)
            self.letters.append(message_from_bytes(content, policy=default))
            self.recipients += envelope.rcpt_tos
            self.was_encrypted.append(session.ssl is not None)
        if said == HANG_UP:
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
        return said or "250 Taken"

    def judge(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password.decode() == self.password, handled=False)


@asynccontextmanager
async def mail_server(
    host: str = "127.0.0.1", *, password: str | None = None, tls: Path | None = None, **given: Any
) -> AsyncIterator[MailServer]:
    """`tls` is a folder for the certificate of a server that offers STARTTLS."""
    server = MailServer(host, password=password)
    if tls is not None:
        given["tls_context"] = certificate(tls, [host])
    if password is not None:
        given |= {"authenticator": server.judge, "auth_require_tls": False}

    def connection() -> SMTP:
        return SMTP(server, hostname="mail.example.com", loop=asyncio.get_running_loop(), **given)

    listening = await asyncio.get_running_loop().create_server(connection, host, 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await listening.wait_closed()


@contextmanager
def mail_server_beside(**given: Any) -> Iterator[MailServer]:
    """Runs on a separate thread, for tests that block until a command ends."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    server = mail_server(**given)
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        closing = server.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(_ended(closing), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(closing: Awaitable[Any]) -> None:
    """Also closes the connections that killed clients left open."""
    await closing
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
