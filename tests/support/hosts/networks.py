"""Plays Mastodon, Bluesky and X on loopback, over real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.hosts.loopback import listening, read_request

ALICE_TOKEN = "mastodon-token-of-alice"
APP_PASSWORD = "abcd-efgh-ijkl-mnop"
X_USER = "2244994945"
DID = "did:plc:alice"
FIRST_SAVED = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass
class Received:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass
class Reply:
    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


Special = Callable[[Received], "Reply | None"]


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


@dataclass
class Networks:
    """What the networks hold. Lists are in the order of saving, the latest first."""

    port: int = 0
    statuses: list[dict[str, Any]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    tweets: list[dict[str, Any]] = field(default_factory=list)
    # By name: the ids of the posts in a folder of X.
    folders: dict[str, list[str]] = field(default_factory=dict)
    mastodon_tokens: set[str] = field(default_factory=lambda: {ALICE_TOKEN})
    # Pairs of an access and a refresh token that are valid.
    sessions: dict[str, str] = field(default_factory=dict)
    x_tokens: dict[str, str] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    received: list[Received] = field(default_factory=list)
    # The first that gives a reply answers instead of the network.
    special: list[Special] = field(default_factory=list)
    issued: int = 0
    # The server waits for it before it sends a page with this number.
    held: dict[int, asyncio.Event] = field(default_factory=dict)
    # The server answers nothing before it is set.
    silent: asyncio.Event | None = None
    # By the end of a path: the seconds between the bytes of a body.
    dripping: dict[str, float] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """Under which these servers may be connected."""
        return {"sources_private_hosts": f"127.0.0.1:{self.port}", "x_api_url": self.address}

    def pause_s(self, path: str) -> float:
        return next((found for end, found in self.dripping.items() if path.endswith(end)), 0.0)

    def lists(self) -> list[Received]:
        """The requests for lists of saved posts."""
        return [
            one
            for one in self.received
            if one.path.endswith(("/bookmarks", "/app.bsky.bookmark.getBookmarks"))
        ]

    def answer_once(self, path: str, reply: Reply) -> None:
        """The next request whose path ends like this gets this reply."""

        def once(request: Received) -> Reply | None:
            if not request.path.endswith(path):
                return None
            self.special.remove(once)
            return reply

        self.special.append(once)

    def answer_always(self, path: str, reply: Reply) -> Special:
        def always(request: Received) -> Reply | None:
            return reply if request.path.endswith(path) else None

        self.special.append(always)
        return always

    def reply(self, request: Received) -> Reply:
        self.received.append(request)
        for special in list(self.special):
            if found := special(request):
                return found
        path = request.path
        if path.startswith("/api/v1/"):
            return self._mastodon(request)
        if path.startswith("/xrpc/"):
            return self._bluesky(request)
        if path.startswith("/2/"):
            return self._x(request)
        return Reply(404, b"not found", {"Content-Type": "text/plain"})

    def _mastodon(self, request: Received) -> Reply:
        if request.token not in self.mastodon_tokens:
            return json_reply({"error": "The access token is invalid"}, 401)
        if request.path == "/api/v1/accounts/verify_credentials":
            return json_reply({"id": "77", "acct": "alice", "username": "alice"})
        limit = min(int(request.query.get("limit", "20")), 40)
        start = int(request.query.get("max_id", "0"))
        found, following = self.statuses[start : start + limit], start + limit
        if following >= len(self.statuses):
            return json_reply(found)
        url = f"{self.address}/api/v1/bookmarks?limit={limit}&max_id={following}"
        return json_reply(found, Link=f'<{url}>; rel="next", <{url}>; rel="prev"')

    def new_session(self) -> dict[str, str]:
        self.issued += 1
        access, refresh = f"access-{self.issued}", f"refresh-{self.issued}"
        self.sessions[access] = refresh
        return {"did": DID, "handle": "alice.test", "accessJwt": access, "refreshJwt": refresh}

    def _bluesky(self, request: Received) -> Reply:
        method = request.path.rpartition("/")[2]
        if method.startswith("com.atproto.server."):
            return self._bluesky_session(request, method)
        if request.token not in self.sessions:
            return json_reply({"error": "ExpiredToken", "message": "expired"}, 400)
        start, limit = int(request.query.get("cursor", "0")), int(request.query["limit"])
        following = start + limit
        more = {"cursor": str(following)} if following < len(self.records) else {}
        return json_reply({"bookmarks": self.records[start:following], **more})

    def _bluesky_session(self, request: Received, method: str) -> Reply:
        if method == "com.atproto.server.createSession":
            if json.loads(request.body)["password"] != APP_PASSWORD:
                return json_reply({"error": "AuthenticationRequired"}, 401)
            return json_reply(self.new_session())
        if method == "com.atproto.server.refreshSession":
            if request.token not in self.sessions.values():
                return json_reply({"error": "ExpiredToken", "message": "revoked"}, 400)
            self.sessions.clear()
            return json_reply(self.new_session())
        self.sessions = {a: r for a, r in self.sessions.items() if r != request.token}
        return Reply(200, b"")

    def new_x_tokens(self) -> dict[str, Any]:
        self.issued += 1
        access, refresh = f"x-access-{self.issued}", f"x-refresh-{self.issued}"
        self.x_tokens = {access: refresh}
        return {
            "token_type": "bearer",
            "expires_in": 7200,
            "access_token": access,
            "refresh_token": refresh,
            "scope": "tweet.read",
        }

    def _x(self, request: Received) -> Reply:
        if request.path == "/2/oauth2/token":
            return self._granted(request.form)
        if request.path == "/2/oauth2/revoke":
            ended = request.form["token"]
            self.x_tokens = {a: r for a, r in self.x_tokens.items() if ended not in (a, r)}
            return json_reply({"revoked": True})
        if request.token not in self.x_tokens:
            return json_reply({"title": "Unauthorized"}, 401)
        if request.path == "/2/users/me":
            return json_reply({"data": {"id": X_USER, "name": "Alice", "username": "alice"}})
        if "/bookmarks/folders" in request.path:
            return self._x_folders(request.path.partition("/folders")[2].lstrip("/"))
        assert request.path == f"/2/users/{X_USER}/bookmarks", request.path
        assert request.query["max_results"] == "90"
        start = int(request.query.get("pagination_token", "0"))
        found, following = self.tweets[start : start + 90], start + 90
        meta: dict[str, Any] = {"result_count": len(found)}
        if following < len(self.tweets):
            meta["next_token"] = str(following)
        users = [{"id": "9", "name": "Bob", "username": "bob"}]
        listed = {"data": found, "includes": {"users": users}} if found else {}
        return json_reply({**listed, "meta": meta})

    def _granted(self, form: dict[str, str]) -> Reply:
        is_known = form.get("refresh_token") in self.x_tokens.values()
        if form.get("code") in self.codes:
            self.codes.remove(form["code"])
            is_known = True
        if not is_known:
            return json_reply({"error": "invalid_request"}, 400)
        return json_reply(self.new_x_tokens())

    def _x_folders(self, folder_id: str) -> Reply:
        if folder_id:
            ids = list(self.folders.values())[int(folder_id) - 500]
            return json_reply({"data": [{"id": one} for one in ids], "meta": {}})
        found = [{"id": str(n), "name": name} for n, name in enumerate(self.folders, 500)]
        return json_reply({"data": found, "meta": {"result_count": len(found)}})


def status(number: int) -> dict[str, Any]:
    """A post on Mastodon."""
    url = f"https://social.example/@bob/{100_000 + number}"
    return {
        "id": str(100_000 + number),
        "uri": f"https://social.example/users/bob/statuses/{100_000 + number}",
        "url": url,
        "created_at": "2026-01-01T10:00:00.000Z",
        "content": f"<p>Status number {number}</p>",
        "account": {
            "id": "5",
            "acct": "bob@social.example",
            "display_name": "Bob",
            "url": "https://social.example/@bob",
            "avatar": "https://social.example/bob.png",
        },
        "media_attachments": [],
    }


def record(number: int, *, is_old_shape: bool = False) -> dict[str, Any]:
    """A bookmark of Bluesky, in its present or its older shape."""
    uri = f"at://did:plc:bob/app.bsky.feed.post/3k{number:011d}"
    post = {
        "$type": "app.bsky.feed.defs#postView",
        "uri": uri,
        "cid": f"cid{number}",
        "author": {"did": "did:plc:bob", "handle": "bob.test", "displayName": "Bob"},
        "record": {
            "$type": "app.bsky.feed.post",
            "text": f"Record number {number}",
            "createdAt": "2026-01-01T10:00:00.000Z",
        },
        "indexedAt": "2026-01-01T10:00:00.000Z",
    }
    if is_old_shape:
        return post
    saved_at = FIRST_SAVED + timedelta(minutes=number)
    return {
        "subject": {"uri": uri, "cid": f"cid{number}"},
        "createdAt": f"{saved_at:%Y-%m-%dT%H:%M:%SZ}",
        "item": post,
    }


def tweet(number: int) -> dict[str, Any]:
    """A post at X."""
    return {
        "id": str(1_700_000_000_000_000_000 + number),
        "author_id": "9",
        "text": f"Tweet number {number}",
        "created_at": "2026-01-01T10:00:00.000Z",
        "public_metrics": {"like_count": 3},
    }


@asynccontextmanager
async def playing(port: int = 0) -> AsyncIterator[Networks]:
    networks = Networks()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await _answer(networks, reader, writer)

    async with listening(serve, port) as networks.port:
        yield networks


async def _answer(
    networks: Networks, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    method, target, headers, body = await read_request(reader)
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    request = Received(method, unquote(parts.path), query, headers, body)
    reply = networks.reply(request)
    if networks.silent is not None:
        await networks.silent.wait()
    number = len(networks.lists())
    if request in networks.lists() and number in networks.held:
        await networks.held[number].wait()
    lines = [f"HTTP/1.1 {reply.status} Reply", f"Content-Length: {len(reply.body)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    sent = 0
    while sent < len(reply.body) and (pause_s := networks.pause_s(request.path)):
        writer.write(reply.body[sent : sent + 1])
        await writer.drain()
        await asyncio.sleep(pause_s)
        sent += 1
    writer.write(reply.body[sent:])
    await writer.drain()
