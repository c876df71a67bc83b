"""Connects sources: checks the access at the network, stores it encrypted, and ends it.

Ending an access is only an attempt: the person may also remove it at the network. Mastodon ends a
token only for the app that it belongs to, and the secret of that app is not known here.
"""

import asyncio
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec
import structlog

from bowerbird.clock import Clock
from bowerbird.connections import networks
from bowerbird.connections.networks import Bluesky, Mastodon, XApi
from bowerbird.connections.records import CannotOpen, Person, SourceProblem, TokenExpired, Tokens
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.connections import connections
from bowerbird.library.connections.access import place_of, vault_of
from bowerbird.library.connections.connections import Connections
from bowerbird.library.sign_in.sessions import Attempt, AttemptKind, Attempts
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.connections import (
    HOURLY_S,
    TITLES,
    X_INTERVAL_S,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher

_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,2048}")
_CODE: Final = re.compile(r"[\x20-\x7e]{1,4096}")
_ID_BYTES: Final = 8


class BegunX(NamedTuple):
    """The URL at X, and the text for the cookie."""

    url: str
    attempt: str


class Connecting(TimedService):
    def __init__(
        self, database: Database, clock: Clock, settings: Settings, connections: Connections
    ) -> None:
        super().__init__(database, clock)
        self._settings = settings
        self._connections = connections
        self._vault = vault_of(settings)
        self._attempts = Attempts(database, clock)

    @property
    def x_return_url(self) -> str:
        """Where X sends the browser back to. The person's app at X must know it."""
        return f"{self._settings.site_origin}/sources/x/return"

    async def mastodon(self, account_id: int, server: str, token: str) -> Connection:
        origin = origin_of(server)
        tokens = Tokens(access=_plain(token, "Paste the access token."))
        async with self._asking(account_id, Network.MASTODON, origin) as fetcher:
            person = await Mastodon(fetcher, origin, self._clock).person(tokens)
        return await self._connected(account_id, Network.MASTODON, origin, person, tokens)

    async def bluesky(
        self, account_id: int, handle: str, password: str, server: str = ""
    ) -> Connection:
        origin = origin_of(server) if server.strip() else networks.BLUESKY_SERVER
        name = _plain(handle.strip().lstrip("@"), "Type your handle, such as you.bsky.social.")
        secret = _plain(password, "Paste the app password.")
        async with self._asking(account_id, Network.BLUESKY, origin) as fetcher:
            person, tokens = await Bluesky(fetcher, origin, self._clock).sign_in(name, secret)
        return await self._connected(account_id, Network.BLUESKY, origin, person, tokens)

    async def begin_x(self, account_id: int, client_id: str, client_secret: str) -> BegunX:
        """Keeps the person's app, and starts the sign-in at X."""
        tokens = Tokens(
            client_id=_plain(client_id, "Paste the client ID of your app."),
            client_secret=_plain(client_secret, "") if client_secret.strip() else "",
        )
        unfinished = self._new(account_id, Network.X, self._x_server, Person("", ""), tokens)

        before = [one for one in await self._connections.all(account_id) if _is_unfinished(one)]

        async def work(library: Writable) -> None:
            # Those that the person did not bring to an end.
            for one in before:
                await self._stores.connections.delete(library, one.connection_id)
            await self._insert(library, unfinished)

        await self._transact(account_id, work)
        return await self._begun(account_id, unfinished.connection_id, tokens)

    async def begin_x_again(self, account_id: int, connection_id: str) -> BegunX:
        connection = await self._connections.one(account_id, connection_id)
        try:
            tokens = self._vault.open(
                connection.sealed, place_of(account_id, connection.connection_id)
            )
        except CannotOpen:
            raise Refusal(
                Code.INVALID_REQUEST,
                "This server cannot read the client ID of your app any more, because its key has "
                "changed. Disconnect the source, and connect it with the client ID again.",
            ) from None
        if connection.network is not Network.X or not tokens.client_id:
            raise Refusal(Code.INVALID_REQUEST, "Only sources at X are connected this way.")
        return await self._begun(account_id, connection_id, tokens)

    async def finish_x(self, account_id: int, cookie: str, query: Mapping[str, str]) -> Connection:
        """The browser has come back from X, with the same session and attempt."""
        attempt = await self._attempts.resume(cookie, AttemptKind.SOURCE)
        is_own = attempt.account_id == account_id and hmac.compare_digest(
            attempt.state.encode(), query.get("state", "").encode(errors="replace")
        )
        if not is_own:
            raise Refusal(Code.INVALID_REQUEST, "This sign-in was started elsewhere. Start again.")
        if "error" in query:
            raise Refusal(Code.INVALID_REQUEST, "You cancelled at X, so nothing was connected.")
        code = query.get("code", "")
        if not _CODE.fullmatch(code):
            raise Refusal(Code.INVALID_REQUEST, "X sent no code. Start again.")
        connection = await self._connections.one(account_id, attempt.connection_id)
        await self._database.write(lambda later: self._attempts.spend(later, attempt), account_id)
        return await self._finished_x(account_id, connection, code, attempt.verifier)

    async def _finished_x(
        self, account_id: int, connection: Connection, code: str, verifier: str
    ) -> Connection:
        server = self._x_server
        async with self._asking(account_id, Network.X, server) as fetcher:
            client = XApi(fetcher, server, self._clock)
            stored = self._vault.open(
                connection.sealed, place_of(account_id, connection.connection_id)
            )
            tokens = await client.exchanged(stored, code, verifier, self.x_return_url)
            person = await client.person(tokens)
        _require_same(connection, person)
        return await self._connected(
            account_id, Network.X, server, person, tokens, unfinished=connection.connection_id
        )

    @property
    def _x_server(self) -> str:
        return self._settings.x_api_url.rstrip("/")

    async def _begun(self, account_id: int, connection_id: str, tokens: Tokens) -> BegunX:
        begun = await networks.begin_x(tokens, self.x_return_url, self._clock)
        attempt = Attempt(
            kind=AttemptKind.SOURCE,
            account_id=account_id,
            connection_id=connection_id,
            state=begun.state,
            verifier=begun.verifier,
        )
        return BegunX(begun.url, await self._attempts.start(attempt))

    @asynccontextmanager
    async def _asking(
        self, account_id: int, network: Network, server: str
    ) -> "AsyncIterator[Fetcher]":
        """Turns problems of the network into refusals that a person can act on."""
        try:
            async with new_fetcher(self._settings).asked_by(account_id) as fetcher:
                yield fetcher
        except SourceProblem as found:
            problem, reason = found.problem, found.reason
        except (TokenExpired, CannotOpen):
            problem, reason = Problem.REVOKED, "token"
        else:
            return
        structlog.get_logger().warning(
            "source not connected", network=network, problem=problem, reason=reason
        )
        sentence = connections.when_connecting(network, problem, server).strip()
        raise Refusal(Code.INVALID_REQUEST, sentence)

    async def _connected(
        self,
        account_id: int,
        network: Network,
        server: str,
        person: Person,
        tokens: Tokens,
        *,
        unfinished: str = "",
    ) -> Connection:
        """Stores the access: in the connection of the same account, or in a new one."""
        new = self._new(account_id, network, server, person, tokens)
        entry = activity.entry(
            self._clock, ActivityKind.SOURCE_CONNECTED, f"{TITLES[network]} {person.name}"
        )

        async def work(library: Writable) -> str:
            known = await self._stores.connections.by_user(library, network, person.source_user_id)
            target = known.connection_id if known else unfinished
            if unfinished and unfinished != target:
                await self._stores.connections.delete(library, unfinished)
            if not target:
                await self._insert(library, new)
            else:
                changed = self._changed(account_id, known, target, new, tokens)
                if not await self._stores.connections.connected(library, changed):
                    raise Refusal(Code.NOT_FOUND, "This source was disconnected meanwhile.")
            await self._stores.activity.add(library, entry)
            return target or new.connection_id

        connection_id = await self._transact(account_id, work)
        connection = await self._connections.one(account_id, connection_id)
        if connection.state is ConnectionState.ACTIVE:
            await self._connections.run_now(account_id, connection_id)
        return connection

    def _changed(
        self,
        account_id: int,
        known: Connection | None,
        connection_id: str,
        new: Connection,
        tokens: Tokens,
    ) -> Connection:
        """A source that was connected before keeps its place, its pause and its consent."""
        state = known.state if known and not _is_unfinished(known) else None
        return msgspec.structs.replace(
            new,
            connection_id=connection_id,
            sealed=self._vault.seal(tokens, place_of(account_id, connection_id)),
            state=state or new.state,
        )

    async def _insert(self, library: Writable, new: Connection) -> None:
        most = limits.CONNECTIONS_MAX
        if not await self._stores.connections.insert(library, new, most):
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The account has {most} sources, the maximum. Disconnect one first.",
            )

    def _new(
        self, account_id: int, network: Network, server: str, person: Person, tokens: Tokens
    ) -> Connection:
        connection_id, now = secrets.token_hex(_ID_BYTES), self._clock()
        state = ConnectionState.ACTIVE
        if network is Network.X:
            known = bool(person.source_user_id)
            state = ConnectionState.PRICED if known else ConnectionState.UNFINISHED
        return Connection(
            connection_id=connection_id,
            network=network,
            server=server,
            source_user_id=person.source_user_id,
            name=person.name,
            state=state,
            sealed=self._vault.seal(tokens, place_of(account_id, connection_id)),
            interval_s=X_INTERVAL_S if network is Network.X else HOURLY_S,
            next_run_at=now,
            created_at=now,
        )


