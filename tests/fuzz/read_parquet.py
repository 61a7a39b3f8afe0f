"""parquet: damaged files, and files whose headers lie. What pyarrow does with them happens in the child."""

from __future__ import annotations

import io
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from perceptrons.io import FormatError, Limits, open_stream

from . import _harness
from ._readers import well_formed

WRITTEN: list[bytes] = []


def files() -> list[bytes]:
    """Small files of every kind of page, made once."""
    if not WRITTEN:
        columns = {
            "label": [1, 0, 2] * 7,
            "x": [0.5, None, -1e300] * 7,
            "n": [2**60, -1, 0] * 7,
            "b": [True, False, None] * 7,
            "text": ["spam", "ham é", None] * 7,
            "word": pa.array(["red", "green", "red"] * 7).dictionary_encode(),
        }
        for names in (["label", "x", "n"], ["label", "text"], list(columns)):
            table = pa.table({name: columns[name] for name in names})
            for options in (
                {},
                {"compression": "none", "use_dictionary": False},
                {"compression": "gzip", "data_page_version": "2.0", "row_group_size": 8},
                {"compression": "zstd", "data_page_size": 16, "write_statistics": False},
                {"compression": "none", "store_schema": False, "use_dictionary": False,
                 "column_encoding": {"label": "DELTA_BINARY_PACKED"}},
            ):  # fmt: skip
                target = io.BytesIO()
                pq.write_table(table, target, **options)
                WRITTEN.append(target.getvalue())
    return WRITTEN


def damaged(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    footer = len(out) - 8 - int.from_bytes(out[-8:-4], "little")
    for _ in range(rng.randrange(1, 5)):
        low, high = (footer, len(out)) if rng.random() < 0.4 else (0, len(out))
        at = rng.randrange(max(0, low), max(low + 1, high))
        kind = rng.randrange(6)
        if kind == 0:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2:  # a large number where a varint may stand
            number = rng.choice(
                [b"\xff\xff\xff\xff\x0f", b"\xfe\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x00", b"\x7f"]
            )
            out[at : at + len(number)] = number
        elif kind == 3:
            del out[at : at + rng.randrange(1, 5)]
        elif kind == 4:
            out[at:at] = out[at : at + rng.randrange(1, 9)]
        else:
            out[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\1\0\0\0"])
    if rng.random() < 0.5 and len(out) > 8:  # the last eight bytes are looked at first: let them be right
        out[-8:] = data[-8:]
    return bytes(out)


def case(rng: random.Random) -> None:
    data = rng.choice(files())
    if rng.random() < 0.95:
        data = damaged(rng, data)
    options = {
        "label_column": rng.choice([None, "label", 0]),
        "text_column": rng.choice([None, None, "text"]),
        "on_error": rng.choice(["raise", "skip"]),
        "labels": rng.choice(["auto", "text"]),
        "batch_bytes": rng.choice([16, 1 << 16]),
    }
    try:
        well_formed(open_stream(data, "parquet", read_ahead=0, limits=Limits(line_bytes=1 << 20), **options))
    except FormatError as error:
        assert "expected" in str(error) and "\n" not in str(error) and len(str(error)) < 600, error
    except ValueError as error:
        assert "column" in str(error).lower() and "\n" not in str(error), error


def main(argv: list[str]) -> int:
    return _harness.main("read_parquet", argv, cases=5_000, most_mb=72)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
