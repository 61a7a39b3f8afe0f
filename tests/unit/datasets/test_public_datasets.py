"""Public data sets: found, downloaded, checked; archives within limits; loaders on tiny and on real files."""

from __future__ import annotations

import bz2
import gc
import gzip
import hashlib
import http.server
import io
import lzma
import os
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from perceptrons import datasets
from perceptrons.datasets import archives, fetching, registry
from perceptrons.datasets._tar import Tar, TarError
from perceptrons.datasets.archives import ArchiveError, ArchiveLimits
from perceptrons.datasets.public import read_idx
from perceptrons.datasets.registry import Part, PublicSource
from perceptrons.datasets.reuters import stories

TINY = b"a tiny data set\n"
SHA = hashlib.sha256(TINY).hexdigest()


def tar_of(path: Path, files: dict[str, bytes], mode: str = "w:xz") -> Path:
    """An archive of these files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    return path


def listing(files: dict[str, bytes]) -> str:
    """What sha256sum would print of them."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture(autouse=True)
def nothing_of_this_machine(request, monkeypatch, tmp_path):
    """No set of this machine is found, but by the tests that are for the real ones."""
    if "data" not in request.keywords:
        monkeypatch.delenv("PERCEPTRONS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


# ---------------------------------------------------------------------------------------- the home


class Home(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; a name that ends in .cut promises more than it sends."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        if not self.path.endswith(".cut"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(TINY)


@pytest.fixture
def home(tmp_path):
    """A server on this machine: its address, its folder, and the paths it was asked for."""
    pytest.importorskip("pooch")
    folder = tmp_path / "home"
    folder.mkdir()
    asked: list[str] = []

    def handler(*args):
        return Home(*args, directory=str(folder))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = asked
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder, asked
        server.shutdown()
        thread.join()


def register(monkeypatch, *parts: Part) -> None:
    monkeypatch.setitem(
        registry.SOURCES, "tiny", PublicSource("tiny", "tiny", parts, "1", "A tiny set.", "none")
    )


def test_a_download_is_checked_and_kept(home, monkeypatch, tmp_path):
    address, folder, asked = home
    (folder / "tiny.gz").write_bytes(gzip.compress(TINY))
    register(monkeypatch, Part("tiny", f"{address}/tiny.gz", SHA, ("tiny.gz", "tiny")))
    assert datasets.find("tiny") is None
    paths = datasets.fetch("tiny")
    assert (
        paths
        == {"tiny": tmp_path / "cache" / "perceptrons-data" / "tiny" / "tiny.gz"}
        == datasets.find("tiny")
    )
    assert archives.read_one(paths["tiny"], "tiny") == TINY
    assert datasets.fetch("tiny") == paths and asked == ["/tiny.gz"]  # the second time it is here
    assert os.listdir(paths["tiny"].parent) == ["tiny.gz"]


def test_a_folder_of_ones_own_and_progress(home, monkeypatch, tmp_path):
    address, folder, _ = home
    (folder / "tiny").write_bytes(TINY)
    register(monkeypatch, Part("tiny", f"{address}/tiny", SHA, ("tiny",)))
    seen = []
    paths = datasets.fetch("tiny", tmp_path / "mine", progress=lambda *report: seen.append(report))
    assert paths["tiny"] == tmp_path / "mine" / "tiny" / "tiny"
    assert seen[-1] == ("tiny", len(TINY), len(TINY)) and all(report[1] <= len(TINY) for report in seen)


def test_a_wrong_digest_is_refused_with_both(home, monkeypatch, tmp_path):
    address, folder, _ = home
    (folder / "tiny").write_bytes(b"something else")
    other = hashlib.sha256(b"something else").hexdigest()
    part = Part("tiny", f"{address}/tiny", SHA, ("tiny",), served=f"md5:{hashlib.md5(TINY).hexdigest()}")
    register(monkeypatch, part)
    with pytest.raises(datasets.FetchError, match=f"expected content of sha256 {SHA}, found {other}"):
        datasets.fetch("tiny")
    assert os.listdir(tmp_path / "cache" / "perceptrons-data" / "tiny") == []  # nothing is left behind
    path = datasets.fetch("tiny", verify=False)["tiny"]
    assert path.read_bytes() == b"something else"
    with pytest.raises(datasets.FetchError, match=f"{path} is not the tiny we know"):
        datasets.fetch("tiny", verify=True)


def test_either_digest_will_do(home, monkeypatch):
    address, folder, _ = home
    (folder / "tiny").write_bytes(TINY)
    served = f"sha256:{SHA}"
    register(monkeypatch, Part("tiny", f"{address}/tiny", "0" * 64, ("tiny",), served=served))
    assert datasets.fetch("tiny")["tiny"].read_bytes() == TINY


# a download that fails leaves its socket to be closed when it is forgotten
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("file", "reason"), [("tiny.cut", "IncompleteRead"), ("nowhere", "404")])
def test_half_a_file_or_none_is_an_error_and_leaves_nothing(home, monkeypatch, tmp_path, file, reason):
    address, _, _ = home
    register(monkeypatch, Part("tiny", f"{address}/{file}", SHA, ("tiny",)))
    with pytest.raises(datasets.FetchError, match=f"Could not download {address}/{file}.*{reason}") as caught:
        datasets.fetch("tiny")
    assert "Or put tiny into tiny/ below a folder of yours" in str(caught.value)
    del caught
    gc.collect()
    assert os.listdir(tmp_path / "cache" / "perceptrons-data" / "tiny") == []


def test_an_archive_that_ends_early_is_refused(home, monkeypatch):
    address, folder, _ = home
    whole = tar_of(folder / "whole", {"a/1": os.urandom(5000)}).read_bytes()
    (folder / "tiny.tar.xz").write_bytes(whole[: len(whole) // 2])
    register(monkeypatch, Part("tiny", f"{address}/tiny.tar.xz", SHA, ("tiny.tar.xz",), members=r"(a/\d)"))
    with pytest.raises(datasets.FetchError, match=rf"tiny: {address}/tiny\.tar\.xz is damaged"):
        datasets.fetch("tiny")


def test_an_archive_is_known_however_it_is_packed(home, monkeypatch):
    address, folder, _ = home
    files = {"a/2": b"two", "a/1": b"one"}
    tar_of(folder / "tiny.tar.gz", {**files, "readme": b"not read"}, "w:gz")
    part = Part("tiny", f"{address}/tiny.tar.gz", listing(files), ("tiny.tar.gz",), members=r"(a/\d)")
    register(monkeypatch, part)
    assert list(archives.members(datasets.fetch("tiny")["tiny"], r"(a/\d)")) == list(files.items())


def test_the_named_folder_comes_first(monkeypatch, tmp_path):
    part = Part("tiny", "http://127.0.0.1:9/tiny", SHA, ("tiny.gz", "tiny"))
    register(monkeypatch, part)
    for root in ("cache/perceptrons-data", "named"):
        (tmp_path / root / "tiny").mkdir(parents=True)
        (tmp_path / root / "tiny" / "tiny").write_bytes(TINY)
    assert datasets.fetch("tiny")["tiny"] == tmp_path / "cache" / "perceptrons-data" / "tiny" / "tiny"
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path / "named"))
    assert datasets.fetch("tiny")["tiny"] == tmp_path / "named" / "tiny" / "tiny"
    assert datasets.fetch("tiny", verify=True)


def test_without_pooch_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        ImportError, match=r"pip install 'perceptrons\[data\]'\. Or put adult\.data into adult/"
    ):
        datasets.load_adult()


