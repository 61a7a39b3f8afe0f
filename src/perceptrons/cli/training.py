"""``perceptrons train``: a stream, a learner, a model file; and a checkpoint on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from typing import TYPE_CHECKING, cast

from . import printing, progress, rows, tuning
from .errors import Failure, Misuse
from .learners import learner
from .options import Learning, Reading, Running, flag
from .scores import Confusion
from .several import LabelReport
from .signals import Interrupted, Signals

if TYPE_CHECKING:
    from fractions import Fraction

    from .._types import Json, JsonObject
    from ..io.fitting import FitReport
    from ..io.stream import Stream
    from ..models.checkpoint import Checkpoint
    from ..text.learner import TextClassifierSpec
    from .learners import AnyLearner


@dataclasses.dataclass
class TrainingRun:
    """One training run, as the options describe it."""

    data: list[str]
    model_file: str
    reading: Reading
    learning: Learning
    running: Running
    checkpoint_file: str | None
    checkpoint_every: str
    json: bool
    quiet: bool

    def train(self) -> int:
        """Learn, store, report."""
        self._check()
        if self.running.workers is not None or self.running.cluster is not None:
            self._settle_passes(again=True)
            from .mixing import MixedTraining

            return MixedTraining(self).train()
        part = rows.share(self.running.holdout)
        model = learner(self.learning, self.running.seed, self.reading.encoding_errors)
        layout = rows.layout(self.reading, self.learning)
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(rows.open_rows(self.data, layout))
            self._settle_passes(stream.again)
            self._check_again(stream, model)
            if stream.format == "fasttext" and not self.learning.text:
                raise Misuse("fastText's format holds texts: give --text.")
            checkpoint = stack.enter_context(self._checkpoint()) if self.checkpoint_file else None
            session = Session(self, stream, checkpoint, stack.enter_context(Signals()))
            if self.running.tune is not None:
                model, report = tuning.tuned(session, model, part, layout), None
            elif hasattr(model, "partial_fit"):
                model, report = session.learn(model, part)
            else:
                model, report = session.fit(model, part), None
            tested = None if part is None else session.test(model, part)
            note = {"layout": rows.settled(stream, layout), "holdout": self.running.holdout}
            self.store(model, note)
            if checkpoint is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(checkpoint.path)  # the same command begins a new run
        if not self.quiet:
            Summary(self.model_file, model, report, tested, session).show(self.json)
        return 0

    # ------------------------------------------------------------------------------------- checks

    def _check(self) -> None:
        """Refuse what can be refused before anything is read."""
        every(self.checkpoint_every)
        self._check_place()
        tuning.check(self)
        folder = os.path.dirname(os.path.abspath(self.model_file))
        if not os.path.isdir(folder):
            raise Misuse(f"--model {self.model_file}: there is no folder {folder}.")
        if os.path.isdir(self.model_file):
            raise Misuse(f"--model {self.model_file} is a folder; name a file in it.")
        for name, path in (("--model", self.model_file), ("--checkpoint", self.checkpoint_file)):
            if path is not None and any(_same(path, one) for one in self.data if one != "-"):
                raise Misuse(f"{name} {path} is one of the data files, which it would replace.")
        if self.checkpoint_file is not None and _same(self.checkpoint_file, self.model_file):
            raise Misuse("--checkpoint and --model name the same file; the checkpoint needs one of its own.")

    def _check_place(self) -> None:
        """Refuse what does not go together: one stream, threads, or a cluster."""
        running = self.running
        if running.workers is not None and running.cluster is not None:
            raise Misuse("--workers and --cluster do not go together; give one of them.")
        if running.workers is None and running.cluster is None:
            for option, given in (("--shards", running.shards), ("--mixing", running.mixing)):
                if given is not None:
                    raise Misuse(f"{option} is for --workers or --cluster; give one of them.")

    def _check_again(self, stream: Stream, model: AnyLearner) -> None:
        """Refuse what a pipe, or a learner of all rows at once, cannot do."""
        if not stream.again:
            for option, wanted in (
                ("--passes", self.passes > 1),
                ("--holdout", self.running.holdout is not None),
            ):
                if wanted:
                    raise Misuse(
                        f"{option} reads the data again, and a pipe can be read once: save it to a file."
                    )
        if not hasattr(model, "partial_fit"):
            name = type(model).__name__
            if self.checkpoint_file is not None:
                raise Misuse(f"{name} learns from all rows at once; drop --checkpoint.")
            if self.passes > 1 or self.running.shuffle:
                raise Misuse(f"{name} learns from all rows at once; drop --passes and --shuffle.")

    @property
    def passes(self) -> int:
        """How often the data are learned."""
        return self.running.passes or 1

    def _settle_passes(self, again: bool) -> None:
        """Without ``--passes``: as often as a learner of texts does, if the data can be read again."""
        if self.running.passes is None and self.learning.text and again:
            from ..text.learner import TextClassifierSpec

            self.running = dataclasses.replace(self.running, passes=TextClassifierSpec.max_iter)

    # --------------------------------------------------------------------------------- checkpoint

    def _checkpoint(self) -> Checkpoint:
        from ..models import registry
        from ..models.checkpoint import Checkpoint

        every_rows, every_seconds = every(self.checkpoint_every)
        assert self.checkpoint_file is not None
        made = Checkpoint(self.checkpoint_file, every_rows=every_rows, every_seconds=every_seconds)
        made.classes = registry.learner
        return made

    def options(self) -> JsonObject:
        """All that the model depends on, by the name of the option."""
        found: JsonObject = {"DATA": list(self.data)}
        for group in (self.reading, self.learning, self.running):
            for name, value in dataclasses.asdict(group).items():
                if name != "max_classes":
                    found[flag(name)] = value
        return found

    def check_position(self, position: Json, stream: Stream) -> None:
        """Refuse a checkpoint of another run, naming the first option that differs."""
        stored = position.get("options") if isinstance(position, dict) else None
        if not isinstance(stored, dict):
            raise Failure(f"{self.checkpoint_file} is no checkpoint of this command; name another file.")
        way = f"Give the same options again, or another --checkpoint, or remove {self.checkpoint_file}."
        for name, value in self.options().items():
            if stored.get(name) != value:
                before, now = (_shown(name, one) for one in (stored.get(name), value))
                raise Failure(
                    f"{self.checkpoint_file} belongs to a run with {before}; this one has {now}. {way}"
                )
        if position.get("bytes") != stream.bytes_total:
            sizes = f"{position.get('bytes')} bytes then, {stream.bytes_total} now"
            raise Failure(f"The data have changed since {self.checkpoint_file} was written: {sizes}. {way}")

    def store(self, model: AnyLearner, note: JsonObject) -> None:
        """Write the model file, with the layout of the rows."""
        from ..models.checkpoint import Checkpoint

        with Checkpoint(self.model_file) as file:
            file.save(model, note)


def every(text: str) -> tuple[int | None, float | None]:
    """(rows, seconds) of --checkpoint-every, one of them None.

    >>> every("30"), every("5s"), every("1000rows")
    ((None, 30.0), (None, 5.0), (1000, None))
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|rows?)?\s*", text)
    if match is None or float(match[1]) <= 0.0 or ((match[2] or "s") != "s" and "." in match[1]):
        raise Misuse(f"--checkpoint-every takes seconds, as 30, or rows, as 100000rows; got {text!r}.")
    return (None, float(match[1])) if (match[2] or "s") == "s" else (int(match[1]), None)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _shown(name: str, value: object) -> str:
    if value is None or value is False:
        return f"no {name}"
    if isinstance(value, list):
        return f"{name} {' '.join(map(str, value))}"
    return name if value is True else f"{name} {value}"


