"""The dashboard and the alerts use metrics that exist, and the dashboard shows all of them."""

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
from bowerbird.storage.files.files import Files
from bowerbird.wire.metrics import RequestMetrics
from tests.deploy.named_settings import DEPLOY

pytestmark = pytest.mark.anyio

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
