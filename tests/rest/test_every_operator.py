"""Every operator of a search, in every spelling, wherever a search is accepted."""

import pytest

from bowerbird.search.queries import query_fields
from bowerbird.search.queries.query_language import plain_text
from tests.support import toolcalls, writing
from tests.support.posts.operators import QUERIES, fill
from tests.support.service import Member

pytestmark = pytest.mark.anyio
WHOLE = {"is_unread_only": "false", "hide_archived": "false"}


def test_the_table_has_every_name_of_a_field_and_every_value() -> None:
    written = " ".join(query for query, _ in QUERIES).lower()

    assert [name for name in query_fields.NAMES if f"{name}:" not in written] == []
    values = (*query_fields.STATES, *query_fields.HAS)
    rare = {"gif", "poll", "text", "duplicate"}
    assert [one for one in values if one not in rare and f":{one}" not in written] == []


@pytest.mark.both
async def test_lists_find_what_each_operator_says(alice: Member) -> None:
    names = await fill(alice)
    wrong = {}
    for query, expected in QUERIES:
        found = {names[one] for one in await alice.crawl(q=query, limit="100", **WHOLE)}
        if found != expected:
            wrong[query] = (sorted(found - expected), sorted(expected - found))
    assert wrong == {}


@pytest.mark.both
async def test_a_search_by_meaning_understands_the_same_operators(alice: Member) -> None:
    names = await fill(alice)
    await alice.embed()
    wrong = {}
    for query, expected in QUERIES:
        if plain_text(query):
            continue
        for asked in ({"vector_search_term": query}, {"q": query, "vector_search_term": query}):
            answer = await alice.listed(limit="100", **WHOLE, **asked)
            found = {names[one["post_id"]] for one in answer["data"]}
            if found != expected:
                wrong[tuple(asked.values())] = sorted(found ^ expected)
    assert wrong == {}


# tests/storage/test_query_conditions.py compares lists, counts and changes on both databases.
async def test_tools_views_rules_and_changes_understand_them_too(alice: Member) -> None:
    names = await fill(alice)
    wrong = {}
    for number, (query, expected) in enumerate(QUERIES):
        asked = {"query": query, "mode": "keyword", "limit": 50}
        result = await toolcalls.result_of(alice, "search_bookmarks", **asked)
        found = {names[one["post_id"]] for one in result["structuredContent"]["bookmarks"]}
        counts = []
        body = {"query": {"q": query}}
        preview = await writing.send(alice, "POST", "/v1/rules/preview", body)
        counts.append(preview.json()["data"]["count"])
        view = await writing.view(alice, f"View {number}", base_query={"q": query, **WHOLE})
        counts.append((await alice.get(view)).json()["data"]["count"])
        await writing.send(alice, "DELETE", view)
        filters = {"q": query, **WHOLE, "text_only": False}
        change = {"action": "trash", "filters": filters, "dry_run": True}
        dry = await writing.send(alice, "POST", "/v1/bookmarks/changes", change)
        counts.append(dry.json()["data"]["count"])
        if found != expected or counts != [len(expected)] * 3:
            wrong[query] = (sorted(found ^ expected), counts, len(expected))
    assert wrong == {}
