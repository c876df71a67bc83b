"""What each plan includes. Every plan check is here."""

from collections.abc import Mapping

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Advice, Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.requests import limits
from bowerbird.requests.fields import Gate


def check_fields(account: Account, gates: Mapping[str, Gate]) -> None:
    """Refuses a free account whose request contains fields that need a paid plan."""
    if not account.is_free or not gates:
        return
    if filters := _named(gates, Gate.FILTERING):
        raise Refusal(
            Code.FILTER_NOT_ALLOWED,
            f"The free plan does not include filters ({filters}). Remove them, or upgrade.",
        )
    if paging := _named(gates, Gate.PAGING):
        raise Refusal(
            Code.PAGINATION_NOT_ALLOWED,
            f"The free plan shows only the first page. Remove {paging}, or upgrade.",
        )
    if labelling := _named(gates, Gate.LABELLING):
        raise Refusal(
            Code.SUBSCRIPTION_REQUIRED,
            f"Writing labels needs a paid plan. Remove {labelling}, or upgrade.",
        )
    raise Refusal(
        Code.VECTOR_SEARCH_NOT_ALLOWED,
        "Search by meaning needs a paid plan.",
        advice=Advice.SEARCH_BY_WORD,
    )


def _named(gates: Mapping[str, Gate], gate: Gate) -> str:
    return ", ".join(name for name, needed in gates.items() if needed is gate)


def check_similar(account: Account) -> None:
    if account.is_free:
        raise Refusal(
            Code.VECTOR_SEARCH_NOT_ALLOWED,
            "Finding similar posts needs a paid plan.",
            advice=Advice.SEARCH_BY_WORD,
        )


def not_built(embedded: int, total: int, problem: str | None) -> Refusal:
    """Search by meaning starts when every post has a vector, on a paid plan too."""
    progress = f"{min(embedded, total):,} of {total:,}"
    reason = f" ({problem})" if problem else ""
    return Refusal(
        Code.VECTOR_SEARCH_NOT_ALLOWED,
        f"The vector store is being built: {progress} posts{reason}.",
        advice=Advice.SEARCH_BY_WORD,
    )


def reason(sentence: str) -> str:
    """The reason in a refusal of search by meaning, for use inside another sentence."""
    return sentence.removeprefix("Search by meaning: ").removesuffix(".")


def no_vectors() -> Refusal:
    return Refusal(
        Code.VECTOR_SEARCH_NOT_ALLOWED,
        "This service does not support search by meaning.",
        advice=Advice.SEARCH_BY_WORD,
    )


def model_missing() -> Refusal:
    return errors.unavailable(
        "Search by meaning: the embedding model is not installed. "
        "The operator can build it with: bowerbird model",
        60,
    )


def other_dimensions(returned: int, stored: int) -> Refusal:
    return errors.unavailable(
        f"Search by meaning: the embedding service returned vectors of {returned} numbers, "
        f"but {stored} are stored.",
        60,
    )


def check_writes(account: Account) -> None:
    if account.is_free:
        raise Refusal(
            Code.SUBSCRIPTION_REQUIRED, "Writing labels and Smart Views needs a paid plan."
        )


def check_rules(account: Account) -> None:
    if account.is_free:
        raise Refusal(Code.SUBSCRIPTION_REQUIRED, "Rules need a paid plan.")


def check_shares(account: Account, count: int) -> None:
    """Refuses another share if the account has `count` already."""
    if account.is_free and count >= limits.FREE_SHARES_MAX:
        raise Refusal(
            Code.SUBSCRIPTION_REQUIRED,
            "The free plan includes one shared list or feed. Stop it first, or upgrade.",
        )
    if count >= limits.SHARES_MAX:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"An account can have {limits.SHARES_MAX} shared lists and feeds. Stop one first.",
        )


def check_webhooks(account: Account) -> None:
    if account.is_free:
        raise Refusal(Code.SUBSCRIPTION_REQUIRED, "Webhooks need a paid plan.")


class Feature(Struct, frozen=True):
    """One row of the table that compares the plans."""

    name: str
    free: str
    pro: str


def features(free_calls_per_month: int) -> tuple[Feature, ...]:
    return (
        Feature("API calls", f"{free_calls_per_month:,} per month", "unlimited"),
        Feature("Listing your posts", "the first page, up to 100", "every page"),
        Feature("Keyword search (q)", "yes", "yes"),
        Feature("Saving posts and links", "yes, without using a call", "yes"),
        Feature("Marking read and archived, deleting, restoring", "yes", "yes"),
        Feature("Exporting the whole library", "yes", "yes"),
        Feature("Filters: media type, author, label, dates", "no", "yes"),
        Feature("Writing labels and Smart Views", "no", "yes"),
        Feature("Rules", "no", "yes"),
        Feature("Shared lists and feeds", str(limits.FREE_SHARES_MAX), str(limits.SHARES_MAX)),
        Feature("Search by meaning", "no", "yes"),
        Feature("Webhooks", "no", "yes"),
    )
