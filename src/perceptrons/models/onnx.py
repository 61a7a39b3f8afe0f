"""Linear models as ONNX graphs, for programs without Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.classifier import Classifier
from ..core.confidence import SecondOrderPerceptronSpec
from ..core.multiplicative import DisjunctionLearner
from . import files

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto, TensorProto, ValueInfoProto

    from ..theory.run_record import RunRecord

OPSET, IR_VERSION = 17, 8  #: old enough for runtimes of some years ago
LARGEST = (1 << 31) - (1 << 20)  #: protobuf's limit for one message


def export_onnx(model: Classifier, path: str | os.PathLike[str]) -> None:
    r"""Write a linear model as an ONNX graph.

    Input ``X``: float32, (rows, features). Outputs ``label``: (rows,), and ``scores``: (rows,) for two
    classes, (rows, classes) for more, as :math:`\langle w, x\rangle + b`, with ``row_norm="l2"`` divided by
    the length of the row with its constant. A tie is decided as :meth:`predict` decides it. The weights are
    rounded to float32, so a row that is nearly a tie may get the other label.

    Parameters
    ----------
    model : fitted estimator with ``coef_``
        Binary or multiclass, any readout but ``"vote"``. Labels: strings, integers, truth values, floats.
    path : path

    Raises
    ------
    ImportError
        The package onnx is missing.
    ValueError
        The model is not linear, or too large.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("export_onnx needs an extra package: pip install 'perceptrons[onnx]'.") from None
    record = _record(model)
    W, b = _weights(model)
    labels, kind = _labels(record.classes)
    graph = _Graph()
    X = graph.input("X", onnx.TensorProto.FLOAT, ["rows", W.shape[1]])
    scores = graph.node("Add", graph.node("MatMul", X, graph.constant(W.T)), graph.constant(b))
    if record.unit:
        scores = graph.node("Div", scores, _row_lengths(graph, X, record.bias**2))
    binary = len(W) == 1
    if binary:
        scores = graph.node("Squeeze", scores, graph.constant(np.asarray([1], np.int64)))
        codes = _side(graph, scores, len(labels), isinstance(model, DisjunctionLearner))
    else:
        codes = graph.node("ArgMax", scores, axis=1, keepdims=0)
    found = graph.node("Gather", graph.constant(labels), codes, axis=0)
    graph.output("label", found, kind, ["rows"])
    graph.output("scores", scores, onnx.TensorProto.FLOAT, ["rows"] if binary else ["rows", len(W)])
    files.write(path, [graph.serialized()])


def _record(model: Classifier) -> RunRecord:
    """The record of the run; raise where the model is not fitted, or has no graph."""
    name = type(model).__name__
    if not isinstance(model, Classifier):
        raise ValueError(f"export_onnx is for the linear classifiers of perceptrons; got {name}.")
    if model._several:
        raise ValueError(
            f"This {name} has several labels a row, and the graph has one: export one per label."
        )
    record = model.run_record(evidence=False)
    if record.kernel is not None:
        raise ValueError(f"{name} with a kernel is no linear model, which export_onnx needs; use save.")
    if hasattr(model, "ngram_range"):
        raise ValueError(
            f"{name} takes text, and the graph takes numbers: fit a linear model on the rows of a "
            "TextHasher, or use save."
        )
    if record.readout == "vote":
        raise ValueError("readout='vote' is no linear model, which export_onnx needs; fit readout='average'.")
    if isinstance(model, SecondOrderPerceptronSpec):
        raise ValueError("SecondOrderPerceptron divides its scores by a variance of each row; export AROW.")
    return record


def _weights(model: Classifier) -> tuple[np.ndarray, np.ndarray]:
    """(classes or 1, features) and (classes or 1,), in float32."""
    with np.errstate(over="ignore"):
        W, b = model.coef_.astype(np.float32), np.asarray(model.intercept_).astype(np.float32)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ValueError("A weight is too large for float32, which ONNX models have here: scale the data.")
    if W.nbytes > LARGEST:
        raise ValueError(f"The weights take {W.nbytes >> 20} MB, and an ONNX file holds 2047 MB at most.")
    return W, b


def _labels(classes: np.ndarray) -> tuple[np.ndarray, int]:
    """The labels as ONNX has them, and their type there."""
    from onnx import TensorProto

    if classes.dtype.kind in "US" or all(isinstance(label, (str, bytes)) for label in classes):
        as_text = [s.decode() if isinstance(s, bytes) else str(s) for s in classes.tolist()]
        return np.asarray(as_text, object), int(TensorProto.STRING)
    if classes.dtype.kind == "b":
        return classes, int(TensorProto.BOOL)
    if classes.dtype.kind in "iu":
        if int(classes.max(initial=0)) >= 2**63:
            raise ValueError("A label is too large for int64, which ONNX models have here.")
        return classes.astype(np.int64), int(TensorProto.INT64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64), int(TensorProto.DOUBLE)
    raise ValueError(f"Labels of type {classes.dtype} have no counterpart in ONNX: use strings or integers.")


def _row_lengths(graph: _Graph, X: str, bias2: float) -> str:
    """sqrt(sum x^2 + B^2), or 1 where that is 0: (rows, 1)."""
    axes = graph.constant(np.asarray([1], np.int64))
    squares = graph.node("ReduceSum", graph.node("Mul", X, X), axes, keepdims=1)
    lengths = graph.node("Sqrt", graph.node("Add", squares, graph.constant(np.float32(bias2))))
    nothing = graph.node("Equal", lengths, graph.constant(np.float32(0.0)))
    return graph.node("Where", nothing, graph.constant(np.float32(1.0)), lengths)


def _side(graph: _Graph, scores: str, n_labels: int, tie_is_positive: bool) -> str:
    """0 or 1: on which side of the hyperplane a row is."""
    from onnx import TensorProto

    test = "GreaterOrEqual" if tie_is_positive else "Greater"
    code = graph.node(
        "Cast", graph.node(test, scores, graph.constant(np.float32(0.0))), to=int(TensorProto.INT64)
    )
    return code if n_labels == 2 else graph.node("Mul", code, graph.constant(np.int64(0)))


class _Graph:
    """An ONNX graph under construction; a node has the name of its result."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []

    def input(self, name: str, kind: int, shape: list[int | str]) -> str:
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, value: str, kind: int, shape: list[int | str]) -> None:
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, value: npt.ArrayLike) -> str:
        from onnx import numpy_helper

        name = f"c{len(self._constants)}"
        self._constants.append(
            numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        )
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def serialized(self) -> bytes:
        import onnx
        from onnx import helper

        graph = helper.make_graph(self._nodes, "perceptrons", self._inputs, self._outputs, self._constants)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="perceptrons",
        )
        onnx.checker.check_model(made, full_check=True)
        raw: bytes = made.SerializeToString()
        return raw