def _is_unfinished(connection: Connection) -> bool:
    return connection.state is ConnectionState.UNFINISHED


def _require_same(connection: Connection, person: Person) -> None:
    """The browser may be signed in at X as somebody else."""
    if connection.source_user_id in ("", person.source_user_id):
        return
    raise Refusal(
        Code.INVALID_REQUEST,
        f"You are signed in at X as {person.name}, but this source is {connection.name}. Sign in "
        f"there as {connection.name}, or connect {person.name} separately.",
    )


def new_fetcher(settings: Settings) -> "Fetcher":
    from bowerbird.connections.fetching import Fetcher  # noqa: PLC0415 - imports httpx2

    return Fetcher.of(settings)


def _plain(text: str, sentence: str) -> str:
    """A text that can be sent in a header."""
    text = text.strip()
    if not _TOKEN.fullmatch(text):
        raise Refusal(
            Code.INVALID_REQUEST,
            sentence if not text else "It contains characters that it cannot have. Copy it again.",
        )
    return text


_LONGEST: Final = 253
_LONGEST_TEXT: Final = 500


def origin_of(text: str) -> str:
    """`https://host` out of a host, the address of a page there, or `name@host`."""
    text = text.strip()
    if "://" not in text:
        text = f"https://{text.rpartition('@')[2]}"
    try:
        parts = urlsplit(text[:_LONGEST_TEXT])
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except (ValueError, UnicodeError):
        raise _refused() from None
    is_plain = parts.scheme in ("https", "http") and "@" not in parts.netloc
    is_host = bool(host) and all(each.isalnum() or each in ".-" for each in host)
    if not (is_plain and is_host and len(host) <= _LONGEST):
        raise _refused()
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def _refused() -> Refusal:
    return Refusal(
        Code.INVALID_REQUEST, "Type the address of the server, such as mastodon.example."
    )


# The person waits for it.
_PATIENCE_S: Final = 5.0


async def revoke(
    settings: Settings,
    clock: Clock,
    account_id: int,
    removed: Connection,
    patience_s: float = _PATIENCE_S,
) -> None:
    """Ends an access. Never fails: the source is disconnected in any case."""
    if removed.network is Network.MASTODON:
        return
    place = place_of(account_id, removed.connection_id)
    client_of = XApi if removed.network is Network.X else Bluesky
    try:
        fetcher = new_fetcher(settings).asked_by(account_id)
        async with asyncio.timeout(patience_s), fetcher:
            tokens = vault_of(settings).open(removed.sealed, place)
            if tokens.access:
                await client_of(fetcher, removed.server, clock).revoke(tokens)
    except (SourceProblem, TokenExpired, CannotOpen, TimeoutError) as problem:
        structlog.get_logger().warning(
            "access not revoked", network=removed.network, cause=repr(problem)
        )
