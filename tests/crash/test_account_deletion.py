"""kill -9 after a person has deleted their account: the next server removes what is left."""

import json
import sys
from pathlib import Path

import apsw
import httpx

from tests.support import serving
from tests.support.serving import Server
from tests.support.visiting import form_token
from tests.support.waiting import PATIENCE_S, wait_until

EMAIL = "leaving@example.com"
POSTS = 3_000
# Recurring tasks run at the start, before the account is deleted, and then a minute later.
SERVER = """
from bowerbird.jobs import worker
worker._MAX_FIRST_DELAY_S = 0
from bowerbird.cli import main
main()
"""


def delete_on_the_website(server: Server) -> None:
    origin = f"http://localhost:{server.port}"
    printed = server.run("account", "link", EMAIL)
    token = printed.split("/link#")[1].split()[0]
    with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=PATIENCE_S) as client:

        def send(path: str, **fields: str) -> httpx.Response:
            csrf = form_token(client.get(path).text)
            return client.post(path, data={"csrf": csrf, **fields})

        assert send("/link", token=token).status_code == 303
        done = send("/account/delete", phrase=EMAIL)
        assert done.headers["location"] == "/goodbye"


def rows(folder: Path, table: str) -> int:
    database = apsw.Connection(str(folder / "bowerbird.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        (count,) = next(database.execute(f"SELECT count(*) FROM {table}"))  # noqa: S608 - fixed
        return int(count)
    finally:
        database.close()


def test_a_deletion_survives_the_death_of_the_server(tmp_path: Path) -> None:
    posts = tmp_path / "posts.jsonl"
    lines = [{"post_id": str(n), "tweet_details": {"text": f"post {n}"}} for n in range(1, POSTS)]
    posts.write_text("\n".join(map(json.dumps, lines)))
    with serving.serving(tmp_path, command=(sys.executable, "-c", SERVER)) as server:
        server.run("account", "create", "owner@example.com")
        server.run("account", "create", EMAIL)
        server.run("import", EMAIL, str(posts))
        key = server.run("key", "create", EMAIL).splitlines()[-1]
        delete_on_the_website(server)
        server.process.kill()
        server.process.wait()
    data = tmp_path / "data"
    assert rows(data, "person") == 2
    assert rows(data, "api_key") == 0

    with serving.serving(tmp_path) as server:
        assert server.get("/v1/bookmarks", key).status_code == 401
        wait_until(lambda: rows(data, "person") == 1)

    assert rows(data, "bookmark") == 0
    assert rows(data, "content") == 0
