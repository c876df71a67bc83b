"""Messages are signed, in order, at least once, and for each webhook by itself."""

import asyncio
import json

import pytest

from bowerbird.clock import system_clock
from bowerbird.library.webhooks import delivering, messages
from bowerbird.model import instants
from bowerbird.model.events import EventType
from tests.support import digesting, waiting, writing
from tests.support.hosts.hooks import Post
from tests.support.posts import ruling
from tests.support.programs import node
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def has_received(post: Post, *paths: str) -> bool:
    return all(post.receiver.types(path) for path in paths)


async def test_a_saved_post_is_sent_with_a_signature_that_the_reference_library_accepts(
    post: Post,
) -> None:
    webhook = await post.add()
    saved = await post.member.save(text="Blue bottle caps")

    assert await post.deliver() is False

    (sent,) = post.receiver.received
    assert sent.is_signed_with(webhook["secret"])
    assert not sent.is_signed_with("whsec_" + "A" * 43 + "=")
    assert sent.headers["content-type"] == "application/json"
    assert sent.message["type"] == "post.created"
    data = sent.message["data"]
    assert data["post_id"] == saved["post_id"]
    assert data["bookmark"]["tweet_details"]["text"] == "Blue bottle caps"
    assert sent.message["timestamp"] == data["at"]
    (message,) = await post.messages(webhook)
    assert message["id"] == sent.headers["webhook-id"]
    assert (message["state"], message["status"], message["tries"]) == ("delivered", 204, 1)
    assert (await post.shown(webhook))["last_delivered_at"]


async def test_posts_that_were_there_before_are_never_sent(post: Post) -> None:
    await post.member.save()
    await post.add()

    await post.deliver()

    assert post.receiver.received == []
    assert await post.delivering.due_accounts(0) == []


@pytest.mark.both
async def test_messages_are_sent_in_order_and_once(post: Post) -> None:
    await post.add()
    ids = [(await post.member.save())["post_id"] for _ in range(5)]

    assert list(await post.delivering.due_accounts(0)) == [post.member.account_id]
    await post.deliver()
    await post.deliver()

    assert post.receiver.posts() == ids
    assert await post.delivering.due_accounts(0) == []


async def test_a_message_that_fails_holds_later_ones_back_and_is_tried_again(post: Post) -> None:
    webhook = await post.add()
    post.receiver.answer("500 Internal Server Error", b"out of\x00 order")
    first, second = [(await post.member.save())["post_id"] for _ in range(2)]

    await post.deliver()
    failing = await post.shown(webhook)
    await post.deliver()

    assert post.receiver.posts() == [first]
    assert failing["state"] == "active"
    assert failing["problem"] == "The answer was 500."
    assert failing["failing_since"]
    assert failing["next_try_at"] == "2026-07-18T08:21:18.841838+00:00"
    (message,) = await post.messages(webhook)
    assert (message["state"], message["status"]) == ("retrying", 500)
    assert message["answer"] == "out of order"

    post.receiver.answer("200 OK", b"ok")
    post.wait(5)
    await post.deliver()

    assert post.receiver.posts() == [first, first, second]
    ids = [one.headers["webhook-id"] for one in post.receiver.received]
    assert ids[0] == ids[1] != ids[2]
    assert all(one.is_signed_with(webhook["secret"]) for one in post.receiver.received)
    shown = await post.shown(webhook)
    assert shown["problem"] is shown["failing_since"] is shown["next_try_at"] is None
    assert [one["tries"] for one in await post.messages(webhook)] == [1, 2]


