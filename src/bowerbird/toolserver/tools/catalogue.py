"""All tools in the order of tools/list, and the generated files that describe them."""

import json
from typing import Final

from bowerbird.assembly import Services
from bowerbird.toolserver.tools import (
    account,
    bookmarks,
    bulk,
    changes,
    digests,
    exports,
    label_edits,
    labels,
    notes,
    rules,
    saving,
    searching,
    views,
)
from bowerbird.toolserver.tools.tool import BoundTool, Tool

MODULES: Final = (
    *(searching, bookmarks, bulk, changes, notes, saving, labels, label_edits),
    *(views, rules, exports, digests, account),
)
TOOLS: Final[tuple[Tool, ...]] = tuple(
    value for module in MODULES for value in vars(module).values() if isinstance(value, Tool)
)


def bind(services: Services) -> list[BoundTool]:
    """All tools, in the order of the catalogue."""
    return [bound for module in MODULES for bound in module.bind(services)]


def published_files() -> dict[str, str]:
    """The text of each generated file by path: one per tool, and one for the stdio package."""
    files = {
        f"spec/tools/{tool.name}.json": json.dumps(tool.documented(), indent=2, ensure_ascii=False)
        + "\n"
        for tool in TOOLS
    }
    whole = json.dumps([tool.published() for tool in TOOLS], indent=1, ensure_ascii=False) + "\n"
    return {**files, "packages/bowerbird-mcp/src/bowerbird_mcp/tools.json": whole}


def table() -> str:
    """The rows of the table in docs/tools.md."""
    rows = [f"| `{tool.name}` | {tool.title} | {_effect(tool)} |\n" for tool in TOOLS]
    return "| Tool | Purpose | Effect |\n| --- | --- | --- |\n" + "".join(rows)


def _effect(tool: Tool) -> str:
    if tool.hints.is_read_only:
        return "reads"
    return "destroys" if tool.hints.is_destructive else "writes"
