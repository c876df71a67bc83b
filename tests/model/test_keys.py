"""API keys contain their account id and a checksum."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.keys import key_hash, new_account_id, new_key, parse_key

account_ids = st.integers(1, 2**63 - 1)
ALPHABET = string.digits + string.ascii_letters


@given(account_ids)
def test_a_key_contains_its_account_id(account_id: int) -> None:
    text = new_key(account_id)

    parsed = parse_key(text)

    assert parsed
    assert parsed.account_id == account_id
    assert parsed.key_hash == key_hash(text)
    assert len(text) == 51
    assert text.startswith("bwr_")
    assert set(text[4:]) <= set(ALPHABET)


@given(account_ids, st.integers(0, 50), st.sampled_from(ALPHABET + "_-+ \u00e9\u0661"))
def test_one_wrong_character_is_rejected(account_id: int, at: int, character: str) -> None:
    text = new_key(account_id)
    wrong = text[:at] + character + text[at + 1 :]

    assert (parse_key(wrong) is None) == (wrong != text)


@given(account_ids, st.integers(0, 49))
def test_two_swapped_characters_are_rejected(account_id: int, at: int) -> None:
    text = new_key(account_id)
    swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]

    assert (parse_key(swapped) is None) == (swapped != text)


@given(
    st.text(max_size=60) | st.text(alphabet=ALPHABET, min_size=47, max_size=47).map("bwr_".__add__)
)
def test_no_other_text_is_a_key(text: str) -> None:
    assert parse_key(text) is None


@pytest.mark.parametrize("prefix", ["dev_", "BWR_", "bwr-", "sk_"])
def test_a_key_with_another_prefix_is_rejected(prefix: str) -> None:
    assert parse_key(prefix + new_key(7)[4:]) is None


def test_keys_do_not_repeat() -> None:
    assert len({new_key(7) for _ in range(1000)}) == 1000


def test_account_ids_are_random_and_positive() -> None:
    ids = {new_account_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(0 < account_id < 2**63 for account_id in ids)
    # Large numbers, so that an id does not reveal the number of accounts.
    assert max(ids) > 2**60
