"""A run of the lab is a run of the library: its visits, w and counts are those of fit."""

from __future__ import annotations

import base64
import contextlib
import io
import math
import re

import numpy as np
import pytest
from lab_scenes import BINARY, one, scene_of, set_for, traces
from uncompiled import compiled

import perceptrons as pc
from perceptrons.lab import catalog, learned_rows, playing, scenes
from perceptrons.lab.runs import run
from perceptrons.theory import bounds

pytestmark = pytest.mark.uncompiled
LEARNERS = compiled(catalog.learners(), "Perceptron")


def fitted(name, toy, **params):
    return getattr(pc, name)(**params, random_state=0).fit(toy.X, toy.y)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_without_edits_is_fit(name):
    toy = set_for(name)
    found = one(scene_of(toy, name, max_iter=4))
    (trace,) = traces(found)
    clf = fitted(name, toy, max_iter=4)
    assert trace.n_updates[-1] == clf.n_updates_ > 0
    assert trace.n_mistakes[-1] == clf.n_mistakes_
    assert found["reason"] == clf.stop_reason_
    assert len(found["sentences"]) == len(trace) == sum(e["examples"] for e in clf.history_)
    wrong = np.mean(clf.predict(toy.X) != toy.y)
    readout = getattr(clf, "readout", "last")
    assert found["errors"][-1][readout] == wrong
    assert found["errors"][-1]["at"] == len(trace)
    for bound in found["bounds"]:
        assert bound["value"] * (1.0 + 1e-9) >= getattr(trace, f"n_{bound['counts']}")[-1]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_script_prints_the_numbers_of_the_run(name):
    center = name not in BINARY
    found = one(scene_of(set_for(name), name, max_iter=3, noise=0.2, center=center))
    _check_script(found)


def _check_script(found):
    """Execute the script and compare what it prints with the last trace."""
    trace = traces(found)[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found["code"], "script", "exec"), {})
    lines = dict(line.split(" ", 1) for line in printed.getvalue().splitlines())
    state = trace.w if trace.w is not None else trace.dual
    assert int(lines["mistakes"]) == trace.n_mistakes[-1]
    assert int(lines["updates"]) == trace.n_updates[-1]
    assert lines["visits"].split()[0] == str(len(found["sentences"]))
    if len(found["segments"]) == 1:
        assert lines["w"] == str(state[-1].tolist())
        if trace.gamma_up is not None:
            ends = [trace.gamma_low[-1].tolist(), trace.gamma_up[-1].tolist()]
            assert lines["bracket"] == f"{ends[0]} {ends[1]}"
        assert ("free_bracket" in lines) == (trace.gamma_up_free is not None)
        if trace.gamma_up_free is not None:
            ends = [trace.gamma_low_free[-1].tolist(), trace.gamma_up_free[-1].tolist()]
            assert lines["free_bracket"] == f"{ends[0]} {ends[1]}"
    elif trace.w is not None:
        assert lines["w"] == str(state[-1].tolist())
    return lines


def test_a_cut_run_says_so():
    toy = pc.datasets.overlapping_clouds(12)
    found = one(scene_of(toy, max_iter=50, max_steps=100))
    (trace,) = traces(found)
    assert (len(trace), trace.truncated, found["reason"]) == (100, True, "max_steps")
    whole = pc.trace(pc.Perceptron(random_state=0, max_iter=50), toy.X, toy.y)
    assert trace.w.tolist() == whole.w[:101].tolist()
    assert "100 examples in 9 epochs, ended by: end of order" in found["certificate"]["text"]
    assert [e["at"] for e in found["errors"]] == [*range(12, 100, 12), 100]
    _check_script(found)


def test_two_learners_see_the_same_rows():
    toy = pc.datasets.overlapping_clouds(12)
    made = run(scene_of(toy, noise=0.25, second={"name": "MIRA", "params": {"p": 0.2}}, max_iter=2))
    first, second = (one["segments"][0] for one in made["runs"])
    assert first["X"] == second["X"] and first["y"] == second["y"]
    assert len(first["turned"]) == 3
    assert first["trace"]["row"] == second["trace"]["row"]


