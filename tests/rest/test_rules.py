"""/v1/rules: create, order, change, try and apply rules."""

from typing import Any

import pytest

from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.posts.ruling import ADD, listed, rule, run
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def sent(member: Member, method: str, path: str, body: Any = None, key: str = "") -> Any:
    return await writing.send(member, method, f"/v1/rules{path}", body, key or None)


async def test_rules_are_listed_in_their_order(alice: Member) -> None:
    for name in "abc":
        await rule(alice, name=name)
    first = await rule(alice, name="d", position=1)
    assert [one["name"] for one in await listed(alice)] == ["d", "a", "b", "c"]

    await sent(alice, "PATCH", f"/{first['rule_id']}", {"position": 3})
    assert [(one["name"], one["position"]) for one in await listed(alice)] == [
        *(("a", 1), ("b", 2), ("d", 3), ("c", 4))
    ]
    await sent(alice, "DELETE", f"/{first['rule_id']}")
    assert [one["position"] for one in await listed(alice)] == [1, 2, 3]
    assert (await alice.get(f"/v1/rules/{first['rule_id']}")).status_code == 404


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"actions": []}, "actions"),
        ({"actions": [{"do": "add_label"}]}, "label_name"),
        ({"actions": [{"do": "archive", "label_name": "x"}]}, "label_name"),
        ({"actions": [{"do": "send_to_webhook"}]}, "webhook_id"),
        ({"actions": [{"do": "archive", "webhook_id": "x"}]}, "webhook_id"),
        (
            {"when": "nightly", "actions": [{"do": "send_to_webhook", "webhook_id": "x"}]},
            "an action that changes the post too",
        ),
        ({"when": "arrives", "label_name": "x"}, "label_name"),
        ({"when": "nightly", "near_label": "x"}, "near_label"),
        ({"query": {"vector_search_term": "nest"}}, "vector_search_term"),
        ({"query": {"posted_from": "soonish"}}, "posted_from"),
        ({"name": ""}, "name"),
        ({"name": "\u200b\u2060"}, "name: must have a visible character"),
        ({"name": "a\u0007"}, "name: must have a visible character"),
    ],
)
async def test_what_is_wrong_is_named(alice: Member, fields: dict[str, Any], named: str) -> None:
    body = {"name": "n", "when": "arrives", "actions": [ADD], **fields}
    refused = await sent(alice, "POST", "", body)
    assert refused.status_code == 400
    assert named in refused.json()["error"]
    assert await listed(alice) == []


async def test_a_label_without_its_trigger_is_refused_when_a_rule_is_changed(alice: Member) -> None:
    made = await rule(alice, when="labelled", label_name="x")
    changed = await sent(alice, "PATCH", f"/{made['rule_id']}", {"when": "arrives"})
    assert changed.json()["data"]["label_name"] is None
    refused = await sent(alice, "PATCH", f"/{made['rule_id']}", {"label_name": "y"})
    assert refused.status_code == 400


async def test_an_account_has_a_bounded_number_of_rules(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RULES_MAX", 2)
    await rule(alice)
    await rule(alice)
    body = {"name": "n", "when": "arrives", "actions": [ADD]}
    assert "at most 2 rules" in (await sent(alice, "POST", "", body)).json()["error"]


async def test_a_preview_counts_what_would_have_matched(alice: Member) -> None:
    await alice.save_all(
        [
            make.post(post_id="1", text="a bower", is_read=True, tags=["x"]),
            make.post(post_id="2", text="bowers", is_archived=True),
            make.post(post_id="3", text="a bowl"),
        ]
    )
    found = (await sent(alice, "POST", "/preview", {"query": {"q": "bower*"}})).json()["data"]
    assert (found["count"], {one["tweet_id"] for one in found["examples"]}) == (2, {"1", "2"})
    body = {"query": {"q": "bower*"}, "when": "labelled", "label_name": "X"}
    assert (await sent(alice, "POST", "/preview", body)).json()["data"]["count"] == 1


@pytest.mark.parametrize("query", [{"tag": "  ", "q": " "}, {"label_match": "all"}])
async def test_a_preview_counts_every_post_if_nothing_is_asked(
    alice: Member, query: dict[str, str]
) -> None:
    await alice.save_all([make.post(post_id="1"), make.post(post_id="2", is_archived=True)])
    found = await sent(alice, "POST", "/preview", {"query": query})
    assert found.status_code == 200, found.text
    assert found.json()["data"]["count"] == 2
    created = await rule(alice, {"do": "mark_read"}, query=query)
    [change] = (await sent(alice, "POST", f"/{created['rule_id']}/apply", {})).json()["data"]
    assert change["count"] == 2


async def test_a_preview_counts_posts_with_the_label_that_triggers_besides_those_of_the_query(
    alice: Member,
) -> None:
    await alice.save_all(
        [
            make.post(post_id="1", tags=["a", "c", "x, y"]),
            make.post(post_id="2", tags=["a", "x, y"]),
            make.post(post_id="3", tags=["a", "c", "x"]),
        ]
    )
    for query in ({"tag": "a", "label": "c"}, {"tag": "c"}, {"q": "label:c"}):
        body = {"query": query, "when": "labelled", "label_name": "X, Y"}
        found = (await sent(alice, "POST", "/preview", body)).json()["data"]
        assert [one["tweet_id"] for one in found["examples"]] == ["1"], query


@pytest.mark.parametrize(
    "body",
    [{"when": "nightly", "near_label": "birds"}, {"when": "arrives", "label_name": "birds"}],
)
async def test_a_preview_refuses_what_no_rule_can_have(alice: Member, body: dict[str, Any]) -> None:
    refused = await sent(alice, "POST", "/preview", body)

    assert refused.status_code == 400
    assert list(body)[1] in refused.json()["error"]


@pytest.mark.both
async def test_a_rule_is_applied_to_what_is_there_once_per_key_and_undone(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n), text="a bower") for n in (1, 2)])
    await alice.save(post_id="3", text="a bowl")
    made = await rule(alice, ADD, {"do": "archive"}, query={"q": "bower"}, is_on=False)
    path = f"/{made['rule_id']}/apply"
    assert (await sent(alice, "POST", path, {"expected_count": 3})).status_code == 409

    applied = await sent(alice, "POST", path, {"expected_count": 2}, "once")
    again = await sent(alice, "POST", path, {"expected_count": 2}, "once")
    assert again.json() == applied.json()
    changes = applied.json()["data"]
    assert [(one["action"], one["changed"]) for one in changes] == [
        ("add_label", 2),
        ("archive", 2),
    ]
    recent = (await alice.get("/v1/bookmarks/changes")).json()["data"]
    assert [one["rule_name"] for one in recent] == ["Birds", "Birds"]
    for one in changes:
        await writing.send(alice, "POST", f"/v1/bookmarks/changes/{one['change_id']}/undo")
    assert (await alice.listed())["meta"]["total_count"] == 3
    assert (await alice.listed(label="Birds"))["meta"]["total_count"] == 0


async def test_what_an_application_changes_makes_no_rule_run(alice: Member) -> None:
    await alice.save(post_id="1")
    await rule(alice, {"do": "trash"}, when="labelled", label_name="Birds")
    made = await rule(alice, ADD)
    await sent(alice, "POST", f"/{made['rule_id']}/apply", {})
    await run(alice)
    assert await alice.ids() == ["1"]
