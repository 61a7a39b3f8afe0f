"""The benchmarks run; what they measure is nobody's business here."""

import gzip
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import types

import numpy as np
import processes
import pytest
from places import ROOT
from sklearn.datasets import load_digits

from perceptrons import KernelPerceptron, kernels

BENCHMARKS = ROOT / "benchmarks"


def benchmark(name, *options):
    """A run in a process of its own, in which warnings, which may be those of a peer, are no errors."""
    code = "import warnings; warnings.simplefilter('default')" + processes.script(BENCHMARKS / f"{name}.py")
    done = processes.forked(code, *options, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def quick_run(tmp_path, only):
    """The output of a smoke run, and the lines it reports; g, which compiles everything anew, is left out."""
    report = tmp_path / "report.json"
    printed = benchmark("linear", "--quick", "--only", only, "--json", str(report))
    return printed, json.loads(report.read_text())["lines"]


def test_a_quick_run_reports_every_line(tmp_path, monkeypatch):
    monkeypatch.delenv("PERCEPTRONS_DATA", raising=False)
    printed, lines = quick_run(tmp_path, "a,c,d,e,f,h")
    assert {line["key"] for line in lines} == set("abcdefh")
    for line in lines:
        if line["key"] in "ce":  # a real set that is not here is named
            assert line["verdict"] == "not run" and "PERCEPTRONS_DATA" in line["detail"]
        else:
            assert line["measured"] is not None and line["verdict"] == "no goal"
        assert line["work"].split(",")[0] in printed
    assert "scikit-learn" in printed and "the numbers below mean nothing" in printed


def test_the_stages_of_a_fit(tmp_path):
    printed = benchmark("fit_stages", "--quick", "--out", str(tmp_path))
    assert "upper end" in printed and "labels to codes" in printed
    assert (tmp_path / "fit_stages.txt").read_text() in printed


@pytest.mark.exhaustive
def test_what_an_epoch_waits_for(tmp_path):
    printed = benchmark("memory", "--quick", "--only", "10,0", "--out", str(tmp_path))
    assert "2^10, shuffled" in printed and "784 dense, in order" in printed


@pytest.mark.data
@pytest.mark.skipif("PERCEPTRONS_DATA" not in os.environ, reason="PERCEPTRONS_DATA names no folder")
def test_one_against_the_rest():
    printed = benchmark("one_vs_rest", "--quick")
    assert printed.count("the same bits") == 2 and "OTHER BITS" not in printed


@pytest.mark.data
@pytest.mark.skipif("PERCEPTRONS_DATA" not in os.environ, reason="PERCEPTRONS_DATA names no folder")
def test_a_quick_run_on_real_sets(tmp_path):
    _, lines = quick_run(tmp_path, "c,e")
    assert [line["key"] for line in lines] == list("cccee")
    assert all(line["measured"] is not None for line in lines)


@pytest.fixture
def helpers(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import data
    import linear
    import objective

    yield data, objective, linear
    for name in ("data", "linear", "objective"):
        del sys.modules[name]


def test_text_like_rows_look_like_text(helpers):
    data = helpers[0]
    X, y = data.text_like(rows=1000, features=5000)
    assert X.shape == (1000, 5000) and X.dtype == np.float32 and X.has_canonical_format
    assert 50 < X.nnz / 1000 < 90
    assert set(y.tolist()) == {-1, 1}
    twins = X[:10] != X[-10:]
    assert twins.nnz == 0 and (y[:10] == -y[-10:]).all()  # so nothing separates them


def test_slope_leaves_the_set_up_out(helpers, monkeypatch):
    objective = helpers[1]
    clock = [0.0]

    def fit(epochs):
        clock[0] += 3.0 + 0.5 * epochs

    monkeypatch.setattr(objective, "seconds", lambda work, _: -clock[0] + (work(), clock[0])[1])
    cost = objective.slopes({"ours": fit}, objective.Effort(), rounds=2)["ours"]
    assert cost == (0.5, 3.0, 5.5)


def test_verdicts(helpers):
    Line = helpers[1].Line
    assert Line("a", "w", "p", 0.9, 0.9).verdict == "met"
    assert Line("a", "w", "p", 0.8, 0.9).verdict == "NOT MET"
    assert Line("a", "w", "p", 1.2, 1.0, "µs", False).verdict == "NOT MET"
    assert Line("a", "w", "p").verdict == "not run"
    assert Line("a", "w", "p", 1.0).verdict == "no goal"


def test_only(helpers):
    chosen = helpers[2].chosen
    assert chosen(None) == list("acdefgh")
    assert chosen("f, b") == ["a", "f"]  # a and b are one measurement
    with pytest.raises(SystemExit, match=r"--only takes letters from a to h.*'a,z'"):
        chosen("a,z")


# ------------------------------------------------------------------------------------ kernels, on tiny sets
# Loops are plain Python where that takes less time than to compile them.


@pytest.fixture
def script(monkeypatch):
    """Import a benchmark by its name."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


def idx(array):
    """The bytes of an IDX file."""
    head = bytes([0, 0, 8, array.ndim]) + np.asarray(array.shape, ">u4").tobytes()
    return gzip.compress(head + array.astype(np.uint8).tobytes())


@pytest.fixture
def tiny_sets(tmp_path, monkeypatch):
    """Files named like MNIST and SMS spam, with scikit-learn's digits and a few words in them."""
    images, labels = load_digits(return_X_y=True)
    for name, part in (("train", slice(0, 300)), ("t10k", slice(300, 400))):
        for kind, array in (
            ("images-idx3", 15 * images[part].reshape(-1, 8, 8)),
            ("labels-idx1", labels[part]),
        ):
            path = tmp_path / "mnist" / f"{name}-{kind}-ubyte.gz"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(idx(array))
    lines = [f"ham\tsee you at {i} then\nspam\tfree prize {i}, call now" for i in range(30)]
    (tmp_path / "sms_spam").mkdir()
    (tmp_path / "sms_spam" / "SMSSpamCollection.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path))
    return tmp_path / "out"


@pytest.mark.parametrize("name", ["mnist_table", "mnist_voted", "kernel_svc", "sms_spectrum"])
def test_a_set_that_is_not_there_is_named(script, monkeypatch, tmp_path, name):
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path))
    plot = [] if name in ("mnist_table", "sms_spectrum") else ["--no-plot"]
    with pytest.raises(SystemExit, match=r"(MNIST|SMS spam) is not in the folder PERCEPTRONS_DATA names"):
        script(name).main([*plot, "--out", str(tmp_path)])


@pytest.mark.uncompiled
def test_mnist_table(script, tiny_sets, capsys):
    table = script("mnist_table")
    command = ["--rows", "perceptron,amira,romma,romma-255", "--out", str(tiny_sets), "--shuffles"]
    table.main([*command, "1"])
    first = capsys.readouterr()
    assert "averaged Perceptron" in first.out and "the other scale of the pixels" in first.out
    assert len(json.loads((tiny_sets / "mnist_table.json").read_text())["runs"]) == 8

    table.main([*command, "2"])  # only the second shuffle is left to do
    second = capsys.readouterr()
    assert "[4/4]" in second.err and "[5/" not in second.err
    assert "binary AMIRA(0.1), 2 shuffles" in second.out and "of 16 means within 0.25 points" in second.out

    table.main(["--markdown", "--out", str(tiny_sets)])
    assert "| Perceptron | 255 |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="holds runs with training images 300, not 200"):
        table.main([*command, "0", "--data-limit", "200"])
    with pytest.raises(SystemExit, match="--rows takes all, or some of perceptron, romma"):
        table.main(["--rows", "rosenblatt"])


def test_mnist_table_knows_its_counts(script, tmp_path):
    table = script("mnist_table")
    saved = table.Saved(tmp_path / "runs.json", {"training images": 60_000})
    assert table.check_counts(saved) is None
    run = {"mistakes": [7732, 2, 2, 2], "support": [6174, 7000, 8000, 8075]}
    saved.runs["perceptron, file order"] = run
    assert table.check_counts(saved).endswith("8,075 support vectors after epoch 4: OK")
    run["support"][-1] += 1
    assert "NOT OK" in table.check_counts(saved)


@pytest.mark.uncompiled
@pytest.mark.parametrize("degree", [1, 3])
def test_readouts_from_the_log_are_those_of_the_estimator(script, tiny_sets, degree):
    voted, data = script("mnist_voted"), script("data")
    X, y, X_test, _ = data.mnist()
    X, X_test = (np.round(17.0 * x) / 16.0 for x in (X, X_test))  # sixteenths: products without rounding
    logs, model = voted.learn(degree, X, y, 2, {})
    kernel = kernels.Polynomial(degree=degree)
    times = [100, 2 * len(X)]
    scores = voted.read_out(logs, kernel, X, X_test, times)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(X)) for _ in range(2)]
    for k, order in enumerate(([orders[0][:100]], orders)):
        for readout in ("last", "average", "vote"):
            for norm in (False, True) if readout != "vote" else (False,):
                same = KernelPerceptron(
                    kernel=kernel, multiclass="ovr", readout=readout, normalized_votes=norm, device="cpu"
                ).fit(X, y, order=order)
                expected = same.decision_function(X_test)
                found = scores[f"{readout} norm" if norm else readout][k]
                np.testing.assert_allclose(
                    found * (times[k] if readout == "vote" else 1.0), expected, rtol=2e-3, atol=1e-4
                )
    assert same.n_updates_ == model.n_updates_ == sum(len(log.rows) for log in logs)


