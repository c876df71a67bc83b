"""A real server with libraries, and the way to it, which records requests and can be cut."""

import asyncio
import gzip
import itertools
import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import zstandard

from tests.extension import loopback
from tests.extension.loopback import Loopback, Request
from tests.extension.patience import PATIENCE_S, wait_until
from tests.support import serving
from tests.support.serving import Server
from tests.support.visiting import form_token

Json = dict[str, Any]


class Refusal(NamedTuple):
    """An answer of the server that says no."""

    path: str
    status: int
    code: str = ""
    # As another server would say it.
    body: str = ""

    def answer(self) -> bytes:
        said = {"status": False, "code": self.code, "error": f"The test says {self.status}."}
        body = self.body or json.dumps(said)
        kind = "Access-Control-Allow-Origin: *\r\nContent-Type: application/json\r\n"
        head = f"HTTP/1.1 {self.status} Refused\r\nContent-Length: {len(body)}\r\n{kind}\r\n"
        return (head + body).encode()


@dataclass
class Way:
    """The only address of the server that a browser knows."""

    servers: Loopback
    target_port: int = 0
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    # Answers with this status instead of asking the server.
    failing_with: int = 0
    # So many answers to POST get lost after the server has done its work.
    answers_to_lose: int = 0
    # Each is the answer to one POST to its path.
    refusals: list[Refusal] = field(default_factory=list)
    # Keeps the requests of these paths without an answer.
    hanging: str = ""
    _is_open: bool = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        if not self._is_open:
            self.port = self.servers.listen(self._serve, port=self.port)
            self._is_open = True

    def cut(self) -> None:
        """The server cannot be reached until `open`."""
        if self._is_open:
            self.servers.stop_listening(self.port)
        self._is_open = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        answers = asyncio.ensure_future(self._pass_answers(inner_reader, writer))
        try:
            while True:
                request = await loopback.read_request(reader)
                self.requests.append(request)
                # Not an event: the test that ends it runs in another thread.
                while self._hangs(request):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                if refused := self._refusal_of(request):
                    self.refusals.remove(refused)
                    writer.write(refused.answer())
                elif self.failing_with:
                    cors = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
                    head = f"HTTP/1.1 {self.failing_with} Failed\r\nContent-Length: 0\r\n{cors}\r\n"
                    writer.write(head.encode())
                else:
                    inner_writer.write(request.raw)
        finally:
            inner_writer.close()
            answers.cancel()

    def _hangs(self, request: Request) -> bool:
        return bool(self.hanging) and re.fullmatch(self.hanging, request.url.path) is not None

    def _refusal_of(self, request: Request) -> Refusal | None:
        if request.method != "POST":
            return None
        fitting = (one for one in self.refusals if re.fullmatch(one.path, request.url.path))
        return next(fitting, None)

    async def _pass_answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while part := await reader.read(1 << 16):
            if self.answers_to_lose and self.requests[-1].method == "POST":
                self.answers_to_lose -= 1
                writer.transport.abort()
                return
            writer.write(part)
        writer.close()

    def sent_to(self, path: str, since: int = 0) -> list[Request]:
        """The requests of a path, without those that only ask whether another is allowed."""
        return [
            one
            for one in self.requests[since:]
            if re.fullmatch(path, one.url.path) and one.method != "OPTIONS"
        ]


def body_of(request: Request) -> bytes:
    encoding = request.headers.get("content-encoding", "")
    if encoding == "gzip":
        return gzip.decompress(request.body)
    if encoding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(request.body)
    assert encoding == ""
    return request.body


