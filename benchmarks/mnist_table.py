"""Test errors on MNIST, epochs 1 to 4: the published table, ours beside it.

    .venv/bin/python benchmarks/mnist_table.py                          file order and 10 shuffles
    .venv/bin/python benchmarks/mnist_table.py --shuffles 0             file order only
    .venv/bin/python benchmarks/mnist_table.py --rows romma,romma-255   some rows; all: the extra ones, too
    .venv/bin/python benchmarks/mnist_table.py --markdown               print what was saved, run nothing

The kernel is (1 + <x, z>)^4 with one learner per class against the rest; the pixels are divided by 255, and
by 1100 for both ROMMA rows ("a scale of 1100"). One run of the perceptron gives two rows: its last vector
and its average. Each run is saved when it ends, and a second call goes on where the first one was cut off.

The published figures: Y. Li, P. Long, The relaxed online maximum margin algorithm, Machine Learning 46,
2002; K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3, 2003.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
from objective import machine
from report import Report, aligned, markdown, options, parsed, progress

from perceptrons import KernelClassifier, kernels, rules

EPOCHS = 4
GOAL = 0.25  # points between the mean over shuffles and the paper
FILE_ORDER = {"mistakes in epoch 1": 7732, "support vectors after epoch 4": 8075}  # of the perceptron


class Row(NamedTuple):
    """A row of the table: which run it comes from, and what the paper says."""

    name: str
    readout: str
    paper: tuple[float, ...]


class Run(NamedTuple):
    """A learner, and the rows that it fills."""

    rule: Any
    divisor: int  #: of the pixels
    rows: tuple[Row, ...]


PERCEPTRON = (2.98, 2.32, 1.94, 1.88)
AVERAGED = (2.16, 1.85, 1.73, 1.69)
ROMMA = (2.48, 1.96, 1.79, 1.77)
AGGRESSIVE = (2.14, 1.82, 1.71, 1.67)

RUNS = {
    "perceptron": Run(
        rules.Perceptron(),
        255,
        (Row("Perceptron", "last", PERCEPTRON), Row("averaged Perceptron", "average", AVERAGED)),
    ),
    "romma": Run(rules.ROMMA(), 1100, (Row("ROMMA", "last", ROMMA),)),
    "aggressive-romma": Run(rules.AggressiveROMMA(0.0), 1100, (Row("aggressive ROMMA", "last", AGGRESSIVE),)),
    "mira": Run(rules.MIRA(0.0), 255, (Row("MIRA", "last", (2.56, 2.03, 1.74, 1.70)),)),
    "amira": Run(rules.MIRA(0.1), 255, (Row("binary AMIRA(0.1)", "last", (2.20, 1.78, 1.67, 1.64)),)),
}
#: the same learners at the other scale
EXTRA = {
    "perceptron-1100": Run(
        rules.Perceptron(),
        1100,
        (Row("Perceptron", "last", PERCEPTRON), Row("averaged Perceptron", "average", AVERAGED)),
    ),
    "romma-255": Run(rules.ROMMA(), 255, (Row("ROMMA", "last", ROMMA),)),
    "aggressive-romma-255": Run(
        rules.AggressiveROMMA(0.0), 255, (Row("aggressive ROMMA", "last", AGGRESSIVE),)
    ),
}

# ------------------------------------------------------------------------------------------------- one run


def learn(run: Run, seed: int | None, digits: Any, how: dict[str, Any]) -> dict[str, Any]:
    """Four epochs of one learner: its errors after each, and its work. No seed: the files' order."""
    X, y, X_test, y_test = digits
    readouts = [row.readout for row in run.rows]
    kept = "average" if "average" in readouts else "last"
    found: dict[str, Any] = {"errors": {readout: [] for readout in readouts}, "support": [], "seconds": []}
    clock = [time.perf_counter()]

    def after_epoch(model: Any) -> None:
        found["seconds"].append(round(time.perf_counter() - clock[0], 3))
        for readout in readouts:
            wrong = model.set_params(readout=readout).predict(X_test) != y_test
            found["errors"][readout].append(round(100.0 * float(wrong.mean()), 4))
        model.set_params(readout=kept)
        found["support"].append(model.n_support_)
        clock[0] = time.perf_counter()

    model = KernelClassifier(
        rule=run.rule,
        kernel=kernels.Polynomial(degree=4, gamma=(255 / run.divisor) ** 2),
        multiclass="ovr",
        readout=kept,
        max_iter=EPOCHS,
        shuffle=seed is not None,
        random_state=seed,
        callback=after_epoch,
        **how,
    ).fit(X, y)
    found["mistakes"] = [epoch["mistakes"] for epoch in model.history_]
    found["updates"] = [epoch["updates"] for epoch in model.history_]
    return found