@pytest.mark.uncompiled
def test_mnist_voted(script, tiny_sets, capsys):
    script("mnist_voted").main(["--degrees", "1,2", "--epochs", "2", "--no-plot", "--out", str(tiny_sets)])
    printed = capsys.readouterr().out
    assert "degree 2: test error in %" in printed and "random norm" in printed
    found = json.loads((tiny_sets / "mnist_voted.json").read_text())
    assert found["epochs"] == [0.1, 0.2, 0.4, 0.7, 1, 2] and len(found["degrees"]["1"]["errors"]["vote"]) == 6


@pytest.mark.uncompiled
def test_kernel_svc(script, tiny_sets, capsys):
    quick = ["--rounds", "1", "--sizes", "100,200,300", "--piece", "50", "--no-plot", "--out", str(tiny_sets)]
    script("kernel_svc").main(quick)
    printed = capsys.readouterr().out
    assert "seconds grow as n^" in printed and "scikit-learn SVC" in printed and "1,000 MB" in printed
    assert (tiny_sets / "kernel_svc.txt").read_text() in printed


def test_monomials_are_the_map_of_the_polynomial_kernel(script):
    crossover = script("polynomial_crossover")
    X = np.random.default_rng(0).normal(size=(7, 4))
    for degree, number in ((1, 5), (2, 15), (3, 35), (4, 70)):
        Z = crossover.monomials(X, degree)
        assert Z.shape == (7, number)
        np.testing.assert_allclose(Z @ Z.T, kernels.Polynomial(degree=degree)(X))