class Session:
    """The work of a run."""

    def __init__(self, run: TrainingRun, stream: Stream, checkpoint: Checkpoint | None, signals: Signals):
        self.run, self.stream, self.checkpoint, self.signals = run, stream, checkpoint, signals
        self.resumed_at = self.bad_lines = 0
        self.missing = 0, 0  # numbers replaced, rows left out
        self.watch = progress.Stopwatch()
        if checkpoint is not None:
            checkpoint.position = self._position

    # ------------------------------------------------------------------------------ batch by batch

    def learn(self, model: AnyLearner, part: Fraction | None) -> tuple[AnyLearner, FitReport]:
        """The learner after all passes, and the report."""
        from ..io import FitReport, fit_stream

        model, report = self._resumed() or (model, FitReport())
        rows.settle_width(self.stream, model)
        self.resumed_at = report.rows
        running = self.run.running
        seed = running.seed if running.shuffle else None
        known = getattr(model, "classes_", None)  # of the run that is resumed
        classes = rows.Classes(running.max_classes, known=() if known is None else known.tolist())
        self.stream.select(holdout=part, seed=seed, passes=report.passes)
        learned = rows.Watched(self.stream, self.signals, classes)
        self.watch = progress.Stopwatch(report.rows)
        watcher = progress.watcher(self.stream, self.run.passes, self.run.quiet)

        def show(model: AnyLearner, report: FitReport) -> bool:
            watcher.show(report, self.watch)
            return self.signals.signum is not None

        try:
            with watcher:
                fit_stream(
                    model,
                    learned,
                    passes=self.run.passes,
                    resume=report,
                    checkpoint=self.checkpoint,
                    callback=show,
                )
            self.signals.check()
        except Interrupted as stop:
            raise self._interrupted(stop.signum, model, report) from None
        self.watch.stop()
        self.bad_lines, self.missing = learned.bad_lines, self.stream.missing
        classes.check(report.rows // report.passes)
        return model, report

    def _resumed(self) -> tuple[AnyLearner, FitReport] | None:
        from ..io import FitReport

        stored = None if self.checkpoint is None else self.checkpoint.resume()
        if stored is None:
            return None
        model, position = stored
        self.run.check_position(position, self.stream)
        return model, FitReport(**position["report"])

    def _position(self, report: JsonObject) -> JsonObject:
        """The report with the options and the size of the data, which a resumed run compares."""
        return {"options": self.run.options(), "bytes": self.stream.bytes_total, "report": report}

    def _interrupted(self, signum: int, model: AnyLearner, report: FitReport) -> Interrupted:
        """Store what has been learned, if there is a checkpoint and no batch is half learned."""
        when = f"interrupted after {printing.counted(report.rows, 'row')}"
        if self.checkpoint is None:
            return Interrupted(signum, f"{when}; nothing was stored. --checkpoint FILE keeps the work.")
        if not self.signals.torn and report.rows > self.resumed_at:
            self.checkpoint.save(model, self._position(report.to_dict()))
        path = self.run.checkpoint_file
        if not os.path.exists(self.checkpoint.path):
            return Interrupted(signum, f"{when}; there is nothing to store yet.")
        return Interrupted(signum, f"{when}; the same command goes on from {path}.")

    # ------------------------------------------------------------------------------- all at once

    def fit(self, model: AnyLearner, part: Fraction | None) -> AnyLearner:
        """The learner after one fit, for those that need all rows in memory."""
        rows.settle_width(self.stream)
        self.stream.select(holdout=part)
        X, y, weights = rows.whole(self.stream)
        self.bad_lines, self.missing = self.stream.skipped, self.stream.missing
        classes = rows.Classes(self.run.running.max_classes, self.stream.layout.get("label_column"))
        classes.add(y)
        classes.check(len(y))
        if weights is not None:
            raise Misuse(f"{type(model).__name__} takes no weights of rows; drop --weight-column.")
        self.watch = progress.Stopwatch()
        model.fit(X, y)
        self.watch.stop()
        return model

    def test(self, model: AnyLearner, part: Fraction | None) -> Confusion | LabelReport:
        """Predictions and labels of the rows that were held out."""
        from ..core.plan import has_several_labels

        found = LabelReport() if has_several_labels(model) else Confusion(model.classes_)
        self.stream.freeze_means()  # as in `evaluate`
        self.stream.select(holdout=part, tested=True)
        for batch in self.stream:
            assert batch.y is not None  # else nothing would have been learned
            if isinstance(found, LabelReport):
                found.add(cast("TextClassifierSpec", model), batch.X, batch.y)
            else:
                found.add(batch.y, model.predict(batch.X))
        return found


class Summary:
    """What a run prints when it is done."""

    def __init__(
        self,
        path: str,
        model: AnyLearner,
        report: FitReport | None,
        tested: Confusion | LabelReport | None,
        session: Session,
    ):
        self.path, self.model, self.report, self.tested = path, model, report, tested
        self.session = session

    def show(self, as_json: bool) -> None:
        if as_json:
            printing.document(self.as_dict())
        else:
            print(printing.facts(self.lines()))

    def as_dict(self) -> JsonObject:
        found: JsonObject = {
            "model": self.path,
            "estimator": type(self.model).__name__,
            "classes": self.model.classes_,
            "features": self.model.n_features_in_,
            "bytes": os.path.getsize(self.path),
            "seconds": self.session.watch.seconds,
            "resumed_at": self.session.resumed_at,
            "skipped": self.session.bad_lines,
            "label_column": self.session.stream.layout.get("label_column"),
            "missing": dict(zip(("numbers", "rows"), self.session.missing)),
        }
        if hasattr(self.model, "tuning_"):
            found["tuning"] = self.model.tuning_
        if self.report is not None:
            found["report"] = self.report.to_dict() | {"skipped": self.session.bad_lines}
        if self.tested is not None:
            found["holdout"] = self.tested.as_dict()
        return found

    def lines(self) -> list[tuple[str, str]]:
        model, report = self.model, self.report
        kind = f"{named(model)}, {printing.counted(len(model.classes_), 'class')}"
        found = [("model", f"{self.path}: {kind}, {printing.size(os.path.getsize(self.path))}")]
        label = self.session.stream.layout.get("label_column")
        if label is not None:
            found.append(("label", f"column {label}" if isinstance(label, int) else repr(label)))
        if self.session.resumed_at:
            found.append(("resumed", f"after {printing.counted(self.session.resumed_at, 'row')}"))
        if report is not None:
            found += self._of_report(report)
        if hasattr(model, "tuning_"):
            found += tuning.lines(model, self.session.watch.seconds)
        if self.session.bad_lines:
            lines = printing.counted(self.session.bad_lines, "bad line")
            found.append(("skipped", f"{lines}; {self.session.stream.first_error}"))
        found += self._of_missing()
        if self.tested is not None:
            right, n = self.tested.right, self.tested.n_rows
            accuracy = f"{printing.percent(right, n)} right of {printing.counted(n, 'row')}"
            found.append(("held out", f"{accuracy} that were not learned"))
            if isinstance(self.tested, LabelReport):
                f1 = self.tested.counts.f1()
                found.append(("F1", f"{f1.micro:.3f} micro, {f1.macro:.3f} macro"))
        return found

    def _of_missing(self) -> list[tuple[str, str]]:
        replaced, left_out = self.session.missing
        if left_out:
            return [("missing", f"{printing.counted(left_out, 'row')} left out for missing numbers")]
        if replaced:
            by = "the mean of the rows before" if self.session.run.reading.missing == "mean" else "0"
            return [("missing", f"{printing.counted(replaced, 'number')} in each pass, replaced by {by}")]
        return []

    def _of_report(self, report: FitReport) -> list[tuple[str, str]]:
        watch = self.session.watch
        passes = printing.counted(report.passes, "pass")
        speed = f"{watch.seconds:.1f} s, {printing.number(watch.rate(report.rows))} rows/s"
        found = [("rows", f"{report.rows:,} in {passes}; {speed}")]
        if report.validated:
            rate = printing.percent(report.errors, report.validated)
            found.append(("errors", f"{report.errors:,} ({rate}), each row predicted before it was learned"))
        elif report.silence is not None:
            found.append(("errors", report.silence))
        if report.mistakes is not None:
            found.append(("mistakes", f"{report.mistakes:,}"))
        theorem, radius, up = report.theorem, report.radius, report.margin_up
        if report.bound is not None and theorem is not None and radius is not None and up is not None:
            space = self.model.margin_bounds_.space
            allowed = printing.allowed(theorem, report.bound, radius, up, space, report.rows)
            found.append(("bound", allowed))
        return found


def named(model: AnyLearner) -> str:
    """A learner and its rule."""
    name = type(model).__name__
    rule = getattr(model, "rule", None)
    return name if rule is None else f"{name}, {rule}"