@dataclass
class Library:
    """One account of the server."""

    server: Server
    way: Way
    email: str
    key: str

    def get(self, path: str, **params: Any) -> Any:
        response = self.server.get(path, self.key, **params)
        assert response.status_code == 200, response.text
        return response.json()

    def posts(self) -> list[Json]:
        """All posts, in the order of the list."""
        found: list[Json] = []
        cursor: str | None = None
        while True:
            params = {"limit": 100} | ({"cursor": cursor} if cursor else {})
            page = self.get("/v1/bookmarks", **params)
            found += page["data"]
            cursor = page["meta"].get("next_cursor")
            if not cursor:
                return found

    def post_ids(self) -> list[str]:
        return [post["post_id"] for post in self.posts()]

    def wait_for(self, post_ids: list[str], patience_s: float = PATIENCE_S) -> None:
        """Waits until the library has exactly these posts in this order."""
        wait_until(lambda: self._count() == len(post_ids), patience_s)
        wait_until(lambda: self.post_ids() == post_ids, patience_s)

    def labelled(self, label: str) -> set[str]:
        return {post["post_id"] for post in self.posts() if label in (post["tags"] or [])}

    def _count(self) -> int:
        count: int = self.get("/ingest/v1/status")["data"]["totals"]["posts"]
        return count

    def ends(self) -> list[tuple[str, str]]:
        """The kind of each run that a device ended, and the reason it gave."""
        found = []
        for request in self.way.sent_to(r"/ingest/v1/runs/[^/]+/finish"):
            run_id = request.url.path.split("/")[-2]
            kind = self.get(f"/ingest/v1/runs/{run_id}")["data"]["kind"]
            found.append((kind, json.loads(body_of(request))["reason"]))
        return found

    def ends_of_syncs(self) -> list[tuple[str, str]]:
        """`ends` without visits: a page that X still showed before the sync may end after it."""
        return [end for end in self.ends() if end[0] != "visit"]

    def pages(self, since: int = 0) -> list[Json]:
        """The pages that devices sent."""
        return self._bodies(r"/ingest/v1/runs/[^/]+/pages", since)

    def events(self, since: int = 0) -> list[Json]:
        """The events that devices sent."""
        return [event for events in self._bodies("/ingest/v1/events", since) for event in events]

    def moments(self, since: int = 0) -> list[str]:
        """When the pages and events were captured, in the order in which they were sent."""
        bodies = self._bodies(r"/ingest/v1/(events|runs/[^/]+/pages)", since)
        return [body["captured_at"] if isinstance(body, dict) else body[0]["at"] for body in bodies]

    def _bodies(self, path: str, since: int) -> list[Any]:
        return [json.loads(body_of(request)) for request in self.way.sent_to(path, since)]

    def connect_line(self) -> str:
        """The line that the site shows to a signed-in person, for the extension."""
        printed = self.server.run("account", "link", self.email)
        [token] = re.findall(r"/link#(\S+)", printed)
        address = f"http://127.0.0.1:{self.server.port}"
        with httpx.Client(
            base_url=address,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            trust_env=False,
            headers={"Host": f"127.0.0.1:{self.way.port}", "Origin": self.way.address},
            timeout=PATIENCE_S,
        ) as person:
            person.post(
                "/link", data={"csrf": form_token(person.get("/link").text), "token": token}
            )
            csrf = form_token(person.get("/connect").text)
            shown = person.post("/connect", data={"csrf": csrf}).text
        [line, *_] = re.findall(re.escape(self.way.address) + r"/#[0-9A-Z]{4}-[0-9A-Z]{4}", shown)
        return str(line)

    def device_ids(self) -> list[str]:
        listed = self.server.run("device", "list", self.email)
        rows = [line.split() for line in listed.splitlines()]
        return [row[0] for row in rows if row[1:2] == ["live"]]


@dataclass
class Libraries:
    server: Server
    way: Way
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new(self) -> Library:
        """An account that no test has used."""
        # Ends what a browser still sends for the account before.
        self.way.cut()
        self.way.open()
        self.way.failing_with = 0
        self.way.answers_to_lose = 0
        self.way.refusals.clear()
        self.way.hanging = ""
        self.way.requests.clear()
        email = f"you{next(self._numbers)}@example.com"
        self.server.run("account", "create", email)
        key = self.server.run("key", "create", email).splitlines()[-1]
        return Library(self.server, self.way, email, key)


@contextmanager
def libraries(folder: Path, **settings: Any) -> Iterator[Libraries]:
    with Loopback() as servers:
        way = Way(servers)
        way.open()
        addresses = {"base_url": way.address, "site_url": way.address}
        with serving.serving(folder, **{**addresses, **settings}) as server:
            way.target_port = server.port
            yield Libraries(server, way)
