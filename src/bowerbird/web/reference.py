"""Turns the OpenAPI document into the content of the API reference pages."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.errors import CATALOGUE, Code
from bowerbird.web import page_examples
from bowerbird.wire.responses.envelope import SANDBOX

Json = dict[str, Any]

_MAX_DEPTH: Final = 8
_BOUNDS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_EXAMPLES_BY_TYPE: Final[Mapping[str, Any]] = {
    "string": "…",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "null": None,
}
_TYPES_BY_FORMAT: Final[Mapping[str, str]] = {"date-time": "date-time", "uri": "URL"}
_EXAMPLES_BY_FORMAT: Final[Mapping[str, str]] = {
    "date-time": "2026-03-14T09:26:00+00:00",
    "uri": "https://example.org/",
}


class Field(Struct, frozen=True):
    """One row: a property or a parameter, and its nested properties."""

    name: str
    type: str
    text: str = ""
    limits: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    is_required: bool = False
    is_deprecated: bool = False
    fields: tuple["Field", ...] = ()


class SchemaRows:
    def __init__(self, document: Json) -> None:
        self._document = document

    def resolved(self, node: Json) -> Json:
        """The node with its `$ref` resolved."""
        for _ in range(_MAX_DEPTH):
            if "$ref" not in node:
                break
            target: Any = self._document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = {**target, **{key: node[key] for key in node if key != "$ref"}}
        return node

    def field(self, name: str, schema: Json, *, is_required: bool, text: str = "") -> Field:
        return self._field(name, schema, is_required=is_required, text=text, depth=0)

    def fields(self, schema: Json, depth: int = 0) -> tuple[Field, ...]:
        """The properties of an object, of an array's items, or of the first object in `anyOf`."""
        schema = self._flattened(schema)
        if depth >= _MAX_DEPTH:
            return ()
        if "items" in schema:
            return self.fields(schema["items"], depth)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            if found := self.fields(option, depth):
                return found
        required = schema.get("required", ())
        return tuple(
            self._field(name, inner, is_required=name in required, text="", depth=depth + 1)
            for name, inner in schema.get("properties", {}).items()
        )

    def type_of(self, schema: Json) -> str:
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return " or ".join(dict.fromkeys(map(self.type_of, options)))
        schema = self._flattened(schema)
        if "const" in schema:
            return _text(schema["const"])
        if "enum" in schema and "type" not in schema:
            return "string"
        kinds = schema.get("type", "any")
        names = kinds if isinstance(kinds, list) else [kinds]
        return " or ".join(self._type_name(name, schema) for name in names)

    def example(self, schema: Json, depth: int = 0) -> Any:
        """An example value: from the schema if it has one, else made up from the type."""
        schema = self._flattened(schema)
        for key in ("example", "const", "default"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if schema.get(key):
                return schema[key][0]
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            # Nullable fields are null in most responses, and the example stays short.
            return None if {"type": "null"} in options else self.example(options[0], depth)
        return self._example_of_type(schema, depth)

    def _example_of_type(self, schema: Json, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "null")
        if isinstance(kind, list):
            kind = kind[0]
        if kind == "array":
            items = schema.get("items", {})
            return [self.example(items, depth + 1)] if depth < _MAX_DEPTH and items else []
        if kind == "object":
            properties = schema.get("properties", {}) if depth < _MAX_DEPTH else {}
            names = schema.get("required") or properties
            return {name: self.example(properties[name], depth + 1) for name in names}
        return _EXAMPLES_BY_FORMAT.get(schema.get("format", ""), _EXAMPLES_BY_TYPE.get(kind))

    def _field(self, name: str, schema: Json, *, is_required: bool, text: str, depth: int) -> Field:
        flat = self._flattened(schema)
        return Field(
            name=name,
            type=self.type_of(schema),
            text=text or flat.get("description", ""),
            limits=tuple(_limits(flat)),
            values=tuple(map(_text, self._values(flat))),
            is_required=is_required,
            is_deprecated=flat.get("deprecated", False),
            fields=self.fields(schema, depth),
        )

    def _values(self, schema: Json) -> list[Any]:
        if "items" in schema:
            return self._values(self._flattened(schema["items"]))
        found: list[Any] = schema.get("enum", [])
        return found

    def _type_name(self, name: str, schema: Json) -> str:
        if name == "array":
            return f"array of {self.type_of(schema.get('items', {}))}"
        return _TYPES_BY_FORMAT.get(schema.get("format", ""), name)

    def _flattened(self, schema: Json) -> Json:
        """The schema with its `$ref` resolved and its `allOf` merged."""
        schema = self.resolved(schema)
        if "allOf" not in schema:
            return schema
        merged: Json = {key: schema[key] for key in schema if key != "allOf"}
        for part in map(self._flattened, schema["allOf"]):
            properties = {**part.get("properties", {}), **merged.get("properties", {})}
            required = [*part.get("required", []), *merged.get("required", [])]
            merged = {**part, **merged, "properties": properties, "required": required}
        return merged


def _limits(schema: Json) -> list[str]:
    found = [
        _range(schema.get(minimum), schema.get(maximum), unit)
        for minimum, maximum, unit in _BOUNDS
        if minimum in schema or maximum in schema
    ]
    if "default" in schema:
        found.append(f"default {_text(schema['default'])}")
    return found


def _range(minimum: Any, maximum: Any, unit: str) -> str:
    if maximum is None:
        return f"at least {minimum}{unit}"
    if minimum is None:
        return f"at most {maximum}{unit}"
    return f"{minimum} to {maximum}{unit}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_METHODS: Final = ("get", "put", "post", "patch", "delete")
_FIRST_ERROR_STATUS: Final = 400
_JSON: Final = "application/json"

Route = tuple[str, str]
"""Method and path template."""


class ResponseReference(Struct, frozen=True):
    status: str
    text: str
    headers: tuple[Field, ...]
    fields: tuple[Field, ...]
    example: str
    # Media types other than JSON.
    files: tuple[str, ...]


class ErrorReference(Struct, frozen=True):
    status: str
    code: str
    when: str
    client_should: str


class BodyReference(Struct, frozen=True):
    is_required: bool
    fields: tuple[Field, ...]
    example: str
    # The example on one line, for curl.
    compact: str


class ParameterReference(Struct, frozen=True):
    # OpenAPI's `in`: path, query or header.
    location: str
    field: Field
    # Initial value in the "Try it" form.
    example: str


class OperationReference(Struct, frozen=True):
    anchor: str
    method: str
    path: str
    summary: str
    text: str
    is_deprecated: bool
    is_public: bool
    parameters: tuple[ParameterReference, ...]
    body: BodyReference | None
    responses: tuple[ResponseReference, ...]
    errors: tuple[ErrorReference, ...]
    curl: str
    can_try: bool
    # Initial request body in the "Try it" form.
    form_body: str


class ReferenceSection(Struct, frozen=True):
    """One page, with the operations of one tag."""

    name: str
    text: str
    operations: tuple[OperationReference, ...]


class Reference:
    """`sandbox` lists the API routes that the sandbox has too."""

    def __init__(self, document: Json, sandbox: Collection[Route]) -> None:
        self._document = document
        self._sandbox = frozenset(sandbox)
        self._schemas = SchemaRows(document)

    def section_names(self) -> list[str]:
        """The tags that have operations, in the order of the document."""
        declared = [tag["name"] for tag in self._document.get("tags", ())]
        used = [_tag(operation) for _, _, operation, _ in self._operations()]
        # The name becomes part of the URL of the page.
        return [
            name
            for name in dict.fromkeys([*declared, *used])
            if name in used and re.fullmatch(r"[A-Za-z0-9_-]+", name)
        ]

    def sections(self) -> list[ReferenceSection]:
        by_tag: dict[str, list[OperationReference]] = {name: [] for name in self.section_names()}
        for path, method, operation, shared in self._operations():
            if (tag := _tag(operation)) in by_tag:
                by_tag[tag].append(self._operation(path, method, operation, shared))
        texts = {tag["name"]: tag.get("description", "") for tag in self._document.get("tags", ())}
        return [
            ReferenceSection(name, texts.get(name, ""), tuple(found))
            for name, found in by_tag.items()
        ]

    def _operations(self) -> Iterator[tuple[str, str, Json, list[Json]]]:
        for path, item in self._document["paths"].items():
            if path.startswith(SANDBOX):
                # The page of the API operation has a form for its sandbox version.
                continue
            for method in _METHODS:
                if method in item:
                    yield path, method, item[method], item.get("parameters", [])

    def _operation(
        self, path: str, method: str, operation: Json, shared: list[Json]
    ) -> OperationReference:
        responses = {s: self._schemas.resolved(r) for s, r in operation["responses"].items()}
        security = operation.get("security", self._document.get("security", []))
        is_public = not security or {} in security
        body = self._body(operation.get("requestBody"))
        return OperationReference(
            anchor=operation["operationId"],
            method=method.upper(),
            path=path,
            summary=operation.get("summary", ""),
            text=operation.get("description", ""),
            is_deprecated=operation.get("deprecated", False),
            is_public=is_public,
            parameters=tuple(map(self._parameter, [*shared, *operation.get("parameters", [])])),
            body=body,
            responses=tuple(self._response(s, r) for s, r in responses.items() if not _is_error(s)),
            errors=tuple(
                error for s, r in responses.items() if _is_error(s) for error in self._errors(s, r)
            ),
            curl=self._curl(path, method.upper(), body, is_public=is_public),
            can_try=(method.upper(), path) in self._sandbox,
            form_body=_form_body(path, body),
        )

    def _curl(self, path: str, method: str, body: BodyReference | None, *, is_public: bool) -> str:
        url = self._document["servers"][0]["url"] + re.sub(
            r"\{(\w+)\}", lambda match: f"${match[1].upper()}", path
        )
        parts = [f'curl -s "{url}"']
        if method != ("POST" if body else "GET"):
            parts[0] = f'curl -s -X {method} "{url}"'
        if not is_public:
            parts.append('-H "Authorization: Bearer $KEY"')
        if body:
            quoted = body.compact.replace("'", "'\\''")
            parts += ["-H 'Content-Type: application/json'", f"-d '{quoted}'"]
        return " \\\n     ".join(parts)

    def _parameter(self, parameter: Json) -> ParameterReference:
        parameter = self._schemas.resolved(parameter)
        schema = parameter.get("schema", {})
        field = self._schemas.field(
            parameter["name"],
            schema,
            is_required=parameter.get("required", False),
            text=parameter.get("description", ""),
        )
        example = page_examples.PATH_PARAMETERS.get(field.name, "") if field.is_required else ""
        return ParameterReference(parameter["in"], field, example)

    def _body(self, body: Json | None) -> BodyReference | None:
        if body is None:
            return None
        body = self._schemas.resolved(body)
        media = _json_content(body)
        example = self._example(media)
        return BodyReference(
            is_required=body.get("required", False),
            fields=self._schemas.fields(media.get("schema", {})),
            example=_indented(example),
            compact=json.dumps(example, ensure_ascii=False),
        )

    def _response(self, status: str, response: Json) -> ResponseReference:
        media = _json_content(response)
        headers = response.get("headers", {})
        return ResponseReference(
            status=status,
            text=response.get("description", ""),
            headers=tuple(self._header(name, headers[name]) for name in headers),
            fields=self._schemas.fields(media.get("schema", {})),
            example=_indented(self._example(media)) if media else "",
            files=tuple(kind for kind in response.get("content", {}) if kind != _JSON),
        )

    def _header(self, name: str, header: Json) -> Field:
        header = self._schemas.resolved(header)
        return self._schemas.field(
            name,
            header.get("schema", {}),
            is_required=header.get("required", False),
            text=header.get("description", ""),
        )

    def _example(self, media: Json) -> Any:
        example = _first_example(media)
        return self._schemas.example(media.get("schema", {})) if example is None else example

    def _errors(self, status: str, response: Json) -> list[ErrorReference]:
        schema = self._schemas.resolved(_json_content(response).get("schema", {}))
        code = self._schemas.resolved(schema.get("properties", {}).get("code", {}))
        codes = [Code(value) for value in code.get("enum", ()) if value in set(Code)]
        if not codes:
            return [ErrorReference(status, "", response.get("description", ""), "")]
        return [
            ErrorReference(status, code, CATALOGUE[code].when, CATALOGUE[code].client_should)
            for code in codes
        ]


def _form_body(path: str, body: BodyReference | None) -> str:
    if path in page_examples.REQUEST_BODIES:
        return _indented(page_examples.REQUEST_BODIES[path])
    return body.example if body else ""


def _tag(operation: Json) -> str:
    return str((operation.get("tags") or ["other"])[0])


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_error(status: str) -> bool:
    return not status.isdigit() or int(status) >= _FIRST_ERROR_STATUS


def _json_content(holder: Json) -> Json:
    content: Json = holder.get("content", {})
    media: Json = content.get(_JSON, {})
    return media


def _first_example(holder: Json) -> Any:
    if "example" in holder:
        return holder["example"]
    for example in holder.get("examples", {}).values():
        return example.get("value")
    return None
