"""How many posts a result leaves out by a default that the caller did not choose."""

from collections.abc import Mapping
from typing import Final

import msgspec

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.requests.bookmarks import CountQuery, ListQuery
from bowerbird.requests.filters import FlagFilters, flags_of, readers

_SETS: Final = {name: reader.sets for name, reader in readers(FlagFilters).items()}
_STATES: Final = {"is_unread_only": "read", "hide_archived": "archived"}


async def of_list(
    bookmarks: Bookmarks, account: Account, query: ListQuery, listed: BookmarkList
) -> list[str]:
    if not listed.is_relaxed:
        return await of_query(bookmarks, account, query, listed.total_count)
    flags = by_default(flags_of(query))
    if not flags or _hides_nothing(account, await bookmarks.filter(account, query), flags):
        return []
    # Only the number of its posts is needed.
    whole = msgspec.structs.replace(query, cursor=None, limit=1, **dict.fromkeys(flags, False))
    number = (await bookmarks.list(account, whole)).total_count - listed.total_count
    return included(flags, number)


async def of_query(
    bookmarks: Bookmarks, account: Account, query: ListQuery | CountQuery, shown: int
) -> list[str]:
    flags = by_default(flags_of(query))
    if not flags:
        return []
    filter = await bookmarks.filter(account, query)
    return included(flags, await of_filter(bookmarks, account, filter, flags, shown))


async def of_filter(
    bookmarks: Bookmarks, account: Account, filter: BookmarkFilter, flags: list[str], shown: int
) -> int:
    """How many more posts match without the flags than the `shown` ones."""
    if _hides_nothing(account, filter, flags):
        return 0
    return await bookmarks.total(account, _without(flags, filter)) - shown


def by_default(flags: Mapping[str, bool]) -> list[str]:
    """The flags that leave posts out."""
    return [name for name, is_on in flags.items() if is_on]


def included(flags: list[str], number: int) -> list[str]:
    """How to include the posts that were left out."""
    return said(flags, number, f"Send {_off(flags)} to include")


def uncounted(flags: list[str]) -> str:
    """How to include such posts, if counting them would cost another search."""
    return f"{_states(flags).capitalize()} posts are left out. Send {_off(flags)} to include them."


def said(flags: list[str], number: int, how: str) -> list[str]:
    if number <= 0:
        return []
    state = _states(flags)
    if number == 1:
        return [f"1 {state} post is left out. {how} it."]
    return [f"{number:,} {state} posts are left out. {how} them."]


def _off(flags: list[str]) -> str:
    return " and ".join(f"{name} false" for name in flags)


def _states(flags: list[str]) -> str:
    return " or ".join(_STATES[name] for name in flags)


def _without(flags: list[str], filter: BookmarkFilter) -> BookmarkFilter:
    return msgspec.structs.replace(filter, **{_SETS[name]: False for name in flags})


def _hides_nothing(account: Account, filter: BookmarkFilter, flags: list[str]) -> bool:
    """Whether the counters of the library say that the flags leave no post out."""
    return _visible(account, _without(flags, filter)) == _visible(account, filter)


def _visible(account: Account, filter: BookmarkFilter) -> int:
    return account.visible(
        unread_only=filter.unread_only,
        hide_archived=filter.hide_archived,
        archived_only=filter.archived_only,
    )
