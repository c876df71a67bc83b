"""Rules run on what has happened since, from top to bottom, once per post and trigger."""

from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.model.rules import FAILURES_MAX
from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.posts import ruling
from tests.support.posts.ruling import ADD, listed, rule, run, tags
from tests.support.service import Member

pytestmark = pytest.mark.anyio
READ: dict[str, Any] = {"do": "mark_read"}


def add(name: str) -> dict[str, Any]:
    return {"do": "add_label", "label_name": name}


async def changes(member: Member) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await member.get("/v1/bookmarks/changes")).json()["data"]
    return found


async def everything(member: Member) -> list[dict[str, Any]]:
    answer = await member.listed(is_unread_only="false", hide_archived="false")
    found: list[dict[str, Any]] = answer["data"]
    return found


async def test_a_post_that_arrives_and_matches_gets_the_label(alice: Member) -> None:
    await alice.save(post_id="1", text="a bowerbird of old")
    await rule(alice, query={"q": "bower*"})
    await alice.save_all(
        [
            make.post(post_id="2", text="a bowerbird builds"),
            make.post(post_id="3", text="a kettle"),
        ]
    )
    await run(alice)

    # What was there before the rule is none of its business.
    assert await tags(alice) == {"1": [], "2": ["Birds"], "3": []}
    [stored] = await listed(alice)
    assert stored["fired"] == 1
    assert stored["last_fired_at"]


async def test_a_query_that_matches_nothing_changes_nothing(alice: Member) -> None:
    await rule(alice, query={"q": "?!"})
    await alice.save(post_id="1", text="Really?!")
    await run(alice)

    assert await tags(alice) == {"1": []}


@pytest.mark.both
async def test_each_action_can_be_undone_and_names_its_rule(alice: Member) -> None:
    await rule(alice, ADD, READ, {"do": "archive"}, name="Set aside")
    await alice.save(post_id="1")
    await run(alice)

    found = await changes(alice)
    assert [(one["made_by"], one["rule_name"], one["key_name"]) for one in found] == [
        ("rule", "Set aside", None)
    ] * 2
    assert [one["summary"] for one in found] == [
        "Marked 1 post read and archived.",
        "Added the label “Birds” to 1 post.",
    ]
    for one in found:
        await writing.send(alice, "POST", f"/v1/bookmarks/changes/{one['change_id']}/undo")
    [post] = (await alice.listed())["data"]
    assert (post["is_read"], post["is_archived"], post["tags"]) == (False, False, None)
    log = (await alice.get("/v1/rules/log")).json()["data"]
    assert [(one["name"], one["posts"], len(one["change_ids"])) for one in log] == [
        ("Set aside", 1, 2)
    ]


async def test_a_post_that_a_rule_changes_was_updated_then(alice: Member) -> None:
    await rule(alice, ADD, READ)
    await rule(alice, add("b"), name="B")
    await alice.save(post_id="1")
    await alice.save(post_id="2", tags=["Birds", "b"], is_read=True)
    saved = {one["post_id"]: one["updated_at"] for one in (await everything(alice))}
    alice.clock.now += 60 * MICROSECONDS
    await run(alice)

    updated = {one["post_id"]: one["updated_at"] for one in (await everything(alice))}
    assert updated["1"] > saved["1"]
    assert updated["2"] == saved["2"]


async def test_nothing_happens_twice(alice: Member) -> None:
    await rule(alice)
    await alice.save(post_id="1")
    await run(alice)
    await writing.remove(alice, "Birds", "1")
    await run(alice)
    await run(alice)

    assert await tags(alice) == {"1": []}


async def test_labelling_by_a_person_makes_a_rule_run_and_its_undo_does_not(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in (1, 2)])
    await rule(
        alice, {"do": "remove_label", "label_name": "Inbox"}, when="labelled", label_name="Inbox"
    )
    await writing.add(alice, "Inbox", "1")
    await writing.add(alice, "Other", "2")
    await run(alice)
    assert await tags(alice) == {"1": [], "2": ["Other"]}

    [last, *_] = await changes(alice)
    await writing.send(alice, "POST", f"/v1/bookmarks/changes/{last['change_id']}/undo")
    await run(alice)
    assert await tags(alice) == {"1": ["Inbox"], "2": ["Other"]}


async def test_a_rule_sees_what_rules_above_have_done_and_none_runs_twice(alice: Member) -> None:
    await rule(alice, add("B"), when="labelled", label_name="A", name="A to B")
    await rule(alice, add("A"), when="labelled", label_name="B", name="B to A")
    await rule(alice, add("A"), name="Arrivals")
    await rule(alice, add("C"), when="labelled", label_name="A", name="Below")
    await rule(alice, add("D"), query={"label": "C"}, name="By query")
    await alice.save(post_id="1")
    for _ in range(3):
        await run(alice)

    # "A to B" stands above the rule that adds A.
    assert await tags(alice) == {"1": ["A", "C", "D"]}


async def test_two_rules_that_undo_each_other_come_to_an_end(alice: Member) -> None:
    for here, there in (("A", "B"), ("B", "A")):
        swap = (add(there), {"do": "remove_label", "label_name": here})
        await rule(alice, *swap, when="labelled", label_name=here)
    await alice.save(post_id="1")
    await writing.add(alice, "A", "1")
    for _ in range(3):
        await run(alice)

    assert await tags(alice) == {"1": ["A"]}
    assert [one["fired"] for one in await listed(alice)] == [1, 1]


