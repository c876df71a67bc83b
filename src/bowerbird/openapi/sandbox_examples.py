"""Examples of requests to the sandbox: its library has other posts, labels and views."""

from typing import Any, Final

Json = dict[str, Any]

_POSTS: Final = ("1908771653022654191", "1908772659655622110")
_LABEL: Final = "birds"
# Ids of exports expire, so no example of them can work for ever.
_PARAMETERS: Final[dict[str, Any]] = {
    "post_id": _POSTS[0],
    "slug": "birds",
    "bucket": "threads",
    "author": "wren_and_reed",
    "tag": _LABEL,
    "q": "reed* -paint",
    "is_archived_only": False,
    "import_run": "",
}


def parameter(of_api: Json) -> Json:
    name = of_api["name"]
    return {**of_api, "example": _PARAMETERS[name]} if name in _PARAMETERS else of_api


def with_body(operation: Json) -> Json:
    body = operation.get("requestBody")
    if body is None:
        return operation
    (media,) = body["content"].values()
    content = {"application/json": {**media, "example": _moved(media["example"])}}
    return {**operation, "requestBody": {**body, "content": content}}


def _moved(value: Any) -> Any:
    """The example of the API with posts and labels that the sandbox has."""
    if isinstance(value, list):
        return [_moved(one) for one in value]
    if not isinstance(value, dict):
        return value
    moved = {name: _moved(one) for name, one in value.items()}
    if "tweet_ids" in moved:
        moved["tweet_ids"] = list(_POSTS[: len(value["tweet_ids"])])
    for name in ("label_name", "tag"):
        if name in moved:
            moved[name] = _LABEL
    return moved