def test_an_unknown_set():
    with pytest.raises(ValueError, match="no data set 'minst'; there are 20newsgroups, a9a, adult"):
        datasets.fetch("minst")
    with pytest.raises(ValueError, match=r"load_libsvm reads a9a, .*; got name='mnist'"):
        datasets.load_libsvm("mnist")


def test_the_registry_is_well_formed():
    for name, source in registry.SOURCES.items():
        assert name == source.name and source.parts
        assert len({part.name for part in source.parts}) == len(source.parts)
        for part in source.parts:
            assert part.url.startswith("https://") and len(bytes.fromhex(part.sha256)) == 32
            assert part.files and all("/" not in file for file in part.files)
            if part.served is not None:
                kind, digest = part.served.split(":")
                assert len(digest) == 2 * hashlib.new(kind).digest_size


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    assert fetching.cache_folder() == tmp_path / "cache" / "perceptrons-data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert fetching.cache_folder() == tmp_path / "me" / ".cache" / "perceptrons-data"


# ---------------------------------------------------------------------------------------- archives


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_one_file_however_it_is_packed(tmp_path, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(TINY))
    assert archives.read_one(path, "file") == TINY
    with pytest.raises(ArchiveError, match="more than 5 bytes: refused"):
        archives.read_one(path, "file", ArchiveLimits(member_bytes=5))


