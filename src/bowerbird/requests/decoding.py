"""Decodes requests: JSON bodies, query strings and the arguments of tools."""

import gc
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import Raw, Struct

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.model.json_depth import MAX_ODD_NUMBERS, Excess, excess, without_lone_surrogates
from bowerbird.requests import sentences
from bowerbird.requests.fields import metadata_of, read_scalar
from bowerbird.requests.limits import JSON_DEPTH_MAX, JSON_VALUES_MAX

T = TypeVar("T", bound=Struct)
V = TypeVar("V")

# The only way to write the character in JSON.
_NULL: Final = b"\\u0000"
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_U0000: Final = "U+0000"
_EITHER: Final = "U+0000 or half of a surrogate pair"
# A text behind so many others is refused without its place.
_SEARCHED_MAX: Final = 10_000
LARGE_BYTES: Final = 16_384
"""Larger bodies are decoded on a thread: 64 KiB can take ten milliseconds."""
# So small that decoding it creates no garbage collection, and takes no time worth saving.
_OPENED_BYTES: Final = 8_192
_raw: Final = msgspec.json.Decoder(Raw).decode
_raw_fields: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_untyped: Final = msgspec.json.Decoder().decode


def check_excess(
    body: bytes, *, max_depth: int = JSON_DEPTH_MAX, max_values: int = JSON_VALUES_MAX
) -> None:
    """Refuses a body that would take too long to decode, or that is nested too deeply.

    It is called once for each body that arrives, before anything decodes it.
    """
    found = excess(body, max_depth, max_values)
    if found is Excess.DEPTH:
        raise _too_deep()
    if found is Excess.VALUES:
        raise errors.invalid("body", f"has more than {max_values:,} values; split the request")
    if found is Excess.NUMBERS:
        problem = f"has more than {MAX_ODD_NUMBERS} numbers with a long exponent or many digits"
        raise errors.invalid("body", problem)


