"""POST /v1/labels/add, /remove and /batch, and how much their answers repeat."""

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.model.labels import clean_name
from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.engines.watched_writes import WatchedWrites
from tests.support.service import Member
from tests.support.writing import operation

pytestmark = pytest.mark.anyio


async def test_a_new_label_is_created_and_attached(alice: Member) -> None:
    for post_id in ("1", "2", "3"):
        await alice.save(post_id=post_id)

    response = await writing.add(alice, "x", "2", "1")

    assert response.status_code == 200
    assert writing.without_change(response) == {
        "status": True,
        "data": [{"post_id": "2", "tags": ["x"]}, {"post_id": "1", "tags": ["x"]}],
        "meta": {"message": "Labelled 2 posts.", "affected": 2, "not_found": []},
    }
    assert await writing.labels(alice) == {"x": 2}


async def test_unknown_posts_are_listed_and_the_others_labelled(alice: Member) -> None:
    await alice.save(post_id="1")
    await alice.save(post_id="2", tags=["x"])

    response = await writing.add(
        alice, "x", "9", "1", "2", "1", "abc", "\u00bd", "01", " 1", "1 ", "9"
    )

    assert response.status_code == 200
    assert response.json()["meta"]["affected"] == 1
    assert response.json()["meta"]["not_found"] == ["9", "abc", "\u00bd", "01", " 1", "1 "]


async def test_a_request_with_only_unknown_posts_is_404_and_creates_no_label(alice: Member) -> None:
    await alice.save(post_id="1")
    before = await writing.version(alice)

    for post_ids in (["9"], ["9", "8"], ["abc"], ["9" * 500]):
        response = await writing.add(alice, "new", *post_ids)
        assert writing.refused(response) == (404, "NOT_FOUND")

    assert await writing.labels(alice) == {}
    assert await writing.version(alice) == before


@pytest.mark.parametrize(
    ("post_ids", "named"),
    [
        ("9", "'9'"),
        ("98", "'9' or '8'"),
        ("987", "'9', '8' or '7'"),
        ("98765", "'9', '8', '7' or 2 more"),
    ],
)
async def test_the_sentence_about_unknown_posts_names_three(
    alice: Member, post_ids: str, named: str
) -> None:
    refused = await writing.add(alice, "new", *post_ids)

    assert refused.json()["error"] == f"No post {named} on this account."


async def test_a_label_can_be_given_by_id(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    await alice.save(post_id="2")
    label_id = await writing.label_id(alice, "x")

    body = {"tweet_ids": ["2"], "label_id": label_id}
    response = await writing.send(alice, "POST", "/v1/labels/add", body)

    assert response.json()["data"] == [{"post_id": "2", "tags": ["x"]}]
    removed = await writing.send(alice, "POST", "/v1/labels/remove", body)
    assert removed.json()["data"] == [{"post_id": "2", "tags": None}]


async def test_an_unknown_label_id_is_404(alice: Member) -> None:
    await alice.save(post_id="1")

    for label_id in ("4711", "x", "-1", "\u00bd", ""):
        body = {"tweet_ids": ["1"], "label_id": label_id}
        response = await writing.send(alice, "POST", "/v1/labels/add", body)
        assert writing.refused(response) == (404, "NOT_FOUND")


async def test_label_names_are_trimmed_and_normalized(alice: Member) -> None:
    names = {
        "  x  ": "x",
        "to \t\n  read": "to read",
        "e\u0301": "\u00e9",
        "\u3000x\u00a0y": "x y",
        "  " + "x" * 100 + "  ": "x" * 100,
        "\U0001f600" * 100: "\U0001f600" * 100,
        "<b>'\"%_;--": "<b>'\"%_;--",
        "\U0001f468\u200d\U0001f469": "\U0001f468\u200d\U0001f469",
    }

    for number, (written, kept) in enumerate(names.items()):
        await alice.save(post_id=str(number))
        response = await writing.add(alice, written, str(number))
        assert response.json()["data"] == [{"post_id": str(number), "tags": [kept]}]
        assert await alice.ids(tag=written) == [str(number)]
    assert await writing.labels(alice) == dict.fromkeys(names.values(), 1)


ONE_LABEL = (
    ("To Read", "to read", "TO  READ"),
    ("Stra\u00dfe", "STRASSE", "strasse", "Stra\u1e9ee"),
    ("\u0130stanbul", "i\u0307stanbul"),
    ("\u00e9", "E\u0301", "e\u0301", "\u00c9"),
    ("\u03a3\u03c3\u03c2", "\u03c3\u03c3\u03c3"),
    ("K", "k", "\u212a"),
    ("\ufb03", "FFI"),
)


async def test_names_that_fold_alike_share_a_label_with_the_first_spelling(alice: Member) -> None:
    for names in ONE_LABEL:
        await alice.save_all([{"post_id": str(n), "tweet_details": {}} for n in range(len(names))])
        for number, name in enumerate(names):
            await writing.add(alice, name, str(number))
        for number, name in enumerate(names):
            assert names[0] in (await writing.tags(alice, str(number)) or ())
            assert len(await alice.ids(tag=name)) == len(names)

    assert await writing.labels(alice) == {names[0]: len(names) for names in ONE_LABEL}


async def test_names_that_fold_differently_are_separate_labels(alice: Member) -> None:
    await alice.save(post_id="1")

    for name in ("\u0130", "i", "\u0131", "e", "\u00e9", "x", "x\u200b"):
        await writing.add(alice, name, "1")

    assert len(await writing.labels(alice)) == 7


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=110))
async def test_any_text_is_one_label_or_is_refused(alice: Member, name: str) -> None:
    await alice.save_all([{"post_id": "1", "tweet_details": {}, "tags": []}])

    responses = [
        await writing.add(alice, unicodedata.normalize(form, f" {name}\t"), "1")
        for form in ("NFC", "NFD")
    ]

    if clean_name(name) is None or "\x00" in name:
        assert [response.status_code for response in responses] == [400, 400]
        return
    assert [response.json()["meta"]["affected"] for response in responses] == [1, 0]
    assert len(await writing.tags(alice, "1") or ()) == 1
    assert await alice.ids(tag=name) == ["1"]
    assert await writing.recount(alice) == []


