"""Measures what small hostile requests cost, and what another account notices of them."""

import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from benchmarks import bars, library, servers
from benchmarks.bars import Bar
from benchmarks.figures import Row, Times, bar_row
from benchmarks.loads import hostile_requests, load
from benchmarks.loads.client import Client
from benchmarks.loads.hostile_requests import Sent
from benchmarks.options import Options
from benchmarks.servers import Server

# The most expensive requests of each kind are sent at the same time.
_WORST: Final = 3
_SHOWN: Final = 5
_PAUSE_S: Final = 0.02
_SHARED: Final = "the hostile requests"
_REFUSED_BY_RATE: Final = frozenset({429, 503})


def measure(options: Options) -> Iterator[Row]:
    ours = library.prepare(options.scale)
    seconds = options.rounds * options.seconds
    proxy = {"trusted_proxies": "127.0.0.0/8", "log_level": options.log_level}
    with (
        servers.bowerbird(ours.folder, options.log, **proxy) as server,
        Client(server.port) as client,
    ):
        sent = hostile_requests.requests(server.port, ours.keys[0], _run_id(client, ours.keys[0]))
        server.wait_until_idle()
        costs = [(_cost(server, client, one, options.rounds), one) for one in sent]
        costs.sort(key=lambda cost: cost[0], reverse=True)
        by_strangers = [cost for cost in costs if not cost[1].has_key]
        with_key = [cost for cost in costs if cost[1].has_key and cost[1].is_small]
        larger = [cost for cost in costs if cost[1].has_key and not cost[1].is_small]
        yield _worst(bars.STRANGERS_REQUEST, by_strangers)
        yield _worst(bars.KEYED_REQUEST, with_key)
        yield Row(
            "larger request with a key", f"{larger[0][0]:.1f} ms of CPU", detail=_shown(larger)
        )
        worst = [one.text for _, one in (*by_strangers[:_WORST], *with_key[:_WORST])]
        file = options.work_folder / "hostile.bin"
        file.write_bytes(msgspec.msgpack.encode(worst))
        words = [sys.executable, "-m", "benchmarks.loads.hostile_requests", str(server.port)]
        attack = subprocess.Popen(
            [*words, str(file), str(seconds)], stdout=subprocess.PIPE, text=True
        )
        assert attack.stdout
        attack.stdout.readline()
        lists, health = _ask(server, client, ours.keys[1], time.monotonic() + seconds)
        done, _ = attack.communicate()
    yield lists.row(bars.LIST_UNDER_BODIES.name, bars.LIST_UNDER_BODIES, shared=_SHARED)
    yield health.row(bars.HEALTH_UNDER_BODIES.name, bars.HEALTH_UNDER_BODIES, shared=_SHARED)
    yield Row("hostile requests, answers by status", done.strip())


def _run_id(client: Client, key: str) -> str:
    body = msgspec.json.encode({"source": "x", "kind": "full"})
    answer = client.post("/ingest/v1/runs", key, body, secrets.token_hex(8))
    run_id: str = answer.json["data"]["run_id"]
    return run_id


def _cost(server: Server, client: Client, one: Sent, rounds: int) -> float:
    """The CPU time of a request in milliseconds: the median, without the first one."""
    took = []
    for number in range(rounds + 1):
        # Each from an address of its own, because the tries of an address are counted.
        address = f"X-Forwarded-For: 10.{number}.{secrets.randbelow(256)}.{secrets.randbelow(256)}"
        head, _, rest = one.text.partition(b"\r\n")
        before = server.cpu_seconds()
        answer = client.send(b"\r\n".join([head, address.encode(), rest]))
        took.append((server.cpu_seconds() - before) * 1000)
        if answer.status in _REFUSED_BY_RATE:
            # A device may send 300 requests a minute.
            time.sleep(int(answer.headers["retry-after"]))
            return _cost(server, client, one, rounds)
    return statistics.median(took[1:])


def _worst(bar: Bar, costs: Sequence[tuple[float, Sent]]) -> Row:
    return bar_row(bar, [costs[0][0]], detail=_shown(costs))


def _shown(costs: Sequence[tuple[float, Sent]]) -> str:
    shown = "; ".join(f"{cost:.1f} ms {one.name}" for cost, one in costs[:_SHOWN])
    return f"the most of {len(costs)} requests: {shown}"


def _ask(server: Server, client: Client, key: str, end: float) -> tuple[Times, Times]:
    lists, health = Times(), Times()
    while time.monotonic() < end:
        load.add_request(lists, server, client, "/v1/bookmarks?limit=20", key)
        load.add_request(health, server, client, "/healthz", key)
        time.sleep(_PAUSE_S)
    return lists, health
