"""The generated file from which the stdio package responds while the server is down."""

import json
from typing import Final

from bowerbird.toolserver.protocol.instructions import INSTRUCTIONS
from bowerbird.toolserver.protocol.prompts import PROMPTS
from bowerbird.toolserver.protocol.resources import TEMPLATES

_PATH: Final = "packages/bowerbird-mcp/src/bowerbird_mcp/protocol.json"


def published_files() -> dict[str, str]:
    """The text of the file by path."""
    content = {
        "instructions": INSTRUCTIONS,
        "prompts": [prompt.published() for prompt in PROMPTS],
        "resourceTemplates": list(TEMPLATES),
    }
    return {_PATH: json.dumps(content, indent=1, ensure_ascii=False) + "\n"}
