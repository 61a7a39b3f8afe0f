"""Spam, topics, opinions, incomes: the family beside scikit-learn's learners on six real tasks, one table.

    .venv/bin/python benchmarks/tasks.py --out docs/measured
    .venv/bin/python benchmarks/tasks.py --only SMS,IMDB --no-plot

The tasks are those of `examples/`: sms.py, enron.py, reuters.py, newsgroups.py, imdb.py and adult.py say what
the features are; `_shared.py` there says how parameters are chosen (on a held-out part of the training rows;
on Enron: the defaults). Everybody gets the same features and ten epochs, on Enron one pass. Numbers are
per cent of the test rows; for Reuters 100 - micro F1; for Enron the wrong answers of the online protocol.
Deviations are over shuffles, for SMS over splits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import _shared
import adult
import enron
import imdb
import newsgroups
import reuters
import sms
from report import Report, options, parsed, progress, pyplot

from perceptrons import datasets

SPLIT = {"SMS": sms, "Reuters": reuters, "20 newsgroups": newsgroups, "IMDB": imdb}
NAMES = ("SMS", "Enron", "Reuters", "20 newsgroups", "IMDB", "Adult")
SETS = {"SMS": "sms_spam", "Enron": "enron_spam", "Reuters": "reuters21578", "20 newsgroups": "20newsgroups"}
SETS |= {"IMDB": "imdb", "Adult": "adult"}
ADULT_SEEDS = 3

Cells = dict[str, str]
"""What stands beside the name of a learner."""


def adult_tasks(seeds: int, limit: int | None = None) -> list[_shared.Task]:
    """0/1 columns of census rows, as examples/adult.py makes them, before they are centred or scaled."""
    rows = adult.prepared(adult.binary(), datasets.load_adult())
    return [_shared.Task(rows.X[:limit], rows.y[:limit], rows.X_test[:limit], rows.y_test[:limit])] * seeds


def results(name: str, seeds: int | None, limit: int | None) -> Iterator[_shared.Result]:
    """All contestants on one task that has training and test rows."""
    if name == "Adult":
        return _shared.compare(adult_tasks(seeds or ADULT_SEEDS, limit), _shared.learners())
    module = SPLIT[name]
    tasks = module.load(seeds or module.SEEDS, limit)
    return _shared.compare(tasks, _shared.learners(module.VOTED), module.measure)


def kept(name: str, found: Iterator[_shared.Result]) -> list[_shared.Result]:
    """The results, told to those who wait."""
    done = []
    for result in found:
        progress(f"{name}: {result.learner.name} {result.cell()}")
        done.append(result)
    return done


def say_enron(report: Report, limit: int | None) -> tuple[list[enron.Curve], enron.Mail]:
    """The mistake curves, as a table."""
    mail = enron.load(limit)
    report.say()
    report.say("Enron, online: mistakes so far, and per cent of the last 1,000 mails")
    report.say(enron.head(len(mail.y)))
    curves = []
    for curve in enron.curves(mail, sgd_average=True):
        report.say(enron.line(curve))
        curves.append(curve)
    return curves, mail


def say_details(report: Report, found: dict[str, list[_shared.Result]]) -> None:
    """What the one table leaves out: the other measures of Reuters, and the parameters."""
    if "Reuters" in found:
        rows = [[r.learner.name, *(r.cell(j) for j in range(1, 5))] for r in found["Reuters"]]
        report.table("Reuters, ten largest topics", ("", *reuters.HEADS[1:]), rows)
    if "SMS" in found:
        rows = [[r.learner.name, r.cell(1)] for r in found["SMS"]]
        report.table("SMS", ("", sms.HEADS[1]), rows)
    names = [learner.name for learner in _shared.learners() if learner.values]
    if found:
        report.table(
            "parameters, chosen on a fifth of the training rows",
            ("", *found),
            [
                [name, *(column(results, _shared.Result.setting).get(name, "") for results in found.values())]
                for name in names
            ],
        )


def column(found: list[_shared.Result], cell: Callable[[_shared.Result], str]) -> Cells:
    return {result.learner.name: cell(result) for result in found}


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__, plots=True)
    parser.add_argument("--only", metavar="a,b", default=",".join(NAMES), help="some of %(default)s")
    parser.add_argument("--seeds", metavar="N", type=int, help="runs (5 splits of SMS, 3 shuffles of others)")
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many rows")
    chose = parsed(parser, argv)
    only = [name.strip() for name in chose.only.split(",")]
    if any(name not in NAMES for name in only):
        raise SystemExit(f"--only takes some of {', '.join(NAMES)}; got {chose.only!r}.")
    absent = [name for name in only if datasets.find(SETS[name]) is None]
    if absent:
        raise SystemExit(f"Not in the folder PERCEPTRONS_DATA names: {', '.join(absent)}. See --only.")
    run(only, chose)


def run(only: list[str], chose: Any) -> None:
    report, started = Report("tasks", chose.out), time.perf_counter()
    shuffles, splits = (chose.seeds,) * 2 if chose.seeds else (ADULT_SEEDS, sms.SEEDS)
    report.setting(", ".join(only), runs=f"{shuffles} shuffles; SMS: {splits} splits; Enron: one pass")
    found: dict[str, list[_shared.Result]] = {}
    columns: dict[str, Cells] = {}
    figure = None
    for name in only:
        if name == "Enron":
            curves, mail = say_enron(report, chose.data_limit)
            columns[name] = {curve.name: f"{curve.error:.2f}" for curve in curves}
            if not chose.no_plot:
                pyplot()
                figure = enron.draw(curves, mail)
        else:
            found[name] = kept(name, results(name, chose.seeds, chose.data_limit))
            columns[name] = column(found[name], _shared.Result.cell)
    rows = [
        [learner.name, *(cells.get(learner.name, "-") for cells in columns.values())]
        for learner in _shared.learners(voted=True)
    ]
    report.table("errors in per cent; Enron: online; Reuters: 100 - micro F1", ("", *columns), rows)
    say_details(report, found)
    report.say(f"\n{time.perf_counter() - started:.0f} s in all")
    report.keep(figure)


if __name__ == "__main__":
    main()
