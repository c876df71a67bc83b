"""What one page of a list says: its posts, where the list goes on, and whether it ends here."""

from typing import Final

from msgspec import Struct

from bowerbird.sources.found import Found
from bowerbird.sources.x.values import at, first_text, objects

# X's own pages have 20 posts, and those of its API 100.
MAX_ENTRIES: Final = 1_000
TOO_MANY: Final = f"The page has more than {MAX_ENTRIES:,} entries."
NO_LIST: Final = "The page has no list of posts."
UNKNOWN_FORM: Final = (
    "Most posts of the page have a form that this server does not know. X has changed its answers."
)
_MAX_ERRORS: Final = 5
_MAX_ERROR_CHARACTERS: Final = 300


class Page(Struct, frozen=True, kw_only=True):
    posts: tuple[Found, ...] = ()
    # What to ask for the next page with, or "".
    cursor_out: str = ""
    # The list is complete: saved posts that no page of it had are not saved any more.
    proves_end: bool = False
    # The posts are saved ones. Otherwise they only update posts that the library already has.
    lists_saved_posts: bool = True
    # The folder whose posts these are, or "".
    folder_id: str = ""
    # Sentences. A page with errors and without posts is not an empty page.
    errors: tuple[str, ...] = ()
    # X has changed its answers. What the page does not have says nothing.
    is_unknown_form: bool = False
    # Known, and without anything that a later reader could find.
    is_blank: bool = False


def failed(sentence: str) -> Page:
    return Page(errors=(sentence,))


def without_list(document: object, sentence: str) -> Page:
    """An answer in which there is nothing to read: X says why, or has changed its answers."""
    errors = errors_of(document)
    is_blank = bool(errors) and _has_nothing(at(document, "data"))
    return Page(errors=errors or (sentence,), is_unknown_form=not errors, is_blank=is_blank)


def _has_nothing(value: object) -> bool:
    """Whether there is no text and no number in it, only the objects around them."""
    if isinstance(value, dict):
        return all(map(_has_nothing, value.values()))
    return value is None or value == []


def errors_of(document: object) -> tuple[str, ...]:
    """The errors that X reports in its answer."""
    listed = objects(at(document, "errors"))[:_MAX_ERRORS]
    names = (
        first_text((at(error, "message"), at(error, "detail"), at(error, "title")))
        for error in listed
    )
    return tuple(
        f"X reports an error: {name[:_MAX_ERROR_CHARACTERS].rstrip('.') or 'no message'}."
        for name in names
    )
