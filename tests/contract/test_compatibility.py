"""No release breaks /v1 clients, and the compatibility check detects every kind of break."""

import functools
import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bowerbird import __version__
from bowerbird.cli import program
from bowerbird.cli.commands.spec import PUBLISHED
from bowerbird.openapi import specification
from bowerbird.openapi.compatibility import Rule, breaks

Json = dict[str, Any]
Change = Callable[[Json], None]
ROOT = Path(__file__).parents[2]
TODAY = date(2026, 7, 18)


def made() -> Json:
    """A new copy of this release's document for each caller."""
    return json.loads(_text())  # type: ignore[no-any-return] # a JSON object


@functools.cache
def _text() -> str:
    return json.dumps(specification.document(specification.DEFAULT_ORIGIN))


def operation(document: Json, name: str) -> Json:
    found: Json = next(
        operation
        for item in document["paths"].values()
        for operation in item.values()
        if operation["operationId"] == name
    )
    return found


def parameter(document: Json, name: str, of: str = "listBookmarks") -> Json:
    listed = operation(document, of)["parameters"]
    found: Json = next(given for given in listed if given["name"] == name)
    return found


def schema(document: Json, name: str) -> Json:
    found: Json = document["components"]["schemas"][name]
    return found


def without(document: Json, name: str, field: str) -> None:
    del schema(document, name)["properties"][field]
    schema(document, name).get("required", []).remove(field)


def one_less(document: Json, name: str) -> None:
    listed = operation(document, "listBookmarks")["parameters"]
    listed.remove(parameter(document, name))


def needs(document: Json, name: str, field: str) -> None:
    schema(document, name).setdefault("required", []).append(field)


def test_this_release_does_not_break_the_published_document() -> None:
    promised = json.loads((ROOT / PUBLISHED).read_text(encoding="utf-8"))

    assert [str(found) for found in breaks(promised, made(), date.today())] == []  # noqa: DTZ011 - one day does not matter


def test_the_published_document_has_the_version_of_this_release() -> None:
    promised = json.loads((ROOT / PUBLISHED).read_text(encoding="utf-8"))

    assert promised["info"]["version"] == __version__, "run: bowerbird spec --publish"


