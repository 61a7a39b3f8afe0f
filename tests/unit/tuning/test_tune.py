"""Parameters chosen by held-out errors: which are tried, on what, and that two runs agree."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptrons import (
    AROW,
    KernelPerceptron,
    MaxMargin,
    ParameterMixing,
    Perceptron,
    SmallTextClassifier,
    TextClassifier,
    load,
    rules,
    save,
    tune,
)
from perceptrons.cli import main
from perceptrons.cli.errors import Misuse
from perceptrons.cli.tuning import budget
from perceptrons.models.registry import learner
from perceptrons.tuning import ranges, search, trials

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 5))
Y = np.where(X[:, 0] + X[:, 1] + 0.7 * RNG.normal(size=120) > 0.0, "up", "down")
TEXTS = [" ".join(RNG.choice([f"word{i}" for i in range(60)], size=8)) for _ in range(100)]
LABELS = np.where([t.count("1") > t.count("2") for t in TEXTS], "many", "few")


# ------------------------------------------------------------------------------ what is tried


def test_candidates_begin_with_the_estimator_and_differ():
    found = ranges.of_estimator(AROW(), 2)
    drawn = ranges.candidates(AROW(), found, 12, np.random.default_rng(0))
    assert drawn[0] == {} and len(drawn) == 12
    assert len({repr(sorted(map(repr, one.items()))) for one in drawn}) == 12
    assert {name for one in drawn for name in one} <= {"r", "max_iter", "row_norm"}
    few = ranges.candidates(AROW(), ranges.given({"r": [1.0, 2.0]}, AROW()), 12, np.random.default_rng(0))
    assert few == [{}, {"r": 2.0}]  # there are no more


def test_memory_of_the_weights_bounds_the_bits():
    for n_classes, most in ((2, 22), (8, 22), (50, 20), (10_000, 18)):
        found = ranges.of_estimator(TextClassifier(bits=18), n_classes)[("bits",)]
        assert max(found) == (most,), n_classes
    assert max(ranges.of_estimator(TextClassifier(bits=22), 100)[("bits",)]) == (22,)


def test_fixed_parameters_keep_their_values():
    clf = TextClassifier(analyzer="char", ngram_range=(2, 3))
    found = ranges.without(ranges.of_estimator(clf, 2), clf, ["analyzer", "rule"])
    assert found[("analyzer", "ngram_range")] == [("char", (1, 5))] and ("rule",) not in found


@pytest.mark.parametrize(("n", "sizes"), [(240, [240]), (1000, [333, 1000]), (9000, [1000, 3000, 9000])])
def test_rounds_end_with_all_rows(n, sizes):
    assert search.rounds(n, 27) == sizes == search.rounds(n, 100)
    assert search.rounds(n, 9) == sizes[-2:] and search.rounds(n, 8) == [n]


def test_folds_are_disjoint_and_smaller_rounds_are_parts_of_larger_ones():
    data = trials.Data(X, Y, np.random.default_rng(0))
    assert data.folds == 5 and data.most == 96
    tested = [data.fold(k, 96)[1] for k in range(5)]
    assert np.sort(np.concatenate(tested)).tolist() == list(range(120))
    for k in range(5):
        learned = data.fold(k, 96)[0]
        assert not set(learned) & set(tested[k]) and set(data.fold(k, 30)[0]) < set(learned)
    many = trials.Data(None, np.zeros(40_000), np.random.default_rng(0))
    assert many.folds == 1 and len(many.fold(0, many.most)[1]) == 8000


# ------------------------------------------------------------------------------ tune


def test_two_runs_make_the_same_model(tmp_path):
    one, other = (tune(AROW(), X, Y, trials=5, seconds=None, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.tuning_ == other.tuning_ and one.get_params() == other.get_params()
    assert {row["trial"] for row in one.tuning_} == set(range(5)) and one.random_state == 4
    assert tune(AROW(), X, Y, trials=5, seconds=None, random_state=5).tuning_ != one.tuning_
    save(one, tmp_path / "a.model")
    assert load(tmp_path / "a.model").tuning_ == one.tuning_


def test_the_errors_are_those_of_the_estimator_on_the_folds():
    clf = AROW(random_state=0, max_iter=2)
    best = tune(clf, X, Y, ranges={"r": [0.1, 10.0]}, trials=3, seconds=None)
    found = best.tuning_
    data = trials.Data(X, Y, np.random.default_rng(0))
    for row in found:
        wrong = 0
        for k in range(5):
            learned, held_out = data.fold(k, 96)
            model = clone(clf).set_params(**row["parameters"]).fit(X[learned], Y[learned])
            wrong += int((model.predict(X[held_out]) != Y[held_out]).sum())
        assert (row["tested"], row["errors"]) == (120, wrong)
    first = min(found, key=lambda row: (row["errors"], row["trial"]))
    assert best.r == first["parameters"].get("r", 1.0)


def test_any_estimator_and_any_rows():
    for model, rows in (
        (Perceptron(), sp.csr_array(X)),
        (KernelPerceptron(kernel="gaussian"), X.tolist()),
        (learner("AROW")(), X),
    ):
        found = tune(model, rows, Y, trials=2, seconds=None)
        assert type(found) is type(model) and hasattr(found, "classes_") and not hasattr(model, "classes_")
        assert len(found.tuning_) == 2


def test_rows_of_several_labels_are_right_where_all_of_them_are():
    several = np.column_stack([Y == "up", X[:, 2] > 0.0]).astype(int)
    found = tune(AROW(random_state=0), X, several, ranges={"r": [1.0]}, trials=1, seconds=None)
    data, wrong = trials.Data(X, several, np.random.default_rng(0)), 0
    for k in range(5):
        learned, held_out = data.fold(k, 96)
        model = AROW(random_state=0).fit(X[learned], several[learned])
        wrong += int((model.predict(X[held_out]) != several[held_out]).any(axis=1).sum())
    assert found.tuning_[0]["errors"] == wrong
    assert found.predict(X).shape == several.shape


def test_lists_of_labels():
    several = [
        [label, "long"] if len(text) > 50 else [label]
        for text, label in zip(TEXTS, LABELS.tolist(), strict=True)
    ]
    found = TextClassifier.tune(TEXTS, several, None, trials=1, bits=10, max_iter=1)
    data, wrong = trials.Data(TEXTS, trials.as_lists(several), np.random.default_rng(0)), 0
    assert data.n_classes == 3
    for k in range(5):
        learned, held_out = data.fold(k, 80)
        model = TextClassifier(bits=10, max_iter=1, random_state=0).fit(
            [TEXTS[i] for i in learned], [several[i] for i in learned]
        )
        guess = model.predict([TEXTS[i] for i in held_out])
        wrong += sum(set(one) != set(several[i]) for one, i in zip(guess, held_out, strict=True))
    assert found.tuning_[0]["errors"] == wrong


def test_what_is_refused_counts_as_worst():
    found = tune(MaxMargin(), X, Y, ranges={"C": [1.0]}, trials=2, seconds=None)  # C=inf: not separable
    assert found.C == 1.0 and found.tuning_[0]["failure"].startswith("The classes")
    with pytest.raises(ValueError, match="C must be"):
        tune(MaxMargin(C=-1.0), X, Y, ranges={"C": [-2.0]}, trials=2)


def test_texts_and_small_files(tmp_path):
    fixed = {"bits": 12, "analyzer": "word", "ngram_range": (1, 1), "rule": rules.AROW(), "max_iter": 1}
    found = TextClassifier.tune(TEXTS, LABELS, None, trials=3, **fixed)
    assert type(found) is TextClassifier and all(getattr(found, k) == v for k, v in fixed.items())
    assert {k for row in found.tuning_ for k in row["parameters"]} <= {"values", "tokens", "idf"}
    small = TextClassifier.tune(TEXTS, LABELS, size_mb=0.005, seconds=None, trials=2, **fixed)
    assert type(small) is SmallTextClassifier and len(small.tuning_) == 2
    save(small, tmp_path / "a.model")
    assert (tmp_path / "a.model").stat().st_size <= 5000


def test_time_only_ends_it_earlier(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(search.time, "perf_counter", lambda: now[0])

    def slow(data, estimator, change, number, rows, finished):
        now[0] += 1.0
        return trials.Trial(number, rows, 10, 5 - number, 1.0)

    monkeypatch.setattr(search, "tried", slow)
    found = tune(AROW(), X, Y, trials=9, seconds=4.5, verbose=1)
    assert [row["trial"] for row in found.tuning_] == [0, 1, 2, 3]  # a fit takes a quarter of a trial
    assert found.tuning_ == tune(AROW(), X, Y, trials=9, seconds=100.0).tuning_[:4]
    assert "stopped round 1 of 1 after 4 trials" in capsys.readouterr().err


def test_every_round_has_its_share_of_the_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(search.time, "perf_counter", lambda: now[0])

    def slow(data, estimator, change, number, rows, finished):
        now[0] += rows / 100.0
        return trials.Trial(number, rows, 10, 50 - number, rows / 100.0)

    monkeypatch.setattr(search, "tried", slow)
    found = {}
    for seconds in (None, 60.0):
        now[0] = 0.0
        rows, y = np.tile(X, (40, 1)), np.tile(Y, 40)
        table = tune(AROW(max_iter=1), rows, y, trials=27, seconds=seconds).tuning_
        found[seconds] = [row["rows"] for row in table]
    assert found[None] == [426] * 27 + [1280] * 9 + [3840] * 3
    assert found[60.0] == [426] * 4 + [1280]  # a third of what the fit will leave for each round


def test_an_interruption_keeps_the_best_so_far(monkeypatch):
    def interrupted(data, estimator, change, number, rows, finished):
        if number == stop:
            raise KeyboardInterrupt
        return trials.Trial(number, rows, 10, 5 - number, 1.0)

    monkeypatch.setattr(search, "tried", interrupted)
    stop = 2
    found = tune(AROW(), X, Y, ranges={"r": [1.0, 2.0, 3.0, 4.0]}, trials=4, seconds=None)
    assert found.r == found.tuning_[1]["parameters"]["r"] and len(found.tuning_) == 2
    stop = 0
    with pytest.raises(KeyboardInterrupt):
        tune(AROW(), X, Y, trials=4)


def test_what_is_not_taken():
    for call, message in (
        (lambda: tune(AROW(), X[:5], Y[:5]), "at least 10 rows"),
        (lambda: tune(AROW(), X, Y[:-1]), "as many rows as labels"),
        (lambda: tune(AROW(), X, Y, trials=0), "trials must be"),
        (lambda: tune(AROW(), X, Y, seconds=0), "seconds must be"),
        (lambda: tune(AROW(), X, Y, size_mb=1.0), "size_mb is for a TextClassifier; got AROW"),
        (lambda: tune(AROW(), X, Y, ranges={"C": [1.0]}), "AROW has no parameter 'C'"),
        (lambda: tune(AROW(), X, Y, ranges={"r": "ab"}), r"ranges\['r'\] must be a list"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="tune takes an estimator of perceptrons; got ParameterMixing"):
        tune(ParameterMixing(AROW()), X, Y)


# ------------------------------------------------------------------------------ the command line


def test_the_command_tunes_and_tells(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{label}\t{text}\n" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "mail.tsv").write_text("".join(lines))
    common = "train mail.tsv --text --no-header --bits 12 --analyzer word --ngrams 1-2 -m a.model"
    assert main([*common.split(), *["--tune", "2trials", "--size-mb", "0.006", "--holdout", "0.1"]]) == 0
    told = capsys.readouterr()
    assert "2 sets of parameters" in told.out and "as given" in told.out and "trial 2/2" in told.err
    assert (tmp_path / "a.model").stat().st_size <= 6000 and load("a.model").bits == 12
    for wrong in ("--tune soon", "--size-mb 1", "--tune 1s --checkpoint b.model", "--tune 1s --workers 2"):
        assert main([*common.split(), *wrong.split()]) == 2
    assert main(["train", "mail.tsv", "-m", "a.model", "--tune", "1s", "--size-mb", "1"]) == 2


@pytest.mark.parametrize("text", ["0", "-1s", "2.5trials", "s", "1 day"])
def test_times_that_are_none(text):
    with pytest.raises(Misuse, match="--tune takes a time"):
        budget(text)


def test_the_first_trial_is_not_the_measure_of_the_others():
    """It may compile: its time does not end the search."""
    made = search.Halving(AROW(), [{}, {}], None, time.perf_counter(), 60.0, 0)
    data = trials.Data(X, Y, np.random.default_rng(0))
    made.trials = [trials.Trial(0, 96, 10, 5, 50.0)]
    assert not made._too_late(data, 96, 1.0)
