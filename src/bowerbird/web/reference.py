"""Turns the OpenAPI document into the content of the API reference pages."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct

from bowerbird.errors import CATALOGUE, Code
from bowerbird.web import page_examples
from bowerbird.web.schema_rows import Field, Json, SchemaRows
from bowerbird.wire.responses.envelope import SANDBOX

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
