"""A bound of a time has several names, which mean what their words mean."""

import re
from typing import Any

import msgspec
import pytest

from bowerbird.errors import Refusal
from bowerbird.model import instants
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.requests import decoding, exports, schemas
from bowerbird.requests.bookmarks import CountQuery, FacetsQuery, ListQuery, StateRequest
from bowerbird.requests.bulk import BulkRequest, ChangeFilters
from bowerbird.requests.exports import ExportRequest
from bowerbird.requests.fields import gates_of
from bowerbird.requests.filter_values import UPDATED_SINCE
from bowerbird.requests.filters import DATES, BookmarkFilters, filter_of, moves, readers
from bowerbird.requests.schemas import Form
from bowerbird.requests.views import NewView, NewViewQuery, ViewQuery
from bowerbird.toolserver.assembly import TOOLS
from tests.support.service import NOW

# The others are called in several ways.
PAIRED = [name for name in DATES if name != UPDATED_SINCE]
NAMES = {
    f"{what}_{word}": f"{what}_{bound}"
    for what in sorted({name.rpartition("_")[0] for name in PAIRED})
    for word, bound in (("before", "to"), ("until", "to"), ("after", "from"), ("since", "from"))
}
DAY = "2026-10-31"
NOON = "2026-10-31T12:00:00+00:00"


def subclasses(kind: type[BookmarkFilters]) -> set[type[BookmarkFilters]]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


KINDS = sorted(subclasses(BookmarkFilters), key=lambda kind: kind.__name__)


def read(**values: str) -> BookmarkFilter:
    return filter_of(decoding.convert(values, ListQuery), NOW)


def instant(text: str) -> int:
    found = instants.parse(text)
    assert found is not None
    return found


def test_every_dated_pair_has_all_the_names() -> None:
    assert len(NAMES) == 8
    assert set(NAMES.values()) == set(PAIRED)


@pytest.mark.parametrize("kind", KINDS)
def test_every_request_with_filters_takes_every_name(kind: type[BookmarkFilters]) -> None:
    required: dict[str, Any] = {"by": "author", "format": "csv", "query": "owl"}
    needed = {n: v for n, v in required.items() if n in kind.__struct_encode_fields__}
    needed = {n: v for n, v in needed.items() if n in schemas.inline(kind).get("required", ())}
    for name, bound in NAMES.items():
        made = decoding.convert({**needed, name: DAY}, kind)

        assert getattr(made, bound), (kind, name)
        assert getattr(made, name) is None, "everything else reads one name"
        assert gates_of(kind)[name] == gates_of(kind)[bound]


@pytest.mark.parametrize(
    ("name", "included", "excluded"),
    [
        ("posted_before", "2026-10-30T23:59:59.999999Z", "2026-10-31T00:00:00Z"),
        ("posted_until", "2026-10-31T23:59:59.999999Z", "2026-11-01T00:00:00Z"),
        ("posted_to", "2026-10-31T23:59:59.999999Z", "2026-11-01T00:00:00Z"),
        ("posted_after", "2026-11-01T00:00:00Z", "2026-10-31T23:59:59.999999Z"),
        ("posted_since", "2026-10-31T00:00:00Z", "2026-10-30T23:59:59.999999Z"),
        ("posted_from", "2026-10-31T00:00:00Z", "2026-10-30T23:59:59.999999Z"),
    ],
)
def test_before_and_after_a_day_exclude_it_and_until_and_since_include_it(
    name: str, included: str, excluded: str
) -> None:
    assert matches(read(**{name: DAY}), included)
    assert not matches(read(**{name: DAY}), excluded)


@pytest.mark.parametrize(
    ("name", "is_included"),
    [
        *(("posted_before", False), ("posted_until", True), ("posted_to", False)),
        *(("posted_after", False), ("posted_since", True), ("posted_from", False)),
    ],
)
def test_until_and_since_include_the_instant(name: str, is_included: bool) -> None:  # noqa: FBT001
    assert matches(read(**{name: NOON}), NOON) is is_included


def matches(filter: BookmarkFilter, text: str) -> bool:
    moment = instant(text)
    after = filter.posted_from is None or moment > filter.posted_from
    return after and (filter.posted_to is None or moment < filter.posted_to)


def test_before_and_after_today_exclude_today() -> None:
    # NOW is 2026-07-18.
    assert read(posted_before="today").posted_to == instant("2026-07-18")
    assert read(posted_until="today").posted_to == instant("2026-07-19")
    assert read(posted_since="Today ").posted_from == instant("2026-07-18") - 1
    assert read(posted_after="today").posted_from == instant("2026-07-19") - 1
    assert read(posted_before="today-1d").posted_to == instant("2026-07-17")
    assert decoding.convert({"posted_after": "today-1d"}, ListQuery).posted_from == "today"


