"""Rules follow the labels and webhooks that they name."""

from typing import Any

import pytest

from tests.support import writing
from tests.support.posts.ruling import ADD, listed, rule, run, tags
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]
URL = "https://hooks.example.com/b"


def about(action: str, name: str) -> dict[str, Any]:
    return {"do": action, "label_name": name}


async def label(member: Member, name: str) -> str:
    """Creates it on an old post, which no rule is for. Returns its id."""
    await member.save(post_id="100")
    await writing.add(member, name, "100")
    return await writing.label_id(member, name)


async def change(member: Member, method: str, path: str, body: Any = None) -> str:
    response = await writing.send(member, method, f"/v1/{path}", body)
    assert response.status_code < 300, response.text
    return str(response.json()["meta"]["change"]["change_id"])


async def undo(member: Member, change_id: str) -> None:
    await writing.send(member, "POST", f"/v1/bookmarks/changes/{change_id}/undo")


async def webhook(member: Member) -> str:
    created = await writing.send(member, "POST", "/v1/webhooks", {"url": URL})
    return str(created.json()["data"]["id"])


async def test_a_renamed_label_has_its_new_name_in_rules_and_the_old_one_after_the_undo(
    alice: Member,
) -> None:
    number = await label(alice, "Birds")
    await rule(
        *(alice, about("add_label", "Seen"), about("remove_label", "birds")),
        when="labelled",
        label_name="Birds",
        near_label="birds",
        query={"q": '-label:birds (folder:"BIRDS" OR birds)', "label": "Nests,Birds"},
    )
    await rule(alice, about("add_label", "Other"))
    renamed = await change(alice, "PATCH", f"labels/{number}", {"label_name": "Wild birds"})

    first, other = await listed(alice)
    assert first["label_name"] == first["near_label"] == "Wild birds"
    assert first["actions"] == [about("add_label", "Seen"), about("remove_label", "Wild birds")]
    assert first["query"] == {
        "q": '-label:"Wild birds" (folder:"Wild birds" OR birds)',
        "label": ["Nests", "Wild birds"],
    }
    assert other["actions"] == [about("add_label", "Other")]
    await undo(alice, renamed)
    [first, _] = await listed(alice)
    assert (first["label_name"], first["query"]["label"]) == ("Birds", "Nests,Birds")


@pytest.mark.parametrize("name", ['6" nails', "the “big” ones", "x" * 100])
async def test_a_rule_whose_query_cannot_have_the_new_name_is_switched_off(
    alice: Member, name: str
) -> None:
    number = await label(alice, "Birds")
    words = f"{'n' * 580}{' -label:birds' * 32}"
    await rule(alice, {"do": "trash"}, query={"q": words, "tag": "Birds"})
    await rule(alice, {"do": "archive"}, query={"tag": "birds"})
    await change(alice, "PATCH", f"labels/{number}", {"label_name": name})

    first, other = await listed(alice)
    assert first["query"] == {"q": words, "tag": name}
    assert first["notice"] == f"Switched off: its query cannot contain the name “{name}”."
    assert (first["is_on"], other["is_on"], other["query"]) == (False, True, {"tag": name})


async def test_a_renamed_label_goes_on_making_its_rule_run(alice: Member) -> None:
    number = await label(alice, "Inbox")
    await rule(alice, about("add_label", "Seen"), when="labelled", label_name="Inbox")
    await change(alice, "PATCH", f"labels/{number}", {"label_name": "New"})
    await alice.save(post_id="1")
    await writing.add(alice, "New", "1")
    await run(alice)

    assert await tags(alice) == {"1": ["New", "Seen"], "100": ["New"]}


async def test_merging_labels_merges_them_in_rules_until_the_undo(alice: Member) -> None:
    number, into = await label(alice, "Bird"), await label(alice, "Birds")
    await rule(alice, about("add_label", "Bird"), about("add_label", "Birds"), name="Both")
    await rule(alice, about("add_label", "Birds"), name="One")
    swap = (about("add_label", "Birds"), about("remove_label", "Bird"))
    await rule(alice, *swap, when="labelled", label_name="Bird", name="Swap")
    merged = await change(alice, "POST", f"labels/{number}/merge", {"into": into})

    both, one, swapped = await listed(alice)
    assert both["actions"] == one["actions"] == [about("add_label", "Birds")]
    assert (both["is_on"], swapped["is_on"]) == (True, False)
    assert swapped["notice"].endswith("it would add and remove “Birds”.")
    await undo(alice, merged)
    both, one, swapped = await listed(alice)
    assert both["actions"] == [about("add_label", "Bird"), about("add_label", "Birds")]
    assert one["actions"] == [about("add_label", "Birds")]
    assert swapped["actions"] == list(swap)
    assert (swapped["label_name"], swapped["is_on"], swapped["notice"]) == ("Bird", True, None)