# ------------------------------------------------------------------------------------------------ words


def test_words_that_stand_for_numbers():
    toy = pc.datasets.xor()
    (trace,) = traces(one(scene_of(toy, "MarginPerceptron")))
    auto = fitted("MarginPerceptron", toy)
    assert auto.gamma_ <= 0.5  # it was halved on the way, from 1
    assert trace.w[-1].tolist() == [*auto.coef_[0], auto.intercept_[0]]
    assert f"gamma={auto.gamma_!r}" in trace.learner
    toy = pc.datasets.clouds_far(12)
    (trace,) = traces(one(scene_of(toy, params={"intercept_scaling": "auto"})))
    assert trace.bias == fitted("Perceptron", toy, intercept_scaling="auto").intercept_scaling_
    kernel = {"name": "gaussian", "params": {}}
    (trace,) = traces(one(scene_of(toy, "KernelPerceptron", params={"kernel": kernel})))
    clf = fitted("KernelPerceptron", toy, kernel="gaussian")
    assert trace.dual[-1][clf.support_].tolist() == clf.dual_coef_[0].tolist()


# ------------------------------------------------------------------------------------------------ edits

FOUR = pc.datasets.four_points()


def edited(name="Perceptron", toy=FOUR, **more):
    """Four points; after 3 visits a fifth one, after 12 two others in place of the fourth."""
    X, y = toy.X.tolist(), ((toy.y + 1) // 2).tolist()
    edits = [
        {"at": 3, "X": [*X, [0.5, -0.5]], "y": [*y, 1]},
        {"at": 12, "X": [*X[:3], [0.5, -0.5], [1.0, -2.0]], "y": [*y[:3], 1, 0]},
    ]
    return scene_of(toy, name, edits=edits, **more)


LINEAR = [name for name in catalog.learners() if "Kernel" not in name and name not in BINARY]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", LINEAR)
def test_a_learner_goes_on_over_edits(name, shuffle):
    """The same as partial_fit on the rows of the time, visit by visit."""
    found = one(edited(name, shuffle=shuffle, max_iter=5))
    segments = traces(found)
    assert [s["first"] for s in found["segments"]] == [0, 3, 12] or name != "Perceptron"
    model = playing.settled(getattr(pc, name)(random_state=0), FOUR.X, FOUR.y)
    for segment, trace in zip(found["segments"], segments, strict=True):
        X, y = np.array(segment["X"]), 2 * np.array(segment["y"]) - 1
        assert trace.X.tolist() == X.tolist() and trace.y.tolist() == y.tolist()
        assert trace.label.tolist() == y[trace.row].tolist()
        for t, row in enumerate(trace.row.tolist()):
            model.partial_fit(X[[row]], y[[row]], classes=[-1, 1])
            assert int(trace.n_updates[t]) == model.n_updates_
            w = model._space.weights("last")[0]
            np.testing.assert_allclose(trace.w[t + 1], w, rtol=1e-12, atol=1e-14)
    _check_script(found)


def test_an_edit_changes_nothing_of_the_past():
    for shuffle in (False, True):
        plain = traces(one(scene_of(FOUR, shuffle=shuffle, seed=3)))[0]
        first = traces(one(edited(shuffle=shuffle, seed=3)))[0]
        assert first.row.tolist() == plain.row[:3].tolist()
        assert first.w.tolist() == plain.w[:4].tolist()
        assert first.gamma_up.tolist() == plain.gamma_up[:3].tolist()
        np.testing.assert_allclose(first.gamma_low, plain.gamma_low[:3])


@pytest.mark.parametrize("policy", [None, "random", "forgetron", "projectron"])
def test_an_edit_changes_nothing_of_the_past_of_a_kernel_learner(policy):
    name = "KernelPerceptron" if policy is None else "BudgetKernelPerceptron"
    params = {} if policy is None else {"policy": policy, "budget": 3}
    params["kernel"] = {"name": "gaussian", "params": {}}
    toy = pc.datasets.rings(12)
    X, y = toy.X.tolist(), ((toy.y + 1) // 2).tolist()
    edits = [{"at": 20, "X": [*X[1:], [0.0, 9.0]], "y": [*y[1:], 0]}]
    for shuffle in (False, True):
        scene = scene_of(toy, name, params=params, shuffle=shuffle, seed=3, max_iter=4)
        plain = traces(one(scene))[0]
        found = one(scene | {"edits": edits})
        first, last = traces(found)
        assert first.row.tolist() == plain.row[:20].tolist()
        np.testing.assert_allclose(first.dual, plain.dual[:21], rtol=1e-12)
        assert last.score[0] == pytest.approx(_score(first, last, params), rel=1e-9, abs=1e-12)
        assert last.row.max() < 12
        _check_script(found)


def _score(first, last, params):
    """What w at the end of the first segment says about the first row of the last one."""
    width = re.search(r"gamma=([\d.e-]+)", first.learner)[1]
    kernel = pc.kernels.Gaussian(gamma=float(width))
    return float(kernel(last.X[[last.row[0]]], first.X)[0] @ first.dual[-1])


def test_epochs_after_an_edit_end_by_a_clean_one():
    found = one(edited(shuffle=False))
    trace = traces(found)[-1]
    assert found["reason"] == trace.stop_reason == "clean pass"
    ends = trace.epoch[-1]
    assert set(trace.kind[trace.epoch == ends]) == {"none"}
    assert sorted(trace.row[trace.epoch == ends]) == [0, 1, 2, 3, 4]
    for e in range(trace.epoch[0], ends):
        assert "none" not in set(trace.kind[trace.epoch == e]) or len(set(trace.kind[trace.epoch == e])) > 1


def test_brackets_after_an_edit_are_of_the_rows_of_the_time():
    found = one(edited(shuffle=False))
    for segment, trace in zip(found["segments"], traces(found), strict=True):
        best = segment["best"]["gamma"]
        lows = trace.gamma_low[np.isfinite(trace.gamma_low)]
        assert (lows <= best * (1 + 1e-9)).all()
        if trace.gamma_up is not None:
            assert (trace.gamma_up >= best * (1 - 1e-9)).all()
        free = pc.MaxMargin(tol=1e-9).fit(segment["X"], segment["y"]).margin_
        assert (trace.gamma_low_free[np.isfinite(trace.gamma_low_free)] <= free * (1 + 1e-9)).all()
        assert free > best
        assert (trace.gamma_up_free is None) == (trace.gamma_up is None)
        if trace.gamma_up_free is not None:
            assert (trace.gamma_up_free >= free * (1 - 1e-9)).all()
    assert np.isfinite(trace.gamma_low_free[-1])
    # row 3 was updated on, and is gone in the last segment
    assert [trace.gamma_up is None for trace in traces(found)] == [False, False, True]


def test_rows_of_one_class_have_no_bracket_with_a_free_offset():
    toy = pc.datasets.four_points()
    second = (toy.y > 0).tolist()
    X = toy.X[second].tolist()
    found = one(scene_of(toy, edits=[{"at": 4, "X": X, "y": [1] * len(X)}]))
    first, last = traces(found)
    assert first.gamma_up_free is not None and first.gamma_low_free is not None
    assert last.gamma_low is not None and last.gamma_low_free is None and last.gamma_up_free is None


def test_a_kernel_learner_keeps_rows_that_are_gone():
    toy = pc.datasets.xor()
    X, y = toy.X.tolist(), ((toy.y + 1) // 2).tolist()
    edits = [{"at": 6, "X": [*X[:3], [0.5, 0.25]], "y": [*y[:3], 1]}]
    found = one(scene_of(toy, "KernelPerceptron", shuffle=False, edits=edits))
    first, last = traces(found)
    assert len(found["segments"][1]["X"]) == 4
    assert last.X.tolist() == [*X[:3], [0.5, 0.25], X[3]]
    assert last.dual[0].tolist() == [*first.dual[-1][:3], 0.0, first.dual[-1][3]]
    assert found["segments"][0]["kernel"] is not None
    grid = found["kernel"]  # that of the last segment
    values = np.frombuffer(base64.b64decode(grid["values"]), "<f4").reshape(grid["rows"], grid["columns"], 5)
    _, x1, y0, _ = grid["box"]
    corner = pc.kernels.Polynomial()([[x1, y0]], last.X)[0]
    np.testing.assert_allclose(values[0, -1], corner, rtol=1e-6)
    model = pc.KernelPerceptron().fit([*X, [0.5, 0.25]], [*toy.y, 1], order=_orders(found, [3, 4]))
    np.testing.assert_allclose(values[0, -1] @ last.dual[-1], model.decision_function([[x1, y0]]), rtol=1e-5)
    _check_script(found)


def _orders(found, last_row):
    """The epochs of xor, and those after its last row was replaced by row 4."""
    first, last = traces(found)
    rows = [*first.row.tolist(), *(4 if r == 3 else r for r in last.row.tolist())]
    epoch = np.concatenate([first.epoch, last.epoch])
    return [[r for r, e in zip(rows, epoch, strict=True) if e == k] for k in range(epoch[-1] + 1)]


def test_an_edit_before_the_first_visit_replaces_the_rows():
    X, y = FOUR.X.tolist(), ((FOUR.y + 1) // 2).tolist()
    other = one(scene_of(FOUR, shuffle=False) | {"X": X[::-1], "y": y[::-1]})
    found = one(scene_of(FOUR, shuffle=False, edits=[{"at": 0, "X": X[::-1], "y": y[::-1]}]))
    assert found["segments"] == other["segments"]


def test_an_edit_after_the_end_goes_on():
    X, y = FOUR.X.tolist(), ((FOUR.y + 1) // 2).tolist()
    found = one(scene_of(FOUR, shuffle=False, edits=[{"at": 4000, "X": X, "y": y}]))
    assert [s["first"] for s in found["segments"]] == [0, 8]
    assert traces(found)[1].stop_reason == "clean pass"
    assert len(found["sentences"]) == 12


def test_all_points_may_go_and_come_back():
    X, y = FOUR.X.tolist(), ((FOUR.y + 1) // 2).tolist()
    edits = [{"at": 2, "X": [], "y": []}, {"at": 2, "X": X[:1], "y": y[:1]}, {"at": 3, "X": X, "y": y}]
    found = one(scene_of(FOUR, shuffle=False, edits=edits))
    assert [len(s["X"]) for s in found["segments"]] == [4, 0, 1, 4]
    assert [s["first"] for s in found["segments"]] == [0, 2, 2, 3]
    assert found["reason"] == "clean pass"


def test_a_class_cannot_be_added_on_the_way():
    scene = scene_of(FOUR, edits=[{"at": 1, "X": [[0, 0]], "y": [2]}]) | {"classes": ["a", "b", "c"]}
    with pytest.raises(ValueError, match="The class 'c' had no point when the run began"):
        run(scene)


def test_rows_that_stay_keep_their_numbers_and_their_noise():
    toy = pc.datasets.overlapping_clouds(20)
    scene = scene_of(toy, noise=0.3, seed=5)
    before = learned_rows.learned_rows(scenes.scene_from(scene)).parts[0]
    assert len(before.turned) == 6
    turned = before.turned[0]
    X, y = [list(x) for x in scene["X"]], list(scene["y"])
    X[turned] = [9.0, 9.0]
    keep = [i for i in range(20) if i != (turned + 1) % 20]
    edits = [{"at": 1, "X": X, "y": y}, {"at": 2, "X": [X[i] for i in keep], "y": [y[i] for i in keep]}]
    rows = learned_rows.learned_rows(scenes.scene_from(scene | {"edits": edits}))
    assert rows.parts[1].turned == before.turned
    assert rows.parts[1].rows.tolist() == [20 if i == turned else i for i in range(20)]
    assert [keep[i] for i in rows.parts[2].turned] == [i for i in before.turned if i in keep]
    more = learned_rows.learned_rows(scenes.scene_from(scene | {"noise": 0.5})).parts[0]
    assert set(before.turned) < set(more.turned)


# --------------------------------------------------------------------------------- bounds and geometry


def test_bounds_that_hold_and_no_others():
    separable = one(scene_of(pc.datasets.clouds_far(12)))
    names = [bound["name"] for bound in separable["bounds"]]
    assert "novikoff" in names
    overlapping = one(scene_of(pc.datasets.overlapping_clouds(30), max_iter=5))
    assert [bound["name"] for bound in overlapping["bounds"]] == ["hinge_tight"]
    assert overlapping["best"] is None
    (bound,), (trace,) = overlapping["bounds"], traces(overlapping)
    assert (np.array(bound["per_visit"]) >= trace.n_updates).all()
    assert bound["per_visit"][-1] == pytest.approx(bound["value"])
    novikoff = separable["bounds"][names.index("novikoff")]["value"]
    R, gamma = separable["advice"]["numbers"]["R"], separable["best"]["gamma"]
    assert novikoff == pytest.approx(bounds.novikoff(R, gamma))


def test_the_best_separator_is_that_of_the_space_of_the_learner():
    toy = pc.datasets.clouds_far(12)
    for params in ({}, {"fit_intercept": False}, {"intercept_scaling": 5.0}, {"row_norm": "l2"}):
        found = one(scene_of(toy, params=params, max_iter=2))
        B = params.get("intercept_scaling", 1.0) * params.get("fit_intercept", True)
        Z = np.hstack([toy.X, np.full((12, 1), B)])
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True) if "row_norm" in params else Z
        margins = toy.y * (Z @ found["best"]["w"])
        assert margins.min() == pytest.approx(found["best"]["gamma"])
        assert found["best"]["gamma"] == pytest.approx(
            pc.MaxMargin(fit_intercept=False).fit(Z, toy.y).margin_
        )
        assert margins[found["best"]["support"]] == pytest.approx(found["best"]["gamma"])


def test_three_classes():
    toy = pc.datasets.three_classes(12)
    for multiclass in ("joint", "ovr"):
        found = one(scene_of(toy, params={"multiclass": multiclass}))
        (trace,) = traces(found)
        clf = fitted("Perceptron", toy, multiclass=multiclass)
        assert trace.w[-1][:, :2].tolist() == clf.coef_.tolist()
        assert found["best"] is None and found["advice"] is None
        said = r"row \d+, class [012], scores: 0 0, 1 0, 2 0: mistake, the weights of .* change\."
        assert re.fullmatch(said, found["sentences"][0])
        _check_script(found)


def test_centring_moves_the_rows():
    toy = pc.datasets.clouds_far(12)
    found = one(scene_of(toy, center=True))
    X = np.array(found["segments"][0]["X"])
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    plain = one(scene_of(toy))
    assert found["advice"]["numbers"]["ratio"] == pytest.approx(plain["advice"]["numbers"]["ratio_centred"])
    assert plain["advice"]["numbers"]["ratio"] > 100 * found["advice"]["numbers"]["ratio"]


@pytest.mark.parametrize("share", [0, 0.35, 1])
def test_a_share_of_the_mean_is_subtracted(share):
    toy = pc.datasets.clouds_far(12)
    found = one(scene_of(toy, center=share, max_iter=3))
    X = np.array(found["segments"][0]["X"])
    assert X.tolist() == (toy.X - share * toy.X.mean(axis=0)).tolist()
    assert ("0.35 times the mean of the rows was subtracted" in found["code"]) == (share == 0.35)
    again = fitted("Perceptron", toy._replace(X=X), max_iter=3)
    assert traces(found)[0].w[-1][:2].tolist() == again.coef_[0].tolist()
    _check_script(found)


def test_numbers_beyond_floats_are_a_sentence(monkeypatch):
    def overflow(*given):
        return math.exp(1e4)

    monkeypatch.setattr(playing, "play", overflow)
    said = r"The numbers of this run become too large to compute with \(math range error\); bring the points"
    with pytest.raises(ValueError, match=said):
        run(scene_of(FOUR, "BalancedWinnow"))


def test_a_scene_needs_two_classes():
    for y in ([0, 0, 0, 0], []):
        with pytest.raises(ValueError, match="points of at least two classes"):
            run(scene_of(FOUR) | {"X": FOUR.X.tolist()[: len(y)], "y": y})
