"""The OpenAPI document is valid, complete, and its examples are what the service answers."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from bowerbird.errors import CATALOGUE, Code
from bowerbird.openapi import specification
from tests.support import examples, node
from tests.support.published import SPEC, document, resolved
from tests.support.service import Service

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


def operations() -> Iterator[tuple[str, Json]]:
    for item in document()["paths"].values():
        for operation in item.values():
            yield operation["operationId"], operation


OPERATIONS = [pytest.param(operation, id=name) for name, operation in operations()]
FILES = {*examples.FILES, "sandboxDownloadExport"}
SCHEMAS = sorted(document()["components"]["schemas"])


def fits(value: Any, schema: Json) -> bool:
    whole = {**schema, "components": document()["components"]}
    jsonschema_rs.Draft202012Validator(whole).validate(value)
    return True


def codes_of(schema: Json) -> set[str]:
    """The codes that a refusal may have, whether or not the sandbox's mark is around it."""
    own = schema if "properties" in schema else schema["allOf"][0]
    return set(own["properties"]["code"]["enum"])


def test_a_public_validator_finds_nothing() -> None:
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_a_public_linter_finds_nothing() -> None:
    config = node.WANTED / "redocly.yaml"
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}

    ran = node.run("@redocly/cli/bin/cli.js", "lint", SPEC, "--config", config, **quiet)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Your API description is valid" in ran.stdout + ran.stderr
    assert "warning" not in ran.stderr.lower()


def test_the_linter_would_find_a_mistake(tmp_path: Any) -> None:
    broken = json.loads(SPEC.read_text(encoding="utf-8"))
    del broken["paths"]["/v1/labels"]["get"]["operationId"]
    del broken["info"]["license"]
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(broken), encoding="utf-8")

    ran = node.run(
        "@redocly/cli/bin/cli.js",
        *("lint", file, "--config", node.WANTED / "redocly.yaml", "--format", "summary"),
        REDOCLY_TELEMETRY="off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE="true",
    )

    assert ran.returncode == 1
    assert "operation-operationId" in ran.stdout + ran.stderr
    assert "info-license" in ran.stdout + ran.stderr


def test_the_document_says_whose_it_is_and_where_more_is_found() -> None:
    info = document()["info"]

    assert info["description"]
    assert info["license"]["identifier"] == "Apache-2.0"
    assert info["contact"]["url"]
    assert document()["externalDocs"]["url"].endswith("/docs")
    assert document()["servers"][0]["url"] == "http://localhost:8080"
    assert document()["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_every_tag_is_described_and_used() -> None:
    described = {tag["name"] for tag in document()["tags"] if tag["description"]}

    assert described == {tag for _, operation in operations() for tag in operation["tags"]}


def test_every_operation_has_a_name_of_its_own_and_a_summary() -> None:
    names = [name for name, _ in operations()]

    assert len(names) == len(set(names))
    assert all(operation["summary"].endswith(".") for _, operation in operations())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_parameter_is_described_typed_and_shown(operation: Json) -> None:
    for parameter in map(resolved, operation["parameters"]):
        assert parameter["description"], parameter["name"]
        assert parameter["schema"]["type"], parameter["name"]
        assert fits(parameter["example"], parameter["schema"])
        default = parameter["schema"].get("default")
        assert default is None or fits(default, parameter["schema"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_request_body_has_an_example_that_fits(operation: Json) -> None:
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]

        assert fits(content["example"], content["schema"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_answer_has_an_example_that_fits(operation: Json) -> None:
    for status, promised in operation["responses"].items():
        content = resolved(promised).get("content", {}).get("application/json")
        if not content:
            assert status == "304" or operation["operationId"] in FILES, status
        elif status.startswith("2"):
            assert fits(content["example"], content["schema"]), status
        else:
            shown = {name: example["value"] for name, example in content["examples"].items()}
            assert set(shown) == codes_of(content["schema"])
            for code, body in shown.items():
                assert body["code"] == code
                assert CATALOGUE[Code(code)].status == int(status)
                assert fits(body, content["schema"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_header_of_an_answer_is_described_and_shown(operation: Json) -> None:
    for promised in map(resolved, operation["responses"].values()):
        assert "X-Request-Id" in promised["headers"]
        for header in map(resolved, promised["headers"].values()):
            assert header["description"]
            assert fits(header["example"], header["schema"])


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_has_a_sentence(name: str) -> None:
    properties = document()["components"]["schemas"][name].get("properties", {})

    assert [field for field, shape in properties.items() if not shape.get("description")] == []


async def test_the_examples_are_what_the_service_answers(cast: Service) -> None:
    asked = await examples.asked(cast)

    for name, operation in operations():
        # The sandbox shows the same with its mark; its own tests compare the two.
        if name in examples.FILES or name.startswith("sandbox"):
            continue
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            assert content["example"] == asked[name]["request"], f"{name}: {RECORD}"
        for status, body in asked[name]["answers"].items():
            content = operation["responses"][status]["content"]["application/json"]
            assert shape(content["example"]) == shape(body), f"{name} {status}: {RECORD}"


RECORD = "python -m tests.support.examples"


def shape(value: Any) -> Any:
    """Names and types; ids, cursors and times differ from one library to the next."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value]
    return type(value)


def test_a_label_is_named_by_its_name_or_its_id() -> None:
    body = specification.document("http://localhost:8080")["components"]["schemas"]["LabelRequest"]

    assert body["anyOf"] == [{"required": ["label_name"]}, {"required": ["label_id"]}]


def test_no_default_is_told_where_it_depends_on_another_parameter() -> None:
    listed = specification.document("http://localhost:8080")["paths"]["/v1/bookmarks"]["get"][
        "parameters"
    ]

    (sort_by,) = [given for given in listed if given["name"] == "sort_by"]

    assert "default" not in sort_by["schema"]
    assert "relevance when searching by meaning" in sort_by["description"]
