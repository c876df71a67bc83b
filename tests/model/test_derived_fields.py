"""What a post shows although its source did not say it: the time in its id."""

from typing import Final

import pytest
from msgspec import UNSET

from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import (
    Post,
    PostDetails,
    known_time,
    time_in_id,
    without_saving_time,
)

AT: Final = "at://alice.example/app.bsky.feed.post/"


@pytest.mark.parametrize(
    ("post", "time"),
    [
        (("1050118621198921728",), "2018-10-10T20:19:24.211000+00:00"),
        # Ids before November 2010 are only numbers, and no post of X has the last one.
        (("20",), ""),
        (("10000000000000000000",), ""),
        (
            ("1", "mastodon", "mastodon.social/109372843234567890"),
            "2022-11-19T22:32:24.082000+00:00",
        ),
        # Other programs count from one, or put the time elsewhere.
        (("1", "mastodon", "lemmy.example/post/4711"), ""),
        (("1", "mastodon", "pixelfed.example/532145678901234567"), ""),
        (("1", "mastodon", "gts.example/01GZ7XWQ4N2V9BH4K0S1M8RPZ3"), ""),
        (("1", "bluesky", f"{AT}3jzfcijpj2z2a"), "2023-06-30T15:03:01.887007+00:00"),
        (("1", "bluesky", f"{AT}self"), ""),
        (("1", "bluesky", f"{AT}zzzzzzzzzzzzz"), ""),
        (("1", "reddit", "t3_15bfi0"), ""),
        (("1", "tiktok", "7300000000000000001"), "2023-11-11T00:48:18.000000+00:00"),
        (("1", "linkedin", "activity:7254567890123456789"), "2024-10-22T19:02:48.359000+00:00"),
        (("1", "instagram", "BsOGulcndj-"), "2019-01-04T17:05:45.106000+00:00"),
        (("1", "threads", "CuXFPIeLLod"), "2023-07-06T15:17:53.813000+00:00"),
        # Of a private account, and of the first year.
        (("1", "instagram", "BsOGulcndj-ABCDEFGHIJKLMNOPQRSTUVWXYZabc"), ""),
        (("1", "instagram", "BWl6P"), ""),
        (("1", "youtube", "Bower-Bird_"), ""),
        (("1", "elsewhere", "1050118621198921728"), ""),
    ],
)
def test_the_id_of_a_post_may_have_its_time(post: tuple[str, ...], time: str) -> None:
    post_id, *named = post
    source, source_id = named or (UNSET, UNSET)

    of_id = Post(post_id=post_id, tweet_details=PostDetails(), source=source, source_id=source_id)
    assert time_in_id(of_id) == time


def test_a_time_from_the_id_is_not_one_that_a_source_gave() -> None:
    in_id = "2018-10-10T20:19:24.211000+00:00"
    for posted_at, known in ((in_id, ""), ("2018-10-10T20:19:24+00:00",) * 2, ("", "")):
        details = PostDetails(posted_at=posted_at)
        assert known_time(Post(post_id="1050118621198921728", tweet_details=details)) == known


def test_the_time_of_saving_is_not_one_that_a_source_gave() -> None:
    saved_at = 1_784_362_873_841_838
    details = PostDetails(posted_at=instants.with_offset(saved_at))

    for post_id, posted_at in (("20", ""), ("1050118621198921728", details.posted_at)):
        post = Post(post_id=post_id, tweet_details=details)
        # An id with a time would have given that instead.
        assert without_saving_time(post, saved_at).tweet_details.posted_at == posted_at
        assert without_saving_time(post, saved_at + 1) == post