BAD_NAMES: list[Any] = [
    *("", "   ", "\n", "x" * 101, "x" * 5_000, "a\x07b", "\x7f", "a\x9fb", "\x1b[1m"),
    # Python treats these control characters as whitespace.
    *("a\x1fb", "a\x85b", "\x1c"),
    # Nobody can see these.
    *("\u202e", "\u200b\u200d", "\u3164", " \u2060 ", "\ufe0f"),
    *(None, 7, 1.5, True, ["x"], {"x": 1}),
]

WRONG: list[tuple[Any, str]] = [
    ({"tweet_ids": ["1"]}, "label_name: is required, unless label_id is sent."),
    ({"label_name": "x"}, "tweet_ids: either tweet_ids or filter is required"),
    ({"label_name": "x", "tweet_ids": []}, "tweet_ids: must be an array of 1 to 1,000 items"),
    ({"label_name": "x", "tweet_ids": ["1"] * 1_001}, "tweet_ids: must be an array of 1 to 1,000"),
    ({"label_name": "x", "tweet_ids": ["1", 10**30]}, "tweet_ids[1]: must be a string: a JSON"),
    ({"label_name": "x", "tweet_ids": ["1", ""]}, "tweet_ids[1]: must be a non-empty string, got"),
    ({"label_name": "x", "tweet_ids": ["1", None]}, "tweet_ids[1]: must be a non-empty string"),
]


async def test_an_invalid_body_is_refused_and_its_field_named(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])

    for path in ("/v1/labels/add", "/v1/labels/remove"):
        for body, named in WRONG:
            response = await writing.send(alice, "POST", path, body)
            assert writing.refused(response) == (400, "INVALID_REQUEST")
            assert writing.sentence(response).startswith(named), writing.sentence(response)
    assert await writing.labels(alice) == {"x": 1}


async def test_an_invalid_label_name_is_refused(alice: Member) -> None:
    await alice.save(post_id="1")

    for name in BAD_NAMES:
        response = await writing.add(alice, name, "1")
        assert writing.refused(response) == (400, "INVALID_REQUEST"), name
        assert writing.sentence(response).startswith("label_name: ")
        assert len(writing.sentence(response)) < 400
    assert await writing.labels(alice) == {}


