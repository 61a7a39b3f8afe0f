"""No file makes a reader take more than 8 times the line limit and 64 MB, whatever it holds."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")

HEAD = """
    import bz2, ctypes, gc, gzip, io, lzma, sys, zlib
    import numpy as np
    from perceptrons.io import FormatError, Limits, open_stream

    def peak():  # of this process alone: ru_maxrss is inherited from the one that started it
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return int(status["VmHWM"].split()[0])

    trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda n: None)

    def grown(data, format_, line_bytes, **options):
        small = {"libsvm": b"1 1:1\\n", "vw": b"1 |a b\\n", "csv": b"a,1\\n", "tsv": b"a\\t1\\n"}
        small["jsonl"] = b'{"label": 1, "text": "a", "b": "\\u00e9"}\\n'
        if format_ in small:  # compile before measuring
            for way in (options, {}):
                list(open_stream(small[format_], format_, **way))
        trim(0)  # or freed memory that is still ours would hide what a case takes
        open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
        before = peak()
        rows, said = 0, ""
        stream = open_stream(data, format_, limits=Limits(line_bytes=line_bytes, ratio=1e9), **options)
        try:
            for batch in stream:
                rows += batch.n_rows
        except ValueError as error:
            said = str(error).replace(chr(10), " ")[:90]
        return (peak() - before) / 1024, rows, stream.skipped, said

    def check(name, data, format_, line_bytes, **options):
        more, rows, skipped, said = grown(data, format_, line_bytes, **options)
        bound = (8 * line_bytes + (64 << 20)) / (1 << 20)
        found = f"{more:6.0f} of {bound:4.0f} MB, {rows} {skipped} {said}"
        print(f"{name:28} {format_:8} {len(data):10,} bytes: {found}")
        assert more <= bound, name
