"""The OpenAPI document is valid and complete, and its examples match the real responses."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from bowerbird.errors import CATALOGUE, Code
from bowerbird.openapi import specification
from tests.support.offenders import Offenders
from tests.support.programs import examples, node
from tests.support.published import SPEC, document, resolved
from tests.support.service import Service

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


def operations() -> Iterator[tuple[str, Json]]:
    for item in document()["paths"].values():
        for operation in item.values():
            yield operation["operationId"], operation


def answers() -> Iterator[tuple[str, str, Json]]:
    for name, operation in operations():
        for status, promised in operation["responses"].items():
            yield name, status, resolved(promised)


FILES = {*examples.FILES, "sandboxDownloadExport"}


def fits(value: Any, schema: Json) -> bool:
    _validator(json.dumps(schema)).validate(value)
    return True


@functools.cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """Cached because most headers and errors are the same in every operation."""
    whole = {**json.loads(schema), "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole)


def codes_of(schema: Json) -> set[str]:
    """The error codes that a schema allows, with or without the sandbox wrapper."""
    own = schema if "properties" in schema else schema["allOf"][0]
    return set(own["properties"]["code"]["enum"])


def test_a_public_validator_finds_no_errors() -> None:
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_a_public_linter_finds_no_problems() -> None:
    config = node.WANTED / "redocly.yaml"
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}

    ran = node.run("@redocly/cli/bin/cli.js", "lint", SPEC, "--config", config, **quiet)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Your API description is valid" in ran.stdout + ran.stderr
    assert "warning" not in ran.stderr.lower()


def test_every_parameter_has_a_description_type_and_valid_example() -> None:
    offenders = Offenders()
    for name, operation in operations():
        for parameter in map(resolved, operation["parameters"]):
            with offenders.check((name, parameter["name"])):
                assert parameter["description"]
                assert parameter["schema"]["type"]
                assert fits(parameter["example"], parameter["schema"])
                default = parameter["schema"].get("default")
                assert default is None or fits(default, parameter["schema"])

    assert offenders == {}


def test_every_request_body_has_a_valid_example() -> None:
    offenders = Offenders()
    for name, operation in operations():
        if "requestBody" in operation:
            with offenders.check(name):
                content = operation["requestBody"]["content"]["application/json"]
                assert fits(content["example"], content["schema"])

    assert offenders == {}


def test_every_response_has_a_valid_example() -> None:
    offenders = Offenders()
    for operation, status, promised in answers():
        with offenders.check((operation, status)):
            content = promised.get("content", {}).get("application/json")
            require_valid_examples(operation, status, content)

    assert offenders == {}


def require_valid_examples(operation: str, status: str, content: Json | None) -> None:
    if not content:
        assert status == "304" or operation in FILES
    elif status.startswith("2"):
        assert fits(content["example"], content["schema"])
    else:
        shown = {name: example["value"] for name, example in content["examples"].items()}
        assert set(shown) == codes_of(content["schema"])
        for code, body in shown.items():
            assert body["code"] == code
            assert CATALOGUE[Code(code)].status == int(status)
            assert fits(body, content["schema"])


def test_every_response_header_has_a_description_and_valid_example() -> None:
    offenders = Offenders()
    for operation, status, promised in answers():
        with offenders.check((operation, status)):
            assert "X-Request-Id" in promised["headers"]
        for name, header in promised["headers"].items():
            with offenders.check((operation, status, name)):
                assert resolved(header)["description"]
                assert fits(resolved(header)["example"], resolved(header)["schema"])

    assert offenders == {}


def test_every_field_has_a_description() -> None:
    silent = [
        (name, field)
        for name, schema in document()["components"]["schemas"].items()
        for field, shape in schema.get("properties", {}).items()
        if not shape.get("description")
    ]

    assert silent == []


async def test_the_examples_match_the_real_responses(cast: Service) -> None:
    asked = await examples.asked(cast)

    for name, operation in operations():
        # The sandbox tests compare the sandbox responses with these.
        if name in examples.FILES or name.startswith("sandbox"):
            continue
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            assert content["example"] == asked[name]["request"], f"{name}: {RECORD}"
        for status, body in asked[name]["answers"].items():
            content = operation["responses"][status]["content"]["application/json"]
            assert shape(content["example"]) == shape(body), f"{name} {status}: {RECORD}"


RECORD = "python -m tests.support.programs.examples"


def shape(value: Any) -> Any:
    """Keeps names and types only: ids, cursors and times differ between libraries."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value]
    return type(value)


def test_a_label_request_requires_a_label_and_either_posts_or_a_filter() -> None:
    body = specification.document("http://localhost:8080")["components"]["schemas"]["LabelRequest"]

    label, posts = body["allOf"]
    assert label == {"anyOf": [{"required": ["label_name"]}, {"required": ["label_id"]}]}
    assert posts == {"oneOf": [{"required": ["tweet_ids"]}, {"required": ["filter"]}]}


def test_sort_by_has_no_fixed_default() -> None:
    listed = specification.document("http://localhost:8080")["paths"]["/v1/bookmarks"]["get"][
        "parameters"
    ]

    (sort_by,) = [given for given in listed if given["name"] == "sort_by"]

    assert "default" not in sort_by["schema"]
    assert "relevance when searching by meaning" in sort_by["description"]
