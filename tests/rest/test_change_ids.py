"""Every write that changes labels or the trash says how it is undone.

tests/library/bulk has those of flags and of labels of posts.
"""

from typing import Any

import pytest

from tests.rest.test_changes import library
from tests.support import make, writing
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

TEXT = "a text that two posts of this library have"
WRITES: dict[str, tuple[str, str, Any]] = {
    "deletion of one": ("DELETE", "/v1/bookmarks/1", None),
    "deletion of some": ("POST", "/v1/bookmarks/delete", {"tweet_ids": ["1", "2"]}),
    "change of some": (
        "POST",
        "/v1/bookmarks/changes",
        {"action": "read", "tweet_ids": ["1", "2"]},
    ),
    "a label deleted": ("DELETE", "/v1/labels/{a}", None),
    "labels merged": ("POST", "/v1/labels/{a}/merge", {"into": "{b}"}),
    "a label renamed": ("PATCH", "/v1/labels/{a}", {"label_name": "c"}),
    "duplicates": (
        "POST",
        "/v1/bookmarks/duplicates/resolve",
        {"groups": [{"keep": "2", "remove": ["1"]}]},
    ),
    "restored": ("POST", "/v1/bookmarks/9/restore", None),
    "some restored": ("POST", "/v1/bookmarks/restore", {"tweet_ids": ["9"]}),
}


@pytest.mark.parametrize("what", WRITES)
async def test_a_write_has_a_change_id_that_gives_everything_back(alice: Member, what: str) -> None:
    await alice.save_all(
        [
            make.post(post_id="1", text=TEXT, tags=["a"]),
            make.post(post_id="2", text=TEXT, tags=["a", "b"]),
            make.post(post_id="9"),
        ]
    )
    await writing.send(alice, "DELETE", "/v1/bookmarks/9")
    ids = {name: await writing.label_id(alice, name) for name in ("a", "b")}
    method, path, body = WRITES[what]
    body = {"into": ids["b"]} if what == "labels merged" else body
    before = await library(alice)

    answer = await writing.send(alice, method, path.format(**ids), body)

    assert answer.status_code == 200, answer.text
    assert await library(alice) != before
    found = answer.json()
    change_id = (found["meta"].get("change") or found["data"])["change_id"]
    assert change_id == (await alice.get("/v1/bookmarks/changes")).json()["data"][0]["change_id"]
    undone = await writing.send(alice, "POST", f"/v1/bookmarks/changes/{change_id}/undo")
    assert undone.json()["data"]["state"] == "undone"
    after = await library(alice)
    for post in (*before.values(), *after.values()):
        del post["updated_at"]
    assert after == before
    assert await writing.labels(alice) == {"a": 2, "b": 1}
    assert await writing.recount(alice) == []
