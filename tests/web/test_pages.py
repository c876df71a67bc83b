"""The pages for people: what they say, and the policy they are sent under."""

import re
import tomllib
from pathlib import Path

import httpx
import pytest

from bowerbird.library.access import plans
from bowerbird.openapi import specification
from bowerbird.web.page_examples import FIRST_ANSWER
from tests.support.published import document
from tests.support.service import Service
from tests.web.conftest import PROXIED, Opened

pytestmark = pytest.mark.anyio

PAGES = ["/", "/keys", "/upgrade", "/docs", "/docs/bookmarks", "/docs/labels", "/docs/views"]


def policy_of(response: httpx.Response) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return {name: rest for name, _, rest in (part.partition(" ") for part in parts)}


async def test_every_page_is_sent_under_a_strict_policy(site: httpx.AsyncClient) -> None:
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


async def test_every_answer_has_a_nonce_of_its_own(site: httpx.AsyncClient) -> None:
    nonces = {policy_of(await site.get("/"))["script-src"] for _ in range(20)}

    assert len(nonces) == 20


async def test_a_page_is_not_kept_apart_from_its_policy(site: httpx.AsyncClient) -> None:
    response = await site.get("/", headers={"If-None-Match": "*"})

    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"
    assert "etag" not in response.headers


async def test_only_the_reference_may_call_and_only_the_api(site: httpx.AsyncClient) -> None:
    called = policy_of(await site.get("/docs/bookmarks"))["connect-src"]

    assert called == "'self' https://api.example.org"
    for path in ("/", "/keys", "/upgrade", "/docs"):
        assert "connect-src" not in policy_of(await site.get(path)), path


async def test_every_page_carries_the_security_headers(site: httpx.AsyncClient) -> None:
    for path in (*PAGES, "/nothing"):
        headers = (await site.get(path, headers={"Accept": "text/html"})).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["strict-transport-security"] == "max-age=31536000"


async def test_a_site_without_tls_does_not_ask_browsers_for_it(opened: Opened) -> None:
    site = await opened()

    assert "strict-transport-security" not in (await site.get("/")).headers


async def test_no_page_fetches_anything_from_elsewhere(site: httpx.AsyncClient) -> None:
    for path in PAGES:
        page = (await site.get(path)).text
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]+)"', page)
        assert fetched
        assert all(address.startswith("/static/") for address in fetched), path


async def test_every_link_of_a_page_leads_somewhere(site: httpx.AsyncClient) -> None:
    for path in PAGES:
        page = (await site.get(path)).text
        for link in set(re.findall(r'<a [^>]*href="([^"]+)"', page)):
            if link.startswith("mailto:"):
                continue
            target, _, anchor = link.partition("#")
            there = await site.get(target or path)
            assert there.status_code == 200, (path, link)
            assert not anchor or f'id="{anchor}"' in there.text, (path, link)


async def test_a_site_below_a_path_links_below_it(opened: Opened) -> None:
    site = await opened(site_url="https://example.org/posts", base_url="https://example.org/posts")

    page = (await site.get("/keys")).text

    assert 'href="/posts/docs"' in page
    assert re.search(r'href="/posts/static/site\.\w+\.css"', page)
    assert not re.search(r'href="/(?!posts)', page)


async def test_the_first_page_shows_the_first_request(site: httpx.AsyncClient) -> None:
    page = (await site.get("/")).text

    assert "https://api.example.org/v1/sandbox/bookmarks?limit=1" in page
    assert "https://tools.example.org/mcp" in page


def test_the_answer_it_shows_has_fields_that_exist() -> None:
    bookmark = document()["components"]["schemas"]["Bookmark"]["properties"]
    details = document()["components"]["schemas"]["PostDetails"]["properties"]
    meta = document()["components"]["schemas"]["ListMeta"]["properties"]
    known = {"status", "data", "meta", "sandbox", *bookmark, *details, *meta}

    shown = set(re.findall(r'"(\w+)":', FIRST_ANSWER))

    assert len(shown) > 10
    assert shown <= known


async def test_the_key_page_tells_how_keys_are_made_and_ended(site: httpx.AsyncClient) -> None:
    page = re.sub(r"<[^>]+>", "", (await site.get("/keys")).text)

    for said in (
        "bowerbird account create you@example.com",
        "bowerbird key create you@example.com",
        "bowerbird key list you@example.com",
        "bowerbird key revoke you@example.com",
        "The key is shown once.",
        "https://api.example.org/v1/bookmarks/count",
    ):
        assert said in page


