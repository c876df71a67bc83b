"""docs/clients.md: the program that keeps a copy, killed at any moment while writes go on."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_clients import COPY, LOCAL, snippets
from tests.support import make, serving
from tests.support.serving import Server

pytestmark = pytest.mark.slow

KILLS = 100
POSTS = 700


@contextmanager
def writing(server: Server, key: str, chance: random.Random) -> Iterator[list[int]]:
    """Changes the library in every way that the copy must notice; counts the writes."""
    is_over, writes = threading.Event(), [0]

    def send(method: str, path: str, body: Any = None) -> None:
        answer = serving.http.request(
            method,
            f"http://127.0.0.1:{server.port}/v1{path}",
            json=body,
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code < 500, answer.text

    def work() -> None:
        while not is_over.is_set():
            one, other = (str(chance.randrange(1, POSTS)) for _ in range(2))
            new = make.post(post_id=str(10_000 + writes[0]))
            step: tuple[str, str, Any] = chance.choice(
                [
                    ("PATCH", f"/bookmarks/{one}", {"is_read": chance.random() < 0.5}),
                    ("PATCH", f"/bookmarks/{one}", {"note": f"note {writes[0]}"}),
                    ("POST", "/labels/add", {"tweet_ids": [one, other], "label_name": "a"}),
                    ("POST", "/labels/remove", {"tweet_ids": [one], "label_name": "a"}),
                    ("POST", "/bookmarks/delete", {"tweet_ids": [one, other]}),
                    ("POST", f"/bookmarks/{one}/restore", None),
                    ("POST", "/bookmarks", {"posts": [new]}),
                ]
            )
            send(*step)
            writes[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield writes
    finally:
        is_over.set()
        thread.join()


def crawled(server: Server, key: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    cursor: str | None = ""
    while cursor is not None:
        asked = {"limit": 100, "is_unread_only": False, "hide_archived": False, "cursor": cursor}
        page = server.get("/v1/bookmarks", key, **asked).json()
        found |= {post["post_id"]: post for post in page["data"]}
        cursor = page["meta"]["next_cursor"]
    return found


def copied(folder: Path) -> dict[str, Any]:
    database = sqlite3.connect(folder / "copy.db")
    try:
        rows = database.execute("SELECT post_id, bookmark FROM post").fetchall()
    finally:
        database.close()
    return {post_id: json.loads(bookmark) for post_id, bookmark in rows}


def test_a_copy_that_is_killed_a_hundred_times_is_the_library(tmp_path: Path) -> None:
    chance = random.Random(20260718)  # noqa: S311 - the same moments in every run
    with serving.serving(tmp_path) as server:
        key = server.new_key()
        file = server.folder / "posts.json"
        posts = [make.post(post_id=str(n), text=f"post {n}") for n in range(1, POSTS)]
        file.write_text(json.dumps(posts))
        server.run("import", "you@example.com", str(file))
        program = tmp_path / "copy.py"
        address = f"http://127.0.0.1:{server.port}"
        program.write_text(snippets()[COPY, "python"].replace(LOCAL, address))

        def life() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [sys.executable, str(program)],
                cwd=tmp_path,
                env={"PATH": os.environ["PATH"], "KEY": key},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

        killed = 0
        with writing(server, key, chance) as writes:
            while killed < KILLS:
                running = life()
                try:
                    # Most of them are still reading by then, and some have only begun.
                    _, errors = running.communicate(timeout=chance.uniform(0.02, 0.3))
                    assert running.returncode == 0, errors.decode()
                except subprocess.TimeoutExpired:
                    running.kill()
                    running.communicate()
                    killed += 1
        _, errors = (last := life()).communicate()

        assert last.returncode == 0, errors.decode()
        assert copied(tmp_path) == crawled(server, key)
        assert writes[0] > 0