async def test_pauses_grow_and_after_three_days_the_webhook_is_disabled(post: Post) -> None:
    webhook = await post.add()
    post.receiver.answer("503 Service Unavailable")
    await post.member.save()
    started, pauses = post.member.clock.now, []

    while (shown := await post.shown(webhook))["state"] == "active":
        if shown["next_try_at"]:
            next_try = instants.parse(shown["next_try_at"])
            assert next_try is not None
            pauses.append((next_try - post.member.clock.now) // writing.SECOND)
            post.member.clock.now = next_try - 1
            assert await post.delivering.due_accounts(0) == []
            post.member.clock.now = next_try
        assert list(await post.delivering.due_accounts(0)) == [post.member.account_id]
        await post.deliver()

    assert pauses[:7] == [5, 60, 300, 1_800, 7_200, 18_000, 36_000]
    assert sorted(pauses[:-1]) == pauses[:-1]
    assert post.member.clock.now - started == 3 * writing.DAY
    assert shown["state"] == "disabled"
    assert shown["problem"] == "The answer was 503."
    assert [one["state"] for one in await post.messages(webhook)] == ["failed"]
    assert await post.delivering.due_accounts(0) == []


async def test_a_webhook_that_was_turned_on_again_loses_nothing(post: Post) -> None:
    webhook = await post.add()
    post.receiver.answer("410 Gone")
    first = (await post.member.save())["post_id"]
    await post.deliver()
    assert (await post.shown(webhook))["state"] == "disabled"
    second = (await post.member.save())["post_id"]
    post.receiver.answer("200 OK")

    turned_on = await post.change(webhook, is_active=True)
    await post.deliver()

    assert turned_on.json()["data"]["state"] == "active"
    assert post.receiver.posts() == [first, first, second]


@pytest.mark.parametrize("answer", ["410 Gone", "500 Internal Server Error"])
async def test_a_failure_at_the_former_address_is_not_one_of_the_new_address(
    post: Post, answer: str
) -> None:
    webhook = await post.add("/former")
    post.receiver.answer(answer, path="/former")
    held = post.receiver.held["/former"] = asyncio.Event()
    saved = await post.member.save()

    turn = asyncio.create_task(post.deliver())
    await waiting.until(lambda: has_received(post, "/former"))
    await post.change(webhook, url=post.receiver.url("/new"))
    held.set()
    await turn

    shown = await post.shown(webhook)
    assert (shown["state"], shown["problem"], shown["failing_since"]) == ("active", None, None)
    await post.deliver()
    assert post.receiver.posts("/new") == [saved["post_id"]]
    assert [one["state"] for one in await post.messages(webhook)] == ["delivered"]


async def test_a_failed_message_that_is_not_wanted_any_more_is_not_kept_as_one_to_send(
    post: Post,
) -> None:
    # Those to send are kept beyond the number of messages that a webhook keeps.
    webhook = await post.add(events=["post.created"])
    post.receiver.answer("500 Internal Server Error")
    await post.member.save()
    await post.deliver()

    await post.change(webhook, events=["label.deleted"])
    post.wait(5)
    await post.deliver()

    assert len(post.receiver.received) == 1
    assert [one["state"] for one in await post.messages(webhook)] == ["failed"]


async def test_a_paused_webhook_is_sent_what_happened_once_it_is_resumed(post: Post) -> None:
    webhook = await post.add()
    await post.change(webhook, is_active=False)
    saved = await post.member.save()

    await post.deliver()
    assert (await post.shown(webhook))["state"] == "paused"
    assert post.receiver.received == []
    await post.change(webhook, is_active=True)
    await post.deliver()

    assert post.receiver.posts() == [saved["post_id"]]


async def test_both_secrets_are_valid_for_a_day(post: Post) -> None:
    old = await post.add()
    path = f"/v1/webhooks/{old['id']}/rotate"
    new = (await writing.send(post.member, "POST", path)).json()["data"]
    assert new["former_secret_until"] == "2026-07-19T08:21:13.841838+00:00"
    await post.member.save()
    await post.deliver()
    post.wait(86_400)
    await post.member.save()
    await post.deliver()

    both, one = post.receiver.received
    assert new["secret"] != old["secret"]
    assert both.is_signed_with(new["secret"], 0)
    assert both.is_signed_with(old["secret"], 1)
    assert one.is_signed_with(new["secret"])
    assert not one.is_signed_with(old["secret"])
    assert len(one.headers["webhook-signature"].split()) == 1


async def test_a_webhook_with_an_unreadable_secret_is_turned_on_by_a_new_one(post: Post) -> None:
    hook = await post.add()
    await post.member.database.write(
        lambda transaction: transaction.run("UPDATE webhook SET sealed = :none", {"none": b"?"})
    )
    saved = await post.member.save()
    await post.deliver()
    off = await post.shown(hook)
    assert (off["state"], off["problem"][:26]) == ("disabled", "The secret cannot be read ")

    refused = await post.change(hook, is_active=True)
    assert refused.status_code == 400
    assert refused.json()["error"].endswith("Create a new one.")
    path = f"/v1/webhooks/{hook['id']}/rotate"
    new = (await writing.send(post.member, "POST", path)).json()["data"]
    shown = await post.shown(hook)
    await post.deliver()

    assert shown == {name: value for name, value in new.items() if name != "secret"}
    # There is no former secret to sign with.
    assert (shown["state"], shown["problem"]) == ("active", None)
    assert shown["former_secret_until"] is None
    assert post.receiver.posts() == [saved["post_id"]]
    assert post.receiver.received[0].is_signed_with(new["secret"])


@pytest.mark.slow
async def test_the_npm_reference_library_verifies_a_message_too(post: Post) -> None:
    post.member.clock.now = system_clock()
    webhook = await post.add()
    await post.member.save(text="Grüße, \u2028 “π”")
    await post.deliver()

    (sent,) = post.receiver.received
    script, secret = node.WANTED / "verified_webhook.mjs", webhook["secret"]
    headers, body = json.dumps(sent.headers), sent.body.decode()
    verified = node.run(script, node.packages(), secret, headers, body)
    assert verified.stdout == "post.created\n", verified.stderr
    refused = node.run(script, node.packages(), secret, headers, f"{body} ")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "WebhookVerificationError" in refused.stderr


async def test_only_the_chosen_types_labels_and_queries_are_sent(post: Post) -> None:
    await post.add("/types", events=["post.read", "post.labelled"])
    await post.add("/label", tag="birds")
    await post.add("/query", q="bower*")
    await post.add("/nothing", q="?!")
    bird = (await post.member.save(text="A bowerbird"))["post_id"]
    other = (await post.member.save(text="A train"))["post_id"]
    await post.deliver()
    await writing.add(post.member, "Birds", other)
    await post.deliver()
    await writing.remove(post.member, "Birds", other)
    await post.member.client.patch(f"/v1/bookmarks/{bird}", json={"is_read": True})
    await post.deliver()

    await post.member.client.delete(f"/v1/bookmarks/{other}")
    await post.deliver()

    assert post.receiver.types("/types") == ["post.labelled", "post.read"]
    assert post.receiver.types("/label") == ["label.created", "post.labelled", "post.unlabelled"]
    assert post.receiver.types("/query") == ["post.created", "post.read"]
    assert set(post.receiver.posts("/query")) == {bird}
    assert post.receiver.types("/nothing") == []


async def test_a_label_that_begins_with_a_sign_can_be_asked_for(post: Post) -> None:
    await post.add("/sigil", q="label:#birds")
    await post.add("/hashtag", q="tag:#birds")
    labelled = (await post.member.save(text="A bower", tags=["#birds"]))["post_id"]
    written = (await post.member.save(text="A bower with #birds"))["post_id"]
    await post.deliver()

    assert post.receiver.types("/sigil") == ["label.created", "post.created"]
    sent = [one.message["data"].get("post_id") for one in post.receiver.received]
    assert sent.count(labelled) == 2
    assert sent.count(written) == 1


@pytest.mark.both
async def test_a_webhook_with_a_filter_is_told_when_a_post_leaves_it(post: Post) -> None:
    await post.add("/label", tag="birds", events=["post.deleted", "post.unlabelled"])
    await post.add("/unread", q="bower* is:unread -label:old")
    await post.add("/image", q="has:image")
    member = post.member
    bird = (await member.save(text="A bowerbird", tags=["Birds"]))["post_id"]
    other = (await member.save(text="A train", tags=["old"]))["post_id"]
    await post.deliver()
    post.receiver.received.clear()

    for post_id in (bird, other):
        await member.client.patch(f"/v1/bookmarks/{post_id}", json={"is_read": True})
    await post.deliver()
    assert (post.receiver.types("/unread"), post.receiver.posts("/unread")) == (
        ["post.read"],
        [bird],
    )
    await member.client.patch(f"/v1/bookmarks/{bird}", json={"is_read": False})
    # It leaves by the first of these, and is looked at after the last.
    await writing.add(member, "old", bird)
    await member.client.patch(f"/v1/bookmarks/{bird}", json={"is_archived": True})
    for post_id in (bird, other):
        await member.client.delete(f"/v1/bookmarks/{post_id}")
    await post.deliver()

    assert post.receiver.posts("/label") == [bird]
    assert post.receiver.types("/label") == ["post.deleted"]
    assert post.receiver.posts("/unread") == [bird] * 3
    assert post.receiver.types("/unread") == ["post.read", "post.unread", "post.labelled"]
    # Whether a deleted post had a picture is not looked up.
    assert post.receiver.types("/image") == ["post.deleted"] * 2


async def test_what_changed_in_later_pages_does_not_hide_that_a_post_left(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "_EVENTS_PER_PAGE", 1)
    await post.add("/unread", q="label:birds is:unread")
    member = post.member
    bird, other = [
        (await member.save(tags=["birds"], is_read=is_read))["post_id"] for is_read in (False, True)
    ]
    await post.deliver()
    post.receiver.received.clear()

    async def leave() -> None:
        for post_id in (other, bird):
            await writing.remove(member, "birds", post_id)
        await member.client.patch(f"/v1/bookmarks/{bird}", json={"is_read": True})
        await post.deliver()

    await leave()
    assert post.receiver.types("/unread") == ["post.unlabelled"]
    assert post.receiver.posts("/unread") == [bird]

    await writing.add(member, "birds", other)
    await writing.add(member, "birds", bird)
    await member.client.patch(f"/v1/bookmarks/{bird}", json={"is_read": False})
    await post.deliver()
    post.receiver.received.clear()
    # What is beyond the bound is not known, and counts as met.
    monkeypatch.setattr(messages, "_LATER_EVENTS", 1)
    await leave()
    assert post.receiver.types("/unread") == ["post.unlabelled"] * 2
    assert post.receiver.posts("/unread") == [other, bird]


async def test_a_changed_text_or_note_may_make_a_post_leave(post: Post) -> None:
    await post.add("/words", q="bower*")
    await post.add("/note", q="has:note label:birds")
    bird = await post.member.save(text="A bowerbird", tags=["birds"])
    path = f"/v1/bookmarks/{bird['post_id']}"
    await post.member.client.patch(path, json={"note": "see"})
    await post.deliver()
    post.receiver.received.clear()

    await post.member.client.patch(path, json={"note": None})
    details = {**bird["tweet_details"], "text": "Another bird"}
    await post.member.change(bird, tweet_details=details)
    await post.deliver()

    # A note is searched too, so that either may have had the word.
    assert post.receiver.types("/words") == ["post.changed"] * 2
    assert post.receiver.types("/note") == ["post.changed"] * 2


async def test_a_slow_receiver_delays_no_other_one(post: Post, served: Service) -> None:
    await post.add("/slow")
    await post.add("/quick")
    theirs = Post(served.bob, post.receiver, post.folder)
    await theirs.add("/bob")
    post.receiver.held["/slow"] = asyncio.Event()
    for member in (served.alice, served.bob):
        await member.save()

    async with asyncio.TaskGroup() as running:
        running.create_task(post.deliver())
        running.create_task(theirs.deliver())
        await waiting.until(lambda: has_received(post, "/quick", "/bob"))
        post.receiver.held["/slow"].set()

    assert post.receiver.types("/slow") == ["post.created"]


async def test_a_turn_ends_and_leaves_the_rest(post: Post) -> None:
    await post.add()
    for _ in range(3):
        await post.member.save()

    assert await post.deliver(turn_s=0) is True
    assert await post.deliver() is False

    assert len(post.receiver.received) == 3


async def test_a_worker_that_ends_before_it_could_note_a_delivery_sends_it_again(
    post: Post,
) -> None:
    webhook = await post.add()
    await post.member.save()
    post.receiver.held["/hook"] = asyncio.Event()

    killed = asyncio.create_task(post.deliver())
    await waiting.until(lambda: has_received(post, "/hook"))
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    post.receiver.held["/hook"].set()
    await post.deliver()

    first, second = post.receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert [one["state"] for one in await post.messages(webhook)] == ["delivered"]


async def test_a_long_post_is_left_out_of_its_message(post: Post) -> None:
    await post.add()
    article = {"id": "1", "title": "Long", "plain_text": "word " * 10_000}
    saved = await post.member.save(article=article)

    await post.deliver()

    (sent,) = post.receiver.received
    assert len(sent.body) < 1_000
    assert sent.message["data"]["post_id"] == saved["post_id"]
    assert "bookmark" not in sent.message["data"]


async def test_a_free_account_is_sent_nothing_until_it_pays(post: Post) -> None:
    await post.add()
    await post.member.set_plan("free")
    await post.member.save()

    assert await post.delivering.due_accounts(0) == []
    await post.deliver()
    assert post.receiver.received == []
    await post.member.set_plan("pro")
    await post.deliver()

    assert len(post.receiver.received) == 1


async def test_only_the_last_hundred_messages_are_kept(post: Post) -> None:
    webhook = await post.add()
    records = [await post.member.save() for _ in range(101)]

    await post.deliver()

    assert len(post.receiver.received) == len(records)
    assert len(await post.messages(webhook)) == 100


@pytest.mark.both
async def test_a_rule_can_send_posts_to_one_webhook(post: Post) -> None:
    chosen = await post.add("/chosen", events=["post.deleted"])
    await post.add("/other")
    await ruling.rule(post.member, {"do": "send_to_webhook", "webhook_id": chosen["id"]})
    await post.member.save()
    await ruling.run(post.member)
    await post.deliver()

    assert post.receiver.types("/chosen") == [EventType.POST_SENT]
    assert post.receiver.types("/other") == ["post.created"]


@pytest.mark.both
async def test_a_new_digest_is_sent_as_json_to_webhooks_that_want_it(post: Post) -> None:
    member = post.member
    await digesting.prefer(member, "2026-07-14T08:00:00+00:00", highlight=True)
    saved = await member.save(text="Bowers are stages.", bookmarked_at="2026-07-15T08:00:00+00:00")
    path = f"/v1/bookmarks/{saved['post_id']}/highlights"
    await writing.send(member, "POST", path, {"quote": "stages", "comment": "Not nests"})
    await post.add("/digests", events=["digest.created"])
    await post.add("/labelled", tag="birds")

    await digesting.make(member)
    await post.deliver()

    [message] = post.receiver.received
    assert message.path == "/digests"
    body = message.message
    assert (body["type"], body["data"]["digest_id"]) == ("digest.created", "weekly-2026-07-13")
    shown = (await member.get("/v1/digests/latest", format="json")).json()["data"]
    assert body["data"]["digest"] == shown
    marked = shown["highlight"]
    assert (marked["text"], marked["comment"]) == ("stages", "Not nests")
    assert marked["post"]["post_id"] == saved["post_id"]
