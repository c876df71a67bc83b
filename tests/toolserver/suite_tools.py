"""The tools, prompts and resources that the official conformance suite requires from a server.

They run on our own dispatcher: the suite tests the protocol, not the tools.
"""

import base64
import hashlib
import json
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

Json = dict[str, Any]
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c63fccfc0500f000485018084a98c21"
        "0000000049454e44ae426082"
    )
).decode()
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def embedded(uri: str, kind: str, words: str) -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
CONTENTS: dict[str, list[Json]] = {
    "test_streaming_elicitation": [text("There is no stream to ask on.")],
    "test_logging_tool": [text("Nothing is logged to the client.")],
    "test_custom_headers": [text("The header says what the argument says.")],
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
}


def elicit(words: str, field: str, kind: str = "string") -> Json:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    params = {"mode": "form", "message": words, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def sample(words: str) -> Json:
    message = {"role": "user", "content": text(words)}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}


ROOTS: Json = {"method": "roots/list", "params": {}}
NAME = elicit("What is your name?", "name")
# Tool -> the input it requests in each round.
ROUNDS: dict[str, list[dict[str, Json]]] = {
    "test_input_required_result_elicitation": [{"user_name": NAME}],
    "test_input_required_result_sampling": [{"capital_question": sample("Capital of France?")}],
    "test_input_required_result_list_roots": [{"client_roots": ROOTS}],
    "test_input_required_result_request_state": [
        {"confirm": elicit("Please confirm", "ok", "boolean")}
    ],
    "test_input_required_result_tampered_state": [
        {"confirm": elicit("Please confirm", "ok", "boolean")}
    ],
    "test_input_required_result_multiple_inputs": [
        {"user_name": NAME, "greeting": sample("Generate a greeting"), "client_roots": ROOTS}
    ],
    "test_input_required_result_multi_round": [
        {"step1": elicit("Step 1: What is your name?", "name")},
        {"step2": elicit("Step 2: What is your favorite color?", "color")},
    ],
}
STATELESS = {
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
}
OTHER_TOOLS = (
    *("test_error_handling", "test_missing_capability"),
    "test_input_required_result_capabilities",
)


def sealed(number: int) -> str:
    """A signed state: the client can return it but not change it."""
    return f"{number}.{hashlib.sha256(f'secret {number}'.encode()).hexdigest()}"


def opened(state: str) -> int:
    number, _, _ = state.partition(".")
    if not number.isdigit() or sealed(int(number)) != state:
        raise MCPError(types.INVALID_PARAMS, "requestState was changed")
    return int(number)


def rounds(name: str, params: Any) -> Json:
    """Requests input until every round has been answered."""
    state, given = params.request_state, params.input_responses or {}
    at = opened(state) if state is not None else 0
    wanted = ROUNDS[name]
    if wanted[at].keys() <= given.keys() and all(given[key] for key in wanted[at]):
        at += 1
    if at == len(wanted):
        return {"resultType": "complete", "content": [text(f"state-ok {name}")]}
    asked: Json = {"resultType": "input_required", "inputRequests": wanted[at]}
    return asked if name in STATELESS else {**asked, "requestState": sealed(at)}


async def call_tool(context: Any, params: types.CallToolRequestParams) -> Any:
    name = params.name
    if name in ROUNDS:
        return rounds(name, params)
    if name in CONTENTS:
        return {"resultType": "complete", "content": CONTENTS[name]}
    if name in TALKATIVE:
        await TALKATIVE[name](context)
        return {"resultType": "complete", "content": [text("done")]}
    special = {
        "test_error_handling": _fails,
        "test_missing_capability": _needs_sampling,
        "test_input_required_result_capabilities": _requests_supported_input,
    }
    if name not in special:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")
    return special[name](context)


def _capabilities(context: Any) -> Json:
    found: Json = (context.meta or {}).get("io.modelcontextprotocol/clientCapabilities") or {}
    return found


def _fails(_: Any) -> Json:
    content = [text("This tool intentionally returns an error for testing")]
    return {"resultType": "complete", "isError": True, "content": content}


async def _reports_progress(context: Any) -> None:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)


async def _logs(context: Any) -> None:
    for words in ("started", "halfway", "finished"):
        await context.session.send_log_message("info", words, related_request_id=context.request_id)