BREAKING: list[tuple[Rule, str, Change]] = [
    (Rule.ENDPOINT, "GET /v1/labels", lambda d: d["paths"].pop("/v1/labels")),
    (
        Rule.STATUS,
        "POST /v1/labels/batch 207",
        lambda d: operation(d, "batchLabels")["responses"].pop("207"),
    ),
    (
        Rule.HEADER,
        "POST /v1/views 201 Location",
        lambda d: operation(d, "createView")["responses"]["201"]["headers"].pop("Location"),
    ),
    (
        Rule.FIELD,
        "GET /v1/bookmarks 200.data[].author_id",
        lambda d: without(d, "Bookmark", "author_id"),
    ),
    (
        Rule.FIELD,
        "GET /v1/bookmarks 200.data[].tweet_details.quoted_tweet.article.plain_text",
        lambda d: schema(d, "Article")["properties"].pop("plain_text"),
    ),
    (
        Rule.PRESENT,
        "GET /v1/bookmarks 200.data[].is_read",
        lambda d: schema(d, "Bookmark")["required"].remove("is_read"),
    ),
    (
        Rule.TYPE,
        "GET /v1/bookmarks 200.data[].sort_index",
        lambda d: schema(d, "Bookmark")["properties"]["sort_index"].update(type="string"),
    ),
    (
        Rule.TYPE,
        "GET /v1/bookmarks 200.data[].author_username",
        lambda d: schema(d, "Bookmark")["properties"]["author_username"].update(
            type=["string", "null"]
        ),
    ),
    (
        Rule.TYPE,
        "GET /v1/bookmarks ?posted_from",
        lambda d: parameter(d, "posted_from")["schema"].update(format="date"),
    ),
    (Rule.PARAMETER, "GET /v1/bookmarks ?tag", lambda d: one_less(d, "tag")),
    (
        Rule.PARAMETER,
        "POST /v1/labels/add body.label_id",
        lambda d: schema(d, "LabelRequest")["properties"].pop("label_id"),
    ),
    (
        Rule.PARAMETER,
        "POST /v1/labels/{label_id}/merge body",
        lambda d: operation(d, "mergeLabel").pop("requestBody"),
    ),
    (Rule.REQUIRED, "GET /v1/bookmarks ?q", lambda d: parameter(d, "q").update(required=True)),
    (
        Rule.REQUIRED,
        "GET /v1/labels ?page",
        lambda d: operation(d, "listLabels")["parameters"].append(
            {"name": "page", "in": "query", "required": True, "schema": {"type": "integer"}}
        ),
    ),
    (
        Rule.REQUIRED,
        "POST /v1/labels/add body.label_name",
        lambda d: needs(d, "LabelRequest", "label_name"),
    ),
    (
        Rule.REQUIRED,
        "POST /v1/bookmarks/{post_id}/restore body",
        lambda d: operation(d, "restoreBookmark").update(
            requestBody={"required": True, "content": {}}
        ),
    ),
    (
        Rule.ACCEPTED,
        "GET /v1/bookmarks ?sort_by",
        lambda d: parameter(d, "sort_by")["schema"]["enum"].remove("title"),
    ),
    (
        Rule.ACCEPTED,
        "POST /v1/labels/batch body.operations",
        lambda d: schema(d, "BatchRequest")["properties"]["operations"].update(maxItems=10),
    ),
    (
        Rule.ACCEPTED,
        "POST /v1/labels/add ?Idempotency-Key",
        lambda d: parameter(d, "Idempotency-Key", "addLabel")["schema"].update(pattern="^x$"),
    ),
    (
        Rule.ACCEPTED,
        "GET /v1/bookmarks ?posted_to",
        lambda d: parameter(d, "posted_to")["schema"]["anyOf"][-1].update(pattern="^x$"),
    ),
    (
        Rule.ACCEPTED,
        "POST /v1/labels/add body",
        lambda d: schema(d, "LabelRequest").update(additionalProperties=False),
    ),
    (
        Rule.ACCEPTED,
        "GET /v1/bookmarks ?limit",
        lambda d: parameter(d, "limit")["schema"].update(exclusiveMaximum=50),
    ),
    (
        Rule.ACCEPTED,
        "POST /v1/labels/add body.label_id",
        lambda d: schema(d, "LabelRequest")["properties"]["label_id"].update(items={}),
    ),
    (
        Rule.VALUE,
        "GET /v1/labels 429.code",
        lambda d: d["components"]["responses"]["RATE_LIMITED"]["content"]["application/json"][
            "schema"
        ]["properties"]["code"].update(enum=["SLOWLY"]),
    ),
    (
        Rule.VALUE,
        "GET /v1/labels 200.status",
        lambda d: schema(d, "ListLabelsAnswer")["properties"]["status"].update(const=False),
    ),
    (
        Rule.VALUE,
        "POST /v1/exports/pdf 202.data.status",
        lambda d: schema(d, "ExportResponse")["properties"]["status"]["enum"].remove("expired"),
    ),
    (
        Rule.VALUE,
        "POST /v1/exports/pdf 202.data.status",
        lambda d: schema(d, "ExportResponse")["properties"].update(status={"type": "string"}),
    ),
    (
        Rule.TYPE,
        "GET /v1/labels 200.data[]",
        lambda d: schema(d, "ListLabelsAnswer")["properties"]["data"].pop("items"),
    ),
    (
        Rule.PRESENT,
        "GET /v1/labels 200 ETag",
        lambda d: d["components"]["headers"]["ETag"].update(required=False),
    ),
    (
        Rule.TYPE,
        "GET /v1/labels 429 Retry-After",
        lambda d: d["components"]["headers"]["Retry-After"]["schema"].update(type="string"),
    ),
    (
        Rule.DEFAULT,
        "GET /v1/bookmarks ?is_unread_only",
        lambda d: parameter(d, "is_unread_only")["schema"].update(default=False),
    ),
]


@pytest.mark.parametrize(("rule", "place", "change"), BREAKING)
def test_a_breaking_change_is_named_with_its_rule(rule: Rule, place: str, change: Change) -> None:
    changed = made()
    change(changed)

    told = [str(found) for found in breaks(made(), changed, TODAY)]

    assert f"{place}: {rule.value}" in told


def test_a_newly_required_key_is_reported() -> None:
    promised, changed = made(), made()
    operation(promised, "listLabels")["security"] = []

    (found,) = breaks(promised, changed, TODAY)

    assert (found.rule, found.place) == (Rule.KEY, "GET /v1/labels")


