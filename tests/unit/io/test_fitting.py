"""fit_stream: the online protocol over a stream."""

from __future__ import annotations

import json
import threading
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from perceptrons import (
    AROW,
    BalancedWinnow,
    MarginPerceptron,
    Perceptron,
    TextClassifier,
    VotedPerceptron,
)
from perceptrons.io import Batch, FitReport, Texts, fit_stream, open_stream, read_libsvm
from perceptrons.theory import novikoff

rng = np.random.default_rng(0)


def libsvm_text(n=300, d=12, classes=(-1, 1)):
    w = rng.normal(size=(d, len(classes)))
    lines = []
    for _ in range(n):
        x = np.round(rng.normal(size=d) * (rng.random(d) < 0.5), 3)
        label = classes[int(np.argmax(x @ w + 0.3 * rng.normal(size=len(classes))))]
        lines.append(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v))
    return "\n".join(lines).encode() + b"\n"


TWO, THREE = libsvm_text(), libsvm_text(classes=(0, 1, 2))


def stream(text=TWO, **options):
    return open_stream(text, "libsvm", **{"batch_bytes": 1000, **options})


def test_the_same_as_partial_fit_on_the_whole():
    X, y = read_libsvm(TWO)
    whole = Perceptron().partial_fit(X, y)
    model = Perceptron()
    report = fit_stream(model, stream())
    assert np.array_equal(model.coef_, whole.coef_) and model.n_mistakes_ == whole.n_mistakes_
    assert report.rows == report.validated == report.row + 300 == 300 and report.passes == 1
    assert report.mistakes == whole.n_mistakes_ and report.errors == whole.progressive_errors_
    assert report.stop_reason == "end of stream" and report.batches > 10
    assert report.bound == novikoff(model.radius_, model.margin_bounds_[1]) >= report.mistakes
    assert report.theorem == "Novikoff's theorem" and report.margin_up == model.margin_bounds_[1]


@pytest.mark.compiled_later
def test_the_size_of_the_batches_does_not_matter():
    """Three classes that nobody has declared, each taken up at its first row."""
    whole, small = Perceptron(readout="average"), Perceptron(readout="average")
    one, many = fit_stream(whole, stream(THREE, batch_bytes=1_000_000)), fit_stream(small, stream(THREE))
    assert one.batches == 1 and many.batches > 10
    assert np.array_equal(whole.coef_, small.coef_) and one.errors == many.errors
    assert one.mistakes == many.mistakes


def test_passes_and_curve():
    model = Perceptron()
    report = fit_stream(model, stream(), passes=3)
    assert report.rows == 900 and report.passes == 3 and report.mistakes == model.n_mistakes_
    rows = [point["rows"] for point in report.curve]
    assert rows == sorted(rows) and rows[-1] == 900 and len(rows) == report.batches
    mistakes = [point["mistakes"] for point in report.curve]
    assert mistakes == sorted(mistakes) and mistakes[-1] == report.mistakes


def test_the_curve_is_bounded():
    row = Batch(np.ones((1, 1)), np.ones(1, int), None, 0)
    report = fit_stream(Perceptron(), [row] * 3000)
    assert 500 < len(report.curve) <= 1024 and report.stride == 4
    assert [point["rows"] for point in report.curve] == list(range(4, 3001, 4))


def test_others_predict_before_they_learn():
    def learner():
        return SGDClassifier(random_state=0)

    report = fit_stream(learner(), stream(), classes=[-1, 1])
    model, errors, validated = learner(), 0, 0
    for batch in stream(n_features=12):
        if validated or hasattr(model, "classes_"):
            errors += int((model.predict(batch.X) != batch.y).sum())
            validated += batch.n_rows
        model.partial_fit(batch.X, batch.y, classes=[-1, 1])
    assert (report.errors, report.validated) == (errors, validated) and report.mistakes is None
    assert report.bound is None and 0 < report.error_rate < 0.5
    assert fit_stream(learner(), stream(), classes=[-1, 1], validate=False).validated == 0


@pytest.mark.parametrize("model", [AROW(), Perceptron(multiclass="ovr")])
def test_one_learner_per_class_does_not_count_a_row_three_times(model):
    report = fit_stream(model, stream(THREE), passes=2)
    assert 0 < report.errors < report.validated == report.rows == 600
    assert report.mistakes == model.n_mistakes_
    assert report.errors == model.progressive_errors_ < model.n_errors_


def test_joint_learners_count_themselves():
    model = Perceptron()
    report = fit_stream(model, stream(THREE))
    assert report.errors == model.progressive_errors_ and report.validated == 300


