"""The page of sources: connecting, running, pausing and disconnecting them."""

import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bowerbird.library.accounts.tokens import Devices
from tests.sources.x import pages as shapes
from tests.support import waiting
from tests.support.hosts.networks import (
    ALICE_TOKEN,
    APP_PASSWORD,
    X_USER,
    Networks,
    json_reply,
    record,
    status,
    tweet,
)
from tests.support.ingesting import captured, post_id
from tests.support.visiting import Visitor
from tests.support.working import at_work
from tests.web.house import House, text_of

pytestmark = pytest.mark.anyio
SOURCE = re.compile(r'name="source" value="([0-9a-f]+)"')
CONTINUE = re.compile(r'href="(https://x\.com/i/oauth2/authorize[^"]+)"')


async def connect(person: Visitor, networks: Networks, token: str = ALICE_TOKEN) -> httpx.Response:
    return await person.send(
        "/sources/mastodon",
        "/sources",
        mastodon_server=networks.address,
        mastodon_token=token,
    )


async def source_of(person: Visitor) -> str:
    found = SOURCE.search((await person.open("/sources")).text)
    assert found
    return found[1]


async def until_read(house: House, person: Visitor) -> str:
    """The text of the page, once the worker has read the sources."""

    async def is_read() -> bool:
        return "state busy" not in (await person.open("/sources")).text

    async with at_work(house.service.worker):
        await waiting.until(is_read, 30)
    return text_of(await person.open("/sources"))


# A page that is no JSON, an error of X, and an entry among posts that cannot be read.
OTHER_PROBLEMS = (
    "{",
    {"errors": [{"message": "Timeout"}], "data": {"user": {"id": "7"}}},
    shapes.document(
        shapes.add_entries(
            shapes.entry(shapes.tweet(post_id(1), "A nest.")),
            {"entryId": f"tweet-{post_id(2)}", "content": {"itemContent": 7}},
            shapes.cursor(),
        )
    ),
)


async def test_pages_in_an_unknown_form_are_named_where_runs_and_imports_are_shown(
    house: House,
) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    token = await Devices(house.database, house.clock).create(account_id, "Firefox, laptop")
    before = [text_of(await person.open(path)) for path in ("/sources", "/import")]
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(house.service.asgi),
        base_url="http://localhost:8080/ingest/v1",
        headers={"Authorization": f"Bearer {token}"},
    ) as laptop:
        run = {"source": "x", "kind": "full"}
        run_id = (await laptop.post("/runs", json=run)).json()["data"]["run_id"]
        page = {"seq": 0, **captured({"data": {"saved": {}}})}
        answer = (await laptop.post(f"/runs/{run_id}/pages", json=page)).json()["data"]
        for seq, payload in enumerate(OTHER_PROBLEMS, 1):
            page = {"seq": seq, **captured(payload)}
            await laptop.post(f"/runs/{run_id}/pages", json=page)
        await laptop.post(f"/runs/{run_id}/finish", json={"reason": "end"})
    sources, imports = [text_of(await person.open(path)) for path in ("/sources", "/import")]

    said = "1 page of your X bookmarks could not be read"
    assert (answer["is_unknown_form"], answer["is_kept"]) == (True, True)
    assert not [text for text in before if "could not be read" in text]
    assert said in sources
    assert said in imports
    assert "Nothing was marked as deleted or removed." in sources
    assert "Firefox, laptop stopped before the end" in sources


async def test_mastodon_is_connected_and_read_by_the_worker(
    house: House, networks: Networks
) -> None:
    networks.statuses = [status(number) for number in range(45, 0, -1)]
    person = await house.owner()
    assert "No source is connected" in (await person.open("/sources")).text

    connected = await connect(person, networks)
    shown = await until_read(house, person)

    assert connected.headers["location"] == "/sources?said=source-connected"
    assert f"Mastodon alice@127.0.0.1:{networks.port}" in shown
    assert "up to date" in shown
    assert "New in the last run 45" in shown
    assert "New in all runs 45" in shown
    assert "Status number 45" in (await person.open("/library")).text
    activity = text_of(await person.open("/activity"))
    assert "Connected the source Mastodon alice@" in activity
    assert "Started an import: Mastodon" in activity
    imports = (await person.open("/import")).text
    assert "<bdi>Mastodon</bdi>" in imports
    assert "<bdi>mastodon</bdi>" not in imports


async def begin_x(person: Visitor) -> dict[str, str]:
    """Starts the sign-in at X; returns what X is asked with."""
    begun = await person.send(
        "/sources/x", "/sources", x_client_id="my-app", x_client_secret="my-secret"
    )
    assert begun.status_code == 200
    url = CONTINUE.search(begun.text)
    assert url, begun.text
    assert "my-secret" not in begun.text
    query = parse_qs(urlsplit(url[1].replace("&amp;", "&")).query)
    return {name: values[0] for name, values in query.items()}