async def _samples(context: Any) -> None:
    content = types.TextContent(type="text", text="Capital of France?")
    question = types.SamplingMessage(role="user", content=content)
    await context.session.create_message(
        [question], max_tokens=100, related_request_id=context.request_id
    )


async def _elicits(context: Any) -> None:
    """No form reaches the client, so all three scenarios can ask for the same."""
    asked = NAME["params"]
    await context.session.elicit_form(
        asked["message"], asked["requestedSchema"], related_request_id=context.request_id
    )


# Tools that send something to the client before their result.
TALKATIVE = {
    "test_tool_with_progress": _reports_progress,
    "test_tool_with_logging": _logs,
    "test_sampling": _samples,
    "test_elicitation": _elicits,
    "test_elicitation_sep1034_defaults": _elicits,
    "test_elicitation_sep1330_enums": _elicits,
}


async def set_level(_: Any, __: Any) -> Any:
    """Accepted and ignored: without sessions a level cannot be remembered."""
    return {}


def _needs_sampling(context: Any) -> Json:
    if "sampling" not in _capabilities(context):
        missing: Json = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", missing)
    return {"resultType": "complete", "content": [text("sampling is there")]}


def _requests_supported_input(context: Any) -> Json:
    possible = {
        "elicitation": {"user_name": NAME},
        "sampling": {"capital_question": sample("Capital of France?")},
        "roots": {"client_roots": ROOTS},
    }
    asked: Json = {}
    for capability in _capabilities(context):
        asked |= possible.get(capability, {})
    return {"resultType": "input_required", "inputRequests": asked}


_PLAIN: Json = {"type": "object", "properties": {}}
SCHEMAS: dict[str, Json] = {
    **dict.fromkeys((*CONTENTS, *ROUNDS, *OTHER_TOOLS, *TALKATIVE), _PLAIN),
    "test_custom_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}


async def list_tools(_: Any, __: Any) -> Any:
    tools = [{"name": n, "description": n, "inputSchema": schema} for n, schema in SCHEMAS.items()]
    return {"resultType": "complete", "tools": tools}


PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


async def list_prompts(_: Any, __: Any) -> Any:
    prompts = [
        {
            "name": name,
            "description": name,
            "arguments": [{"name": a, "description": a, "required": True} for a in arguments],
        }
        for name, arguments in PROMPTS.items()
    ]
    return {"resultType": "complete", "prompts": prompts}


async def get_prompt(_: Any, params: types.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    if params.name == "test_input_required_result_prompt" and not params.input_responses:
        asked = {"user_context": elicit("What context should the prompt use?", "context")}
        return {"resultType": "input_required", "inputRequests": asked}
    shown: dict[str, list[Json]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(
                given.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."
            ),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [IMAGE, text("Please analyze the image above.")],
        "test_input_required_result_prompt": [text("with context")],
    }
    messages = [{"role": "user", "content": content} for content in shown[params.name]]
    return {"resultType": "complete", "messages": messages}


async def list_resources(_: Any, __: Any) -> Any:
    resources = [
        {"uri": f"test://static-{kind}", "name": kind, "description": kind, "mimeType": media}
        for kind, media in (("text", "text/plain"), ("binary", "image/png"))
    ]
    return {"resultType": "complete", "resources": resources}


async def list_templates(_: Any, __: Any) -> Any:
    template = {
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "A template.",
    }
    return {"resultType": "complete", "resourceTemplates": [template]}


async def read_resource(_: Any, params: types.ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    templated = json.dumps({"id": "123", "templateTest": True, "data": "Data for ID: 123"})
    held: dict[str, Json] = {
        "test://static-text": {
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        },
        "test://static-binary": {"mimeType": "image/png", "blob": PNG},
        "test://template/123/data": {"mimeType": "application/json", "text": templated},
    }
    if uri not in held:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return {"resultType": "complete", "contents": [{"uri": uri, **held[uri]}]}


async def complete(_: Any, __: Any) -> Any:
    completion = {"values": ["paris", "park"], "total": 2, "hasMore": False}
    return {"resultType": "complete", "completion": completion}


def server() -> "Server[Any]":
    made: Server[Any] = Server(
        "suite",
        version="1",
        cache_hints={
            "tools/list": CacheHint(),
            "prompts/list": CacheHint(),
            "resources/list": CacheHint(),
            "resources/read": CacheHint(),
            "resources/templates/list": CacheHint(),
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_completion=complete,
        on_set_logging_level=set_level,
    )
    return made