async def test_the_undo_of_a_merge_leaves_rules_alone_that_were_changed_since(
    alice: Member,
) -> None:
    number, into = await label(alice, "Bird"), await label(alice, "Birds")
    query = {"q": "label:bird -label:birds", "label": ["Bird", "Birds"]}
    await rule(alice, {"do": "archive"}, query=query, name="Query")
    edited = await rule(alice, about("add_label", "Bird"), name="Edited")
    swap = (about("add_label", "Birds"), about("remove_label", "Bird"))
    off = await rule(alice, *swap, name="Off")
    await rule(alice, about("add_label", "Bird"), name="Added")
    merged = await change(alice, "POST", f"labels/{number}/merge", {"into": into})
    later = [about("add_label", "Birds"), {"do": "archive"}]
    for one, body in ((edited, {"actions": later}), (off, {"actions": swap[:1]})):
        path = f"/v1/rules/{one['rule_id']}"
        assert (await writing.send(alice, "PATCH", path, body)).status_code == 200
    await writing.send(alice, "PATCH", f"/v1/labels/{into}", {"label_name": "Wild"})
    await undo(alice, merged)

    found = {one["name"]: one for one in await listed(alice)}
    assert found["Edited"]["actions"] == [about("add_label", "Wild"), {"do": "archive"}]
    assert (found["Off"]["actions"], found["Off"]["is_on"]) == ([about("add_label", "Wild")], False)
    # The rename has changed it since; undone first, it would be as it was.
    assert found["Added"]["actions"] == [about("add_label", "Wild")]
    assert found["Query"]["query"]["label"] == ["Wild"]


async def test_the_undo_of_a_merge_gives_back_the_joined_labels_of_a_query(alice: Member) -> None:
    number, into = await label(alice, "Bird"), await label(alice, "Birds")
    query = {"q": "label:bird -label:birds", "label": ["Bird", "Birds"]}
    await rule(alice, {"do": "archive"}, query=query)
    merged = await change(alice, "POST", f"labels/{number}/merge", {"into": into})
    assert (await listed(alice))[0]["query"]["label"] == ["Birds"]
    await undo(alice, merged)
    assert (await listed(alice))[0]["query"] == query


async def test_deleting_a_label_switches_off_the_rules_that_need_it_until_the_undo(
    alice: Member,
) -> None:
    number = await label(alice, "Birds")
    await rule(alice, ADD, name="Adds")
    await rule(alice, about("remove_label", "Birds"), name="Removes")
    await rule(alice, {"do": "archive"}, query={"q": "label:birds"}, name="Asks")
    await rule(alice, {"do": "archive"}, query={"q": "-label:birds"}, name="Without")
    deleted = await change(alice, "DELETE", f"labels/{number}")

    found = await listed(alice)
    assert [one["is_on"] for one in found] == [False, True, False, True]
    assert found[0]["notice"] == "Switched off: the label “Birds” was deleted."
    await alice.save(post_id="1")
    await run(alice)
    assert await tags(alice) == {"1": [], "100": []}
    await undo(alice, deleted)
    assert [(one["is_on"], one["notice"]) for one in await listed(alice)] == [(True, None)] * 4
    await alice.save(post_id="2")
    await run(alice)
    assert await tags(alice) == {"1": [], "2": ["Birds"], "100": ["Birds"]}


async def test_a_rule_sends_posts_once_and_needs_its_webhook(alice: Member) -> None:
    refused = await writing.send(
        *(alice, "POST", "/v1/rules"),
        {"name": "n", "when": "arrives", "actions": [{"do": "send_to_webhook", "webhook_id": "x"}]},
    )
    assert (refused.status_code, "webhook_id" in refused.json()["error"]) == (400, True)
    hook = await webhook(alice)
    send = {"do": "send_to_webhook", "webhook_id": hook}
    await rule(alice, send, query={"q": "bower"}, name="Arrivals")
    await rule(alice, send, {"do": "mark_read"}, when="nightly", name="Nights")
    await alice.save(post_id="1", text="a bower")
    await alice.save(post_id="2", text="a bowl", is_read=True)
    await run(alice)
    alice.clock.now += 24 * 3_600 * 1_000_000
    await run(alice)
    alice.clock.now += 24 * 3_600 * 1_000_000
    await run(alice)

    arrivals, nights = await listed(alice)
    assert (arrivals["fired"], nights["fired"]) == (1, 1)
    log = (await alice.get("/v1/rules/log")).json()["data"]
    assert [(one["name"], one["posts"], one["sent"]) for one in log] == [
        ("Nights", 1, 1),
        ("Arrivals", 1, 1),
    ]
    await writing.send(alice, "DELETE", f"/v1/webhooks/{hook}")
    assert {one["notice"] for one in await listed(alice)} == {
        "Switched off: the webhook that it sends posts to was deleted."
    }
