"""Pictures count as much as the text that would take their memory."""

import json

from msgspec import Raw

from bowerbird.exports.posts_file import Picture
from bowerbird.exports.volumes import PostIndex
from tests.exports.files import bookmark


def test_many_large_pictures_make_several_volumes() -> None:
    urls = [f"https://pbs.twimg.com/{number}" for number in range(300)]
    pictures = {url: Picture("x", 2_000, 1_000) for url in urls}
    posts = [
        Raw(json.dumps(bookmark(attachments=[{"type": "image", "url": url}])).encode())
        for url in urls
    ]
    with_pictures, without = PostIndex(pictures), PostIndex()
    for index in (with_pictures, without):
        index.add(posts)

    assert len(list(without.volumes())) == 1
    volumes = list(with_pictures.volumes())
    assert len(volumes) > 5
    # Two million pixels each: 8 MB of memory.
    assert max(sum(map(len, volume)) for volume in volumes) * 8 < 400
