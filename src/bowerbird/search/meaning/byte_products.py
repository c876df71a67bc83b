"""Multiplies a query with many vectors of bytes, which are the columns of a matrix.

numpy has no fast product of bytes. onnxruntime has, so this is a graph with one operation. Most of
its time is spent on copying the columns in the order in which it reads them. If they are a constant
of the graph, it copies them once, and a product takes an eighth of the time.
"""

from functools import cache
from typing import Any, Final, NamedTuple

from bowerbird.search.meaning.arrays import Floats, NDArray, np

Bytes = NDArray[np.int8]
Sums = NDArray[np.int32]

# Processors without VNNI add two products in 16 bits, so two times twice the value times 128 has to
# fit.
_MAX_VALUE: Final = 64
# A value of a query is this times its first byte plus its second byte: 14 bits, because 7 change
# similarities by up to 0.004. The second costs hardly more, as the columns are read once for both.
_FIRST: Final = 128
_UINT8, _INT8, _INT32 = 2, 3, 6
_IR_VERSION, _OPSET = 10, 20
# How many columns are copied together, so that they stay in the processor's cache.
_COPIED: Final = 512
# A constant is not worth its memory for fewer.
_CONSTANT_FROM: Final = 2_048


class Query(NamedTuple):
    """Vectors as whole numbers: two rows of bytes and a scale for each."""

    values: "NDArray[np.uint8]"
    scales: Floats

    @classmethod
    def of(cls, vectors: Floats) -> "Query":
        """One vector, or several as rows."""
        rows = np.atleast_2d(vectors)
        highest = np.maximum(np.abs(rows).max(axis=1), np.float32(1e-12))
        scales = highest / np.float32(_MAX_VALUE * _FIRST)
        values = np.rint(rows / scales[:, None]).astype(np.int32)
        first = np.rint(values / _FIRST).astype(np.int32)
        both = np.stack((first, values - _FIRST * first), axis=1).reshape(-1, rows.shape[1])
        # The operation is fast only without negative values; products subtract what is added.
        return cls((both + _MAX_VALUE).astype(np.uint8), scales)


class Columns:
    """Vectors of bytes, and the sum of each."""

    def __init__(self, values: Bytes, sums: Sums | None = None) -> None:
        self.values = values
        self.sums: Sums = values.sum(axis=0, dtype=np.int32) if sums is None else sums
        self._session: Any = None

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def size(self) -> int:
        copies = 2 if len(self) >= _CONSTANT_FROM else 1
        return copies * self.values.nbytes + self.sums.nbytes

    def products(self, query: Query) -> Floats:
        """The product of each column with a query; with several rows, the highest of each."""
        found = self._run(query.values)
        added = self.sums * np.int32(_MAX_VALUE * (_FIRST + 1))
        products = []
        for row, scale in enumerate(query.scales):
            product = found[2 * row]
            product *= np.int32(_FIRST)
            product += found[2 * row + 1]
            product -= added
            products.append(np.multiply(product, scale, dtype=np.float32))
        best: Floats = products[0] if len(products) == 1 else np.maximum.reduce(products)
        return best

    @property
    def is_constant(self) -> bool:
        """Whether products are as fast as they can be."""
        return self._session is not None or len(self) < _CONSTANT_FROM

    def make_constant(self) -> None:
        """Makes later products faster. Takes as long as three products."""
        if not self.is_constant:
            self._session = _session(self.values)

    def _run(self, values: "NDArray[np.uint8]") -> Sums:
        session = self._session
        inputs: dict[str, Any] = {"vectors": values}
        if session is None:
            inputs["columns"] = self.values
        found: Sums = (session or _any_columns()).run(None, inputs)[0]
        return found


def transposed(rows: Bytes) -> Bytes:
    """A copy with rows as columns, or the other way round."""
    found = np.empty(rows.shape[::-1], np.int8)
    for first in range(0, len(rows), _COPIED):
        found[:, first : first + _COPIED] = rows[first : first + _COPIED].T
    return found


@cache
def _any_columns() -> Any:
    return _session(None)


def _session(constant: Bytes | None) -> Any:
    # Imported late, like the models: it takes 30 MB.
    import onnxruntime  # noqa: PLC0415 - see above

    options = onnxruntime.SessionOptions()
    # A scan has its own threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    if constant is not None:
        level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
        # Not a part of the graph's bytes, which would copy it twice more.
        value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(constant, _INT8)
        options.add_external_initializers(["columns"], [value])
    shape = None if constant is None else constant.shape
    return onnxruntime.InferenceSession(_graph(shape), options, providers=["CPUExecutionProvider"])


def _graph(constant: tuple[int, ...] | None) -> bytes:
    """The graph as ONNX's protobuf message. The package onnx is only installed for builds."""
    node = _text(1, "vectors") + _text(1, "columns") + _text(2, "result")
    graph = _field(1, node + _text(4, "MatMulInteger")) + _text(2, "product")
    if constant is not None:
        sizes = b"".join(_number(1, size) for size in constant)
        # Its values are outside of the graph; the location is a name that nothing reads.
        outside = _field(13, _text(1, "location") + _text(2, "memory")) + _number(14, 1)
        graph += _field(5, sizes + _number(2, _INT8) + _text(8, "columns") + outside)
    graph += _field(11, _value("vectors", _UINT8, "rows", "width"))
    if constant is None:
        graph += _field(11, _value("columns", _INT8, "width", "count"))
    graph += _field(12, _value("result", _INT32, "rows", "count"))
    return _number(1, _IR_VERSION) + _field(7, graph) + _field(8, _number(2, _OPSET))


def _value(name: str, kind: int, *sizes: str) -> bytes:
    shape = b"".join(_field(1, _text(2, size)) for size in sizes)
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return bytes([number << 3]) + _varint(value)


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