def test_the_errors_are_those_of_the_readout():
    X, y = read_libsvm(TWO)
    drift = np.arange(len(y)) // 60 % 2 == 1
    y = np.where(drift, -y, y)  # the concept turns around: the average lags behind the last w
    errors = {}
    for readout in ("last", "average"):
        batches = [Batch(X[k : k + 50], y[k : k + 50], None, k) for k in range(0, 300, 50)]
        errors[readout] = fit_stream(Perceptron(readout=readout), batches).errors
    model = Perceptron(readout="average")
    wrong = 0
    for i in range(300):
        wrong += i == 0 or model.predict_one(X[[i]]) != y[i]
        model.learn_one(X[[i]], y[i])
    assert errors["average"] == wrong > errors["last"] == Perceptron().partial_fit(X, y).progressive_errors_


def test_readouts_that_are_not_counted_say_so():
    report = fit_stream(VotedPerceptron(), stream())
    assert report.validated == 0 and report.mistakes > 0
    assert "progressive errors are not counted for readout='vote'" in str(report)
    report = fit_stream(Perceptron(), stream(), validate=False)
    assert report.validated == report.errors == 0 and report.silence is None


def test_prototypes_have_the_factor_2():
    report = fit_stream(Perceptron(fit_intercept=False), stream(b"0 1:1\n1 2:1\n2 3:1\n" * 30))
    assert report.mistakes == 3 and report.bound == pytest.approx(3.0) and report.bound >= 3.0
    assert report.theorem == "Crammer and Singer's theorem"
    assert "Crammer and Singer's theorem allows at least 3" in str(report)


@pytest.mark.compiled_later
@pytest.mark.parametrize(
    "model",
    [
        BalancedWinnow(),  # its bracket is for another norm
        Perceptron(learning_rate="updates"),  # no quadratic bound
        Perceptron(multiclass="ovr"),  # a count over several learners
        MarginPerceptron(),  # its rule changes on the way
        Perceptron(class_weight={0: 2.0}),
    ],
)
def test_no_bound_where_no_theorem_covers_the_run(model):
    text = THREE if getattr(model, "multiclass", "") == "ovr" else b"0 1:1\n1 2:1\n" * 30
    report = fit_stream(model, stream(text))
    assert report.mistakes and report.bound is report.theorem is None and "allows" not in str(report)


def test_other_rules_have_their_own_theorem():
    report = fit_stream(MarginPerceptron(gamma=0.01), stream(b"0 1:1\n1 2:1\n" * 30))
    assert report.theorem == "The bound of the margin perceptron" and report.bound > report.mistakes
    theta, up, R = 0.005, report.margin_up, report.radius
    eps = 1.0 - theta / up
    assert report.bound == pytest.approx(1.0 + 2.0 * (R / (eps * up)) ** 2 - 2.0 / eps)


def test_weights_are_passed_on():
    text = b"1 0 |a x\n1 1 |a y\n-1 1 |a z\n"
    model = Perceptron()
    fit_stream(model, open_stream(text))
    assert model.n_mistakes_ == 2


@pytest.mark.parametrize("cut", range(1, 12, 3))
@pytest.mark.parametrize("passes", [1, 2])
def test_a_run_that_is_cut_off_goes_on_as_if_nothing_had_been(cut, passes):
    whole, pieces = Perceptron(), Perceptron()
    wanted = fit_stream(whole, stream(), passes=passes)
    kept = []

    def stop(model, report):
        kept.append(json.dumps(report.to_dict()))
        return report.batches == cut

    first = fit_stream(pieces, stream(), passes=passes, callback=stop)
    assert first.stop_reason == "callback" and first.batches == cut
    report = fit_stream(pieces, stream(), passes=passes, resume=FitReport(**json.loads(kept[-1])))
    assert np.array_equal(pieces.coef_, whole.coef_) and report.to_dict() == wanted.to_dict()


def test_checkpoints_come_after_each_batch():
    model, calls = Perceptron(), []
    report = fit_stream(
        model, stream(), checkpoint=lambda m, r: calls.append((m is model, r.rows, m.n_mistakes_))
    )
    assert len(calls) == report.batches and all(same for same, _, _ in calls)
    assert calls[-1][1:] == (300, report.mistakes)


def test_the_columns_are_settled_before():
    model = Perceptron()
    fit_stream(model, stream(b"1 1:1\n" * 400 + b"-1 7:1\n"))
    assert model.n_features_in_ == 7
    fit_stream(model, stream(b"1 2:1\n"))  # fewer columns than the model: fine
    with pytest.raises(ValueError, match="expected an index of at most 7, found '8:1'"):
        fit_stream(model, stream(b"1 8:1\n"))


def test_a_pipe_of_libsvm_needs_n_features(tmp_path):
    import io

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ValueError, match="give n_features"):
        fit_stream(Perceptron(), stream(Pipe(TWO)))
    assert fit_stream(Perceptron(), stream(Pipe(TWO), n_features=12)).rows == 300
    with pytest.raises(ValueError, match="read once only; got passes=2"):
        fit_stream(Perceptron(), stream(Pipe(TWO), n_features=12), passes=2)


