"""w with a covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...rows import look, sqnorm
from .. import running_idf, text_slots
from ..loops import confidence, linear, scalars, single, texts, tracks
from ..predictions import scores_of
from ..renumbering import ByColumn, UniformColumns, by_first_appearance
from ..text_slots import GrowingRecords, SideBySide
from .additive import PATIENCE
from .base import Frame, SingleSpace, empty_log, logged

if TYPE_CHECKING:
    from ..._types import Floats, Record, UpdateColumns
    from ...rows import Csr, Rows
    from ..renumbering import InUse, SlottedRows
    from .base import Receiver


class Confident(SingleSpace):
    """w with a covariance; binary."""

    n_classes = 2
    arrays = ("v",)
    makers = ("rule",)
    v = ByColumn[np.ndarray]()
    sigma = ByColumn[np.ndarray]()
    FULL_LIMIT = 20_000  #: features of a full covariance: 3.2 GB

    def __init__(self, rule: Record, frame: Frame, n_features: int, full: bool, start: float = 1.0):
        super().__init__(frame, n_features)
        self.rule = rule
        self.full = full
        self.start = start
        self.v = np.zeros(n_features + 1, frame.dtype)
        if full and n_features > self.FULL_LIMIT:
            raise ValueError(
                f"A full covariance of {n_features} features needs {8e-9 * n_features**2:.0f} GB; "
                f"at most {self.FULL_LIMIT} features are allowed. Use AROW or SCW with "
                "covariance='diagonal'."
            )
        if full:
            self.sigma = start * np.eye(n_features + 1)

    def made(self, name: str) -> np.ndarray:
        """Variances by column are made when somebody reads them: those of a learner of texts take long."""
        if name != "sigma":
            raise KeyError(name)
        own: np.ndarray = vars(self).setdefault("sigma", np.full(len(vars(self)["v"]), self.start))
        return own

    def _home(self) -> dict[str, np.ndarray]:
        if "sigma" not in vars(self):
            self.made("sigma")
        return super()._home()

    def _contents(self) -> dict[str, np.ndarray | UniformColumns]:
        own: dict[str, np.ndarray | UniformColumns] = {**super()._home()}
        if self.of_texts and not vars(self)["df"][-1]:  # no text was counted
            own["df"] = UniformColumns(np.dtype(running_idf.COUNT), 0.0)
        if not self.state[scalars.EXAMPLES] and self.from_zero:  # w is 0: it need not be read
            own["v"] = UniformColumns(self.frame.dtype, 0.0)
        return {"sigma": UniformColumns(np.dtype(np.float64), self.start), **own}

    def _attributes(self) -> dict[str, Any]:
        if "sigma" not in vars(self):
            self.made("sigma")
        return super()._attributes()

    def bring_home(self, name: str | None = None) -> None:
        if name == "sigma" and "sigma" not in vars(self):
            self.made("sigma")
        super().bring_home(name)

    def grow(self, n_features: int) -> None:
        before = self.v.shape[0]
        super().grow(n_features)
        room = self.v.shape[0]
        if room == before or "sigma" not in vars(self):
            return
        kept = np.r_[0 : before - 1, room - 1]
        sigma = self.start * np.eye(room) if self.full else np.full(room, self.start)
        sigma[np.ix_(kept, kept) if self.full else kept] = self.sigma
        self.sigma = sigma

    def moves_columns_alone(self) -> bool:
        return not self.full

    def _by_column(self) -> tuple[str, ...]:
        return "v", "sigma", "df"

    def fast_path_after(self, form: type) -> int | None:
        return None if self.full else PATIENCE

    def row_cost(self, entries: float | Floats) -> float | Floats:
        d = self.n_features + 1
        return d * (entries + d) if self.full else super().row_cost(entries)

    def covariance(self) -> confidence.Covariance:
        return self._covariance(self.sigma)

    def _covariance(self, sigma: np.ndarray) -> confidence.Covariance:
        return confidence.Full(sigma, np.zeros(sigma.shape[0])) if self.full else confidence.Diagonal(sigma)

    def renumber(self, slotted: SlottedRows) -> None:
        if self.of_texts:
            self.in_slots = SideBySide(slotted, self._contents(), lasts=True)
        else:
            self._use_slots(slotted)

    def run(
        self,
        rows: Rows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        recorded = scores_of(predictions)
        log = empty_log(len(order) if keep_log else 0, 1)
        with self._in_use(rows) as used:
            ending, at, n = confidence.run(
                self.rule,
                used.rows,
                y,
                c,
                order,
                used.arrays["v"],
                self._covariance(used.arrays["sigma"]),
                self.state,
                log,
                recorded,
                self.frame.tol,
                self._limit(),
            )
        if predictions is not None:
            predictions.take(recorded.score, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            self.raise_at(ending, logged(log, n), rows, i, float(y[i]), c)
        return [logged(log, n)]

    made_ahead = False  # texts are weighed and counted by a loop of their own

    def run_texts(
        self,
        rows: Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        predictions: Receiver | None,
        note: Callable[[float], None],
    ) -> list[UpdateColumns]:
        self._find_slots(rows)
        recorded, lengths = scores_of(predictions), np.diff(rows.indptr.view(np.int64))
        out = texts.scratch(int(lengths.max(initial=0)), self.frame.dtype)
        with self._in_use(rows) as used:
            running_idf.check_number(used.arrays["df"], len(order))
            ending, at = texts.run(
                self.rule,
                used.rows,
                y,
                c,
                order,
                self._numbers(used),
                running_idf.logarithms(),
                out,
                self.state,
                recorded,
                self.frame.tol,
                self._limit(),
            )
        if predictions is not None:
            predictions.take(recorded.score, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            df, one = self.df, rows._replace(indptr=rows.indptr[i : i + 2], sq=rows.sq[i : i + 1])
            assert df is not None
            row = running_idf.present(one, df)
            with np.errstate(all="ignore"):
                s = float(look(row, 0, self.v))
            self._raise(ending, None, empty_log(0, 1), i, s, float(sqnorm(row, 0)))
        return [empty_log(0, 1)]

    def _find_slots(self, rows: Csr) -> None:
        """Give the columns of texts slots, where that pays: those of the texts before, if they stand."""
        kept = self.in_slots
        if kept is not None and kept.slotted.source is rows:
            return
        if not text_slots.pays(rows, self.n_features, fresh="sigma" not in vars(self)):
            return
        if isinstance(kept, GrowingRecords) and kept.open:
            kept.add(rows, super()._home())
            return
        self.leave_slots()
        if text_slots.MOST_COLUMNS * int(rows.indptr[-1]) >= self.n_features:
            self.in_slots = GrowingRecords(rows, self.n_features, self._contents())
        else:
            self.renumber(by_first_appearance(rows, self.n_features))

    def _numbers(self, used: InUse) -> texts.Numbers:
        """Where the loop finds the numbers of the columns."""
        kept = self.in_slots
        return kept.numbers if isinstance(kept, SideBySide) else text_slots.apart(used.arrays)

    def by_slot(self) -> Confident:
        """A learner with the same scalars whose columns are the slots: what it learns, this one learns."""
        kept = self.in_slots
        assert kept is not None
        made = object.__new__(Confident)
        vars(made).update({name: x for name, x in vars(self).items() if name != "in_slots"})
        vars(made).update(kept.arrays)
        made.n_features = len(kept.slotted.slots.columns)
        return made

    def raise_at(
        self, ending: int, log: UpdateColumns, rows: Rows, i: int, y: float, c: np.ndarray
    ) -> NoReturn:
        """Raise what ended a pass at row i."""
        with np.errstate(all="ignore"):
            s = float(look(rows, i, self.v))
        self._raise(ending, None, log, i, s, float(sqnorm(rows, i)))

    def _limit(self) -> float:
        return 1e70 if self.frame.dtype == np.float32 else 1e300

    def core(self) -> single.ConfidentCore:
        """What a call for one row takes."""
        return single.ConfidentCore(self.rule, self.v, self.covariance(), tracks.Last(), self.state)

    def row_buffer(self) -> np.ndarray:
        """The scratch buffer of calls for one row."""
        return self._row_buffer(self._limit())

    def variances(self, rows: Rows, n: int) -> np.ndarray:
        out = np.empty(n)
        confidence.variances(rows, self.covariance(), out)
        return out

    def scores(self, rows: Rows, readout: str) -> np.ndarray:
        """(rows, 1): <w, x>, at the cost of the rows' entries alone."""
        out = np.empty(len(rows.sq))
        linear.scores(rows, self.v, out)
        return out[:, None]

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        return self._picked(self.v, columns)[None, :]

    def trimmed_sigma(self) -> np.ndarray:
        """Sigma of the coordinates in use, that of the constant last where there is one."""
        kept = np.arange(self.n_features)
        if self.frame.bias != 0.0:
            kept = np.append(kept, self.v.shape[0] - 1)
        return self.sigma[np.ix_(kept, kept)] if self.full else self.sigma[kept]

    def negate(self) -> None:
        self.v *= -1
