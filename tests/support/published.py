"""Checks every response against spec/openapi.json: the status, the headers and the body."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs

SPEC = Path(__file__).parents[2] / "spec" / "openapi.json"
INGEST = SPEC.with_name("ingest-openapi.json")


@cache
def document(spec: Path = SPEC) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(spec.read_text(encoding="utf-8"))
    return loaded


def resolved(part: dict[str, Any], spec: Path = SPEC) -> dict[str, Any]:
    """Resolves a reference of the document; returns any other value unchanged."""
    found: dict[str, Any] = part
    while "$ref" in found:
        names = found["$ref"].removeprefix("#/").split("/")
        found = document(spec)
        for name in names:
            found = found[name]
    return found


def of_accounts() -> dict[str, Any]:
    """The paths that need a key: all but the sandbox's."""
    paths = document()["paths"]
    return {path: item for path, item in paths.items() if not _is_sandbox(path)}


def check(response: httpx.Response, spec: Path = SPEC) -> None:
    """Fails if the document does not allow the response."""
    request = response.request
    is_sandbox = _is_sandbox(request.url.path)
    assert (response.headers.get("x-service-environment") == "sandbox") is is_sandbox
    if request.method == "OPTIONS" and response.status_code == 204:
        return
    assert "x-request-id" in response.headers
    operation = _operation(request.url.path, request.method, spec)
    if operation is None:
        # An unknown path or method: the document only describes the envelope.
        _check_unknown(response, request, is_sandbox=is_sandbox)
        return
    promised = resolved(operation["responses"].get(str(response.status_code), {}), spec)
    assert promised, f"{request.method} {request.url.path} answers {response.status_code}"
    _check_headers(response, promised.get("headers", {}), spec)
    if _is_file(promised):
        assert response.headers["content-type"].partition(";")[0] in promised["content"]
    elif "content" in promised:
        schema = promised["content"]["application/json"]["schema"]
        _check_body(response, request, schema, spec)
    else:
        assert response.content == b""


def _check_headers(response: httpx.Response, promised: dict[str, Any], spec: Path) -> None:
    for name, header in promised.items():
        assert not resolved(header, spec).get("required") or name in response.headers, name
    known = {name.lower() for name in promised} | {"content-type", "content-length"}
    assert set(response.headers) <= known, "a header that the document does not tell of"


def _check_unknown(response: httpx.Response, request: httpx.Request, *, is_sandbox: bool) -> None:
    names = ["Refusal", "SandboxMark"] if is_sandbox else ["Refusal"]
    simulated = (402, 429) if is_sandbox else ()
    assert response.status_code in (400, 401, 404, 405, 413, 500, 503, *simulated)
    _check_body(
        response, request, {"allOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}
    )


def _is_sandbox(path: str) -> bool:
    return f"{path}/".startswith("/v1/sandbox/")


def _is_file(promised: dict[str, Any]) -> bool:
    """Whether the response is a file. The document describes only the type of a file."""
    return not promised.get("content", {"": {"schema": {}}}).get("application/json", {"": ""})


def _check_body(
    response: httpx.Response, request: httpx.Request, schema: dict[str, Any], spec: Path = SPEC
) -> None:
    assert response.headers["content-type"] == "application/json"
    if request.method == "HEAD":
        assert response.content == b""
        return
    # The caller has chosen the fields, so that others are missing.
    is_partial = bool(request.url.params.get("fields"))
    _validator(json.dumps(schema), spec, is_partial=is_partial).validate(response.json())


_OF_BOOKMARKS = ("Bookmark", "PostDetails", "PostMeta", "Metrics", "AuthorDetails")


@cache
def _validator(schema: str, spec: Path, *, is_partial: bool) -> Any:
    components = document(spec)["components"]
    if is_partial:
        schemas = components["schemas"]
        chosen = {name: {**schemas[name], "required": []} for name in _OF_BOOKMARKS}
        components = {**components, "schemas": schemas | chosen}
    whole = {**json.loads(schema), "components": components}
    return jsonschema_rs.Draft202012Validator(whole)


def _operation(path: str, method: str, spec: Path) -> dict[str, Any] | None:
    for pattern, item in _paths(spec):
        if pattern.fullmatch(path):
            found: dict[str, Any] | None = item.get("get" if method == "HEAD" else method.lower())
            return found
    return None


@cache
def _paths(spec: Path) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    # A fixed path takes precedence over one with a parameter.
    paths = sorted(document(spec)["paths"].items(), key=lambda pair: "{" in pair[0])
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), item) for path, item in paths]