@pytest.mark.parametrize("name", DATES)
def test_the_schema_has_every_form_in_which_a_bound_is_stored(name: str) -> None:
    forms = schemas.inline(ListQuery, Form.PARAMETERS)["properties"][name]["anyOf"]
    patterns = [re.compile(form["pattern"]) for form in forms if "pattern" in form]
    for other, plain in NAMES.items():
        for text in ("-7d", "today", "today-3d") if plain == name else ():
            stored = getattr(decoding.convert({other: text}, ListQuery), plain)

            assert any(pattern.search(stored) for pattern in patterns), (other, stored)


@pytest.mark.parametrize("name", NAMES)
def test_a_relative_date_stays_relative(name: str) -> None:
    for text in ("-7d", "last 2 weeks", "today"):
        assert moves(decoding.convert({name: text}, ListQuery)), text


@pytest.mark.parametrize("name", NAMES)
def test_the_ends_of_the_calendar_have_bounds_too(name: str) -> None:
    for text in ("0001-01-01", "9999-12-31", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
        filter_of(decoding.convert({name: text}, ListQuery), NOW)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        *("soon", "2026", "2026-13-45", "2026-02-30", "today-99999d", "-7x", "1767261600", "null"),
        *("2026-01-01T25:00:00Z", "2026-01-01T10:00:00+99:00", "10000-01-01", "0000-01-01"),
        *("\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661", "2026-01-01T10:00:00Z; DROP"),
    ],
)
def test_a_date_that_cannot_be_read_is_named_as_it_was_sent(name: str, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        decoding.convert({name: text}, ListQuery)

    assert refused.value.sentence.startswith(f"{name}: must be an ISO 8601 date")
    with pytest.raises(Refusal, match=f"filters.{name}: must be an ISO 8601 date"):
        decoding.decode(msgspec.json.encode(change(**{name: text})), BulkRequest)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_that_is_no_text_is_named_with_what_is_expected(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        decoding.decode(msgspec.json.encode(change(**{name: 5})), BulkRequest)

    assert refused.value.sentence == f"filters.{name}: must be a string, got the number 5."


def change(**filters: Any) -> dict[str, Any]:
    return {"action": "archive", "filters": filters, "dry_run": True}


@pytest.mark.parametrize(
    "names",
    [
        ("bookmarked_to", "bookmarked_before"),
        ("bookmarked_before", "bookmarked_until"),
        ("posted_from", "posted_since"),
        ("posted_after", "posted_since"),
    ],
)
def test_two_names_of_one_bound_are_refused(names: tuple[str, str]) -> None:
    sent = dict.fromkeys(names, DAY)
    for kind in (ListQuery, ExportRequest, ChangeFilters, NewViewQuery):
        with pytest.raises(Refusal) as refused:
            decoding.decode(msgspec.json.encode(sent), kind)
        assert refused.value.sentence == (
            f"{names[1]}: is the same bound as {names[0]}; send only one of them."
        )
    # A value that is absent contradicts nothing.
    decoding.convert({names[0]: DAY, names[1]: None}, ListQuery)
    assert decoding.from_query(f"{names[0]}=&{names[1]}={DAY}".encode(), ListQuery)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_bound_changes_no_posts(name: str) -> None:
    with pytest.raises(Refusal, match=f"filters.{name}: is empty"):
        decoding.decode(msgspec.json.encode(change(**{name: " "})), BulkRequest)


def test_bodies_and_query_strings_take_the_names_wherever_they_take_filters() -> None:
    day_before = "2026-10-30"
    body = msgspec.json.encode({"is_read": True, "filter": {"bookmarked_before": DAY}} | DRY)
    marked = decoding.decode(body, StateRequest)
    assert marked.filter is not None
    assert marked.filter.bookmarked_to == day_before
    view: dict[str, Any] = {"name": "Old", "base_query": {"bookmarked_before": DAY}}
    view |= {"triage_buckets": [{"name": "Older", "query": {"posted_until": DAY}}]}
    made = decoding.decode(msgspec.json.encode(view), NewView)
    assert made.base_query is not None
    assert made.base_query.bookmarked_to == day_before
    assert made.triage_buckets is not None
    assert made.triage_buckets[0].query is not None
    assert made.triage_buckets[0].query.posted_to == DAY
    for kind in (ListQuery, CountQuery, FacetsQuery):
        sent = decoding.from_query(f"by=author&bookmarked_before={DAY}".encode(), kind)
        assert sent.bookmarked_to == day_before
        assert "bookmarked_before" in decoding.parameters_of(kind)


DRY = {"dry_run": True}


def test_schemas_and_forms_list_one_name_per_bound() -> None:
    for kind in KINDS:
        assert not readers(kind).keys() & NAMES.keys()
        for form in Form:
            assert not schemas.inline(kind, form)["properties"].keys() & NAMES.keys()
    for tool in TOOLS:
        assert not tool.arguments.keys() & NAMES.keys()
    # A body is still described as complete.
    assert schemas.inline(exports.ExportRequest, Form.BODY)["additionalProperties"] is False
    assert schemas.inline(ViewQuery, Form.BODY)["additionalProperties"] is False
