"""The structured perceptron: at most R^2/delta^2 mistakes, whatever the structures (here: tags of words)."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from perceptrons import reference, theory
from perceptrons.reference.structured import TaggerRun

TAGS, SYMBOLS = 2, 3


@st.composite
def tagged_sentences(draw):
    """Sentences tagged by hidden weights, each with one best sequence of tags."""
    size = TAGS * (SYMBOLS + TAGS)
    hidden = np.array(draw(st.lists(st.integers(-8, 8), min_size=size, max_size=size)), dtype=float)
    tagger = TaggerRun(w=hidden, n_tags=TAGS, n_symbols=SYMBOLS)
    words = st.lists(st.integers(0, SYMBOLS - 1), min_size=1, max_size=4)
    sentences = draw(st.lists(words, min_size=1, max_size=6))
    return sentences, tagger.tag(sentences), tagger


def wrong_differences(tagger, sentences, tags):
    """Phi(x, y) - Phi(x, z) for every sentence and every wrong sequence z."""
    return np.array(
        [
            tagger.features(x, y) - tagger.features(x, z)
            for x, y in zip(sentences, tags)
            for z in product(range(TAGS), repeat=len(x))
            if list(z) != y
        ]
    )


@given(tagged_sentences(), st.integers(1, 6))
def test_at_most_r_over_delta_squared_mistakes(data, epochs):
    sentences, tags, tagger = data
    differences = wrong_differences(tagger, sentences, tags)
    ahead = differences @ tagger.w
    assume(ahead.min() > 0.0)  # ties were broken by the alphabet: no margin
    delta = ahead.min() / np.linalg.norm(tagger.w) * (1.0 - 1e-10)
    R = np.linalg.norm(differences, axis=1).max()
    order = [range(len(sentences))] * epochs
    run = reference.structured_perceptron(sentences, tags, order, n_tags=TAGS, n_symbols=SYMBOLS)
    assert sum(run.mistakes) == run.k <= theory.structured(R, delta)


@given(tagged_sentences())
def test_against_an_adversary(data):
    """Always a sentence that is tagged wrongly, as long as there is one."""
    sentences, tags, tagger = data
    differences = wrong_differences(tagger, sentences, tags)
    assume((differences @ tagger.w).min() > 0.0)
    delta = (differences @ tagger.w).min() / np.linalg.norm(tagger.w) * (1.0 - 1e-10)
    bound = theory.structured(np.linalg.norm(differences, axis=1).max(), delta)
    served: list[int] = []
    for _ in range(60):
        run = reference.structured_perceptron(sentences, tags, [served], n_tags=TAGS, n_symbols=SYMBOLS)
        assert run.k == len(served) <= bound
        wrong = [i for i, guess in enumerate(run.tag(sentences)) if guess != tags[i]]
        if not wrong:
            break
        served.append(wrong[-1])


@given(tagged_sentences(), st.integers(1, 4))
def test_every_update_is_a_violation_and_the_average_is_lazy(data, epochs):
    sentences, tags, _ = data
    order = [range(len(sentences))] * epochs
    run = reference.structured_perceptron(sentences, tags, order, n_tags=TAGS, n_symbols=SYMBOLS)
    visits = [i for epoch in run.updates for i in epoch]
    for w, new, i in zip(run.vectors, run.vectors[1:], visits):
        assert w @ (new - w) <= 0.0
        assert (new - w).any()
        assert list(tags[i]) != run.tag([sentences[i]], w)[0]
    assert sum(run.counts) == run.t
    assert np.allclose(reference.lazy_average(run), reference.average(run))