class Saved:
    """Runs in a JSON file, written after each one."""

    def __init__(self, path: Path, setting: dict[str, Any]):
        self.path = path
        self.setting = setting
        self.runs: dict[str, Any] = {}
        if path.exists():
            before = json.loads(path.read_text())
            for name, value in setting.items():
                if name != "machine" and before["setting"][name] != value:
                    raise SystemExit(
                        f"{path} holds runs with {name} {before['setting'][name]!r}, not {value!r}: "
                        "give another file by --save, or remove it."
                    )
            self.setting, self.runs = before["setting"], before["runs"]

    @staticmethod
    def key(name: str, seed: int | None) -> str:
        return f"{name}, file order" if seed is None else f"{name}, seed {seed}"

    def add(self, key: str, found: dict[str, Any]) -> None:
        self.runs[key] = found
        self.path.parent.mkdir(parents=True, exist_ok=True)
        half = self.path.with_suffix(".part")
        half.write_text(json.dumps({"setting": self.setting, "runs": self.runs}, indent=1) + "\n")
        half.replace(self.path)

    def errors(self, name: str, readout: str, seeds: Any) -> np.ndarray:
        """(runs, epochs): of the seeds that are there; after a clean pass nothing changes any more."""
        runs = [
            self.runs[key]["errors"][readout]
            for key in (self.key(name, s) for s in seeds)
            if key in self.runs
        ]
        return np.array([run + run[-1:] * (EPOCHS - len(run)) for run in runs]).reshape(-1, EPOCHS)

    def seeds(self) -> list[int]:
        """All seeds of any run."""
        return sorted({int(key.rpartition(" ")[2]) for key in self.runs if ", seed " in key})


# -------------------------------------------------------------------------------------------------- tables

HEAD = ("pixels /", *(f"epoch {e}: ours, paper (diff)" for e in range(1, EPOCHS + 1)))


def in_file_order(saved: Saved, runs: dict[str, Run]) -> list[list[str]]:
    """Lines of the table: ours, the paper's, and the difference."""
    lines = []
    for name, run in runs.items():
        for row in run.rows:
            errors = saved.errors(name, row.readout, [None])
            if len(errors):
                cells = [f"{e:.2f}, {p:.2f} ({e - p:+.2f})" for e, p in zip(errors[0], row.paper)]
                lines.append([row.name, str(run.divisor), *cells])
    return lines


def over_shuffles(saved: Saved, runs: dict[str, Run]) -> list[list[str]]:
    """The same for the mean over shuffles, with the standard deviation; ! where it misses the goal."""
    lines = []
    for name, run in runs.items():
        for row in run.rows:
            errors = saved.errors(name, row.readout, saved.seeds())
            if len(errors):
                sd = [f" ± {s:.2f}" for s in errors.std(axis=0, ddof=1)] if len(errors) > 1 else [""] * EPOCHS
                cells = [
                    f"{m:.2f}{s}, {p:.2f} ({m - p:+.2f}){'!' if abs(m - p) > GOAL else ''}"
                    for m, s, p in zip(errors.mean(axis=0), sd, row.paper)
                ]
                lines.append(
                    [f"{row.name}, {len(errors)} shuffle{'s' * (len(errors) > 1)}", str(run.divisor), *cells]
                )
    return lines


def farthest(saved: Saved) -> str:
    """The mean that is farthest from the paper."""
    worst: tuple[float, str] | None = None
    n_cells = beyond = 0
    for name, run in RUNS.items():
        for row in run.rows:
            errors = saved.errors(name, row.readout, saved.seeds())
            for epoch, (e, p) in enumerate(zip(errors.mean(axis=0), row.paper), 1) if len(errors) else ():
                n_cells += 1
                beyond += abs(e - p) > GOAL
                if worst is None or abs(e - p) > worst[0]:
                    worst = abs(e - p), f"{row.name}, epoch {epoch}: {e:.2f} against {p:.2f}"
    if worst is None:
        return "no shuffles were run"
    return f"{n_cells - beyond} of {n_cells} means within {GOAL} points of the paper; farthest: {worst[1]}"


def work_done(saved: Saved, runs: dict[str, Run]) -> list[list[str]]:
    """Mistakes, updates, support and seconds per epoch, in file order."""
    lines = []
    for name in runs:
        run = saved.runs.get(Saved.key(name, None))
        if run is not None:
            rows = zip(run["mistakes"], run["updates"], run["support"], run["seconds"])
            cells = [f"{m:,} {u:,} {s:,} {t:.1f} s" for m, u, s, t in rows]
            lines.append([name, *cells, *[""] * (EPOCHS - len(cells))])
    return lines


