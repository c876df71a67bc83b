"""Documents and static files."""

import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from bowerbird.settings import Settings
from bowerbird.web import templating
from bowerbird.web.site import site as site_of
from bowerbird.wire.metrics import RequestMetrics
from tests.support.programs import node
from tests.support.service import SetClock
from tests.support.serving import Server

pytestmark = pytest.mark.anyio


DOCUMENTS = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/v1",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/mcp/server-card.json",
    "/.well-known/ai-catalog.json",
    "/.well-known/security.txt",
    "/mcp/server-card",
    "/auth.md",
    "/openapi.json",
    "/llms.txt",
    "/robots.txt",
    "/icon.svg",
]

UNKNOWN_PATHS = [
    "/static/",
    "/static/site.css",
    "/static/../templates/home.html",
    "/static/..%2ftemplates%2fhome.html",
    "/static/%2e%2e/%2e%2e/pyproject.toml",
    "/static/..\\..\\errors.py",
    "/%00",
    "/keys%00",
    "/keys/",
    "/KEYS",
    "/docs/nothing",
    "/docs/bookmarks/../labels%00",
    "/.well-known/oauth-protected-resource/",
    "/.well-known/openid-configuration",
    "/.git/config",
    "/" + "x" * 8_000,
    "/%ff%fe",
    "/<script>alert(1)</script>",
    "/v2/bookmarks",
]


async def test_a_document_has_an_etag_and_can_be_revalidated(site: httpx.AsyncClient) -> None:
    for path in DOCUMENTS:
        first = await site.get(path)
        tag = first.headers["etag"]
        again = await site.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
        other = await site.get(path, headers={"If-None-Match": '"other"'})

        assert tag.startswith('"'), path
        assert first.headers["cache-control"].startswith("public, max-age="), path
        assert (again.status_code, again.content) == (304, b""), path
        assert again.headers["etag"] == tag
        assert (other.status_code, other.content) == (200, first.content), path


async def test_any_web_page_may_read_a_document(site: httpx.AsyncClient) -> None:
    preflight_headers = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "mcp-protocol-version",
    }
    for path in DOCUMENTS:
        preflight = await site.options(path, headers=preflight_headers)
        read = await site.get(path)

        assert preflight.status_code == 204, path
        assert preflight.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
        assert preflight.headers["access-control-allow-headers"] == "*, Authorization"
        for response in (preflight, read):
            assert response.headers["access-control-allow-origin"] == "*", path
            assert "access-control-allow-credentials" not in response.headers, path
        assert read.headers["x-content-type-options"] == "nosniff", path
        assert read.headers["cross-origin-resource-policy"] == "cross-origin", path


async def test_head_returns_the_headers_of_get(site: httpx.AsyncClient) -> None:
    plain = {"Accept-Encoding": "identity"}
    for path in (*DOCUMENTS, "/", "/keys", "/docs/bookmarks"):
        read = await site.get(path, headers=plain)
        head = await site.head(path, headers=plain)

        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-length"] == str(len(read.content)), path
        assert head.headers["content-type"] == read.headers["content-type"], path


async def test_other_methods_are_not_allowed(site: httpx.AsyncClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"):
        for path in ("/auth.md", "/upgrade", "/docs/labels"):
            response = await site.request(method, path)
            assert response.status_code == 405, (method, path)
            assert response.headers["allow"] == "GET, HEAD, OPTIONS"
        assert (await site.request(method, "/nothing")).status_code == 404


async def test_each_encoding_has_its_own_etag(site: httpx.AsyncClient) -> None:
    sizes = {}
    tags = set()
    for encoding in ("identity", "gzip", "zstd"):
        response = await site.get("/openapi.json", headers={"Accept-Encoding": encoding})
        sizes[encoding] = int(response.headers["content-length"])
        tags.add(response.headers["etag"])
        assert response.headers.get("content-encoding", "identity") == encoding
        assert response.headers["vary"] == "Accept-Encoding"
        assert "paths" in response.json()

    assert len(tags) == 3
    assert sizes["zstd"] < sizes["identity"] / 5


async def test_static_files_have_a_hash_in_their_path_and_are_cached_forever(
    site: httpx.AsyncClient,
) -> None:
    page = (await site.get("/docs/bookmarks")).text
    paths = {part.split('"')[0] for part in page.split('="') if part.startswith("/static/")}

    assert {path.rpartition(".")[2] for path in paths} == {"css", "js", "png", "svg"}
    for path in paths:
        response = await site.get(path)
        assert response.status_code == 200
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["x-content-type-options"] == "nosniff"
        stale = path.replace(path.split(".")[1], "0" * 12)
        assert (await site.get(stale)).status_code == 404


async def test_an_unknown_path_is_not_found(site: httpx.AsyncClient) -> None:
    for path in UNKNOWN_PATHS:
        plain = await site.get(path)
        page = await site.get(path, headers={"Accept": "text/html,application/xhtml+xml"})

        assert plain.status_code == page.status_code == 404, path
        assert plain.headers["content-type"] == "text/plain; charset=utf-8"
        assert len(plain.content) < 100
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "Page not found" in page.text
        assert "alert(1)" not in page.text


def test_malformed_paths_over_a_raw_socket_are_not_found(served: Server) -> None:
    for target in (
        "//keys",
        "/static/../../pyproject.toml",
        "/%",
        "/%ff%00",
        "/docs?" + "x" * 20_000,
    ):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            request = f"GET {target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            response = connection.makefile("rb").read()
        expected = b"200" if target.startswith("/docs?") else b"404"
        assert response.split(b" ")[1] == expected, target
        assert b"evil.example" not in response


async def test_the_health_checks_succeed(site: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert (await site.get(path)).status_code == 200


class NoVisits:
    def find(self, _: str) -> tuple[None, dict[str, object]]:
        return None, {}

    def has_session(self, _: object) -> bool:
        return False


async def test_an_unexpected_error_returns_only_a_reference() -> None:
    def broken() -> dict[str, object]:
        raise RuntimeError("a secret detail")

    faulty = site_of(
        Settings(),
        broken,
        (),
        SetClock(),
        RequestMetrics(),
        sections=(),
        visits=lambda _: NoVisits(),
    )
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(faulty), base_url="http://test"
    ) as client:
        response = await client.get("/docs")

    assert response.status_code == 500
    reference = response.headers["x-request-id"]
    assert response.text == f"Internal error. It is logged with the reference {reference}.\n"
    assert "secret" not in response.text


FOLDER = Path(templating.__file__).parent / "static"

SCRIPTS = {path.name: path for path in sorted(FOLDER.rglob("*.js"))}


def sent(name: str) -> str:
    return next(
        document.body.decode()
        for path, document in templating.files().items()
        if path.startswith(f"/static/{name.removesuffix('.js')}.") and path.endswith(".js")
    )


def code(text: str) -> list[str]:
    """The lines of a script that are not part of a comment."""
    kept, is_comment = [], False
    for line in text.splitlines():
        start = line.strip()
        if not is_comment and start.startswith("/**"):
            is_comment = "*/" not in start
            if start.endswith("*/") or is_comment:
                continue
        elif is_comment:
            is_comment = "*/" not in start
            continue
        elif start.startswith("//"):
            continue
        kept.append(line)
    return kept


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_sent_as_it_is_written_but_for_its_comments(name: str) -> None:
    assert sent(name).splitlines() == code(SCRIPTS[name].read_text(encoding="utf-8"))


def test_the_sent_scripts_can_be_read() -> None:
    for name in SCRIPTS:
        checked = subprocess.run(
            [str(node.NODE), "--check", "--input-type=module", "-"],
            input=sent(name),
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stderr
