"""An ONNX graph under construction: what the graphs of both models share."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

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
