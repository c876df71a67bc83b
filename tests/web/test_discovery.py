"""The documents that software finds its way by, one by one."""

import json
from typing import Any

import httpx
import pytest
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from bowerbird import __version__
from bowerbird.errors import CATALOGUE, Code
from bowerbird.settings import BadSetting, Settings
from bowerbird.wire import server_card
from tests.support.service import SetClock
from tests.web.conftest import PROXIED, Opened

pytestmark = pytest.mark.anyio

PROTECTED = "/.well-known/oauth-protected-resource"
SECURITY = "/.well-known/security.txt"


async def read(site: httpx.AsyncClient, path: str, media_type: str) -> dict[str, Any]:
    response = await site.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == media_type
    fields: dict[str, Any] = json.loads(response.content)
    return fields


@pytest.mark.parametrize(
    ("path", "resource", "name"),
    [
        (PROTECTED, "https://api.example.org", "Bowerbird API"),
        (f"{PROTECTED}/v1", "https://api.example.org/v1", "Bowerbird API"),
        (f"{PROTECTED}/mcp", "https://tools.example.org/mcp", "Bowerbird tool server"),
    ],
)
async def test_the_protected_resource_is_named_at_each_of_its_forms(
    site: httpx.AsyncClient, path: str, resource: str, name: str
) -> None:
    assert await read(site, path, "application/json") == {
        "resource": resource,
        "resource_name": name,
        "authorization_servers": ["https://posts.example.org"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": [],
        "resource_documentation": "https://posts.example.org/docs",
    }


async def test_the_refusal_of_a_key_points_to_a_document_that_exists(
    site: httpx.AsyncClient,
) -> None:
    challenge = (await site.get("/v1/bookmarks")).headers["www-authenticate"]

    address = challenge.split('resource_metadata="')[1].rstrip('"')
    assert address == f"https://posts.example.org{PROTECTED}"
    assert (await site.get(PROTECTED)).status_code == 200


async def test_the_path_inserted_form_follows_the_tool_servers_address(opened: Opened) -> None:
    site = await opened(mcp_url="https://example.org/agents/tools")

    found = await read(site, f"{PROTECTED}/agents/tools", "application/json")

    assert found["resource"] == "https://example.org/agents/tools"
    assert (await site.get("/agents/tools/server-card")).status_code == 200
    assert (await site.get(f"{PROTECTED}/mcp")).status_code == 404


async def test_a_tool_server_without_a_path_leaves_the_origin_to_the_api(opened: Opened) -> None:
    site = await opened(base_url="https://api.example.org", mcp_url="https://tools.example.org")

    found = await read(site, PROTECTED, "application/json")

    assert found["resource"] == "https://api.example.org"


async def test_an_address_with_a_path_has_its_path_inserted_forms(opened: Opened) -> None:
    site = await opened(base_url="https://a.example/birds", site_url="https://b.example/nest/")
    issuer = "/.well-known/oauth-authorization-server"

    api = await read(site, f"{PROTECTED}/birds", "application/json")
    server = await read(site, f"{issuer}/nest", "application/json")

    assert api["resource"] == "https://a.example/birds"
    assert api == await read(site, PROTECTED, "application/json")
    assert server["issuer"] == "https://b.example/nest"
    assert server == await read(site, issuer, "application/json")


async def test_a_slash_behind_the_tool_servers_address_does_not_matter(opened: Opened) -> None:
    site = await opened(mcp_url="https://tools.example.org/mcp/")

    [remote] = (await site.get("/mcp/server-card")).json()["remotes"]

    assert remote["url"] == "https://tools.example.org/mcp"
    found = await read(site, f"{PROTECTED}/mcp", "application/json")
    assert found["resource"] == "https://tools.example.org/mcp"
    assert "https://tools.example.org/mcp/" not in (await site.get("/auth.md")).text


async def test_the_authorization_server_offers_a_key_and_no_flow(site: httpx.AsyncClient) -> None:
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
async def test_the_tool_server_has_a_card(site: httpx.AsyncClient, path: str) -> None:
    card = await read(site, path, "application/mcp-server-card+json")

    [remote] = card.pop("remotes")
    assert card == {
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "org.example.posts/bowerbird",
        "version": __version__,
        "title": "Bowerbird",
        "description": server_card.DESCRIPTION,
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
def test_the_cards_name_is_the_sites_turned_around(site_url: str, name: str) -> None:
    assert server_card.server_name(Settings(site_url=site_url)) == name


async def test_the_catalogue_lists_the_card(site: httpx.AsyncClient) -> None:
    catalogue = await read(site, "/.well-known/ai-catalog.json", "application/ai-catalog+json")

    assert catalogue["specVersion"] == "1.0"
    assert catalogue["host"]["displayName"] == "Bowerbird"
    assert catalogue["entries"] == [
        {
            "identifier": "urn:air:posts.example.org:mcp:bowerbird",
            "displayName": "Bowerbird tool server",
            "type": "application/mcp-server-card+json",
            "url": "https://tools.example.org/mcp/server-card",
        }
    ]


async def test_the_openapi_document_names_this_server(site: httpx.AsyncClient) -> None:
    document = await read(site, "/openapi.json", "application/json")

    assert document["openapi"].startswith("3.1")
    assert document["servers"][0]["url"] == "https://api.example.org"
    assert "/v1/bookmarks" in document["paths"]


async def test_auth_md_tells_an_agent_every_step(site: httpx.AsyncClient) -> None:
    response = await site.get("/auth.md")

    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    for said in (
        "https://posts.example.org/keys",
        "https://api.example.org/v1/sandbox/bookmarks",
        "https://tools.example.org/mcp",
        "Authorization: Bearer",
        "X-Service-Sandbox-Error",
        "`rate_limited`",
        "upgrade_url",
    ):
        assert said in response.text
    for code in Code:
        assert f"| {code} | {CATALOGUE[code].status} | {CATALOGUE[code].when} |" in response.text


async def test_llms_txt_has_the_form_that_its_readers_expect(site: httpx.AsyncClient) -> None:
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


async def test_every_address_of_ours_in_a_document_leads_somewhere(
    site: httpx.AsyncClient,
) -> None:
    texts = [(await site.get(path)).text for path in ("/auth.md", "/llms.txt")]
    named = {
        word.split(")")[0].rstrip("`.,")
        for text in texts
        for word in text.replace("(", " ").replace("`", " ").split()
        if word.startswith("https://posts.example.org/")
    }

    assert len(named) > 10
    for address in named:
        path = address.removeprefix("https://posts.example.org")
        assert (await site.get(path)).status_code == 200, path


async def test_crawlers_are_kept_off_the_api_alone(site: httpx.AsyncClient) -> None:
    response = await site.get("/robots.txt")

    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text.splitlines()[1:] == [
        "User-agent: *",
        "Allow: /v1/sandbox/",
        "Disallow: /v1/",
    ]


async def test_security_txt_says_whom_to_tell_and_stays_valid(opened: Opened) -> None:
    clock = SetClock()
    site = await opened(clock, **PROXIED, security_contact="https://example.org/security")

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


async def test_security_txt_falls_back_to_the_operator(opened: Opened) -> None:
    told = await opened(operator_contact="ops@example.org")
    untold = await opened()

    assert "Contact: mailto:ops@example.org\n" in (await told.get(SECURITY)).text
    assert (await untold.get(SECURITY)).status_code == 404


@pytest.mark.parametrize("contact", ["ops", "http://example.org", "a@b\nContact: c@d", "a b@c"])
def test_a_contact_that_cannot_be_written_down_is_refused(contact: str) -> None:
    with pytest.raises(BadSetting, match="BOWERBIRD_SECURITY_CONTACT"):
        Settings(security_contact=contact).check()


async def test_nothing_is_made_from_the_headers_of_a_request(site: httpx.AsyncClient) -> None:
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
        "/",
        "/keys",
        "/docs/bookmarks",
    ):
        response = await site.get(path, headers=hostile)
        assert response.status_code == 200
        for trace in ("evil.example", "gopher", "inside.internal", "localhost"):
            assert trace not in response.text, (path, trace)
