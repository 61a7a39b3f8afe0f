"""The running idf: values by the counts before each text, judged by a few lines of NumPy."""

from __future__ import annotations

import copy
import itertools
import pickle
import sys

import numpy as np
import pytest
from comparing import same_weights
from exhaustive import draws_many
from sklearn.base import clone

import perceptrons as pc
from perceptrons import ParameterMixing, TextClassifier, certify, load, rules, save, theory, trace
from perceptrons.core import passes, segments, undoing
from perceptrons.engine import chunks, renumbering, running_idf, text_slots
from perceptrons.engine.renumbering import InBlock
from perceptrons.engine.spaces import Confident, NumericalError, SingleSpace, confident, rest, together

pytestmark = pytest.mark.uncompiled

RNG = np.random.default_rng(3)
WORDS = [f"word{j}" for j in range(40)]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 12))) for _ in range(24)]
TWO = RNG.integers(0, 2, len(TEXTS))
FOUR = np.array(["a", "b", "c", "d"])[RNG.integers(0, 4, len(TEXTS))]
ORDER = [RNG.permutation(len(TEXTS)), RNG.integers(0, len(TEXTS), 30)]  # the second has texts twice
WORDS_ALONE = {"tokens": "words", "ngram_range": (1, 1)}
PLAIN = {**WORDS_ALONE, "bits": 6, "values": "sublinear", "idf": True, "random_state": 0, "max_iter": 2}

WAYS = {
    "perceptron": {"rule": "perceptron"},
    "last": {"rule": "pa1", "readout": "last", "row_norm": None},
    "arow": {"rule": rules.AROW(r=0.1)},
    "scaled": {"rule": "romma", "precision": "float64", "normalized_votes": True},
    "rest": {"rule": "perceptron", "multiclass": "ovr", "include_initial": True},
    "rest, arow": {"rule": "arow", "precision": "float64", "fit_intercept": False},
}


def made(way="arow", **params):
    return TextClassifier(**PLAIN | WAYS[way] | params)


def same(one, other):
    same_weights(one, other)
    assert np.array_equal(one.document_counts_, other.document_counts_)
    assert one.n_texts_ == other.n_texts_
    assert np.array_equal(one.decision_function(TEXTS), other.decision_function(TEXTS))


def recounted(model, texts):
    """df and n of these visits, by the definition."""
    X = model.hash(texts) if len(texts) else model.hash([""])
    return np.bincount(X.indices, minlength=X.shape[1])


def has_counted(model, texts):
    assert model.n_texts_ == len(texts)
    assert np.array_equal(model.document_counts_, recounted(model, texts))


class ByHand:
    """Rows by the definition, in float64."""

    def __init__(self, model):
        self.model, self.n, self.df = model, 0, np.zeros(1 << model.bits)

    def row(self, text):
        x = self.model.hash([text]).toarray()[0].astype(float)
        x = np.append(x * (1.0 + np.log((1.0 + self.n) / (1.0 + self.df))), 1.0)
        return x / np.linalg.norm(x)

    def count(self, text):
        self.n += 1
        self.df += self.model.hash([text]).toarray()[0] != 0


# ------------------------------------------------------------------------------------ by the definition


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_arow_by_hand(precision):
    model = made(precision=precision).fit(TEXTS, TWO, order=ORDER)
    hand, w, sigma = ByHand(model), np.zeros(65), np.ones(65)
    for i in np.concatenate(ORDER):
        x, y = hand.row(TEXTS[i]), 2 * TWO[i] - 1
        loss, beta = 1.0 - y * (w @ x), 1.0 / (x @ (sigma * x) + 0.1)
        if loss > 0.0:
            w, sigma = w + beta * loss * y * sigma * x, sigma - beta * (sigma * x) ** 2
        hand.count(TEXTS[i])
    tol = {"float32": 1e-5, "float64": 1e-12}[precision]
    assert model.n_texts_ == hand.n and np.array_equal(model.document_counts_, hand.df)
    np.testing.assert_allclose(model.coef_[0], w[:-1], atol=tol)
    np.testing.assert_allclose(model.covariance_[0], sigma, atol=tol)
    scores = [w @ hand.row(text) for text in TEXTS]
    np.testing.assert_allclose(model.decision_function(TEXTS), scores, atol=10 * tol)
    found = model.explain(TEXTS[1])
    assert found.score == model.decision_function([TEXTS[1]])[0]
    assert sum(c.contribution for c in found.contributions) + found.intercept == pytest.approx(found.score)
    x = hand.row(TEXTS[1])[:-1]
    np.testing.assert_allclose(sorted(c.value for c in found.contributions), np.sort(x[x != 0.0]), rtol=1e-5)


