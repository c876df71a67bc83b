"""Rules for posts that are near a label."""

from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.rules import past
from tests.support import make, writing
from tests.support.posts.ruling import listed, rule, run, tags
from tests.support.posts.texts_of_labels import BIRDS, MONEY, OTHERS
from tests.support.service import Member

pytestmark = pytest.mark.anyio
FILED: dict[str, Any] = {"do": "add_label", "label_name": "filed"}


async def fill(member: Member) -> None:
    texts = [(text, ["birds"]) for text in BIRDS] + [(text, ["money"]) for text in MONEY]
    texts += [(text, []) for text in OTHERS]
    records = [
        make.post(post_id=str(1_000 + n), text=text, author=f"a{n}", tags=labels)
        for n, (text, labels) in enumerate(texts)
    ]
    await member.save_all(records)
    await member.embed()


@pytest.mark.both
async def test_posts_that_arrive_near_a_label_wait_for_their_vectors(alice: Member) -> None:
    await fill(alice)
    await rule(alice, FILED, near_label="Birds")
    await alice.save(post_id="1", text="An owl and its young in the nest of a magpie.", author="d")
    await alice.save(post_id="2", text="Version 3 of the compiler inlines closures.", author="e")
    await run(alice)
    assert (await listed(alice))[0]["fired"] == 0

    await alice.embed()
    await run(alice)
    found = await tags(alice)
    assert (found["1"], found["2"]) == (["filed"], [])
    assert (await listed(alice))[0]["fired"] == 1


async def test_without_vectors_authors_and_words_decide_and_the_preview_says_so(
    alice: Member,
) -> None:
    for n in range(4):
        await alice.save(post_id=str(100 + n), text=f"note {n}", author="ines", tags=["databases"])
    await rule(alice, FILED, near_label="databases")
    await alice.save(post_id="1", text="something else", author="ines")
    await alice.save(post_id="2", text="a kettle", author="tom")
    asked = {"near_label": "databases"}
    shown = (await writing.send(alice, "POST", "/v1/rules/preview", asked)).json()["data"]
    assert (shown["count"], shown["newest"]) == (1, 6)
    assert "Search by meaning is not ready" in shown["notice"]
    await run(alice)

    found = await tags(alice)
    assert (found["1"], found["2"]) == (["filed"], [])


async def test_vectors_that_do_not_come_are_not_waited_for_for_ever(alice: Member) -> None:
    await fill(alice)
    await rule(alice, FILED, near_label="birds")
    await alice.save(post_id="1", text="All birds of the garden", author="d")
    await run(alice)
    assert (await tags(alice))["1"] == []
    alice.clock.now += 600 * MICROSECONDS
    await run(alice)
    assert (await tags(alice))["1"] == ["filed"]


@pytest.mark.both
async def test_a_rule_for_what_is_near_is_applied_to_the_library(alice: Member) -> None:
    await fill(alice)
    await alice.save(post_id="1", text="An owl and its young in the nest of a magpie.", author="d")
    await alice.embed()
    made = await rule(alice, {"do": "archive"}, near_label="birds")
    path = f"/v1/rules/{made['rule_id']}/apply"
    refused = await writing.send(alice, "POST", path, {"expected_count": 20})
    assert refused.status_code == 409
    asked = {"near_label": "birds", "query": {"author": "d"}}
    shown = (await writing.send(alice, "POST", "/v1/rules/preview", asked)).json()["data"]
    assert [one["tweet_id"] for one in shown["examples"]] == ["1"]
    await writing.send(alice, "POST", path, {})
    assert "1" not in await alice.ids()


async def test_other_rules_wait_no_longer_than_five_minutes_while_posts_go_on_arriving(
    alice: Member,
) -> None:
    await fill(alice)
    await rule(alice, FILED, near_label="birds")
    await rule(alice, {"do": "add_label", "label_name": "seen"})
    for n in range(1, 4):
        await alice.save(post_id=str(n), text=f"A kettle, number {n}", author="d")
        await run(alice)
        alice.clock.now += 100 * MICROSECONDS
    assert (await tags(alice))["1"] == []
    await alice.save(post_id="4", text="A kettle, number 4", author="d")
    await run(alice)
    assert (await tags(alice))["1"] == ["seen"]


async def test_of_the_library_the_newest_posts_are_compared_and_shown_newest_first(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "PAST_MAX", 3)
    for n in range(4):
        await alice.save(post_id=str(100 + n), text=f"note {n}", author="ines", tags=["databases"])
    for n in (1, 2, 3, 4):
        await alice.save(post_id=str(n), text="something else", author="ines")
    made = await rule(alice, FILED, near_label="databases")
    asked = {"near_label": "databases"}
    shown = (await writing.send(alice, "POST", "/v1/rules/preview", asked)).json()["data"]
    assert (shown["count"], shown["newest"]) == (3, 3)
    assert [one["tweet_id"] for one in shown["examples"]] == ["4", "3", "2"]

    await writing.send(alice, "POST", f"/v1/rules/{made['rule_id']}/apply", {"expected_count": 3})
    found = await tags(alice)
    assert [found[one] for one in "1234"] == [[], ["filed"], ["filed"], ["filed"]]