def test_a_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    with pytest.raises(ArchiveError, match="more than 1,000 bytes"):
        archives.read_one(path, "bomb", ArchiveLimits(member_bytes=1000))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_named(tmp_path, pack):
    path = tmp_path / "file"
    whole = pack(os.urandom(1000))
    path.write_bytes(whole[:-20])
    with pytest.raises(ArchiveError, match=r"file is damaged.*delete it and fetch it again"):
        archives.read_one(path, "file")
    path.write_bytes(whole[:200] + bytes(100) + whole[300:])
    with pytest.raises(ArchiveError, match="file is damaged"):
        archives.read_one(path, "file")


def test_a_member_of_a_zip(tmp_path):
    path = tmp_path / "file.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme", "no")
        archive.writestr("file", TINY)
    assert archives.read_one(path, "file") == TINY
    with pytest.raises(ArchiveError, match="has no member 'other'"):
        archives.read_one(path, "other")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ArchiveError, match="damaged"):
        archives.read_one(path, "file")


def test_a_file_that_is_not_there_is_not_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        archives.read_one(tmp_path / "nothing", "nothing")
    with pytest.raises(FileNotFoundError):
        list(archives.members(tmp_path / "nothing", "(.*)"))


def test_members_stay_within_limits(tmp_path):
    path = tar_of(tmp_path / "a.tar.xz", {"a/1": bytes(100), "a/2": bytes(100), "b/3": bytes(100)})
    assert [name for name, _ in archives.members(path, r"a/(\d)")] == ["1", "2"]
    for limits in (ArchiveLimits(members=2), ArchiveLimits(total_bytes=250), ArchiveLimits(member_bytes=99)):
        with pytest.raises(ArchiveError, match="refused"):
            list(archives.members(path, r"a/(\d)", limits))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_a_device_is_refused(tmp_path, kind):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("a/1")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(ArchiveError, match="a/1 is not a plain file: refused"):
        list(archives.members(path, r"(a/\d)"))
    assert list(archives.members(path, r"(b/\d)")) == []  # nobody asked for it


def test_names_that_climb_are_only_names(tmp_path):
    path = tar_of(tmp_path / "in" / "a.tar", {"../evil": b"x", "/evil": b"x", "./a/1": b"one"}, "w")
    assert list(archives.members(path, r"(a/\d)")) == [("a/1", b"one")]
    assert sorted(os.listdir(tmp_path)) == ["in"]


# ----------------------------------------------------------------------------------------- loaders


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """A folder that PERCEPTRONS_DATA names."""
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path / "shelf"))
    return tmp_path / "shelf"


def put(shelf: Path, name: str, raw: bytes) -> None:
    (shelf / name).parent.mkdir(parents=True, exist_ok=True)
    (shelf / name).write_bytes(raw)


def test_adult(shelf):
    row = "39, State-gov, 77516, Bachelors, 13, Single, ?, Not-in-family, White, Male, 2174, 0, 40, Cuba, "
    put(shelf, "adult/adult.data.gz", gzip.compress(f"{row}<=50K\n{row}>50K\n\n".encode()))
    put(shelf, "adult/adult.test", f"|1x3 Cross validator\n{row}>50K.\n".encode())
    adult = datasets.load_adult()
    assert adult.X.shape == (2, 14) and adult.X_test.shape == (1, 14) and len(adult.feature_names) == 14
    assert adult.y.tolist() == [0, 1] and adult.y_test.tolist() == [1]
    assert adult.X[0, :4].tolist() == [39.0, "State-gov", 77516.0, "Bachelors"] and adult.X[0, 6] is None
    assert "2 / 1 rows, 2 classes" in repr(adult)
    put(shelf, "adult/adult.test", b"|1x3 Cross validator\n39, State-gov\n")
    with pytest.raises(ValueError, match=r"adult\.test, line 2: expected 14 values"):
        datasets.load_adult()


def test_sms(shelf):
    put(shelf, "sms_spam/SMSSpamCollection.gz", gzip.compress("ham\tHi \u00fc\tyou\nspam\tWIN\n".encode()))
    messages = datasets.load_sms()
    assert messages.X == ["Hi \u00fc\tyou", "WIN"] and messages.y.tolist() == [0, 1]
    assert messages.X_test is None and messages.target_names == ["ham", "spam"]
    put(shelf, "sms_spam/SMSSpamCollection.gz", gzip.compress(b"ham\tHi\neggs\tHi\n"))
    with pytest.raises(ValueError, match=r"line 2: expected ham or spam.*found 'eggs'"):
        datasets.load_sms()


