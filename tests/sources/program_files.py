"""Small files of our own making in the formats of other programs, and what they say about a post.

They are in `programs.json`. The link to the post can be of any network: what a file says is the
same for all of them.
"""

import json
from pathlib import Path
from typing import NamedTuple

import msgspec

POST = "https://x.com/ada/status/1050118621198921728"
PAGE = "https://example.org/a"
# The saving of the post in most files: 2023-11-14T22:13:20+00:00.
SAVED = "2023-11-14"


class Said(msgspec.Struct, frozen=True):
    """What a file says about the post."""

    text: str = "T"
    saved: str = SAVED
    labels: tuple[str, ...] = ()
    note: str = ""
    is_archived: bool = False
    is_read: bool = False


class ProgramFile(NamedTuple):
    format: str
    content: str
    said: Said
    # Links in the file that are not posts.
    pages: int


FILES = {
    one["name"]: ProgramFile(
        one["format"],
        one["text"] if "text" in one else json.dumps(one["json"], indent=1),
        msgspec.convert(one.get("said", {}), Said),
        one.get("pages", 0),
    )
    for one in json.loads((Path(__file__).parent / "programs.json").read_text(encoding="utf-8"))
}
# The address of a YouTube playlist's video is built, so it depends on the networks that are known.
YOUTUBE = "Video ID,Playlist Video Creation Timestamp\nnoFbP5V0ROg,2023-11-14T22:13:20+00:00\n"
