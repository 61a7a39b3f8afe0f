"""A rule, a kernel and a format from outside the package: one module, found wherever ours are."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import perceptrons as pc
from perceptrons import io, kernels, rules, theory
from perceptrons.cli import main
from perceptrons.cli.options import complete_format
from perceptrons.models import ModelError

#: All that a user writes; CONTRIBUTING.md says it in words.
OUTSIDE = """
from dataclasses import dataclass

import numpy as np

from perceptrons import io, kernels, rules


@rules.rule
def half(m, q, state):
    return (1.0, 0.5) if m <= 0.0 else rules.NO_STEP


def overlap(a, b):
    return float(np.minimum(a, b).sum())


@dataclass(frozen=True)
class Laplace(kernels.Kernel):
    gamma: float = 1.0

    def matrix(self, A, B):
        return np.exp(-self.gamma * np.abs(A.X[:, None, :] - B.X[None, :, :]).sum(axis=2))

    def diagonal(self, A):
        return np.ones(len(A))


def read(text):
    rows = [line.decode().split("|") for line in text.splitlines()]
    return [[float(x) for x in numbers.split()] for _, numbers in rows], [label for label, _ in rows]


rules.register("half", half)
kernels.register("overlap", overlap)
kernels.register("laplace", Laplace)
io.register("pairs", read, endings=(".pairs",))
"""
X = np.array(
    [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [3.0, 1.0, 0.0], [1.0, 3.0, 0.0]]
)
Y = np.array(["ham", "spam", "ham", "spam", "ham", "spam"])
Y3 = np.array(["ham", "spam", "eggs", "eggs", "ham", "spam"])


def forget():
    """Take back what the module has registered."""
    sys.modules.pop("outside", None)
    rules.NAMES.pop("half", None)
    for name in ("overlap", "laplace"):
        kernels.NAMES.pop(name, None)
    io.formats.FORMATS.pop("pairs", None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the module and rows in its format; nothing is imported yet."""
    (tmp_path / "outside.py").write_text(OUTSIDE)
    lines = [f"{label}|{' '.join(map(str, row))}" for label, row in zip(Y, X.tolist(), strict=True)]
    (tmp_path / "mails.pairs").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    yield tmp_path
    forget()


@pytest.fixture
def outside(folder):
    return importlib.import_module("outside")


LATER = pytest.mark.compiled_later


@pytest.mark.parametrize("y", [Y, Y3], ids=["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        pc.OnlineClassifier(rule="half"),
        pytest.param(pc.OnlineClassifier(rule="half", multiclass="ovr", readout="average"), marks=LATER),
        pytest.param(pc.KernelClassifier(rule="half", kernel="overlap"), marks=LATER),
        pc.KernelPerceptron(kernel="overlap"),
        pc.KernelPerceptron(kernel="laplace"),
        pc.MaxMargin(kernel="laplace"),
    ],
    ids=["joint", "one against the rest", "kernel", "kernel of the perceptron", "class", "solver"],
)
def test_learners_take_them_by_name(outside, tmp_path, model, y):
    """Fit under the debug switch, certify, save, load: what the objects themselves would give."""
    if hasattr(model, "partial_fit"):
        model.set_params(shuffle=False, max_iter=50)
    own = {"half": outside.half, "overlap": outside.overlap, "laplace": outside.Laplace()}
    twin = type(model)(**{name: own.get(str(value), value) for name, value in model.get_params().items()})
    with theory.debug():
        model.fit(X, y)
        twin.fit(X, y)
    assert np.array_equal(model.decision_function(X), twin.decision_function(X))
    certificate = pc.certify(model, X, y)
    kernel = {"kernel": own[model.kernel]} if hasattr(model, "kernel_") else {}
    certificate.verify(X, y, **kernel).or_raise()
    pc.save(model, tmp_path / "m")
    again = pc.load(tmp_path / "m")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    if hasattr(model, "partial_fit"):
        again.partial_fit(X, y)


def test_a_kernel_of_ones_own_is_certified_by_pairs(outside):
    """A sum with one of our kernels, too; R is the root of the largest k(x, x). Another kernel is refused."""
    kernel = outside.Laplace(0.5) + kernels.Linear()
    model = pc.KernelPerceptron(kernel=kernel, max_iter=100).fit(X, Y)
    certificate = pc.certify(model, X, Y)
    R = np.sqrt(1.0 + np.max(np.sum(X * X, axis=1)))
    squares = next(bound for bound in certificate.bounds if bound.name == "squares")
    assert squares.allowed == (pytest.approx(model.n_updates_ * R * R, rel=1e-9),)
    assert {"norm", "squares", "hinge_tight"} <= {bound.name for bound in certificate.bounds}
    assert certificate.verify(X, Y, kernel=kernel)
    assert not certificate.verify(X, Y, kernel=outside.Laplace(0.1)) and not certificate.verify(X, Y)
    with pytest.raises(ValueError, match=r"calls Sum.*give X as an array, such as X.toarray\(\)"):
        pc.certify(model, csr_array(X), Y)