def test_mnist(shelf):
    image = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(range(8)) * 196
    for part in ("train", "t10k"):
        put(shelf, f"mnist/{part}-images-idx3-ubyte.gz", gzip.compress(image))
        put(shelf, f"mnist/{part}-labels-idx1-ubyte.gz", gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 3])))
    digits = datasets.load_mnist()
    assert digits.X.shape == (2, 784) and digits.X.dtype == np.uint8 and digits.y.tolist() == [7, 3]
    assert len(digits.feature_names) == 784 and digits.X_test[0, :3].tolist() == [0, 1, 2]


def test_idx_files():
    raw = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])
    assert read_idx(raw, "bytes").tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(ValueError, match="bytes: expected an IDX file"):
        read_idx(bytes([0, 0, 13, 1]), "bytes")
    with pytest.raises(ValueError, match="expected an IDX file"):
        read_idx(bytes([0, 0, 8, 200]), "bytes")
    with pytest.raises(ValueError, match=r"expected \(2, 3\) bytes, found 5"):
        read_idx(raw[:-1], "bytes")
    huge = bytes([0, 0, 8, 4]) + b"\xff" * 16
    with pytest.raises(ValueError, match="found 0"):
        read_idx(huge, "bytes")


def test_covtype(shelf):
    rows = [",".join(["2596", "-6", *["0"] * 52, "5"]), ",".join(["2590", "56", *["1"] * 52, "2"])]
    put(shelf, "covtype/covtype.data.xz", lzma.compress("\n".join([*rows, ""]).encode()))
    cover = datasets.load_covtype()
    assert cover.X.shape == (2, 54) and cover.X.dtype == np.float32 and cover.y.tolist() == [5, 2]
    assert cover.X[0, :3].tolist() == [2596, -6, 0] and len(cover.feature_names) == 54
    put(shelf, "covtype/covtype.data.xz", lzma.compress(b"1,2,3\n"))
    with pytest.raises(ValueError, match="holds 3 numbers: expected 55 in each row"):
        datasets.load_covtype()


def test_newsgroups(shelf):
    files = {
        "20news-bydate-train/sci.space/10": b"ten",
        "20news-bydate-train/sci.space/9": b"nine \xe9",
        "20news-bydate-train/alt.atheism/3": b"three",
        "20news-bydate-test/sci.space/11": b"eleven",
    }
    tar_of(shelf / "20newsgroups" / "20news-bydate.tar.xz", files)
    news = datasets.load_20newsgroups()
    assert news.target_names == ["alt.atheism", "sci.space"]
    assert news.X == ["three", "nine \u00e9", "ten"] and news.y.tolist() == [0, 1, 1]
    assert news.X_test == ["eleven"] and news.y_test.tolist() == [1]


def test_imdb(shelf):
    files = {
        "aclImdb/train/pos/10_9.txt": b"good \xc3\xa9",
        "aclImdb/train/neg/2_1.txt": b"bad",
        "aclImdb/train/unsup/1_0.txt": b"whatever",
        "aclImdb/test/pos/1_8.txt": b"fine",
    }
    tar_of(shelf / "imdb" / "aclImdb-labelled.tar.xz", files)
    films = datasets.load_imdb()
    assert films.X == ["bad", "good \u00e9"] and films.y.tolist() == [0, 1]
    assert films.X_test == ["fine"] and films.y_test.tolist() == [1]


def test_enron(shelf):
    files = {
        "enron1/ham/0002.2001-05-01.farmer.ham.txt": b"Subject: two",
        "enron1/spam/0001.2004-01-01.GP.spam.txt": b"Subject: one",
        "enron4/spam/3111.2003-01-01.GP.spam.txt": b"Subject: three",
        "enron4/Summary.txt": b"no mail",
    }
    tar_of(shelf / "enron_spam" / "enron_spam.tar.xz", files)
    mails = datasets.load_enron()
    assert mails.X == ["Subject: one", "Subject: two", "Subject: three"] and mails.y.tolist() == [1, 0, 1]
    assert mails.mailboxes.tolist() == [1, 1, 4] and str(mails.dates[0]) == "2004-01-01"
    by_date = datasets.load_enron(order="date")
    assert by_date.X == ["Subject: two", "Subject: three", "Subject: one"]
    assert (np.diff(by_date.dates).astype(int) >= 0).all() and "from 2001-05-01 to 2004-01-01" in repr(mails)
    with pytest.raises(ValueError, match="order must be one of 'number', 'date'"):
        datasets.load_enron(order="size")
    tar_of(shelf / "enron_spam" / "enron_spam.tar.xz", {"enron1/ham/letter.txt": b"?"})
    with pytest.raises(ArchiveError, match="does not begin with a number and a date"):
        datasets.load_enron()


SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">
<TOPICS><D>grain</D><D>corn</D></TOPICS><PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>CORN &lt;UP></TITLE><DATELINE> X, Feb 26 - </DATELINE><BODY>Corn is up.
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="2"><TOPICS></TOPICS><TEXT TYPE="UNPROC">&#2;
plain &amp; simple&#3;</TEXT></REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" NEWID="3"><TOPICS></TOPICS><TEXT><TITLE>OUT</TITLE></TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="NOT-USED" NEWID="4"><TEXT><TITLE>OUT</TITLE></TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="5"><TOPICS><D>corn</D></TOPICS>
<TEXT TYPE="BRIEF"><TITLE>BRIEF</TITLE></TEXT></REUTERS>
"""


def test_reuters(shelf):
    tar_of(
        shelf / "reuters21578" / "reuters21578.tar.xz", {"reuters21578/reut2-000.sgm": SGML.encode("latin-1")}
    )
    news = datasets.load_reuters()
    assert news.X == ["CORN <UP>\nCorn is up."] and news.X_test == ["plain & simple", "BRIEF"]
    assert news.target_names == ["corn", "grain"]
    assert news.y.tolist() == [[True, True]] and news.y_test.tolist() == [[False, False], [True, False]]


def test_a_story_needs_a_number():
    with pytest.raises(ValueError, match="has no number"):
        list(stories('<REUTERS TOPICS="YES"><TEXT>x</TEXT></REUTERS>'))
    assert list(stories("<REUTERS " * 1000)) == []  # nothing closes: nothing is found, and soon


def test_libsvm(shelf, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")  # the compiled reader is kept where it always is
    put(shelf, "libsvm/a9a", b"+1 1:1 2:0.5\n-1 3:1\n")
    put(shelf, "libsvm/a9a.t.gz", gzip.compress(b"-1 5:1\n"))
    rows = datasets.load_libsvm("a9a")
    assert rows.X.toarray().tolist() == [[1, 0.5, 0, 0, 0], [0, 0, 1, 0, 0]] and rows.X_test.shape == (1, 5)
    assert rows.y.tolist() == [1, -1] and rows.y_test.tolist() == [-1] and rows.target_names == ["-1", "1"]


# ----------------------------------------------------------------------------------- the real ones

COUNTS = {
    "mnist": (datasets.load_mnist, 60_000, 10_000),
    "adult": (datasets.load_adult, 32_561, 16_281),
    "sms_spam": (datasets.load_sms, 5_574, None),
    "reuters21578": (datasets.load_reuters, 9_603, 3_299),
    "20newsgroups": (datasets.load_20newsgroups, 11_314, 7_532),
    "imdb": (datasets.load_imdb, 25_000, 25_000),
    "covtype": (datasets.load_covtype, 581_012, None),
}


def real(name: str) -> None:
    if datasets.find(name) is None:
        pytest.skip(f"{name} is not in the folder PERCEPTRONS_DATA names")


def classes_of_reuters(news):
    both = news.y.any(axis=0) & news.y_test.any(axis=0)
    assert both.sum() == 90
    assert [y[:, both].any(axis=1).sum() for y in (news.y, news.y_test)] == [7_770, 3_019]
    assert news.y[:, news.target_names.index("earn")].sum() == 2_877


def classes_of_adult(adult):
    assert np.bincount(adult.y).tolist() == [24_720, 7_841]
    assert sum(None in row for row in adult.X.tolist()) == 2_399


CLASSES = {"reuters21578": classes_of_reuters, "adult": classes_of_adult}


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_published_counts(name):
    real(name)
    load, rows, test_rows = COUNTS[name]
    loaded = load()
    assert len(loaded.X) == len(loaded.y) == rows
    assert test_rows is None or len(loaded.X_test) == len(loaded.y_test) == test_rows
    if name in CLASSES:
        CLASSES[name](loaded)


@pytest.mark.data
@pytest.mark.slow
def test_published_counts_of_enron():
    real("enron_spam")
    mails = datasets.load_enron()
    assert np.bincount(mails.y)[0] == 16_545 and np.bincount(mails.y)[1] in (17_170, 17_171)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", datasets.available())
def test_the_real_files_have_the_digests(name):
    real(name)
    datasets.fetch(name, verify=True)


# ------------------------------------------------------------------------------------ hostile archives


def tar_header(name: bytes, size: int, kind: bytes = b"0", size_field: bytes | None = None) -> bytes:
    """One block of a tar, its sum right, whatever it says."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124:136] = b"%011o\0" % size if size_field is None else size_field
    block[148:156], block[156:157], block[257:263] = b" " * 8, kind, b"ustar\0"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


