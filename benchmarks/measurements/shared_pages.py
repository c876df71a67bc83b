"""How many requests for one shared page a server answers per second of its CPU time.

`python -m benchmarks.measurements.shared_pages` fills a library, shares a label, and asks for its
page and feeds over kept connections, without and with a copy of the answer. It prints one line per
case. The client is a process of its own, so the figure is divided by the CPU time of the server.
"""

import asyncio
import json
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks import servers

_POSTS = 2_000
_CONNECTIONS = 8
_SECONDS = 5.0


async def _send(port: int, request: bytes, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.monotonic() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 304")), head
        if head.startswith(b"HTTP/1.1 200"):
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
        count += 1
    writer.close()
    return count


async def _load(port: int, request: bytes) -> int:
    until = time.monotonic() + _SECONDS
    return sum(await asyncio.gather(*(_send(port, request, until) for _ in range(_CONNECTIONS))))


def _call(port: int, path: str, key: str = "", body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers if key else {})
    with urllib.request.urlopen(request) as response:  # noqa: S310 - of this machine
        return response.read(), response.headers


def _posts() -> list[dict[str, Any]]:
    return [
        {
            "post_id": str(1_000 + number),
            "tweet_details": {
                "text": f"Post {number} about nests, walls and forty blue things. " * 4,
                "link": f"https://x.com/ada/status/{1_000 + number}",
                "posted_at": "2026-01-01T00:00:00+00:00",
            },
            "author_username": "ada",
            "author_details": {"name": "Ada"},
            "sort_index": number,
            "tags": ["birds"] if number % 4 == 0 else [],
        }
        for number in range(_POSTS)
    ]


def _run(data: Path, *words: str) -> str:
    environment = servers.environment(data)
    ran = subprocess.run(
        [*servers.command(), *words], env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        file = data / "posts.json"
        file.write_text(json.dumps(_posts()), encoding="utf-8")
        _run(data, "account", "create", "a@example.com")
        key = _run(data, "key", "create", "a@example.com").strip()
        _run(data, "import", "a@example.com", str(file))
        with servers.bowerbird(data, data / "log") as server:
            port = server.port
            body = {"label_name": "birds", "audience": "public", "name": "birds"}
            _call(port, "/v1/shares", key, body)
            for path in ("/c/birds", "/c/birds.atom", "/c/birds.json"):
                _, headers = _call(port, path)
                for name, more in (("200", ""), ("304", f"If-None-Match: {headers['ETag']}\r\n")):
                    request = (
                        f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n{more}\r\n"
                    )
                    server.wait_until_idle()
                    before = server.cpu_seconds()
                    count = asyncio.run(_load(port, request.encode()))
                    used = server.cpu_seconds() - before
                    print(f"{path} {name}: {count / used:,.0f} requests per second of CPU")


if __name__ == "__main__":
    main()
