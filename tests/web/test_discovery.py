"""The content of every discovery document."""

import json
from typing import Any

import httpx
import pytest
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from bowerbird import __version__
from bowerbird.errors import CATALOGUE, Code
from bowerbird.settings import BadSetting, Settings
from bowerbird.wire.responses import documents
from tests.support.service import SetClock
from tests.web.conftest import PROXIED, OpenSite

pytestmark = pytest.mark.anyio

PROTECTED = "/.well-known/oauth-protected-resource"
SECURITY = "/.well-known/security.txt"


async def read(site: httpx.AsyncClient, path: str, media_type: str) -> dict[str, Any]:
    response = await site.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == media_type
    fields: dict[str, Any] = json.loads(response.content)
    return fields


RESOURCES = [
    (PROTECTED, "https://api.example.org", "Bowerbird API"),
    (f"{PROTECTED}/v1", "https://api.example.org/v1", "Bowerbird API"),
    (f"{PROTECTED}/mcp", "https://tools.example.org/mcp", "Bowerbird MCP server"),
]


async def test_every_protected_resource_has_metadata(site: httpx.AsyncClient) -> None:
    for path, resource, name in RESOURCES:
        assert await read(site, path, "application/json") == {
            "resource": resource,
            "resource_name": name,
            "authorization_servers": ["https://posts.example.org"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": [],
            "resource_documentation": "https://posts.example.org/docs",
        }


async def test_a_401_links_to_metadata_that_exists(
    site: httpx.AsyncClient,
) -> None:
    challenge = (await site.get("/v1/bookmarks")).headers["www-authenticate"]

    url = challenge.split('resource_metadata="')[1].rstrip('"')
    assert url == f"https://posts.example.org{PROTECTED}"
    assert (await site.get(PROTECTED)).status_code == 200


async def test_the_metadata_path_follows_the_mcp_url(open_site: OpenSite) -> None:
    site = await open_site(mcp_url="https://example.org/agents/tools")

    found = await read(site, f"{PROTECTED}/agents/tools", "application/json")

    assert found["resource"] == "https://example.org/agents/tools"
    assert (await site.get("/agents/tools/server-card")).status_code == 200
    assert (await site.get(f"{PROTECTED}/mcp")).status_code == 404


async def test_metadata_paths_include_the_path_of_base_url_and_site_url(
    open_site: OpenSite,
) -> None:
    site = await open_site(base_url="https://a.example/birds", site_url="https://b.example/nest/")
    issuer = "/.well-known/oauth-authorization-server"

    api = await read(site, f"{PROTECTED}/birds", "application/json")
    server = await read(site, f"{issuer}/nest", "application/json")

    assert api["resource"] == "https://a.example/birds"
    assert api == await read(site, PROTECTED, "application/json")
    assert server["issuer"] == "https://b.example/nest"
    assert server == await read(site, issuer, "application/json")


async def test_a_trailing_slash_of_the_mcp_url_is_ignored(open_site: OpenSite) -> None:
    site = await open_site(mcp_url="https://tools.example.org/mcp/")

    [remote] = (await site.get("/mcp/server-card")).json()["remotes"]

    assert remote["url"] == "https://tools.example.org/mcp"
    found = await read(site, f"{PROTECTED}/mcp", "application/json")
    assert found["resource"] == "https://tools.example.org/mcp"
    assert "https://tools.example.org/mcp/" not in (await site.get("/auth.md")).text


async def test_the_authorization_server_metadata_offers_a_key_and_no_oauth_flow(
    site: httpx.AsyncClient,
) -> None:
    keys = "https://posts.example.org/keys"

    assert await read(site, "/.well-known/oauth-authorization-server", "application/json") == {
        "issuer": "https://posts.example.org",
        "service_documentation": "https://posts.example.org/auth.md",
        "response_types_supported": [],
        "grant_types_supported": [],
        "agent_auth": {
            "skill": "https://posts.example.org/auth.md",
            "register_uri": keys,
            "claim_uri": keys,
            "revocation_uri": keys,
            "identity_types_supported": ["anonymous"],
            "anonymous": {"credential_types_supported": ["api_key"]},
        },
    }


@pytest.mark.parametrize("path", ["/.well-known/mcp/server-card.json", "/mcp/server-card"])
async def test_the_mcp_server_has_a_server_card(site: httpx.AsyncClient, path: str) -> None:
    card = await read(site, path, "application/mcp-server-card+json")

    [remote] = card.pop("remotes")
    assert card == {
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "org.example.posts/bowerbird",
        "version": __version__,
        "title": "Bowerbird",
        "description": documents.DESCRIPTION,
        "websiteUrl": "https://posts.example.org",
        "icons": [
            {
                "src": "https://posts.example.org/icon.svg",
                "mimeType": "image/svg+xml",
                "sizes": ["any"],
            }
        ],
    }
    assert len(card["description"]) <= 100
    assert remote["type"] == "streamable-http"
    assert remote["url"] == "https://tools.example.org/mcp"
    assert remote["supportedProtocolVersions"] == list(SUPPORTED_PROTOCOL_VERSIONS)
    [header] = remote["headers"]
    assert (header["name"], header["isRequired"], header["isSecret"]) == (
        "Authorization",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("site_url", "name"),
    [
        ("https://example.org", "org.example/bowerbird"),
        ("http://localhost:8080", "localhost/bowerbird"),
        ("http://192.0.2.7:8080", "192.0.2.7/bowerbird"),
        ("http://[2001:db8::7]:8080", "2001-db8--7/bowerbird"),
    ],
)
def test_the_name_in_the_server_card_is_the_reversed_host_name(site_url: str, name: str) -> None:
    assert documents.server_name(Settings(site_url=site_url)) == name


async def test_the_catalogue_lists_the_server_card(site: httpx.AsyncClient) -> None:
    catalogue = await read(site, "/.well-known/ai-catalog.json", "application/ai-catalog+json")

    assert catalogue["specVersion"] == "1.0"
    assert catalogue["host"]["displayName"] == "Bowerbird"
    assert catalogue["entries"] == [
        {
            "identifier": "urn:air:posts.example.org:mcp:bowerbird",
            "displayName": "Bowerbird MCP server",
            "type": "application/mcp-server-card+json",
            "url": "https://tools.example.org/mcp/server-card",
        }
    ]


async def test_the_openapi_document_has_the_url_of_this_server(site: httpx.AsyncClient) -> None:
    document = await read(site, "/openapi.json", "application/json")

    assert document["openapi"].startswith("3.1")
    assert document["servers"][0]["url"] == "https://api.example.org"
    assert "/v1/bookmarks" in document["paths"]


async def test_auth_md_has_every_url_header_and_error_code(site: httpx.AsyncClient) -> None:
    response = await site.get("/auth.md")

    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    for text in (
        "https://posts.example.org/keys",
        "https://api.example.org/v1/sandbox/bookmarks",
        "https://tools.example.org/mcp",
        "Authorization: Bearer",
        "X-Service-Sandbox-Error",
        "`rate_limited`",
        "upgrade_url",
    ):
        assert text in response.text
    for code in Code:
        assert f"| {code} | {CATALOGUE[code].status} | {CATALOGUE[code].when} |" in response.text


async def test_llms_txt_has_the_expected_headings(site: httpx.AsyncClient) -> None:
    response = await site.get("/llms.txt")

    lines = response.text.splitlines()
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert lines[0] == "# Bowerbird"
    assert lines[2].startswith("> ")
    assert "- [bookmarks](https://posts.example.org/docs/bookmarks): The posts" in response.text
    assert [line for line in lines if line.startswith("## ")] == [
        "## For agents",
        "## For people",
        "## Optional",
    ]


async def test_every_url_of_this_site_in_a_document_exists(
    site: httpx.AsyncClient,
) -> None:
    texts = [(await site.get(path)).text for path in ("/auth.md", "/llms.txt")]
    urls = {
        word.split(")")[0].rstrip("`.,")
        for text in texts
        for word in text.replace("(", " ").replace("`", " ").split()
        if word.startswith("https://posts.example.org/")
    }

    assert len(urls) > 10
    for url in urls:
        path = url.removeprefix("https://posts.example.org")
        assert (await site.get(path)).status_code == 200, path


async def test_robots_txt_disallows_only_the_api_and_the_lists_of_the_demo(
    site: httpx.AsyncClient,
) -> None:
    response = await site.get("/robots.txt")

    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text.splitlines()[1:] == [
        "User-agent: *",
        "Allow: /v1/sandbox/",
        "Disallow: /v1/",
        "Disallow: /demo/",
    ]


async def test_security_txt_has_a_contact_and_a_moving_expiry_date(open_site: OpenSite) -> None:
    clock = SetClock()
    site = await open_site(clock, **PROXIED, security_contact="https://example.org/security")

    first = await site.get(SECURITY)
    clock.now += 86_400 * 1_000_000
    second = await site.get(SECURITY)

    assert first.headers["content-type"] == "text/plain; charset=utf-8"
    assert first.text.splitlines() == [
        "Contact: https://example.org/security",
        "Expires: 2027-01-14T00:00:00Z",
        "Preferred-Languages: en",
        f"Canonical: https://posts.example.org{SECURITY}",
    ]
    assert "Expires: 2027-01-15T00:00:00Z" in second.text


async def test_security_txt_falls_back_to_the_operator_contact(open_site: OpenSite) -> None:
    with_contact = await open_site(operator_contact="ops@example.org")
    without_contact = await open_site()

    assert "Contact: mailto:ops@example.org\n" in (await with_contact.get(SECURITY)).text
    assert (await without_contact.get(SECURITY)).status_code == 404


@pytest.mark.parametrize("contact", ["ops", "http://example.org", "a@b\nContact: c@d", "a b@c"])
def test_an_invalid_contact_is_rejected(contact: str) -> None:
    with pytest.raises(BadSetting, match="BOWERBIRD_SECURITY_CONTACT"):
        Settings(security_contact=contact).check()


@pytest.mark.parametrize("contact", ["root@nas", "a@localhost", "ops@example.org", "https://a.b/c"])
def test_an_address_in_the_operator_s_own_network_is_a_contact(contact: str) -> None:
    Settings(security_contact=contact, operator_contact=contact).check()


async def test_no_url_comes_from_a_request_header(site: httpx.AsyncClient) -> None:
    hostile = {
        "Host": "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        "Forwarded": "host=evil.example",
    }
    for path in (
        PROTECTED,
        "/.well-known/oauth-authorization-server",
        "/.well-known/mcp/server-card.json",
        "/.well-known/ai-catalog.json",
        "/openapi.json",
        "/auth.md",
        "/llms.txt",
        "/upgrade",
        "/docs/bookmarks",
    ):
        response = await site.get(path, headers=hostile)
        assert response.status_code == 200
        for trace in ("evil.example", "gopher", "localhost"):
            assert trace not in response.text, (path, trace)


async def test_an_mcp_url_without_a_path_does_not_replace_the_metadata_of_the_api(
    open_site: OpenSite,
) -> None:
    site = await open_site(base_url="https://api.example.org", mcp_url="https://tools.example.org")

    found = await read(site, PROTECTED, "application/json")

    assert found["resource"] == "https://api.example.org"