def decode(body: bytes, kind: type[T], *, is_checked: bool = False) -> T:
    """The request in a JSON body. An empty body is an empty object.

    `is_checked` means that the texts of the body were checked, or need not be.
    """
    body = b"{}" if not body or body.isspace() else body
    try:
        request: T = _uncollected(_decoder(kind).decode, body)
    except msgspec.ValidationError as error:
        # A body that is not JSON at all is refused as such.
        raise sentences.refusal(error, kind, _refused_value(body)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Half of a surrogate pair is refused with the item that has it, and not the others.
        readable = without_lone_surrogates(body, _NULL) if items_of(kind) else body
        if readable == body:
            raise errors.invalid("body", f"is not JSON ({error})") from None
        return decode(readable, kind, is_checked=is_checked)
    except RecursionError:
        raise _too_deep() from None
    if not is_checked and _has_null(body):
        null = _EITHER if items_of(kind) else _U0000
        _check_texts(_without(_uncollected(_untyped, body), items_of(kind)), null=null)
    return request


def convert(values: Any, kind: type[T]) -> T:
    """The request in values that are already parsed."""
    if not _is_storable(values):
        parts = {name for name, meta in metadata_of(kind).items() if "items" in meta}
        _check_texts(_without(values, parts | items_of(kind)), root="arguments")
    try:
        # Strictly: otherwise the text "null" would mean that a field was not sent.
        return msgspec.convert(values, kind, dec_hook=read_scalar)
    except msgspec.ValidationError as error:
        raise sentences.refusal(error, kind, values) from None


def within(place: str, refused: Refusal) -> Refusal:
    """Rewrites a refusal so that it names the part of the larger request."""
    if refused.sentence.startswith(("body: ", "Unknown field")):
        return Refusal(refused.code, f"{place}: {refused.sentence.removeprefix('body: ')}")
    return Refusal(refused.code, f"{place}.{refused.sentence}")


def as_json(body: bytes) -> Any:
    """The value of a JSON body of any shape."""
    body = b"{}" if not body or body.isspace() else body
    value = parse(body)
    if _has_null(body):
        _check_texts(value)
    return value


def _refused_value(body: bytes) -> Any:
    """The value of a JSON body that is refused anyway. A larger one is checked, and not decoded."""
    if len(body) <= _OPENED_BYTES or _has_null(body):
        return as_json(body)
    return parse(body, _raw)


def parse(body: bytes, decode: Callable[[bytes], Any] = _untyped) -> Any:
    """The value of JSON, which may contain characters that we cannot store."""
    try:
        return _uncollected(decode, body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise errors.invalid("body", f"is not JSON ({error})") from None
    except RecursionError:
        raise _too_deep() from None


def raw_fields(body: bytes) -> dict[str, Raw] | None:
    """The fields of an object with their JSON; None for any other body, valid or not."""
    try:
        return _raw_fields(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def check_item(item: bytes) -> None:
    """Refuses an item of a request that contains a character we cannot store."""
    if _has_null(item):
        _check_texts(_untyped(item), null=_EITHER)


def check_text(text: str) -> None:
    """Refuses a text that contains a character we cannot store."""
    _check_texts(text, null=_EITHER)


def _has_null(body: bytes) -> bool:
    """Whether the character is in the body, not only a backslash before the text "u0000"."""
    return _NULL in body and _NULL in body.replace(rb"\\", b"--")


def items_of(kind: type[Struct]) -> frozenset[str]:
    """The lists of a request whose items are refused one by one."""
    names: frozenset[str] = getattr(kind, "ITEMS", frozenset())
    return names


def _without(values: Any, names: AbstractSet[str]) -> Any:
    """The values, except lists whose items are checked one by one."""
    if not names or not isinstance(values, dict):
        return values
    return {name: value for name, value in values.items() if name not in names}


def _uncollected(decode: Callable[[bytes], V], body: bytes) -> V:
    """Decodes without the garbage collector, which would visit the new lists again and again.

    333,000 empty lists in 1 MB took four times as long with it. Nothing in them is garbage yet.
    """
    if len(body) <= _OPENED_BYTES or not gc.isenabled():
        return decode(body)
    gc.disable()
    try:
        return decode(body)
    finally:
        gc.enable()


@cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind, dec_hook=read_scalar)


def _too_deep() -> Refusal:
    return errors.invalid("body", f"is nested more than {JSON_DEPTH_MAX} levels deep")


def _check_texts(value: Any, root: str = "body", null: str = _U0000) -> None:
    """Names the text that cannot be stored; for the name of a field, the object that has it."""
    if _is_storable(value):
        return
    character, steps = _unstorable(value, iter(range(_SEARCHED_MAX))) or ("\x00", [])
    path = "".join(reversed(steps)).removeprefix(".")
    name = null if character == "\x00" else "half of a surrogate pair"
    raise errors.invalid(path[:80] or root, f"contains {name}, which no database can store")


def _is_storable(value: Any) -> bool:
    """A walk in Python would take a microsecond for each of 100,000 values."""
    try:
        return not _has_null(msgspec.json.encode(value))
    except UnicodeEncodeError:
        return False


def _unstorable(value: Any, left: Iterator[int]) -> tuple[str, list[str]] | None:
    """The character, and the way to its text from the inside. `left` bounds the items."""
    if isinstance(value, str):
        found = _UNSTORABLE.search(value)
        return (found[0], []) if found else None
    steps: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, list):
        steps = enumerate(value)
    elif isinstance(value, dict):
        steps = value.items()
    for (step, item), _ in zip(steps, left, strict=False):
        if isinstance(step, str) and (name := _UNSTORABLE.search(step)):
            return name[0], []
        if isinstance(item, (str, list, dict)) and (inner := _unstorable(item, left)):
            inner[1].append(f"[{step}]" if isinstance(step, int) else f".{step}")
            return inner
    return None


_MOST_IGNORED: Final = 20
_MOST_CHARACTERS: Final = 64
# A sort field can be empty, so a list can continue after the empty value.
_CAN_BE_EMPTY: Final = frozenset({"sort_cursor"})


def from_query(query_string: bytes, kind: type[T]) -> T:
    """The request in a query string. Unknown parameters are ignored."""
    return convert(parameter_values(query_string, parameters_of(kind)), kind)


def sent_parameters(query_string: bytes, kind: type[Struct]) -> set[str]:
    """The parameters of a request that were sent with a value, valid or not."""
    return parameter_names(query_string) & parameters_of(kind)


@cache
def parameters_of(kind: type[Struct]) -> frozenset[str]:
    return frozenset(kind.__struct_encode_fields__)


def split_query(query_string: bytes, kind: type[Struct] | None) -> tuple[bytes, tuple[str, ...]]:
    """The part of a query string that a request reads, and the names of the other parameters.

    At most a few names, shortened: they are part of the answer, and of its key in the cache.
    """
    if not query_string or kind is None:
        return query_string, ()
    pairs = query_string.split(b"&")
    if _raw_names(kind).issuperset([pair.partition(b"=")[0] for pair in pairs]):
        return query_string, ()
    kept, ignored = [], dict[str, None]()
    for pair in pairs:
        name = _parameter_name(pair.partition(b"=")[0])
        if name in parameters_of(kind):
            kept.append(pair)
        elif name and len(ignored) < _MOST_IGNORED:
            ignored[name[:_MOST_CHARACTERS]] = None
    return b"&".join(kept), tuple(ignored)


@cache
def _raw_names(kind: type[Struct]) -> frozenset[bytes]:
    return frozenset({name.encode() for name in parameters_of(kind)} | {b""})


def parameter_values(query_string: bytes, known: Collection[str]) -> dict[str, str]:
    """The known parameters that were sent; an empty value means absent, except in a sort_cursor."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for pair in query_string.split(b"&") if query_string else ():
        raw_name, _, raw_value = pair.partition(b"=")
        name = _parameter_name(raw_name)
        # Unknown names are ignored, so that clients of newer versions work here.
        if name not in known:
            continue
        if name in seen:
            raise errors.invalid(name, "was sent more than once")
        seen.add(name)
        if raw_value or name in _CAN_BE_EMPTY:
            found[name] = _parameter_value(name, raw_value)
    return found


def parameter_names(query_string: bytes) -> set[str]:
    """The parameters that were sent with a value, for the plan gates."""
    pairs = (pair.partition(b"=") for pair in query_string.split(b"&"))
    return {_parameter_name(raw_name) for raw_name, _, raw_value in pairs if raw_value}


def _parameter_name(raw: bytes) -> str:
    return unquote_to_bytes(raw.replace(b"+", b" ")).decode("utf-8", "replace")


def _parameter_value(name: str, raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise errors.invalid(name, "is not UTF-8 text") from None
    if _UNSTORABLE.search(text):
        raise errors.invalid(name, "contains U+0000, which no database can store")
    return text