@pytest.mark.uncompiled
def test_polynomial_crossover(script, tmp_path, capsys):
    crossover = script("polynomial_crossover")
    quick = ["--features", "2,3", "--rows", "80", "--rounds", "1", "--no-plot", "--out", str(tmp_path)]
    crossover.main(quick)
    printed = capsys.readouterr().out
    assert "degree 3: the same updates both ways" in printed and "memory of the model" in printed
    costs = [crossover.Cost(d, 0, 0, 0, 0.0, d**2 / 100.0, 1.0, 1, 1, 1, 1) for d in (2, 5, 20)]
    assert crossover.crossover(costs, lambda c: c.ratio) == pytest.approx(10.0)
    assert crossover.crossover(costs[:2], lambda c: c.ratio) is None
    log = np.zeros(2, [("epoch", int), ("row", int)])
    with pytest.raises(SystemExit, match=r"different updates \(2 and 1\)"):
        crossover.same(log, log[:1], "here")


@pytest.mark.uncompiled
def test_sms_spectrum(script, tiny_sets, capsys):
    spectrum = script("sms_spectrum")
    spectrum.main(["--lengths", "2,3", "--modes", "set,min", "--folds", "2", "--out", str(tiny_sets)])
    printed = capsys.readouterr().out
    assert "60 messages, 30 spam" in printed
    for name in (
        "words, tf-idf",
        "p = 2, set; KernelPerceptron",
        "p = 2 + 3, min; PA-I",
        "in the primal, p = 3",
    ):
        assert name in printed
    with pytest.raises(SystemExit, match="--modes takes some of multiset, set, min; got 'sum'"):
        spectrum.main(["--modes", "sum"])


