"""A learner of texts as simple as can be: words are counted, and a perceptron learns them.

    from plain_texts import PLAIN

    TextClassifier(**PLAIN, bits=10)

For tests of votes, averages, brackets and logs, which the default rule has not, and of rows that can be
counted by hand.
"""

from __future__ import annotations

PLAIN = {
    "rule": "perceptron",
    "tokens": "words",
    "ngram_range": (1, 1),
    "values": "count",
    "idf": False,
    "max_iter": 5,
}
