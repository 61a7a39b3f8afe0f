"""Data sets: the toy sets of the lectures, and public ones, downloaded from their publishers and kept.

The toy sets (`four_points`, `xor`, `rings`, ...) are described in `perceptrons.datasets.toy`. A public set is
a function (`load_adult`, `load_sms`, ...) that returns rows and labels in their published order and split;
`fetch` returns the paths of the files. Both look in the folder that ``PERCEPTRONS_DATA`` names, then in a
cache, and download only then.

>>> X, y, *_ = xor()
>>> (X[:, 0] * X[:, 1] == -y).all()  # XOR is a product
np.True_
"""

from __future__ import annotations

from .fetching import FetchError, available, fetch, find
from .public import (
    Mails,
    Public,
    load_20newsgroups,
    load_adult,
    load_covtype,
    load_enron,
    load_imdb,
    load_libsvm,
    load_mnist,
    load_reuters,
    load_sms,
)
from .toy import (
    FAR,
    Toy,
    clouds_far,
    clouds_near,
    four_points,
    overlapping_clouds,
    rings,
    slab_points,
    spam_words,
    three_classes,
    three_points,
    xor,
)

__all__ = [
    # toy sets
    "Toy",
    "FAR",
    "four_points",
    "three_points",
    "slab_points",
    "spam_words",
    "xor",
    "clouds_near",
    "clouds_far",
    "overlapping_clouds",
    "rings",
    "three_classes",
    # public sets
    "Public",
    "Mails",
    "FetchError",
    "available",
    "fetch",
    "find",
    "load_20newsgroups",
    "load_adult",
    "load_covtype",
    "load_enron",
    "load_imdb",
    "load_libsvm",
    "load_mnist",
    "load_reuters",
    "load_sms",
]
