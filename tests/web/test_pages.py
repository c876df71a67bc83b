"""The HTML pages: their content, their links and their security headers."""

import re
import tomllib
from pathlib import Path

import httpx
import pytest

from bowerbird.library.access import plans
from bowerbird.openapi import specification
from bowerbird.web.page_examples import FIRST_RESPONSE
from tests.support.published import document
from tests.support.service import Service
from tests.web.conftest import PROXIED, OpenSite

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
