"""The OpenAPI document as the reference pages show it. Renders whatever the document holds."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct

from bowerbird.errors import CATALOGUE, Code
from bowerbird.web import page_examples
from bowerbird.web.schema_rows import Field, Json, SchemaRows

SANDBOX: Final = "/v1/sandbox"
_METHODS: Final = ("get", "put", "post", "patch", "delete")
_FIRST_REFUSAL: Final = 400
_JSON: Final = "application/json"

Route = tuple[str, str]
"""A method and a path template."""


class AnswerReference(Struct, frozen=True):
    status: str
    text: str
    headers: tuple[Field, ...]
    fields: tuple[Field, ...]
    example: str
    # What else it may be than JSON.
    files: tuple[str, ...]


class Refused(Struct, frozen=True):
    status: str
    code: str
    when: str
    client_should: str


class Body(Struct, frozen=True):
    is_required: bool
    fields: tuple[Field, ...]
    example: str
    # The same on one line, as a command takes it.
    compact: str


class Given(Struct, frozen=True):
    """A parameter: where it goes, and what stands in the form that tries it."""

    place: str
    field: Field
    value: str


class OperationReference(Struct, frozen=True):
    anchor: str
    method: str
    path: str
    summary: str
    text: str
    is_deprecated: bool
    is_public: bool
    parameters: tuple[Given, ...]
    body: Body | None
    answers: tuple[AnswerReference, ...]
    refusals: tuple[Refused, ...]
    curl: str
    can_try: bool
    # The body in the form that tries it.
    tried_body: str


class ReferenceSection(Struct, frozen=True):
    """One page: the operations of a tag."""

    name: str
    text: str
    operations: tuple[OperationReference, ...]


class Reference:
    """`sandbox` names the routes that the sandbox has too, by method and path of the real ones."""

    def __init__(self, document: Json, sandbox: Collection[Route]) -> None:
        self._document = document
        self._sandbox = frozenset(sandbox)
        self._shapes = SchemaRows(document)

    def names(self) -> list[str]:
        """The tags that have operations, in the document's order; each is a page."""
        declared = [tag["name"] for tag in self._document.get("tags", ())]
        used = [_tag(operation) for _, _, operation, _ in self._operations()]
        # A tag's name becomes the last part of an address.
        return [
            name
            for name in dict.fromkeys([*declared, *used])
            if name in used and re.fullmatch(r"[A-Za-z0-9_-]+", name)
        ]

    def sections(self) -> list[ReferenceSection]:
        by_tag: dict[str, list[OperationReference]] = {name: [] for name in self.names()}
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
                # The twin of an operation that is shown, and says how to reach it.
                continue
            for method in _METHODS:
                if method in item:
                    yield path, method, item[method], item.get("parameters", [])

    def _operation(
        self, path: str, method: str, operation: Json, shared: list[Json]
    ) -> OperationReference:
        answers = {s: self._shapes.resolved(r) for s, r in operation["responses"].items()}
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
            parameters=tuple(map(self._given, [*shared, *operation.get("parameters", [])])),
            body=body,
            answers=tuple(self._answer(s, r) for s, r in answers.items() if not _is_refusal(s)),
            refusals=tuple(
                refused
                for s, r in answers.items()
                if _is_refusal(s)
                for refused in self._refused(s, r)
            ),
            curl=self._curl(path, method.upper(), body, is_public=is_public),
            can_try=(method.upper(), path) in self._sandbox,
            tried_body=_tried_body(path, body),
        )

    def _curl(self, path: str, method: str, body: Body | None, *, is_public: bool) -> str:
        address = self._document["servers"][0]["url"] + re.sub(
            r"\{(\w+)\}", lambda match: f"${match[1].upper()}", path
        )
        parts = [f'curl -s "{address}"']
        if method != ("POST" if body else "GET"):
            parts[0] = f'curl -s -X {method} "{address}"'
        if not is_public:
            parts.append('-H "Authorization: Bearer $KEY"')
        if body:
            quoted = body.compact.replace("'", "'\\''")
            parts += ["-H 'Content-Type: application/json'", f"-d '{quoted}'"]
        return " \\\n     ".join(parts)

    def _given(self, parameter: Json) -> Given:
        parameter = self._shapes.resolved(parameter)
        schema = parameter.get("schema", {})
        field = self._shapes.field(
            parameter["name"],
            schema,
            is_required=parameter.get("required", False),
            text=parameter.get("description", ""),
        )
        value = page_examples.VALUES.get(field.name, "") if field.is_required else ""
        return Given(parameter["in"], field, value)

    def _body(self, body: Json | None) -> Body | None:
        if body is None:
            return None
        body = self._shapes.resolved(body)
        media = _json_of(body)
        example = self._example(media)
        return Body(
            is_required=body.get("required", False),
            fields=self._shapes.fields(media.get("schema", {})),
            example=_indented(example),
            compact=json.dumps(example, ensure_ascii=False),
        )

    def _answer(self, status: str, response: Json) -> AnswerReference:
        media = _json_of(response)
        headers = response.get("headers", {})
        return AnswerReference(
            status=status,
            text=response.get("description", ""),
            headers=tuple(self._header(name, headers[name]) for name in headers),
            fields=self._shapes.fields(media.get("schema", {})),
            example=_indented(self._example(media)) if media else "",
            files=tuple(kind for kind in response.get("content", {}) if kind != _JSON),
        )

    def _header(self, name: str, header: Json) -> Field:
        header = self._shapes.resolved(header)
        return self._shapes.field(
            name,
            header.get("schema", {}),
            is_required=header.get("required", False),
            text=header.get("description", ""),
        )

    def _example(self, media: Json) -> Any:
        example = _first_example(media)
        return self._shapes.sample(media.get("schema", {})) if example is None else example

    def _refused(self, status: str, response: Json) -> list[Refused]:
        schema = self._shapes.resolved(_json_of(response).get("schema", {}))
        code = self._shapes.resolved(schema.get("properties", {}).get("code", {}))
        codes = [Code(value) for value in code.get("enum", ()) if value in set(Code)]
        if not codes:
            return [Refused(status, "", response.get("description", ""), "")]
        return [
            Refused(status, code, CATALOGUE[code].when, CATALOGUE[code].client_should)
            for code in codes
        ]


def _tried_body(path: str, body: Body | None) -> str:
    if path in page_examples.BODIES:
        return _indented(page_examples.BODIES[path])
    return body.example if body else ""


def _tag(operation: Json) -> str:
    return str((operation.get("tags") or ["other"])[0])


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_refusal(status: str) -> bool:
    return not status.isdigit() or int(status) >= _FIRST_REFUSAL


def _json_of(holder: Json) -> Json:
    content: Json = holder.get("content", {})
    media: Json = content.get(_JSON, {})
    return media


def _first_example(holder: Json) -> Any:
    if "example" in holder:
        return holder["example"]
    for example in holder.get("examples", {}).values():
        return example.get("value")
    return None
