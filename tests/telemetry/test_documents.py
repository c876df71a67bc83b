"""The documents name variables, attributes and limits that exist."""

import re
from pathlib import Path

import pytest
from opentelemetry.sdk import environment_variables

from bowerbird.telemetry.spans import MAX_PARTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8").partition("## Traces")[2]
SOURCES = "".join(
    file.read_text(encoding="utf-8") for file in (ROOT / "src/bowerbird/telemetry").glob("*.py")
)


@pytest.mark.parametrize(
    "name",
    [
        "docs/monitoring.md",
        "docs/settings.md",
        "deploy/compose.yaml",
        "deploy/example.env",
        "deploy/helm/bowerbird/values.yaml",
    ],
)
def test_every_variable_of_opentelemetry_exists(name: str) -> None:
    named = set(re.findall(r"\bOTEL_[A-Z_]+\b", (ROOT / name).read_text(encoding="utf-8")))

    assert named
    assert named <= vars(environment_variables).keys()


def test_every_attribute_is_documented_and_every_documented_one_exists() -> None:
    table = PAGE.partition("| Span | Attributes |")[2].partition("\n\n")[0]
    documented = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", PAGE)) - {"bookmarks.page"}
    groups = "bowerbird|db|error|gen_ai|http|network|server|url"
    recorded = set(re.findall(rf'"((?:{groups})\.[a-z_.]+)"', SOURCES))

    assert table
    assert documented == recorded
    assert f"at most {MAX_PARTS} parts" in PAGE
