"""Public pages, and pages that refuse."""

import re
import tomllib
from pathlib import Path

import httpx
import pytest

from bowerbird.library.access import plans
from bowerbird.library.access.call_allowance import BURST
from bowerbird.openapi import specification
from bowerbird.storage.database import Transaction
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.web.page_examples import FIRST_RESPONSE
from bowerbird.web.visits import visit
from tests.support.published import document
from tests.support.service import Service
from tests.support.visiting import form_token
from tests.web.conftest import PROXIED, OpenSite
from tests.web.house import House

pytestmark = pytest.mark.anyio


PAGES = ["/", "/keys", "/upgrade", "/docs", "/docs/bookmarks", "/docs/labels", "/docs/views"]


def policy_of(response: httpx.Response) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return {name: rest for name, _, rest in (part.partition(" ") for part in parts)}


async def test_every_page_has_a_strict_content_security_policy(site: httpx.AsyncClient) -> None:
    for path in PAGES:
        response = await site.get(path)
        policy = policy_of(response)
        nonce = policy["script-src"].removeprefix("'nonce-").rstrip("'")

        assert "unsafe" not in response.headers["content-security-policy"]
        assert policy["default-src"] == "'none'"
        assert policy["style-src"] == policy["script-src"] == f"'nonce-{nonce}'"
        for name in ("base-uri", "form-action", "frame-ancestors"):
            assert policy[name] == "'none'"
        assert len(nonce) >= 22
        assert f'nonce="{nonce}"' in response.text
        for tag in re.findall(r"<(?:script|style|link rel=\"stylesheet\")[^>]*>", response.text):
            assert f'nonce="{nonce}"' in tag, path
        assert not re.search(r"<[^>]+ (?:style|on\w+)=", response.text), path


async def test_a_page_never_gets_304_because_its_nonce_changes(site: httpx.AsyncClient) -> None:
    response = await site.get("/", headers={"If-None-Match": "*"})

    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"
    assert "etag" not in response.headers


async def test_only_the_reference_pages_may_call_the_api(site: httpx.AsyncClient) -> None:
    allowed = policy_of(await site.get("/docs/bookmarks"))["connect-src"]

    assert allowed == "'self' https://api.example.org"
    for path in ("/", "/keys", "/upgrade", "/docs"):
        assert "connect-src" not in policy_of(await site.get(path)), path


async def test_every_page_has_the_security_headers(site: httpx.AsyncClient) -> None:
    for path in (*PAGES, "/nothing"):
        headers = (await site.get(path, headers={"Accept": "text/html"})).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["strict-transport-security"] == "max-age=31536000"


async def test_a_site_without_tls_sends_no_hsts_header(open_site: OpenSite) -> None:
    site = await open_site()

    assert "strict-transport-security" not in (await site.get("/")).headers


async def test_no_page_loads_anything_from_another_host(site: httpx.AsyncClient) -> None:
    for path in PAGES:
        page = (await site.get(path)).text
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]+)"', page)
        assert loaded
        ours = ("/static/", "/manifest.webmanifest")
        assert all(url.startswith(ours) for url in loaded), path


async def test_every_link_on_a_page_exists(site: httpx.AsyncClient) -> None:
    for path in PAGES:
        page = (await site.get(path)).text
        for link in set(re.findall(r'<a [^>]*href="([^"]+)"', page)):
            if link.startswith("mailto:"):
                continue
            target, _, anchor = link.partition("#")
            linked = await site.get(target or path)
            assert linked.status_code == 200, (path, link)
            assert not anchor or f'id="{anchor}"' in linked.text, (path, link)


async def test_links_keep_the_path_of_the_site_url(open_site: OpenSite) -> None:
    site = await open_site(
        site_url="https://example.org/posts", base_url="https://example.org/posts"
    )

    page = (await site.get("/keys")).text

    assert 'href="/posts/docs"' in page
    assert re.search(r'href="/posts/static/site\.\w+\.css"', page)
    assert not re.search(r'href="/(?!posts)', page)


