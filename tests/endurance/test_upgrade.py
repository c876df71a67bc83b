"""The verdict of `make upgrade`: a lost, doubled or changed write must not pass."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from endurance.upgrade import findings, ledger, posts
from endurance.upgrade.findings import Reader
from endurance.upgrade.ledger import Answer, Expected, Ledger, Write
from endurance.upgrade.load import SMALL
from endurance.upgrade.verdict import of_answers, same
from tests.support.serving import serving


def write(kind: str, method: str, path: str, body: dict[str, Any]) -> Write:
    return Write(SMALL, kind, method, path, body, f"{kind}-{path}", ledger.OLD_NODES, "old", None)


def save(number: int) -> Write:
    body = {"posts": [posts.saved_post(number, "garden")]}
    return write("save", "POST", "/v1/bookmarks", body)._replace(key=f"save-{number}")


def update(number: int, **body: Any) -> Write:
    return write("update", "PATCH", f"/v1/bookmarks/{posts.post_id(number)}", body)


def delete(number: int) -> Write:
    return write("delete", "DELETE", f"/v1/bookmarks/{posts.post_id(number)}", {})


def answer(status: int, *, has_retry_after: bool = False) -> Answer:
    return Answer(ledger.BEFORE, "old", "list", status, has_retry_after, 0.0, 0.1, "the reason")


def test_a_lost_write_is_found(tmp_path: Path) -> None:
    sent = [save(4), save(5), update(5, note="about books"), save(6), delete(6)]
    lost = [save(7), update(4, is_read=True)]
    with (
        serving(tmp_path) as server,
        closing(Reader(f"http://127.0.0.1:{server.port}", server.new_key())) as reader,
    ):
        for one in sent:
            assert reader.send(one).is_success
        whole, partial = Expected(sent, SMALL), Expected([*sent, *lost], SMALL)

        assert findings.wrong_posts(reader, whole) == []
        assert findings.not_found(reader, whole) == []
        assert findings.wrong_labels(reader, whole) == []
        changed, missing = findings.wrong_posts(reader, partial)
        assert posts.post_id(4) in changed
        assert missing == f"post {posts.post_id(7)}: 404"
        assert f"by word: {posts.post_id(7)} is missing" in findings.not_found(reader, partial)
        assert findings.wrong_labels(reader, partial) == [
            f"label garden: {posts.post_id(7)} is missing"
        ]
        # A write that was executed is replayed; one that was lost is executed now.
        assert findings.repeated({SMALL: reader}, [save(4), save(7)])[-1] == (
            "save-7: 200, not replayed"
        )


def test_a_post_that_is_there_twice_is_found() -> None:
    assert same("all", ["1", "2", "1"], ["1", "2"]) == ["all: 1 is there twice"]
    assert same("all", ["1", "3"], ["1", "2"]) == [
        "all: 2 is missing",
        "all: 3 does not belong there",
    ]
    assert same("all", ["2", "1"], ["1", "2"]) == []


@pytest.mark.parametrize(
    ("given", "is_met"),
    [
        (answer(200), True),
        (answer(503, has_retry_after=True), True),
        (answer(503), False),
        (answer(500), False),
        (answer(0), False),
    ],
)
def test_requests_may_only_be_refused_for_a_moment(given: Answer, *, is_met: bool) -> None:
    seen = Ledger()
    seen.answered(answer(200))
    seen.answered(given)

    assert of_answers(seen)[0].is_met is is_met


def test_a_deleted_post_is_expected_nowhere() -> None:
    expected = Expected([save(1), save(2), update(2, note="x"), delete(1)], SMALL)

    assert list(expected.posts) == [posts.post_id(2)]
    assert expected.posts[posts.post_id(2)]["note"] == "x"
    assert expected.labels == {"garden": {posts.post_id(2)}}