def test_prototypes_by_hand():
    model = made("perceptron", precision="float64").fit(TEXTS, FOUR, order=ORDER)
    hand, W, A = ByHand(model), np.zeros((4, 65)), np.zeros((4, 65))
    for i in np.concatenate(ORDER):
        x, y = hand.row(TEXTS[i]), "abcd".index(FOUR[i])
        others = [r for r in range(4) if r != y]
        z = max(others, key=lambda r: (W[r] @ x, -r))
        if W[y] @ x <= W[z] @ x:
            W[y], W[z] = W[y] + x, W[z] - x
        A += W
        hand.count(TEXTS[i])
    np.testing.assert_allclose(model.coef_, A[:, :-1] / hand.n, atol=1e-12)
    assert model.n_texts_ == hand.n == sum(map(len, ORDER))


def test_logarithms_within_and_beyond_the_table():
    logs = running_idf.logarithms()
    for count in (0, 1, 7, len(logs) - 2, len(logs) - 1, 10**6):
        assert running_idf.ln_next(logs, np.uint32(count)) == np.log(1.0 + count)
        assert running_idf.ln_next(logs[:5], np.uint32(count)) == running_idf.ln_next(logs, np.uint32(count))


# ------------------------------------------------------------------------------------ however it is cut


def in_pieces(model, visits, y, classes):
    """Batches of several sizes, then one text at a time, with a pickle between them."""
    cuts = [0, 1, 9, 30]
    for a, b in itertools.pairwise(cuts):
        model.partial_fit([TEXTS[i] for i in visits[a:b]], y[visits[a:b]], classes=classes)
        classes = None
    model = pickle.loads(pickle.dumps(model))
    for i in visits[30:]:
        model.learn_one(TEXTS[i], y[i])
    return model


@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize(
    "way", [pytest.param(w, marks=pytest.mark.compiled) if w == "arow" else w for w in WAYS]
)
def test_at_once_in_pieces_and_one_by_one(way, y):
    visits = np.concatenate(ORDER)
    whole = made(way).fit(TEXTS, y, order=ORDER)
    pieces = in_pieces(made(way), visits, y, np.unique(y))
    same(whole, pieces)
    has_counted(whole, [TEXTS[i] for i in visits])
    alone = made(way)
    alone.partial_fit(alone.prepare_batch([TEXTS[i] for i in visits]), y[visits], classes=np.unique(y))
    same(whole, alone)
    for text in TEXTS[:4]:
        assert whole.score_one(text) == whole.decision_function([text])[0].tolist()
        assert whole.predict_one(text) == whole.predict([text])[0]


def in_small_parts(monkeypatch, limit=40):
    monkeypatch.setattr(chunks, "LIMIT_OF_TEXTS", limit)
    monkeypatch.setattr(chunks, "LIMIT", limit)


def in_slots(monkeypatch):
    """Columns are renumbered, however few there are."""
    monkeypatch.setattr(text_slots, "LEAST_ENTRIES", 1)
    monkeypatch.setattr(text_slots, "LEAST_BYTES", 1)


def in_blocks(monkeypatch):
    """Learners of one against the rest read each row together, however few there are."""
    monkeypatch.setattr(together, "LEAST_PRODUCTS", 0)
    monkeypatch.setattr(together, "LEAST_ENTRIES", 0.0)
    monkeypatch.setattr(together, "LEAST_WHEN_KEPT", 0.0)


@pytest.mark.parametrize("way", ["arow", "rest"])
def test_parts_of_a_pass_make_the_same_numbers(way, monkeypatch):
    y = FOUR if way == "rest" else TWO
    whole = made(way).fit(TEXTS, y, order=ORDER)
    in_small_parts(monkeypatch)
    same(whole, made(way).fit(TEXTS, y, order=ORDER))