class Counting:
    """Counts the bytes that are read, of zeros without end behind a head."""

    def __init__(self, head: bytes):
        self.head, self.given = head, 0

    def __call__(self, n: int) -> bytes:
        data = (self.head + bytes(n))[:n]
        self.head = self.head[n:]
        self.given += n
        return data


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
def test_a_header_of_gigabytes_is_refused_before_it_is_read(tmp_path, kind):
    read = Counting(tar_header(b"head", 6 << 30, kind))
    with pytest.raises(TarError, match=r"a header of 6,442,450,944 bytes, more than 65,536"):
        list(Tar(read))
    assert read.given == 512
    path = tmp_path / "a.tar"
    path.write_bytes(tar_header(b"head", 100_000, kind) + bytes(200_000))
    with pytest.raises(ArchiveError, match=r"a\.tar is damaged \(a header of 100,000 bytes.*fetch it again"):
        list(archives.members(path, "(.*)"))


def test_headers_without_end_are_refused():
    one = tar_header(b"head", 10, b"x") + b"10 path=a\n".ljust(512, b"\0")
    with pytest.raises(TarError):
        list(Tar(io.BytesIO(one * 100).read))


@pytest.mark.parametrize(
    "block",
    [
        tar_header(b"a", 0)[:-1],
        tar_header(b"a", 0)[:200],
        b"x" * 512,
        tar_header(b"a", 0, size_field=b"\xff" * 12),
        tar_header(b"a", 0, size_field=b"\x80" + b"\x7f" * 11),
        tar_header(b"a", 0, size_field=b"99999999999\0"),
        tar_header(b"a", 5000) + b"short",
        tar_header(b"h", 20, b"x") + b"99 path=a\n".ljust(512, b"\0") + tar_header(b"a", 0),
        tar_header(b"h", 20, b"x") + b"0 path=a\n".ljust(512, b"\0") + tar_header(b"a", 0),
        tar_header(b"h", 20, b"x") + b"11 size=-1\n".ljust(512, b"\0") + tar_header(b"a", 0),
        tar_header(b"h", 20, b"L") + bytes(512),
    ],
)
def test_what_is_no_tar_is_named(tmp_path, block):
    path = tmp_path / "a.tar"
    path.write_bytes(block)
    with pytest.raises(
        ArchiveError, match=r"a\.tar is damaged \(.+\): delete it and fetch it again"
    ) as caught:
        list(archives.members(path, "(.*)"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tars_of_every_format_are_read(tmp_path, format_):
    names = ["a/1", "a/" + "long" * 30 + "/2", "a/é", "folder/" * 15 + "3"]
    if format_ == tarfile.USTAR_FORMAT:
        names[1] = "long" * 20 + "/" + "name" * 15
    with tarfile.open(tmp_path / "a.tar", "w", format=format_) as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()[: len(name)]))
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    found = list(archives.members(tmp_path / "a.tar", "(.*)"))
    assert [name for name, _ in found] == names
    assert [raw for _, raw in found] == [name.encode()[: len(name)] for name in names]


def test_a_download_has_a_limit(home, monkeypatch, tmp_path):
    address, folder, _ = home
    (folder / "tiny").write_bytes(bytes(3 << 20))
    register(monkeypatch, Part("tiny", f"{address}/tiny", SHA, ("tiny",), most_bytes=1 << 20))
    for verify in (None, False):
        with pytest.raises(datasets.FetchError, match=rf"{address}/tiny sends more than the 1,048,576 bytes"):
            datasets.fetch("tiny", verify=verify)
    gc.collect()
    assert os.listdir(tmp_path / "cache" / "perceptrons-data" / "tiny") == []  # nothing is left behind


def test_every_part_of_the_registry_has_a_limit():
    for source in registry.SOURCES.values():
        for part in source.parts:
            assert 2**20 <= part.most_bytes <= 2**27


def test_a_compressed_file_is_read_in_pieces(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(os.urandom(1000) * 3000))
    assert max(len(piece) for piece in archives.pieces(path, "file")) <= 1 << 20
