"""What the fake X holds: posts, and accounts with bookmarks and folders. Everything is invented."""

import itertools
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

# X's clock starts here: the first 41 bits of a post's id are milliseconds since then.
_X_EPOCH_MS: Final = 1_288_834_974_657
_MINUTE_MS: Final = 60_000
_YEAR_MS: Final = 365 * 24 * 60 * _MINUTE_MS
_AUTHORS: Final = (
    ("501", "ada_b", "Ada B."),
    ("502", "tomasz", "Tomasz K."),
    ("503", "mi", "美登里"),
)


class Form(StrEnum):
    """The forms in which X shows a post of a list."""

    PLAIN = "plain"
    # In a TweetWithVisibilityResults.
    WRAPPED = "wrapped"
    # With a text that is longer than 280 characters.
    LONG = "long"
    ARTICLE = "article"
    # Deleted, or of a suspended author: the list has only its id.
    GONE = "gone"


@dataclass(frozen=True)
class Author:
    id: str
    username: str
    name: str


@dataclass(frozen=True)
class Post:
    id: str
    text: str
    author: Author
    posted_at_ms: int
    form: Form = Form.PLAIN


@dataclass
class Folder:
    id: str
    name: str
    post_ids: list[str] = field(default_factory=list)


@dataclass
class XAccount:
    """A person on X. `saved` has the sort index of each bookmark."""

    id: str
    username: str
    saved: dict[str, int] = field(default_factory=dict)
    folders: list[Folder] = field(default_factory=list)

    def in_order(self) -> list[str]:
        """The ids of the bookmarks, the latest first."""
        return sorted(self.saved, key=lambda post_id: -self.saved[post_id])

    def save(self, post_id: str) -> None:
        highest = max(self.saved.values(), default=0)
        self.saved[post_id] = max(int(time.time() * 1000) << 20, highest + 1)

    def remove(self, post_id: str) -> None:
        self.saved.pop(post_id, None)
        for folder in self.folders:
            if post_id in folder.post_ids:
                folder.post_ids.remove(post_id)


_numbers = itertools.count(1)


def new_post(form: Form = Form.PLAIN) -> Post:
    """A post of a year ago, whose number no other post has."""
    number = next(_numbers)
    posted_at_ms = int(time.time() * 1000) - _YEAR_MS + number
    text = f"Post {number} about owls & bowers."
    if form is Form.LONG:
        text = f"{text} {'A long text goes on. ' * 20}The end of {number}."
    return Post(
        id=str((posted_at_ms - _X_EPOCH_MS << 22) + number),
        text=text,
        author=Author(*_AUTHORS[number % len(_AUTHORS)]),
        posted_at_ms=posted_at_ms,
        form=form,
    )


@dataclass
class World:
    """All posts and accounts, and the account that the browser is signed in to."""

    posts: dict[str, Post] = field(default_factory=dict)
    # The posts of the home timeline, of profiles and of searches.
    feed: list[str] = field(default_factory=list)
    viewer: XAccount = field(default_factory=lambda: XAccount("7000", "nobody"))

    def add_post(self, form: Form = Form.PLAIN) -> Post:
        post = new_post(form)
        self.posts[post.id] = post
        return post

    def sign_in(self, saved: int = 0) -> XAccount:
        """Signs in another account, which saved so many posts, one per minute."""
        number = next(_numbers)
        self.viewer = XAccount(str(7_000_000 + number), f"viewer_{number}")
        now_ms = int(time.time() * 1000)
        forms = itertools.cycle([*[Form.PLAIN] * 7, Form.WRAPPED, *[Form.PLAIN] * 6, Form.LONG])
        for minutes in range(1, saved + 1):
            post = self.add_post(next(forms))
            self.viewer.saved[post.id] = now_ms - minutes * _MINUTE_MS << 20
        return self.viewer

    def add_folder(self, name: str, post_ids: list[str]) -> Folder:
        folder = Folder(str(1_900_000_000_000_000_000 + next(_numbers)), name, post_ids)
        self.viewer.folders.append(folder)
        return folder