@pytest.mark.compiled
@pytest.mark.parametrize("precision", ["float32", pytest.param("float64", marks=pytest.mark.exhaustive)])
def test_renumbered_columns_make_the_same_numbers(precision, monkeypatch):
    """Fits and batches, read and saved while columns are renumbered; rows made ahead are the judge."""
    seen = []
    watched = {"precision": precision, "callback": lambda model: seen.append((model.n_texts_, model.coef_))}
    plain, other = made(**watched).fit(TEXTS, TWO), made("arow", precision=precision)
    expected, before = seen.copy(), len(seen)
    with monkeypatch.context() as patch:
        patch.setattr(Confident, "run_texts", SingleSpace.run_texts)
        ahead = made(precision=precision).fit(TEXTS, TWO)
        same(plain, ahead)
        assert plain.radius_ == ahead.radius_
    in_slots(monkeypatch)
    slotted = made(**watched).fit(TEXTS, TWO)
    same(plain, slotted)
    assert np.array_equal(plain.covariance_, slotted.covariance_)
    for (n, w), (m, v) in zip(expected, seen[before:], strict=True):
        assert n == m and np.array_equal(w, v)
    assert slotted._space.in_slots.slotted.rows is None
    for piece in (slice(0, 9), slice(9, None)):
        other.partial_fit(TEXTS[piece], TWO[piece], classes=[0, 1])
    same(other.partial_fit(TEXTS, TWO), made(precision=precision).fit(TEXTS, TWO, order=[range(24)] * 2))


@pytest.mark.compiled
@pytest.mark.parametrize("read", ["apart", "together"])
def test_renumbered_columns_of_one_against_the_rest(read, monkeypatch, tmp_path):
    """Learners by slot, read between epochs, copied, saved, continued: the same numbers."""
    seen = []
    params = {"callback": lambda model: seen.append((model.n_texts_, model.coef_))}
    plain, batches = made(**params).fit(TEXTS, FOUR), made()
    expected = seen.copy()
    in_slots(monkeypatch)
    if read == "together":
        in_blocks(monkeypatch)
    seen.clear()
    slotted = made(**params).fit(TEXTS, FOUR)
    inner = [learner.in_slots.used_by for learner in slotted._space.learners]
    assert all(isinstance(one.in_slots, InBlock) == (read == "together") for one in inner)
    assert "sigma" not in vars(slotted._space.learners[0])  # until somebody reads it
    for (n, w), (m, v) in zip(expected, seen, strict=True):
        assert n == m and np.array_equal(w, v)
    save(slotted, tmp_path / "a.model")
    same(plain, load(tmp_path / "a.model"))
    same(plain, copy.deepcopy(slotted))
    same(plain, slotted)
    assert np.array_equal(plain.covariance_, slotted.covariance_)
    assert not any(learner.in_slots.used_by for learner in slotted._space.learners)  # all was read
    for piece in (slice(0, 9), slice(9, None), slice(0, None)):
        batches.partial_fit(TEXTS[piece], FOUR[piece], classes=np.unique(FOUR))
    monkeypatch.undo()
    same(batches, made().fit(TEXTS, FOUR, order=[range(24)] * 2))
    for model in (batches, slotted, plain):
        model.learn_one(TEXTS[3], "b")
        model.partial_fit(TEXTS[:5], FOUR[:5])
    same(plain, slotted)


def slots_of(model):
    return vars(model._space)["in_slots"]


