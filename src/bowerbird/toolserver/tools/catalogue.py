"""Every tool in the order in which it is listed, and the files in which they are published."""

import json
from typing import Final

from bowerbird.toolserver.tools import account, bookmarks, digests, exports, labels, views
from bowerbird.toolserver.tools.tool import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    *bookmarks.TOOLS,
    *labels.TOOLS,
    *views.TOOLS,
    *exports.TOOLS,
    *digests.TOOLS,
    *account.TOOLS,
)


def published_files() -> dict[str, str]:
    """Path in the checkout -> text: one file a tool, and the stdio package's copy of them all."""
    files = {
        f"spec/tools/{tool.name}.json": json.dumps(tool.published(), indent=2, ensure_ascii=False)
        + "\n"
        for tool in TOOLS
    }
    whole = json.dumps([tool.published() for tool in TOOLS], indent=1, ensure_ascii=False) + "\n"
    return {**files, "packages/bowerbird-mcp/src/bowerbird_mcp/tools.json": whole}


def table() -> str:
    """The rows of the table in docs/tools.md."""
    rows = []
    for tool in TOOLS:
        hints = tool.hints
        kind = "reads" if hints.reads else "destroys" if hints.destroys else "writes"
        taken = ", ".join(f"`{name}`" for name in tool.arguments) or "nothing"
        rows.append(f"| `{tool.name}` | {tool.title} | {taken} | {kind} |\n")
    return "| Tool | What for | Takes | |\n| --- | --- | --- | --- |\n" + "".join(rows)
