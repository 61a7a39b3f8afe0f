"""Every number of the table, computed again; every sentence from a number."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from strategies import best_l1_margin, best_margin

import perceptrons as pc
from perceptrons import advise, datasets, proofs, theory
from perceptrons.proofs import _measuring
from perceptrons.proofs.advice import _compare, _sentences


def rows(X, B=1.0):
    return np.hstack([X, np.full((len(X), 1), B)]) if B else X


@pytest.fixture(scope="module")
def far():
    toy = datasets.clouds_far()
    return toy, advise(toy.X, toy.y)


# --------------------------------------------------------------------------------------- the numbers


def test_each_treatment_is_measured_as_described(far):
    toy, advice = far
    X, y = toy.X, toy.y
    R = theory.radius(X)
    middle = (X[y > 0].mean(axis=0) + X[y < 0].mean(axis=0)) / 2
    unit = rows(X) / np.linalg.norm(rows(X), axis=1, keepdims=True)
    squares = [np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, :1] * X[:, 1:]]
    expected = {
        "as given, B = 1": rows(X),
        "B = R": rows(X, float(f"{R:.4g}")),  # as it is printed
        "no intercept": X,
        "centred at the mean": rows(X - X.mean(axis=0)),
        "centred between the classes": rows(X - middle),
        "unit variance": rows(X / X.std(axis=0)),
        "centred, unit variance": rows(StandardScaler().fit_transform(X)),
        "L2 rows": unit,
        "degree 2": rows(np.hstack(squares)),
    }
    for name, Z in expected.items():
        t = advice[name]
        best = best_margin(Z, y)
        assert pytest.approx(theory.radius(Z)) == t.R, name
        assert t.gamma_low <= best * (1 + 1e-6) and best <= t.gamma_up * (1 + 1e-6), name
        assert t.gamma_low == pytest.approx(t.gamma_up, rel=1e-6), name
        assert t.ratio_up == pytest.approx((t.R / t.gamma_low) ** 2), name
        model = pc.Perceptron(fit_intercept=False, max_iter=1000, random_state=0).fit(Z, y)
        assert (t.updates, t.clean) == (model.n_updates_, True), name
        assert t.updates <= t.ratio_up
        assert t.first_pass == model.history_[0]["mistakes"]


def test_far_from_the_origin_a_larger_constant_helps(far):
    _, advice = far
    given, wide = advice["as given, B = 1"], advice["B = R"]
    assert wide.ratio_up < given.ratio_up / 3
    root = advice["B = √(R|b|)"]
    B = float(re.search(r"intercept_scaling=([\d.]+)", root.how)[1])
    assert B > 1 and root.ratio_up < given.ratio_up
    assert advice.best.name.startswith("centred") and advice.verdict == "separable"


def test_centring_can_hurt():
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [95, 5])
    X = np.outer(y, [1.0, 0.0]) + rng.normal(scale=0.1, size=(100, 2))
    advice = advise(X, y)
    given, mean = advice["as given, B = 1"], advice["centred at the mean"]
    assert mean.R > given.R and mean.gamma_up < given.gamma_low
    assert mean.ratio_low > 2 * given.ratio_up
    assert advice["centred between the classes"].ratio_up < mean.ratio_low


def test_perceptron_or_winnow(far):
    toy, advice = far
    perceptron, winnow = advice.learners
    Z = rows(toy.X)
    best = best_l1_margin(Z, toy.y)
    assert winnow.gamma_low == pytest.approx(best) and winnow.gamma_up == pytest.approx(best)
    assert winnow.radius == np.abs(Z).max()
    assert winnow.bound_up == pytest.approx(2 * winnow.radius**2 * np.log(2 * 3) / best**2)
    assert winnow.updates <= winnow.bound_up and perceptron.updates <= perceptron.bound_up
    assert any("favour the perceptron" in sentence for sentence in advice.sentences)


def test_many_irrelevant_inputs_favour_winnow():
    data = proofs.k_of_r(n_rows=300, n_inputs=600, r=1)
    perceptron, winnow = (advice := advise(data.X, data.y)).learners
    assert winnow.bound_up < perceptron.bound_low and winnow.updates < perceptron.updates
    assert any("favour balanced Winnow" in sentence for sentence in advice.sentences)


def test_where_the_length_comes_from(far):
    toy, advice = far
    first = advice.features[0]
    share = (toy.X**2).sum(axis=0) / (toy.X**2).sum()
    assert first.column == np.argmax(share) and first.length_share == pytest.approx(share.max())
    assert first.margin_share < 0.1
    assert any(f"Feature {first.column} makes up" in sentence for sentence in advice.sentences)


def test_what_to_do_is_said_first(far):
    _, advice = far
    best = advice.best
    assert advice.sentences[1].startswith(f"Best: {best.name}, {best.how}.")
    assert f"{best.updates} update with it" in advice.sentences[1]


def test_small_differences_are_not_called_better_or_worse():
    """The order of the rows alone moves a count by about its root."""
    given = advise(*datasets.four_points()[:2]).treatments[0]._replace(clean=True, updates=600)
    near, far = given._replace(updates=640), given._replace(updates=800)
    assert _compare(near, given) == 0 and _compare(given, near) == 0
    assert _compare(far, given) == 1 and _compare(given, far) == -1
    stopped = given._replace(clean=False, first_pass=1)
    assert _compare(given, stopped) == -1 and _compare(stopped, given) == 1
    assert _compare(stopped._replace(first_pass=20), stopped._replace(first_pass=15)) == 0
    text = " ".join(
        _sentences([given, near._replace(name="near"), far._replace(name="far")], [], [], "separable", 4)
    )
    assert "Nothing that was tried does clearly better" in text
    assert "No clear difference, another order of the rows might turn it round: near." in text
    assert "More work: far." in text


def test_unit_variance_can_hurt_and_the_reason_is_told():
    """The one feature that matters is the long one: scaling makes the noise as long."""
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.01, size=(60, 20))
    y = np.repeat([1, -1], 30)
    X[:, 0] = y * rng.uniform(1.0, 2.0, 60)
    advice = advise(X, y)
    assert advice["unit variance"].ratio_low > advice.treatments[0].ratio_up
    sentence = next(s for s in advice.sentences if s.startswith("Unit variance"))
    assert "scaled alike, the features that matter less are as long" in sentence


def test_a_solver_that_stops_short_is_asked_again():
    """Dependent rows on which non-negative least squares answers far below the optimum, in one unit."""
    data = proofs.shrinking_margin(0.0, gamma=0.5, bias=8.0)
    Z = rows(data.X, 8.0)
    *_, (w, up) = _measuring._least_distance(Z, data.y)
    assert theory.gamma_low(w, Z, data.y) == pytest.approx(0.5, rel=1e-6) and up == pytest.approx(
        0.5, rel=1e-6
    )


# ------------------------------------------------------------------------------------ not separable


def test_where_no_plane_separates():
    toy = datasets.overlapping_clouds()
    advice = advise(toy.X, toy.y)
    given = advice.treatments[0]
    assert advice.verdict == "not separable" and not advice.learners
    assert given.gamma_up <= 1e-12 and given.ratio_up == np.inf and not given.clean
    assert given.first_pass <= given.hinge < 2 * len(toy.y)
    assert "no plane separates" in advice.sentences[0] and "hinge bound" in advice.sentences[0]
    run = pc.Perceptron(max_iter=1, random_state=0).fit(toy.X, toy.y)
    assert given.first_pass == run.n_mistakes_


def test_the_same_row_with_both_labels():
    advice = advise([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 1])
    assert advice.verdict == "not separable" and advice["degree 2"].refuted


def test_degree_two_separates_rings():
    toy = datasets.rings()
    advice = advise(toy.X, toy.y)
    assert advice.verdict == "not separable"
    assert advice["degree 2"].separable and advice.best.clean


def test_the_hinge_bound_is_never_below_the_mistakes():
    data = proofs.noisy(150, 4, 20.0, margin=0.3)
    for t in advise(data.X, data.y).treatments:
        assert t.hinge is None or t.first_pass <= t.hinge


# ------------------------------------------------------------------------------------- other storage


def test_sparse_rows_stay_sparse():
    data = proofs.separable(60, 40, 0.1, density=0.2)
    advice, dense = advise(data.X, data.y), advise(data.X.toarray(), data.y)
    assert any("Centring was left out" in note for note in advice.notes)
    names = [t.name for t in advice.treatments]
    assert "centred at the mean" not in names and "unit variance" in names
    for name in ("as given, B = 1", "unit variance", "L2 rows", "no intercept"):
        assert pytest.approx(dense[name].R) == advice[name].R
        assert advice[name].gamma_low == pytest.approx(dense[name].gamma_low, rel=1e-6)
        assert advice[name].updates == dense[name].updates


def test_wide_sparse_rows_go_the_other_way(monkeypatch):
    data = proofs.separable(60, 300, 0.1, density=0.05)
    exact = advise(data.X, data.y)
    monkeypatch.setattr(_measuring, "SMALL", 10)  # as if there were millions of entries
    advice = advise(data.X, data.y)
    best = best_margin(rows(data.X.toarray()), data.y)
    given = advice["as given, B = 1"]
    assert given.gamma_low <= best * (1 + 1e-9) <= given.gamma_up * (1 + 1e-6)
    assert given.updates == exact["as given, B = 1"].updates
    l1 = best_l1_margin(rows(data.X.toarray()), data.y)
    assert advice.learners[1].gamma_low <= l1 * (1 + 1e-9) <= advice.learners[1].gamma_up * (1 + 1e-6)
    kernel = advice["degree 2"]  # by the kernel, not by its features
    assert pytest.approx(1 + (data.X.toarray() ** 2).sum(axis=1).max()) == kernel.R
    assert kernel.separable and kernel.updates <= kernel.ratio_up


def test_part_of_the_rows():
    data = proofs.separable(400, 3, 0.1)
    advice = advise(data.X, data.y, max_rows=100)
    assert advice.n_rows == 100
    assert any("100 of 400 rows were drawn" in note for note in advice.notes)


def test_features_with_few_values_are_not_bucketed():
    data = proofs.k_of_r(30, 6, 2)
    assert any("no feature has more than 5 values" in note for note in advise(data.X, data.y).notes)
    mixed = np.hstack([data.X, np.random.default_rng(0).normal(size=(30, 1))])
    t = advise(mixed, data.y)["5 buckets a feature"]
    assert pytest.approx(np.sqrt(7 + 1)) == t.R  # one bucket of each feature, and the constant


# ------------------------------------------------------------------------------------------- print


def test_it_prints(far):
    _, advice = far
    text, page = str(advice), advice._repr_html_()
    for t in advice.treatments:
        assert t.name in text and t.name.replace("&", "&amp;") in page
    assert text.startswith("40 rows, 2 features: separable") and page.count("<table>") == 3
    assert all(sentence in text for sentence in advice.sentences)
    assert "centred" in repr(advice)
    with pytest.raises(KeyError, match="no treatment is called 'nothing'"):
        advice["nothing"]


def test_every_number_in_a_sentence_is_in_a_table():
    for toy in (datasets.clouds_far(), datasets.overlapping_clouds(), datasets.four_points()):
        advice = advise(toy.X, toy.y)
        tables = str(advice).split("\n* ")[0]
        known = set(re.findall(r"[\d.]+(?:e[+-]\d+)?", tables)) | {"2", "1"}
        known |= {number for t in advice.treatments for number in re.findall(r"[\d.]+", t.how)}
        for sentence in advice.sentences:
            clear = re.sub(r"R²/γ²|above [\de.-]+|Feature \d+", "", sentence)
            for number in re.findall(r"\d[\d.]*(?:e[+-]\d+)?", clear):
                assert number.rstrip(".") in known, (number, sentence)


def test_bad_input():
    with pytest.raises(ValueError, match=r"two classes; y holds 3.*advise\(X, y == label\)"):
        advise(*datasets.three_classes()[:2])
    with pytest.raises(ValueError, match="NaN or infinity"):
        advise([[np.nan], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="X has 2 rows, y has 3 labels"):
        advise([[0.0], [1.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="max_time must be a positive number"):
        advise([[0.0], [1.0]], [0, 1], max_time=0)
