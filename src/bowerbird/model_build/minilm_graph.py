"""Writes all-MiniLM-L6-v2 as an ONNX graph with int8 weights.

`build.py` runs it as a program, with onnx and safetensors on the path and three arguments: the
weights, the tokenizer and the folder for the result.
The inputs of the graph are token ids and their mask; the output is one vector of length 1 per
text. The other model uses the same class for its graph.
"""

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

OPSET, IR_VERSION = 20, 10


class Graph:
    """The nodes of the graph in order, and the constants they use."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, name: str, value: Any) -> str:
        if name not in self._constants:
            array = np.ascontiguousarray(value)
            # ascontiguousarray turns a scalar into a vector.
            array = array.reshape(np.shape(value))
            self._constants[name] = numpy_helper.from_array(array, name)
        return name

    def integers(self, *values: int) -> str:
        return self.constant("i" + "_".join(map(str, values)), np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(f"f{value!r}", np.float32(value))

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def model(self, name: str, dimensions: int) -> Any:
        """The inputs are token ids and their mask; the output is one vector per text."""
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        shape = ["texts", dimensions]
        outputs = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, shape)]
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, name, inputs, outputs, constants)
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)


WIDTH, HEADS, LAYERS = 384, 12, 6
HEAD_WIDTH = WIDTH // HEADS
# Added to the attention scores of padding, so that softmax gives it no weight.
PADDING_SCORE = -10_000.0


class MiniLm(Graph):
    def linear(self, x: str, part: str) -> str:
        # Transposed, because the weights are stored as (output, input).
        weight = self.constant(f"{part}.weight", self.weights[f"{part}.weight"].T)
        bias = self.constant(f"{part}.bias", self.weights[f"{part}.bias"])
        return self.node("Add", self.node("MatMul", x, weight), bias)

    def layer_norm(self, x: str, part: str) -> str:
        weight = self.constant(f"{part}.weight", self.weights[f"{part}.weight"])
        bias = self.constant(f"{part}.bias", self.weights[f"{part}.bias"])
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)

    def embed(self) -> str:
        """The sum of the token embeddings and the position embeddings."""
        table = self.weights["embeddings.word_embeddings.weight"]
        words = self.node("Gather", self.constant("words", table), "input_ids")
        # Every token has type 0, so the embedding of that type is added to all positions here.
        table = self.weights["embeddings.position_embeddings.weight"]
        table = table + self.weights["embeddings.token_type_embeddings.weight"][0]
        length = self.node("Gather", self.node("Shape", "input_ids"), self.integers(1), axis=0)
        zero = self.integers(0)
        positions = self.node("Slice", self.constant("places", table), zero, length, zero)
        return self.layer_norm(self.node("Add", words, positions), "embeddings.LayerNorm")

    def layer(self, x: str, number: int, padding: str) -> str:
        part = f"encoder.layer.{number}"
        attended = self.linear(self._attention(x, part, padding), f"{part}.attention.output.dense")
        x = self.layer_norm(self.node("Add", attended, x), f"{part}.attention.output.LayerNorm")
        wide = self.node("Gelu", self.linear(x, f"{part}.intermediate.dense"))
        narrow = self.linear(wide, f"{part}.output.dense")
        return self.layer_norm(self.node("Add", narrow, x), f"{part}.output.LayerNorm")

    def _attention(self, x: str, part: str, padding: str) -> str:
        query, key, value = (
            self._split_heads(self.linear(x, f"{part}.attention.self.{name}"), order)
            for name, order in (
                ("query", [0, 2, 1, 3]),
                ("key", [0, 2, 3, 1]),
                ("value", [0, 2, 1, 3]),
            )
        )
        scale = self.number(float(1 / np.sqrt(HEAD_WIDTH)))
        scores = self.node("Mul", self.node("MatMul", query, key), scale)
        weights = self.node("Softmax", self.node("Add", scores, padding), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.node("Reshape", mixed, self.integers(0, 0, WIDTH))

    def _split_heads(self, x: str, order: list[int]) -> str:
        split = self.node("Reshape", x, self.integers(0, 0, HEADS, HEAD_WIDTH))
        return self.node("Transpose", split, perm=order)

    def pool(self, x: str, mask: str) -> None:
        """The mean of all tokens except padding, normalized to length 1."""
        per_token = self.node("Unsqueeze", mask, self.integers(2))
        one = self.integers(1)
        total = self.node("ReduceSum", self.node("Mul", x, per_token), one, keepdims=0)
        count = self.node("ReduceSum", per_token, one, keepdims=0)
        mean = self.node("Div", total, self.node("Max", count, self.number(1e-9)))
        self.node("LpNormalization", mean, output="embedding", axis=1, p=2)


def minilm(weights: dict[str, Any]) -> Any:
    graph = MiniLm(weights)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    is_padding = graph.node("Sub", graph.number(1.0), mask)
    scores = graph.node("Mul", is_padding, graph.number(PADDING_SCORE))
    padding = graph.node("Unsqueeze", scores, graph.integers(1, 2))
    x = graph.embed()
    for number in range(LAYERS):
        x = graph.layer(x, number, padding)
    graph.pool(x, mask)
    return graph.model("minilm", WIDTH)


def main(weights: Path, tokenizer: Path, folder: Path) -> None:
    # Imported here, because it takes a second.
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - heavy

    # It logs advice for graphs with convolutions, and this one has none.
    logging.disable(logging.WARNING)
    model = minilm(load_file(weights))
    onnx.checker.check_model(model)
    unquantised = folder / "model.fp32.onnx"
    onnx.save(model, unquantised)
    # With one scale per column, vectors have a cosine of 0.99 to those of the original model. With
    # one scale per matrix, the loss is five times as large.
    output = folder / "model.onnx"
    quantize_dynamic(
        unquantised,
        output,
        per_channel=True,
        weight_type=QuantType.QInt8,
        # In a file of its own, which onnxruntime maps into memory instead of copying it.
        use_external_data_format=True,
    )
    unquantised.unlink()
    shutil.copyfile(tokenizer, folder / "tokenizer.json")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
