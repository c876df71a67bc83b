"""The pages of rules, webhooks and sharing, which `every_page` visits."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote_plus

import httpx

from tests.support import writing
from tests.support.hosts import hooks
from tests.support.visiting import Visitor
from tests.web.house import House, Reader, signed_in
from tests.web.library_posts import POSTS

Album = dict[str, httpx.Response]
HOSTILE: Final = "<b>تصميم</b>"
_BIRDS: Final = {"label_name": "birds"}


async def rules(album: Album, owner: Visitor) -> None:
    album["rules-empty"] = await owner.open("/rules")
    album["rule_edit"] = await owner.open("/rules/new?q=bower*")
    fields = {"when": "arrives", "q": "lang:de", "do0": "add_label", "label0": HOSTILE}
    album["rule_edit-refused"] = await owner.send("/rules/new", "/rules/new", do="save", **fields)
    fields |= {"do1": "archive", "past": "on", "name": HOSTILE}
    await owner.send("/rules/new", "/rules/new", do="save", **fields)
    fields |= {"when": "labelled", "label": "recipes", "q": "", "name": "Recipes do not wait"}
    await owner.send("/rules/new", "/rules/new", do="save", **fields)
    shown = await owner.open("/rules")
    rule_id = re.findall(r'name="off" value="(\w+)"', shown.text)[1]
    await owner.send("/rules", "/rules", off=rule_id)
    album["rules"] = await owner.open("/rules?said=rule-off")
    album["rule_edit-stored"] = await owner.open(f"/rules/{rule_id}")


async def webhooks(album: Album, house: House, receiver: hooks.Receiver, folder: Path) -> None:
    owner = await signed_in(house, "hooks@example.com")
    album["webhooks-empty"] = await owner.person.open("/webhooks")
    album["webhooks-refused"] = await owner.person.send(
        "/webhooks", "/webhooks", url="http://x", saved="1"
    )
    fields = {"url": receiver.url("/bower"), "saved": "on", "labelled": "on"}
    album["webhooks-secret"] = await owner.person.send("/webhooks", "/webhooks", **fields)
    failing = {"url": receiver.url("/webhook/7c1e"), "saved": "on", "tag": "Birds", "q": "webhooks"}
    await owner.person.send("/webhooks", "/webhooks", **failing, lists="on")
    receiver.answer("404 Not Found", b"There is no such webhook.", "/webhook/7c1e")
    post = hooks.Post(owner.member, receiver, folder)
    await owner.member.save(text="For the webhooks", tags=["Birds"])
    await post.deliver()
    album["webhooks"] = await owner.person.open("/webhooks?said=webhook-delivered")
    [path, *_] = re.findall(r'href="(/webhooks/[^"]+)"', album["webhooks"].text)
    album["webhook_message"] = await owner.person.open(path)
    await owner.member.client.aclose()


async def sharing(album: Album, reader: Reader) -> None:
    """What is shared, its management, and the page for strangers."""
    person, stranger = reader.person, reader.house.somebody()
    for post in (POSTS[0], POSTS[5]):
        await writing.send(
            reader.member, "POST", "/v1/labels/add", {"tweet_ids": [post["post_id"]], **_BIRDS}
        )
    album["sharing-none"] = await person.open("/sharing")
    new = "/sharing/new?label=birds"
    album["sharing_one-new"] = await person.open(new)
    shown = {"pictures": "on", "highlights": "on", "notes": "on", "saved_dates": "on"}
    words = {"title": "Nests, by beak", "description": HOSTILE, "curator": "Nora Ellis"}
    fields = {"label": "birds", "audience": "public", **shown, **words}
    album["sharing_one-refused"] = await person.send("/sharing/new", new, **fields, name="N")
    made = await person.send("/sharing/new", new, **fields, name="nests")
    album["sharing_one"] = await person.open(made.headers["location"])
    await person.send("/sharing", "/sharing", of="list unread")
    await person.send("/sharing/new", "/sharing/new?label=" + quote_plus(HOSTILE), label=HOSTILE)
    album["sharing"] = await person.open("/sharing")
    album["shared"] = await stranger.open("/c/nests")
    headers = {"Accept": "text/html"}
    album["shared_missing"] = await stranger.client.get("/c/nowhere", headers=headers)
