"""Measures changes of one post in larger and larger accounts, and the list after a change.

Every change is undone, so that the library stays the same for the next run.
"""

import secrets
import statistics
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from rich.progress import track

from benchmarks import growing_library, servers
from benchmarks.figures import Row, Times
from benchmarks.loads import daily_bounds, load
from benchmarks.loads.client import Client
from benchmarks.measurements.growth import growing_row
from benchmarks.options import Options
from benchmarks.servers import Server

_PAGE: Final = "/v1/bookmarks?limit=100"
_POSTS: Final = 30
_LABEL: Final = "written by a benchmark"
_READ, _UNREAD = {"is_read": True}, {"is_read": False}
_LABELLED: Final = {"label_name": _LABEL}


class _Account:
    """An account, and the times of each kind of work in it."""

    def __init__(self, server: Server, client: Client, key: str) -> None:
        self._server, self._client, self._key = server, client, key
        self.times: dict[str, Times] = {}
        posts = client.get_ok(_PAGE, key).json["data"]
        self.post_ids: list[str] = [post["post_id"] for post in posts[:_POSTS]]

    def change(self, post_id: str) -> None:
        self._post("mark a post", "/v1/bookmarks/update", post_id, _READ)
        self._list("list of 100 after marking a post", _PAGE)
        self._list("sort_by=title after marking a post", f"{_PAGE}&sort_by=title")
        self._post("mark a post", "/v1/bookmarks/update", post_id, _UNREAD)
        self._post("label a post", "/v1/labels/add", post_id, _LABELLED)
        self._post("remove a label from a post", "/v1/labels/remove", post_id, _LABELLED)

    def _list(self, work: str, path: str) -> None:
        load.add_request(self._of(work), self._server, self._client, path, self._key)

    def _post(self, work: str, path: str, post_id: str, change: Mapping[str, object]) -> None:
        body = msgspec.json.encode({"tweet_ids": [post_id], **change})
        before = self._server.cpu_seconds()
        answer = self._client.post(path, self._key, body, secrets.token_hex(8))
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}: {answer.body[:300]!r}")
        self._of(work).add(answer.seconds, self._server.cpu_seconds() - before)

    def _of(self, work: str) -> Times:
        return self.times.setdefault(work, Times())


def measure(options: Options) -> Iterator[Row]:
    ours = growing_library.prepare(options.scale)
    settings: dict[str, str | int] = {"answer_cache_mb": 0, "tool_preload": "off"}
    with (
        servers.bowerbird(ours.folder, options.log, **settings) as server,
        Client(server.port) as client,
        daily_bounds.forgotten(ours.folder),
    ):
        accounts = [_Account(server, client, key) for key in ours.keys]
        server.wait_until_idle()
        for number in track(range(_POSTS), description="Changing posts"):
            for account in accounts:
                account.change(account.post_ids[number])
    for work in accounts[0].times:
        times = [account.times[work] for account in accounts]
        costs = [statistics.median(one.cpu_seconds) * 1000 for one in times]
        clock = ", ".join(f"{one.percentile(50):.2f}" for one in times)
        detail = f"median of {len(times[0].seconds)}, in turns; p50 {clock} ms by the clock"
        yield growing_row(work, costs, None, detail)
