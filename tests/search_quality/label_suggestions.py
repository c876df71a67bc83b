"""Leave one out: which labels are suggested for a post that has just lost its own.

Posts of our own writing in `suggested`: those of each label, and posts that none of them fits.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bowerbird.library.labels.suggestions import LabelSuggestions, SuggestedLabel
from bowerbird.library.vectors.semantic_search import SemanticSearch
from tests.support import make, writing
from tests.support.service import Member

_FOLDER: Final = Path(__file__).parent / "suggested"
# Each writes about anything, so they tell nothing about labels.
_AUTHORS: Final = (
    *("Amira", "Bastian", "Chloe", "Dov", "Elif", "Farid", "Greta", "Hugo", "Ivana", "Jonas"),
    *("Katya", "Lorenz", "Mina", "Nuno", "Olga", "Pavel", "Quinn", "Rosa", "Sven", "Tariq"),
    *("Ulla", "Viktor", "Wanda", "Ximena", "Yusuf"),
)


class Measured(NamedTuple):
    """The suggestions for each post, by its text: for those with a label, and those without."""

    labelled: Mapping[str, tuple[str, list[SuggestedLabel]]]
    without: Mapping[str, list[SuggestedLabel]]

    @property
    def right(self) -> float:
        """How many posts have their own label among the suggestions."""
        hits = [label in {s.label_name for s in found} for label, found in self.labelled.values()]
        return sum(hits) / len(hits)

    @property
    def wrong(self) -> float:
        """For how many posts that no label fits one is suggested."""
        return sum(map(bool, self.without.values())) / len(self.without)

    @property
    def missed(self) -> list[str]:
        labelled = self.labelled.items()
        return [
            text for text, (label, found) in labelled if label not in {s.label_name for s in found}
        ]


async def saved(member: Member, *names: str) -> dict[str, tuple[str, str]]:
    """Saves the posts of files. The label and the text of each by its id; "" without a label."""
    texts: list[tuple[str, str]] = []
    without: list[str] = []
    elsewhere: list[tuple[str, str]] = []
    for name in names:
        content = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
        texts += [(label, text) for label, each in content["labels"].items() for text in each]
        without += content["none"]["posts"]
        elsewhere += [
            (label, text) for label, each in content["elsewhere"].items() for text in each
        ]
    # A post that no label of its file fits, but one of the other file.
    labels = {label for label, _ in texts}
    texts += [("", text) for text in without]
    texts += [("", text) for label, text in elsewhere if label not in labels]
    posts = [
        make.post(text=text, **_author(place), tags=[label] if label else None)
        for place, (label, text) in enumerate(texts)
    ]
    await member.save_all(posts)
    await member.embed()
    return {post["post_id"]: one for post, one in zip(posts, texts, strict=True)}


async def measured(
    member: Member, posts: Mapping[str, tuple[str, str]], meaning: SemanticSearch
) -> Measured:
    suggestions = LabelSuggestions(member.database, meaning)
    labelled, without = {}, {}
    for post_id, (label, text) in posts.items():
        if label:
            await _label(member, "remove_label", post_id, label)
            # Removing it from a named post says that it is wrong for this one, which is not meant.
            await member.database.write(
                lambda transaction: transaction.run("UPDATE bookmark SET refused_labels = ''", {})
            )
        found = await suggestions.of_post(await member.account(), post_id)
        if label:
            labelled[text] = (label, found)
            await _label(member, "add_label", post_id, label)
        else:
            without[text] = found
    return Measured(labelled, without)


async def _label(member: Member, action: str, post_id: str, label: str) -> None:
    body = {"action": action, "tweet_ids": [post_id], "label_name": label}
    assert (await writing.send(member, "POST", "/v1/bookmarks/changes", body)).status_code == 200


def _author(place: int) -> dict[str, str]:
    name = _AUTHORS[place * 7 % len(_AUTHORS)]
    return {"author": name.lower(), "name": name}
