"""Changes of many posts: an undo gives back what they changed, and nothing else."""

import random
from collections import defaultdict

import pytest

from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing import trash_batch
from bowerbird.model.bulk import BulkRow, BulkState
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Readable
from tests.support import make, writing
from tests.support.imports import dump
from tests.support.posts.bulk import change, change_all, changes, finish, undo
from tests.support.service import Member

pytestmark = pytest.mark.anyio

IDS = [str(number) for number in range(1, 13)]
# Library rows change their numbers when posts go through the trash.
NUMBERED = ("bookmark", "bookmark_label", "content", "keyword")


async def fill(member: Member, ids: list[str] = IDS) -> None:
    tags = {0: ["Birds"], 1: [], 2: ["Birds", "Blue"]}
    await member.save_all(
        [
            {
                **make.post(post_id=one, text=f"post {one}", tags=tags[index % 3]),
                "is_read": index % 2 == 0,
                "is_archived": index % 4 == 0,
            }
            for index, one in enumerate(ids)
        ]
    )


async def state(member: Member) -> dict[str, tuple[bool, bool, frozenset[str]]]:
    """The flags and labels of each post in the library."""
    listed = [
        await member.listed(is_unread_only=False, is_archived_only=is_archived, limit=len(IDS))
        for is_archived in (False, True)
    ]
    return {
        post["post_id"]: (post["is_read"], post["is_archived"], frozenset(post["tags"] or ()))
        for answer in listed
        for post in answer["data"]
    }


@pytest.mark.both
@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("read", None),
        ("unread", None),
        ("archive", None),
        ("unarchive", None),
        ("add_label", "Birds"),
        ("add_label", "new"),
        ("remove_label", "blue"),
    ],
)
async def test_an_undo_restores_the_library(alice: Member, action: str, label: str | None) -> None:
    await fill(alice)
    before = await dump(alice)

    done = await change_all(alice, action, [*IDS, "404"], label)
    assert done.state is BulkState.DONE
    assert done.matched == len(IDS) + 1
    assert 0 < done.changed <= len(IDS)
    assert await dump(alice) != before
    undone = await undo(alice, done)

    assert (undone.state, undone.restored) == (BulkState.UNDONE, done.changed)
    assert await dump(alice) == before
    assert await writing.recount(alice) == []


@pytest.mark.parametrize("action", ["trash", "restore"])
async def test_an_undo_moves_posts_out_of_the_trash_or_back(alice: Member, action: str) -> None:
    await fill(alice)
    for one in IDS[:5]:
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{one}")
    alice.clock.now += 60_000_000
    before, shown = await dump(alice), await state(alice)

    done = await change_all(alice, action, IDS)
    assert done.changed == (len(IDS) - 5 if action == "trash" else 5)
    undone = await undo(alice, done)

    assert undone.restored == done.changed
    assert await state(alice) == shown
    after = await dump(alice)
    assert {name: len(rows) for name, rows in after.items()} == {
        name: len(rows) for name, rows in before.items()
    }
    # Posts that were back for a moment are in the trash with the time of that change.
    for name in set(before) - {*NUMBERED, *(("trash",) if action == "restore" else ())}:
        assert after[name] == before[name], name


async def test_a_label_comes_back_with_name_colour_and_posts_in_the_trash(alice: Member) -> None:
    await fill(alice)
    birds = await writing.label_id(alice, "Birds")
    await writing.send(alice, "PATCH", f"/v1/labels/{birds}", {"metadata": {"color": "#123456"}})
    before, shown = await dump(alice), await state(alice)

    done = await changes(alice).run_label(await alice.account(), birds)
    assert (done.state, done.label_name, done.changed) == (BulkState.DONE, "Birds", 8)
    assert "Birds" not in await writing.labels(alice)
    await undo(alice, done)
    assert await dump(alice) == before

    again = await changes(alice).run_label(await alice.account(), birds)
    for one in IDS[:4]:
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{one}")
    assert (await undo(alice, again)).restored == again.changed
    for one in IDS[:4]:
        await writing.send(alice, "POST", f"/v1/bookmarks/{one}/restore")
    assert await state(alice) == shown