"""


def run(body: str) -> str:
    code = textwrap.dedent(HEAD) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LIBSVM = """
    for L in SIZES:
        pairs = b" ".join(b"%d:1" % j for j in range(1, L // 9))
        check("one long line", (b"1 " + pairs)[: L - 9] + b"\\n", "libsvm", L)
        check("many long lines", ((b"1 " + pairs)[: L - 9].rsplit(b" ", 1)[0] + b"\\n") * 3, "libsvm", L)
        check("the shortest rows", b"1\\n" * (4 << 20), "libsvm", L)
        check("line ends", b"\\n" * (8 << 20), "libsvm", L)
        check("bad lines", b"x\\n" * (4 << 20), "libsvm", L, on_error="skip")
        check("digits", b"1 1:" + b"1" * (L - 9) + b"\\n", "libsvm", L)
        check("a format to be told", b"1" * (L - 9) + b"\\n", "auto", L)
"""
VW = """
    for L in SIZES:
        check("one long line", b"1 |" + b" a" * (L // 2 - 9) + b"\\n", "vw", L)
        check("many features", b"1 |n:1e23" + b" a" * 200_000 + b"\\n" + b"| a b c d\\n" * (1 << 19), "vw", L,
              on_error="skip")
        check("the shortest rows", b"|\\n" * (4 << 20), "vw", L)
        check("labels and weights", b"1 1|\\n1 1 |\\n" * (1 << 18), "vw", L, on_error="skip")
        check("not UTF-8", b"1 | " + b"\\xff" * (L // 3 - 9) + b"\\n", "vw", L, encoding_errors="replace")
        check("long names", b"1 |" + b"n" * (L - 99) + b" a\\n" , "vw", L)
"""
TABLES = """
    for L in SIZES:
        for f, d in (("tsv", b"\\t"),):  # one reader, two separators: what only CSV has comes below
            check("empty fields", (d * 99_999 + b"\\n") * 8, f, L)
            check("ones", (b"1" + (d + b"1") * 99_999 + b"\\n") * 6, f, L)
            check("words", (b"1" + (d + b"a") * 99_999 + b"\\n") * 6, f, L)
            check("too many columns", d * (L - 9) + b"\\n", f, L)
            check("the shortest rows", b"1\\n" * (4 << 20), f, L)
            check("texts from the last column", d * 99_999 + b"\\n" + b"a\\n" * 70_000, f, L, text_column=-1,
                  on_error="skip")
            smile = "\\U0001f600".encode()
            check("one long text", b"1" + d + b"x" * (L - 30) + smile + b"\\n", f, L, text_column=1)
            check("long texts", (b"1" + d + b"x" * (L - 30) + b"\\n") * 3, f, L, text_column=1)
            check("not UTF-8", b"1" + d + b"\\xff" * (L // 3 - 30) + b"\\n" , f, L, text_column=1,
                  encoding_errors="replace")
            check("much that is not UTF-8", b"1" + d + b"\\xff" * (L - 30) + b"\\n" , f, L, text_column=1,
                  encoding_errors="replace")
            check("a long label", b"x" * (L - 30) + d + b"1\\n" + (b"a" + d + b"1\\n") * 100_000, f, L,
                  on_error="skip")
            check("wide labels", (b"x" * 1000 + d + b"1\\n") + (b"a" + d + b"1\\n") * 500_000, f, L)
            tail = d + b"1\\n"
            labels = b"".join(b"%06d" % j + b"x" * (900 if j < 900 else 1) + tail for j in range(60_000))
            check("many labels", labels, f, L, labels="text")
        check("ones", (b"1" + b",1" * 99_999 + b"\\n") * 2, "csv", L)
        check("long texts", (b"1," + b"x" * (L - 30) + b"\\n") * 3, "csv", L, text_column=1)
        check("quotes", b'1,"' + b'""' * (L // 2 - 30) + b'"\\n', "csv", L, text_column=1)
"""
JSONL = """
    for L in SIZES:
        head, end = b'{"label": 1, "a": ', b'}\\n'
        n = L - 40
        def row(body, most=n):
            return head + b"[" + body * (most // len(body)) + b"0]" + end
        for body in (b"1,", b"[1],", b"[],", b'{"":1},', b'"",'):
            check(f"many {body.decode()}", row(body), "jsonl", L)
            times = 1 + (1 << 20) // min(n, 200_000)
            check(f"rows of {body.decode()}", row(body, min(n, 200_000)) * times, "jsonl", L)
            check(f"as many as may be {body.decode()}", row(body, min(n, 130_000 * len(body))), "jsonl", L)
        text = b'{"label": 1, "text": "%s"}\\n'
        for tail in ("", "\\U0001f600", "\\\\ud83d\\\\ude00", "\\\\n"):
            one = text % (b"x" * (L - 90) + tail.encode())
            check("a long text, " + ascii(tail), one * 2, "jsonl", L, text_column="text")
        check("escapes", text % (b"\\\\u00e9" * (L // 6 - 20)), "jsonl", L, text_column="text")
        check("a long word", head + b'"' + b"x" * (L - 90) + b'"' + end, "jsonl", L)
        deep = b'{"b":' * 300 + b"1" + b"}" * 300
        check("deep below a long name", b'{"label": 1, "' + b"n" * (L // 2) + b'": ' + deep + end, "jsonl", L)
        check("long names", b'{"label": 1, "' + b"n" * (L // 2) + b'": {' +
              b",".join(b'"%d":1' % j for j in range(L // 40)) + b"}" + end, "jsonl", L)
        check("the shortest rows", b'{"label":1}\\n' * (1 << 16), "jsonl", L)
        many = b'"}\\n' + b'{"label": "a"}\\n' * 100_000
        check("a long label", b'{"label": "' + b"x" * (L - 90) + many, "jsonl", L, on_error="skip")
        check("wide labels", b'{"label": "' + b"x" * 1000 + many, "jsonl", L)
"""
COMPRESSED = """
    L = 1 << 22
    text = b"1\\t" + b"x" * (L - 30) + b"\\n"
    packs = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lambda data: lzma.compress(data, preset=9)}
    try:
        import zstandard
        packs["zst"] = lambda data: zstandard.ZstdCompressor(
            compression_params=zstandard.ZstdCompressionParameters(window_log=26)).compress(data)
    except ImportError:
        pass
    for name, pack in packs.items():
        check(f"long texts, {name}", pack(text * 4), "tsv", L, text_column=1)
        check(f"line ends, {name}", pack(b"\\n" * (8 << 20)), "libsvm", L)
        if name != "gz":  # what comes out of an archive goes to the same readers: each format once
            continue
        pairs = b" ".join(b"%d:1" % j for j in range(1, L // 11))
        check(f"long rows, {name}", pack(b"1 " + pairs), "libsvm", L)
        rows = b"1 |n:1e23" + b" a" * 200_000 + b"\\n" + b"| a b c d\\n" * (1 << 17)
        check(f"vw, {name}", pack(rows), "vw", L, on_error="skip")
        check(f"csv, {name}", pack((b"1" + b",1" * 99_999 + b"\\n") * 2), "csv", L)
        row = b'{"label": 1, "a": [' + b"[1]," * 60_000 + b"0]}\\n"
        check(f"jsonl, {name}", pack(row * 3), "jsonl", L)
"""
PARQUET = """
    import pyarrow as pa, pyarrow.parquet as pq

    def stored(columns, **options):
        target = io.BytesIO()
        pq.write_table(pa.table(columns), target, **options)
        return target.getvalue()

    list(open_stream(stored({"y": [1], "t": ["a"], "x": [1.0]}), "parquet"))
    for L in SIZES:
        n = 7000
        word = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["x" * (L // 4)])
        for way in ({"text_column": "t"}, {}):
            data = stored({"y": [1] * n, "t": word}, compression="zstd")
            check("one word in all rows", data, "parquet", L, label_column="y", **way)
        check("one label in all rows", stored({"y": word, "x": [1.0] * n}, compression="zstd"), "parquet", L)
        many = pa.array([f"{i:09}" for i in range(40_000)])
        check("many words", stored({"y": [1] * 40_000, "t": many}), "parquet", L)
        check("many labels", stored({"y": many, "x": np.ones(40_000)}), "parquet", L)
        wide = {f"x{j}": [1.0] * 3000 for j in range(300)}
        check("many columns", stored({"y": [1] * 3000, **wide}), "parquet", L)
        check("rows of nothing", stored({"y": pa.array([1] * (1 << 20)), "x": pa.array([1.0] * (1 << 20))},
              compression="gzip"), "parquet", L)
        texts = ["x" * (L // 8) + str(i) for i in range(30)]
        for options in ({}, {"use_dictionary": False, "data_page_size": 1 << 30}, {"data_page_size": 1000}):
            data = stored({"y": [1] * 30, "t": texts}, compression="zstd", **options)
            check(f"long texts, {options}", data, "parquet", L, text_column="t")
        growing = ["x" * i for i in range(0, 40_000, 10)]
        data = stored({"y": [1] * len(growing), "t": growing}, use_dictionary=False, compression="zstd",
                      column_encoding={"t": "DELTA_BYTE_ARRAY", "y": "PLAIN"})
        check("each text is part of the next", data, "parquet", L, text_column="t")
        random = np.random.default_rng(0).normal(size=(120, 20_000))
        data = stored({"y": [1] * 20_000, **{f"x{j}": column for j, column in enumerate(random)}})
        check("120 columns of numbers", data, "parquet", L)
"""
BODIES = {"libsvm": LIBSVM, "vw": VW, "tables": TABLES, "jsonl": JSONL, "parquet": PARQUET}


@pytest.mark.slow
@pytest.mark.parametrize("line_bytes, name", [(1 << 20, name) for name in BODIES] + [(1 << 24, "libsvm")])
def test_every_reader_within_its_bound(name, line_bytes):
    print(run(f"    SIZES = [{line_bytes}]\n" + BODIES[name]))


@pytest.mark.slow
def test_compressed_files_within_the_same_bound():
    print(run(COMPRESSED))


def test_a_line_of_jsonl_within_its_bound():
    """A small one for every run of the suite: 1 MB of nested lists took 370 MB."""
    run(
        """
    L = 1 << 20
    check("lists", b'{"label": 1, "a": [' + b"[1]," * (L // 4 - 30) + b"0]}\\n", "jsonl", L)
    table = b"\\t" * 99_999 + b"\\n" + b"a\\n" * 7_000
    check("the last column", table, "tsv", L, text_column=-1, on_error="skip")
    """
    )