@pytest.mark.parametrize("room", [2, 1 << 22])
def test_batches_add_to_the_records_until_somebody_reads(room, monkeypatch):
    """Columns keep their slots from batch to batch; batches that come again are numbered once."""
    in_slots(monkeypatch)
    monkeypatch.setattr(text_slots, "ROOM", room)
    model, plain = made(), made()
    batches = [
        (model.prepare_batch(TEXTS[a : a + 6]), TEXTS[a : a + 6], TWO[a : a + 6]) for a in range(0, 24, 6)
    ]
    model.partial_fit(*batches[0][::2], classes=[0, 1])
    first, numbered = slots_of(model), []
    number = text_slots.number_columns
    monkeypatch.setattr(text_slots, "number_columns", lambda *a: numbered.append(1) or number(*a))
    for hashed, _, y in (*batches[1:], *batches):
        model.partial_fit(hashed, y)
        assert slots_of(model) is first
    assert len(numbered) == 3 and len(first.slotted.slots.columns) > 6
    with monkeypatch.context() as patch:
        patch.setattr(Confident, "run_texts", SingleSpace.run_texts)
        for _, some, y in (*batches, *batches):
            plain.partial_fit(some, y, classes=[0, 1])
    same(plain, copy.deepcopy(model))  # reads everything
    model.partial_fit(*batches[0][::2])
    assert slots_of(model) is not first
    model._space.v[:] = 0.25  # written to by whoever has read it
    model.partial_fit(*batches[1][::2])
    plain.partial_fit(*batches[0][1:])
    plain._space.v[:] = 0.25
    same(plain.partial_fit(*batches[1][1:]), model)


def test_columns_that_were_prepared_cannot_be_changed():
    hashed = made().prepare_batch(TEXTS)
    with pytest.raises(ValueError, match="read-only"):
        hashed.X.indices[0] = 1
    made().hash(TEXTS).indices[0] = 1  # a matrix for the user is the user's


def test_scores_that_overflow_in_renumbered_columns(monkeypatch):
    in_slots(monkeypatch)
    model = made().fit(TEXTS, TWO)
    model._space.v[:-1] = np.where(model._space.df[:-1] > 3, np.inf, 0.0)
    i = next(
        i for i, text in enumerate(TEXTS) if not np.isfinite(np.max(model.hash([text]) @ model.coef_[0]))
    )
    with pytest.raises(NumericalError, match=f"row {i}:"):
        model.partial_fit(TEXTS, TWO)
    has_counted(model, TEXTS * 2 + TEXTS[:i])


def test_classes_that_appear_keep_the_counts():
    for way in ("perceptron", "rest", "arow"):
        model, other = made(way), made(way)
        other.partial_fit(TEXTS, FOUR)
        for text, label in zip(TEXTS, FOUR, strict=True):
            model.learn_one(text, label)
        same(model, other)
        has_counted(model, TEXTS)


def test_warm_starts_copies_and_files_go_on(tmp_path):
    for way, y in (("arow", TWO), ("rest, arow", FOUR), ("perceptron", FOUR)):
        whole = made(way).fit(TEXTS, y, order=ORDER)
        part = made(way, warm_start=True).fit(TEXTS, y, order=ORDER[:1])
        save(part, tmp_path / "a.model")
        for other in (copy.deepcopy(part), load(tmp_path / "a.model"), part):
            same(whole, other.fit(TEXTS, y, order=ORDER[1:]))
        assert not hasattr(clone(whole), "n_texts_")
        has_counted(
            part.set_params(warm_start=False).fit(TEXTS, y, order=ORDER[:1]), np.take(TEXTS, ORDER[0])
        )


# ------------------------------------------------------------------------------------ what is counted


def test_rows_of_weight_0_and_rows_held_out_are_not_counted():
    weights = np.where(np.arange(len(TEXTS)) % 3 == 0, 0.0, 1.0)
    learned = [text for text, weight in zip(TEXTS, weights, strict=True) if weight]
    model = made(max_iter=1, shuffle=False).fit(TEXTS, TWO, sample_weight=weights)
    has_counted(model, learned)
    kept = weights > 0.0
    same(model, made(max_iter=1, shuffle=False).fit(learned, TWO[kept]))
    held = made("perceptron", early_stopping=True, validation_fraction=0.25).fit(TEXTS, TWO)
    assert held.n_texts_ == held.best_iter_ * 18


def test_predictions_count_nothing():
    model = made().fit(TEXTS, TWO)
    before = copy.deepcopy(model)
    prepared = model.prepare_batch(TEXTS)
    assert np.array_equal(model.predict(prepared), model.predict(TEXTS))
    model.explain(TEXTS[0])
    model.score_one(TEXTS[0])
    assert np.array_equal(model.decision_function(prepared), before.decision_function(TEXTS))
    has_counted(model, TEXTS * 2)
    same(model, before)


