"""The verdict of the soak finds what they look for: a soak that cannot fail proves nothing."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from endurance.soak import ledger as effects
from endurance.soak import verdict
from endurance.soak.findings import Criterion, Findings
from endurance.soak.ledger import Effect, Expected, Ledger, Shown, Write


def bookmark(post_id: str = "1", **fields: Any) -> dict[str, Any]:
    flags = {"is_read": False, "is_archived": False}
    return {
        "post_id": post_id,
        "tweet_details": {"text": "words"},
        "tags": ["kept"],
        **flags,
        **fields,
    }


def compared(*bookmarks: dict[str, Any], views: Sequence[str] = ("mine",)) -> dict[Criterion, int]:
    expected = Expected({"1": Shown("words", {"kept"})}, Counter(["mine"]), {"2": Shown("gone")})
    findings = Findings()
    verdict.compare_library(findings, "bob", expected, bookmarks, views)
    return {each: count for each in Criterion if (count := findings.count(each))}


def test_a_library_as_expected_has_no_findings() -> None:
    assert compared(bookmark()) == {}


@pytest.mark.parametrize(
    ("bookmarks", "criterion"),
    [
        ([], Criterion.LOST),
        ([bookmark(tags=None)], Criterion.LOST),
        ([bookmark(tags=["kept", "removed"])], Criterion.LOST),
        ([bookmark(is_read=True)], Criterion.LOST),
        ([bookmark(), bookmark("2")], Criterion.LOST),
        ([bookmark(), bookmark()], Criterion.DOUBLED),
        ([bookmark(tags=["kept", "kept"])], Criterion.DOUBLED),
        ([bookmark(), bookmark("3")], Criterion.WRONG),
        ([bookmark(tweet_details={"text": "others"})], Criterion.WRONG),
    ],
)
def test_each_difference_in_the_posts_is_found(
    bookmarks: list[dict[str, Any]], criterion: Criterion
) -> None:
    assert compared(*bookmarks) == {criterion: 1}


@pytest.mark.parametrize(
    ("views", "criterion"), [([], Criterion.LOST), (["mine", "mine"], Criterion.DOUBLED)]
)
def test_each_difference_in_the_views_is_found(views: list[str], criterion: Criterion) -> None:
    assert compared(bookmark(), views=views) == {criterion: 1}


def test_counters_versions_and_replays_that_differ_are_found() -> None:
    findings = Findings()
    verdict.compare_labels(findings, "bob", [bookmark()], {"kept": 2})
    verdict.compare_number(findings, "version", 5, 4)
    verdict.compare_number(findings, "version", 5, 6)
    verdict.compare_number(findings, "version", 5, 5)
    verdict.compare_replay(findings, "one", is_replayed=False, is_same=True)
    verdict.compare_replay(findings, "one", is_replayed=True, is_same=False)
    verdict.compare_replay(findings, "one", is_replayed=True, is_same=True)

    found = {each: findings.count(each) for each in Criterion if findings.count(each)}
    assert found == {
        Criterion.LOST: 1,
        Criterion.DOUBLED: 2,
        Criterion.WRONG: 1,
        Criterion.COUNTERS: 1,
    }


def entry(*changes: Effect) -> Write:
    return Write("bob", "save", "POST", "/v1/bookmarks", "{}", "one", 200, "", changes)


def test_the_ledger_says_what_the_library_must_have(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.acknowledge(entry((effects.SAVED, "2", "new"), (effects.VIEW, "mine")))
    ledger.acknowledge(entry((effects.LABEL, "1", "kept", True), (effects.LABEL, "2", "x", True)))
    ledger.acknowledge(
        entry((effects.LABEL, "2", "x", False), (effects.FLAG, "2", "is_read", True))
    )
    ledger.acknowledge(entry((effects.DELETED, "1"), (effects.EXPORT,)))

    # A second ledger reads the same file.
    expected = Ledger(tmp_path / "ledger").expected("bob", {"1": Shown("words")})

    assert expected.posts == {"2": Shown("new", set(), is_read=True)}
    assert expected.trash == {"1": Shown("words", {"kept"})}
    assert expected.views == {"mine": 1}
    ledger.acknowledge(entry((effects.RESTORED, "1")))
    assert ledger.expected("bob", {"1": Shown("words")}).posts.keys() == {"1", "2"}
    assert (ledger.saved("bob"), ledger.total, ledger.count("carol")) == ({"2"}, 5, 0)
