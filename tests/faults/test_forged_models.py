"""Model files with the right digest and the wrong contents: refused, or harmless."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from plain_texts import PLAIN

import perceptrons as pc
from perceptrons import kernels
from perceptrons.models import ModelError, container, load, save

RNG = np.random.default_rng(11)
X = RNG.integers(0, 2, size=(24, 4)).astype(float)
Y = (X[:, 0] > X[:, 1]).astype(int)
Y3 = (X[:, 0] + 2 * X[:, 1]).astype(int) % 3
WORDS = ["".join(RNG.choice(list("abc"), size=4)) for _ in range(24)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.model"
    save(pc.VotedPerceptron().fit(X, Y), path)
    return path


# ---------------------------------------------------------------- files that somebody has written


def forged(path: Any, change: Any) -> None:
    """Change the text or the arrays of a file, and give it the digest that goes with them."""
    contents = container.read(path)
    table, arrays = json.loads(contents.text), dict(contents.arrays)
    table = change(table, arrays) or table
    made = container.pieces(container.Contents(json.dumps(table), arrays))
    path.write_bytes(b"".join(bytes(piece) for piece in made))


def test_a_later_format_is_named_with_the_way_out(file, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 7)
    forged(file, lambda table, arrays: None)
    monkeypatch.undo()
    with pytest.raises(ModelError, match=r"format version 7, .* up to 2: pip install --upgrade perceptrons"):
        load(file)


def test_an_estimator_that_is_not_there(file):
    def change(table, arrays):
        for node in table["nodes"]:
            if node["k"] == "estimator":
                node["of"] = "QuantumPerceptron"

    forged(file, change)
    with pytest.raises(ModelError, match=r"'QuantumPerceptron', and this version .* pip install --upgrade"):
        load(file)


@pytest.mark.parametrize("name", ["certify", "rules", "os.system", "__version__", "builtins.eval"])
def test_no_file_can_name_a_function(file, name):
    def change(table, arrays):
        for node in table["nodes"]:
            if node["k"] in ("estimator", "record", "object"):
                node["of"] = name

    forged(file, change)
    with pytest.raises(ModelError):
        load(file)


def test_methods_cannot_be_replaced(file):
    def change(table, arrays):
        for node in table["nodes"]:
            if node["k"] == "estimator":
                node["v"]["predict"] = 7

    forged(file, change)
    with pytest.raises(ModelError, match="no attribute 'predict'"):
        load(file)


def test_a_table_that_multiplies_itself(file):
    """Each node holds the one before many times over: small on the disk, endless when walked."""

    def change(table, arrays):
        nodes = table["nodes"] = [{"k": "list", "v": []}]
        for place in range(40):
            nodes.append({"k": "list", "v": [[place]] * 50})
        table["root"] = [40]

    forged(file, change)
    with pytest.raises(ModelError, match="more objects, or deeper ones"):
        load(file)


def test_a_node_cannot_refer_to_itself_or_ahead(file):
    def change(table, arrays):
        table["nodes"] = [{"k": "list", "v": [[0]]}]

    forged(file, change)
    with pytest.raises(ModelError, match="no value"):
        load(file)


def changed(kind: str, **values: Any) -> Any:
    """Give the arrays behind the attributes of an object other values."""

    def change(table, arrays):
        nodes = table["nodes"]
        found = [node for node in nodes if node.get("of") == kind]
        assert found
        for name, value in values.items():
            place = found[0]["v"][name]
            node = nodes[place[0]]
            while node["k"] != "array":
                node = nodes[node["v"][0][0]]
            arrays[node["v"]] = value(arrays[node["v"]])

    return change


def journal_array(name: str, value: Any) -> Any:
    """Change one array of the log of updates."""

    def change(table, arrays):
        nodes = table["nodes"]
        log = next(node for node in nodes if node.get("of", "").startswith("journal."))
        pieces = nodes[log["v"]["_pieces"][0]]
        keys, values = (nodes[pieces[part][0]]["v"] for part in ("keys", "values"))
        array = nodes[nodes[values[keys.index(name)][0]]["v"][0][0]]
        arrays[array["v"]] = value(arrays[array["v"]])

    return change


def stretched(a):
    return np.concatenate([a, a])


BUDGET = {"budget": 3}
SPACES = [
    ("Perceptron", {}, X, Y, changed("space.Linear", v=lambda v: v[:-2]), "fewer weights"),
    ("Perceptron", {}, X, Y, changed("space.Linear", v=lambda v: v.astype("f4")), "no array of float64"),
    ("Perceptron", {}, X, Y, changed("space.Linear", v=lambda v: v[None]), "shape"),
    ("Perceptron", {}, X, Y, changed("space.Linear", state=lambda s: s[:5]), "scalars"),
    ("Perceptron", {}, X, Y, changed("space.Linear", state=lambda s: s * np.nan), "counter"),
    ("AveragedPerceptron", {}, X, Y, changed("space.Linear", A=lambda a: a[:-1]), "A has shape"),
    ("Perceptron", {}, X, Y3, changed("space.Joint", v=lambda v: v[:, :2].copy()), "differ in number"),
    ("AROW", {"covariance": "full"}, X, Y, changed("space.Confident", sigma=lambda s: s[:2, :2]), "sigma"),
    ("Winnow", {}, X, Y, changed("space.Multiplicative", u=lambda u: u[:2]), "u has shape"),
    ("Elimination", {}, X, Y, changed("space.Elimination", negated=stretched), "negated has shape"),
    ("VotedPerceptron", {}, X, Y, journal_array("position", lambda p: p + 1000), "not there"),
    ("VotedPerceptron", {}, X, Y, journal_array("position", lambda p: p - 1000), "not there"),
    ("VotedPerceptron", {}, X, Y, journal_array("alpha", lambda a: a[:-1]), "alpha has shape"),
    ("VotedPerceptron", {}, X, Y, journal_array("support", stretched), "rows of the log are missing"),
    ("KernelPerceptron", {}, X, Y, changed("support.Support", numbers=stretched), "numbers has shape"),
    ("KernelPerceptron", {"readout": "vote"}, X, Y, journal_array("position", lambda p: p + 50), "not there"),
    ("BudgetKernelPerceptron", BUDGET, X, Y, changed("space.Budget", _tally=lambda t: t + 9), "longer"),
    ("BudgetKernelPerceptron", BUDGET, X, Y, changed("space.Budget", _where=lambda w: w[:1]), "places"),
    ("BudgetKernelPerceptron", BUDGET, X, Y, changed("space.Budget", _uniforms=lambda u: u - 5), "random"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params", "X", "y", "change", "message"), SPACES)
def test_arrays_that_loops_would_run_beyond(tmp_path, name, params, X, y, change, message):
    path = tmp_path / "a.model"
    save(getattr(pc, name)(**{"random_state": 0} | params).fit(X, y), path)
    forged(path, change)
    with pytest.raises(ModelError, match=message):
        load(path)


@pytest.mark.parametrize("shift", [-1, 1 << 20])
def test_indices_of_a_matrix_that_lead_astray(tmp_path, shift):
    path = tmp_path / "a.model"
    save(pc.KernelPerceptron(kernel="linear").fit(sp.csr_array(X), Y), path)

    def change(table, arrays):
        node = next(node for node in reversed(table["nodes"]) if node["k"] == "csr")
        indices = table["nodes"][node["v"][1][0]]["v"]
        arrays[indices] = arrays[indices] + arrays[indices].dtype.type(shift)

    forged(path, change)
    with pytest.raises(ModelError, match="index outside"):
        load(path)


@pytest.mark.parametrize(
    ("make", "key", "value"),
    [
        (np.random.MT19937, "pos", 10**9),
        (np.random.MT19937, "pos", -1),
        (np.random.Philox, "buffer_pos", 4000),
        (np.random.PCG64, "uinteger", -3),
        (np.random.PCG64, "bit_generator", "system"),
    ],
)
def test_generators_that_would_read_beyond_their_state(tmp_path, make, key, value):
    path = tmp_path / "a.model"
    rng = np.random.Generator(make(1))
    save(pc.BudgetKernelPerceptron(budget=3, random_state=rng).fit(X, Y), path)

    def change(table, arrays):
        nodes = table["nodes"]
        for node in nodes:
            if node["k"] == "dict" and key in nodes[node["keys"][0]]["v"]:
                values = nodes[node["values"][0]]["v"]
                values[nodes[node["keys"][0]]["v"].index(key)] = value

    forged(path, change)
    with pytest.raises(ModelError, match=r"generator|must be an integer"):
        load(path)


def test_classes_out_of_order(tmp_path):
    path = tmp_path / "a.model"
    save(pc.Perceptron().fit(X, Y3), path)
    forged(path, changed("Perceptron", classes_=lambda c: c[::-1]))
    with pytest.raises(ModelError, match="ascending"):
        load(path)


def test_named_features_at_wrong_places(tmp_path):
    path = tmp_path / "a.model"
    model = pc.Perceptron()
    for i in range(20):
        model.learn_one({f"w{i}": 1.0, "always": 1.0}, i % 2)
    save(model, path)

    def change(table, arrays):
        for name, a in arrays.items():
            if a.dtype == np.int64 and a.tolist() == list(range(21)):
                arrays[name] = a + 10**6

    forged(path, change)
    with pytest.raises(ModelError, match="not numbered"):
        load(path)


# ---------------------------------------------------------------- attributes that nobody has fitted


def given_attribute(name: str, *nodes: Any) -> Any:
    """Give the estimator one more attribute: the last of these nodes, which refer to each other from 0 on."""

    def change(table, arrays):
        old = table["nodes"]
        table["nodes"] = [*nodes, *(_moved(node, len(nodes)) for node in old)]
        for key in ("root", "position"):
            table[key] = _moved(table[key], len(nodes))
        table["nodes"][table["root"][0]]["v"][name] = [len(nodes) - 1]
        arrays["new"] = np.zeros(3)

    return change


def _moved(x: Any, by: int) -> Any:
    if isinstance(x, list) and len(x) == 1 and type(x[0]) is int:
        return [x[0] + by]
    if isinstance(x, list):
        return [_moved(item, by) for item in x]
    return {key: _moved(value, by) for key, value in x.items()} if isinstance(x, dict) else x


LIST = {"k": "list", "v": []}
PAIR = [{"k": "list", "v": ["a"]}, {"k": "list", "v": [10**9]}, {"k": "dict", "keys": [0], "values": [1]}]
COLUMNS = [{"k": "list", "v": [10**9]}, {"k": "list", "v": ["a"]}, {"k": "dict", "keys": [0], "values": [1]}]
ARRAY = {"k": "array", "v": "new"}
UNFITTED = [
    ("Perceptron", "_names", PAIR),
    ("Perceptron", "_given_names", [ARRAY]),
    ("Perceptron", "n_features_in_", [{"k": "scalar", "v": [0]}]),
    ("Perceptron", "classes_", [ARRAY]),
    ("Perceptron", "random_step_", [LIST]),
    ("Perceptron", "_journals", [LIST]),
    ("Perceptron", "_core", [ARRAY]),
    ("Perceptron", "_readout", [LIST]),
    ("Perceptron", "coef_", [ARRAY]),
    ("Perceptron", "__class__", [LIST]),
    ("Perceptron", "random_state", [LIST]),
    ("MarginPerceptron", "gamma_", [LIST]),
    ("TextClassifier", "_words", COLUMNS),
    ("TextClassifier", "_hashing", [LIST]),
    ("SmallTextClassifier", "_words", COLUMNS),
    ("SmallTextClassifier", "_table", [LIST]),
    ("SmallTextClassifier", "classes_", [ARRAY]),
    ("TextHasher", "_words", COLUMNS),
    ("TextHasher", "_hasher", [LIST]),
    ("TextHasher", "classes_", [ARRAY]),
    ("KernelPerceptron", "kernel_", [{"k": "kernel", "of": "kernel.Linear", "v": {}}]),
    ("KernelPerceptron", "_known", [LIST]),
    ("BudgetKernelPerceptron", "_draws", [LIST]),
    ("MaxMargin", "support_", [ARRAY]),
    ("RiskDescent", "radius_", [LIST]),
]


@pytest.mark.parametrize(("name", "attribute", "nodes"), UNFITTED, ids=lambda x: x if type(x) is str else "")
def test_what_nobody_has_fitted_has_parameters_only(tmp_path, name, attribute, nodes):
    path = tmp_path / "a.model"
    save(getattr(pc, name)(), path)
    assert isinstance(load(path), getattr(pc, name))
    forged(path, given_attribute(attribute, *nodes))
    with pytest.raises(ModelError):
        load(path)


def test_a_private_attribute_that_no_file_can_hold_is_told_when_the_model_is_saved(tmp_path):
    model = pc.Perceptron().fit(X, Y)
    model._mine = 3
    with pytest.raises(ModelError, match="Perceptron has no attribute '_mine' that could be stored"):
        save(model, tmp_path / "a.model")


@pytest.mark.parametrize("width", [3, 5])
def test_rows_of_a_kernel_that_differ_in_width(tmp_path, width):
    path = tmp_path / "a.model"
    save(pc.KernelPerceptron(kernel="linear").fit(X, Y), path)
    forged(path, changed("rows.Rows", X=lambda a: np.zeros((len(a), width))))
    with pytest.raises(ModelError, match="differ in width"):
        load(path)


TABLES = [
    (changed("table.WeightTable", gaps=lambda g: np.append(g, np.uint8(3))), "codes has shape"),
    (
        changed("table.WeightTable", gaps=lambda g: np.append(g[:-1], [255, 255, 127]).astype("u1")),
        "no column",
    ),
    (changed("table.WeightTable", gaps=lambda g: np.append(g[:-1], np.uint8(200))), "no end"),
    (changed("table.WeightTable", gaps=lambda g: g.astype("i2")), "no array of uint8"),
    (changed("table.WeightTable", codes=lambda c: c[:-1]), "codes has shape"),
    (changed("table.WeightTable", codes=lambda c: c.view("u1")), "no array of int8"),
    (changed("table.WeightTable", scales=stretched), "differ in number"),
    (changed("table.WeightTable", scales=stretched, bias=stretched), "differ in number"),
    (changed("table.WeightTable", scales=lambda s: s * np.nan), "not finite"),
    (changed("table.WeightTable", steps=lambda s: np.zeros(4, "u1")), "steps has shape"),
]


@pytest.mark.parametrize(("change", "message"), TABLES)
def test_a_table_of_weights_that_leads_astray(tmp_path, change, message):
    path = tmp_path / "a.model"
    texts = [f"{word} {word[::-1]}" for word in WORDS]
    save(pc.shrink(pc.TextClassifier(bits=10).fit(texts, Y), size_mb=0.01), path)
    assert load(path).predict(texts).shape == Y.shape
    forged(path, change)
    with pytest.raises(ModelError, match=message):
        load(path)


def test_a_table_of_weights_that_is_wider_than_its_rows(tmp_path):
    path = tmp_path / "a.model"
    save(pc.shrink(pc.TextClassifier(bits=10).fit(WORDS, Y), size_mb=0.01), path)

    def change(table, arrays):
        for node in table["nodes"]:
            if node.get("of") == "table.WeightTable":
                node["v"]["n_columns"] = 1 << 20

    forged(path, change)
    with pytest.raises(ModelError, match="features and weights differ in number"):
        load(path)


# ---------------------------------------------------------------- any change at all


def named() -> Any:
    model = pc.Perceptron()
    for x, label in zip(NAMED, Y):
        model.learn_one(x, label)
    return model


NAMED = [{f"w{j}": 1.0 for j, x in enumerate(row) if x} for row in np.hstack([X, X.T[:, :4].repeat(6, 0)])]
MODELS = {
    "linear": lambda: pc.AveragedPerceptron(shuffle=False).fit(X, Y),
    "joint": lambda: pc.PassiveAggressive(shuffle=False, log_updates=True).fit(X, Y3),
    "rest": lambda: pc.OnlineClassifier(shuffle=False, multiclass="ovr", readout="vote").fit(
        sp.csr_array(X), Y3
    ),
    "vote": lambda: pc.VotedPerceptron(shuffle=False).fit(X, Y),
    "confident": lambda: pc.AROW(shuffle=False, covariance="full").fit(X, Y),
    "text": lambda: pc.TextClassifier(**PLAIN, shuffle=False, bits=5, keep_names=True).fit(WORDS, Y),
    "idf": lambda: pc.TextClassifier(shuffle=False, bits=5, idf=True).fit(WORDS, Y),
    "idf of several": lambda: pc.TextClassifier(shuffle=False, bits=5, idf=True, rule="arow").fit(WORDS, Y3),
    "named": lambda: named(),
    "winnow": lambda: pc.Winnow(shuffle=False).fit(X, Y),
    "elimination": lambda: pc.Elimination(shuffle=False, literals="all").fit(X, Y3),
    "kernel": lambda: pc.KernelPerceptron(shuffle=False, readout="vote").fit(sp.csr_array(X), Y),
    "strings": lambda: pc.KernelClassifier(shuffle=False, kernel=kernels.Spectrum(2)).fit(WORDS, Y3),
    "budget": lambda: pc.BudgetKernelPerceptron(shuffle=False, budget=4, random_state=1).fit(X, Y),
    "projectron": lambda: pc.BudgetKernelPerceptron(shuffle=False, budget=4, policy="projectron").fit(X, Y3),
    "margin": lambda: pc.MaxMargin(C=1.0, kernel="gaussian").fit(X, Y),
    "risk": lambda: pc.RiskDescent(max_steps=10).fit(X, Y3),
}

NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 5, 24, 1000, 2**31, 2**40, 2**63 - 1, -(2**63)])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.sampled_from([0.5, -1.5, 1e308, 1e-320]),
    st.sampled_from(
        ["last", "vote", "auto", "cuda", "inf", "0", "3", "Perceptron", "space.Joint", "rule.PA1", "<U3"]
    ),
    st.integers(0, 80).map(lambda place: [place]),
    st.lists(NUMBERS, max_size=3),
)


def leaves(x: Any, found: list[Any]) -> list[Any]:
    """Every place in a JSON value: (container, key)."""
    keys = x.keys() if isinstance(x, dict) else range(len(x)) if isinstance(x, list) else ()
    for key in keys:
        found.append((x, key))
        leaves(x[key], found)
    return found


def mutated_array(draw: Any, a: np.ndarray) -> np.ndarray:
    kind = draw(st.sampled_from(["value", "values", "cut", "grow", "type", "axes", "order"]))
    if kind in ("value", "values") and a.size:
        value = (
            draw(NUMBERS)
            if a.dtype.kind in "iu"
            else draw(st.sampled_from([0.0, -1.0, 1e300, np.inf, np.nan, 7.0]))
        )
        a = a.copy()
        with np.errstate(all="ignore"):
            changed = np.asarray(value).astype(a.dtype)
        if kind == "values":
            a[...] = changed
        else:
            a.reshape(-1)[draw(st.integers(0, a.size - 1))] = changed
        return a
    if kind == "cut" and a.ndim and len(a):
        return a[: draw(st.integers(0, len(a) - 1))]
    if kind == "grow" and a.ndim:
        return np.concatenate([a, a, a[:1]])
    if kind == "type":
        with np.errstate(all="ignore"):
            return a.astype(
                draw(st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]))
            )
    if kind == "order" and a.ndim:
        return a[::-1]
    return a[None]


@st.composite
def mutations(draw: Any) -> Any:
    """A change of the arrays and the text of a file, as a function."""
    data = draw(st.data())

    def change(table: Any, arrays: Any) -> None:
        for _ in range(data.draw(st.integers(1, 2))):
            if arrays and data.draw(st.booleans()):
                name = data.draw(st.sampled_from(sorted(arrays)))
                arrays[name] = mutated_array(data.draw, arrays[name])
                continue
            holder, key = data.draw(st.sampled_from(leaves(table["nodes"], [])))
            if isinstance(holder, dict) and data.draw(st.integers(0, 4)) == 0:
                holder.pop(key, None)
            elif isinstance(holder, (dict, list)) and (isinstance(holder, dict) or key < len(holder)):
                holder[key] = data.draw(LEAVES)

    return change


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for name, make in MODELS.items():
        save(make(), folder / name)
    return folder


@settings(
    deadline=None,
    max_examples=int(os.environ.get("FORGED_FILES", "150")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(name=st.sampled_from(sorted(MODELS)), change=mutations())
def test_a_forged_file_is_refused_or_harmless(originals, name, change):
    path = originals / "forged"
    path.write_bytes((originals / name).read_bytes())
    try:
        forged(path, change)
        model = load(path)
    except ModelError:
        event("refused")
        return
    event("loaded")
    rows: Any = {"strings": WORDS, "text": WORDS, "named": NAMED}.get(name, X)
    labels = model.classes_[np.arange(24) % len(model.classes_)] if len(model.classes_) else Y
    for use in (
        lambda: model.predict(rows),
        lambda: model.partial_fit(rows, labels),
        lambda: model.learn_one(rows[0], labels[0]),
        lambda: model.predict_one(rows[1]),
        lambda: model.predict(rows),
    ):
        with np.errstate(all="ignore"):
            try:
                use()
            except IndexError:
                raise
            except Exception:  # nonsense may be refused when it is used; memory must stay whole
                pass
