"""The content of the API reference, from a small OpenAPI document."""

from typing import Any

from bowerbird.web.page_examples import json as highlight_json
from bowerbird.web.page_examples import shell as highlight_shell
from bowerbird.web.reference import Reference, SchemaRows

NODE: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 9, "description": "What it is called."},
        "kind": {"enum": ["leaf", "stem"], "default": "leaf"},
        "next": {"anyOf": [{"$ref": "#/components/schemas/Node"}, {"type": "null"}]},
    },
}
DOCUMENT: dict[str, Any] = {
    "servers": [{"url": "https://api.example.org"}],
    "security": [{"key": []}],
    "tags": [{"name": "trees", "description": "Growing things."}, {"name": "empty"}],
    "paths": {
        "/v1/sandbox/trees/{id}": {
            "post": {"operationId": "sandboxGrowTree", "tags": ["trees"], "responses": {}}
        },
        "/v1/trees/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "post": {
                "operationId": "growTree",
                "tags": ["trees"],
                "deprecated": True,
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/Node"},
                            "examples": {"a": {"value": {"name": "it's"}}},
                        }
                    }
                },
                "responses": {
                    "200": {"$ref": "#/components/responses/Grown"},
                    "404": {
                        "description": "Gone.",
                        "content": {
                            "application/json": {
                                "schema": {"properties": {"code": {"enum": ["NOT_FOUND"]}}}
                            }
                        },
                    },
                    "default": {"description": "Anything else."},
                },
            },
        },
        "/v1/wind": {
            "get": {"operationId": "wind", "security": [], "responses": {"204": {}}},
        },
    },
    "components": {
        "parameters": {
            "Id": {
                "name": "id",
                "in": "path",
                "required": True,
                "example": "oak",
                "schema": {"type": "string"},
            }
        },
        "responses": {
            "Grown": {
                "description": "Grown.",
                "headers": {"Location": {"schema": {"type": "string", "format": "uri"}}},
                "content": {
                    "application/json": {
                        "schema": {
                            "allOf": [{"$ref": "#/components/schemas/Node"}],
                            "properties": {"at": {"type": "string", "format": "date-time"}},
                            "required": ["at"],
                        }
                    }
                },
            }
        },
        "schemas": {"Node": NODE},
    },
}


def test_references_are_resolved_everywhere() -> None:
    [trees, other] = Reference(DOCUMENT, [("POST", "/v1/trees/{id}")]).sections()
    [grow] = trees.operations

    assert (trees.name, trees.text) == ("trees", "Growing things.")
    assert (grow.method, grow.is_deprecated, grow.can_try) == ("POST", True, True)
    assert (grow.parameters[0].field.name, grow.parameters[0].location) == ("id", "path")
    assert grow.form_body == '{\n  "name": "it\'s"\n}'
    assert [field.name for field in grow.responses[0].fields] == ["name", "kind", "next", "at"]
    assert [field.is_required for field in grow.responses[0].fields] == [True, False, False, True]
    assert grow.responses[0].headers[0].type == "URL"
    assert [error.code for error in grow.errors] == ["NOT_FOUND", ""]
    assert (other.name, other.operations[0].is_public) == ("other", True)
    assert not other.operations[0].can_try


def test_a_recursive_schema_ends() -> None:
    fields = SchemaRows(DOCUMENT).fields(NODE)

    depth = 0
    while fields:
        fields = fields[-1].fields
        depth += 1
    assert 1 < depth < 20


def test_a_row_shows_type_limits_and_values() -> None:
    name, kind, following = SchemaRows(DOCUMENT).fields(NODE)

    assert (name.type, name.limits, name.text) == (
        "string",
        ("at most 9 characters",),
        "What it is called.",
    )
    assert (kind.type, kind.values, kind.limits) == ("string", ("leaf", "stem"), ("default leaf",))
    assert following.type == "object or null"


def test_the_curl_command_is_quoted_for_the_shell() -> None:
    [grow] = Reference(DOCUMENT, ()).sections()[0].operations

    assert grow.curl == (
        'curl -s "https://api.example.org/v1/trees/$ID" \\\n'
        '     -H "Authorization: Bearer $KEY" \\\n'
        "     -H 'Content-Type: application/json' \\\n"
        "     -d '{\"name\": \"it'\\''s\"}'"
    )


def test_highlighted_code_is_escaped() -> None:
    for highlight in (highlight_json, highlight_shell):
        for hostile in ('"<script>"', "<b>", "'</span><script>'", "# <i>", "&amp;"):
            html = str(highlight(hostile))
            assert "<script>" not in html
            assert "<b>" not in html
            assert "<i>" not in html
            assert html.count("<span") == html.count("</span>")
    assert "&amp;amp;" in str(highlight_shell("&amp;"))
