"""/rules: the list, the form with what it would match, and the buttons."""

import re

import pytest

from bowerbird.requests import limits
from tests.support import writing
from tests.support.posts.ruling import listed, rule, run
from tests.web.house import Reader, text_of

pytestmark = pytest.mark.anyio


async def test_a_rule_is_made_tried_and_applied_to_what_is_there(ann: Reader) -> None:
    for text in ("a bower", "a bowl", "bowers"):
        await ann.member.save(text=text)
    fields = {"when": "arrives", "q": "bower*", "do0": "add_label", "label0": "Birds"}

    tried = await ann.person.send("/rules/new", "/rules/new", do="show", **fields)
    assert '<b class="num">2</b> posts' in tried.text
    assert await listed(ann.member) == []

    saved = await ann.person.send(
        "/rules/new", "/rules/new", do="save", name="Birds", past="on", **fields
    )
    assert saved.headers["location"] == "/rules?said=rule-applied"
    assert (await ann.member.listed(label="Birds"))["meta"]["total_count"] == 2
    page = await ann.page("/rules")
    says = re.sub(r"<[^>]+>", "", page.partition('<p class="says">')[2].partition("</p>")[0])
    assert says == "When a post arrives and matches bower*, add the label Birds."
    assert "was applied to 2 posts that were there" in page


async def test_a_rule_is_switched_moved_changed_and_deleted(ann: Reader) -> None:
    first, second = await rule(ann.member, name="A"), await rule(ann.member, name="B")

    await ann.person.send("/rules", "/rules", up=second["rule_id"])
    await ann.person.send("/rules", "/rules", off=first["rule_id"])
    assert [(one["name"], one["is_on"]) for one in await listed(ann.member)] == [
        ("B", True),
        ("A", False),
    ]
    path = f"/rules/{first['rule_id']}"
    fields = {"when": "labelled", "label": "Inbox", "do0": "trash", "do1": "", "name": "Away"}
    await ann.person.send(path, path, do="save", **fields)
    [_, changed] = await listed(ann.member)
    assert (changed["name"], changed["label_name"], changed["actions"]) == (
        "Away",
        "Inbox",
        [{"do": "trash"}],
    )
    await ann.person.send("/rules", "/rules", delete=first["rule_id"])
    assert [one["name"] for one in await listed(ann.member)] == ["B"]


async def test_filters_that_a_program_has_set_stay(ann: Reader) -> None:
    made = await rule(ann.member, query={"author": "ada", "q": "nest"})
    path = f"/rules/{made['rule_id']}"
    assert "author <bdi>ada</bdi>" in await ann.page(path)
    fields = {"when": "arrives", "q": "wall", "near": "Walls", "do0": "archive", "name": "N"}
    await ann.person.send(path, path, do="save", **fields)
    [changed] = await listed(ann.member)
    assert (changed["query"], changed["near_label"]) == ({"author": "ada", "q": "wall"}, "Walls")
    assert 'name="near" value="Walls"' in await ann.page(path)
    assert '<bdi class="name">Walls</bdi>' in await ann.page("/rules")


async def test_the_form_offers_the_webhooks_of_the_account(ann: Reader) -> None:
    url = {"url": "https://hooks.example.com/secret"}
    created = await writing.send(ann.member, "POST", "/v1/webhooks", url)
    option = f"send:{created.json()['data']['id']}"
    fields = {"when": "arrives", "do0": option, "name": "Out"}
    await ann.person.send("/rules/new", "/rules/new", do="save", **fields)

    [made] = await listed(ann.member)
    assert '<bdi class="name">hooks.example.com</bdi>' in await ann.page("/rules")
    assert f'value="{option}" selected' in await ann.page(f"/rules/{made['rule_id']}")
    await writing.send(ann.member, "DELETE", f"/v1/webhooks/{option.partition(':')[2]}")
    form = await ann.page(f"/rules/{made['rule_id']}")
    assert "Send it to a webhook that was deleted" in form
    assert "the webhook that it sends posts to was deleted" in await ann.page("/rules")


async def test_a_rule_that_cannot_be_applied_yet_is_stored_once(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ann.member.save(text="a bower")
    fields = {"do": "save", "name": "N", "when": "arrives", "do0": "archive", "past": "on"}
    monkeypatch.setattr(limits, "UNFINISHED_CHANGES_MAX", 0)

    refused = await ann.person.send("/rules/new", "/rules/new", **fields)
    [stored] = await listed(ann.member)
    path = f"/rules/{stored['rule_id']}"
    assert f'action="{path}"' in refused.text
    monkeypatch.undo()
    await ann.person.send(path, path, **fields)

    assert refused.status_code == 429
    assert len(await listed(ann.member)) == 1


async def test_what_rules_did_is_listed_with_their_names(ann: Reader) -> None:
    await rule(ann.member, name="Birds")
    await rule(ann.member, {"do": "mark_read"}, {"do": "trash"}, name="Away")
    await ann.member.save(post_id="1")
    await run(ann.member)
    page = await ann.page("/rules")
    assert "<b><bdi>Birds</bdi></b> labelled 1 post" in page
    assert "<b><bdi>Away</bdi></b> marked 1 post read, moved 1 post to the trash" in page
    assert "the rule “Birds”" in await ann.page("/activity")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"do0": "archive"}, "“Name” must have 1 to 100 characters."),
        ({"name": "N", "do0": "add_label"}, "“Label” must have 1 to 100 characters, at"),
        ({"name": "N"}, "“then” needs an action."),
        (
            {"name": "N", "do0": "archive", "when": "nightly", "near": "B"},
            "“Near the label” is",
        ),
    ],
)
async def test_the_form_calls_a_refused_field_by_its_name_there(
    ann: Reader, fields: dict[str, str], sentence: str
) -> None:
    sent = {"when": "arrives", **fields}

    refused = await ann.person.send("/rules/new", "/rules/new", do="save", **sent)

    assert refused.status_code == 400
    assert sentence in text_of(refused)