async def test_merged_labels_are_separated_again(alice: Member) -> None:
    await fill(alice)
    blue, birds = [await writing.label_id(alice, name) for name in ("Blue", "Birds")]
    await writing.add(alice, "Blue", IDS[1])
    before = await dump(alice)

    done = await changes(alice).run_label(await alice.account(), blue, birds)
    assert await writing.labels(alice) == {"Birds": 9}
    undone = await undo(alice, done)

    assert undone.restored == done.changed == 5
    assert await dump(alice) == before


async def _favourite(member: Member) -> str:
    accounts = AccountStore(member.database)
    return (await accounts.reading(Readable(member.database, member.account_id))).favourite


@pytest.mark.both
async def test_the_favourite_label_follows_renames_and_merges_and_their_undo(alice: Member) -> None:
    await alice.save_all([make.post(tags=["Favourite"]), make.post(tags=["Best"])])
    first, best = [await writing.label_id(alice, name) for name in ("Favourite", "Best")]
    path = f"/v1/labels/{first}"

    await writing.send(alice, "PATCH", f"/v1/labels/{best}", {"label_name": "Finest"})
    assert await _favourite(alice) == "favourite"
    await writing.send(alice, "PATCH", path, {"label_name": "Dear"})
    assert await _favourite(alice) == "Dear"
    merged = await changes(alice).run_label(await alice.account(), first, best)
    assert await _favourite(alice) == "Finest"
    await undo(alice, merged)
    assert await _favourite(alice) == "Dear"
    # It was not the favourite one: the favourite stays.
    merged = await changes(alice).run_label(await alice.account(), best, first)
    await undo(alice, merged)
    assert await _favourite(alice) == "Dear"


async def test_a_label_that_was_created_again_gets_the_posts_back(alice: Member) -> None:
    await fill(alice)
    done = await changes(alice).run_label(
        await alice.account(), await writing.label_id(alice, "Birds")
    )
    await writing.add(alice, "birds", IDS[1])

    await undo(alice, done)

    assert await writing.labels(alice) == {"birds": 9, "Blue": 4}
    assert await writing.recount(alice) == []


async def test_a_label_that_was_renamed_leaves_the_posts_in_the_trash(alice: Member) -> None:
    await fill(alice)
    done = await change_all(alice, "add_label", IDS, "new")
    trashed = await change_all(alice, "trash", IDS[:4])
    path = f"/v1/labels/{await writing.label_id(alice, 'new')}"
    await writing.send(alice, "PATCH", path, {"label_name": "newer"})

    assert (await undo(alice, done)).restored == len(IDS)
    await undo(alice, trashed)

    assert await writing.labels(alice) == {"Birds": 8, "Blue": 4, "newer": 0}


class Model:
    """What the library must contain, and which change was the last to set each field."""

    def __init__(self, library: dict[str, tuple[bool, bool, frozenset[str]]]) -> None:
        self.posts = {one: self._fields(*values) for one, values in library.items()}
        self.trashed: set[str] = set()
        # The changes that have set a field, without another write after them; the last one counts.
        self.setters: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.effects: dict[int, list[tuple[str, str, bool]]] = {}

    @staticmethod
    def _fields(is_read: bool, is_archived: bool, tags: frozenset[str]) -> dict[str, bool]:  # noqa: FBT001 - a record
        return {"read": is_read, "archived": is_archived, **dict.fromkeys(tags, True)}

    def value(self, post: str, field: str) -> bool:
        return post in self.trashed if field == "trash" else self.posts[post].get(field, False)

    def set(self, number: int | None, post: str, field: str, *, value: bool) -> None:
        if field != "trash" and post in self.trashed:
            return
        before = self.value(post, field)
        if before == value:
            return
        self._put(post, field, value=value)
        if number is None:
            self.setters[post, field] = []
        else:
            self.setters[post, field].append(number)
            self.effects.setdefault(number, []).append((post, field, before))

    def undo(self, number: int) -> None:
        for post, field, before in self.effects.pop(number, []):
            setters = self.setters[post, field]
            if number not in setters:
                continue
            is_last = setters[-1] == number
            setters.remove(number)
            if is_last:
                # A post in the trash gets it back there.
                self._put(post, field, value=before)

    def _put(self, post: str, field: str, *, value: bool) -> None:
        if field == "trash":
            (self.trashed.add if value else self.trashed.discard)(post)
        else:
            self.posts[post][field] = value

    @property
    def library(self) -> dict[str, tuple[bool, bool, frozenset[str]]]:
        return {
            one: (
                fields.get("read", False),
                fields.get("archived", False),
                frozenset(n for n, v in fields.items() if v and n not in ("read", "archived")),
            )
            for one, fields in self.posts.items()
            if one not in self.trashed
        }


