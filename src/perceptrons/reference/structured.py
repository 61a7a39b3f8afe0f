"""The structured perceptron, for sequences of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .record import Array, Order, Run

Sentence = Sequence[int]


@dataclass(kw_only=True)
class TaggerRun(Run):
    """A `Run` whose w has the weights of emissions (tag, symbol), then transitions (tag, next)."""

    n_tags: int
    n_symbols: int

    def split(self, w: Array) -> tuple[Array, Array]:
        """A weight vector as its two tables, emission and transition, one row a tag."""
        emission, transition = np.split(w, [self.n_tags * self.n_symbols])
        return emission.reshape(self.n_tags, -1), transition.reshape(self.n_tags, -1)

    def features(self, sentence: Sentence, tags: Sentence) -> Array:
        r"""The vector :math:`\Phi(x, z)`: how often a tag goes with a symbol, or precedes a tag."""
        phi = np.zeros_like(self.w)
        emission, transition = self.split(phi)
        for symbol, tag in zip(sentence, tags, strict=True):
            emission[tag, symbol] += 1
        for tag, following in pairwise(tags):
            transition[tag, following] += 1
        return phi

    def tag(self, sentences: Sequence[Sentence], w: Array | None = None) -> list[list[int]]:
        """The best tags of new sequences, under the last weights or those given."""
        emission, transition = self.split(self.w if w is None else w)
        return [best_tags(sentence, emission, transition) for sentence in sentences]


def best_tags(sentence: Sentence, emission: Array, transition: Array) -> list[int]:
    """The tags with the highest score, the lexicographically smallest ones on ties.

    This is Viterbi's recursion from right to left. The value of a tag at some place is the best
    score of the sequence from there on; read from the left, the first best tag at every place is
    then part of the smallest best sequence.
    """
    if not sentence:
        return []
    value = [emission[:, sentence[-1]]]
    for symbol in reversed(sentence[:-1]):
        value.insert(0, emission[:, symbol] + (transition + value[0]).max(axis=1))
    tags = [int(value[0].argmax())]
    for later in value[1:]:
        tags.append(int((transition[tags[-1]] + later).argmax()))
    return tags


def structured_perceptron(
    sentences: Sequence[Sentence],
    tags: Sequence[Sentence],
    order: Order | None = None,
    *,
    n_tags: int,
    n_symbols: int,
) -> TaggerRun:
    r"""Collins's structured perceptron [1]_ as a first-order tagger.

    If :math:`\hat y \ne y`, the update is :math:`w \leftarrow w + \Phi(x, y) - \Phi(x, \hat y)`,
    where :math:`\hat y` is the sequence z with the highest :math:`w\cdot\Phi(x, z)`. The average
    over all sequences seen is `lazy_average` of the run.

    References
    ----------
    .. [1] M. Collins, Discriminative training methods for hidden Markov models, EMNLP 2002.
    """
    run = TaggerRun(w=np.zeros(n_tags * (n_symbols + n_tags)), n_tags=n_tags, n_symbols=n_symbols)
    for i in run.visits(len(sentences), order):
        x, y = sentences[i], list(tags[i])
        [guess] = run.tag([x])
        run.saw(error=guess != y, mistake=guess != y)
        if guess != y:
            run.update(run.w + run.features(x, y) - run.features(x, guess), 1.0)
    return run