def test_what_cannot_be_learned():
    with pytest.raises(TypeError, match="object has no partial_fit"):
        fit_stream(object(), stream())
    with pytest.raises(ValueError, match="no labels"):
        fit_stream(Perceptron(), open_stream(b"1,2\n", label_column=None))
    with pytest.raises(ValueError, match="holds no rows"):
        fit_stream(Perceptron(), stream(b""))
    with pytest.raises(ValueError, match="passes must be at least 1"):
        fit_stream(Perceptron(), stream(), passes=0)


def test_lines_that_are_skipped_are_reported():
    report = fit_stream(Perceptron(), stream(b"1 1:1\nx\n-1 1:-1\n", on_error="skip"))
    assert report.skipped == 1 and report.rows == 2 and "1 lines skipped" in str(report)


def test_verbose_speaks_seldom(capsys):
    report = fit_stream(Perceptron(), stream(), verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert (
        2 <= len(lines) <= 6 < report.batches
        and "errors" in lines[0]
        and "Novikoff's theorem says nothing" in lines[-1]  # the bracket leaves more than 263 mistakes
    )


def test_texts_are_hashed_by_the_thread_that_reads_ahead():
    lines = b"".join(b"%s\tword%d and more\n" % (b"ab"[k % 2 : k % 2 + 1], k % 7) for k in range(200))
    stream = open_stream(lines, "tsv", text_column=1, batch_bytes=512)
    threads = set()

    class Model(TextClassifier):
        def prepare_batch(self, X):
            threads.add(threading.current_thread().name)
            return super().prepare_batch(X)

    model = Model(bits=12)
    fit_stream(model, stream, passes=2)
    assert threads and threading.current_thread().name not in threads
    whole = TextClassifier(bits=12)
    for _ in range(2):
        for batch in stream:  # as texts again
            whole.partial_fit(batch.X, batch.y)
    assert np.array_equal(model.coef_, whole.coef_)


def test_a_theorem_that_allows_as_many_mistakes_as_rows_says_nothing():
    report = FitReport(rows=10, mistakes=4, bound=10.0, theorem="Novikoff's theorem")
    assert str(report).endswith("Novikoff's theorem says nothing") and report.to_dict()["bound"] == 10.0
    report.bound = 9.5
    assert str(report).endswith("Novikoff's theorem allows at least 9")


@pytest.mark.parametrize(
    ("cache_mb", "chosen", "hashed"),
    [
        (None, {}, 1),
        (1.0, {"holdout": Fraction(1, 4)}, 1),
        (0.001, {}, 3),  # too large to be kept: the source is read in every pass
        (1.0, {"seed": 3}, 3),  # as shuffled rows are
    ],
    ids=["any", "holdout", "too large", "shuffled"],
)
@pytest.mark.uncompiled
def test_rows_of_texts_are_kept_for_further_passes(cache_mb, chosen, hashed):
    """The same model, counts of bad lines and rows, whether the texts are hashed once or in every pass."""
    lines = b"".join(
        b"%s\tword%d, more\n%s" % (b"ab"[k % 2 : k % 2 + 1], k, b"bad\n" * (k % 9 == 0)) for k in range(99)
    )
    prepared = []

    class Model(TextClassifier):
        def prepare_batch(self, X):
            prepared.append(len(X))
            return super().prepare_batch(X)

    stream = open_stream(lines, "tsv", text_column=1, batch_bytes=256, on_error="skip")
    stream.select(**chosen)
    model = Model(bits=10, cache_mb=cache_mb)
    skipped = []
    report = fit_stream(model, stream, passes=3, callback=lambda _, r: skipped.append(r.skipped) and None)
    again = open_stream(lines, "tsv", text_column=1, batch_bytes=256, on_error="skip")
    again.select(**chosen)
    rows = sum(batch.n_rows for batch in again)
    assert sum(prepared) == hashed * rows and report.rows == 3 * rows
    assert stream.skipped == report.skipped == 3 * again.skipped and skipped[-1] <= report.skipped
    again.select(**chosen)
    plain = TextClassifier(bits=10)
    for _ in range(3):
        for batch in again:
            plain.partial_fit(batch.X, batch.y)
    assert np.array_equal(model.coef_, plain.coef_)
    assert np.array_equal(model.document_counts_, plain.document_counts_)
    stream.select()
    assert isinstance(next(iter(stream)).X, Texts)  # what was kept is dropped


def test_a_pass_that_was_not_whole_is_not_kept():
    lines = b"".join(b"%s\tword%d\n" % (b"ab"[k % 2 : k % 2 + 1], k) for k in range(60))
    wanted, model = TextClassifier(bits=8), TextClassifier(bits=8)
    fit_stream(wanted, open_stream(lines, "tsv", text_column=1, batch_bytes=128), passes=3)
    stream = open_stream(lines, "tsv", text_column=1, batch_bytes=128)
    report = fit_stream(model, stream, passes=3, callback=lambda _, r: r.rows >= 20)
    assert report.stop_reason == "callback"
    fit_stream(model, stream, passes=3, resume=report)
    assert report.rows == 180 and np.array_equal(model.coef_, wanted.coef_)