ACTIONS: dict[str, tuple[str, bool]] = {
    "read": ("read", True),
    "unread": ("read", False),
    "archive": ("archived", True),
    "unarchive": ("archived", False),
    "trash": ("trash", True),
    "restore": ("trash", False),
    "add_label": ("", True),
    "remove_label": ("", False),
}


async def someone_changes(member: Member, model: Model, chance: random.Random) -> None:
    """Another client changes one post."""
    one = chance.choice(IDS)
    kind = chance.choice(["read", "archived", "Birds", "Blue", "trash", "saved"])
    value = chance.random() < 0.5
    if kind in ("read", "archived"):
        await writing.send(member, "PATCH", f"/v1/bookmarks/{one}", {f"is_{kind}": value})
    elif kind == "trash":
        path = f"/v1/bookmarks/{one}" if value else f"/v1/bookmarks/{one}/restore"
        await writing.send(member, "DELETE" if value else "POST", path)
    elif kind == "saved":
        if one in model.trashed:
            return
        kind = "read"
        await member.save_all([{**make.post(post_id=one, text=f"post {one}"), "is_read": value}])
    else:
        await (writing.add if value else writing.remove)(member, kind, one)
    model.set(None, one, kind, value=value)


@pytest.mark.both
@pytest.mark.parametrize("seed", range(2))
async def test_changes_of_others_and_undos_in_any_order_fit_a_model(
    alice: Member, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "POSTS_PER_TURN", 3)
    monkeypatch.setattr(trash_batch, "TRASHED_PER_TURN", 2)
    chance = random.Random(seed)  # noqa: S311 - repeatable
    await fill(alice)
    await writing.add(alice, "Blue", *IDS[:1])
    await writing.add(alice, "Birds", *IDS[:1])
    model = Model(await state(alice))
    made: list[BulkRow] = []
    for step in range(40):
        kind = chance.choice(["change", "change", "others", "others", "undo"])
        if kind == "others":
            await someone_changes(alice, model, chance)
        elif kind == "undo" and made:
            row = made.pop(chance.randrange(len(made)))
            await undo(alice, row)
            model.undo(row.number)
        else:
            action = chance.choice(list(ACTIONS))
            field, value = ACTIONS[action]
            label = None if field else chance.choice(["Birds", "Blue"])
            chosen = sorted(chance.sample(IDS, chance.randint(1, 9)), key=int)
            row = await change_all(alice, action, chosen, label)
            made.append(row)
            for one in chosen:
                model.set(row.number, one, field or str(label), value=value)
        assert await state(alice) == model.library, (step, kind)
    for row in reversed(made):
        await undo(alice, row)
        model.undo(row.number)
    assert await state(alice) == model.library
    assert await writing.recount(alice) == []


async def test_a_change_that_is_undone_half_way_gives_back_the_half(alice: Member) -> None:
    ids = [str(number) for number in range(1, 301)]
    await fill(alice, ids)
    before = await dump(alice)

    started = await change(alice, "read", ids)
    assert (started.state, started.done) == (BulkState.WORKING, turns.POSTS_PER_TURN)
    undone = await undo(alice, started)

    assert undone.restored == started.changed == turns.POSTS_PER_TURN // 2
    assert await dump(alice) == before

    again = await change(alice, "archive", ids)
    await alice.save(post_id="900")
    done = await finish(alice, again)

    # A post that arrives later is not touched.
    assert done.done == done.matched == 300
    assert (await alice.get("/v1/bookmarks/900")).json()["data"]["is_archived"] is False
