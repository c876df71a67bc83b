"""Names of labels that are refused, in the words of a page."""

import unicodedata

from bowerbird.errors import Refusal
from bowerbird.model.labels import MAX_NAME_CHARACTERS, NAME_RULE, clean_name


def name_problem(name: str) -> str:
    """Why no label can have this name, or ''."""
    if clean_name(name) is not None:
        return ""
    length = len(" ".join(unicodedata.normalize("NFC", name).split()))
    if length > MAX_NAME_CHARACTERS:
        return f"A label has at most {MAX_NAME_CHARACTERS} characters; this one has {length:,}."
    return f"A label has {NAME_RULE}."


def in_words(refused: Refusal, name: str) -> str:
    """The sentence of a refusal of the API without its name of the field."""
    field, separator, rest = refused.sentence.partition("label_name: ")
    if not separator or field:
        return refused.sentence
    return name_problem(name) or rest[:1].upper() + rest[1:]
