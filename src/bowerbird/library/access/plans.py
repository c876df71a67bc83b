"""What a plan opens. Every gate stands here, and nowhere else."""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account

FILTERS: Final = frozenset(
    {
        "media_type",
        "author",
        "tag",
        "posted_from",
        "posted_to",
        "bookmarked_from",
        "bookmarked_to",
    }
)
PAGING: Final = frozenset({"cursor", "sort_cursor"})
MEANING: Final = "vector_search_term"


def check_list(account: Account, given: Collection[str]) -> None:
    """Refuses what the account's plan does not open, by the names of the parameters it sent."""
    if account.is_free:
        _check_free(given)


def check_similar(account: Account) -> None:
    """Posts alike are found by meaning, and so on a paid plan only."""
    if account.is_free:
        raise Refusal(
            Code.VECTOR_SEARCH_NOT_ALLOWED,
            "Finding similar posts needs a paid plan; q searches by word.",
        )


def not_built(embedded: int, total: int, problem: str | None) -> Refusal:
    """On a paid plan too, search by meaning begins when every post has a vector."""
    far = f"{min(embedded, total):,} of {total:,}"
    reason = f" ({problem})" if problem else ""
    return Refusal(
        Code.VECTOR_SEARCH_NOT_ALLOWED,
        f"The vector store is being built: {far}{reason}; q searches the same posts by word.",
    )


def reason(sentence: str) -> str:
    """A refusal of search by meaning as part of another sentence."""
    return sentence.removeprefix("Search by meaning: ").removesuffix(".")


def no_vectors() -> Refusal:
    """The sandbox has no vectors and never gets any."""
    return Refusal(
        Code.VECTOR_SEARCH_NOT_ALLOWED,
        "The sandbox does not search by meaning; q searches by word.",
    )


def account_gone() -> Refusal:
    return Refusal(Code.NOT_FOUND, "The account was deleted meanwhile.")


def model_missing() -> Refusal:
    return errors.unavailable(
        "Search by meaning: the embedding model is not installed. "
        "The operator mends it with: make model",
        60,
    )


def other_dimensions(given: int, stored: int) -> Refusal:
    return errors.unavailable(
        f"Search by meaning: the embedding service gives vectors of {given} numbers "
        f"where {stored} are stored.",
        60,
    )


def check_writes(account: Account) -> None:
    """Labels and Smart Views are written on a paid plan only."""
    if account.is_free:
        raise Refusal(
            Code.SUBSCRIPTION_REQUIRED, "Writing labels and Smart Views needs a paid plan."
        )


def _check_free(given: Collection[str]) -> None:
    if filters := sorted(FILTERS.intersection(given)):
        raise Refusal(
            Code.FILTER_NOT_ALLOWED,
            f"The free plan does not filter ({', '.join(filters)}); leave it out, or upgrade.",
        )
    if paging := sorted(PAGING.intersection(given)):
        raise Refusal(
            Code.PAGINATION_NOT_ALLOWED,
            f"The free plan shows the first page only ({', '.join(paging)} was given); "
            "upgrade to read on.",
        )
    if MEANING in given:
        raise Refusal(
            Code.VECTOR_SEARCH_NOT_ALLOWED,
            "vector_search_term: search by meaning needs a paid plan; q searches by word.",
        )


class Opened(Struct, frozen=True):
    """One line of what the plans open, as people read it."""

    what: str
    free: str
    pro: str


def opened(free_calls_per_month: int) -> tuple[Opened, ...]:
    return (
        Opened("API calls", f"{free_calls_per_month:,} a month", "as many as you like"),
        Opened("Listing your posts", "the first page, up to 100", "every page"),
        Opened("Keyword search (q)", "yes", "yes"),
        Opened("Marking read and archived, deleting, restoring", "yes", "yes"),
        Opened("Exporting the whole library", "yes", "yes"),
        Opened("Filters: media type, author, label, dates", "no", "yes"),
        Opened("Writing labels and Smart Views", "no", "yes"),
        Opened("Search by meaning", "no", "yes"),
    )
