"""Records in the format of the API: which are accepted, and why others are rejected."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.labels import NAME_RULE
from bowerbird.sources.own_json import InvalidRecord, read

_MAX_INT64 = 2**63 - 1
NO_DATE = "is not an ISO 8601 date-time."
# In UTC, it is before the first year.
EARLIEST = "0001-01-01T00:00:00+14:00"


def _with(*fields: str, details: str = "") -> str:
    """A record with a field, or with one of the post itself."""
    return "{" + ", ".join(['"post_id": "7"', f'"tweet_details": {{{details}}}', *fields]) + "}"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("{}", "post_id: is required."),
        ('{"post_id": 7}', "post_id: must be a string, got a number."),
        ('{"post_id": "7"}', "tweet_details: is required."),
        ('{"post_id": ""}', "post_id: must be a string of 1 to 40 digits."),
        (r'{"post_id": "7\n"}', "post_id: must be a string of 1 to 40 digits."),
        ('{"post_id": "\u0667"}', "post_id: must be a string of 1 to 40 digits."),
        ('{"post_id": "7"', "The record is not valid JSON."),
        (r'{"post_id": "\u0000"', "The record is not valid JSON."),
        ("[]", "The record must be an object, got an array."),
        (_with('"is_read": 1'), "is_read: must be true or false, got a number."),
        (
            _with('"sort_index": 1.5'),
            "sort_index: must be a whole number, got a number with a fraction.",
        ),
        (_with(f'"sort_index": {2**63}'), f"sort_index: must be at most {_MAX_INT64}."),
        (_with('"imported_at": "yesterday"'), f"imported_at: 'yesterday' {NO_DATE}"),
        (_with(f'"imported_at": "{EARLIEST}"'), f"imported_at: '{EARLIEST}' {NO_DATE}"),
        (_with('"gone_at": "lately"'), f"gone_at: 'lately' {NO_DATE}"),
        (_with('"removed_at": 5'), "removed_at: must be a string or null, got a number."),
        (_with('"note": "%s"' % ("x" * 20_001)), "note: must have at most 20000 characters."),
        (_with('"tags": "a"'), "tags: must be an array or null, got a string."),
        (_with('"tags": [""]'), f"tags: a label name must have {NAME_RULE}, got ''."),
        (_with(details='"text": true'), "tweet_details.text: must be a string, got true or false."),
        (
            _with(details='"article": {"title": 5}'),
            "tweet_details.article.title: must be a string or null, got a number.",
        ),
        (
            _with(details='"attachments": [{}, {"url": 5}]'),
            "tweet_details.attachments[1].url: must be a string, got a number.",
        ),
        (
            _with(details=r'"text": "\u0000", "article": {"x": NaN}'),
            "The record is not valid JSON.",
        ),
    ],
)
def test_an_invalid_record_is_rejected_with_its_field_and_the_reason(raw: str, reason: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        read(raw.encode())

    assert str(caught.value) == reason


def test_a_record_that_is_not_utf_8_is_rejected() -> None:
    with pytest.raises(InvalidRecord, match="not UTF-8"):
        read(b'{"post_id": "7", "tweet_details": {}, "author_id": "\xff"}')


@pytest.mark.parametrize("text", ["x", r"\u0000"])
def test_a_record_that_is_nested_too_deeply_is_rejected(text: str) -> None:
    deep = '{"q":' * 5000 + "1" + "}" * 5000
    raw = f'{{"post_id":"7","author_id":"{text}","tweet_details":{{"article":{deep}}}}}'

    with pytest.raises(InvalidRecord, match="nested more than 64 levels deep"):
        read(raw.encode())


@given(st.text(st.characters() | st.sampled_from("\0\ud800\udc00"), max_size=30))
def test_only_characters_that_no_database_can_store_are_removed(text: str) -> None:
    record = {
        "post_id": "7",
        "author_id": text,
        # Not the text alone: Hypothesis knows the names of our fields, whose types are checked.
        "tweet_details": {"article": {f"x{text}": [text]}},
    }

    parsed = read(json.dumps(record).encode())

    # In JSON, two adjacent halves of a surrogate pair are one character.
    whole = json.loads(json.dumps(text))
    kept = "".join(c for c in whole if c != "\0" and not "\ud800" <= c <= "\udfff")
    assert parsed.incoming.record.author_id == kept
    assert parsed.incoming.record.tweet_details.article == {f"x{kept}": [kept]}
    assert parsed.removed == 3 * (len(whole) - len(kept))


def test_an_escaped_backslash_does_not_start_an_escape() -> None:
    parsed = read(rb'{"post_id": "7", "tweet_details": {}, "author_id": "\\u0000 \ud83d\ude00"}')

    assert (parsed.removed, parsed.incoming.record.author_id) == (0, "\\u0000 😀")


@pytest.mark.parametrize("index", [-_MAX_INT64 - 1, -1, 2**53 + 1, _MAX_INT64])
def test_a_sort_index_keeps_all_its_digits(index: int) -> None:
    parsed = read(json.dumps({"post_id": "7", "tweet_details": {}, "sort_index": index}).encode())

    assert parsed.incoming.record.sort_index == index
