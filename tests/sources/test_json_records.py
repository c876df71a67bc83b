"""Files are split into the same records in every layout, and however they are read."""

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.sources.parsing import json_records
from bowerbird.sources.parsing.json_records import TOO_LONG, MalformedFile, Record, records

_BLANKS = st.text(" \t\r\n", max_size=4)
_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=30)
_VALUES = st.recursive(
    _SCALARS | st.sampled_from(['}, {"', "\\", '\\"', "[[", '"},{"a":"']),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_OBJECTS = st.lists(st.dictionaries(st.text(max_size=8), _VALUES, max_size=5), max_size=8)


class SlowFile:
    """A file that returns a few bytes per read, like a slow pipe."""

    def __init__(self, data: bytes, step: int) -> None:
        self._source, self._step = io.BytesIO(data), step

    def read(self, size: int) -> bytes:
        return self._source.read(min(size, self._step))


@given(_OBJECTS, _BLANKS, _BLANKS, st.integers(1, 50))
def test_an_array_is_split_into_records_with_line_numbers(
    objects: list[dict[str, Any]], before: str, between: str, step: int
) -> None:
    texts = [json.dumps(o, ensure_ascii=step % 2 == 0) for o in objects]
    text = f"{before}[{before}" + f"{between},{between}".join(texts) + f"{between}]{before}"
    data = text.encode("utf-8", "surrogatepass")

    found = list(records(SlowFile(data, step)))

    assert [_value(record) for record in found] == objects
    assert [record.line for record in found] == _lines_of(before * 2, between * 2, len(objects))


@given(_OBJECTS, st.integers(1, 50), st.sampled_from(["\n", "\r\n", "\n\n", " \n\t"]))
def test_a_file_with_one_record_per_line_is_split_with_line_numbers(
    objects: list[dict[str, Any]], step: int, ending: str
) -> None:
    objects = [o for o in objects if not {"data", "bookmarks"} & o.keys()]
    data = "".join(json.dumps(o) + ending for o in objects).encode()

    found = list(records(SlowFile(data, step)))

    assert [_value(record) for record in found] == objects
    assert [record.line for record in found] == _lines_of("", ending, len(objects))


@given(_OBJECTS, _VALUES, st.sampled_from(["data", "bookmarks"]), st.integers(1, 50))
def test_the_array_inside_an_object_is_split(
    objects: list[dict[str, Any]], other: Any, member: str, step: int
) -> None:
    document = {"status": True, "other": other, member: objects, "meta": {"data": [1]}}
    data = json.dumps(document, indent=1).encode()

    found = list(records(SlowFile(data, step)))

    assert [_value(record) for record in found] == objects


@given(st.lists(st.sampled_from(['{"a":1}', "{a}", "7", '"x,y"', "nul", "}"]), min_size=1))
def test_invalid_elements_do_not_affect_the_others(texts: list[str]) -> None:
    joined = ",\n".join(texts)

    found = list(records(io.BytesIO(f"[{joined}]".encode())))

    assert [record.raw.decode() for record in found] == texts
    assert [record.line for record in found] == list(range(1, len(texts) + 1))


def test_many_records_are_read_in_pieces() -> None:
    objects = [{"post_id": str(n), "text": "}, {" * 50, "list": [{}, {}]} for n in range(20_000)]
    data = json.dumps(objects).encode()
    assert len(data) > 4 << 20

    assert [_value(record) for record in records(io.BytesIO(data))] == objects


@pytest.mark.parametrize(
    ("text", "line"), [("[", 1), ('[\n{"a": 1},\n', 3), ('[{},\n{"a":', 2), ('[\n"abc', 2)]
)
def test_an_incomplete_array_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(MalformedFile) as caught:
        list(records(io.BytesIO(text.encode())))

    assert caught.value.line == line


def test_a_long_element_without_an_end_is_reported_with_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_records, "MAX_RECORD_BYTES", 1 << 20)
    data = b'[{"a":1},\n{"b":"' + b"x" * (4 << 20)

    with pytest.raises(MalformedFile) as caught:
        list(records(io.BytesIO(data)))

    assert caught.value.line == 2


