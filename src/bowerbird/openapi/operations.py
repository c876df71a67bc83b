"""Every operation of /v1, in the order of the documentation."""

from typing import Final

from bowerbird.rest import (
    account,
    bookmarks,
    bulk,
    digests,
    exports,
    facets,
    highlights,
    imports,
    labels,
    saving,
    views,
)

OPERATIONS: Final = (
    *account.OPERATIONS,
    *bookmarks.OPERATIONS,
    *facets.OPERATIONS,
    *bulk.OPERATIONS,
    *saving.OPERATIONS,
    *highlights.OPERATIONS,
    *labels.OPERATIONS,
    *views.OPERATIONS,
    *digests.OPERATIONS,
    *exports.OPERATIONS,
    *imports.OPERATIONS,
)

TAGS: Final[dict[str, str]] = {
    "account": "The account itself.",
    "bookmarks": "The posts an account has saved.",
    "labels": "Names that an account gives its posts.",
    "views": "Queries that an account has saved.",
    "digests": "Summaries of what was saved in a day or a week.",
    "exports": "An account's posts as a file to download.",
    "imports": "How posts came into the library, and undoing it.",
    "sandbox": "The same operations on sample data. Needs no key and stores nothing.",
}

PATH_PARAMETERS: Final[dict[str, str]] = {
    "post_id": "The saved post's identifier.",
    "highlight_id": "The highlight's id.",
    "label_id": "The label's id.",
    "slug": "The view's slug.",
    "digest_id": "The digest's id, such as weekly-2026-07-13, or latest.",
    "job_id": "The export's id.",
    "run_id": "The import's id.",
    "change_id": "The change's id.",
}

PATH_EXAMPLES: Final[dict[str, str]] = {
    "post_id": "1945678901234567890",
    "highlight_id": "3f9a1c20be77",
    "label_id": "1",
    "slug": "weekend-reading",
    "job_id": "x7Qk2mZt9LwP4sVb",
    "change_id": "9b1f04c2d67ae35812c07d4e",
    "run_id": "5f2c9a7be01d4c3389aa01bc",
    "digest_id": "weekly-2026-07-13",
}
