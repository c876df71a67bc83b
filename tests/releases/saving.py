"""Saves a small library of this release, which every later release has to open.

    .venv/bin/python -m tests.releases.saving tests/releases/0.13.0

A release adds its folder once, and nobody changes it afterwards. It has a backup of SQLite, a dump
of PostgreSQL, and what the API of each answered.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import bowerbird
from tests.support.engines.postgres_binaries import installed_binaries
from tests.support.postgres import ThrowawayPostgres
from tests.support.serving import Server, http, serving

EMAIL: Final = "alice@example.com"
_ALL: Final = {"limit": "100", "is_unread_only": "false", "hide_archived": "false"}
# Everything a client can list.
_LISTS: Final = {
    "bookmarks": ("/v1/bookmarks", _ALL),
    "found": ("/v1/bookmarks", {**_ALL, "q": "bower"}),
    "count": ("/v1/bookmarks/count", {}),
    "labels": ("/v1/labels", {}),
    "views": ("/v1/views", {}),
}


def listed(server: Server, key: str) -> dict[str, Any]:
    return {
        name: server.get(path, key, **params).json()["data"]
        for name, (path, params) in _LISTS.items()
    }


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made, serving(Path(made)) as server:
        answers = _fill(server)
        server.run("backup", f"{made}/library.tar")
        _save(folder, "sqlite", answers, "tar", Path(made, "library.tar").read_bytes())
    with tempfile.TemporaryDirectory() as made, ThrowawayPostgres() as postgres:
        with postgres.fresh_database() as url, serving(Path(made), database_url=url) as server:
            server.run("migrate")
            answers = _fill(server)
            dump = [str(installed_binaries() / "pg_dump"), "--no-owner", "--inserts", url]
            copy = subprocess.run(dump, check=True, capture_output=True).stdout
        _save(folder, "postgres", answers, "sql", copy)


def _fill(server: Server) -> dict[str, Any]:
    """Something of every kind that a person stores."""
    key = server.new_key(EMAIL)
    posts = json.loads((Path(bowerbird.__file__).parent / "fixtures" / "posts.json").read_bytes())
    for first in range(0, len(posts), 50):
        _send(server, key, "POST", "/v1/bookmarks", {"posts": posts[first : first + 50]})
    link = "https://x.com/jack/status/20"
    _send(server, key, "POST", "/v1/bookmarks", {"links": [link], "labels": ["links"]})
    ids = [post["post_id"] for post in posts]
    named = {"tweet_ids": ids[:7], "label_name": "Read later"}
    _send(server, key, "POST", "/v1/labels/add", named)
    _send(server, key, "PATCH", f"/v1/bookmarks/{ids[0]}", {"is_read": True, "note": "A *note*."})
    _send(server, key, "PATCH", f"/v1/bookmarks/{ids[1]}", {"is_archived": True})
    _send(server, key, "DELETE", f"/v1/bookmarks/{ids[2]}")
    view = {"name": "Later", "base_query": {"tag": "Read later"}}
    _send(server, key, "POST", "/v1/views", view)
    marked = {"quote": posts[3]["tweet_details"]["text"].split("\n")[0], "comment": "why"}
    _send(server, key, "POST", f"/v1/bookmarks/{ids[3]}/highlights", marked)
    change = {"action": "read", "filters": {"tag": "links"}, "expected_count": 1}
    _send(server, key, "POST", "/v1/bookmarks/changes", change)
    return listed(server, key)


def _send(server: Server, key: str, method: str, path: str, body: object = None) -> None:
    url = f"http://127.0.0.1:{server.port}{path}"
    answer = http.request(method, url, json=body, headers={"Authorization": f"Bearer {key}"})
    assert answer.is_success, answer.text
    # Some of several items failed.
    assert answer.status_code != 207, answer.text


def _save(folder: Path, database: str, answers: dict[str, Any], kind: str, copy: bytes) -> None:
    for name, content in (("json", json.dumps(answers).encode()), (kind, copy)):
        (folder / f"{database}.{name}.gz").write_bytes(gzip.compress(content, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
