"""What is remembered stays within its number, and what was asked for last stays longest."""

from bowerbird.library.remembered import Remembered


def test_the_answer_that_was_not_asked_for_longest_is_forgotten() -> None:
    kept = Remembered(2)
    kept.put("a", 1)
    kept.put("b", 2)
    kept.get("a")

    kept.put("c", 3)

    assert [kept.get(key) for key in ("a", "b", "c")] == [1, None, 3]
