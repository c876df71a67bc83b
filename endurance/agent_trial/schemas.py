"""Tools in the form that an OpenAI-compatible endpoint takes."""

from typing import Any

Json = dict[str, Any]


def function(tool: Json, *, is_strict: bool) -> Json:
    """A tool of tools/list as a function."""
    schema = strict(tool["inputSchema"]) if is_strict else tool["inputSchema"]
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": schema,
            "strict": is_strict,
        },
    }


def strict(schema: Json) -> Json:
    """The schema for strict mode: every field is required, and null means that it is not sent."""
    made = {name: part for name, part in schema.items() if name != "default"}
    if "items" in made:
        made["items"] = strict(made["items"])
    if "properties" in made:
        fields, required = made["properties"], made.get("required", ())
        made["properties"] = {
            name: strict(field) if name in required else _or_null(strict(field))
            for name, field in fields.items()
        }
        made |= {"required": list(fields), "additionalProperties": False}
    return made


def _or_null(schema: Json) -> Json:
    made = {**schema, "type": [schema["type"], "null"]}
    return {**made, "enum": [*schema["enum"], None]} if "enum" in schema else made
