"""POST /v1/labels/add and /v1/labels/remove."""

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.model.labels import clean_name
from tests.support import writing
from tests.support.service import Member

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
    ({"label_name": "x", "tweet_ids": "1"}, "tweet_ids: must be an array of 1 to 1,000 items"),
    ({"label_name": "x", "tweet_ids": ["1"] * 1_001}, "tweet_ids: must be an array of 1 to 1,000"),
    ({"label_name": "x", "tweet_ids": ["1", 10**30]}, "tweet_ids[1]: must be a string: a JSON"),
    ({"label_name": "x", "tweet_ids": ["1", ""]}, "tweet_ids[1]: must be a non-empty string, got"),
    ({"label_name": "x", "tweet_ids": ["1", None]}, "tweet_ids[1]: must be a non-empty string"),
    ({"label_id": 7, "tweet_ids": ["1"]}, "label_id: "),
    ([], "body: must be a JSON object, got an array of 0."),
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