def test_separability_table(script, tiny_sets, capsys):
    table = script("separability_table")
    table.main(["--only", "mnist-0-1,splice,breast-cancer,digits", "--out", str(tiny_sets)])
    printed = capsys.readouterr().out
    assert "MNIST 0 against 1" in printed and "splice: NOT RUN" in printed
    assert "45 of 45 pairs are separable" in printed and "checks: all OK" in printed
    with pytest.raises(SystemExit, match="--only takes some of mushrooms, a9a"):
        table.main(["--only", "iris"])


def test_maximum_margin(tmp_path):
    printed = benchmark("maximum_margin", "--quick", "--rounds", "1", "--out", str(tmp_path))
    kept = (tmp_path / "maximum_margin.txt").read_text()
    assert kept in printed and "text, 80 x 500, sparse" in kept
    assert kept.count("best peer / MaxMargin:") == 2


def test_a_peer_is_waited_for_as_long_as_it_matters(script):
    patient = script("maximum_margin").patient
    assert patient(120.0, 0.001) == 15.0 and patient(120.0, 2.0) == 60.0 and patient(10.0, 2.0) == 10.0


@pytest.mark.uncompiled
def test_plots(script, tiny_sets):
    pytest.importorskip("matplotlib", reason="plots NOT RUN: matplotlib is not installed")
    out = ["--out", str(tiny_sets)]
    script("mnist_voted").main(["--degrees", "2", "--epochs", "1", *out])
    script("kernel_svc").main(["--only", "law", "--rounds", "1", "--sizes", "100,300", "--piece", "50", *out])
    script("polynomial_crossover").main(
        ["--degree", "2", "--features", "2,3", "--rows", "50", "--rounds", "1", *out]
    )
    for name in ("mnist_voted", "kernel_svc_law", "polynomial_crossover"):
        assert (tiny_sets / f"{name}.svg").read_text().startswith("<?xml")
        assert (tiny_sets / f"{name}.png").stat().st_size > 1000


def test_without_matplotlib_the_command_is_told(script, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"pip install matplotlib"):
        script("mnist_voted").main([])


