"""What X charges for the posts that a connection reads, as its price list says.

Prices of August 2026: each post $0.005, or $0.001 if the app belongs to the X account whose
bookmarks it reads. X charges a post once per UTC day. The list also has $0.010 per user; posts
come with their authors, and X does not say whether it charges for these.
"""

from decimal import Decimal
from typing import Final

from msgspec import Struct

PER_POST: Final = Decimal("0.005")
PER_OWNED_POST: Final = Decimal("0.001")
PER_USER: Final = Decimal("0.010")
# X does not say how many posts are saved. With an empty library, the estimate is for so many.
_EXAMPLE: Final = 1_000


class Estimate(Struct, frozen=True):
    posts: int
    # In dollars.
    cost: str
    owned_cost: str
    # In addition, if X charges for authors and each post has another one.
    authors_cost: str


def of_posts(posts: int) -> Estimate:
    prices = (PER_POST, PER_OWNED_POST, PER_USER)
    return Estimate(posts, *(_dollars(posts * price) for price in prices))


def of_first_run(posts_in_library: int) -> Estimate:
    """The list at X may have as many posts as the library, if they came from there."""
    return of_posts(posts_in_library or _EXAMPLE)


def _dollars(amount: Decimal) -> str:
    return f"${amount:,.2f}"
