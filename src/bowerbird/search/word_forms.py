"""The other forms of a word in a query."""

from bowerbird.model.words import Form


def others_of(_: str) -> tuple[Form, ...]:
    """The other ways to write a word."""
    return ()


def own_word(_: str) -> tuple[str, ...] | None:
    """The tokens of a name that the tokenizer would split, such as C++."""
    return None