async def test_a_label_is_removed_from_posts(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x", "y"])
    await alice.save(post_id="2", tags=["x"])

    response = await writing.remove(alice, "X", "2", "1")

    assert response.status_code == 200
    assert writing.without_change(response) == {
        "status": True,
        "data": [{"post_id": "2", "tags": None}, {"post_id": "1", "tags": ["y"]}],
        "meta": {"message": "Unlabelled 2 posts.", "affected": 2, "not_found": []},
    }
    assert await writing.labels(alice) == {"x": 0, "y": 1}


async def test_a_partly_failed_batch_is_207_and_counts_the_failures(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await writing.batch(
        alice,
        {"op": "add", "tweet_ids": ["1"]},
        operation("add", "x", "1"),
        operation("remove", "nothing", "1"),
    )

    body = response.json()
    assert response.status_code == 207
    assert body["status"] is True
    assert body["meta"]["message"] == "2 of 3 operations failed."
    assert (body["data"]["succeeded"], body["data"]["failed"]) == (1, 2)
    assert [result["index"] for result in body["data"]["results"]] == [0, 1, 2]
    assert [result["ok"] for result in body["data"]["results"]] == [False, True, False]
    assert body["data"]["results"][0] == {
        "index": 0,
        "op": "add",
        "ok": False,
        "error": {"code": "INVALID_REQUEST", "message": "operations[0].label_name: is required."},
    }
    assert body["data"]["results"][2]["error"] == {
        "code": "NOT_FOUND",
        "message": "operations[2]: No label 'nothing' on this account.",
    }
    assert await writing.labels(alice) == {"x": 1}


MALFORMED: list[tuple[Any, str, str]] = [
    (None, "unknown", "operations[0]: "),
    ({}, "unknown", "operations[0].op: "),
    ({"op": 7, "tweet_ids": ["1"], "label_name": "x"}, "unknown", "operations[0].op: "),
    (operation("toggle", "x", "1"), "toggle", "operations[0].op: "),
    (operation("ADD", "x", "1"), "ADD", "operations[0].op: "),
    ({"op": "add"}, "add", "operations[0].tweet_ids: "),
    (operation("add", "x"), "add", "operations[0].tweet_ids: "),
    (operation("add", "x", *["1"] * 1_001), "add", "operations[0].tweet_ids: "),
    (operation("remove", "x", "1", 1), "remove", "operations[0].tweet_ids[1]: "),
    (operation("add", "x", ""), "add", "operations[0].tweet_ids[0]: "),
    (operation("add", 7, "1"), "add", "operations[0].label_name: "),
    (operation("remove", " ", "1"), "remove", "operations[0].label_name: "),
]


async def test_a_malformed_operation_fails_alone(alice: Member) -> None:
    await alice.save(post_id="1")

    for wrong, op, named in MALFORMED:
        response = await writing.batch(alice, wrong, operation("add", "good", "1"))
        failed, good = response.json()["data"]["results"]
        assert response.status_code == 207
        assert good["ok"] is True
        assert failed.keys() == {"index", "op", "ok", "error"}
        assert (failed["index"], failed["op"], failed["ok"]) == (0, op, False)
        assert failed["error"]["code"] == "INVALID_REQUEST"
        assert failed["error"]["message"].startswith(named), failed["error"]["message"]
    assert await writing.labels(alice) == {"good": 1}


async def a_thousand_changes(member: Member) -> list[dict[str, Any]]:
    post_ids = [str(number) for number in range(1, 101)]
    await member.save_all([{"post_id": one, "tweet_details": {}} for one in post_ids])
    return [
        operation("remove" if n % 2 else "add", f"label {n // 2}", *post_ids[n : n + 20])
        for n in range(50)
    ]


async def test_a_thousand_changes_take_one_transaction(alice: Member) -> None:
    operations = await a_thousand_changes(alice)
    watched = WatchedWrites(alice.database)

    response = await writing.batch(alice, *operations)

    assert response.json()["data"]["succeeded"] == 50
    assert len(watched.rows) == 1
    assert await writing.labels(alice) == {f"label {n}": 1 for n in sorted(range(25), key=str)}
    assert await writing.recount(alice) == []


NAMES = ("a", "A", "b", "c")

OPERATIONS = st.lists(
    st.builds(
        lambda op, name, ids: operation(op, name, *ids),
        st.sampled_from(["add", "remove", "nothing"]),
        st.sampled_from([*NAMES, ""]),
        st.lists(st.sampled_from(["1", "2", "3", "9"]), max_size=4),
    ),
    min_size=1,
    max_size=12,
)


def _expected(tags: dict[str, set[str]], known: set[str], asked: dict[str, Any]) -> bool:
    """Apply the operation to `tags`; return False if the service must refuse it."""
    name = asked["label_name"].lower()
    ids = {post_id for post_id in asked["tweet_ids"] if post_id in tags}
    if asked["op"] not in ("add", "remove") or not name or not ids:
        return False
    if asked["op"] == "remove" and name not in known:
        return False
    known.add(name)
    for post_id in ids:
        tags[post_id] = tags[post_id] | {name} if asked["op"] == "add" else tags[post_id] - {name}
    return True


@pytest.mark.both
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(OPERATIONS, min_size=1, max_size=3))
async def test_a_batch_has_the_same_effect_as_single_operations(
    alice: Member, batches: list[list[dict[str, Any]]]
) -> None:
    tags: dict[str, set[str]] = {"1": set(), "2": set(), "3": set()}
    await alice.save_all([{"post_id": p, "tweet_details": {}, "tags": []} for p in tags])
    known = {name.lower() for name in await writing.labels(alice)}

    for operations in batches:
        response = await writing.batch(alice, *operations)
        expected = [_expected(tags, known, asked) for asked in operations]
        assert [result["ok"] for result in response.json()["data"]["results"]] == expected

    for post_id, names in tags.items():
        shown = await writing.tags(alice, post_id)
        assert {name.lower() for name in shown or ()} == names
    assert await writing.recount(alice) == []


async def _saved(member: Member, count: int, **fields: Any) -> list[str]:
    records = [make.post(post_id=str(number), **fields) for number in range(1, count + 1)]
    await member.save_all(records)
    return [str(record["post_id"]) for record in records]


async def test_a_batch_with_too_many_posts_in_all_changes_nothing(alice: Member) -> None:
    ids = await _saved(alice, 3)
    many = [str(number) for number in range(1, 1_001)]
    before = await writing.version(alice)

    response = await writing.batch(
        alice,
        *[operation("add", f"label {index}", *many) for index in range(5)],
        operation("add", "one more", ids[0]),
    )

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert response.json()["error"] == (
        "operations: must have at most 5,000 posts in all, got 5,001; split the batch."
    )
    assert await writing.version(alice) == before
    assert await writing.labels(alice) == {}


async def test_repeated_ids_and_invalid_operations_do_not_fill_a_batch(alice: Member) -> None:
    await _saved(alice, 1)
    many = [str(number) for number in range(1, 1_001)]

    response = await writing.batch(
        alice,
        *[operation("add", "x", *many) for _ in range(4)],
        operation("add", "x", *["1"] * 1_000),
        operation("toggle", "x", *many),
        operation("add", "x", *many[:999]),
    )

    assert response.status_code == 207
    assert response.json()["data"]["succeeded"] == 6


async def test_a_batch_repeats_a_thousand_posts_and_names_the_others(alice: Member) -> None:
    ids = await _saved(alice, 600)

    response = await writing.batch(
        alice,
        operation("add", "x", *ids),
        operation("add", "y", *ids, "4711"),
        operation("remove", "x", *ids[:2]),
    )

    first, second, third = response.json()["data"]["results"]
    assert (first["affected"], second["affected"], third["affected"]) == (600, 600, 2)
    assert [post["post_id"] for post in first["data"]] == ids
    assert "further_ids" not in first
    assert second["data"] == [{"post_id": post_id, "tags": ["x", "y"]} for post_id in ids[:400]]
    assert (second["further_ids"], second["not_found"]) == (ids[400:], ["4711"])
    assert (third["data"], third["further_ids"]) == ([], ids[:2])
    assert await writing.labels(alice) == {"x": 598, "y": 600}
    assert await writing.recount(alice) == []


async def test_an_answer_stops_repeating_posts_whose_label_names_are_long(alice: Member) -> None:
    names = sorted(f"{index:02d}{'n' * 98}" for index in range(60))
    ids = await _saved(alice, 400, tags=names)

    response = await writing.add(alice, "x", *ids)

    answer = response.json()
    repeated = [post["post_id"] for post in answer["data"]]
    assert answer["meta"]["affected"] == 400
    assert [*repeated, *answer["meta"]["further_ids"]] == ids
    assert len(repeated) == -(-limits.ECHOED_NAMES_MAX // 6_001)
    assert len(response.content) < 1.1 * limits.ECHOED_NAMES_MAX
    assert all(post["tags"] == [*names, "x"] for post in answer["data"])
    assert (await writing.labels(alice))["x"] == 400
