"""The public data sets: where they are published, what they are called on disk, and their digests.

A digest is of the content, not of the packing, so that a copy that was packed otherwise is accepted, too: the
SHA-256 of the uncompressed file, or, for an archive of many files, of the listing that ``sha256sum``
would print of those we read, sorted by name. Where the publisher's file has a widely known digest of its own
it is stored too (``served``), and either is accepted.

The contents of Adult, the SMS collection, a9a, w8a, ijcnn1, mushrooms and letter were compared with digests
that others have published. Those of splice, phishing, sector and Enron-Spam are of copies that have the
published counts of rows.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Part", "PublicSource", "SOURCES"]


class Part(NamedTuple):
    """One file of a set."""

    name: str  #: what it is called here, and in a zip
    url: str  #: where it is published
    sha256: str  #: of the content
    files: tuple[str, ...]  #: names on disk: the first is given to a download, the others are taken too
    members: str | None = None  #: an archive: the members we read, with the name in group 1
    served: str | None = None  #: digest of the file as published, "md5:..." or "sha256:..."
    most_bytes: int = 16 * 2**20  #: of a download: the size of the file, and room for another version of it


class PublicSource(NamedTuple):
    """One set."""

    name: str
    folder: str  #: below PERCEPTRONS_DATA, or below the cache
    parts: tuple[Part, ...]
    rows: str  #: rows, train / test
    about: str  #: one sentence
    terms: str  #: of use, as far as they are stated


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
FIGSHARE = "https://ndownloader.figshare.com/files"
MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist"
ENRON = "https://www2.aueb.gr/users/ion/data/enron-spam/preprocessed"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"

CC_BY = "CC BY 4.0 (UCI)"
UNSTATED = "not stated"


def _mnist(name: str, sha256: str, md5: str) -> Part:
    return Part(name, f"{MNIST}/{name}.gz", sha256, (f"{name}.gz", name), served=f"md5:{md5}")


def _adult(name: str, sha256: str) -> Part:
    return Part(name, f"{UCI}/adult/{name}", sha256, (name, f"{name}.gz"))


def _enron(number: int, sha256: str, but: str = "") -> Part:
    """One mailbox; `but` is a message that the digest leaves out, because the copy we measured lacks it."""
    less = f"(?!spam/{but}\\.)" if but else ""
    name = f"enron{number}"
    return Part(
        name,
        f"{ENRON}/{name}.tar.gz",
        sha256,
        (f"{name}.tar.gz", "enron_spam.tar.xz"),
        members=rf"({name}/{less}(?:ham|spam)/[^/]+\.txt)",
    )


def _libsvm(path: str, sha256: str) -> Part:
    """A file of the LIBSVM page; compressed there or not, it is taken plain, gz, bz2 or xz."""
    served = path.rsplit("/", 1)[-1]
    name = served.removesuffix(".bz2")
    others = tuple(f for f in (name, *(f"{name}.{end}" for end in ("gz", "bz2", "xz"))) if f != served)
    return Part(name, f"{LIBSVM}/{path}", sha256, (served, *others))


def _libsvm_set(name: str, rows: str, about: str, terms: str, *parts: Part) -> PublicSource:
    return PublicSource(name, "libsvm", parts, rows, about, terms)


_ALL = [
    PublicSource(
        "mnist",
        "mnist",
        (
            _mnist(
                "train-images-idx3-ubyte",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            ),
            _mnist(
                "train-labels-idx1-ubyte",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "d53e105ee54ea40749a09fcbcd1e9432",
            ),
            _mnist(
                "t10k-images-idx3-ubyte",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "9fb629c4189551a2d022fa330f9573f3",
            ),
            _mnist(
                "t10k-labels-idx1-ubyte",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                "ec29112dd5afa0611ce80d1b7f02629c",
            ),
        ),
        "60,000 / 10,000",
        "Handwritten digits, 28 x 28 grey pixels (LeCun et al., 1998).",
        UNSTATED,
    ),
    PublicSource(
        "adult",
        "adult",
        (
            _adult("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            _adult("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ),
        "32,561 / 16,281",
        "Census of 1994: does a person earn more than 50,000 dollars a year (Kohavi, 1996)?",
        CC_BY,
    ),
    PublicSource(
        "sms_spam",
        "sms_spam",
        (
            Part(
                "SMSSpamCollection",
                f"{UCI}/00228/smsspamcollection.zip",
                "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
                ("smsspamcollection.zip", "SMSSpamCollection.gz", "SMSSpamCollection"),
                served="sha256:1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
            ),
        ),
        "5,574",
        "Text messages, spam and ham (Almeida et al., 2011).",
        CC_BY,
    ),
    PublicSource(
        "enron_spam",
        "enron_spam",
        (
            _enron(1, "1b47699b39fdc47cbb7485a5d2d9af349cb78cdf056b0d04e3750b82a6f4201f"),
            _enron(2, "8267466b4feaa4d52106e61e27b5b0770560cb13e3798e5f19afb4c3ae4d8a37"),
            _enron(3, "db35d425fca69241e1b99b39c97a141bd840c3d03965fbf746ddd19c691dd0a3"),
            _enron(4, "d199cb7e9a056b515ade94521a355b73d8c57d3fbb7c64388c29225787889d61", but="3111"),
            _enron(5, "1c851bef4552a838b8802d821c6f197ad07b85dd8fdbb90e975dfcfa62fa8dc9"),
            _enron(6, "558cca4fa277af00836c3183155cff4eb8426776e2c0ca4695e1091f95f547e6"),
        ),
        "33,716",
        "Six mailboxes of Enron with the spam of others mixed in (Metsis et al., 2006).",
        UNSTATED,
    ),
    PublicSource(
        "reuters21578",
        "reuters21578",
        (
            Part(
                "reuters21578",
                f"{UCI}/reuters21578-mld/reuters21578.tar.gz",
                "1687aeabdf20da4cbca83b61dfc9a33cffa6c74b4a7866da96611a1a94b57c8d",
                ("reuters21578.tar.gz", "reuters21578.tar.xz"),
                members=r"(?:reuters21578/)?(reut2-\d{3}\.sgm)",
                served="sha256:3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
            ),
        ),
        "9,603 / 3,299 (ModApte)",
        "News of 1987 with their topics (Lewis, 1997).",
        "research only; copyright Reuters Ltd.",
    ),
    PublicSource(
        "20newsgroups",
        "20newsgroups",
        (
            Part(
                "20news-bydate",
                f"{FIGSHARE}/5975967",
                "f00af3d96eebb37594022b305a96307906926ae05f60ed30c7f53a6589a76115",
                ("20news-bydate.tar.gz", "20news-bydate.tar.xz"),
                members=r"(20news-bydate-(?:train|test)/[\w.\-]+/\d+)",
                most_bytes=32 * 2**20,
                served="sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            ),
        ),
        "11,314 / 7,532",
        "Posts to twenty newsgroups, split by date (Lang, 1995).",
        UNSTATED,
    ),
    PublicSource(
        "imdb",
        "imdb",
        (
            Part(
                "aclImdb",
                "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
                "b155ae18c4016500d64b7ea091f3f04c4ea9e702ab3bdb2b4aa0effbd4da11c6",
                ("aclImdb_v1.tar.gz", "aclImdb-labelled.tar.xz"),
                members=r"(aclImdb/(?:train|test)/(?:pos|neg)/\d+_\d+\.txt)",
                most_bytes=128 * 2**20,
                served="sha256:c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
            ),
        ),
        "25,000 / 25,000",
        "Film reviews, for and against (Maas et al., 2011).",
        UNSTATED,
    ),
    PublicSource(
        "covtype",
        "covtype",
        (
            Part(
                "covtype.data",
                f"{FIGSHARE}/5976039",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                ("covtype.data.gz", "covtype.data.xz", "covtype.data"),
                most_bytes=128 * 2**20,
                served="sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            ),
        ),
        "581,012",
        "Forest cover from maps: 54 numbers, 7 kinds of wood (Blackard, 1998).",
        CC_BY,
    ),
    _libsvm_set(
        "a9a",
        "32,561 / 16,281",
        "Adult, in 123 binary columns (Platt, 1998).",
        CC_BY,
        _libsvm("binary/a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
        _libsvm("binary/a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),
    ),
    _libsvm_set(
        "w8a",
        "49,749 / 14,951",
        "Web pages by 300 words (Platt, 1998).",
        UNSTATED,
        _libsvm("binary/w8a", "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2"),
        _libsvm("binary/w8a.t", "618929ecb01bebb841daec4cae4aa07b97832d29b08652452775598929547fde"),
    ),
    _libsvm_set(
        "ijcnn1",
        "49,990 / 91,701",
        "The challenge of IJCNN 2001 (Prokhorov).",
        UNSTATED,
        _libsvm("binary/ijcnn1.bz2", "16506cad788cf7c9607454150ed1994788204bac2ff4c9cb3b320036b6950d3f"),
        _libsvm("binary/ijcnn1.t.bz2", "e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8"),
    ),
    _libsvm_set(
        "splice",
        "1,000 / 2,175",
        "Splice junctions in the DNA of primates (Delve).",
        UNSTATED,
        _libsvm("binary/splice", "eee33566cfe8988ec26122460cc712d66c5c5b79b966b259408e803addaa584d"),
        _libsvm("binary/splice.t", "f40da7cfd17860f3f1a1bb7d118f8e86c306d232ca6ac6ddefbaaef266abaa03"),
    ),
    _libsvm_set(
        "mushrooms",
        "8,124",
        "Mushrooms, edible or poisonous, in 112 binary columns (UCI).",
        CC_BY,
        _libsvm("binary/mushrooms", "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538"),
    ),
    _libsvm_set(
        "phishing",
        "11,055",
        "Web sites that pretend to be others, 68 columns (UCI).",
        CC_BY,
        _libsvm("binary/phishing", "0cf66ef36604c393da9359b2e5d894a2df8aee31fd184633cefa138add2ef08a"),
    ),
    _libsvm_set(
        "sector",
        "6,412 / 3,207",
        "Web pages of firms by 55,197 words, 105 sectors of industry (McCallum and Nigam, 1998).",
        UNSTATED,
        _libsvm(
            "multiclass/sector/sector.scale.bz2",
            "92d5752b798bb88466b7142b07fc370eea99b19366b84e82e430fb74ada4293f",
        ),
        _libsvm(
            "multiclass/sector/sector.t.scale.bz2",
            "be2e76ff48816c832823ab593e70970c599acb16ae311578b7308c6a8496db1b",
        ),
    ),
    _libsvm_set(
        "letter",
        "15,000 / 5,000",
        "Letters in many fonts by 16 numbers (Statlog).",
        CC_BY,
        _libsvm(
            "multiclass/letter.scale", "ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020"
        ),
        _libsvm(
            "multiclass/letter.scale.t", "07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da"
        ),
    ),
]

SOURCES = {source.name: source for source in _ALL}
"""Every public set by its name."""
