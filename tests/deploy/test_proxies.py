"""The examples of reverse proxies agree with the limits and paths of the service."""

import re

import pytest

from bowerbird.settings import Settings
from bowerbird.web.imports import pages
from bowerbird.web.visits import router
from tests.deploy.named_settings import DEPLOY, KNOWN, settings_in

FOLDER = DEPLOY / "proxy"
NGINX = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
CADDY = {file: (FOLDER / file).read_text("utf-8") for file in ("Caddyfile", "balancer.Caddyfile")}
HAPROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
EVERY = {"nginx.conf": NGINX, "haproxy.cfg": HAPROXY, **CADDY}


def directives(block: str) -> list[str]:
    """The directives of a location of nginx."""
    body = re.search(rf"location {re.escape(block)} \{{(.*?)\n    \}}", NGINX, re.DOTALL)
    assert body is not None
    return [line.strip() for line in body[1].splitlines() if line.strip().endswith(";")]


def test_uploads_may_be_as_large_as_the_service_accepts() -> None:
    assert f"client_max_body_size {router.MAX_BODY_BYTES};" in NGINX
    for text in CADDY.values():
        assert f"max_size {router.MAX_BODY_BYTES // 1_000_000}MB" in text
    assert router.MAX_BODY_BYTES % 1_000_000 == 0
    assert f"if {{ req.hdr_val(content-length) gt {router.MAX_BODY_BYTES} }}" in HAPROXY
    for text in (NGINX, HAPROXY, CADDY["Caddyfile"]):
        assert f"several files on the page {pages.PATH}." in text


@pytest.mark.parametrize("location", ["/", "/mcp"])
def test_nginx_passes_on_what_the_service_reads(location: str) -> None:
    found = directives(location)

    assert "proxy_set_header Host $http_host;" in found
    assert "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" in found
    assert "proxy_http_version 1.1;" in found


def test_clients_do_not_decide_which_requests_are_traced() -> None:
    for location in ("/", "/mcp"):
        assert 'proxy_set_header traceparent "";' in directives(location)
    for text in CADDY.values():
        assert "header_up -traceparent" in text
    assert "http-request del-header traceparent" in HAPROXY


def test_events_are_not_buffered() -> None:
    assert Settings().tool_server.endswith("/mcp")
    assert "proxy_buffering off;" in directives("/mcp")
    for text in CADDY.values():
        assert "flush_interval -1" in text


def test_the_proxy_closes_an_idle_connection_first() -> None:
    [seconds] = re.findall(r"keepalive_timeout (\d+)s;", NGINX)
    others = [re.findall(r"keepalive (\d+)s", text) for text in CADDY.values()]
    others.append(re.findall(r"pool-purge-delay (\d+)s", HAPROXY))

    assert {seconds, *(each for found in others for each in found)} == {"60"}
    assert int(seconds) < Settings().idle_timeout_s


def test_logs_leave_out_search_terms() -> None:
    [form] = re.findall(r"log_format bowerbird '([^']+)'", NGINX)

    # %HPO is the path without the query.
    assert re.findall(r'log-format "(.+)"', HAPROXY) == [r"%ci [%trl] \"%HM %HPO\" %ST %B"]
    assert not re.search(r"\$request\b|\$request_uri|\$args|\$query_string|authorization", form)


@pytest.mark.parametrize("file", EVERY)
def test_every_setting_that_is_named_exists(file: str) -> None:
    assert settings_in(EVERY[file]) <= KNOWN


def test_the_ports_are_those_of_the_service() -> None:
    port = Settings().port

    assert f"server 127.0.0.1:{port};" in NGINX
    assert f"server node-1 127.0.0.1:{port}" in HAPROXY
    assert f"reverse_proxy 127.0.0.1:{port} " in CADDY["Caddyfile"]
    assert f"server-1:{port} server-2:{port} " in CADDY["balancer.Caddyfile"]
    assert "health_uri /readyz" in CADDY["balancer.Caddyfile"]