def test_columns_that_have_not_occurred_count_in_the_length():
    model = made(bits=18, fit_intercept=False).fit(TEXTS, TWO)
    known, strange = model.decision_function(["word3", "word3 unheard"])
    idf = [1.0 + np.log((1.0 + 48) / (1.0 + df)) for df in (2 * sum("word3 " in f"{t} " for t in TEXTS), 0)]
    assert strange == pytest.approx(known * idf[0] / np.hypot(*idf), rel=1e-5)


@rules.rule
def refusing(m, q, state):
    return (1.0, 1.0) if state.t < 7 else (1.0, float("nan"))


@pytest.mark.parametrize("way", ["last", "rest"])
def test_a_row_that_fails_is_not_counted(way):
    """The rule refuses the row of its seventh example; what was learned before is kept, with its counts."""
    y = FOUR if way == "rest" else TWO
    model = made(way, rule=refusing, readout="last")
    with pytest.raises(rules.RuleError, match="row 6 "):
        model.partial_fit(TEXTS, y, classes=np.unique(y))
    has_counted(model, TEXTS[:6])
    other = made(way, rule=refusing, readout="last").partial_fit(TEXTS[:6], y[:6], classes=np.unique(y))
    same(model, other)


def test_scores_that_overflow_name_the_text():
    model = made("last", precision="float64").fit(TEXTS, TWO)
    model._space.v[:] = np.inf
    with pytest.raises(NumericalError, match="row 1:"):
        model.partial_fit(["word1", TEXTS[1]], [0, 1], sample_weight=[0.0, 1.0])
    has_counted(model, TEXTS * 2)


MODULES = (running_idf, passes, segments, undoing, chunks, confident, renumbering, text_slots, rest, together)


class Interrupted:
    """Raises KeyboardInterrupt at the k-th line that is run in some modules."""

    def __init__(self, k):
        self.left, self.files = k, {m.__file__ for m in MODULES}

    def __call__(self, frame, event, arg):
        if event == "call" and frame.f_code.co_filename not in self.files:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.draws
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("way", "limit", "read"),
    [
        ("arow", 1 << 18, "apart"),
        ("arow", 60, "apart"),
        ("rest", 60, "apart"),
        ("last", 1 << 18, "apart"),
        ("rest, arow", 60, "apart"),
        ("rest, arow", 60, "together"),
        pytest.param("rest", 60, "together", marks=pytest.mark.exhaustive),
    ],
)
def test_an_interruption_leaves_counts_and_weights_of_one_moment(way, limit, read, monkeypatch):
    """At lines around the loops, in make test-exhaustive at all: the call is made, or it is not."""
    in_small_parts(monkeypatch, limit)
    in_slots(monkeypatch)
    if read == "together":
        in_blocks(monkeypatch)
    y = FOUR if way.startswith("rest") else TWO
    begun = made(way).partial_fit(TEXTS[:8], y[:8], classes=np.unique(y))
    done = copy.deepcopy(begun).partial_fit(TEXTS[8:], y[8:])
    further = [copy.deepcopy(one).partial_fit(TEXTS[:2], y[:2]) for one in (begun, done)]
    k, seen = 1, [0, 0]
    while True:  # a new model, that nobody has read: its records by slot are added to
        model, before = made(way).partial_fit(TEXTS[:8], y[:8], classes=np.unique(y)), sys.gettrace()
        sys.settrace(Interrupted(k))
        try:
            model.partial_fit(TEXTS[8:], y[8:])
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        happened = model.n_texts_ != 8
        same(model, done if happened else begun)
        same(model.partial_fit(TEXTS[:2], y[:2]), further[happened])
        seen[happened] += 1
        k += 1 if draws_many() else 13
    assert min(seen) > 0


def test_the_number_of_texts_is_limited(monkeypatch):
    model = made().partial_fit(TEXTS, TWO)
    monkeypatch.setattr(running_idf, "MOST_TEXTS", 2 * len(TEXTS) - 1)
    with pytest.raises(OverflowError, match="at most 47 texts"):
        model.partial_fit(TEXTS, TWO)
    has_counted(model, TEXTS)


# ------------------------------------------------------------------------------------ mixing


