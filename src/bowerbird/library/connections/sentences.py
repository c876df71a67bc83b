"""What people read about a source that cannot be read, and what to do about it."""

from typing import Final
from urllib.parse import urlsplit

from bowerbird.model.connections import TITLES, Connection, Network, Problem

_SCOPES: Final = "read:accounts and read:bookmarks"
_SENTENCES: Final = {
    Problem.REVOKED: (
        "{title} rejected the saved token. It was revoked, or it has expired. Connect again."
    ),
    Problem.UNREADABLE_TOKEN: (
        "This server cannot read the saved token, because its key has changed. Connect again."
    ),
    Problem.FORBIDDEN: "{title} refused the request. Check what you allowed, and connect again.",
    Problem.CREDITS: (
        "Your developer account at X has no credits left. Add some at developer.x.com, then run it "
        "again."
    ),
    Problem.WRONG_SERVER: (
        "{server} did not answer as {title} does. Check the address, and connect again with the "
        "right one."
    ),
    Problem.PRIVATE_ADDRESS: (
        "{server} is not a public address, so this server sends nothing there. Check the address. "
        "The operator can allow it with BOWERBIRD_SOURCES_PRIVATE_HOSTS."
    ),
    Problem.RATE_LIMITED: "{title} allows no more requests for a while. The next run continues.",
    Problem.BUDGET: "Today's posts from X are used up. The next run continues tomorrow (UTC).",
    Problem.DAILY_LIMIT: (
        "This account has read as much as it may in a day. The next run continues tomorrow (UTC)."
    ),
    Problem.UNREACHABLE: "{server} could not be reached. The next run tries again.",
    Problem.SERVER_ERROR: "{server} reported an error of its own. The next run tries again.",
    Problem.UNREADABLE_ANSWER: (
        "{server} sent an answer that cannot be read. The next run tries again."
    ),
    Problem.INTERNAL: "The run failed. The log of the server says why. The next run tries again.",
}
_BY_NETWORK: Final = {
    (Network.MASTODON, Problem.FORBIDDEN): (
        f"The token may not read your bookmarks. Create one with the permissions {_SCOPES}, and "
        "connect again."
    ),
    (Network.X, Problem.FORBIDDEN): (
        "X refused the request. Check at developer.x.com that your app may read posts and users, "
        "and that its project is active. Then run it again."
    ),
}
# Before anything is stored, the access is not an old one.
_WHEN_CONNECTING: Final = {
    Network.MASTODON: (
        f"{{server}} did not accept the token. Create one with the permissions {_SCOPES}."
    ),
    Network.BLUESKY: (
        "{server} did not accept the handle and password. Use an app password, not your own."
    ),
    Network.X: (
        "X did not accept the sign-in or your app. Check its client ID and secret, and start again."
    ),
}


def sentence(connection: Connection) -> str:
    """About the problem of a connection, or "" if it has none."""
    if connection.problem is Problem.NONE:
        return ""
    return of_problem(connection.network, connection.problem, connection.server)


def when_connecting(network: Network, problem: Problem, server: str) -> str:
    if problem is Problem.REVOKED:
        return _fill(_WHEN_CONNECTING[network], network, server)
    text = of_problem(network, problem, server)
    # Nothing is stored yet, so no run follows.
    return text.removesuffix("The next run tries again.").removesuffix("The next run continues.")


def of_problem(network: Network, problem: Problem, server: str) -> str:
    text = _BY_NETWORK.get((network, problem)) or _SENTENCES[problem]
    return _fill(text, network, server)


def _fill(text: str, network: Network, server: str) -> str:
    host = urlsplit(server).netloc
    # `replace` because a name may contain braces.
    return text.replace("{title}", TITLES[network]).replace("{server}", host or TITLES[network])
