"""The text of a Bluesky post, with the full address of every link."""

from typing import Any, Final

from bowerbird.sources.file_posts import web_address
from bowerbird.sources.parsing.json_values import at, list_at, text_at
from bowerbird.sources.parsing.text_lines import storable

_MAX_FACETS: Final = 500


def full_text(record: Any) -> str:
    """Replaces the shortened addresses in the text. A facet names a link by its UTF-8 bytes."""
    text = storable(text_at(record, "text"))
    data = text.encode()
    parts, done = [], 0
    for start, end, address in sorted(_links(record, len(data))):
        shown = data[start:end].decode("utf-8", "replace")
        if start >= done and _is_shortened(shown, address):
            parts += [data[done:start], address.encode()]
            done = end
    # A facet can begin in the middle of a character.
    return b"".join([*parts, data[done:]]).decode("utf-8", "replace")


def _links(record: Any, length: int) -> list[tuple[int, int, str]]:
    found = []
    for facet in list_at(record, "facets")[:_MAX_FACETS]:
        start, end = at(facet, "index", "byteStart"), at(facet, "index", "byteEnd")
        if not (type(start) is int and type(end) is int and 0 <= start < end <= length):
            continue
        for feature in list_at(facet, "features")[:_MAX_FACETS]:
            if address := web_address(at(feature, "uri")):
                found.append((start, end, address))
                break
    return found


def _is_shortened(shown: str, address: str) -> bool:
    """Whether the text is an address cut short, and not words that somebody linked."""
    beginning = shown.strip().removesuffix("...").rstrip("…")
    beginning = (beginning.partition("://")[2] or beginning).removeprefix("www.")
    return address.partition("://")[2].removeprefix("www.").startswith(beginning)
