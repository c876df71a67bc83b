"""kill -9 between the transactions of a large label edit: a retry finishes it."""

import asyncio
import http.client
import json
import random
import threading
import time
from typing import Any

from bowerbird.clock import system_clock
from bowerbird.library.access import turns
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from tests.crash.killing import assert_sound, opened
from tests.crash.test_keyed_writes import Lives, lives, new_key
from tests.support import make, serving
from tests.support.waiting import wait_until

POSTS = 5 * turns.POSTS_PER_TURN
# `make crash` repeats it thousands of times.
RENAMES = 2
# About as long as an edit takes, so that a kill can hit any of its transactions.
AN_EDIT_S = 0.1


class Caller:
    """Repeats each request until it is answered, also after the server was killed."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key
        self.lost = 0

    def send(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._key}"}
        if key:
            headers["Idempotency-Key"] = key

        def answered() -> tuple[int, Any] | None:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=90)
            try:
                connection.request(method, path, body and json.dumps(body), headers)
                response = connection.getresponse()
                answer = (response.status, json.loads(response.read()))
            except (OSError, http.client.HTTPException):
                answer = (503, None)
            finally:
                connection.close()
            if answer[0] not in (409, 503):
                return answer
            self.lost += 1
            return None

        found = wait_until(answered)
        assert found is not None
        return found


async def fill(settings: Settings) -> None:
    async with opened(settings) as (database, account):
        intake = Intake(database, system_clock)
        for _ in range(0, POSTS, 500):
            records = [make.post(tags=["wide", "other"]) for _ in range(500)]
            await intake.take(account, [own_json.whole_post(make.raw(one)) for one in records])


async def check(settings: Settings) -> None:
    async with opened(settings) as (database, account):
        await assert_sound(database, account, is_deep=False)
        labels = await database.rows("SELECT name, bookmark_count FROM label", {})
        assert [tuple(row) for row in labels] == [("other", POSTS)]


def killed_meanwhile(caller: Caller, server: Lives, chance: random.Random, *request: Any) -> Any:
    """Sends a request, kills the server at some moment of it, and returns the answer."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(caller.send(*request)))
    thread.start()
    # Sleep on purpose: the kill must be able to hit any moment of an edit.
    time.sleep(chance.uniform(0, AN_EDIT_S))
    server.kill()
    thread.join()
    return answers[0]


def rename_and_merge(
    caller: Caller, server: Lives, chance: random.Random, renames: int = RENAMES
) -> None:
    """Edits a label while the server is killed, and checks the answers."""
    _, listed = caller.send("GET", "/v1/labels")
    ids = {label["label_name"]: label["id"] for label in listed["data"]}
    path = f"/v1/labels/{ids['wide']}"
    for number in range(renames):
        name = {"label_name": f"name {number}"}
        key = f"rename-{number}"
        status, answer = killed_meanwhile(caller, server, chance, "PATCH", path, name, key)
        assert (status, answer["data"]["label_name"]) == (200, f"name {number}")
        assert answer["data"]["count"] == POSTS
    merge = {"into": ids["other"]}
    status, answer = killed_meanwhile(
        caller, server, chance, "POST", f"{path}/merge", merge, "merge"
    )
    assert (status, answer["data"]["label_name"], answer["data"]["count"]) == (200, "other", POSTS)


def test_a_large_label_edit_is_finished_by_a_retry_when_the_server_is_killed(
    settings: dict[str, Any],
) -> None:
    port = serving.free_port()
    environment = serving.environment_of(**settings, port=port, admin_port=0)
    caller = Caller(port, new_key(environment))
    asyncio.run(fill(Settings(**settings)))

    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    with lives(environment) as server:
        rename_and_merge(caller, server, chance)

    assert caller.lost > 0
    asyncio.run(check(Settings(**settings)))
