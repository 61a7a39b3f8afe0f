r"""From raw columns to rows that suit a linear learner: short ones, around the origin, with a wide margin.

The perceptron's bound is :math:`R^2/\gamma^2`; every step here shrinks R or widens γ. Steps that scikit-learn
has are not repeated here, and the classes use its encoders where they suffice.

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

Each learns from the training rows only (``fit``), names its columns (``get_feature_names_out``), and returns
pandas frames after ``set_output(transform="pandas")``. Shuffling is the learner's own (``shuffle=True``).
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
