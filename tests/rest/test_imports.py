"""Imports: list, undo, and the labels that fit them."""

from typing import Any

import pytest

from bowerbird.library.access import turns
from bowerbird.library.labels import import_labels
from tests.support import waiting, writing
from tests.support.imports import found, run, take
from tests.support.service import Member, Service
from tests.support.working import at_work

pytestmark = pytest.mark.anyio


async def test_an_import_is_shown_with_its_counts(alice: Member) -> None:
    await take(alice, found(post_id="1"), found(post_id="2", text="short"), found(post_id="3"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/3")
    ids = {"1": "words", "2": "longer words", "3": "words", "4": "words"}

    run_id = await run(alice, *(found(post_id=id, text=text) for id, text in ids.items()))

    shown = (await alice.get(f"/v1/imports/{run_id}")).json()["data"]
    assert shown == {
        "run_id": run_id,
        "source": "x",
        "kind": "full",
        "client": "test",
        "state": "finished",
        "reason": "end",
        "started_at": "2026-07-18T08:21:13.841838+00:00",
        "finished_at": "2026-07-18T08:21:13.841838+00:00",
        "counts": {"new": 1, "changed": 1, "unchanged": 1, "ignored_deleted": 1},
        "undo_until": "2026-08-17T08:21:13.841838+00:00",
        "undone": {"removed": 0, "restored": 0, "kept": 0},
    }


async def test_the_latest_import_is_listed_first(alice: Member) -> None:
    run_ids = [await run(alice, found(post_id=str(number))) for number in range(1, 4)]

    listed = (await alice.get("/v1/imports")).json()["data"]

    assert [one["run_id"] for one in listed] == run_ids[::-1]


@pytest.mark.both
async def test_undoing_a_large_import_with_a_key_takes_effect_once(alice: Member) -> None:
    run_id = await run(alice, *(found(post_id=str(number)) for number in range(1, 451)))
    path = f"/v1/imports/{run_id}/undo"

    first = await writing.send(alice, "POST", path, key="undo-1")
    again = await writing.send(alice, "POST", path, key="undo-1")

    counts = {"removed": 450, "restored": 0, "kept": 0}
    assert first.json()["data"] == {"run_id": run_id, "state": "undone", **counts}
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert await alice.ids() == []
    shown = (await alice.get(f"/v1/imports/{run_id}")).json()["data"]
    assert (shown["state"], shown["undo_until"], shown["undone"]) == ("undone", None, counts)


AUTHORS = ["ines"] * 10 + ["tomasz"] * 5 + [f"nobody{n}" for n in range(15)]


async def _imported(member: Member) -> str:
    """An import of 30 posts: "databases" fits the first ten, and "letters" the next five."""
    for author, label in (("ines", "databases"), ("tomasz", "letters")):
        for n in range(4):
            await member.save(text=f"note {n}", author=author, tags=[label])
    posts = [found(post_id=str(n), text=f"new {n}", author=one) for n, one in enumerate(AUTHORS, 1)]
    return await run(member, *posts)


async def _fitting(member: Member, run_id: str) -> dict[str, Any]:
    response = await member.get(f"/v1/imports/{run_id}/suggested_labels")
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


def _counts(data: dict[str, Any]) -> dict[str, int]:
    return {one["label_name"]: one["count"] for one in data["labels"]}


async def test_labels_that_fit_an_import_are_counted_applied_and_undone(alice: Member) -> None:
    run_id = await _imported(alice)

    data = await _fitting(alice, run_id)
    assert (data["count"], data["compared"]) == (15, 30)
    assert _counts(data) == {"databases": 10, "letters": 5}
    assert [len(one["examples"]) for one in data["labels"]] == [3, 3]
    assert data["labels"][1]["examples"][0]["author_username"] == "tomasz"

    path = f"/v1/imports/{run_id}/suggested_labels/apply"
    change = (await writing.send(alice, "POST", path, {"expected_count": 15})).json()["data"]
    assert (change["state"], change["changed"]) == ("done", 15)
    assert await writing.labels(alice) == {"databases": 14, "letters": 9}
    assert await writing.recount(alice) == []
    assert (await _fitting(alice, run_id))["count"] == 0

    undo = f"/v1/bookmarks/changes/{change['change_id']}/undo"
    assert (await writing.send(alice, "POST", undo)).json()["data"]["state"] == "undone"
    assert await writing.labels(alice) == {"databases": 4, "letters": 4}
    assert _counts(await _fitting(alice, run_id)) == {"databases": 10, "letters": 5}


@pytest.mark.both
async def test_a_large_import_is_labelled_in_turns_as_one_change(
    cast: Service, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "POSTS_PER_TURN", 4)
    run_id = await _imported(alice)
    path = f"/v1/imports/{run_id}/suggested_labels/apply"

    async def state(change_id: str) -> str:
        shown = (await alice.get(f"/v1/bookmarks/changes/{change_id}")).json()["data"]
        return str(shown["state"])

    answer = await writing.send(alice, "POST", path, {})
    assert answer.status_code == 202
    change_id = answer.json()["data"]["change_id"]
    async with at_work(cast.app.worker):
        await waiting.until(lambda: _is(state(change_id), "done"))
        assert await writing.labels(alice) == {"databases": 14, "letters": 9}
        await writing.send(alice, "POST", f"/v1/bookmarks/changes/{change_id}/undo")
        await waiting.until(lambda: _is(state(change_id), "undone"))
    assert await writing.labels(alice) == {"databases": 4, "letters": 4}
    assert await writing.recount(alice) == []


async def _is(state: Any, wanted: str) -> bool:
    return bool(await state == wanted)


async def test_only_chosen_labels_are_applied(alice: Member) -> None:
    run_id = await _imported(alice)
    letters = await writing.label_id(alice, "letters")
    path = f"/v1/imports/{run_id}/suggested_labels/apply"

    body = {"label_ids": [letters], "expected_count": 5}
    change = (await writing.send(alice, "POST", path, body)).json()["data"]

    assert change["changed"] == 5
    assert await writing.labels(alice) == {"databases": 4, "letters": 9}


async def test_another_number_of_posts_than_expected_changes_nothing(alice: Member) -> None:
    run_id = await _imported(alice)
    path = f"/v1/imports/{run_id}/suggested_labels/apply"

    answer = await writing.send(alice, "POST", path, {"expected_count": 14})

    assert writing.refused(answer) == (409, "COUNT_MISMATCH")
    assert await writing.labels(alice) == {"databases": 4, "letters": 4}


async def test_the_newest_posts_of_a_large_import_are_compared(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await _imported(alice)
    monkeypatch.setattr(import_labels, "COMPARED", 17)

    data = await _fitting(alice, run_id)

    assert (data["count"], data["compared"]) == (2, 17)


async def test_refused_labels_and_labelled_posts_are_left_alone(alice: Member) -> None:
    run_id = await _imported(alice)
    databases = await writing.label_id(alice, "databases")
    await writing.send(alice, "DELETE", f"/v1/bookmarks/1/suggested_labels/{databases}")
    await writing.add(alice, "mine", "2", "11")

    data = await _fitting(alice, run_id)

    assert _counts(data) == {"databases": 8, "letters": 4}
    assert data["compared"] == 28


async def test_an_import_that_is_not_there_and_bad_fields_are_refused(
    alice: Member, free: Member
) -> None:
    for run_id in ("404", "x" * 60):
        path = f"/v1/imports/{run_id}/suggested_labels"
        assert writing.refused(await alice.get(path)) == (404, "NOT_FOUND")
        answer = await writing.send(alice, "POST", f"{path}/apply", {})
        assert writing.refused(answer) == (404, "NOT_FOUND")
    run_id = await _imported(alice)
    path = f"/v1/imports/{run_id}/suggested_labels/apply"
    bad: list[dict[str, Any]] = [{"label_ids": []}, {"label_ids": [1]}]
    for body in bad:
        answer = await writing.send(alice, "POST", path, body)
        assert writing.refused(answer) == (400, "INVALID_REQUEST")
    own = await run(free, found(post_id="1"))
    answer = await free.get(f"/v1/imports/{own}/suggested_labels")
    assert writing.refused(answer) == (402, "SUBSCRIPTION_REQUIRED")