def test_certify_passes(script, tmp_path, capsys):
    script("certify_passes").main(["--rows", "400", "--only", "Perceptron,AROW", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert (tmp_path / "certify_passes.txt").read_text() in told
    assert "at most 3 passes: OK" in told


def test_mixing():
    printed = benchmark("mixing", "--quick")
    for line in ("AveragedPerceptron, shuffled", "one-shot averaging", "product of Gaussians", "wrong"):
        assert line in printed


@pytest.mark.parametrize(
    ("gain", "bare", "verdict"),
    [(1.8, 1.5, "met"), (1.7, 1.79, "memory"), (1.7, 1.8, "MISSED"), (np.nan, 2.0, "no cores")],
)
def test_a_gain_is_judged_beside_the_bare_loop(script, gain, bare, verdict):
    assert script("mixing").verdict_of(gain, bare) == verdict


def test_rounds_count_while_both_threads_have_a_core(script):
    """The slowdown before, between and after the two runs of a round; the first round compiles."""
    mixing = script("mixing")
    seen = iter([9.0, 9.0, 9.0, 1.0, 1.0, 1.1, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    one, two = [99.0, 3.0, 5.0, 4.0], [9.0, 2.0, 1.0, 1.0]
    cores = types.SimpleNamespace(slowdown=lambda: next(seen))
    *_, taken = mixing.timed_rounds(cores, 3, lambda number, n: ((one if n == 1 else two)[number], 0.5))
    assert taken.counted() == [0, 2]
    assert (taken.best(1), taken.best(2)) == (3.0, 1.0)
    assert taken.gains() == (np.median([3.0 / 2.0, 4.0]), 3.0, 4.0)
    taken.slowdown = [1.2, 1.2, 1.2]
    assert np.isnan(taken.gains()[:2]).all() and taken.gains()[2] == 4.0


def test_cores_leave_other_threads_where_they_were(script):
    here = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    cores = script("cores").Cores(n_products=10)
    assert 0.0 < cores.slowdown() < np.inf
    cores.close()
    assert here is None or os.sched_getaffinity(0) == here


def test_sets_that_are_not_here_are_not_downloaded(script, monkeypatch, tmp_path):
    monkeypatch.delenv("PERCEPTRONS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert script("text").reviews(None) is None
    assert script("text_labels").reuters() is None
    assert script("mixing").data(quick=False)[-1] == "text-like rows"


def test_text(script, tmp_path, capsys, monkeypatch):
    """On made-up reviews, and without the peers that may not be installed."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]

    def reviews(n):
        texts = [" ".join(rng.choice(words, 90)) for _ in range(n)]
        return text.Reviews(texts, ["for" if i % 2 else "against" for i in range(n)])

    text = script("text")
    monkeypatch.setattr(text, "reviews", lambda limit: (reviews(40), reviews(20)))
    monkeypatch.setattr(text, "installed", lambda name: False)
    monkeypatch.setattr(text.text_accuracy, "folder", lambda: None)  # or all sets would be measured
    monkeypatch.setattr(text.text_calibration, "_sms", lambda limit: None)
    monkeypatch.setattr(text.text_calibration, "_r8", lambda limit: None)
    monkeypatch.setattr(text.text_labels, "measure", lambda report, **how: None)
    monkeypatch.setattr(text.text_labels, "reuters", lambda limit: None)
    text.main(["--rounds", "1", "--no-libsvm", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert (tmp_path / "text.txt").read_text() in told
    assert "learn_one of a text of 75 words" in told and "scikit-learn" in told
    assert "one by one  the same bits" in told and "DIFFERENT" not in told
    assert "calibration error, points" in told and "first visits, isotonic" in told
    text.main(["--choose", "--out", str(tmp_path)])
    assert "r = 10" in capsys.readouterr().out


def numbered_texts(accuracy, number=100):
    """Texts of two labels to learn, and others to test."""
    texts = [f"learned {i}" for i in range(number)]
    labels = np.asarray([str(i % 2) for i in range(number)])
    return accuracy.Split(texts, labels, ["tested 0", "tested 1"], np.asarray(["0", "1"]))


def test_a_setting_is_chosen_on_training_texts_alone(script):
    accuracy = script("text_accuracy")
    split = numbered_texts(accuracy)
    within = accuracy.held_out(split)
    assert within.texts == split.texts[:90] and within.test_texts == split.texts[90:]
    assert (within.labels == split.labels[:90]).all() and (within.test_labels == split.labels[90:]).all()

    def setting(right):
        """Right on the test texts, and on so many of the texts held out."""

        def answer(given, seed, small):
            assert (seed, small) == (3, True)
            assert not set(given.texts + given.test_texts) & set(split.test_texts)
            labels = np.where(np.arange(len(given.test_texts)) < right, given.test_labels, "wrong")
            return accuracy.Answer(labels, 0.1)

        return answer

    settings = {"first": setting(4), "second": setting(7), "third": setting(7)}
    assert accuracy.choice(split, 3, True, settings) == "second"
    assert accuracy.choice(split, 3, True, dict(reversed(settings.items()))) == "third"


def test_an_accuracy_is_that_of_the_setting_chosen_for_the_split(script):
    accuracy = script("text_accuracy")
    runs = {"a": [[80.0, 3.0, 1.0], [90.0, 2.0, 2.0]], "b": [[70.0, 1.0, 3.0], [95.0, 5.0, 4.0]]}
    one = accuracy.result(runs, ["b", "a"])
    assert one.rates == [70.0, 90.0] and one.errors == [3.0, 2.0] and one.seconds == 1.0
    assert (one.mean, one.sd) == (80.0, pytest.approx(200.0**0.5))
    assert one.setting == "b ×1; a ×1" and one.best_on_test == "a: 85.00"
    assert accuracy.result(runs, ["b", "b"]).setting == "b"
    assert accuracy.result(runs, ["b"]).rates == [70.0]  # the second split is not there yet
    assert accuracy.result({"a": runs["a"]}, []).rates == [80.0, 90.0]  # nothing to choose from
    assert accuracy.result(runs, [])[0] == [] and accuracy.result(runs, []).setting == "not chosen"
    assert accuracy.result({"a": [], "b": []}, []) is None


def test_the_standard_error_of_a_difference(script):
    accuracy = script("text_accuracy")
    mine = accuracy.Result([80.0, 81.0, 82.0], 1.0, [0.0, 0.0, 0.0], "default")
    other = accuracy.Result([81.0, 81.0, 84.0], 1.0, [0.5, 0.6, 0.7], "a")
    assert accuracy.resampled_error([1.0, 0.0, 2.0], 0.25) == pytest.approx((1 / 3 + 1 / 4) ** 0.5)
    assert np.isnan(accuracy.resampled_error([1.0], 0.25))
    assert accuracy.behind("CR", mine, other) == pytest.approx((1.0, (1 / 3 + 1 / 9) ** 0.5))
    assert accuracy.behind("TREC", mine, other) == pytest.approx((1.0, 0.6))  # the same test texts each time

    both = {"perceptrons": mine, "sgd": other}
    assert accuracy.verdict("TREC", both) == "1.00 ± 0.60 (NOT close)"
    assert accuracy.verdict("CR", both) == "1.00 ± 0.67 (NOT close)"
    assert accuracy.verdict("CR", {**both, "sgd": other._replace(rates=[80.5, 81.5, 82.5])}).endswith(
        "0.50 ± 0.00 (NOT close)"
    )
    assert accuracy.verdict("TREC", {**both, "sgd": other._replace(errors=[0.8] * 3)}).endswith(" (close)")
    assert accuracy.verdict("CR", {**both, "sgd": other._replace(rates=[70.0])}) == "first"
    assert accuracy.verdict("CR", {**both, "vw": other._replace(rates=[])}) == "not chosen"


def test_text_accuracy(script, tmp_path, capsys, monkeypatch):
    """Every setting is measured and one is chosen, split by split; a file without choices gets them."""
    accuracy = script("text_accuracy")
    monkeypatch.setattr(accuracy, "folder", lambda: tmp_path)
    monkeypatch.setattr(accuracy, "warm", lambda: None)
    learned = [f"good {i}" if i % 2 else f"bad {i}" for i in range(40)], np.asarray(["n", "p"] * 20)
    monkeypatch.setitem(accuracy.SETS, "CR", lambda: (learned, None))
    command = ["--sets", "CR", "--peers", "sgd,tfidf", "--splits", "2", "--out", str(tmp_path)]
    accuracy.main(command)
    kept = tmp_path / accuracy.KEPT
    found = json.loads(kept.read_text())["CR"]
    assert len(found["sgd/default"]) == len(found["tfidf/words"]) == len(found["tfidf/all tokens"]) == 2
    assert found["chosen"] == {"tfidf": ["words", "words"]}  # both are right, so the first
    table = capsys.readouterr().out
    assert "best on test" in table and "words: 100.00" in table and "not chosen" not in table

    kept.write_text(json.dumps({"CR": {key: run for key, run in found.items() if key != "chosen"}}))
    accuracy.main(["--show", "--out", str(tmp_path)])
    assert "not chosen" in capsys.readouterr().out
    accuracy.main(command)
    assert json.loads(kept.read_text())["CR"] == found
    told = capsys.readouterr()
    assert told.err.count("choice of a setting") == len(told.err.splitlines()) == 2


def test_growth_is_measured_in_processes(tmp_path):
    report, figure = tmp_path / "growth.json", tmp_path / "growth.png"
    only = "columns,rows of a file"
    printed = benchmark("growth", "--quick", "--only", only, "--json", str(report), "--figure", str(figure))
    points = json.loads(report.read_text())["points"]
    assert [[size for size, _, _ in axis] for axis in points.values()] == [[256, 512], [200, 400]]
    assert all(seconds > 0 for axis in points.values() for _, seconds, _ in axis)
    assert "rows of a file" in printed and "mean nothing" in printed and figure.stat().st_size > 1000


def test_the_exponent_is_that_of_a_power(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    growth = importlib.import_module("growth")
    assert growth.exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]) == pytest.approx(2.0)


def test_scaling_is_measured_and_simulated(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    printed = benchmark("scaling", "--quick", "--only", "cost,rounds,simulation", "--out", str(tmp_path))
    for words in ("ns a non-zero", "percent right", "Simulated: 4,194,304 columns"):
        assert words in printed and words in (tmp_path / "scaling.txt").read_text()
    scaling = importlib.import_module("scaling")
    rng, costs, net = np.random.default_rng(0), scaling.Costs(), scaling.Network(spread=0.0)
    alone, many = (scaling.simulated_round(n, 1e12, 1 << 18, costs, net, rng) for n in (1, 100))
    assert 50.0 < alone / many < 100.0  # never more than the workers


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_scaling_measures_a_cluster(tmp_path):
    printed = benchmark("scaling", "--quick", "--only", "dask,large", "--out", str(tmp_path))
    assert "ms a task" in printed and "Dask over threads" in printed


@pytest.mark.uncompiled
def test_text_labels(script, tmp_path, capsys, monkeypatch):
    labels = script("text_labels")

    def stories(n, seed):
        return labels.Stories(*labels.generated(n, 3, seed))

    def in_this_process(command, **how):
        assert "many_labels(40, 30)" in command[-1]
        return subprocess.CompletedProcess(command, 0, json.dumps(labels.many_labels(40, 30)))

    monkeypatch.setattr(labels, "reuters", lambda limit: (stories(30, 1), stories(10, 2)))
    monkeypatch.setattr(labels, "SEEDS", (0,))
    monkeypatch.setattr(labels, "TESTED", 10)
    monkeypatch.setattr(labels.subprocess, "run", in_this_process)
    labels.main(["--texts", "40", "--labels", "30", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert (tmp_path / "text_labels.txt").read_text() in told
    assert "micro F1" in told and "bytes each" in told and told.count("its own and five others") == 4
    assert labels.space.MOST_IN_LINES == 256