async def test_stop_leaves_a_post_to_no_further_rule(alice: Member) -> None:
    await rule(alice, {"do": "stop"}, query={"author": "ada"})
    await rule(alice, ADD)
    await alice.save_all(
        [make.post(post_id="1", author="ada"), make.post(post_id="2", author="bob")]
    )
    await run(alice)

    assert await tags(alice) == {"1": [], "2": ["Birds"]}


@pytest.mark.both
async def test_a_rule_moves_posts_to_the_trash_and_the_undo_brings_them_back(
    alice: Member,
) -> None:
    await rule(alice, {"do": "trash"}, query={"q": "lottery"})
    await rule(alice, ADD)
    await alice.save_all([make.post(post_id=str(n), text="a lottery") for n in range(1, 121)])
    await alice.save(post_id="500", text="a bower")
    await run(alice)

    assert await tags(alice) == {"500": ["Birds"]}
    for one in await changes(alice):
        if one["action"] == "trash":
            await writing.send(alice, "POST", f"/v1/bookmarks/changes/{one['change_id']}/undo")
    await run(alice)
    assert (await alice.listed())["meta"]["total_count"] == 121


async def test_a_star_adds_the_favourite_label(alice: Member) -> None:
    await rule(alice, {"do": "star"})
    await alice.save(post_id="1")
    await run(alice)

    assert await tags(alice) == {"1": ["favourite"]}


@pytest.mark.both
async def test_a_post_that_is_saved_again_is_another_trigger(alice: Member) -> None:
    await rule(alice, when="saved_again")
    first = await alice.save(post_id="1", sort_index=5)
    await alice.save(post_id="2")
    await run(alice)
    assert await tags(alice) == {"1": [], "2": []}

    await alice.change(first, sort_index=9)
    await writing.send(alice, "PATCH", "/v1/bookmarks/2", {"note": "mine"})
    await run(alice)
    assert await tags(alice) == {"1": ["Birds"], "2": []}


@pytest.mark.both
async def test_rules_of_every_night_look_at_the_whole_library(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n), text="a bower") for n in range(1, 251)])
    await rule(alice, when="nightly", query={"q": "bower", "is_unread_only": True})
    await run(alice)
    assert (await alice.listed(label="Birds"))["meta"]["total_count"] == 0

    alice.clock.now += 24 * 3_600 * MICROSECONDS
    await run(alice)
    assert (await alice.listed(label="Birds"))["meta"]["total_count"] == 250
    await run(alice)
    [stored] = await listed(alice)
    assert stored["fired"] == 250


async def test_an_import_of_many_posts_is_seen_whole(alice: Member) -> None:
    await rule(alice, query={"q": "even"})
    words = ("odd", "even")
    records = [make.post(post_id=str(n), text=words[n % 2 == 0]) for n in range(1, 2_601)]
    for first in range(0, len(records), 650):
        await alice.save_all(records[first : first + 650])
    await run(alice)

    assert (await alice.listed(label="Birds"))["meta"]["total_count"] == 1_300
    [stored] = await listed(alice)
    assert stored["fired"] == 1_300


@pytest.mark.both
async def test_a_rule_that_fails_again_and_again_is_switched_off(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.save(post_id="100")
    await writing.add(alice, "Only", "100")
    await rule(alice, add("New"), name="Full")
    await rule(alice, READ, name="Still works")
    monkeypatch.setattr(limits, "LABELS_MAX", 1)
    for n in range(FAILURES_MAX):
        await alice.save(post_id=str(n + 1))
        await run(alice)

    full, other = await listed(alice)
    assert not full["is_on"]
    assert full["notice"].startswith("Switched off: it failed 20 times in a row. The account")
    assert (other["fired"], other["is_on"]) == (FAILURES_MAX, True)
    await writing.send(alice, "PATCH", f"/v1/rules/{full['rule_id']}", {"is_on": True})
    assert [one["notice"] for one in await listed(alice)] == [None, None]


async def test_the_rules_of_an_account_without_a_paid_plan_rest(alice: Member) -> None:
    await rule(alice)
    await alice.set_plan("free")
    await alice.save(post_id="1")
    await run(alice)
    await alice.set_plan("pro")
    await alice.save(post_id="2")
    await run(alice)

    assert await tags(alice) == {"1": [], "2": ["Birds"]}


async def test_only_the_latest_of_the_log_are_kept(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RULE_LOG_MAX", 3)
    await rule(alice)
    for n in range(5):
        await alice.save(post_id=str(n + 1))
        await run(alice)
    rows = await alice.database.rows("SELECT number FROM rule_log ORDER BY number", {})
    assert [row[0] for row in rows] == [3, 4, 5]


@pytest.mark.both
async def test_rules_of_others_see_nothing(alice: Member, bob: Member) -> None:
    await rule(alice)
    await bob.save(post_id="1")
    await run(alice)
    await run(bob)

    assert await tags(bob) == {"1": []}
    assert await ruling.listed(bob) == []
