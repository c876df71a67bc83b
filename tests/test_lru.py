"""The cache keeps a limited number of values and drops the least recently used."""

from bowerbird.lru import LruCache


def test_the_least_recently_used_value_is_dropped() -> None:
    cache = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")

    cache.put("c", 3)

    assert [cache.get(key) for key in ("a", "b", "c")] == [1, None, 3]
