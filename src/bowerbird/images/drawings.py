"""The pictures of the demo: drawings in the package, which show without a network."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from bowerbird.images.hosts import DEMO_HOST

_NAME: Final = re.compile(r"demo-(people-)?(.+)\.svg")
_SIZE: Final = re.compile(rb'width="(\d+)" height="(\d+)"')


class Drawing(NamedTuple):
    # Its name among the files that the website serves.
    file: str
    content: bytes
    width: int
    height: int


@cache
def by_url() -> Mapping[str, Drawing]:
    """`https://images.example.com/kingfisher.jpg` is `demo-kingfisher.svg`, and so on.

    That of an author, `…/people/wren.png`, is `demo-people-wren.svg`.
    """
    drawings = {}
    for file in resources.files("bowerbird.images").joinpath("demo").iterdir():
        if name := _NAME.fullmatch(file.name):
            content = file.read_bytes()
            size = _SIZE.search(content)
            assert size is not None
            place = f"people/{name[2]}.png" if name[1] else f"{name[2]}.jpg"
            url = f"https://{DEMO_HOST}/{place}"
            drawings[url] = Drawing(file.name, content, int(size[1]), int(size[2]))
    return drawings
