"""The stand-in answers as X does: the server's own readers find everything in its pages."""

import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from bowerbird.sources.found import FoundPost, LeftOut
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Page, read_request
from tests.extension import fake_x as stand_in
from tests.extension.fake_x import FakeX
from tests.extension.x_account import Form
from tests.support.waiting import PATIENCE_S

FAR_FUTURE = 4_000_000_000_000_000


@pytest.fixture
def page_script(x: FakeX) -> Iterator[httpx.Client]:
    """Sends requests as the page's script does."""
    headers = {
        "Host": "x.com",
        "authorization": stand_in.AUTHORIZATION,
        "x-csrf-token": stand_in.CSRF,
        "cookie": f"auth_token={stand_in.SESSION}; ct0={stand_in.CSRF}",
    }
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The certificate is for x.com.
    trusted.check_hostname = False
    trusted.load_verify_locations(x.certificate)
    address = f"https://127.0.0.1:{x.port}"
    with httpx.Client(
        base_url=address, verify=trusted, trust_env=False, headers=headers, timeout=PATIENCE_S
    ) as client:
        yield client


def path(x: FakeX, operation: str, **variables: Any) -> str:
    asked = quote(json.dumps(variables))
    return f"/i/api/graphql/{x.operation_ids[operation]}/{operation}?variables={asked}"


def read(x: FakeX, client: httpx.Client, operation: str, **variables: Any) -> Page:
    target = path(x, operation, **variables)
    request = read_request(f"https://x.com{target}")
    assert request
    answer = client.get(target)
    assert answer.status_code == 200
    return graphql.read_page(request, answer.content, FAR_FUTURE)


def test_its_list_has_every_bookmark_in_order_and_ends_as_that_of_x(
    x: FakeX, page_script: httpx.Client
) -> None:
    account = x.world.sign_in(saved=45)
    found: list[FoundPost] = []
    sizes = []
    cursor: dict[str, str] = {}

    while True:
        page = read(x, page_script, "Bookmarks", count=20, **cursor)
        found += [post for post in page.posts if isinstance(post, FoundPost)]
        sizes.append(len(page.posts))
        if page.proves_end:
            break
        cursor = {"cursor": page.cursor_out}

    assert sizes == [20, 20, 5, 0]
    assert [post.record.post_id for post in found] == account.in_order()
    assert [post.record.tweet_details.text for post in found] == [
        x.world.posts[post_id].text for post_id in account.in_order()
    ]


def test_a_post_that_is_gone_is_listed_without_its_content(
    x: FakeX, page_script: httpx.Client
) -> None:
    account = x.world.sign_in()
    account.save(x.world.add_post(Form.GONE).id)

    [left_out] = read(x, page_script, "Bookmarks").posts

    assert isinstance(left_out, LeftOut)
    assert left_out.post_id == account.in_order()[0]


def test_its_folders_have_names_and_end_without_a_cursor(
    x: FakeX, page_script: httpx.Client
) -> None:
    account = x.world.sign_in(saved=3)
    folder = x.world.add_folder("Birds", account.in_order()[:2])

    names = graphql.read_folders(page_script.get(path(x, "BookmarkFoldersSlice")).content)
    page = read(x, page_script, "BookmarkFolderTimeline", bookmark_collection_id=folder.id)

    assert [(one.id, one.name) for one in names.folders] == [(folder.id, "Birds")]
    assert len(page.posts) == 2
    assert page.cursor_out == ""
    assert page.proves_end


def test_it_refuses_old_operation_ids_and_requests_without_a_session(
    x: FakeX, page_script: httpx.Client
) -> None:
    old = path(x, "Bookmarks")
    x.change_operation_ids()

    assert page_script.get(old).status_code == 404
    assert page_script.get(path(x, "Bookmarks"), headers={"cookie": ""}).status_code == 403
    assert page_script.get(path(x, "Bookmarks")).status_code == 200
