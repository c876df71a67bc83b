"""kill -9 while a device sends pages: nothing is lost, and each page takes effect once."""

import asyncio
import json
import random
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from bowerbird.library.upkeep.checks import Checks
from bowerbird.settings import Settings
from tests.crash.killing import EMAIL, opened
from tests.crash.test_keyed_writes import Lives, lives
from tests.support import serving
from tests.support.ingesting import listed
from tests.support.waiting import PATIENCE_S, wait_until

PAGES = 80
KILLS = 15
PER_PAGE = 5


def test_a_killed_server_loses_no_page(tmp_path: Path) -> None:
    port = serving.free_port()
    environment = serving.environment_of(data_dir=tmp_path, port=port, admin_port=0)
    serving.command("account", "create", EMAIL, environment=environment)
    token = serving.command("device", "create", EMAIL, environment=environment).split()[-1]

    with lives(environment) as server:
        send_all(server, port, token, random.Random(0))  # noqa: S311 - repeatable, not a secret

    assert server.kills > 2
    assert asyncio.run(stored(Settings(data_dir=tmp_path))) == (PAGES * PER_PAGE, [])


def send_all(server: Lives, port: int, token: str, chance: random.Random) -> None:
    """Sends the pages of a run while the server is killed, and checks the answers."""
    is_over = threading.Event()
    killing = threading.Thread(target=_kill, args=(server, is_over, chance))
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}/ingest/v1",
        headers={"Authorization": f"Bearer {token}"},
    ) as client:
        run = _sent(client, "/runs", {"source": "x", "kind": "full"})
        killing.start()
        answers = []
        for seq in range(PAGES):
            # A quick machine would send all pages before the first kills.
            wait_until(partial(_was_killed, server, seq // 20))
            page = {"seq": seq, **_page(seq)}
            answers.append(_sent(client, f"/runs/{run['run_id']}/pages", page))
        is_over.set()
        killing.join()
        finished = _sent(client, f"/runs/{run['run_id']}/finish", {"reason": "end"})
    assert sum(answer["inserted"] for answer in answers) == PAGES * PER_PAGE
    assert answers[-1]["stop_reason"] == "end"
    assert finished["proved_end"]


def _page(seq: int) -> dict[str, Any]:
    first = (PAGES - seq) * PER_PAGE
    numbers = list(range(first, first - PER_PAGE, -1))
    return listed(numbers, seq, is_last=seq == PAGES - 1)


def _sent(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer, after as many retries as it takes."""

    def answered() -> dict[str, Any] | None:
        try:
            response = client.post(path, content=json.dumps(body), timeout=PATIENCE_S)
        except httpx.TransportError:
            return None
        if response.status_code == 503:
            return None
        assert response.status_code in (200, 201), response.text
        data: dict[str, Any] = response.json()["data"]
        return data

    # The server may be killed again and again before it answers.
    answer = wait_until(answered, 90)
    assert answer is not None
    return answer


def _was_killed(server: Lives, times: int) -> bool:
    return server.kills >= times


def _kill(server: Lives, is_over: threading.Event, chance: random.Random) -> None:
    for _ in range(KILLS):
        # Sleep on purpose: the kill must be able to hit any moment of a page.
        time.sleep(chance.uniform(0.05, 0.3))
        if is_over.is_set():
            return
        server.kill()


async def stored(settings: Settings) -> tuple[int, list[Any]]:
    async with opened(settings) as (database, account):
        checks = Checks(database, fixes=False, is_deep=True)
        return account.total, list(await checks.account(account, lambda _: None))
