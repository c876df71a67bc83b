"""A library of several hundred posts in a browser."""

import json
from typing import Any

import pytest

from tests.support.serving import Server
from tests.web.chromium import WIDE
from tests.web.library.browsing import MORE, alone, older_post
from tests.web.library_posts import POSTS
from tests.web.sessions import address, signed_in_state


@pytest.fixture(scope="session")
def many(served: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The posts of the design and several hundred older ones, for several modules."""
    email = "many@example.com"
    file = tmp_path_factory.mktemp("many") / "posts.json"
    file.write_text(
        json.dumps([*map(alone, POSTS), *(older_post(number) for number in range(MORE))])
    )
    served.run("account", "create", email)
    served.run("import", email, str(file))
    state = signed_in_state(served, email)
    return {"base_url": address(served, ""), "storage_state": state, "viewport": WIDE}
