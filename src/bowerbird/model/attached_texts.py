"""The texts of a post's attachments: link cards, descriptions of images, choices of polls."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

_FIELDS: Final = ("title", "description", "alt_text")
DOMAIN: Final = "attachments.domain"
# Sources give a choice as a text, or as an object with the text in it.
_CHOICE_FIELDS: Final = ("label", "text", "title", "name")


def attached_texts(attachments: object) -> list[tuple[str, str]]:
    """Each text with the name of its field. Attachments may have fields of any type."""
    if not isinstance(attachments, list):
        return []
    texts = [text for one in attachments if isinstance(one, dict) for text in _texts_of(one)]
    return list(dict.fromkeys(texts))


def _texts_of(attachment: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _FIELDS:
        if (text := attachment.get(name)) and isinstance(text, str):
            yield f"attachments.{name}", text
    choices = attachment.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if text := _choice(choice):
            yield "attachments.choices", text
    if domain := _domain(attachment):
        yield DOMAIN, domain


def _choice(choice: object) -> str:
    if isinstance(choice, dict):
        choice = next((choice[name] for name in _CHOICE_FIELDS if choice.get(name)), "")
    return choice if isinstance(choice, str) else ""


def _domain(attachment: dict[str, Any]) -> str:
    domain, url = attachment.get("domain"), attachment.get("url")
    if isinstance(domain, str) and domain:
        return domain
    if attachment.get("type") != "link" or not isinstance(url, str):
        return ""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
