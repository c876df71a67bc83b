"""Proxies, monitoring and the parameters for a pooler."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import yaml

from bowerbird.clock import system_clock
from bowerbird.jobs.assembly import build_searching, build_worker, show_embedding
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.postgres.database import Limits
from bowerbird.web.imports import pages
from bowerbird.web.visits import router
from bowerbird.wire.metrics import RequestMetrics
from tests.deploy.named_settings import DEPLOY, KNOWN, settings_in
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio


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


DASHBOARD = json.loads((DEPLOY / "grafana" / "bowerbird.json").read_text(encoding="utf-8"))

RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))

ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}

PAGE = (DEPLOY.parent / "docs" / "monitoring.md").read_text(encoding="utf-8")

# What a scrape adds to every series.
SCRAPED = {"instance", "job", "app_kubernetes_io_name"}

SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def expressions() -> Iterator[tuple[str, str]]:
    """The queries of all panels and alerts, with their names."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for name, rule in ALERTS.items():
        yield name, rule["expr"]


def families(series: Iterable[str]) -> set[str]:
    return {re.sub("_(bucket|sum|count)$", "", name) for name in series}


def names_in(expression: str) -> set[str]:
    return set(re.findall(r"\bbowerbird_\w+", expression))


@pytest.fixture
async def labels_of(sqlite: Database) -> dict[str, set[str]]:
    """The labels of every series that a node serves, by its name."""
    settings = Settings()
    metrics = RequestMetrics()
    searching = build_searching(settings, sqlite, system_clock)
    worker = build_worker(settings, sqlite, Files(settings), system_clock, searching)
    show_embedding(metrics, searching.jobs)
    metrics.registry.register(worker.metrics)
    metrics.observe("/v1/bookmarks", "GET", 200, 0.001)
    metrics.jobs = [("export", "pending", 1, 2.0)]
    worker.metrics.ended("export", "completed")
    worker.metrics.took("export", 1.0)
    found: dict[str, set[str]] = {}
    for family in metrics.registry.collect():
        for suffix in SUFFIXES[family.type]:
            series = [each for each in family.samples if each.name == family.name + suffix]
            assert series, family.name
            found[family.name + suffix] = {name for each in series for name in each.labels}
    await searching.models.close()
    return found


async def test_every_metric_that_is_named_exists(labels_of: dict[str, set[str]]) -> None:
    unknown = {name: names_in(text) - labels_of.keys() for name, text in expressions()}

    assert {name: found for name, found in unknown.items() if found} == {}
    assert set(re.findall(r"`(bowerbird_\w+)`", PAGE)) <= labels_of.keys() | families(labels_of)


async def test_every_label_that_is_named_exists(labels_of: dict[str, set[str]]) -> None:
    wrong = []
    for name, text in expressions():
        metrics = names_in(text)
        known = SCRAPED.union(*(labels_of[metric] for metric in metrics))
        chosen = [each for group in re.findall(r"\{([^}]*)\}", text) for each in group.split(",")]
        used = {re.split(r"[=!]", each)[0].strip() for each in chosen}
        used |= {
            each.strip() for by in re.findall(r"by \(([^)]*)\)", text) for each in by.split(",")
        }
        wrong += [(name, label) for label in used - known]

    assert wrong == []


async def test_the_dashboard_shows_and_the_page_explains_every_metric(
    labels_of: dict[str, set[str]],
) -> None:
    text = json.dumps(DASHBOARD)

    assert [name for name in families(labels_of) if name not in text] == []
    assert [name for name in families(labels_of) if f"| `{name}` |" not in PAGE] == []


def test_every_alert_is_explained() -> None:
    assert set(re.findall(r"^\| `(Bowerbird\w+)`", PAGE, re.MULTILINE)) == ALERTS.keys()
    for rule in ALERTS.values():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]


def test_outcomes_and_states_that_are_named_exist() -> None:
    outcomes = {
        "completed",
        "failed",
        "postponed",
        "paused",
        "released",
        "lease_lost",
        "not_stored",
    }
    states = {"pending", "processing", "completed", "failed", "expired"}
    known = {"outcome": outcomes, "state": states}
    for name, text in expressions():
        for label, values in re.findall(r'\b(outcome|state)=~?"([^"]+)"', text):
            assert set(values.split("|")) <= known[label], name
    for outcome in outcomes:
        assert f"`{outcome}`" in PAGE


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


PAGE_SCALING = (DEPLOY.parent / "docs" / "scaling.md").read_text(encoding="utf-8")

# PgBouncer knows these, and the driver sends the second.
KNOWN_TO_POOLERS = {"application_name", "client_encoding"}


async def test_the_parameters_of_a_connection_are_ignored_and_set_for_the_role(
    postgres: ThrowawayPostgres,
) -> None:
    async with databases.fresh_postgres(postgres, Limits()) as database:
        rows = await database.rows(
            "SELECT s.name, s.setting || coalesce(s.unit, '') FROM pg_settings AS s"
            " WHERE s.source = 'client'",
            {},
        )
    sent = {name: value for name, value in rows if name not in KNOWN_TO_POOLERS}
    [ignored] = re.findall(r"^ignore_startup_parameters = (.+)$", PAGE_SCALING, re.MULTILINE)
    pairs = re.findall(
        r"^ALTER ROLE bowerbird SET (\w+) = '?([\w]+)'?;$", PAGE_SCALING, re.MULTILINE
    )

    assert set(ignored.split(", ")) == sent.keys()
    in_milliseconds = {"5s": "5000ms"}
    assert {name: in_milliseconds.get(value, value) for name, value in pairs} == sent
