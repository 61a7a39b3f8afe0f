"""How far the probabilities of texts can be believed: the expected calibration error, before and after.

    .venv/bin/python benchmarks/text_calibration.py
    .venv/bin/python benchmarks/text_calibration.py --data-limit 2000 --rounds 1

``TextClassifier()`` with its defaults on three sets: SMS messages (ham or spam, halves at random), IMDB's
reviews (for or against) and Reuters (R8: eight topics). The probabilities of the test texts are made in five
ways: from the scores as they are, by the logistic function (none); by a sigmoid fitted to the scores of the
training texts after they were learned (training scores); by one fitted to the score of each text before it
was learned for the first time, which is ``probability=True`` (first visits), or by an isotonic regression on
the same scores; and by a sigmoid fitted to a tenth of the training texts, which is not learned (held out).

Calibration error: 20 bins of width 0.05 by the highest probability of a text, the difference of the mean
probability and the share of right ones in each, averaged by the texts, in points (hundredths). Log loss: the
mean of -ln p of the true label. Both with the standard deviation over rounds of other orders of the texts.
"""

from __future__ import annotations

import gzip
from typing import Any, NamedTuple

import numpy as np
from data import folder, required, sms_spam
from report import Report, options, parsed, progress

from perceptrons import TextClassifier
from perceptrons.cli.reliability import Reliability
from perceptrons.core import curves, first_visits

WAYS = ("none", "training scores", "first visits", "first visits, isotonic", "held out")


class Set(NamedTuple):
    """Texts to learn, and others to test."""

    name: str
    texts: list[str]
    labels: np.ndarray
    test_texts: list[str]
    test_labels: np.ndarray


class Found(NamedTuple):
    """What one way gives on the test texts."""

    error: float  #: in points
    log_loss: float


def measure(report: Report, sets: list[Set], rounds: int) -> None:
    """One line per set and way."""
    lines = []
    for given in sets:
        runs = []
        for seed in range(rounds):
            progress(f"calibration: {given.name}, round {seed + 1} of {rounds}")
            runs.append(one_round(given, seed))
        accuracy = 100.0 * np.mean([accuracy for accuracy, _ in runs])
        for way in WAYS:
            error, loss = np.transpose([found[way] for _, found in runs])
            told = [f"{error.mean():.2f} ± {error.std():.2f}", f"{loss.mean():.4f} ± {loss.std():.4f}"]
            lines.append([given.name, way, *told, f"{accuracy:.2f} %"])
    head = ("set", "probabilities from", "calibration error, points", "log loss", "accuracy")
    report.table(f"Calibration, {rounds} rounds: mean and standard deviation", head, lines)


def one_round(given: Set, seed: int) -> tuple[float, dict[str, Found]]:
    """(accuracy, the figures of each way)."""
    order = np.random.default_rng(seed).permutation(len(given.texts))
    texts, labels = [given.texts[i] for i in order], given.labels[order]
    model = TextClassifier(probability=True, random_state=seed).fit(texts, labels)
    codes = np.searchsorted(model.classes_, given.test_labels)
    scores = model.decision_function(given.test_texts).reshape(len(codes), -1)
    P = {"none": np.exp(curves.log_probabilities(scores))}
    trained = model.decision_function(texts).reshape(len(labels), -1)
    outcomes = first_visits.outcomes(np.searchsorted(model.classes_, labels), trained.shape[1])
    fitted = curves.fitted("sigmoid", trained, outcomes, np.ones(len(labels)))
    P["training scores"] = np.exp(curves.log_probabilities(fitted.log_odds(scores)))
    P["first visits"] = model.predict_proba(given.test_texts)
    model.calibration = "isotonic"
    P["first visits, isotonic"] = model.predict_proba(given.test_texts)
    held = TextClassifier(probability=True, calibration_rows="held out", random_state=seed)
    P["held out"] = held.fit(texts, labels).predict_proba(given.test_texts)
    accuracy = float(np.mean(model.predict(given.test_texts) == given.test_labels))
    return accuracy, {way: judged(P[way], codes) for way in WAYS}


def judged(P: np.ndarray, codes: np.ndarray) -> Found:
    found = Reliability()
    found.add(P, codes)
    true = P[np.arange(len(codes)), codes]
    return Found(100.0 * found.error, float(-np.mean(np.log(np.maximum(true, np.finfo(float).tiny)))))


# ------------------------------------------------------------------------------------------------ the sets


def all_sets(limit: int | None, reviews: tuple[Any, Any] | None) -> list[Set]:
    """Those that are on this machine; ``reviews`` are those of IMDB, with ``texts`` and ``labels``."""
    found = [_sms(limit), _r8(limit)]
    if reviews is not None:
        train, test = reviews
        found.insert(
            1, Set("IMDB", train.texts, np.asarray(train.labels), test.texts, np.asarray(test.labels))
        )
    return [one for one in found if one is not None]


def _sms(limit: int | None) -> Set | None:
    loaded = sms_spam(limit)
    if loaded is None:
        return None
    texts, y = loaded[0], np.asarray(loaded[1])
    order = np.random.default_rng(0).permutation(len(y))
    learned, tested = np.array_split(order, 2)
    return Set("SMS", [texts[i] for i in learned], y[learned], [texts[i] for i in tested], y[tested])


def _r8(limit: int | None) -> Set | None:
    place = folder()
    if place is None or not (place / "r8").is_dir():
        return None
    parts: list[Any] = []
    for part in ("train", "test"):
        with gzip.open(place / "r8" / f"{part}.txt.gz", "rt", encoding="utf-8") as lines:
            pairs = [line.rstrip("\n").split("\t", 1) for line in lines][:limit]
        parts += [[text for _, text in pairs], np.array([label for label, _ in pairs])]
    return Set("Reuters R8", *parts)


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many texts of each part")
    parser.add_argument("--rounds", metavar="N", type=int, default=5)
    chose = parsed(parser, argv)
    from text import reviews

    sets = all_sets(chose.data_limit, reviews(chose.data_limit))
    report = Report("text_calibration", chose.out)
    report.setting(
        "; ".join(f"{s.name}: {len(s.texts):,} texts, {len(s.test_texts):,} to test" for s in sets)
    )
    measure(report, required(sets or None, "SMS, IMDB or R8"), chose.rounds)
    report.keep()


if __name__ == "__main__":
    main()
