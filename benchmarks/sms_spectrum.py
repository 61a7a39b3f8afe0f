"""String kernels on real text: SMS spam by substrings, beside a bag of words.

    .venv/bin/python benchmarks/sms_spectrum.py
    .venv/bin/python benchmarks/sms_spectrum.py --lengths 3,4 --modes multiset --folds 3

Spectrum kernels compare messages by the substrings of length p that they have in common; "multiset" counts
pairs of occurrences, "set" distinct substrings, "min" the smaller number of occurrences. All values are
divided by the lengths of both messages in the space of the kernel; a constant is added for the intercept.
The perceptron and PA-I learn in ten epochs and predict with their averages, here as there. The bag of words
is scikit-learn's, with the linear learners of this package. "p-grams in the primal" writes the substrings
of the multiset kernel out: the same updates once more, but a vocabulary does not know the substrings that
only new messages have, so these do not count in their lengths.

Stratified folds, the same for all. Times are wall times, the mean over the folds: fitting includes counting
substrings or words; prediction is per 1,000 messages. F1 is that of spam.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import data
import numpy as np
from report import Report, numbers, options, parsed, progress
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from perceptrons import (
    AveragedPerceptron,
    KernelClassifier,
    KernelPerceptron,
    PassiveAggressive,
    kernels,
    rules,
)

MODES = ("multiset", "set", "min")
SEED: dict[str, Any] = {"random_state": 0, "max_iter": 10}


def pieces(text: str, p: int) -> list[str]:
    """All substrings of length p."""
    return [text[i : i + p] for i in range(len(text) - p + 1)]


def contestants(lengths: list[int], modes: list[str]) -> dict[str, Callable[[], Any]]:
    """Fresh learners by name."""
    found: dict[str, Callable[[], Any]] = {
        "words, counts; AveragedPerceptron": lambda: make_pipeline(
            CountVectorizer(dtype=np.float32), Normalizer(), AveragedPerceptron(**SEED)
        ),
        "words, tf-idf; AveragedPerceptron": lambda: make_pipeline(
            TfidfVectorizer(sublinear_tf=True, dtype=np.float32), AveragedPerceptron(**SEED)
        ),
        "words, tf-idf; PassiveAggressive, PA-I": lambda: make_pipeline(
            TfidfVectorizer(sublinear_tf=True, dtype=np.float32),
            PassiveAggressive(C=1.0, readout="average", **SEED),
        ),
    }
    spectra = {f"p = {p}, {mode}": kernels.Spectrum(p, mode) for p in lengths for mode in modes}
    if len(lengths) > 1:
        terms = [kernels.Spectrum(p, modes[-1]) for p in lengths]
        spectra[f"p = {' + '.join(map(str, lengths))}, {modes[-1]}"] = sum(terms[1:], start=terms[0])
    for name, spectrum in spectra.items():
        common = {"kernel": kernels.Normalized(spectrum), "fit_intercept": True, "readout": "average", **SEED}
        found[f"spectrum {name}; KernelPerceptron"] = lambda common=common: KernelPerceptron(**common)
        if name.endswith(modes[-1]):
            found[f"spectrum {name}; PA-I"] = lambda common=common: KernelClassifier(
                rule=rules.PA1(C=1.0), **common
            )
    for p in lengths:
        found[f"p-grams in the primal, p = {p}; AveragedPerceptron"] = lambda p=p: make_pipeline(
            CountVectorizer(analyzer=lambda text: pieces(text, p), dtype=np.float64),
            Normalizer(),
            AveragedPerceptron(**SEED),
        )
    return found


def judge(make: Callable[[], Any], messages: Any, y: Any, folds: Any) -> dict[str, np.ndarray]:
    """Error, F1, seconds and support of one contestant, fold by fold."""
    found: dict[str, list[float]] = {name: [] for name in ("error", "f1", "fit", "predict", "support")}
    for train, test in folds:
        model = make()
        start = time.perf_counter()
        model.fit(messages[train].tolist(), y[train])
        fitted = time.perf_counter()
        guess = model.predict(messages[test].tolist())
        found["predict"].append(1000 * (time.perf_counter() - fitted) / len(test))
        found["fit"].append(fitted - start)
        found["error"].append(100.0 * float(np.mean(guess != y[test])))
        found["f1"].append(100.0 * f1_score(y[test], guess, zero_division=0.0))
        found["support"].append(getattr(model, "n_support_", np.nan))
    return {name: np.array(values) for name, values in found.items()}


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--lengths", metavar="a,b", type=numbers, default=[2, 3, 4, 5], help="of substrings (2 to 5)"
    )
    parser.add_argument("--modes", metavar="a,b", default=",".join(MODES), help="(%(default)s)")
    parser.add_argument("--folds", metavar="N", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many messages")
    chose = parsed(parser, argv)
    modes = chose.modes.split(",")
    if any(mode not in MODES for mode in modes):
        raise SystemExit(f"--modes takes some of {', '.join(MODES)}; got {chose.modes!r}.")
    texts, y = data.required(data.sms_spam(chose.data_limit), "SMS spam")
    messages = np.array(texts, object)
    report = Report("sms_spectrum", chose.out)
    report.setting(
        f"SMS Spam Collection: {len(y):,} messages, {int(y.sum()):,} spam; {chose.folds} stratified folds"
    )
    folds = list(StratifiedKFold(chose.folds, shuffle=True, random_state=0).split(messages, y))
    few = np.concatenate([np.flatnonzero(y == label)[:50] for label in (0, 1)])
    rows = []
    for name, make in contestants(chose.lengths, modes).items():
        make().fit(messages[few].tolist(), y[few])  # compiled
        found = judge(make, messages, y, folds)
        error, support = found["error"], found["support"].mean()
        rows.append(
            [
                name,
                f"{error.mean():.2f} ± {error.std(ddof=1):.2f}",
                f"{found['f1'].mean():.1f}",
                f"{found['fit'].mean():.3f}",
                f"{1e3 * found['predict'].mean():.1f}",
                "" if np.isnan(support) else f"{support:,.0f}",
            ]
        )
        progress(f"{name}: error {error.mean():.2f} %, fit {found['fit'].mean():.2f} s")
    report.table(
        "error and F1 of spam in %, seconds of a fit, milliseconds for 1,000 messages, support vectors",
        ("", "error", "F1", "fit, s", "predict, ms", "support"),
        rows,
    )
    report.keep()


if __name__ == "__main__":
    main()
