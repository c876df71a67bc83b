"""SECURITY.md states the bounds that the service really has."""

import importlib
import re
from dataclasses import fields
from pathlib import Path

import pytest

from bowerbird.requests import limits
from bowerbird.settings import PREFIX, Settings

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| ([\d,]+) ?(\S*) \| `(.+?)` \| .+ \|$", PAGE, re.MULTILINE)
UNITS = {
    "": 1,
    "seconds": 1,
    "levels": 1,
    "tokens": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "MB": 10**6,
    "GB": 10**9,
}
# Bounds of single values, which the OpenAPI document states at their fields.
OF_FIELDS = {
    "PAGE_DEFAULT",
    # Stated in the row of REMOVALS_MAX.
    "REMOVALS_MAX_PERCENT",
    "BUCKETS_MAX",
    "CURSOR_MAX",
    "LABEL_ID_MAX",
    "LABEL_METADATA_MAX",
    "LABEL_NAME_MAX",
    "MAX_DEPTH",
    "MAX_NAME_CHARACTERS",
    "MAX_VALUES",
    # Entered on a page.
    "INVITATION_NOTE_MAX",
    "PASSKEY_NAME_MAX",
    "SENT_SLUG_MAX",
    "SHARE_NAME_MAX",
    "SHARE_TITLE_MAX",
    "SLUG_MAX",
    "TEXT_MAX",
    "TOOL_FULL_POSTS_MAX",
    "TOOL_POST_IDS_MAX",
    "VIEW_NAME_MAX",
}


def _actual(place: str) -> object:
    if place.startswith(PREFIX):
        return getattr(Settings(), place.removeprefix(PREFIX).lower())
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"bowerbird.{module}"), name)


@pytest.mark.parametrize(("what", "number", "unit", "place"), ROWS, ids=[row[3] for row in ROWS])
def test_a_stated_bound_is_the_one_in_force(what: str, number: str, unit: str, place: str) -> None:
    factor = UNITS[unit]
    if place.endswith("_MB"):
        factor = 1
    assert int(number.replace(",", "")) * factor == _actual(place), what


def test_every_row_of_the_table_is_checked() -> None:
    table = PAGE.split("## What is bounded")[1].split("\n## ")[0]

    assert len(ROWS) == len(re.findall(r"^\| ", table, re.MULTILINE)) - 2


def test_every_bound_on_requests_is_stated() -> None:
    stated = {place.rpartition(".")[2] for *_, place in ROWS}

    assert {name for name in vars(limits) if name.isupper()} - OF_FIELDS - stated == set()


def test_every_setting_that_bounds_something_is_stated() -> None:
    stated = {place for *_, place in ROWS}
    bounding = re.compile(r"max_|_timeout_s$|_mb$|_per_month$|_connections$")
    names = {
        PREFIX + field.name.upper() for field in fields(Settings) if bounding.search(field.name)
    }

    # How long a stop waits is no bound on what somebody may use.
    assert names - stated == {"BOWERBIRD_STOP_TIMEOUT_S"}