def test_a_file_needs_what_it_was_made_with(outside, tmp_path):
    pc.save(pc.OnlineClassifier(rule="half").fit(X, Y), tmp_path / "rule")
    pc.save(pc.KernelPerceptron(kernel="overlap").fit(X, Y), tmp_path / "function")
    pc.save(pc.KernelPerceptron(kernel="laplace").fit(X, Y), tmp_path / "class")
    forget()
    given = {"rule": {"rule": outside.half}, "function": {"kernel": outside.overlap}}
    given["class"] = {"Laplace": outside.Laplace}
    for name, objects in given.items():
        with pytest.raises(
            ModelError, match=f"of yours, '(half|overlap|Laplace)'.*objects={{'{next(iter(objects))}'"
        ):
            pc.load(tmp_path / name)
        model = pc.load(tmp_path / name, objects=objects)
        assert model.predict(X).tolist() == Y.tolist()
    with pytest.raises(ModelError, match="must be a class of kernels"):
        pc.load(tmp_path / "class", objects={"Laplace": 3})


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        (["--rule", "half"], "OnlineClassifier"),
        (["--rule", "half", "--kernel", "overlap"], "KernelClassifier"),
        (["--rule", "kernel-perceptron", "--kernel", "Laplace(gamma=0.5)"], "KernelPerceptron"),
        (["--rule", "perceptron", "--format", "pairs"], "Perceptron"),
    ],
)
def test_the_command_line_finds_them(folder, options, estimator, capsys):
    plugin = ["--plugin", "outside"]
    assert main(["train", "mails.pairs", "-m", "m", "--passes", "9", *options, *plugin, "-q"]) == 0
    assert type(pc.load("m")).__name__ == estimator
    for command in (["evaluate", "m", "mails.pairs"], ["info", "m"]):
        assert main([*command, *plugin]) == 0
    assert main(["certify", "m", "mails.pairs", *plugin]) == 0, capsys.readouterr().err


def test_the_help_lists_the_formats(capsys):
    assert main(["train", "--help"]) == 0
    assert f"[{'|'.join(io.formats.FORMATS)}]" in capsys.readouterr().out
    assert complete_format("c") == ["csv"]


def test_without_the_plugin_nothing_is_found(folder, capsys):
    assert main(["train", "mails.pairs", "-m", "m", "--format", "pairs"]) == 2
    assert (
        "'pairs' is not one of 'libsvm', 'vw', 'fasttext', 'csv', 'tsv', 'jsonl', 'parquet'"
        in capsys.readouterr().err
    )
    assert main(["train", "mails.pairs", "-m", "m", "--rule", "half"]) == 2
    assert "--rule must be one of perceptron, margin" in capsys.readouterr().err
    assert main(["train", "mails.pairs", "-m", "m", "--plugin", "nowhere"]) == 2
    assert "--plugin finds no module 'nowhere'" in capsys.readouterr().err
    assert main(["train", "mails.pairs", "-m", "m", "--plugin", "../outside.py"]) == 2
    (folder / "broken.py").write_text("1 / 0")
    assert main(["train", "mails.pairs", "-m", "m", "--plugin", "broken"]) == 1
    assert "--plugin broken: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("register", "given", "message"),
    [
        (rules.register, ("pa1", rules.rule(lambda m, q, s: rules.NO_STEP)), "not be one of the package"),
        (rules.register, ("winnow", rules.rule(lambda m, q, s: rules.NO_STEP)), "not be one of the package"),
        (rules.register, ("Half", rules.rule(lambda m, q, s: rules.NO_STEP)), "lower-case words"),
        (rules.register, ("half", len), "under @rules.rule"),
        (kernels.register, ("rbf", min), "not be one of the package"),
        (kernels.register, ("a b", min), "lower-case"),
        (kernels.register, ("mine", 3), "a function of two objects or a class"),
        (kernels.register, ("mine", int), "a dataclass under kernels.Kernel"),
        (kernels.register, ("mine", kernels.Gaussian), "with a name of its own"),
        (io.register, ("csv", len), "of a format of the package"),
        (io.register, ("mine", len, (".csv",)), "of a format of the package"),
        (io.register, ("mine", len, ("csv",)), "endings must be such as"),
        (io.register, ("MINE", len), "a word of lower-case"),
        (io.register, ("mine", 3), "a function of some lines"),
    ],
)
def test_names_that_cannot_be_registered(register, given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        register(*given)
    assert not {"half", "mine"} & {*rules.NAMES, *kernels.NAMES, *io.formats.FORMATS}


def test_a_format_that_reads_wrongly(outside):
    with pytest.raises(ValueError, match="lines 1 to 2, as pairs: could not convert"):
        list(io.open_stream(b"ham|1\nham|x\n", "pairs"))
    with pytest.raises(ValueError, match="on_error='skip' is not for format 'pairs'"):
        list(io.open_stream(b"ham|1\n", "pairs", on_error="skip"))
    io.register("pairs", lambda text: ([[1.0]], ["a", "b"]))
    with pytest.raises(ValueError, match="one row, one label"):
        list(io.open_stream(b"ham|1\n", "pairs"))
