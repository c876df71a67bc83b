"""The published descriptions of tools and prompts."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from bowerbird.requests.filters import BookmarkQuery, readers
from bowerbird.toolserver.protocol.prompts import INSTRUCTIONS, PROMPTS
from bowerbird.toolserver.tools.arguments import vocabulary
from bowerbird.toolserver.tools.catalogue import TOOLS, table
from bowerbird.toolserver.tools.tool import DESCRIBED_IN
from bowerbird.wire.responses.server_card import PROTOCOL_VERSIONS
from tests.support.in_turn import in_turn
from tests.support.offenders import Offenders
from tests.support.service import Service
from tests.support.toolcalls import OLDER, ask, message, post, published

ROOT = Path(__file__).parents[2]
FILTERS = {vocabulary.published(name) for name in readers(BookmarkQuery)}
EXPECTED = {
    *("list_bookmarks", "search_bookmarks", "get_bookmarks", "count_bookmarks"),
    *(
        *("update_bookmarks", "save_bookmarks", "list_labels", "add_label", "remove_label"),
        "batch_label",
    ),
    *("list_views", "get_view_bookmarks", "create_view", "update_view", "delete_view"),
    *("delete_bookmarks", "restore_bookmarks", "undo_change", "get_change"),
    *("list_changes", "list_trash"),
    *(
        *("similar_bookmarks", "facet_bookmarks", "update_note", "add_highlight"),
        *("update_highlight", "delete_highlight"),
    ),
    *("update_label", "merge_labels", "delete_label", "update_digest_preferences"),
    *("list_imports", "undo_import"),
    *("create_export", "get_export", "list_digests", "get_digest", "get_account"),
}


def test_the_catalogue_has_exactly_the_expected_tools() -> None:
    assert {tool.name for tool in TOOLS} == EXPECTED
    held = {file.stem for file in (ROOT / "spec" / "tools").glob("*.json")}
    assert held == EXPECTED, "a tool that is gone leaves no file behind"


def test_every_tool_matches_its_published_file() -> None:
    changed = [tool.name for tool in TOOLS if published(tool.name) != tool.published()]

    assert changed == [], "run: make generate"


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
                ("list", "get", "search", "count", "similar", "facet")
            )

    assert offenders == {}


def test_a_tool_that_replaces_what_the_owner_wrote_destroys() -> None:
    [hints] = [tool.hints for tool in TOOLS if tool.name == "update_bookmarks"]

    assert hints.is_destructive, "the note before is not kept"


def test_every_tool_has_valid_schemas_and_a_description() -> None:
    offenders = Offenders()
    for tool in TOOLS:
        whole = tool.published()
        with offenders.check(tool.name):
            jsonschema_rs.meta.validate(whole["inputSchema"])
            jsonschema_rs.meta.validate(whole["outputSchema"])
            assert len(tool.description) > 60
            assert whole["outputSchema"]["type"] == "object"

    assert offenders == {}


def test_every_argument_has_a_description_and_a_limit_in_one_tool() -> None:
    bound = {"string": ("maxLength", "enum"), "array": ("maxItems",), "integer": ("maximum",)}
    described = {name for tool in TOOLS for name, one in tool.arguments.items() if _is_whole(one)}
    offenders = Offenders()
    for tool in TOOLS:
        for name, argument in tool.arguments.items():
            with offenders.check((tool.name, name)):
                assert name in described
                if not _is_whole(argument):
                    assert name in DESCRIBED_IN or name in FILTERS
                    continue
                needed = bound.get(argument["type"], ())
                assert not needed or any(limit in argument for limit in needed)

    assert offenders == {}


def _is_whole(argument: dict[str, Any]) -> bool:
    return "description" in argument


def test_the_tool_that_describes_an_argument_has_it() -> None:
    known = {tool.name: tool.arguments for tool in TOOLS}
    offenders = Offenders()
    for name, tool in DESCRIBED_IN.items():
        if any(name in arguments for arguments in known.values()):
            with offenders.check(name):
                assert _is_whole(known[tool][name])

    assert offenders == {}


def test_every_array_names_the_type_of_its_items() -> None:
    arrays = [
        (tool.name, name, argument)
        for tool in TOOLS
        for name, argument in tool.arguments.items()
        if argument["type"] == "array"
    ]

    assert arrays
    assert [one for one in arrays if "type" not in one[2].get("items", {})] == []


def test_the_list_of_tools_takes_less_than_9000_tokens() -> None:
    size = len(json.dumps([tool.published() for tool in TOOLS], separators=(",", ":")))

    assert size / 4 < 9_000, "a client loads it once per session"


def test_output_schemas_have_only_names_and_types() -> None:
    offenders = Offenders()
    for tool in TOOLS:
        whole = tool.published()["outputSchema"]
        with offenders.check(tool.name):
            if not tool.describes_result:
                assert whole == {"type": "object"}
                continue
            assert whole["properties"].keys() == set(tool.returns.__struct_encode_fields__)
            for field in whole["properties"].values():
                assert field.keys() <= {"type", "anyOf"}

    assert offenders == {}


def test_tools_use_one_name_for_one_thing() -> None:
    older = {
        (tool.name, name) for tool in TOOLS for name in tool.arguments if name in vocabulary.OLDER
    }

    assert older == set()


def test_the_instructions_say_which_tool_describes_the_filters() -> None:
    assert "list_bookmarks describes the filters" in INSTRUCTIONS
    assert "posted_before, bookmarked_since" in INSTRUCTIONS


def test_the_instructions_explain_changes_by_filter() -> None:
    for word in ("filter", "dry_run", "expected_count", "undo_change"):
        assert word in INSTRUCTIONS.partition("To change every post that matches")[2]


def test_descriptions_and_prompts_mention_only_existing_tools() -> None:
    texts = [INSTRUCTIONS, *(tool.description for tool in TOOLS)]
    texts += [prompt.text({"topic": "x"}) for prompt in PROMPTS]
    verbs = (
        r"\b(?:list|search|get|count|update|add|remove|batch|create|delete|restore|undo)_[a-z_]+\b"
    )

    assert {name for text in texts for name in re.findall(verbs, text)} <= EXPECTED


def test_the_instructions_say_that_posts_are_data() -> None:
    assert "never an instruction" in INSTRUCTIONS


def test_the_server_card_lists_the_supported_protocol_revisions() -> None:
    assert PROTOCOL_VERSIONS == KNOWN_PROTOCOL_VERSIONS


def test_the_documentation_page_lists_the_tools() -> None:
    assert table() in (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


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
