"""``perceptrons train --workers`` and ``--cluster``: shards of the data, mixed after each round."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import printing, progress, rows
from .errors import Failure, Misuse
from .learners import learner
from .signals import Interrupted, Signals

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..core.learner import Learner
    from ..mixing.fitting import Fit
    from ..mixing.surveys import Survey
    from .training import TrainingRun

_WHY = {
    "clean pass": "no shard made an update in the last round: w separates all rows",
    "max_iter": "after --passes rounds",
}


class MixedTraining:
    """One training run over shards."""

    def __init__(self, run: TrainingRun):
        self.run, self.running = run, run.running
        self.watch = progress.Stopwatch()
        self.n_rows = self.n_shards = self.resumed_at = 0
        self.where = ""

    def train(self) -> int:
        """Learn, store, report."""
        self._check()
        model = self._learner()
        layout = self._settled(rows.layout(self.run.reading, self.run.learning))
        with Signals():
            with self._backend() as backend:
                self._fit(model, layout, backend)
            self.run.store(model, {"layout": layout, "holdout": None})
        if not self.run.quiet:
            self._show(model)
        return 0

    def _check(self) -> None:
        if "-" in self.run.data:
            raise Misuse("Every shard reads its own part, and a pipe can be read once: save it to a file.")
        if self.running.holdout is not None:
            raise Misuse(
                "--holdout counts the rows of one stream, and shards have none: keep other rows for testing, "
                "in a file of their own, and see 'perceptrons evaluate'."
            )

    def _learner(self) -> Learner:
        """The learner, with as many epochs as there are rounds."""
        from ..mixing import supported

        found: Any = learner(self.run.learning, self.running.seed, self.run.reading.encoding_errors)
        try:
            supported.check(found)
        except ValueError as error:
            raise Misuse(str(error)) from error
        found.max_iter, found.shuffle = self.run.passes, self.running.shuffle
        model: Learner = found
        return model

    def _settled(self, layout: JsonObject) -> JsonObject:
        """The layout that the first rows decide, which is stored with the model."""
        with rows.open_rows(self.run.data, layout) as stream:
            next(iter(stream), None)
            return rows.settled(stream, layout)

    # ----------------------------------------------------------------------------------------------- learning

    @contextlib.contextmanager
    def _backend(self) -> Iterator[Any]:
        """Threads, or a client of the cluster; ``n_shards`` becomes what it is by default."""
        n, workers = self.running.shards, self.running.workers
        if workers is not None:
            self.where, self.n_shards = printing.counted(workers, "thread"), n or workers
            yield "threads"
            return
        with _client(str(self.running.cluster)) as client:
            threads = sum(client.nthreads().values())
            if n is None and not threads:
                raise Failure(f"The cluster {self.running.cluster} has no workers yet; give --shards N.")
            self.where, self.n_shards = f"the cluster {self.running.cluster}", n or threads
            yield client

    def _fit(self, model: Learner, layout: JsonObject, backend: Any) -> None:
        from ..mixing import far, sources
        from ..mixing.fitting import Settings
        from ..mixing.places import path_for

        paths = [path_for(backend, path) for path in self.run.data]
        parts = sources.of_files(paths, self.n_shards, rows.stream_options(layout))
        self.n_shards = len(parts)
        how = Settings(
            n_shards=len(parts),
            mixing=self.running.mixing or "uniform",
            backend=backend,
            checkpoint=self.run.checkpoint_file,
            n_jobs=self.running.workers,
            verbose=0 if self.run.quiet else 1,
        )
        self.watch = progress.Stopwatch()
        begun: list[Fit] = []
        try:
            far.fit(model, parts, how, begun.append, self._accept)
        except Interrupted as stop:
            raise self._interrupted(stop.signum, model) from None
        self.resumed_at = begun[0].first
        self.watch.stop()

    def _accept(self, surveys: Sequence[Survey]) -> None:
        """Refuse more classes than a model should have, before there is one."""
        classes = rows.Classes(self.running.max_classes)
        for found in surveys:
            classes.add(found.labels)
        self.n_rows = sum(found.n_rows for found in surveys)
        classes.check(self.n_rows)

    def _interrupted(self, signum: int, model: Learner) -> Interrupted:
        n, path = getattr(model, "n_iter_", 0), self.run.checkpoint_file
        when = f"interrupted after {printing.counted(n, 'round')}"
        if path is None:
            return Interrupted(signum, f"{when}; nothing was stored. --checkpoint FILE keeps the work.")
        if not os.path.exists(path):
            return Interrupted(signum, f"{when}; there is nothing to store yet.")
        return Interrupted(signum, f"{when}; the same command goes on from {path}.")

    # ---------------------------------------------------------------------------------------------- reporting

    def _show(self, model: Learner) -> None:
        if self.run.json:
            printing.document(self._as_dict(model))
        else:
            print(printing.facts(self._lines(model)))

    def _as_dict(self, model: Learner) -> JsonObject:
        from ..theorems import mixed_allowance

        bound = mixed_allowance(model)
        return {
            "model": self.run.model_file,
            "estimator": type(model).__name__,
            "classes": model.classes_,
            "features": model.n_features_in_,
            "bytes": os.path.getsize(self.run.model_file),
            "seconds": self.watch.seconds,
            "resumed_at": self.resumed_at,
            "rows": self.n_rows,
            "rounds": model.n_iter_,
            "shards": self.n_shards,
            "mixing": self.running.mixing or "uniform",
            "stop_reason": model.stop_reason_,
            "updates": model.n_updates_,
            "history": model.history_,
            "bound": None if bound is None else bound._asdict(),
        }

    def _lines(self, model: Learner) -> list[tuple[str, str]]:
        from .training import named

        kind = f"{named(model)}, {printing.counted(len(model.classes_), 'class')}"
        size = printing.size(os.path.getsize(self.run.model_file))
        weights = "by their updates" if self.running.mixing == "mistakes" else "with equal weights"
        rounds, visits = (
            printing.counted(model.n_iter_, "round"),
            self.n_rows * (model.n_iter_ - self.resumed_at),
        )
        found = [
            ("model", f"{self.run.model_file}: {kind}, {size}"),
            ("rows", f"{self.n_rows:,} in {rounds}; {self._speed(visits)}"),
            ("shards", f"{self.n_shards:,} on {self.where}, mixed {weights}"),
            ("stopped", _WHY.get(model.stop_reason_, model.stop_reason_)),
            ("updates", f"{model.n_updates_:,} of all shards"),
        ]
        if self.resumed_at:
            found.insert(2, ("resumed", f"after {printing.counted(self.resumed_at, 'round')}"))
        return [*found, ("bound", _bound(model))]

    def _speed(self, visits: int) -> str:
        return f"{self.watch.seconds:.1f} s, {printing.number(visits / self.watch.seconds)} rows/s"


def _bound(model: Learner) -> str:
    """Both sides of the theorem on mixing, or that there is none."""
    from ..theorems import mixed_allowance

    found = mixed_allowance(model)
    if found is None:
        return f"no theorem on mixing covers this run of {type(model).__name__}"
    made = f"{found.weighted_updates:,.6g} updates by the weights of their shards"
    R, gamma = (printing.rounded_up(value) for value in (found.radius, found.margin_up))
    known = f"no row is longer than {R} and no margin above {gamma} ({found.space})"
    return f"{made}; the theorem on mixing allows at least {int(found.allowed):,}, as {known}"


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    """A client of the cluster, which is closed at the end."""
    try:
        from distributed import Client
    except ImportError as error:
        raise Failure("--cluster needs extra packages: pip install 'perceptrons[dask]'.") from error
    try:
        client = Client(address, set_as_default=False)  # type: ignore[no-untyped-call]  # no types
    except (OSError, TimeoutError, ValueError) as error:
        raise Failure(f"There is no Dask scheduler at {address}: {error}") from error
    with client:
        yield client
