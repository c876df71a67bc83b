"""Any JSON and any query string becomes a request, or a refusal that says what is wrong."""

import gc
import json
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.list_request import read_list
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests import decoding, schemas
from bowerbird.requests.bookmarks import FlagsRequest, ListQuery, StateRequest
from bowerbird.requests.exports import PreferencesRequest
from bowerbird.requests.filters import FlagFilters, filter_of
from bowerbird.requests.labels import BatchRequest, LabelRequest
from bowerbird.requests.saving import Event, PageRequest, RunRequest
from bowerbird.requests.views import NewView
from bowerbird.toolserver.assembly import TOOLS

Pairs = list[tuple[str, Any]]

BODIES = sorted({one.body for one in OPERATIONS if one.body}, key=lambda kind: kind.__name__)
QUERIES = sorted({one.query for one in OPERATIONS if one.query}, key=lambda kind: kind.__name__)
TAKES = {tool.name: tool.takes for tool in TOOLS}
# Values that some field accepts, and texts that look like a part of a message about a field.
TEXTS = [
    *("", " ", "1", "true", "null", "add", "daily", "Europe/Berlin", "image", "2026-01-31"),
    *("last 7 days", "relevance", "desc", "\x00", "x` - at `$.tweet_ids[7]", "x - at `$.y`"),
    *("[", "$", "$.x", "body", "\ud800"),
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, 2**64, 10**30, 23, 1, 0]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(TEXTS),
    st.text(max_size=20),
)


@cache
def names_of(kind: type[Struct]) -> list[str]:
    """The names of all fields of a request, those inside its objects too."""
    found: list[str] = []
    waiting: list[Any] = [*schemas.components([kind], "").values()]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            found += schema.get("properties", {})
        if isinstance(schema, dict | list):
            waiting += schema.values() if isinstance(schema, dict) else schema
    return sorted(set(found))


@cache
def bodies_of(kind: type[Struct]) -> st.SearchStrategy[bytes]:
    """JSON near to the request: its names with any values, also more than once."""
    names = st.one_of(st.sampled_from(names_of(kind)), st.sampled_from(TEXTS), st.text(max_size=5))
    values = st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(st.tuples(names, inner), max_size=6).map(Object),
        ),
        max_leaves=12,
    )
    objects = st.lists(st.tuples(names, values), max_size=6).map(Object)
    return st.one_of(objects, values).map(written).map(str.encode)


@cache
def arguments_of(kind: type[Struct]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments near to the request, as a client of the tools sends them."""
    names = st.sampled_from([*names_of(kind), "x"])
    values = st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=6)
        ),
        max_leaves=12,
    )
    return st.dictionaries(names, values, max_size=6)


class Object:
    """A JSON object as it is written: a name may occur twice."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def __repr__(self) -> str:
        return written(self)


def written(value: Any) -> str:
    if isinstance(value, Object):
        fields = (f"{json.dumps(name)}:{written(inner)}" for name, inner in value.pairs)
        return f"{{{','.join(fields)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    return json.dumps(value)


def assert_it_names_a_place(refused: Refusal, kind: type[Struct], sent: object) -> None:
    assert refused.code is Code.INVALID_REQUEST
    place, separator, problem = refused.sentence.partition(": ")
    if refused.sentence.startswith("Unknown field "):
        return
    assert separator
    assert problem.endswith(".")
    first = place.partition(".")[0].partition("[")[0]
    # A character that cannot be stored may be in a field that nobody knows.
    assert first in (*names_of(kind), "body") or "which no database can store" in problem, sent


@pytest.mark.parametrize("kind", BODIES)
@settings(max_examples=20)
@given(data=st.data())
def test_any_body_is_read_or_refused_by_its_field(kind: type[Struct], data: st.DataObject) -> None:
    body = data.draw(bodies_of(kind))

    try:
        request = decoding.decode(body, kind)
    except Refusal as refused:
        assert_it_names_a_place(refused, kind, body)
    else:
        assert type(request) is kind


@pytest.mark.parametrize("kind", QUERIES)
@settings(max_examples=20)
@given(data=st.data())
def test_any_query_string_becomes_a_request_or_is_refused_by_its_parameter(
    kind: type[Struct], data: st.DataObject
) -> None:
    texts = st.one_of(st.sampled_from(TEXTS), st.text())
    sent = data.draw(st.dictionaries(st.sampled_from(names_of(kind)), texts))

    try:
        request = decoding.convert(sent, kind)
        if isinstance(request, FlagFilters):
            filter_of(request)
        if isinstance(request, ListQuery):
            read_list(request, filter_of(request))
    except Refusal as refused:
        assert_it_names_a_place(refused, kind, sent)


@pytest.mark.parametrize("name", TAKES)
@settings(max_examples=20)
@given(data=st.data())
def test_any_arguments_are_read_or_refused_by_their_name(name: str, data: st.DataObject) -> None:
    kind = TAKES[name]
    sent = data.draw(arguments_of(kind))

    try:
        request = decoding.convert(sent, kind)
    except Refusal as refused:
        assert_it_names_a_place(refused, kind, sent)
    else:
        assert type(request) is kind


@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        (
            PreferencesRequest,
            b'{"frequency": "x - at `$.y`"}',
            "frequency: must be one of off, daily, weekly, got 'x - at `$.y`'.",
        ),
        (
            FlagsRequest,
            b'{"x - at `$.is_read": true}',
            "Unknown field 'x - at `$.is_read'. Allowed fields: is_read, is_archived.",
        ),
        (
            NewView,
            b'{"name": "x", "base_query": {"author": 1}}',
            "base_query.author: must be a string, got the number 1.",
        ),
        (
            NewView,
            b'{"name": "x", "default_sort": {"sort_by": "title", "sort_order": 1}}',
            "default_sort.sort_order: must be one of asc, desc, got the number 1.",
        ),
        (
            NewView,
            b'{"name": "x", "default_sort": {"sort_bi": "title"}}',
            (
                "Unknown field 'sort_bi' in default_sort. Did you mean sort_by? "
                "Allowed fields: sort_by, sort_order."
            ),
        ),
        (
            NewView,
            b'{"name": "x", "default_sort": 7}',
            "default_sort: must be a string or a JSON object, got the number 7.",
        ),
    ],
)
def test_the_sentence_is_about_the_field_whatever_its_value_says(
    kind: type[Struct], body: bytes, sentence: str
) -> None:
    with pytest.raises(Refusal) as refused:
        decoding.decode(body, kind)

    assert refused.value.sentence == sentence