@pytest.mark.parametrize(("way", "y"), [("arow", TWO), ("perceptron", FOUR), ("rest", FOUR)])
def test_shards_add_up_what_they_have_counted(way, y, tmp_path):
    one = made(way, max_iter=2)
    mixed = ParameterMixing(one, n_shards=3, backend="serial").fit(TEXTS, y)
    threads = ParameterMixing(one, n_shards=3, backend="threads").fit(TEXTS, y)
    same(mixed.estimator_, threads.estimator_)
    has_counted(mixed.estimator_, TEXTS * 2)
    alone = ParameterMixing(one, n_shards=1).fit(TEXTS, y)
    same(clone(one).fit(TEXTS, y), alone.estimator_)
    save(mixed, tmp_path / "a.model")
    same(mixed.estimator_, load(tmp_path / "a.model").estimator_)


def test_a_shard_begins_with_the_counts_of_the_last_round():
    """Every visit of the second round has the idf of all texts of the first, and of its own shard's."""
    one = made("perceptron", readout="last", shuffle=False, precision="float64")
    mixed = ParameterMixing(one, shards=[range(12), range(12, 24)], backend="serial").fit(TEXTS, TWO)
    first, after = made("perceptron", readout="last", precision="float64"), []
    starts = [first.fit(TEXTS, TWO, order=[np.arange(a, a + 12)]) and copy.deepcopy(first) for a in (0, 12)]
    mean = sum(start._space.v for start in starts) / 2.0
    counts = sum(start._space.df for start in starts)
    for a in (0, 12):
        again = copy.deepcopy(starts[0])
        again._space.v[:], again._space.df[:] = mean, counts
        after.append(again.partial_fit(TEXTS[a : a + 12], TWO[a : a + 12]).coef_)
    np.testing.assert_allclose(mixed.coef_, sum(after) / 2.0, atol=1e-12)


# ------------------------------------------------------------------------------------ what is not claimed


def test_nothing_is_claimed_about_rows_that_change():
    model = made("last", row_norm="l2").fit(TEXTS, TWO)
    assert model.margin_bounds_ is None and model.free_margin_bounds_ is None
    assert model.radius_ == 1.0 and not model.run_record().plain
    with pytest.raises(ValueError, match="changes from visit to visit: certify"):
        certify(model, TEXTS, TWO)
    with pytest.raises(ValueError, match="no margin of its own"):
        theory.margins(model, model.hash(TEXTS), TWO)
    with pytest.raises(ValueError, match="A trace shows updates"):
        trace(made(), TEXTS, TWO)
    rest = made("rest").fit(TEXTS, FOUR)
    assert rest.margin_bounds_ is None and rest.free_margin_bounds_ is None


def test_the_longest_row_is_that_of_the_visits():
    model = made("last").fit(TEXTS, TWO, order=ORDER)
    hand, longest = ByHand(model), 0.0
    for i in np.concatenate(ORDER):
        x = model.hash([TEXTS[i]]).toarray()[0] * (1.0 + np.log((1.0 + hand.n) / (1.0 + hand.df)))
        longest = max(longest, np.hypot(np.linalg.norm(x), 1.0))
        hand.count(TEXTS[i])
    assert model.radius_ == pytest.approx(longest, rel=1e-5)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"rule": "perceptron", "readout": "vote"}, "goes through the updates again"),
        ({"rule": "perceptron", "readout": "random"}, "goes through the updates again"),
        ({"log_updates": True}, "names the row of each update"),
        ({"intercept_scaling": "auto"}, "give a number"),
        ({"idf": "yes"}, "idf must be"),
    ],
)
def test_what_needs_rows_that_stay_is_refused(params, why):
    with pytest.raises(ValueError, match=why):
        made(**params).fit(TEXTS, TWO)


def test_idf_cannot_change_after_learning_has_begun():
    model = made().fit(TEXTS, TWO)
    model.idf = False
    for call in (lambda: model.predict(TEXTS), lambda: model.partial_fit(TEXTS, TWO)):
        with pytest.raises(ValueError, match="idf cannot change after learning has begun"):
            call()
    plain = pc.TextClassifier(bits=6, idf=False).fit(TEXTS, TWO)
    for name in ("n_texts_", "document_counts_"):
        with pytest.raises(AttributeError, match="idf=True"):
            getattr(plain, name)
