"""22 wishes as people say them, and what each may cost: calls of tools, and tokens.

Tokens are characters / 4 of the names and arguments of calls and of the texts of their results:
what a model writes and reads. Both are a maximum for a model that makes no mistake.
"""

from typing import Any, Final

from msgspec import Struct

from endurance.agent_trial.library import post_id


class Wish(Struct, frozen=True, kw_only=True):
    name: str
    text: str
    calls: int
    tokens: int
    # Calls that were made before the wish. {change_id} in its text is that of the last one.
    before: tuple[tuple[str, dict[str, Any]], ...] = ()
    # Words of which the reply must have one.
    says: tuple[str, ...] = ()
    # A call after which the wish is fulfilled if its result has these fields.
    then: tuple[str, dict[str, Any], dict[str, Any]] | None = None


_ALL: Final = {"is_unread_only": False, "hide_archived": False}


def _counted(number: int, **filters: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return "count_bookmarks", {**_ALL, **filters}, {"count": number}


WISHES: Final = (
    Wish(
        name="archive by date",
        text="Archive everything that I saved before 2025.",
        calls=2,
        tokens=400,
        then=_counted(70, query="is:archived"),
    ),
    Wish(
        name="merge labels",
        text="I have the labels database and databases. Keep only databases.",
        calls=1,
        tokens=200,
        then=_counted(0, label="database"),
    ),
    Wish(
        name="duplicates",
        text="Which posts have I saved twice? Delete the older one of each pair.",
        calls=2,
        tokens=1_500,
        then=_counted(127),
    ),
    Wish(
        name="gone posts",
        text="Which of my saved posts are gone from their network?",
        calls=1,
        tokens=500,
        says=("4", "four", "Four"),
    ),
    Wish(
        name="undo labels by ids",
        text="Take back the change {change_id}.",
        calls=1,
        tokens=150,
        before=(("add_label", {"post_ids": [post_id(1), post_id(2)], "label": "mistake"}),),
        then=_counted(0, label="mistake"),
    ),
    Wish(
        name="week's summary",
        text="Summarise what I saved in the last seven days.",
        calls=2,
        tokens=3_500,
    ),
    Wish(
        name="question over 50 posts",
        text="What do my posts say about databases? Look at 50 of them.",
        calls=1,
        tokens=3_600,
    ),
    Wish(name="what is new", text="Show me ten new posts.", calls=1, tokens=1_100),
    Wish(
        name="number of unread posts",
        text="How many posts are unread?",
        calls=1,
        tokens=80,
        says=("40",),
    ),
    Wish(
        name="find a post",
        text="Find the three best posts about sourdough.",
        calls=1,
        tokens=500,
    ),
    Wish(
        name="read a post",
        text="Show me the latest post about bottle caps in full.",
        calls=2,
        tokens=900,
        says=("41",),
    ),
    Wish(
        name="who most",
        text="Whose posts do I save most?",
        calls=1,
        tokens=200,
        says=("nest_notes", "benfromdb", "marta_codes", "the_latency_guy", "simonetta_v"),
    ),
    Wish(
        name="save a link",
        text="Save https://x.com/ada/status/20 with the label history.",
        calls=1,
        tokens=120,
        then=_counted(1, label="history"),
    ),
    Wish(
        name="label an author",
        text="Give all posts of benfromdb the label ben.",
        calls=2,
        tokens=400,
        then=_counted(26, label="ben"),
    ),
    Wish(
        name="label what has no label",
        text="Label my five latest posts without a label: nature or technology.",
        calls=2,
        tokens=1_000,
    ),
    Wish(
        name="rename a label",
        text="Rename the label 'to try' to 'experiments'.",
        calls=1,
        tokens=100,
        then=_counted(14, label="experiments"),
    ),
    Wish(
        name="create a view",
        text="Make a Smart View of unread posts about sqlite.",
        calls=1,
        tokens=200,
    ),
    Wish(
        name="export",
        text="Give me all posts with the label databases as CSV.",
        calls=2,
        tokens=400,
    ),
    Wish(
        name="delete an author",
        text="Delete all posts of simonetta_v.",
        calls=2,
        tokens=400,
        then=_counted(0, author="simonetta_v"),
    ),
    Wish(
        name="restore",
        text="Bring back the posts of simonetta_v that I have deleted.",
        calls=2,
        tokens=400,
        before=(("delete_bookmarks", {"filter": {"author": "simonetta_v"}, "expected_count": 29}),),
        then=_counted(29, author="simonetta_v"),
    ),
    Wish(
        name="write a note",
        text="Note on my latest post about PostgreSQL: try this on Monday.",
        calls=2,
        tokens=300,
        then=_counted(1, has_note=True),
    ),
    Wish(
        name="most liked",
        text="Which three of my posts have the most likes, and how many?",
        calls=1,
        tokens=500,
        says=("9000", "9,000"),
    ),
)
