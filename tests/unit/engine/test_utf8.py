"""Both functions that read UTF-8 accept what Python's decoder accepts."""

import itertools

import numpy as np
import pytest

from perceptrons.engine.utf8 import character_bytes, decoded

LEADS = (0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5)
SECONDS = (0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
OTHERS = (0x41, 0x80, 0xBF, 0xC0)


def of_python(raw):
    """(character, bytes) at the beginning, (-1, 1) if there is none."""
    for n in range(1, len(raw) + 1):
        try:
            return ord(raw[:n].decode()), n
        except (UnicodeDecodeError, TypeError):
            pass
    return -1, 1


@pytest.mark.parametrize("lead", LEADS)
def test_bytes_that_are_characters_and_bytes_that_are_none(lead):
    for rest in itertools.product(SECONDS, OTHERS, OTHERS):
        raw = bytes((lead, *rest))
        buffer = np.frombuffer(raw, np.uint8)
        for stop in range(1, 5):
            assert tuple(map(int, decoded(buffer[:stop], np.uint64(0), np.uint64(stop)))) == of_python(
                raw[:stop]
            )
        character, n = of_python(raw)
        assert int(character_bytes(buffer, np.uint64(0))) == (n if character >= 0 else 0)
