"""The pictures of the demo, which are part of the package: they show without a network."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from bowerbird.images.hosts import DEMO_HOST
from bowerbird.web import templating

_SIZE: Final = re.compile(rb'width="(\d+)" height="(\d+)"')


class DemoPicture(NamedTuple):
    path: str
    width: int
    height: int


@cache
def by_url() -> Mapping[str, DemoPicture]:
    """`https://images.example.com/kingfisher.jpg` is `demo-kingfisher.svg`, and so on."""
    files, pictures = templating.files(), {}
    for name, path in templating.paths().items():
        size = _SIZE.search(files[path].body) if name.startswith("demo-") else None
        if size is not None:
            url = f"https://{DEMO_HOST}/{name.removeprefix('demo-').removesuffix('.svg')}.jpg"
            pictures[url] = DemoPicture(path, int(size[1]), int(size[2]))
    return pictures