@pytest.mark.parametrize(
    "body",
    [
        b'{"tweet_ids": [1], "tweet_ids": []}',
        b'{"tweet_ids": [1], "tweet_ids": "x"}',
        b'{"tweet_ids": ["1", 2], "tweet_ids": ["1"]}',
    ],
)
def test_a_field_that_is_sent_twice_is_refused_by_its_first_mistake(body: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        decoding.decode(body, StateRequest)

    assert refused.value.sentence.startswith("tweet_ids[")


def test_a_number_of_any_length_is_refused() -> None:
    for digits in (20, 400, 5_000):
        with pytest.raises(Refusal) as refused:
            decoding.decode(b'{"hour": %b}' % (b"9" * digits), PreferencesRequest)
        assert refused.value.code is Code.INVALID_REQUEST


def test_a_batch_with_a_character_that_no_database_stores_names_its_whole_path() -> None:
    operation = {"op": "add", "tweet_ids": 1, "label_name": "a\x00"}

    with pytest.raises(Refusal) as refused:
        decoding.decode(msgspec.json.encode({"operations": [operation]}), BatchRequest)

    assert refused.value.sentence == (
        "operations[0].label_name: contains U+0000, which no database can store."
    )


def test_the_same_post_counts_once() -> None:
    body = b'{"tweet_ids": ["2", "1", "2"], "label_name": "x"}'

    assert decoding.decode(body, LabelRequest).post_ids == ["2", "1"]


@pytest.mark.parametrize(
    ("kind", "sent", "sentence"),
    [
        (
            PageRequest,
            {"seq": 0, "format": "x.api2", "payload": 1, "op": "a b"},
            "op: must be a string of at most 64 letters, digits, underscores and dots, got 'a b'.",
        ),
        (
            PageRequest,
            {"seq": 0, "format": "x.api2", "payload": 1, "request_url": "ä"},
            (
                "request_url: must be a string of at most 32,000 printable ASCII characters, "
                "got '\\xe4'."
            ),
        ),
        (
            RunRequest,
            {"source": "x", "kind": "full", "source_user_id": "a b"},
            (
                "source_user_id: must be a string of at most 64 letters, digits, underscores, "
                "dots, colons and hyphens, got 'a b'."
            ),
        ),
        (
            Event,
            {"type": "added", "post_id": "x", "at": "2026-03-14"},
            "post_id: must be a post id of 1 to 40 digits, got 'x'.",
        ),
    ],
)
def test_a_text_with_other_characters_is_told_which_it_may_have(
    kind: type[Struct], sent: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Refusal) as refused:
        decoding.decode(json.dumps(sent).encode(), kind)

    assert refused.value.sentence == sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"[%b]", "body: must be a JSON object, got an array of 300,001."),
        (b'{"op": [%b]}', "operations: is required."),
        (b"[%b]}", "body: is not JSON (JSON is malformed: trailing characters (byte 900005))."),
    ],
)
def test_the_garbage_collector_does_not_visit_a_large_body_while_it_is_decoded(
    body: bytes, sentence: str
) -> None:
    collections: list[str] = []

    def count(phase: str, _: dict[str, int]) -> None:
        collections.append(phase)

    gc.callbacks.append(count)
    try:
        with pytest.raises(Refusal) as refused:
            decoding.decode(body % (b"[]," * 300_000 + b"[]"), BatchRequest)
    finally:
        gc.callbacks.remove(count)

    assert refused.value.sentence == sentence
    # One after each of the two times that the body is decoded, for each generation at most.
    assert collections.count("start") <= 6
    assert gc.isenabled()
