"""A cache of two generations keeps what is used, and its size has a limit."""

from bowerbird.search.words.generations import Generations


def counting(size: int) -> tuple[Generations, list[str]]:
    computed: list[str] = []

    def compute(text: str) -> tuple[str, ...]:
        computed.append(text)
        return (text.upper(),)

    return Generations(compute, size), computed


def test_what_is_used_again_is_computed_once() -> None:
    cache, computed = counting(size=3)

    for number in range(20):
        assert cache["often"] == ("OFTEN",)
        assert cache[str(number)] == (str(number),)

    assert computed.count("often") == 1


def test_what_is_not_used_is_forgotten() -> None:
    cache, computed = counting(size=3)

    for text in ("once", "b", "c", "d", "e", "f", "g", "once"):
        assert cache[text] == (text.upper(),)

    assert computed.count("once") == 2
    assert len(cache) <= 3


def test_long_texts_are_not_kept() -> None:
    cache, computed = counting(size=3)

    assert cache["x" * 41] == cache["x" * 41] == ("X" * 41,)

    assert len(computed) == 2
    assert not cache
