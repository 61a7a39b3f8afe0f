"""MaxMargin against SVC, LinearSVC, piqp and clarabel on the same separable problems.

    .venv/bin/python benchmarks/maximum_margin.py                    all problems
    .venv/bin/python benchmarks/maximum_margin.py --only "200 x 10"
    .venv/bin/python benchmarks/maximum_margin.py --limit 10         at most 10 seconds a call
    .venv/bin/python benchmarks/maximum_margin.py --quick            tiny problems: does it run?

Every contestant gives a w; its margin is that of w with the best bias, computed here. A peer's answer counts
if its margin is within 1e-5 of the best one known (γ_up of MaxMargin proves that no one has a larger one).
Times are wall time of whole calls: ``fit`` of the estimators, checks of the input included; for piqp and
clarabel building the matrices and solving, without any checks. The last contestant is piqp behind the checks
of MaxMargin. Contestants take turns, each in a process of its own. A peer's is ended at the limit, or at 30
times what MaxMargin took, but not before 15 seconds: who wins is settled by then. The best of several rounds
counts, of those that take long the first, and a warm-up is not timed.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import data
import numpy as np
import scipy.sparse as sp
from report import Report, options, parsed, progress
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC

from perceptrons import MaxMargin

SAME = 1e-5  # relative difference of margins up to which a peer's answer counts; MaxMargin has 1e-6
QUICK = 0.05  # seconds; what takes less is repeated
SLOW = 2.0  # seconds; what takes more has one round
PATIENCE = 15.0, 30.0  # a peer has so many seconds, or so many times what MaxMargin took


# ----------------------------------------------------------------------------------------------- problems


def clouds(rows: int, features: int, margin: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    """Gaussian rows, moved away from a hidden hyperplane by ``margin``."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=features)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(rows, features))
    y = np.where(X @ u + 0.3 > 0.0, 1, -1)
    return X + margin * np.outer(y, u), y


