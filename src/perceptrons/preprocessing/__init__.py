r"""From raw columns to rows that a linear learner likes: short ones, around the origin, with a wide margin.

The perceptron's bound is :math:`R^2/\gamma^2`; every step here is there to shrink R or to widen γ. What
scikit-learn does already is left to it, and what is here is built on it where that does the job.

===========================================  ===============================================================
step                                         class
===========================================  ===============================================================
numbers to intervals                         `Bucketizer` (presets ``"age"`` and ``"hours"``)
names that have an order to 1, 2, 3, ...     `OrderedLevels` (``"education"``)
names without one to 0/1 columns             `CategoricalToBinary`
centre, unit variance, from a stream too     `StreamingScaler`
rows of length 1 (L2), largest value 1 (L∞)  scikit-learn's ``Normalizer()``, ``Normalizer(norm="max")``
a constant coordinate B                      `Augmenter`, and `best_constant` for :math:`B = \sqrt{R|b|}`
===========================================  ===============================================================

Each learns from the training rows only (``fit``), names its columns (``get_feature_names_out``), and answers
pandas where asked (``set_output(transform="pandas")``). Shuffling is the learner's own (``shuffle=True``).
"""

from __future__ import annotations

from sklearn.preprocessing import Normalizer

from .augmentation import Augmenter, best_constant
from .buckets import Bucketizer
from .categories import EDUCATION, CategoricalToBinary, OrderedLevels
from .scaling import StreamingScaler

__all__ = [
    "Bucketizer",
    "OrderedLevels",
    "CategoricalToBinary",
    "StreamingScaler",
    "Normalizer",
    "Augmenter",
    "best_constant",
    "EDUCATION",
]