async def test_the_operators_contact_is_shown_where_people_need_it(opened: Opened) -> None:
    told = await opened(operator_contact="ops@example.org")
    untold = await opened()

    for path in ("/keys", "/upgrade"):
        assert 'href="mailto:ops@example.org"' in (await told.get(path)).text
        assert "mailto:" not in (await untold.get(path)).text


async def test_hostile_settings_do_not_become_markup(opened: Opened) -> None:
    site = await opened(
        mcp_url="https://x.example/mcp?<script>alert(1)</script>",
        operator_contact='https://x.example/"><script>alert(1)</script>',
    )

    for path in PAGES:
        assert "<script>" not in (await site.get(path)).text, path


async def test_the_plans_page_lists_every_feature_and_the_setting(opened: Opened) -> None:
    site = await opened(**PROXIED, free_calls_per_month=1234)

    page = (await site.get("/upgrade")).text

    assert "1,234 per month" in page
    for feature in plans.features(1234):
        assert f'<th scope="row">{feature.name}</th><td' in page
    assert "bowerbird" in page
    assert "account plan you@example.com pro" in page


async def test_the_plans_page_agrees_with_the_api(cast: Service) -> None:
    shown = {feature.name: feature for feature in plans.features(100)}
    saved = await cast.free.save()
    body = {"tweet_ids": [saved["post_id"]], "label_name": "x"}

    async def refused(**given: str) -> str | None:
        code: str | None = (await cast.free.get("/v1/bookmarks", **given)).json().get("code")
        return code

    label = await cast.free.client.post("/v1/labels/add", json=body)
    assert shown["Filters: media type, author, label, dates"].free == "no"
    assert await refused(author="x") == "FILTER_NOT_ALLOWED"
    assert shown["Listing your posts"].free.startswith("the first page")
    assert await refused(cursor="x") == "PAGINATION_NOT_ALLOWED"
    assert shown["Search by meaning"].free == "no"
    assert await refused(vector_search_term="x") == "VECTOR_SEARCH_NOT_ALLOWED"
    assert shown["Writing labels and Smart Views"].free == "no"
    assert label.json()["code"] == "SUBSCRIPTION_REQUIRED"
    assert shown["Keyword search (q)"].free == "yes"
    assert await refused(q="x") is None


async def test_every_operation_of_the_document_is_in_the_reference(
    site: httpx.AsyncClient,
) -> None:
    overview = (await site.get("/docs")).text
    for path, item in specification.document("")["paths"].items():
        if path.startswith("/v1/sandbox/"):
            # Shown once, with its twin.
            continue
        for method, operation in item.items():
            anchor = operation["operationId"]
            page = (await site.get(f"/docs/{operation['tags'][0]}")).text
            assert f'id="{anchor}"' in page, (method, path)
            assert f"#{anchor}" in overview
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in page


async def test_only_routes_of_the_sandbox_can_be_tried(site: httpx.AsyncClient) -> None:
    page = (await site.get("/docs/bookmarks")).text

    forms = re.findall(r'data-method="(\w+)" data-base="([^"]+)" data-path="([^"]+)"', page)

    sandbox = "https://api.example.org/v1/sandbox"
    assert forms == [("GET", sandbox, "/bookmarks"), ("GET", sandbox, "/bookmarks/{post_id}")]


async def test_without_a_sandbox_nothing_speaks_of_it(opened: Opened) -> None:
    site = await opened(**PROXIED, sandbox="off")

    for path in (*PAGES, "/auth.md", "/llms.txt", "/robots.txt", "/openapi.json"):
        response = await site.get(path)
        assert response.status_code == 200
        assert "sandbox" not in response.text.lower(), path


def test_every_template_and_static_file_is_in_the_package() -> None:
    root = Path(__file__).parents[2]
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = declared["tool"]["setuptools"]["package-data"]["bowerbird.web"]
    folder = root / "src" / "bowerbird" / "web"
    held = {path for pattern in patterns for path in folder.glob(pattern)}

    needed = {path for name in ("templates", "static") for path in (folder / name).rglob("*.*")}

    assert needed
    assert needed <= held
