"""Compares the library at the end with the one that follows from the acknowledged writes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from endurance.soak.findings import Criterion, Findings
from endurance.soak.ledger import Expected, Shown


def compare_library(
    findings: Findings,
    account: str,
    expected: Expected,
    bookmarks: Sequence[dict[str, Any]],
    views: Sequence[str],
) -> None:
    """`bookmarks` and `views` are everything that the API lists."""
    listed = Counter(each["post_id"] for each in bookmarks)
    for post_id, times in listed.items():
        if times > 1:
            findings.add(Criterion.DOUBLED, f"{account}: {post_id} is listed {times} times")
        if post_id not in expected.posts:
            is_deleted = post_id in expected.trash
            criterion = Criterion.LOST if is_deleted else Criterion.WRONG
            what = "a deletion is lost" if is_deleted else "nobody saved it"
            findings.add(criterion, f"{account}: {post_id} is listed: {what}")
    for post_id in expected.posts.keys() - listed.keys():
        findings.add(Criterion.LOST, f"{account}: the post {post_id} is missing")
    for each in bookmarks:
        if each["post_id"] in expected.posts:
            _compare_post(findings, account, each, expected.posts[each["post_id"]])
    _compare_views(findings, account, expected.views, Counter(views))


def compare_labels(
    findings: Findings,
    account: str,
    bookmarks: Sequence[dict[str, Any]],
    counts: Mapping[str, int],
) -> None:
    """The counters of labels equal the posts that have them."""
    attached = Counter(name for each in bookmarks for name in each["tags"] or ())
    for name in attached.keys() | counts.keys():
        if attached[name] != counts.get(name):
            sentence = f"{account}: label {name!r} counts {counts.get(name)} posts, not "
            findings.add(Criterion.COUNTERS, f"{sentence}{attached[name]}")


def compare_number(findings: Findings, what: str, expected: int, found: int) -> None:
    """A number that every write raises: fewer means a lost write, more means a doubled one."""
    if found != expected:
        criterion = Criterion.LOST if found < expected else Criterion.DOUBLED
        findings.add(criterion, f"{what}: {found}, expected {expected}")


def compare_replay(findings: Findings, key: str, *, is_replayed: bool, is_same: bool) -> None:
    if not is_replayed:
        findings.add(Criterion.DOUBLED, f"the key {key} was carried out again")
    elif not is_same:
        findings.add(Criterion.WRONG, f"the key {key} is replayed with another answer")


def _compare_post(
    findings: Findings, account: str, bookmark: dict[str, Any], expected: Shown
) -> None:
    post_id, tags = bookmark["post_id"], Counter(bookmark["tags"] or ())
    for name, times in tags.items():
        if times > 1:
            findings.add(Criterion.DOUBLED, f"{account}: {post_id} has {name!r} {times} times")
    for name in expected.labels ^ tags.keys():
        what = "lacks" if name in expected.labels else "still has"
        findings.add(Criterion.LOST, f"{account}: {post_id} {what} the label {name!r}")
    for flag in ("is_read", "is_archived"):
        if bookmark[flag] != getattr(expected, flag):
            findings.add(Criterion.LOST, f"{account}: {post_id} has {flag} {bookmark[flag]}")
    text = bookmark["tweet_details"]["text"]
    if text != expected.text:
        findings.add(Criterion.WRONG, f"{account}: {post_id} has the text {text!r}")


def _compare_views(
    findings: Findings, account: str, expected: Counter[str], found: Counter[str]
) -> None:
    for name in expected.keys() | found.keys():
        compare_number(findings, f"{account}: views {name!r}", expected[name], found[name])
