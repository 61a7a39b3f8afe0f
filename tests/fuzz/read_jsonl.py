"""jsonl: one object a line."""

from __future__ import annotations

import random
import sys

from . import _harness
from ._readers import NUMBERS, check, mutated

CORPUS = _harness.corpus("jsonl")
STRINGS = [
    b"red",
    b"",
    "é日😀".encode(),
    b"\\n",
    b"\\u00e9",
    b"\\ud83d\\ude00",
    b"\\ud83d",
    b"\\ude00x",
    b"\\\\u00e9",
    b"\\/",
    b"x" * 70,
]


def value(rng: random.Random, depth: int) -> bytes:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return rng.choice(NUMBERS) if rng.random() < 0.3 else b"%.3g" % rng.gauss(0, 9)
    if kind < 4:
        return b'"' + rng.choice(STRINGS) + b'"'
    if kind < 6:
        return rng.choice([b"null", b"true", b"false", b"NaN", b"Infinity", b"1", b"0"])
    if kind == 6:
        return b"[" + b", ".join(value(rng, depth + 1) for _ in range(rng.randrange(4))) + b"]"
    return row(rng, depth + 1)


def row(rng: random.Random, depth: int = 0) -> bytes:
    keys = [
        rng.choice([b"a", b"b", b"c d", "é".encode(), b"\\u00e9", b"label", b"text", b"weight"])
        for _ in range(rng.randrange(4))
    ]
    if depth == 0:
        keys = [b"label", *keys, b"text"][: rng.choice([1, 9, 9])]
    return b"{" + b", ".join(b'"' + key + b'": ' + value(rng, depth + 1) for key in keys) + b"}"


def document(rng: random.Random) -> bytes:
    """Lines of objects, made up or taken from the corpus."""
    if rng.random() < 0.3:
        return rng.choice(CORPUS)
    lines = [row(rng) for _ in range(rng.randrange(1, 8))]
    if rng.random() < 0.02:
        lines.append(b'{"label": 1, "a": ' + b"[" * 900 + b"]" * 900 + b"}")
    return rng.choice([b"\n", b"\n", b"\r\n"]).join(lines) + rng.choice([b"\n", b""])


def case(rng: random.Random) -> None:
    options = {
        "label_column": rng.choice([None, 0, 0, "label", "é"]),
        "text_column": rng.choice([None, None, "text", "a"]),
        "weight_column": rng.choice([None, None, None, "weight"]),
        "labels": rng.choice(["auto", "text", "number"]),
        "encoding_errors": rng.choice(["refuse", "replace"]),
        "bits": rng.choice([3, 18]),
    }
    check(rng, mutated(rng, document(rng), CORPUS), "jsonl", options)


def main(argv: list[str]) -> int:
    return _harness.main("read_jsonl", argv, most_mb=64)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