def text(rows: int, features: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows with words by Zipf's law, labelled by a hidden rule; the half it is least sure of is left out."""
    rng = np.random.default_rng(seed)
    X = data._zipf_rows(2 * rows, features, 75, rng).astype(np.float64)
    score = X @ rng.normal(size=features)
    score -= np.median(score)
    sure = np.sort(np.argsort(np.abs(score))[-rows:])
    return narrow(X[sure]), np.where(score[sure] > 0.0, 1, -1)


def narrow(X: Any) -> Any:
    """CSR with 32-bit indices: SVC and LinearSVC take no others."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def zero_or_one() -> tuple[Any, Any] | None:
    loaded = data.mnist()
    if loaded is None:
        return None
    keep = loaded[1] <= 1
    return loaded[0][keep].astype(np.float64), np.where(loaded[1][keep] == 1, 1, -1)


def mushrooms() -> tuple[Any, Any] | None:
    where = data.folder()
    if where is None or not (where / "libsvm" / "mushrooms.gz").exists():
        return None
    X, y = load_svmlight_file(str(where / "libsvm" / "mushrooms.gz"))
    return narrow(X), np.where(y == y.max(), 1, -1)


PROBLEMS: dict[str, Callable[[], Any]] = {
    "200 x 10": lambda: clouds(200, 10),
    "2,000 x 50": lambda: clouds(2_000, 50),
    "20,000 x 100": lambda: clouds(20_000, 100),
    "text, 2,000 x 10,000, sparse": lambda: text(2_000, 10_000),
    "text, 20,000 x 50,000, sparse": lambda: text(20_000, 50_000),
    "mushrooms, 8,124 x 112, sparse": mushrooms,
    "MNIST 0 and 1, 12,665 x 784": zero_or_one,
}
TINY: dict[str, Callable[[], Any]] = {
    "60 x 4": lambda: clouds(60, 4),
    "text, 80 x 500, sparse": lambda: text(80, 500),
}


# -------------------------------------------------------------------------------------------- contestants


def ours(X: Any, y: Any) -> Any:
    model = MaxMargin().fit(X, y)
    return model.coef_[0], model


def svc(X: Any, y: Any) -> Any:
    w = SVC(kernel="linear", C=1e9, tol=1e-6, cache_size=500).fit(X, y).coef_
    return w.toarray()[0] if sp.issparse(w) else w[0], None


def linear_svc(X: Any, y: Any) -> Any:
    return LinearSVC(C=1e9, tol=1e-8, max_iter=10_000, intercept_scaling=10.0).fit(X, y).coef_[0], None


def piqp(X: Any, y: Any) -> Any:
    import piqp

    X = X.toarray() if sp.issparse(X) else X
    n, d = X.shape
    P = np.eye(d + 1)
    P[d, d] = 0.0
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    G = -y[:, None] * np.column_stack([X, np.ones(n)])
    solver.setup(P, np.zeros(d + 1), None, None, G, None, -np.ones(n))
    solver.solve()
    return np.asarray(solver.result.x)[:d], None


def clarabel(X: Any, y: Any) -> Any:
    import clarabel

    n, d = X.shape
    P = sp.csc_matrix(sp.diags_array(np.append(np.ones(d), 0.0)))
    G = sp.csc_matrix(sp.diags_array(-y.astype(float)) @ sp.hstack([sp.csr_array(X), np.ones((n, 1))]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(n)]
    solution = clarabel.DefaultSolver(P, np.zeros(d + 1), G, -np.ones(n), cones, settings).solve()
    return np.asarray(solution.x)[:d], None


def through_the_same_door(X: Any, y: Any) -> Any:
    model = MaxMargin(solver="piqp").fit(X, y)
    return model.coef_[0], model


CONTESTANTS = {
    "MaxMargin": ours,
    "SVC": svc,
    "LinearSVC": linear_svc,
    "piqp": piqp,
    "clarabel": clarabel,
    "MaxMargin(solver='piqp')": through_the_same_door,
}
NEEDS = {"piqp": "piqp", "clarabel": "clarabel", "MaxMargin(solver='piqp')": "piqp"}


def too_large(name: str, X: Any) -> str | None:
    """Why a contestant is not tried."""
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        return "not installed"
    if NEEDS.get(name) == "piqp" and X.shape[1] > 5_000:
        return "its dense matrices do not fit"
    return None


# ----------------------------------------------------------------------------------------------- measuring


class Found(NamedTuple):
    """What a call gave."""

    seconds: float
    margin: float
    gap: float | None = None
    up: float | None = None


def margin(w: Any, X: Any, y: Any) -> float:
    """The geometric margin of w with the best bias."""
    s = np.asarray(X @ w)
    length = np.linalg.norm(w)
    return float((s[y > 0].min() - s[y < 0].max()) / (2.0 * length)) if length > 0.0 else -np.inf


def call(solve: Callable[..., Any], X: Any, y: Any, answer: Any) -> None:
    """In a process of its own: solve, and tell."""
    warnings.simplefilter("ignore")
    best = np.inf
    for _ in range(20):
        start = time.perf_counter()
        w, model = solve(X, y)
        best = min(best, time.perf_counter() - start)
        if best > QUICK:
            break
    extra = () if model is None else (model.gap_, model.margin_bounds_[1])
    answer.send(Found(best, margin(w, X, y), *extra))


def limited(solve: Callable[..., Any], X: Any, y: Any, limit: float) -> Found | None:
    """One call, or None where it did not end in time."""
    forked = multiprocessing.get_context("fork")
    here, there = forked.Pipe()
    child = forked.Process(target=call, args=(solve, X, y, there))
    child.start()
    there.close()  # so that its end is noticed
    found = None
    if here.poll(limit):
        try:
            found = here.recv()
        except EOFError:
            found = None
    child.terminate()
    child.join()
    return found


def patient(limit: float, ours: float) -> float:
    """How long to wait for a peer."""
    least, times = PATIENCE
    return min(limit, max(least, times * ours))


def contest(name: str, X: Any, y: Any, rounds: int, limit: float, report: Report) -> None:
    ours(X, y)  # compiles
    best: dict[str, Found] = {}
    why = {who: reason for who in CONTESTANTS if (reason := too_large(who, X)) is not None}
    for _ in range(rounds):
        for who, solve in CONTESTANTS.items():
            if who in why or (who in best and best[who].seconds > SLOW):
                continue
            progress(f"{name}: {who}")
            patience = limit if who == "MaxMargin" else patient(limit, best["MaxMargin"].seconds)
            found = limited(solve, X, y, patience)
            if found is None:
                why[who] = f"no answer in {patience:.0f} s"
                if who == "MaxMargin":
                    report.say(f"\n{name}: MaxMargin gave {why[who]}   NOT MET")
                    return
            elif who not in best or found.seconds < best[who].seconds:
                best[who] = found
    top = max(found.margin for found in best.values())
    mine = best["MaxMargin"]
    lines = []
    for who in CONTESTANTS:
        if who not in best:
            lines.append([who, "", "", "", "", why[who]])
            continue
        found = best[who]
        lack = (top - found.margin) / top
        note = f"gap {found.gap:.0e}, γ_up {found.up:.9g}" if found.gap is not None else ""
        if lack > SAME:
            note = "another margin: no peer" if found.margin > 0.0 else "does not separate: no peer"
        cells = f"{found.margin:.9g}", f"{lack:.0e}", f"{1e3 * found.seconds:,.1f}"
        lines.append([who, *cells, f"{found.seconds / mine.seconds:.2f}", note])
    report.table(name, ("", "margin", "lacks", "ms", "time / ours", ""), lines)
    peers = [
        found.seconds
        for who, found in best.items()
        if not who.startswith("MaxMargin") and top - found.margin <= SAME * top
    ]
    if peers:
        ratio = min(peers) / mine.seconds
        verdict = "met" if ratio >= 1.0 else "NOT MET"
        report.say(f"best peer / MaxMargin: {ratio:.2f} x   goal ≥ 1 x   {verdict}")
        door = best.get("MaxMargin(solver='piqp')")
        if ratio < 1.0 and door is not None:
            report.say(f"with the same checks of the input: {door.seconds / mine.seconds:.2f} x")
    else:
        report.say("no peer reached this margin")


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--only", choices=tuple(PROBLEMS), help="one problem")
    parser.add_argument("--quick", action="store_true", help="tiny problems, whose times mean nothing")
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="best of so many (%(default)s)")
    parser.add_argument("--limit", metavar="S", type=float, default=60.0, help="seconds a call (%(default)s)")
    chose = parsed(parser, argv)
    report = Report("maximum_margin", chose.out)
    report.setting("separable problems; hard margin with a free bias")
    for name, load in (TINY if chose.quick else PROBLEMS).items():
        if chose.only in (None, name):
            loaded = load()
            if loaded is None:
                report.say(f"\n{name}: not there, PERCEPTRONS_DATA names no folder that has it")
                continue
            contest(name, *loaded, chose.rounds, chose.limit, report)
    report.keep()


if __name__ == "__main__":
    main()
