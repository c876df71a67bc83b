"""The hosts from which images may be fetched, in one table, and the drawings of the demo.

The drawings are in the package, so that the demo shows its pictures without a network.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from bowerbird.model.posts.media import URL_MAX
from bowerbird.settings import Settings
from bowerbird.settings.values import is_host_name

# A post of any network may quote or show a picture of another one, so all hosts count for all.
# Mastodon has no entry: each of its servers has names of its own.
HOSTS: Final = {
    "x": ("pbs.twimg.com", "video.twimg.com"),
    "bluesky": ("cdn.bsky.app", "video.bsky.app", "video.cdn.bsky.app"),
    "youtube": ("i.ytimg.com",),
    "reddit": ("i.redd.it", "preview.redd.it", "external-preview.redd.it"),
}
# The pictures of the demo, which are in the package. Nobody can have a host with this name.
DEMO_HOST: Final = "images.example.com"
# Their pictures come from the server of the post.
FEDERATED: Final = frozenset({"mastodon"})


class AllowedHosts:
    def __init__(self, further: Collection[str] = ()) -> None:
        """`further` hosts are those of the operator."""
        self._names = {name for names in HOSTS.values() for name in names} | set(further)

    @classmethod
    def of(cls, settings: Settings) -> "AllowedHosts":
        names = (name.strip().lower() for name in settings.media_hosts.split(","))
        return cls([name for name in names if name])

    def has(self, host: str, instance: str) -> bool:
        """`instance` is the server of the post, or ''. Names below its name belong to it too."""
        if not is_host_name(host):
            return False
        of_instance = bool(instance) and (host == instance or host.endswith(f".{instance}"))
        return host in self._names or of_instance


def host_of(url: str) -> str:
    """The host of a URL in small letters, or '' if it is not a plain https URL."""
    if len(url) > URL_MAX:
        return ""
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme == "https" and parts.port in (None, 443) and "@" not in parts.netloc
    except ValueError:
        return ""
    return (parts.hostname or "").lower() if is_plain else ""


def instance_of(source: str, link: str) -> str:
    """The server of a post in a network of many servers, or ''."""
    host = host_of(link) if source in FEDERATED else ""
    return host if is_host_name(host) else ""


_NAME: Final = re.compile(r"demo-(people-)?(.+)\.svg")
_SIZE: Final = re.compile(rb'width="(\d+)" height="(\d+)"')


class Drawing(NamedTuple):
    # Its name among the files that the website serves.
    file: str
    content: bytes
    width: int
    height: int


@cache
def drawings_by_url() -> Mapping[str, Drawing]:
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
