"""VW text: ``label importance 'tag|namespace:scale feature:value …``."""

from __future__ import annotations

import random
import sys

from . import _harness
from ._readers import NUMBERS, check, mutated

CORPUS = _harness.corpus("vw")


def document(rng: random.Random) -> bytes:
    """Lines of the format, made up or taken from the corpus."""
    if rng.random() < 0.3:
        return rng.choice(CORPUS)
    lines = []
    for _ in range(rng.randrange(1, 10)):
        number = lambda often: rng.choice(NUMBERS) if rng.random() < often else b"%d" % rng.randrange(3)  # noqa: E731
        head = rng.choice([b"", number(0.1) + b" ", number(0.1) + b" " + number(0.1) + b" "])
        head += rng.choice([b"", b"", b"'tag", b"tag"])
        spaces = b""
        for _ in range(rng.randrange(1, 4)):
            scale = b":" + number(0.4) if rng.random() < 0.3 else b""
            spaces += b"|" + rng.choice([b"", b"a", b"long_name", "é".encode()]) + scale
            for _ in range(rng.randrange(5)):
                value = b":" + number(0.3) if rng.random() < 0.5 else b""
                spaces += b" " + rng.choice([b"a", b"b", b"word", "日".encode()]) + value
            spaces += rng.choice([b"", b" "])
        lines.append(head + spaces + rng.choice([b"\n", b"\n", b"\r\n"]))
    return b"".join(lines)


def case(rng: random.Random) -> None:
    options = {"bits": rng.choice([1, 5, 18, 31]), "encoding_errors": rng.choice(["refuse", "replace"])}
    check(rng, mutated(rng, document(rng), CORPUS), "vw", options)


def main(argv: list[str]) -> int:
    return _harness.main("read_vw", argv, most_mb=64)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
