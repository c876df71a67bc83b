"""Every page of a service with people and posts, in each state that looks different.

`python -m tests.web.every_page FOLDER` saves screenshots of all: light, dark and on a phone.
"""

import asyncio
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import httpx
from playwright.sync_api import Page

from bowerbird.clock import MICROSECONDS
from bowerbird.library.accounts.tokens import Devices
from bowerbird.model.arrival import FIRST_DEMO_ID
from bowerbird.settings import Settings
from bowerbird.web import templating
from bowerbird.web.account import connect as connecting
from bowerbird.web.imports.saving import PREVIEW
from bowerbird.web.media import ARRIVALS
from bowerbird.web.pages import HtmlPage, page
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Reply
from extension.build import build as build_extension
from tests.support import databases, digesting, make, saving, writing
from tests.support.hosts import hooks, networks
from tests.support.visiting import Visitor
from tests.web import rule_and_share_pages
from tests.web.chromium import Chromium
from tests.web.connect.conftest import redeem
from tests.web.house import House, Reader, signed_in
from tests.web.imports.conftest import brought_in, checked, posts, send_file
from tests.web.library_posts import POSTS
from tests.web.rule_and_share_pages import HOSTILE, Album
from tests.web.sign_in import ceremonies, providing
from tests.web.sign_in.ceremonies import ANY_PAGE
from tests.web.sign_in.providing import Street

