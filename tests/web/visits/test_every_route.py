"""Every path of the website: who may open it, and forms that only this site may send."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.storage.database import Database
from bowerbird.web.visits.router import Access, PageRoute, PageVisits
from tests.support.visiting import form_token
from tests.web.house import House, build
from tests.web.sign_in.ceremonies import ANY_PAGE

pytestmark = pytest.mark.anyio

# Nothing becomes public, or possible without a new proof, by mistake.
PUBLIC = {
    *("GET /", "GET /keys", "GET /connect", "GET /goodbye", "GET /link", "POST /link"),
    *("GET /link/email", "POST /link/email", "POST /sign-out", "GET /sign-in"),
    *("POST /sign-in/passkey/options", "POST /sign-in/passkey", "POST /sign-in/{provider}"),
    "POST /sign-in/link",
    *("GET /sign-in/{provider}/return", "GET /sign-up", "POST /sign-up"),
    *("POST /sign-up/options", "POST /sign-up/offer"),
    # The demo has a library of its own, which nobody can change.
    *("GET /demo", "GET /demo/", "GET /demo/{rest:path}", "POST /demo/{rest:path}"),
    *("GET /demo/library", "GET /demo/library/meaning", "GET /demo/library/suggest"),
    *("GET /demo/library/places", "GET /demo/p/{post_id}", "GET /demo/p/{post_id}/json"),
    *("GET /demo/views", "GET /demo/views/{slug}", "GET /demo/views/{slug}/posts"),
    *("GET /demo/help/keys", "GET /demo/static/{name}", "GET /demo/library/panels/{kind}"),
    *("GET /demo/library/favourites", "GET /demo/p/{post_id}/content"),
}
PROVED = {
    *("POST /keys", "GET /account/delete", "POST /account/delete", "POST /account/passkeys"),
    *("POST /account/passkeys/options", "POST /account/passkeys/remove"),
    *("POST /account/providers/{provider}/connect", "POST /account/providers/disconnect"),
    *("POST /webhooks", "POST /webhooks/secret"),
}
OWNERS = {
    *("GET /operator", "POST /operator/plan", "POST /operator/invitations"),
    *("POST /operator/invitations/withdraw", "POST /operator/jobs/retry"),
    *("POST /operator/jobs/cancel", "POST /operator/shares/stop", "POST /operator/shares/allow"),
}


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> list[PageRoute]:
    """All paths of the service that is built next."""
    known: list[PageRoute] = []
    create = PageVisits.__init__

    def noted(visits: PageVisits, given: Sequence[PageRoute], *rest: Any, **more: Any) -> None:
        known.extend(given)
        create(visits, given, *rest, **more)

    monkeypatch.setattr(PageVisits, "__init__", noted)
    return known


@pytest.fixture
def house(routes: list[PageRoute], database: Database, tmp_path: Path) -> House:
    google = {"google_client_id": "id", "google_client_secret": "secret"}
    house = build(database, tmp_path, sign_up="open", keep_media="on", demo="on", **google)
    assert len(routes) > 100
    return house


def path_of(route: PageRoute) -> str:
    return route.path.replace("{", "").replace("}", "")


def named(routes: list[PageRoute], access: Access) -> set[str]:
    return {f"{route.method} {route.path}" for route in routes if route.access is access}


async def test_the_access_of_every_path_is_meant(house: House, routes: list[PageRoute]) -> None:
    assert house
    assert named(routes, Access.ANYONE) == PUBLIC
    assert named(routes, Access.PROVED) == PROVED
    assert named(routes, Access.OWNER) == OWNERS


async def test_no_form_of_another_site_is_accepted(house: House, routes: list[PageRoute]) -> None:
    owner = await house.owner()
    token = form_token((await owner.open(ANY_PAGE)).text)
    for route in routes:
        if route.method != "POST":
            continue
        for origin in ("https://evil.example", "null", "", "http://localhost:8081"):
            headers = {"Origin": origin}
            refused = await owner.post(path_of(route), csrf=token, headers=headers)
            assert refused.status_code == 403, (route.path, origin)
        for forged in ("", "x.y", token[:-1]):
            refused = await owner.post(path_of(route), csrf=forged)
            # A form with a file is another kind of body.
            expected = {400, 403} if route.max_upload_bytes else {403}
            assert refused.status_code in expected, (route.path, forged)
    assert (await owner.client.get("/account")).status_code == 200


async def test_strangers_are_sent_to_the_sign_in(house: House, routes: list[PageRoute]) -> None:
    await house.owner()
    stranger = house.somebody()
    token = form_token((await stranger.open(ANY_PAGE)).text)
    for route in routes:
        if route.access is Access.ANYONE or route.max_upload_bytes:
            continue
        if route.method == "GET":
            answer = await stranger.client.get(path_of(route))
        else:
            answer = await stranger.post(path_of(route), csrf=token)
        go = answer.json()["go"] if route.is_json else answer.headers["location"]
        assert go.startswith("/sign-in?next=/"), route.path
        assert answer.status_code == (401 if route.is_json else 303), route.path


async def test_the_operators_paths_do_not_exist_for_others(
    house: House, routes: list[PageRoute]
) -> None:
    former = await house.owner()
    member = await house.member("ann@example.com")
    for route in routes:
        if route.access is Access.OWNER:
            send = member.open if route.method == "GET" else None
            path = path_of(route)
            answer = await (send(path) if send else member.send(path, "/account", account="1"))
            assert answer.status_code == 404, route.path
    await house.accounts.set_owner("ann@example.com")
    assert (await former.open("/operator")).status_code == 404


async def test_changes_that_matter_need_a_recent_proof(
    house: House, routes: list[PageRoute]
) -> None:
    owner = await house.owner()
    token = form_token((await owner.open("/account")).text)
    house.clock.now += 10 * 60 * MICROSECONDS
    for route in routes:
        if route.access is Access.PROVED:
            path = path_of(route)
            is_get = route.method == "GET"
            answer = await (owner.client.get(path) if is_get else owner.post(path, csrf=token))
            go = answer.json()["go"] if route.is_json else answer.headers["location"]
            assert go.startswith("/reauthenticate?next=/"), route.path
    # A proof of a clock that was set back is none.
    house.clock.now -= 3 * 3_600 * MICROSECONDS
    asked = await owner.post("/keys", csrf=token, name="later")
    assert asked.headers["location"] == "/reauthenticate?next=/keys"
