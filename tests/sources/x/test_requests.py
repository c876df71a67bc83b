"""Captured requests, and the answers that are not lists of posts: folders and changes."""

import json

import pytest

from bowerbird.sources.x import requests
from bowerbird.sources.x.graphql import Change, Folder, read_change, read_folders
from bowerbird.sources.x.requests import Operation, PageRequest


@pytest.mark.parametrize("wrapper", ["user_results", ""])
def test_folders_have_ids_and_label_names(wrapper: str) -> None:
    items = [
        {"id": "7", "name": " Nests  and bowers "},
        {"bookmarkCollection": {"id_str": "8", "name": "Birds"}},
        {"id": "9", "name": ""},
        5,
    ]
    part = {
        "bookmark_collections_slice": {"items": items, "slice_info": {"next_cursor": "more"}},
    }
    viewer = {"user_results": {"result": part}} if wrapper else part

    folders = read_folders(json.dumps({"data": {"viewer": viewer}}).encode())

    assert folders.folders == (Folder("7", "Nests and bowers"), Folder("8", "Birds"))
    assert (folders.cursor_out, folders.errors) == ("more", ())


def test_a_page_without_folders_is_an_error() -> None:
    assert read_folders(b"{}").errors == ("The page has no list of folders.",)
    assert read_folders(b"<html>").errors == ("The document is not complete, valid JSON.",)


@pytest.mark.parametrize(
    ("operation", "field", "is_saved"),
    [
        ("CreateBookmark", "tweet_bookmark_put", True),
        ("DeleteBookmark", "tweet_bookmark_delete", False),
    ],
)
def test_a_change_is_read_from_request_and_answer(
    operation: str,
    field: str,
    is_saved: bool,  # noqa: FBT001
) -> None:
    body = json.dumps({"variables": {"tweet_id": "20"}, "queryId": "q"}).encode()
    request = requests.read(f"https://x.com/i/api/graphql/q/{operation}", body)

    assert request is not None
    assert read_change(request, json.dumps({"data": {field: "Done"}}).encode()) == Change(
        "20", is_saved
    )
    assert read_change(request, b'{"errors": []}') is None
    assert read_change(request, b"") is None


def test_a_request_is_read_from_its_address() -> None:
    url = (
        "https://x.com/i/api/graphql/aQ-1_x/BookmarkFolderTimeline?variables="
        "%7B%22count%22%3A20%2C%22cursor%22%3A%22HBa%3D%22%2C%22bookmark_collection_id%22%3A%2277%22%7D"
    )

    assert requests.read(url) == PageRequest(
        operation=Operation.FOLDER, cursor="HBa=", folder_id="77"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://x.com/i/api/graphql/q/HomeTimeline",
        "https://evil.example.com/i/api/graphql/q/Bookmarks",
        "http://x.com/i/api/graphql/q/Bookmarks",
        "https://x.com/i/api/graphql/q/Bookmarks/more",
        "https://[x.com/i/api/graphql/q/Bookmarks",
        "https://x.com/i/api/graphql/q/Bookmarks?" + "a=1&" * 100,
        "https://x.com/i/api/graphql/q/Bookmarks?variables=" + "1" * 40_000,
        "",
    ],
)
def test_another_request_is_not_read(url: str) -> None:
    assert requests.read(url) is None


@pytest.mark.parametrize("variables", ["5", "%7B", "[]", "null", '{"cursor":5}'])
def test_variables_that_cannot_be_read_leave_the_operation(variables: str) -> None:
    url = f"https://x.com/i/api/graphql/q/Bookmarks?variables={variables}"

    assert requests.read(url, b"\xff") == PageRequest(operation=Operation.BOOKMARKS)