SETTINGS: Final = Settings()
MAILING: Final = {"smtp_url": "smtp://127.0.0.1:9", "mail_from": "posts@example.org"}
EMAIL: Final = "nora.van.der.meer@example.org"
LINK: Final = "https://x.com/bowerwatch/status/1945678901234567890"
ALL: Final = "/library?is_unread_only=false&hide_archived=false"
SIZES: Final[dict[str, dict[str, Any]]] = {
    "light": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
FAILURES: Final[dict[str, dict[str, Any]]] = {
    "error": {"reference": "472ab0ac2c5e-1"},
    "maintenance": {"retry_after": 5},
}
TEN_MINUTES: Final = 600 * MICROSECONDS
_JSON: Final = [(b"content-type", b"application/json")]
# A list asks whether its images have arrived, and a page that saves a post for its text.
_ANSWERS: Final = {
    ARRIVALS: b'{"images": {}}',
    PREVIEW: b'{"text": "He has 41 blue things now."}',
}


def pages() -> Album:
    """Name -> page. A name starts with that of the template."""
    return asyncio.run(_walk())


async def _walk() -> Album:
    album: Album = {}
    with tempfile.TemporaryDirectory() as folder:
        template = databases.sqlite_template(Path(folder) / "template")
        data = Path(folder) / "data"
        data.mkdir()
        async with (
            databases.fresh_sqlite(template, data) as database,
            networks.playing() as reached,
            hooks.receiving() as receiver,
            providing.street(
                database,
                data,
                sign_up="open",
                webhooks_private_hosts=receiver.host,
                **MAILING,
                **reached.settings,
            ) as street,
        ):
            await _doors(album, street)
            owner = await street.house.owner(EMAIL)
            await _credentials(album, street.house, owner)
            await _account(album, street.house, owner)
            await _transfers(album, street.house, owner)
            await _sources(album, owner, reached)
            await rule_and_share_pages.webhooks(album, street.house, receiver, data)
            await _empty(album, street.house)
            await rule_and_share_pages.rules(album, owner)
            # The weeks of the posts.
            street.house.clock.now = digesting.instant("2026-08-28T12:00:00+00:00")
            reader = await signed_in(street.house, "reader@example.com")
            await _library(album, reader)
            await rule_and_share_pages.sharing(album, reader)
            await _overviews(album, reader)
            await _many(album, reader)
            await reader.member.client.aclose()
    return album


async def _doors(album: Album, street: Street) -> None:
    """The pages of strangers, before there is an owner."""
    house, stranger = street.house, street.house.somebody()
    paths = {"home": "/", "keys_signed_out": "/keys", "missing": "/nowhere", "goodbye": "/goodbye"}
    doors = {"sign_in": "/sign-in?next=/keys", "sign_up": "/sign-up", "link": "/link"}
    links = {"link-invitation": "/link?invitation=yes", "link_email-out": "/link/email"}
    for name, path in {**paths, **doors, **links, "offline": "/offline"}.items():
        album[name] = await stranger.open(path)
    demo = {"library-looking": "/demo/library", "views-looking": "/demo/views"}
    for name, path in (demo | {"post-looking": f"/demo/p/{FIRST_DEMO_ID + 7}"}).items():
        album[name] = await stranger.open(path)
    token = await house.links.create_for_owner()
    fields = {"token": token, "email": "nora@"}
    album["link-owner"] = await stranger.send("/link", "/link", **fields)
    album["link-used"] = await stranger.send("/link", "/link", token="x" * 43)
    for name, path in (("sign_in-refused", "/sign-in/passkey"), ("sign_up-refused", "/sign-up")):
        await stranger.send(f"{path}/options", ANY_PAGE)
        album[name] = await stranger.send(path, ANY_PAGE, credential="{}", next="/keys")
    for name, email in (("sign_in-sent", "nora@example.org"), ("sign_in-address", "nora@")):
        album[name] = await stranger.send("/sign-in/link", "/sign-in", email=email)
    album["continue"] = await stranger.send("/sign-in/oidc", ANY_PAGE)
    begun = await street.start(stranger)
    album["problem"] = await street.come_back(stranger, begun, error="access_denied")
    album["sign_up_offer"] = await street.go(stranger)


async def _credentials(album: Album, house: House, owner: Visitor) -> None:
    """Keys, extensions and their links, and proofs."""
    await owner.send("/keys", "/keys", name=HOSTILE)
    album["key_new"] = await owner.send("/keys", "/keys", name="Claude on the laptop")
    for name in ("Firefox, laptop", HOSTILE):
        await Devices(house.database, house.clock).create(await house.account_id(EMAIL), name)
    album["keys"] = await owner.open("/keys?said=key-revoked")
    album["keys-refused"] = await owner.send("/keys", "/keys", name="x" * 101)
    with tempfile.TemporaryDirectory() as folder, patch.object(connecting, "FOLDER", Path(folder)):
        album["connect-absent"] = await owner.open("/connect")
        build_extension(Path(folder))
        album["connect"] = await owner.open("/connect?browser=chromium")
        album["connect-firefox"] = await owner.open("/connect?browser=firefox")
    album["connect-line"] = shown = await owner.send("/connect", "/connect")
    [path] = re.findall(r'href="(/connect/links/[0-9a-f]+)"', shown.text)
    album["connect_link"] = await owner.open(path)
    [code] = re.findall(r"/#([0-9A-Z]{4}-[0-9A-Z]{4})</code>", shown.text)
    await redeem(house.service, code, HOSTILE)
    album["connect_link-connected"] = await owner.open(path)
    for _ in range(6):
        album["connect-full"] = full = await owner.send("/connect", "/connect")
        path = next(iter(re.findall(r'href="(/connect/links/[0-9a-f]+)"', full.text)), path)
    member = await house.member("member@example.com", "free")
    house.clock.now += TEN_MINUTES
    album["connect_link-over"] = await owner.open(path)
    album["reauthenticate-by-link"] = await member.open("/reauthenticate?next=/keys")
    await house.enter(owner, await house.links.create_for_owner())
    await ceremonies.add(owner, "Laptop")
    await ceremonies.add(owner, HOSTILE)
    house.clock.now += TEN_MINUTES
    album["reauthenticate"] = await owner.open("/reauthenticate?next=/keys")
    await house.enter(owner, await house.links.create_for_owner())


async def _account(album: Album, house: House, owner: Visitor) -> None:
    album["account"] = await owner.open("/account")
    album["welcome-done"] = await owner.open("/welcome")
    album["account-refused"] = await owner.send(
        "/account/preferences", "/account", time_zone="Berlin"
    )
    album["account_delete-owner"] = await owner.open("/account/delete")
    free = await house.member("free@example.com", "free")
    album["account-free"] = await free.open("/account")
    album["account_delete"] = await free.open("/account/delete")
    album["account_delete-refused"] = await free.send(
        "/account/delete", "/account/delete", phrase="x"
    )
    album["link_email"] = await owner.open("/link/email")
    album["link_email-used"] = await owner.send("/link/email", "/link/email", token="x" * 43)
    album["activity"] = await owner.open("/activity")
    album["missing-signed-in"] = await owner.open("/nowhere")
    await owner.send("/exports", "/exports", format="json", posts="whole")
    await owner.send("/exports", "/exports", format="csv", posts="filtered", q=HOSTILE)
    [job_id, *_] = re.findall(
        r'action="/exports/([0-9a-f]+)/cancel"', await _text(owner, "/exports")
    )
    album["exports"] = await owner.open("/exports?author=ada&posted_from=2026-07-01")
    await owner.send(f"/exports/{job_id}/cancel", "/exports")
    album["exports-cancelled"] = await owner.open("/exports?posted_from=-7d")
    await house.accounts.create("x&b'y@example.com")
    await house.database.write(
        lambda transaction: transaction.run(
            "UPDATE job SET state = 'failed', error = :error", {"error": HOSTILE}
        )
    )
    album["operator"] = await owner.open("/operator?checks=all")
    album["operator-quiet"] = await owner.open(f"/operator?search={HOSTILE}")
    note = {"note": HOSTILE}
    album["operator-invited"] = await owner.send("/operator/invitations", "/operator", **note)
    album["operator-refused"] = await owner.send(
        "/operator/invitations", "/operator", note="x" * 200
    )


async def _text(person: Visitor, path: str) -> str:
    return (await person.open(path)).text


async def _transfers(album: Album, house: House, owner: Visitor) -> None:
    """Saving a link, and the steps of an import."""
    album["save"] = await owner.open(f"/save?url={LINK}")
    album["save-other"] = await owner.open("/save?url=https://blog.example/%3Cb%3E")
    album["save-refused"] = await owner.send("/save", "/save", link=LINK, labels="x" * 120)
    await owner.send("/save", "/save", link=LINK, labels=f"birds, {HOSTILE}")
    album["save-known"] = await owner.open(f"/save?url={LINK}")
    rows = (
        "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        f"1,A,mine,,https://x.com/a/status/20,{HOSTILE},,2026-01-01T00:00:00.000Z,,,false\n"
        "2,A page,,,https://example.org/page,Unsorted,,2026-01-01T00:00:00.000Z,,,false\n"
        "3,B,,,https://x.com/a/status/21,Unsorted,,2099-01-01T00:00:00.000Z,,,false\n"
    ).encode()
    started = await send_file(owner, rows, "raindrop.csv")
    album["import_running"] = await owner.open(started.headers["location"])
    await house.service.file_imports.finished()
    album["import_check"] = check = await owner.open(started.headers["location"])
    album["import_done"] = await brought_in(house, owner, check)
    found = re.findall(r'href="(/import/labels/[0-9a-z]+)"', album["import_done"].text)
    album["import_labels"] = await owner.open(found[0])
    album["import_check-imported"] = await owner.open(started.headers["location"])
    album["import_check-known"] = await checked(house, owner, rows, "raindrop.csv")
    first = await checked(house, owner, posts("31"), f"{HOSTILE}.json")
    for number in ("32", "33"):
        await checked(house, owner, posts(number))
    album["import_check-gone"] = await owner.open(first.request.url.path)
    album["import_failed"] = await checked(house, owner, b"%PDF-1.7 ...", "report.pdf")
    album["import"] = await owner.open("/import")
    album["import-refused"] = await owner.send(
        "/import/links", "/import", links=f"{LINK}\n{HOSTILE}"
    )


async def _sources(album: Album, owner: Visitor, reached: networks.Networks) -> None:
    album["sources-empty"] = await owner.open("/sources")
    fields = {"mastodon_server": reached.address, "mastodon_token": "wrong"}
    album["sources-refused"] = await owner.send("/sources/mastodon", "/sources", **fields)
    fields["mastodon_token"] = networks.ALICE_TOKEN
    await owner.send("/sources/mastodon", "/sources", **fields)
    begun = await owner.send("/sources/x", "/sources", x_client_id="app", x_client_secret="secret")
    [url] = re.findall(r'href="(https://x\.com/i/oauth2/authorize[^"]+)"', begun.text)
    state = httpx.URL(unescape(url)).params["state"]
    reached.codes.add("code")
    await owner.client.get("/sources/x/return", params={"state": state, "code": "code"})
    album["sources"] = await owner.open("/sources?said=source-connected")


async def _empty(album: Album, house: House) -> None:
    """What people see who have nothing, or only what they have read."""
    new = await signed_in(house, "new@example.com")
    for name, path in {
        "library_empty": "/library",
        "welcome": "/welcome",
        "welcome-posts": "/welcome?step=posts",
        "welcome-agent": "/welcome?step=agent",
        "statistics-empty": "/statistics",
        "digests-empty": "/digests",
        "highlights-empty": "/highlights",
        "views-none": "/views",
        "trash-empty": "/trash",
        "exports-empty": "/exports",
        "labels-none": "/labels?q=nothing",
    }.items():
        album[name] = await new.person.open(path)
    await new.person.send("/library/demo", "/library")
    album["library-demo"] = await new.person.open("/library?said=demo-filled")
    await new.person.send("/library/demo/remove", "/library")
    await new.member.save(is_read=True)
    album["library_read"] = await new.person.open("/library")
    album["library_read-archive"] = await new.person.open(f"{ALL}&is_archived_only=true")
    await new.member.client.aclose()


async def _library(album: Album, reader: Reader) -> None:
    member, person = reader.member, reader.person
    await member.save_all([_noted(post) for post in POSTS])
    hostile = {"author": "aa", "name": HOSTILE, "tags": [HOSTILE, "birds"]}
    saved = {"bookmarked_at": "2026-08-27T08:00:00+00:00"}
    await member.save(text=f"{HOSTILE} https://<b>.example/", **hostile, **saved)
    # Without vectors.
    album["library-refused"] = await person.open("/library?vector_search_term=nest")
    bucket = {"name": HOSTILE, "query": {"tag": "birds"}}
    await writing.view(member, "Long reads", base_query={"q": "a"}, triage_buckets=[bucket])
    await writing.view(member, HOSTILE, description="why", base_query={"tag": "birds"})
    await member.embed()
    for name, path in {
        "library": "/library",
        "library-compact": f"{ALL}&density=compact",
        "library-grid": f"{ALL}&density=grid",
        "library-search": f"{ALL}&q=nest&tag=birds&vector_search_term=nest",
        "library-relaxed": f"{ALL}&q=nest+lake",
        "library_none": "/library?q=nset&tag=Ants",
        "library-view": "/views/long-reads",
        "help_keys": "/help/keys",
        "views": "/views",
        "view_edit": "/views/long-reads/edit",
        "labels": "/labels",
        "labels-edited": f"/labels?label={await writing.label_id(member, 'birds')}",
    }.items():
        album[name] = await person.open(path)
    first = await person.open("/library?limit=5")
    [older] = re.findall(r'<p class="next"><a class="btn" href="([^"]+)"', first.text)
    album["library-continued"] = await person.open(unescape(older))
    birds = await writing.label_id(member, "birds")
    for action, fields in (("change", {"name": "x" * 120}), ("merge", {"into": "nowhere"})):
        album[f"labels-{action}-refused"] = await person.send(
            f"/labels/{action}", "/labels", label=birds, **fields
        )
    album["view_edit-refused"] = await person.send(
        "/views/new", "/views/new", do="save", name="", order="taste", **{"b0-name": "A"}
    )
    kinds = {"post": 2, "post-noted": 0, "post-article-noted": 5, "post-gone": 9, "post-long": 12}
    for name, number in kinds.items():
        path = f"/p/{POSTS[number]['post_id']}?from=%2Flibrary%3Ftag%3Dbirds"
        album[name] = await person.open(path)
    post = f"/p/{POSTS[5]['post_id']}"
    await person.send(f"{post}/highlights", post, quote=HOSTILE)
    album["post-passage-refused"] = await person.open(post)
    await saving.save(reader.member, links=[saving.X])
    album["post-link"] = await person.open(f"/p/{saving.X_ID}")
    changed = await reader.change("/library", archive=POSTS[1]["post_id"])
    album["library-undo"] = await person.open(changed.headers["location"])
    deleted = await person.send("/views", "/views", delete="long-reads")
    album["views-undo"] = await person.open(deleted.headers["location"])


def _noted(post: dict[str, Any]) -> dict[str, Any]:
    """Some posts with a note, a highlight with a comment, and one that is lost."""
    details = post["tweet_details"]
    if post not in (POSTS[0], POSTS[5]):
        return post
    field = "article" if details.get("article") else "text"
    text = details["article"]["plain_text"] if field == "article" else details["text"]
    passage = {"id": "a1", "field": field, "quote": text[4:40], "start": 4, "end": 40}
    lost = {"id": "b2", "field": "text", "quote": "words that an edit removed"}
    note = "Print **this**.\n\n- [a](https://example.org/recipe)\n\n> like a shop window"
    return post | {"note": note, "highlights": [passage | {"comment": "The best of it."}, lost]}


async def _overviews(album: Album, reader: Reader) -> None:
    person = reader.person
    await digesting.make(reader.member, "2026-08-31T08:00:00+00:00")
    album["highlights-searched"] = await person.open("/highlights?q=best")
    album["highlights-not-again"] = await person.open("/highlights?said=not-again&post=1")
    for name, path in (
        ("statistics", "/statistics"),
        ("highlights", "/highlights"),
        ("digests", "/digests"),
        ("digest", "/digests/latest"),
    ):
        album[name] = await person.open(path)
        person.client.headers["Accept-Language"] = "ar"
        album[f"{name}-right-to-left"] = await person.open(path)
        del person.client.headers["Accept-Language"]


async def _many(album: Album, reader: Reader) -> None:
    """Changes of many posts, and the trash."""
    person, member = reader.person, reader.member

    async def change(**fields: str) -> httpx.Response:
        form = {"back": "/library", "list": "/library", **fields}
        sent = await person.send("/library/many", "/library", **form)
        return await person.open(sent.headers["location"])

    some = " ".join(post["post_id"] for post in POSTS[:3])
    album["library-many-undo"] = await change(trash="", posts=some)
    album["trash"] = await person.open("/trash")
    album["trash-none"] = await person.open("/trash?q=nothing-has-this")
    album["trash_delete"] = await person.send("/trash/delete", "/trash", delete="", all="yes")
    album["activity-changes"] = await person.open("/activity")
    await member.save_all([make.post() for _ in range(1_200)])
    album["library_many"] = await change(read="", all="yes")
    await reader.house.database.write(
        lambda transaction: transaction.run(
            "UPDATE job SET state = 'failed', error = 'The worker stopped.', completed_at = 1", {}
        )
    )
    album["library_many-failed"] = await person.open(album["library_many"].request.url.path)


def _failures() -> dict[str, HtmlPage]:
    """The pages of failures, which the service cannot show while it works."""
    templates = templating.Templates(SETTINGS, has_sandbox=True)
    return {
        f"/{name}": page(SETTINGS, templates.render(f"{name}.html", **values))
        for name, values in FAILURES.items()
    }


@contextmanager
def served(album: Album) -> Iterator[str]:
    """Yields the URL of a server with one path per page."""
    found = {f"/{name}": _reply(shown) for name, shown in album.items()}
    files = _failures() | templating.files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0].removeprefix("/demo")
            reply = found.get(path) or Reply(404, [], b"")
            if self.headers["Sec-Fetch-Dest"] == "empty":
                # A script asks, at once or after a time: the page stays as it is.
                reply = Reply(200, _JSON, _ANSWERS.get(path, b"{}"))
            elif path in files:
                reply = files[path].answer(RequestTarget(path, b"", b"", None))
            self.send_response(reply.status)
            for header, value in reply.headers:
                self.send_header(header.decode(), value.decode())
            self.end_headers()
            self.wfile.write(reply.body)

        def do_POST(self) -> None:
            # A page marks its post read, and says which time zone its browser has.
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _reply(shown: httpx.Response) -> Reply:
    """The page with its own policy. It is not opened again during a check."""
    html = shown.text.replace('http-equiv="refresh"', 'name="refresh"')
    policy = shown.headers["content-security-policy"].encode()
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", policy)]
    return Reply(200, headers, html.encode())


def _save_screenshots(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    album = pages()
    with served(album) as url, Chromium() as chromium:
        for size, context in SIZES.items():

            def visit(opened: Page, size: str = size) -> None:
                for name in album:
                    opened.goto(f"{url}/{name}#token")
                    opened.screenshot(path=folder / f"{name}.{size}.png", full_page=True)

            chromium.run(visit, **context)


if __name__ == "__main__":
    _save_screenshots(Path(sys.argv[1]))
