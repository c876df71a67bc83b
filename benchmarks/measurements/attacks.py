"""Measures one account while strangers and another account attack the server."""

import resource
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from benchmarks import bars, library, servers
from benchmarks.figures import Row, Times
from benchmarks.loads import attackers, load
from benchmarks.loads.client import Client
from benchmarks.options import Options
from benchmarks.servers import Server

_LISTS_PER_WRITE: Final = 5
_PAUSE_S: Final = 0.02
_VIEWS: Final = 200
_BATCH_POSTS: Final = 1_000
_OPEN_FILES: Final = 8_192
_SHARED: Final = "the attack"


def measure(options: Options) -> Iterator[Row]:
    _raise_open_files()
    ours = library.prepare(options.scale)
    seconds = options.rounds * options.seconds
    with (
        servers.bowerbird(ours.folder, options.log, log_level=options.log_level) as server,
        Client(server.port) as client,
    ):
        attacker, victim = ours.keys[0], ours.keys[1]
        _create_views(client, attacker)
        posts = _newest(client, attacker)
        own = _newest(client, victim)[:1]
        quiet = _ask(server, client, victim, own, time.monotonic() + options.seconds)
        with _attack(server.port, attacker, posts, seconds) as attack:
            attacked = _ask(server, client, victim, own, time.monotonic() + seconds)
            done, _ = attack.communicate()
        memory = server.resident_mb()
    what = f"{attackers.SILENT:,} silent and {attackers.SLOW} slow connections, expensive calls"
    yield quiet[0].row("list of 20 before the attack")
    yield attacked[0].row(bars.LIST_UNDER_ATTACK.name, bars.LIST_UNDER_ATTACK, shared=_SHARED)
    yield quiet[1].row("label write before the attack")
    yield attacked[1].row(bars.WRITE_UNDER_ATTACK.name, bars.WRITE_UNDER_ATTACK, shared=_SHARED)
    detail = f"{what}; answers by status {done.strip()}"
    yield Row("memory under attack", f"{memory:.0f} MB", detail=detail)


def _raise_open_files() -> None:
    """For the attackers, which inherit the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), hard))


def _attack(port: int, key: str, posts: list[str], seconds: float) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "benchmarks.loads.attackers", str(port), key, ",".join(posts)]
    process = subprocess.Popen([*words, str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    return process


def _ask(
    server: Server, client: Client, key: str, posts: list[str], end: float
) -> tuple[Times, Times]:
    """Lists 20 posts again and again, and changes a label now and then."""
    lists, writes = Times(), Times()
    number = 0
    while time.monotonic() < end:
        number += 1
        if number % (_LISTS_PER_WRITE + 1):
            load.add_request(lists, server, client, "/v1/bookmarks?limit=20", key)
        else:
            body = msgspec.json.encode({"tweet_ids": posts, "label_name": secrets.token_hex(4)})
            before = server.cpu_seconds()
            answer = client.post("/v1/labels/add", key, body, secrets.token_hex(8))
            if answer.status != 200:
                raise RuntimeError(f"A label write answered {answer.status}: {answer.body!r}")
            writes.add(answer.seconds, server.cpu_seconds() - before)
            client.post("/v1/labels/remove", key, body, secrets.token_hex(8))
        time.sleep(_PAUSE_S)
    return lists, writes


def _create_views(client: Client, key: str) -> None:
    """As many Smart Views as an account may have, each of which has to be counted."""
    existing = len(client.get_ok("/v1/views", key).json["data"])
    for number in range(existing, _VIEWS):
        body = msgspec.json.encode(
            {
                "name": f"View {number}",
                "base_query": {"q": f"the {number}", "is_unread_only": False},
            }
        )
        answer = client.post("/v1/views", key, body, secrets.token_hex(8))
        if answer.status != 201:
            raise RuntimeError(f"A view answered {answer.status}: {answer.body!r}")


def _newest(client: Client, key: str) -> list[str]:
    ids: list[str] = []
    cursor = ""
    while len(ids) < _BATCH_POSTS:
        path = f"/v1/bookmarks?limit=100&is_unread_only=false{cursor}"
        answer = client.get_ok(path, key).json
        ids += [post["post_id"] for post in answer["data"]]
        if not answer["meta"]["next_cursor"]:
            break
        cursor = f"&cursor={answer['meta']['next_cursor']}"
    return ids
