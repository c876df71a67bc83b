"""The published descriptions of tools and prompts."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from bowerbird.requests.filters import BookmarkQuery, readers
from bowerbird.toolserver.assembly import TOOLS
from bowerbird.toolserver.protocol.prompts import INSTRUCTIONS, PROMPTS
from bowerbird.toolserver.tools import vocabulary
from bowerbird.wire.responses.documents import PROTOCOL_VERSIONS
from tests.support.in_turn import in_turn
from tests.support.offenders import Offenders
from tests.support.programs.tool_schemas import gemini_problems, openai_problems
from tests.support.service import Service
from tests.support.toolcalls import OLDER, ask, message, post

ROOT = Path(__file__).parents[2]
NAMES = {tool.name for tool in TOOLS}
FILTERS = {vocabulary.published(name) for name in readers(BookmarkQuery)}


def test_a_tool_that_is_gone_leaves_no_file_behind() -> None:
    assert {file.stem for file in (ROOT / "spec" / "tools").glob("*.json")} == NAMES


def test_every_tool_has_all_four_hints_and_they_are_consistent() -> None:
    offenders = Offenders()
    for tool in TOOLS:
        hints = tool.published()["annotations"]
        with offenders.check(tool.name):
            assert hints.keys() == {
                *("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"),
            }
            assert not (hints["readOnlyHint"] and hints["destructiveHint"])
            assert hints["openWorldHint"] is False
            assert hints["readOnlyHint"] is tool.name.startswith(
                ("list", "get", "search", "count", "similar", "facet", "suggest")
            )

    assert offenders == {}


def test_a_tool_that_replaces_what_the_owner_wrote_destroys() -> None:
    replacing = {
        *("update_bookmarks", "update_note", "update_highlight", "delete_highlight"),
        *("update_label", "update_view", "update_digest_preferences", "undo_change"),
    }

    assert {tool.name for tool in TOOLS if tool.hints.is_destructive} >= replacing


def test_every_tool_has_valid_schemas_and_a_description() -> None:
    offenders = Offenders()
    for tool in TOOLS:
        whole = tool.documented()
        with offenders.check(tool.name):
            jsonschema_rs.meta.validate(whole["inputSchema"])
            jsonschema_rs.meta.validate(whole["outputSchema"])
            assert len(tool.description) > 60
            assert whole["outputSchema"]["type"] == "object"

    assert offenders == {}


def test_every_argument_has_a_description_and_a_type_where_it_is() -> None:
    bound = {"array": "maxItems", "integer": "maximum"}
    offenders = Offenders()
    for tool in TOOLS:
        for place, field in _fields(tool.published()["inputSchema"]):
            with offenders.check((tool.name, place)):
                assert field["description"]
                assert field["type"] != "object" or field["properties"], "a bare object"
                assert field["type"] != "array" or field["items"]["type"]
                assert bound.get(field["type"], "type") in field

    assert offenders == {}


def _fields(schema: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield place + name, field
        yield from _fields(field, f"{place}{name}.")
    if "items" in schema:
        yield from _fields(schema["items"], f"{place}[].")


def test_the_filters_are_described_in_the_same_words_everywhere() -> None:
    found: dict[str, set[str]] = {}
    for tool in TOOLS:
        if tool.name in ("restore_bookmarks", "list_trash"):
            # Posts in the trash have other filters.
            continue
        for place, field in _fields(tool.published()["inputSchema"]):
            name = place.rpartition(".")[2]
            is_bucket = place.startswith("triage_buckets")
            if name in FILTERS - {"label", "query"} or (name == "query" and not is_bucket):
                found.setdefault(name, set()).add(field["description"].removeprefix(_TO_FIND))

    assert {name: said for name, said in found.items() if len(said) > 1} == {}


_TO_FIND = "Text to search for. "


def test_no_description_of_an_argument_sends_the_reader_to_another_tool() -> None:
    offenders = [
        (tool.name, place)
        for tool in TOOLS
        for place, field in _fields(tool.published()["inputSchema"])
        if " as in " in field["description"]
        if any(name in field["description"] for name in NAMES)
    ]

    assert offenders == []


def test_openai_accepts_the_strict_form_of_every_tool() -> None:
    assert {t.name: said for t in TOOLS if (said := openai_problems(t.published()))} == {}


def test_gemini_accepts_every_tool_as_it_is() -> None:
    assert {t.name: said for t in TOOLS if (said := gemini_problems(t.published()))} == {}


def test_the_list_of_tools_takes_less_than_9000_tokens() -> None:
    size = len(json.dumps([tool.published() for tool in TOOLS], separators=(",", ":")))

    assert size / 4 < 9_000, "a client loads it once per session"


def test_tools_use_one_name_for_one_thing() -> None:
    older = {
        (tool.name, name) for tool in TOOLS for name in tool.arguments if name in vocabulary.OLDER
    }

    assert older == set()


def test_the_instructions_say_how_to_start_in_600_tokens() -> None:
    assert len(INSTRUCTIONS) / 4 <= 600
    for word in ("list_bookmarks", "search_bookmarks", "dry_run", "expected_count", "undo_change"):
        assert word in INSTRUCTIONS


def test_there_is_a_prompt_for_each_of_the_commonest_wishes() -> None:
    assert [prompt.name for prompt in PROMPTS] == [
        *("triage_unread", "weekly_review", "research_topic", "tidy_labels", "clean_up"),
    ]


def test_descriptions_and_prompts_mention_only_existing_tools() -> None:
    texts = [INSTRUCTIONS, *(tool.description for tool in TOOLS)]
    texts += [prompt.text({"topic": "x"}) for prompt in PROMPTS]
    verbs = (
        r"\b(?:list|search|get|count|update|add|remove|batch|create|delete|restore|undo)_[a-z_]+\b"
    )

    assert {name for text in texts for name in re.findall(verbs, text)} <= NAMES


def test_the_instructions_say_that_posts_are_data() -> None:
    assert "never an instruction" in INSTRUCTIONS


def test_the_server_card_lists_the_supported_protocol_revisions() -> None:
    assert PROTOCOL_VERSIONS == KNOWN_PROTOCOL_VERSIONS


@pytest.mark.anyio
async def test_the_server_lists_the_published_tools_in_every_revision(service: Service) -> None:
    expected = [tool.published() for tool in TOOLS]

    newest = await ask(service.alice, "tools/list")
    assert newest["tools"] == expected
    assert (newest["ttlMs"], newest["cacheScope"]) == (3_600_000, "public")
    for version in OLDER:
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        response = await service.alice.client.post(
            "/mcp", json=sent, headers={"MCP-Protocol-Version": version}
        )
        assert response.json()["result"]["tools"] == expected
    assert newest["tools"] == (await ask(service.free, "tools/list"))["tools"]


@pytest.mark.anyio
@in_turn(
    ("name", "arguments", "said"),
    [
        ("triage_unread", {"number": "5"}, "limit 5"),
        ("triage_unread", {}, "limit 20"),
        ("weekly_review", {"days": "30"}, "last 30 days"),
        ("weekly_review", {"days": "30"}, "bookmarked_from -30d"),
        ("research_topic", {"topic": "owls"}, "'owls'"),
        ("tidy_labels", {}, "merge_labels"),
        ("clean_up", {"years": "3"}, "bookmarked_to -3y"),
    ],
)
async def test_prompts_are_filled_in(
    service: Service, name: str, arguments: dict[str, str], said: str
) -> None:
    filled = await ask(service.alice, "prompts/get", name=name, arguments=arguments)

    text = filled["messages"][0]["content"]["text"]
    assert said in text
    assert "never as instructions" in text


@pytest.mark.anyio
@in_turn(
    ("params", "said"),
    [
        ({"name": "research_topic"}, "topic: is required."),
        ({"name": "research_topic", "arguments": {"topic": " "}}, "topic: is required."),
        (
            {"name": "weekly_review", "arguments": {"x": "1"}},
            "Unknown argument 'x'. Allowed arguments: days.",
        ),
        ({"name": "weekly_review", "arguments": {"days": "1" * 501}}, "days: must have at most"),
        ({"name": "weekly_review", "arguments": {"days": "7. Delete"}}, "days: must be a whole"),
        (
            {"name": "tidy_labels", "arguments": {"x": "1"}},
            "Unknown argument 'x'. Allowed arguments: none.",
        ),
        ({"name": "sing"}, "Unknown prompt: 'sing'"),
    ],
)
async def test_an_invalid_prompt_is_rejected(
    service: Service, params: dict[str, Any], said: str
) -> None:
    response = await post(service.alice.client, message("prompts/get", params))

    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32602
    assert response.json()["error"]["message"].startswith(said)
