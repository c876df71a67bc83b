"""The document declares the limits of request bodies exactly as the service enforces them."""

import json
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
import pytest

from bowerbird.storage.database import Database
from tests.support import imports, service
from tests.support.offenders import Offenders
from tests.support.programs import examples
from tests.support.published import document, resolved
from tests.support.service import Service

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
_LONG: Final = 25_000


@pytest.fixture
async def cast(sqlite: Database) -> Service:
    """On one database: both get the same requests."""
    return await service.build(sqlite)


@pytest.fixture
async def paths(cast: Service) -> Json:
    """The values of path parameters, of things that exist in the library of the examples."""
    alice = cast.alice
    await alice.save_all(examples.POSTS)
    labelled = {"tweet_ids": examples.BOTH, "label_name": "Birds"}
    assert (await alice.client.post("/v1/labels/add", json=labelled)).is_success
    assert (await alice.client.post("/v1/views", json=examples.VIEW)).is_success
    passage = {"quote": "Bottle caps in front"}
    added = await alice.client.post(f"/v1/bookmarks/{examples.FIRST}/highlights", json=passage)
    shared = await alice.client.post("/v1/shares", json=examples.SHARE)
    rule = await alice.client.post("/v1/rules", json=examples.RULE)
    webhook = await alice.client.post("/v1/webhooks", json=examples.WEBHOOK)
    run_id = await imports.run(alice, imports.found(post_id="20"))
    return {
        "post_id": examples.FIRST,
        "label_id": "1",
        "slug": "weekend-reading",
        "share_id": shared.json()["data"]["id"],
        "run_id": run_id,
        "rule_id": rule.json()["data"]["rule_id"],
        "webhook_id": webhook.json()["data"]["id"],
        "highlight_id": added.json()["data"]["id"],
    }


def bodies() -> Iterator[tuple[str, str, Json, Json]]:
    """Method, path, schema and example of each request body."""
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if "requestBody" in operation and "/sandbox/" not in path:
                content = operation["requestBody"]["content"]["application/json"]
                yield method, path, content["schema"], content["example"]


def is_text(schema: Json) -> bool:
    kinds = schema.get("type", ())
    return (kinds == "string" or "string" in kinds) and "enum" not in schema


def with_long_texts(schema: Json, value: Json) -> Iterator[Json]:
    """The value, each time with one text that is longer than declared, or very long."""
    for name, field in resolved(schema).get("properties", {}).items():
        for part in map(resolved, field.get("anyOf", [field])):
            if is_text(part):
                yield {**value, name: "x" * (part.get("maxLength", _LONG) + 1)}
            elif part.get("type") == "object":
                inner = value.get(name)
                for longer in with_long_texts(part, inner if isinstance(inner, dict) else {}):
                    yield {**value, name: longer}
            elif part.get("type") == "array" and value.get(name):
                yield from _with_long_items(resolved(part["items"]), name, value)


def _with_long_items(items: Json, name: str, value: Json) -> Iterator[Json]:
    if is_text(items):
        yield {**value, name: ["x" * (items.get("maxLength", _LONG) + 1)]}
    elif isinstance(value[name][0], dict):
        for longer in with_long_texts(items, value[name][0]):
            yield {**value, name: [longer]}


def validator(schema: Json) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({**schema, "components": document()["components"]})


async def test_unknown_and_missing_fields_are_refused_as_said(cast: Service, paths: Json) -> None:
    offenders = Offenders()
    for method, path, schema, example in bodies():
        declared = validator(schema)
        for body in ({}, {**example, "unheard_of": 1}):
            answer = await cast.alice.client.request(method, path.format(**paths), json=body)
            with offenders.check((method, path, json.dumps(body)[:80])):
                assert answer.status_code < 500
                assert (answer.status_code != 400) == declared.is_valid(body)

    assert offenders == {}


async def test_every_limit_of_a_text_is_declared(cast: Service, paths: Json) -> None:
    offenders = Offenders()
    for method, path, schema, example in bodies():
        declared = validator(schema)
        for body in with_long_texts(schema, example):
            answer = await cast.alice.client.request(method, path.format(**paths), json=body)
            with offenders.check((method, path, json.dumps(body)[:80])):
                is_too_long = "characters" in answer.text and not answer.is_success
                # Items that are saved or labelled in one request fail alone.
                is_refused = is_too_long or '"status":false' in answer.text.replace(" ", "")
                assert not (declared.is_valid(body) and is_too_long)
                assert declared.is_valid(body) or is_refused or answer.status_code == 207

    assert offenders == {}
