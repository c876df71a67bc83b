"""Captured requests, and lists of folders."""

import json

import pytest

from bowerbird.sources.x.graphql import read_folders
from bowerbird.sources.x.pages import Folder, Operation, PageRequest, read_request


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


def test_a_request_is_read_from_its_address() -> None:
    url = (
        "https://x.com/i/api/graphql/aQ-1_x/BookmarkFolderTimeline?variables="
        "%7B%22count%22%3A20%2C%22cursor%22%3A%22HBa%3D%22%2C%22bookmark_collection_id%22%3A%2277%22%7D"
    )

    assert read_request(url) == PageRequest(
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
    assert read_request(url) is None


@pytest.mark.parametrize("variables", ["5", "%7B", "[]", "null", '{"cursor":5}'])
def test_variables_that_cannot_be_read_leave_the_operation(variables: str) -> None:
    url = f"https://x.com/i/api/graphql/q/Bookmarks?variables={variables}"

    assert read_request(url) == PageRequest(operation=Operation.BOOKMARKS)
