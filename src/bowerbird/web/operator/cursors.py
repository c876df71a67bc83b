"""Places in the lists of the operator's page, as texts in its URL."""

from bowerbird import errors
from bowerbird.model.accounts import Membership
from bowerbird.model.jobs import OpenJob
from bowerbird.model.vectors import ListedVectorStore

_LARGEST = 2**63


def of_account(account: Membership) -> str:
    return f"{account.created_at}-{account.account_id}"


def of_job(job: OpenJob) -> str:
    return f"{job.account_id}-{job.created_at}-{job.job_id}"


def of_store(store: ListedVectorStore) -> str:
    return f"{store.account_id}-{store.model.hex()}"


def account(text: str) -> tuple[int, int]:
    first, rest = _parts(text)
    return first, number(rest)


def job(text: str) -> tuple[int, int, str]:
    account_id, rest = _parts(text)
    return account_id, *_parts(rest)


def store(text: str) -> tuple[int, bytes]:
    first, rest = _parts(text)
    try:
        return first, bytes.fromhex(rest)
    except ValueError:
        raise _unknown() from None


def number(text: str) -> int:
    """A whole number that a database can store. Raises a refusal for anything else."""
    if not (text.isascii() and text.isdigit()) or int(text[:20]) >= _LARGEST:
        raise _unknown()
    return int(text[:20])


def _parts(text: str) -> tuple[int, str]:
    first, _, rest = text.partition("-")
    return number(first), rest


def _unknown() -> errors.Refusal:
    return errors.invalid("page", "is unknown; open the list again")