def test_every_field_in_the_shown_response_exists() -> None:
    bookmark = document()["components"]["schemas"]["Bookmark"]["properties"]
    details = document()["components"]["schemas"]["PostDetails"]["properties"]
    meta = document()["components"]["schemas"]["ListMeta"]["properties"]
    known = {"status", "data", "meta", "sandbox", *bookmark, *details, *meta}

    shown = set(re.findall(r'"(\w+)":', FIRST_RESPONSE))

    assert len(shown) > 10
    assert shown <= known


async def test_settings_are_escaped(open_site: OpenSite) -> None:
    site = await open_site(
        mcp_url="https://x.example/mcp?<script>alert(1)</script>",
        operator_contact='https://x.example/"><script>alert(1)</script>',
    )

    for path in PAGES:
        assert "<script>" not in (await site.get(path)).text, path


async def test_the_plan_page_shows_every_feature_and_the_configured_limit(
    open_site: OpenSite,
) -> None:
    site = await open_site(**PROXIED, free_calls_per_month=1234)

    page = (await site.get("/upgrade")).text

    assert "1,234 per month" in page
    for feature in plans.features(1234):
        assert f'<th scope="row">{feature.name}</th><td' in page
    assert "bowerbird" in page
    assert "account plan you@example.com pro" in page


async def test_the_plan_page_matches_what_the_api_allows(cast: Service) -> None:
    shown = {feature.name: feature for feature in plans.features(100)}
    saved = await cast.free.save()
    body = {"tweet_ids": [saved["post_id"]], "label_name": "x"}

    async def error_code(**parameters: str) -> str | None:
        code: str | None = (await cast.free.get("/v1/bookmarks", **parameters)).json().get("code")
        return code

    label = await cast.free.client.post("/v1/labels/add", json=body)
    assert shown["Filters: media type, author, label, dates"].free == "no"
    assert await error_code(author="x") == "FILTER_NOT_ALLOWED"
    assert shown["Listing your posts"].free.startswith("the first page")
    assert await error_code(cursor="x") == "PAGINATION_NOT_ALLOWED"
    assert shown["Search by meaning"].free == "no"
    assert await error_code(vector_search_term="x") == "VECTOR_SEARCH_NOT_ALLOWED"
    assert shown["Writing labels and Smart Views"].free == "no"
    assert label.json()["code"] == "SUBSCRIPTION_REQUIRED"
    assert shown["Keyword search (q)"].free == "yes"
    assert await error_code(q="x") is None


async def test_the_reference_shows_every_operation_and_parameter(
    site: httpx.AsyncClient,
) -> None:
    overview = (await site.get("/docs")).text
    for path, item in specification.document("")["paths"].items():
        if path.startswith("/v1/sandbox/"):
            # Shown as a form on the page of the API operation.
            continue
        for method, operation in item.items():
            anchor = operation["operationId"]
            page = (await site.get(f"/docs/{operation['tags'][0]}")).text
            assert f'id="{anchor}"' in page, (method, path)
            assert f"#{anchor}" in overview
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in page


async def test_only_operations_of_the_sandbox_have_a_form(site: httpx.AsyncClient) -> None:
    page = (await site.get("/docs/bookmarks")).text

    forms = re.findall(r'data-method="(\w+)" data-base="([^"]+)" data-path="([^"]+)"', page)

    sandbox = "https://api.example.org/v1/sandbox"
    assert forms == [("GET", sandbox, "/bookmarks"), ("GET", sandbox, "/bookmarks/{post_id}")]


async def test_no_page_mentions_the_sandbox_when_it_is_off(open_site: OpenSite) -> None:
    site = await open_site(**PROXIED, sandbox="off")

    for path in (*PAGES, "/auth.md", "/llms.txt", "/robots.txt", "/openapi.json"):
        response = await site.get(path)
        assert response.status_code == 200
        assert "sandbox" not in response.text.lower(), path


def test_every_template_and_static_file_is_in_the_package() -> None:
    root = Path(__file__).parents[2]
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = declared["tool"]["setuptools"]["package-data"]["bowerbird.web"]
    folder = root / "src" / "bowerbird" / "web"
    packaged = {path for pattern in patterns for path in folder.glob(pattern)}

    needed = {path for name in ("templates", "static") for path in (folder / name).rglob("*.*")}

    assert needed
    assert needed <= packaged