@given(
    st.lists(_VALUES, min_size=1, max_size=6),
    st.integers(1, 50),
    st.integers(4, 60),
    st.sampled_from([",", ",\n", " , "]),
)
def test_only_the_elements_that_are_too_long_are_skipped(
    values: list[Any], step: int, max_bytes: int, separator: str
) -> None:
    texts = [json.dumps(value, ensure_ascii=step % 2 == 0).encode() for value in values]
    data = b"[" + separator.encode().join(texts) + b"]"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "MAX_RECORD_BYTES", max_bytes)
        found = list(records(SlowFile(data, step)))

    lines = _lines_of("", separator, len(texts))
    assert found == [
        Record(line, text) if len(text) <= max_bytes else Record(line, b"", TOO_LONG)
        for line, text in zip(lines, texts, strict=True)
    ]


def test_a_long_element_is_never_completely_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "MAX_RECORD_BYTES", 1 << 20)
    long = b'{"a":["' + (b'\\"]}' + b"x" * 60) * (1 << 17) + b'"]}'
    data = io.BytesIO(b'[{"a":1},' + long + b',{"b":2}]')

    tracemalloc.start()
    found = list(records(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [record.problem for record in found] == ["", TOO_LONG, ""]
    assert peak < 7 << 20


def test_only_the_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "MAX_RECORD_BYTES", 1 << 20)
    data = b'{"a":1}\n' + b"x" * (4 << 20) + b'\n{"b":2}\n'

    found = list(records(io.BytesIO(data)))

    assert found == [
        Record(1, b'{"a":1}\n'),
        Record(2, b"", TOO_LONG),
        Record(3, b'{"b":2}\n'),
    ]


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff", "[]", "\ufeff [ ]", '{"data": []}'])
def test_an_empty_file_has_no_records(text: str) -> None:
    assert list(records(io.BytesIO(text.encode()))) == []


def test_a_byte_order_mark_is_skipped() -> None:
    assert list(records(io.BytesIO('\ufeff{"a":1}'.encode()))) == [Record(1, b'{"a":1}')]


@pytest.mark.parametrize("blank", ["", " ", "\n\n"])
def test_all_arrays_of_a_file_are_read(blank: str) -> None:
    page = '{"status": true, "data": [{"post_id": "1"}], "meta": {"a": ["]", {}]}}'

    text = blank.join(['[{"post_id": "0"}]', page, page, "[]", '[{"post_id": "2"}]'])

    found = [_value(record)["post_id"] for record in records(io.BytesIO(text.encode()))]
    assert found == ["0", "1", "1", "2"]


@pytest.mark.parametrize("rest", ["garbage", "{}", '{"data": 7}', "]"])
def test_other_data_after_an_array_is_reported_with_its_line(rest: str) -> None:
    with pytest.raises(MalformedFile, match="Expected a list of posts") as broken:
        list(records(io.BytesIO(f'[{{"post_id": "0"}}]\n{rest}'.encode())))

    assert broken.value.line == 2


def _value(record: Record) -> Any:
    return json.loads(record.raw.decode("utf-8", "surrogatepass"))


def _lines_of(before: str, between: str, count: int) -> list[int]:
    first = 1 + before.count("\n")
    return [first + number * between.count("\n") for number in range(count)]


def test_a_record_that_would_take_long_to_decode_is_left_out_and_the_others_are_read() -> None:
    slow = b'{"a":[' + b"1e308," * 1_000 + b"1]}"
    wide = b'{"a":[' + b"[]," * 60_000 + b"1]}"

    found = list(records(io.BytesIO(b"[" + slow + b',{"b":1},' + wide + b"]")))

    assert [record.raw for record in found] == [b"", b'{"b":1}', b""]
    assert "long exponent" in found[0].problem
    assert found[2].problem == "The record has more than 100,000 values."
