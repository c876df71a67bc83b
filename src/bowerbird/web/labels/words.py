"""Refusals of the API in the words of a page."""

from bowerbird.errors import Refusal


def in_words(refused: Refusal) -> str:
    """The sentence without the name of the field, which pages call the name."""
    field, separator, rest = refused.sentence.partition("label_name: ")
    if not separator or field:
        return refused.sentence
    return f"The name {rest}" if rest.startswith("must ") else rest[:1].upper() + rest[1:]
