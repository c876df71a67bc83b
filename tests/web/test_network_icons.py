"""Every network has an icon of its own."""

from bowerbird.model.posts.networks import NETWORKS, icon_of
from bowerbird.web import templating


def test_every_network_has_an_icon() -> None:
    drawn = {templating.drawn_icon(icon_of(name)) for name in NETWORKS}

    assert len(drawn) == len(NETWORKS)
    assert templating.drawn_icon(icon_of("elsewhere")) == templating.drawn_icon("link")
