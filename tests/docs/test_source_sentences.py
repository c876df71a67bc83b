"""docs/sources.md quotes the page: each sentence about a source that is not read."""

import re
from pathlib import Path
from typing import Final

from bowerbird.connections import bluesky
from bowerbird.library.connections import sentences
from bowerbird.model.connections import Network, Problem

_DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "sources.md"
_SERVERS: Final = {
    Network.MASTODON: "https://mastodon.example",
    Network.BLUESKY: bluesky.SERVER,
    Network.X: "https://api.x.com",
}
# Those whose sentence depends on the network. The other rows have Mastodon.
_OWN: Final = {(Network.BLUESKY, Problem.FORBIDDEN), (Network.X, Problem.FORBIDDEN)}


def quoted() -> list[str]:
    text = _DOCUMENT.read_text(encoding="utf-8")
    table = text.partition("| The page says |")[2].partition("\n\n")[0]
    return re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]


def test_each_sentence_is_quoted_once() -> None:
    shown = [
        sentences.of_problem(network, problem, _SERVERS[network])
        for problem in Problem
        for network in Network
        if problem is not Problem.NONE
        and (network is Network.MASTODON or (network, problem) in _OWN)
    ]

    assert sorted(quoted()) == sorted(shown)