async def test_every_response_has_a_new_nonce(site: httpx.AsyncClient) -> None:
    nonces = {policy_of(await site.get("/"))["script-src"] for _ in range(20)}

    assert len(nonces) == 20


PLAIN = {"Accept": "*/*"}


async def break_activity(house: House) -> None:
    """Damages the database, as nothing but a defect does."""

    async def work(transaction: Transaction) -> None:
        await transaction.run("ALTER TABLE activity RENAME TO lost", {})

    await house.database.write(work)


def move_database(folder: Path) -> None:
    """Takes the file away from under the running service."""
    (folder / FILE_NAME).rename(folder / "elsewhere.db")


def heading(page: httpx.Response) -> str:
    found = re.search(r"<h1>([^<]+)</h1>", page.text)
    assert found, page.text
    return found[1]


def assert_is_a_page(page: httpx.Response) -> None:
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_an_internal_error_shows_a_reference_and_nothing_of_the_cause(house: House) -> None:
    owner = await house.owner()
    await break_activity(house)

    page = await owner.open("/activity")

    assert page.status_code == 500
    assert_is_a_page(page)
    assert heading(page) == "Something went wrong"
    assert "Sign in" not in page.text
    reference = re.search(r"Reference <code>([^<]+)</code>", page.text)
    assert reference
    assert reference[1] == page.headers["x-request-id"]
    for word in ("activity", "Traceback", "sqlite", "apsw", "SELECT"):
        assert word not in page.text


@pytest.mark.parametrize("path", ["/nowhere", "/p/404", "/operator"])
async def test_a_missing_page_leads_signed_in_people_to_their_library(
    house: House, path: str
) -> None:
    await house.owner()
    member = await house.member("member@example.com")

    page = await member.open(path)
    assert page.status_code == 404
    assert 'class="btn main" href="/library">Your library</a>' in page.text
    assert "Sign in" not in page.text

    strange = await house.somebody().open("/nowhere")
    assert strange.status_code == 404
    assert 'href="/sign-in">Sign in</a>' in strange.text
    assert "Your library" not in strange.text


async def test_an_internal_error_is_one_sentence_for_a_program(house: House) -> None:
    owner = await house.owner()
    await break_activity(house)

    answer = await owner.client.get("/activity", headers=PLAIN)

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(answer.text.splitlines()) == 1
    assert "apsw" not in answer.text


async def test_a_database_that_does_not_answer_gives_the_maintenance_page(
    house: House, tmp_path: Path
) -> None:
    owner = await house.owner()
    token = form_token((await owner.open("/account")).text)
    move_database(tmp_path)

    page = await owner.post("/account/sessions/end-others", csrf=token)

    assert page.status_code == 503
    assert int(page.headers["retry-after"]) >= 1
    assert_is_a_page(page)
    assert heading(page) == "Back in a moment"
    assert f"Try again in {page.headers['retry-after']} seconds." in page.text
    answer = await owner.post("/account/sessions/end-others", csrf=token, headers=PLAIN)
    assert (answer.status_code, answer.headers["content-type"]) == (
        503,
        "text/plain; charset=utf-8",
    )


@pytest.mark.parametrize("path", ["/docs", "/account", "/sign-in"])
async def test_an_unknown_method_is_refused_with_those_that_work(house: House, path: str) -> None:
    person = house.somebody()

    page = await person.client.request("DELETE", path)

    assert page.status_code == 405
    assert "GET" in page.headers["allow"]
    assert_is_a_page(page)
    assert heading(page) == "This page cannot do that"
    answer = await person.client.request("DELETE", path, headers=PLAIN)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


async def test_a_form_that_is_too_large_is_refused(house: House) -> None:
    person = house.somebody()

    page = await person.post("/link", token="x" * (visit.MAX_BYTES + 1))

    assert page.status_code == 413
    assert_is_a_page(page)
    assert heading(page) == "That is too large"


async def test_too_many_attempts_are_refused_with_the_time_to_wait(house: House) -> None:
    person = house.somebody()
    for _ in range(BURST):
        assert (await person.send("/link", "/link", token="x")).status_code == 410

    page = await person.send("/link", "/link", token="x")

    assert page.status_code == 429
    assert int(page.headers["retry-after"]) >= 1
    assert_is_a_page(page)
    assert heading(page) == "Too many attempts"
