"""Which host is asked for a post, and how."""

from collections.abc import Mapping
from typing import Final

from bowerbird.connections.published import bluesky, mastodon, oembed, reddit
from bowerbird.connections.published.records import Endpoint
from bowerbird.sources.post_links import BLUESKY, MASTODON, REDDIT, PostLink

_ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    **oembed.ENDPOINTS,
    BLUESKY: bluesky.ENDPOINT,
    REDDIT: reddit.ENDPOINT,
}


def endpoint_of(link: PostLink) -> Endpoint | None:
    """None if nothing can be asked without an account at the network."""
    if link.network == MASTODON:
        return mastodon.endpoint(link)
    return _ENDPOINTS.get(link.network)