def check_counts(saved: Saved) -> str | None:
    """Whether the perceptron in file order did what it has to; None: not run, or on some of the data."""
    run = saved.runs.get(Saved.key("perceptron", None))
    if run is None or saved.setting["training images"] != 60_000 or len(run["support"]) < EPOCHS:
        return None
    seen = dict(zip(FILE_ORDER, (run["mistakes"][0], run["support"][-1])))
    verdict = "OK" if seen == FILE_ORDER else f"NOT OK: expected {FILE_ORDER}"
    return f"perceptron in file order: {', '.join(f'{n:,} {what}' for what, n in seen.items())}: {verdict}"


def show(saved: Saved, report: Report, as_markdown: bool) -> bool:
    """Print everything; returns whether the counts are those that they have to be."""
    style = markdown if as_markdown else aligned
    for runs, what in ((RUNS, ""), (EXTRA, ": the other scale of the pixels")):
        for lines, order in (
            (in_file_order(saved, runs), "file order"),
            (over_shuffles(saved, runs), "shuffled"),
        ):
            if lines:
                report.say(f"\ntest error in %, {order}{what}\n")
                report.say(style(("row", *HEAD), lines))
    lines = work_done(saved, {**RUNS, **EXTRA})
    if lines:
        report.say("\nfile order: mistakes, updates, support vectors and seconds of learning in each epoch\n")
        report.say(style(("run", *(f"epoch {e}" for e in range(1, EPOCHS + 1))), lines))
    report.say(f"\n{farthest(saved)}")
    verdict = check_counts(saved)
    if verdict is not None:
        report.say(verdict)
    return "NOT OK" not in (verdict or "")


# ---------------------------------------------------------------------------------------------------- main


def chosen(text: str | None) -> dict[str, Run]:
    """The runs that ``--rows`` names."""
    every = {**RUNS, **EXTRA}
    if text is None:
        return RUNS
    names = list(every) if text == "all" else text.replace(" ", "").split(",")
    unknown = [name for name in names if name not in every]
    if unknown:
        raise SystemExit(f"--rows takes all, or some of {', '.join(every)}; got {', '.join(unknown)}.")
    return {name: every[name] for name in names}


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", metavar="a,b", help=f"all, or some of {', '.join((*RUNS, *EXTRA))}")
    parser.add_argument("--shuffles", metavar="N", type=int, default=10, help="shuffled runs (%(default)s)")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (%(default)s)")
    parser.add_argument(
        "--cache-mb",
        metavar="MB",
        type=float,
        default=4000.0,
        help="kernel values kept between epochs (%(default)g)",
    )
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many images of each file")
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="JSON (mnist_table.json in the folder --out)"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print what was saved, as docs/guide/speed_tables.md has it"
    )
    chose = parsed(parser, argv)
    runs = chosen(chose.rows)
    path = chose.save or chose.out / "mnist_table.json"
    if chose.markdown:
        if not path.exists():
            raise SystemExit(f"{path} is not there: run this without --markdown first.")
        saved = Saved(path, {})
    else:
        digits = data.required(data.mnist(chose.data_limit, chose.data_limit), "MNIST")
        sizes = {"training images": len(digits[0]), "test images": len(digits[2])}
        saved = Saved(path, {"machine": machine(), **sizes, "device": chose.device})
    report = Report("mnist_table", chose.out)
    for name, value in saved.setting["machine"].items():
        report.say(f"{name:10} {value}")
    report.say(
        f"{'data':10} MNIST, float32: {saved.setting['training images']:,} images to learn, "
        f"{saved.setting['test images']:,} to test; device {saved.setting['device']}"
    )
    report.say(
        f"{'learners':10} (1 + <x, z>)^4, ten one-vs-rest learners; a fresh permutation for every epoch"
    )
    if not chose.markdown:
        how = {"device": chose.device, "cache_mb": chose.cache_mb}
        todo = [(seed, name) for seed in (None, *range(chose.shuffles)) for name in runs]
        todo = [(seed, name) for seed, name in todo if Saved.key(name, seed) not in saved.runs]
        some = [part[:200] for part in digits]
        for name in dict.fromkeys(name for _, name in todo):
            learn(runs[name], None, some, how)  # compiles what is timed below
        for number, (seed, name) in enumerate(todo, 1):
            start = time.perf_counter()
            found = learn(runs[name], seed, digits, how)
            saved.add(Saved.key(name, seed), found)
            errors = "; ".join(
                f"{readout} {', '.join(f'{e:.2f}' for e in es)}" for readout, es in found["errors"].items()
            )
            spent = time.perf_counter() - start
            progress(f"[{number}/{len(todo)}] {Saved.key(name, seed)}: {errors} % ({spent:.1f} s)")
    right = show(saved, report, chose.markdown)
    if not chose.markdown:
        report.keep()
    if not right:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