async def test_x_is_connected_and_read_after_the_person_has_seen_the_cost(
    house: House, networks: Networks
) -> None:
    networks.tweets = [tweet(2), tweet(1)]
    person = await house.owner()

    asked = await begin_x(person)
    networks.codes.add("code")
    back = await person.client.get(f"/sources/x/return?state={asked['state']}&code=code")
    shown = text_of(await person.open("/sources"))

    assert asked["redirect_uri"] == "http://localhost:8080/sources/x/return"
    assert asked["client_id"] == "my-app"
    assert back.headers["location"] == "/sources?said=source-connected"
    assert "X @alice" in shown
    assert "1,000 posts costs about $5.00 (1,000 \u00d7 $0.005 per post), or $1.00" in shown
    assert "if X charges for them, up to $10.00 more" in shown
    assert "2,000 posts per day, the posts of a day cost $10.00 at most, or $2.00" in shown
    assert networks.lists() == []

    await person.send("/sources/run", "/sources", source=await source_of(person))
    shown = await until_read(house, person)

    assert "New in all runs 2" in shown
    assert "Read from X today (UTC): 2 of 2,000 posts" in shown


async def test_an_extension_is_listed_with_the_handle_that_a_source_knows(
    house: House, networks: Networks
) -> None:
    person = await house.owner()
    asked = await begin_x(person)
    networks.codes.add("code")
    await person.client.get(f"/sources/x/return?state={asked['state']}&code=code")
    account = await house.accounts.find("owner@example.com")
    token = await Devices(house.database, house.clock).create(account.account_id, "laptop")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(house.service.asgi),
        base_url="http://localhost:8080/ingest/v1",
        headers={"Authorization": f"Bearer {token}"},
    ) as laptop:
        started = await laptop.post(
            "/runs", json={"source": "x", "kind": "full", "source_user_id": X_USER}
        )

    assert started.status_code == 201
    assert "laptop X account @alice" in text_of(await person.open("/keys"))


async def test_the_return_from_x_needs_the_browser_that_started(
    house: House, networks: Networks
) -> None:
    person, other = await house.owner(), await house.member("bob@example.com")
    asked = await begin_x(person)
    networks.codes.add("code")
    path = f"/sources/x/return?state={asked['state']}&code=code"

    refused = await other.client.get(path)
    stranger = await house.somebody().client.get(path)

    assert refused.status_code == 400
    assert "Not connected" in refused.text
    assert stranger.headers["location"].startswith("/sign-in")
    assert [one for one in networks.received if one.path == "/2/oauth2/token"] == []
    cancelled = await person.client.get(
        f"/sources/x/return?state={asked['state']}&error=access_denied"
    )
    assert "You cancelled at X" in cancelled.text
    assert "not connected yet" in (await person.open("/sources")).text


async def test_errors_are_shown_beside_the_form_without_the_secret(
    house: House, networks: Networks
) -> None:
    person = await house.owner()

    refused = await connect(person, networks, "wrong-token")

    assert refused.status_code == 400
    assert "did not accept the token" in refused.text
    assert networks.address in refused.text
    assert "wrong-token" not in refused.text


async def test_a_revoked_source_says_what_to_do(house: House, networks: Networks) -> None:
    person = await house.owner()
    await connect(person, networks)
    networks.mastodon_tokens.clear()

    shown = await until_read(house, person)

    assert "Mastodon rejected the saved token." in shown
    assert "needs a new token" in shown
    assert "Next run when you connect again" in shown
    assert ALICE_TOKEN not in (await person.open("/sources")).text


async def test_a_revoked_source_is_connected_again_from_its_own_form(
    house: House, networks: Networks
) -> None:
    networks.statuses = [status(1)]
    person = await house.owner()
    await connect(person, networks)
    networks.mastodon_tokens = {"another-token"}
    await until_read(house, person)
    page = (await person.open("/sources")).text
    source = await source_of(person)
    fields = {
        "source": source,
        "mastodon_server": networks.address,
    }
    for name, value in fields.items():
        assert f'<input type="hidden" name="{name}" value="{value}">' in page

    wrong = await person.send("/sources/mastodon", "/sources", mastodon_token="wrong", **fields)
    again = await person.send(
        "/sources/mastodon", "/sources", mastodon_token="another-token", **fields
    )

    assert wrong.status_code == 400
    assert f'id="e-{source}"' in wrong.text
    assert "did not accept the token" in wrong.text
    # The form for another account stays folded.
    assert '<details class="more fold" open>' not in wrong.text
    assert again.headers["location"] == "/sources?said=source-connected"
    assert "up to date" in await until_read(house, person)
    assert "Connect again" not in (await person.open("/sources")).text


