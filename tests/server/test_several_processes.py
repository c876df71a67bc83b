"""Server processes that share a SQLite file lose no write and see those of each other."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from tests.server.test_stopping import child_processes, is_alive, metrics_of
from tests.support import make, serving
from tests.support.serving import Server
from tests.support.waiting import wait_until

WRITERS, POSTS = 4, 8


def call(server: Server, key: str, method: str, path: str, **sent: Any) -> httpx.Response:
    """On a new connection, which the kernel gives to either process."""
    headers = {"Authorization": f"Bearer {key}", **sent.pop("headers", {})}
    address = f"http://127.0.0.1:{server.port}{path}"
    answer = serving.http.request(method, address, headers=headers, **sent)
    assert answer.status_code == 200, answer.text
    return answer


def write_and_read_back(server: Server, key: str, writer: int) -> None:
    send = partial(call, server, key)
    for number in range(writer * POSTS, writer * POSTS + POSTS):
        post_id, word = str(10**18 + number), f"bower{number}"
        body = {"posts": [make.post(post_id=post_id, text=f"a {word}")]}
        repeatable = {"Idempotency-Key": f"save-{number}"}

        send("POST", "/v1/bookmarks", json=body, headers=repeatable)
        again = send("POST", "/v1/bookmarks", json=body, headers=repeatable)
        send("POST", "/v1/labels/add", json={"tweet_ids": [post_id], "label_name": "shared"})
        send("PATCH", f"/v1/bookmarks/{post_id}", json={"is_read": True})

        assert again.headers["idempotency-replayed"] == "true"
        query = {"q": word, "is_unread_only": "false"}
        [found] = send("GET", "/v1/bookmarks", params=query).json()["data"]
        assert (found["post_id"], found["is_read"]) == (post_id, True)
        assert found["tags"] == ["shared"]


def test_processes_on_one_sqlite_file_see_each_others_writes(tmp_path: Path) -> None:
    with serving.serving(tmp_path, "--workers", "2") as server:
        wait_until(lambda: metrics_of(server, 1) != "")
        key = server.new_key()

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(partial(write_and_read_back, server, key), range(WRITERS)))

        for process in (0, 1):
            assert 'route="/v1/bookmarks"' in metrics_of(server, process)
        [label] = call(server, key, "GET", "/v1/labels").json()["data"]
        assert label["count"] == WRITERS * POSTS
        assert "No problems found." in server.run("check", "--deep")
        others = child_processes(server)
        assert server.stop() == 0
        assert not any(map(is_alive, others))
