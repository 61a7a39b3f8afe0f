"""libsvm: ``label index:value … # comment``."""

from __future__ import annotations

import random
import sys

from . import _harness
from ._readers import NUMBERS, check, mutated

CORPUS = _harness.corpus("libsvm")


def document(rng: random.Random) -> bytes:
    """Lines of the format, made up or taken from the corpus."""
    if rng.random() < 0.3:
        return rng.choice(CORPUS)
    lines = []
    for _ in range(rng.randrange(1, 10)):
        index, pairs = 0, []
        for _ in range(rng.randrange(6)):
            index += rng.choice([1, 1, 2, 7, 1000, 0, 2**25])
            value = rng.choice(NUMBERS) if rng.random() < 0.3 else b"%.3g" % rng.gauss(0, 1)
            pairs.append(b"%d:%s" % (index, value))
        label = rng.choice(NUMBERS) if rng.random() < 0.2 else rng.choice([b"1", b"-1", b"+1", b"3"])
        blank = rng.choice([b" ", b" ", b"\t", b"  "])
        lines.append(blank.join([label, *pairs]) + rng.choice([b"\n", b"\n", b" # note\n", b"\r\n", b" \n"]))
    return b"".join(lines)


def case(rng: random.Random) -> None:
    options = {"zero_based": rng.random() < 0.2, "n_features": rng.choice([None, None, 5, 2**31 - 1])}
    check(rng, mutated(rng, document(rng), CORPUS), "libsvm", options)


def main(argv: list[str]) -> int:
    return _harness.main("read_libsvm", argv, most_mb=64)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