@pytest.mark.parametrize(
    ("sunset", "is_kept"), [("2027-01-31", False), ("2027-02-01", True), ("2027-03-01", True)]
)
def test_an_announced_sunset_may_not_move_earlier(sunset: str, *, is_kept: bool) -> None:
    promised, changed = made(), made()
    operation(promised, "listLabels").update({"deprecated": True, "x-sunset": "2027-02-01"})
    operation(changed, "listLabels").update({"deprecated": True, "x-sunset": sunset})

    found = [(one.rule, one.place) for one in breaks(promised, changed, TODAY)]

    assert found == ([] if is_kept else [(Rule.SUNSET, "GET /v1/labels")])


def test_a_deprecation_may_be_withdrawn() -> None:
    promised = made()
    operation(promised, "listLabels").update({"deprecated": True, "x-sunset": "2027-02-01"})

    assert breaks(promised, made(), TODAY) == []


def test_every_rule_is_tested_with_a_breaking_change() -> None:
    assert {rule for rule, _, _ in BREAKING} | {Rule.KEY, Rule.SUNSET} == set(Rule)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["paths"].update({"/v1/new": d["paths"]["/v1/labels"]}),
        lambda d: schema(d, "Bookmark")["properties"].update(mood={"type": "string"}),
        lambda d: operation(d, "listLabels")["parameters"].append(
            {"name": "page", "in": "query", "required": False, "schema": {"type": "integer"}}
        ),
        lambda d: schema(d, "LabelRequest")["properties"].update(color={"type": "string"}),
        lambda d: parameter(d, "sort_by")["schema"]["enum"].append("mood"),
        lambda d: parameter(d, "label").update(
            schema={"anyOf": [parameter(d, "label")["schema"], {"type": "string", "pattern": "x"}]}
        ),
        lambda d: parameter(d, "posted_to")["schema"]["anyOf"].append(
            {"type": "string", "pattern": "^yesterday$"}
        ),
        lambda d: schema(d, "BatchRequest")["properties"]["operations"].update(maxItems=100),
        lambda d: schema(d, "LabelRequest").update(required=[]),
        lambda d: operation(d, "listLabels")["responses"].update(
            {"418": {"$ref": "#/components/responses/RATE_LIMITED"}}
        ),
        lambda d: d["components"]["responses"]["RATE_LIMITED"].update(description="Slowly, please"),
        lambda d: operation(d, "listLabels").update(summary="Other words."),
        lambda d: operation(d, "listLabels").update(deprecated=True),
        lambda d: schema(d, "ExportResponse")["properties"]["status"]["enum"].append("paused"),
    ],
)
def test_additions_and_reworded_descriptions_are_compatible(change: Change) -> None:
    changed = made()
    change(changed)

    assert breaks(made(), changed, TODAY) == []


@pytest.mark.parametrize(("sunset", "is_allowed"), [("2026-07-18", True), ("2026-07-19", False)])
def test_a_deprecated_endpoint_may_go_after_its_sunset(sunset: str, *, is_allowed: bool) -> None:
    promised, changed = made(), made()
    operation(promised, "listLabels").update({"deprecated": True, "x-sunset": sunset})
    del changed["paths"]["/v1/labels"]["get"]

    assert (breaks(promised, changed, TODAY) == []) is is_allowed


def test_publishing_rejects_a_breaking_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("spec", "docs", "packages"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    promised = made()
    schema(promised, "Bookmark")["properties"]["mood"] = {"type": "string"}
    file = tmp_path / PUBLISHED
    file.write_text(json.dumps(promised), encoding="utf-8")

    for option in ("--publish", "--check"):
        ran = CliRunner().invoke(program, ["spec", option])

        assert ran.exit_code == 1
        assert (
            "GET /v1/bookmarks 200.data[].mood: A field of an answer is not removed" in ran.output
        )
    assert json.loads(file.read_text(encoding="utf-8")) == promised


def test_publishing_writes_additions_to_the_published_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file = tmp_path / PUBLISHED
    promised = made()
    del promised["paths"]["/v1/labels"]
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(promised), encoding="utf-8")

    ran = CliRunner().invoke(program, ["spec", "--publish"])

    assert (ran.exit_code, ran.output) == (0, f"wrote {PUBLISHED}\n")
    assert json.loads(file.read_text(encoding="utf-8")) == made()