async def test_the_page_is_opened_again_when_a_source_was_read(
    house: House, networks: Networks
) -> None:
    networks.statuses = [status(1)]
    person = await house.owner()
    assert (await person.client.get("/sources/state")).json() == {"mark": "", "jobs": []}
    await connect(person, networks)

    page = await person.open("/sources")
    running = (await person.client.get("/sources/state")).json()["mark"]
    await until_read(house, person)

    assert f'data-follow="/sources/state" data-mark="{running}"' in page.text
    assert "Next run now" in text_of(page)
    assert running.endswith(":running")
    assert (await person.client.get("/sources/state")).json()["mark"] == ""
    assert "data-follow" not in (await person.open("/sources")).text


async def test_a_source_is_paused_resumed_changed_and_disconnected(
    house: House, networks: Networks
) -> None:
    networks.statuses = [status(1)]
    person = await house.owner()
    await connect(person, networks)
    await until_read(house, person)
    source = await source_of(person)

    paused = await person.send("/sources/pause", "/sources", source=source)
    assert paused.headers["location"] == "/sources?said=source-paused"
    assert "when you resume it" in (await person.open("/sources")).text
    await person.send("/sources/run", "/sources", source=source)
    assert "up to date" in await until_read(house, person)
    await person.send("/sources/bounds", "/sources", source=source, interval="21600")
    assert '<option value="21600" selected>' in (await person.open("/sources")).text
    wrong = await person.send("/sources/bounds", "/sources", source=source, interval="1")
    assert (wrong.status_code, "Nothing was changed" in wrong.text) == (400, True)
    gone = await person.send("/sources/disconnect", "/sources", source=source)
    assert gone.headers["location"] == "/sources?said=source-disconnected"
    assert "No source is connected" in (await person.open("/sources")).text
    again = await person.send("/sources/disconnect", "/sources", source=source)
    assert again.headers["location"] == "/sources?said=source-missing"
    assert "Status number 1" in (await person.open("/library")).text


async def test_nobody_sees_or_changes_the_sources_of_another_account(
    house: House, networks: Networks
) -> None:
    alice, bob = await house.owner(), await house.member("bob@example.com")
    await connect(alice, networks)
    source = await source_of(alice)

    assert "No source is connected" in (await bob.open("/sources")).text
    for action in ("run", "pause", "bounds", "disconnect", "x/again"):
        reply = await bob.send(f"/sources/{action}", "/sources", source=source, interval="3600")
        assert reply.headers["location"] == "/sources?said=source-missing"
    assert await source_of(alice) == source
    assert (await house.somebody().client.get("/sources")).status_code == 303


async def test_too_many_attempts_are_refused(house: House, networks: Networks) -> None:
    person = await house.owner()
    networks.answer_always("/verify_credentials", json_reply({}, 401))

    statuses = [(await connect(person, networks)).status_code for _ in range(30)]

    assert statuses[0] == 400
    assert statuses[-1] == 429


async def test_browsers_are_listed_and_disconnected(house: House) -> None:
    person = await house.owner()
    account_id = await house.accounts.find("owner@example.com")
    await Devices(house.database, house.clock).create(account_id.account_id, "Firefox <laptop>")

    shown = await person.open("/sources")
    assert "Firefox &lt;laptop&gt;" in shown.text
    assert "not used yet" in shown.text
    device = re.search(r'name="device" value="([^"]+)"', shown.text)
    assert device
    gone = await person.send("/sources/devices/disconnect", "/sources", device=device[1])

    assert gone.headers["location"] == "/sources?said=extension-disconnected"
    assert "No browser is connected" in (await person.open("/sources")).text


async def test_a_source_can_be_connected_again_when_no_other_one_can(
    house: House, networks: Networks
) -> None:
    person = await house.owner()
    for number in range(10):
        named = json_reply({"id": str(number), "acct": f"user{number}"})
        networks.answer_once("/verify_credentials", named)
        assert (await connect(person, networks)).status_code == 303
    networks.answer_once("/verify_credentials", json_reply({"id": "0", "acct": "user0"}))

    again = await connect(person, networks)
    another = await connect(person, networks)

    assert again.headers["location"] == "/sources?said=source-connected"
    assert another.status_code == 400
    assert "The account has 10 sources, the maximum. Disconnect one first." in text_of(another)
    shown = text_of(await person.open("/sources"))
    assert "You have 10 sources, the maximum." in shown
    assert "Connect Mastodon" in shown
    assert "Connect Bluesky" in shown


async def test_bluesky_is_connected(house: House, networks: Networks) -> None:
    networks.records = [record(1)]
    person = await house.owner()

    connected = await person.send(
        "/sources/bluesky",
        "/sources",
        bluesky_handle="alice.test",
        bluesky_password=APP_PASSWORD,
        bluesky_server=networks.address,
    )
    shown = await until_read(house, person)

    assert connected.status_code == 303
    assert "Bluesky @alice.test" in shown
    assert "New in all runs 1" in shown
    await person.send("/sources/disconnect", "/sources", source=await source_of(person))
    # The session at Bluesky ends too.
    assert networks.sessions == {}
