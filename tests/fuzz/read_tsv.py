"""tsv: fields between tabs."""

from __future__ import annotations

import random
import sys

from . import _harness
from ._readers import NUMBERS, check, mutated

CORPUS = _harness.corpus("tsv")
WORDS = [b"red", b"green", b"", b" a b ", "é".encode(), b'"q"']


def field(rng: random.Random, kind: int) -> bytes:
    if kind == 0:
        return rng.choice(NUMBERS) if rng.random() < 0.2 else b"%.3g" % rng.gauss(0, 9)
    return rng.choice(WORDS) if kind == 1 else b"%d" % rng.randrange(3)


def document(rng: random.Random) -> bytes:
    """A table, made up or taken from the corpus."""
    if rng.random() < 0.3:
        return rng.choice(CORPUS)
    kinds = [rng.randrange(3) for _ in range(rng.choice([1, 2, 3, 3, 4, 60, 70]))]
    lines = (
        [b"\t".join(rng.choice([b"label", b"text", b"a", b"b"]) for _ in kinds)] if rng.random() < 0.3 else []
    )
    for _ in range(rng.randrange(1, 10)):
        lines.append(b"\t".join(field(rng, kind) for kind in kinds))
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    return end.join(lines) + rng.choice([end, b""])


def case(rng: random.Random) -> None:
    options = {
        "label_column": rng.choice([None, 0, 0, -1, "label", "auto"]),
        "missing": rng.choice(["refuse", "refuse", "zero", "mean", "skip"]),
        "text_column": rng.choice([None, None, -1, 1, "text"]),
        "weight_column": rng.choice([None, None, None, 2]),
        "header": rng.choice(["auto", True, False]),
        "labels": rng.choice(["auto", "text", "number"]),
        "categorical": rng.choice(["auto", "auto", [1]]),
        "encoding_errors": rng.choice(["refuse", "replace"]),
    }
    check(rng, mutated(rng, document(rng), CORPUS), "tsv", options)


def main(argv: list[str]) -> int:
    return _harness.main("read_tsv", argv, most_mb=64)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
