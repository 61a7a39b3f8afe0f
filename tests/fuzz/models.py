"""Forged model files: change what a file says, give it the right digest, load it, and call everything.

    python tests/fuzz/models.py --seconds 600 --seed 1
    python tests/fuzz/models.py --seed 1 --case 1234      # one case again, with its traceback

A case takes a stored sample, or a model that is fitted here, and changes its table and arrays in ways that
know their structure: numbers become huge or negative, arrays get another length or type, references are
exchanged, attributes are added, removed, or taken from another model. ``load`` refuses the file, or every
public method is called. Allowed are ModelError, and ordinary exceptions of the methods. Failures are an index
out of bounds in a compiled loop, a crash, a hang and a lack of memory.

Cases run in a process of their own, under NUMBA_BOUNDSCHECK (proved to work before the first case) and a
limit of memory; a case that kills it is counted, and the next one runs in a new process.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
TESTS = HERE.parents[1]
SAMPLES = TESTS / "data" / "models"
MEMORY = 8 << 30  # bytes of address space; what numba, LLVM and their threads map is within
CPU = 120  # seconds of processor time that a case may take, compilation included
USES = 16  # calls of methods of a model that was loaded
SELDOM = (
    "fit ",
    "certify",
    "margins",
    "export_onnx",
    "fit_stream",
    "score ",
)  #: at most two of these: slow ones
FAILURES = ("crash", "hang", "out of bounds", "memory")


# ---------------------------------------------------------------- the process that starts others


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=None, help="stop after so many")
    parser.add_argument("--case", type=int, default=None, help="run this one alone, and show what it does")
    parser.add_argument("--samples-only", action="store_true", help="fit no models: quick to start")
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.worker is not None:
        return Worker(given).run(given.worker)
    if given.case is not None:
        given.cases = given.case + 1
    return Fuzzer(given).run()


class Fuzzer:
    """Starts workers until the time or the cases are over, and counts how their cases ended."""

    def __init__(self, given: argparse.Namespace):
        self.given = given
        self.counts: Counter[str] = Counter()
        self.raw: Counter[str] = Counter()  #: exceptions that are neither of the library nor of nonsense
        self.failures: list[str] = []

    def run(self) -> int:
        until = time.time() + self.given.seconds
        first = self.given.case or 0
        while (self.given.cases is None or first < self.given.cases) and (
            time.time() < until or self.given.case is not None
        ):
            first = self._work(first, until)
        total = sum(self.counts[kind] for kind in ("refused", "loaded", *FAILURES))
        for what, n in self.raw.most_common(20):
            print(f"models: raw exception, {n} times: {what}")
        for line in self.failures[:50]:
            print(line)
        numbers = ", ".join(f"{self.counts[kind]} {kind}" for kind in ("refused", "loaded", "raw exceptions"))
        plural = {"crash": "crashes", "hang": "hangs", "memory": "out of memory"}
        bad = ", ".join(f"{self.counts[kind]} {plural.get(kind, kind)}" for kind in FAILURES)
        print(f"models: {total} cases, {bad}, {numbers}, seed {self.given.seed}")
        return 1 if self.failures or not total else 0

    def _work(self, first: int, until: float) -> int:
        """Run cases from ``first`` on in one process; answers the number of the next case."""
        options = ["--seed", str(self.given.seed), "--worker", str(first), "--until", str(until)]
        for name in ("cases", "case"):
            if getattr(self.given, name) is not None:
                options += [f"--{name}", str(getattr(self.given, name))]
        options += ["--samples-only"] if self.given.samples_only else []
        path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "NUMBA_BOUNDSCHECK": "1", "OMP_NUM_THREADS": "1"}
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "fuzz.models", *options],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=None if self.given.case is not None else errors,
                text=True,
            ) as worker,
        ):
            at, what, last = first, "its start", None
            for line in worker.stdout or ():
                kind, _, rest = line.rstrip("\n").partition("\t")
                if kind == "case":
                    at, _, what = rest.partition("\t")
                    at = int(at)
                elif kind == "end":
                    last = int(rest)
                elif kind == "note":
                    print(rest)
                else:
                    self.counts[kind] += 1
                    if kind == "raw exceptions":
                        self.raw[rest] += 1
                    if kind in FAILURES:
                        self._failed(at, kind, f"{what}: {rest}")
            worker.wait()
            errors.seek(0, os.SEEK_END)
            errors.seek(max(0, errors.tell() - 2000))
            said = " | ".join(errors.read().split("\n")[-12:])
        if last is not None:
            return last
        if what == "its start":
            raise SystemExit(f"models: the worker could not start, exit status {worker.returncode}: {said}")
        kind = "hang" if worker.returncode == -signal.SIGXCPU else "crash"
        self.counts[kind] += 1
        self._failed(at, kind, f"{what}: exit status {worker.returncode}: {said}")
        return at + 1

    def _failed(self, case: int, kind: str, what: str) -> None:
        self.failures.append(
            f"models: {kind} in case {case} (--seed {self.given.seed} --case {case}): {what}"
        )


# ---------------------------------------------------------------- the process that runs cases


class Worker:
    """Runs cases one after another, and says on standard output what it is about to do."""

    def __init__(self, given: argparse.Namespace):
        self.given = given
        self.out = os.fdopen(os.dup(1), "w", buffering=1)
        if given.case is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # verbose models
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.simplefilter("ignore")
        import boundscheck

        boundscheck.prove()
        self.folder = tempfile.TemporaryDirectory()
        self.bases = Bases(samples_only=given.samples_only)

    def say(self, kind: str, *rest: Any) -> None:
        text = "\t".join(" ".join(str(x).split()) for x in rest)
        self.out.write(f"{kind}\t{text[:400]}\n")

    def run(self, first: int) -> int:
        case = first
        while (self.given.cases is None or case < self.given.cases) and (
            time.time() < float(self.given.until) or self.given.case is not None
        ):
            _limit_cpu()
            self._case(case)
            case += 1
        self.say("end", case)
        return 0

    def _case(self, number: int) -> None:
        rng = random.Random(f"{self.given.seed}:{number}")
        path = Path(self.folder.name) / "forged.model"
        name, forged = self.bases.draw(rng)
        changes = forged.change(rng, self.bases)
        self.say("case", number, f"{name}: {'; '.join(changes)}")
        path.write_bytes(forged.sealed())
        from perceptrons.models import ModelError, load

        try:
            model = load(path)
        except ModelError as error:
            self.say("refused", error if self.given.case is not None else "")
            return
        except MemoryError as error:
            self.say("memory", "load", error)
            return
        except Exception as error:
            self.say("crash", f"load raised {type(error).__name__}: {error}")
            return
        self.say("loaded", "")
        _use(self, rng, name, model, Path(self.folder.name))

    def attempt(self, what: str, call: Callable[[], Any]) -> None:
        """One call; what it raises is counted."""
        import numpy as np

        if self.given.case is not None:
            self.say("note", f"  {what}")
        try:
            with np.errstate(all="ignore"):
                call()
        except MemoryError as error:
            self._shown()
            self.say("memory", what, error)
        except IndexError as error:
            self._shown()
            compiled = str(error) == "index is out of bounds"  # numpy's messages name the index
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"IndexError at {Path(where.filename).name}:{where.lineno}"
            self.say("out of bounds" if compiled else "raw exceptions", f"{what}, {place}")
        except (ValueError, TypeError, AttributeError, NotImplementedError, RuntimeError, ImportError):
            self._shown()  # of the library, or of nonsense where sense is expected
        except Exception as error:
            self._shown()
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.say(
                "raw exceptions", f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
            )

    def _shown(self) -> None:
        if self.given.case is not None:
            self.say("note", "    " + traceback.format_exc(limit=-1).strip().replace("\n", " | "))


def _limit_cpu() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + CPU
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


# ---------------------------------------------------------------- what files say


class Forged:
    """The table and the arrays of a file, to be changed."""

    def __init__(self, version: int, table: dict[str, Any], arrays: dict[str, Any]):
        self.version, self.table, self.arrays = version, table, arrays

    def copy(self) -> Forged:
        return Forged(self.version, copy.deepcopy(self.table), dict(self.arrays))

    @property
    def nodes(self) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = self.table["nodes"]
        return nodes

    def sealed(self) -> bytes:
        """The bytes of the file, with the digest that goes with them."""
        from perceptrons.models import container

        contents = container.Contents(json.dumps(self.table), self.arrays)
        return b"".join(bytes(piece) for piece in container.pieces(contents, self.version))

    def values(self) -> list[tuple[Any, Any]]:
        """Every place where the table has a value: (holder, key)."""
        found: list[tuple[Any, Any]] = []
        for node in self.nodes:
            found += positions(node)
        return found

    def change(self, rng: random.Random, bases: Bases) -> list[str]:
        made = []
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            change = rng.choices(CHANGES, weights=WEIGHTS)[0]
            with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError, OverflowError):
                made.append(change(self, rng, bases))  # unless nothing is left that could be changed so
        return made or ["nothing"]


def positions(node: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The places of a node where values stand: (holder, key)."""
    kind = node.get("k")
    if kind in ("list", "tuple", "table", "tuples", "csr") and isinstance(node.get("v"), list):
        return [(node["v"], i) for i in range(len(node["v"]))]
    if kind == "dict":
        return [(node, "keys"), (node, "values")]
    if kind in ("scalar", "objects", "generator"):
        return [(node, "v")]
    if kind in ("record", "kernel", "object", "estimator"):
        holders = [node.get("v"), node.get("params")]
        return [(holder, key) for holder in holders if isinstance(holder, dict) for key in holder]
    return []


def is_reference(x: Any) -> bool:
    return type(x) is list and len(x) == 1 and type(x[0]) is int


class Bases:
    """The models that are forged: stored samples, every estimator unfitted, and models fitted here."""

    def __init__(self, samples_only: bool):
        self._made: dict[str, Forged] = {}
        self._makers: dict[str, Callable[[], Any]] = {}
        for path in sorted(SAMPLES.glob("format*/*.model")):
            self._makers[f"{path.parent.name}/{path.stem}"] = lambda path=path: path
        import zoo
        from sklearn.base import BaseEstimator

        import perceptrons as pc

        for name in pc.__all__:
            found = getattr(pc, name)
            if isinstance(found, type) and issubclass(found, BaseEstimator):
                self._makers[f"unfitted/{name}"] = found
        if not samples_only:
            for name in zoo.NAMES:
                self._makers[f"fitted/{name}"] = lambda name=name: zoo.fitted(name, zoo.y3)
            self._makers |= _more_models()
        self.names = list(self._makers)

    def get(self, name: str) -> Forged:
        from perceptrons.models import container, save

        if name not in self._made:
            model = self._makers[name]()
            with tempfile.TemporaryDirectory() as folder:
                path = model
                if not isinstance(model, Path):
                    path = Path(folder) / "a"
                    save(model, path)
                contents = container.read(path)
            self._made[name] = Forged(contents.version, json.loads(contents.text), contents.arrays)
        return self._made[name]

    def draw(self, rng: random.Random) -> tuple[str, Forged]:
        name = rng.choice(self.names)
        return name, self.get(name).copy()


def _more_models() -> dict[str, Callable[[], Any]]:
    """Models with what the samples lack: float32, logs, growth on the way, policies, kernels of kernels."""
    import numpy as np
    import scipy.sparse as sp
    import zoo
    from plain_texts import PLAIN

    import perceptrons as pc
    from perceptrons import kernels, rules

    X, X32 = zoo.X, zoo.X.astype(np.float32)
    texts = [" ".join(f"word{j}" for j in np.flatnonzero(row)) for row in X]

    def grown() -> Any:
        model = pc.AveragedPerceptron()
        for i, row in enumerate(X):
            model.learn_one({f"f{i}": 1.0, **{f"g{j}": v for j, v in enumerate(row)}}, "abc"[i % 3])
        return model

    def budget(policy: str) -> Any:
        return pc.BudgetKernelPerceptron(budget=3, policy=policy, shuffle=False, log_updates=True).fit(
            X, zoo.y
        )

    return {
        "fitted/mixed": lambda: pc.ParameterMixing(pc.AveragedPerceptron(), n_shards=3).fit(X, zoo.y3),
        "fitted/float32": lambda: pc.AveragedPerceptron(shuffle=False, log_updates=True).fit(X32, zoo.y3),
        "fitted/random": lambda: pc.Perceptron(shuffle=False, readout="random").fit(sp.csr_array(X), zoo.y),
        "fitted/one class": lambda: pc.Perceptron().partial_fit(X, np.ones(len(X), int)),
        "fitted/grown": grown,
        "fitted/exact": lambda: pc.PassiveAggressive(shuffle=False, solver="exact").fit(X, zoo.y3),
        "fitted/diagonal": lambda: pc.AROW(shuffle=False, covariance="diagonal").fit(X32, zoo.y3),
        "fitted/text": lambda: pc.TextClassifier(
            **PLAIN, bits=6, keep_names=True, readout="vote"
        ).fit(texts, zoo.y3),
        "fitted/text arow": lambda: pc.TextClassifier(
            bits=8, rule=rules.AROW(), readout="last"
        ).fit(texts, zoo.y),
        "fitted/projectron": lambda: budget("projectron"),
        "fitted/forgetron": lambda: budget("forgetron"),
        "fitted/oldest": lambda: budget("oldest"),
        "fitted/kernel joint": lambda: pc.KernelClassifier(
            kernel="polynomial", log_updates=True
        ).fit(X, zoo.y3),
        "fitted/kernel sum": lambda: pc.KernelPerceptron(
            kernel=kernels.Linear() + kernels.Normalized(kernels.Gaussian(0.5)), multiclass="ovr"
        ).fit(sp.csr_array(X), zoo.y3),
        "fitted/precomputed": lambda: pc.KernelPerceptron(kernel="precomputed").fit(X @ X.T, zoo.y),
        "fitted/spectrum": lambda: pc.KernelPerceptron(kernel=kernels.Spectrum(2)).fit(texts, zoo.y),
        "fitted/maximum margin": lambda: pc.MaxMargin().fit(X, zoo.y),
        "fitted/maximum margin of three": lambda: pc.MaxMargin(C=1.0).fit(sp.csr_array(X), zoo.y3),
    }  # fmt: skip


# ---------------------------------------------------------------- changes

INTEGERS = [
    *(0, 1, -1, 2, 3, 4, 5, 6, 15, 16, 17, 63, 64, 255, 10**6, 10**9, 2**31 - 1, 2**31, 2**32, 2**40),
    *(2**62, 2**63 - 1, 2**63, -2, -5, -(2**31), -(2**63), 10**30),
]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 7.0, 1e-320, 1e-9, 1e15, 1e300, -1e300, 2.0**53, 2.0**63]
WORDS = [
    *(
        "last",
        "average",
        "vote",
        "random",
        "unit",
        "auto",
        "cuda",
        "cpu",
        "ovr",
        "joint",
        "float32",
        "float64",
    ),
    *("inf", "nan", "balanced", "diagonal", "full", "all", "linear", "gaussian", "precomputed", "0", "a"),
]
ATTRIBUTES = [
    *(
        "_names",
        "_given_names",
        "_words",
        "classes_",
        "random_step_",
        "n_features_in_",
        "_space",
        "_fast_path",
    ),
    *("_writer", "_hashing", "_core", "note_", "row_numbers", "from_zero", "_room", "gamma_", "_draws"),
    *("_known", "kernel_", "feature_names_in_", "_open"),
]


def change_value(file: Forged, rng: random.Random, bases: Bases) -> str:
    """Another number, word, truth value or None in place of a value."""
    plain = [(h, k) for h, k in file.values() if not is_reference(h[k])]
    holder, key = rng.choice(plain)
    old = holder[key]
    if rng.random() < 0.7 and type(old) in (int, float, str, bool):
        near = [old - 1, old + 1, 2 * old, -old] if type(old) is int else []
        pool = {bool: [True, False], int: INTEGERS + near, float: FLOATS, str: WORDS}[type(old)]
        holder[key] = rng.choice(pool)
    else:
        holder[key] = rng.choice([None, True, False, *rng.choices(INTEGERS, k=3), 0.5, rng.choice(WORDS)])
    return f"{key} {old!r:.20} -> {holder[key]!r:.20}"


def change_reference(file: Forged, rng: random.Random, bases: Bases) -> str:
    """A reference to another node, or two references exchanged."""
    places = [(h, k) for h, k in file.values() if is_reference(h[k])]
    holder, key = rng.choice(places)
    if rng.random() < 0.5:
        other, name = rng.choice(places)
        holder[key], other[name] = other[name], holder[key]
        return f"{key} and {name} exchanged"
    holder[key] = [rng.randrange(len(file.nodes))]
    return f"{key} -> {holder[key]}"


def remove(file: Forged, rng: random.Random, bases: Bases) -> str:
    """An attribute, an entry of a list, or a field of a node less."""
    holder, key = rng.choice([(h, k) for h, k in file.values() if not (isinstance(h, dict) and "k" in h)])
    del holder[key]
    return f"{key} removed"


def change_node(file: Forged, rng: random.Random, bases: Bases) -> str:
    """Another kind, name, shape or flag of a node."""
    node = rng.choice(file.nodes)
    key = rng.choice(sorted(node))
    if key == "of":
        alike = [n["of"] for n in file.nodes if "of" in n and n["k"] == node["k"]]
        names = [*alike, "space.Linear", "space.Joint", "space.Budget", "rule.PA1", "rule.Perceptron"]
        if node["k"] == "estimator":
            names = [name.partition("/")[2] for name in bases.names if name.startswith("unfitted/")]
        node[key] = rng.choice(names)
    elif key == "shape":
        node[key] = [rng.choice(INTEGERS) for _ in range(rng.randrange(4))]
    elif key == "k":
        node[key] = rng.choice(
            ["list", "tuple", "dict", "array", "sparse", "scalar", "csr", "record", "object"]
        )
    elif key in ("order", "frozen", "matrix"):
        del node[key]
    else:
        node["order" if rng.random() < 0.5 else "frozen"] = rng.choice(["F", True])
    return f"{key} of a {node.get('k')} changed"


def change_array(file: Forged, rng: random.Random, bases: Bases) -> str:
    """Other values, another length, type or number of axes."""
    name = rng.choice(sorted(file.arrays))
    file.arrays[name], how = changed_array(file.arrays[name], rng)
    return f"array {name} {how}"


def changed_array(a: Any, rng: random.Random) -> tuple[Any, str]:
    import numpy as np

    kind = rng.choice(["value", "value", "values", "cut", "grow", "empty", "type", "axes", "order", "shift"])
    if kind in ("value", "values", "shift") and a.size:
        pool = INTEGERS if a.dtype.kind in "iu" else [*FLOATS, float("inf"), float("nan")]
        value = rng.choice(pool)
        a = a.copy()
        with np.errstate(all="ignore"):
            if a.dtype.kind in "iu":
                value = value % 2 ** (8 * a.dtype.itemsize)
                value = np.array([value], f"u{a.dtype.itemsize}").view(a.dtype)[0]
            if kind == "shift":
                a = (a + np.asarray(value).astype(a.dtype)).astype(a.dtype)
            elif kind == "values":
                a[...] = value
            else:
                a.reshape(-1)[rng.randrange(a.size)] = value
        return a, f"{kind} {value}"
    if kind == "cut" and a.ndim and len(a):
        axis = rng.randrange(a.ndim)
        return np.ascontiguousarray(a.take(range(rng.randrange(max(1, a.shape[axis]))), axis=axis)), kind
    if kind == "grow" and a.ndim:
        return np.concatenate([a] * rng.choice([2, 3, 100]), axis=rng.randrange(a.ndim)), kind
    if kind == "empty" and a.ndim:
        return a[:0], kind
    if kind == "type":
        new = rng.choice(["f4", "f8", "i4", "i8", "u4", "u8", "u1", "?", "i2"])
        with np.errstate(all="ignore"):
            return a.astype(new), new
    if kind == "order" and a.ndim:
        return np.ascontiguousarray(a[::-1]), kind
    return rng.choice([a[None], a[..., None], a.reshape(-1)]), "axes"


def make_sparse(file: Forged, rng: random.Random, bases: Bases) -> str:
    """An array stored by its unusual entries, of another size than it should have."""
    import numpy as np

    node = rng.choice([node for node in file.nodes if node.get("k") == "array" and "dtype" not in node])
    a = file.arrays[node["v"]]
    size = rng.choice([a.size, 1, 0, a.size + 1, 2 * a.size, 10**5, 2**24, 2**40])
    n = rng.randrange(3)
    at = np.sort(
        np.array([rng.randrange(max(1, size)) for _ in range(n)], rng.choice([np.uint32, np.uint64]))
    )
    file.arrays["at"], file.arrays["values"] = at, np.resize(a.reshape(-1) if a.size else np.ones(1), n + 1)
    node |= {"k": "sparse", "shape": [size], "at": "at", "v": "values"}
    file.version = 2
    return f"a sparse array of {size}"


def graft(file: Forged, rng: random.Random, bases: Bases) -> str:
    """An attribute of another model, in place of one here or besides those that are here."""
    name, donor = bases.draw(rng)
    by = len(donor.nodes)
    for holder, key in file.values():
        if is_reference(holder[key]):
            holder[key] = [holder[key][0] + by]
    for key in ("root", "position"):
        if is_reference(file.table[key]):
            file.table[key] = [file.table[key][0] + by]
    for node in donor.nodes:
        for key in ("v", "at", "lengths"):
            if isinstance(node.get(key), str) and node[key] in donor.arrays:
                node[key] = f"donor {node[key]}"
    file.arrays |= {f"donor {key}": a for key, a in donor.arrays.items()}
    file.table["nodes"] = donor.nodes + file.nodes
    sources = [node for node in donor.nodes if node.get("k") in ("estimator", "object") and node["v"]]
    targets = [node for node in file.nodes[by:] if node.get("k") in ("estimator", "object")]
    source, target = rng.choice(sources), rng.choice(targets)
    part = rng.choice(["v", "v", "params"]) if source["k"] == target["k"] == "estimator" else "v"
    attribute = rng.choice(sorted(source[part]))
    into = attribute if rng.random() < 0.8 or not target[part] else rng.choice(sorted(target[part]))
    target[part][into] = source[part][attribute]
    return f"{into} <- {attribute} of {name}"


def add(file: Forged, rng: random.Random, bases: Bases) -> str:
    """An attribute that the node does not have."""
    node = rng.choice([node for node in file.nodes if node.get("k") in ("estimator", "object")])
    name = rng.choice(ATTRIBUTES)
    if name in ("_names", "_words"):
        pair: list[Any] = [["a", "b"], [rng.choice(INTEGERS), rng.choice(INTEGERS)]]
        keys, values = pair if name == "_names" else pair[::-1]
        place = len(file.nodes)
        file.nodes.extend([{"k": "list", "v": keys}, {"k": "list", "v": values}])
        file.nodes.append({"k": "dict", "keys": [place], "values": [place + 1]})
        if node["k"] == "estimator" and is_reference(file.table["root"]):  # it must stand behind them
            file.nodes.append(node | {"v": node["v"] | {name: [place + 2]}})
            file.table["root"] = [place + 3]
            return f"{name} = {dict(zip(keys, values))}"
    node["v"][name] = rng.choice([[rng.randrange(len(file.nodes))], rng.choice(INTEGERS), None, "a"])
    return f"{name} added"


CHANGES = [change_value, change_reference, remove, change_node, change_array, make_sparse, graft, add]
WEIGHTS = [24, 12, 8, 6, 30, 6, 12, 8]


# ---------------------------------------------------------------- uses


def _use(worker: Worker, rng: random.Random, name: str, model: Any, folder: Path) -> None:
    """Call all that is public, in any order, with what the model takes and with what it does not."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        bits = getattr(model, "bits", 6)
        if type(bits) is int and bits > 20:
            return  # a parameter that asks for much memory, as its user may
        for parameter, value in (("max_iter", 2), ("max_steps", 3), ("max_time", 2.0), ("verbose", 0)):
            if parameter in model.get_params(deep=False):
                model.set_params(**{parameter: value})
        uses = list(_uses(rng, name, model, folder))
        seldom = [use for use in uses if use[0].startswith(SELDOM)]
        often = [use for use in uses if use not in seldom]
        chosen = rng.sample(often, min(len(often), USES)) + rng.sample(seldom, min(len(seldom), 2))
        rng.shuffle(chosen)
        for what, call in chosen:
            worker.attempt(what, call)


def _uses(rng: random.Random, name: str, model: Any, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    import numpy as np

    import perceptrons as pc
    from perceptrons import io as streams
    from perceptrons import theory
    from perceptrons.models import export_onnx, load, save

    collections = _collections(rng, name, model)
    dense = collections["dense"] if "dense" in collections else np.ones((2, 4))
    known = vars(model).get("classes_")
    known = known if known is not None and len(known) else np.array([0, 1])

    def labels(n: int, more: bool = False) -> Any:
        several = (
            np.append(known, known[-1:] + known.dtype.type(1))
            if more and known.dtype.kind in "iuf"
            else known
        )
        return several[np.arange(n) % len(several)]

    for kind, rows in collections.items():
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        for method in ("predict", "decision_function", "transform", "hash", "prepare_batch"):
            if hasattr(model, method):
                yield f"{method} {kind}", lambda m=method, rows=rows: getattr(model, m)(rows)
        for method in ("partial_fit", "fit", "score"):
            if hasattr(model, method):
                yield f"{method} {kind}", lambda m=method, rows=rows, n=n: getattr(model, m)(rows, labels(n))
        yield (
            f"partial_fit {kind}, new class",
            lambda rows=rows, n=n: model.partial_fit(rows, labels(n, True)),
        )
        yield (
            f"certify {kind}",
            lambda rows=rows, n=n: pc.certify(model, rows, labels(n)).verify(rows, labels(n)),
        )
        yield f"margins {kind}", lambda rows=rows, n=n: theory.margins(model, rows, labels(n))
    for kind, rows in collections.items():
        ones = [rows[[i]] if kind == "csr" else rows[i] for i in (0, 1, 0)]
        yield (
            f"learn_one {kind}",
            lambda ones=ones: [model.learn_one(x, labels(2)[i % 2]) for i, x in enumerate(ones)],
        )
        yield f"predict_one {kind}", lambda ones=ones: [model.predict_one(x) for x in ones]
        yield f"score_one {kind}", lambda ones=ones: [model.score_one(x) for x in ones]
        yield f"explain {kind}", lambda ones=ones: str(model.explain(ones[0]))
    for attribute in sorted(
        {n for n in (*dir(type(model)), *vars(model)) if n.endswith("_") and n[0] != "_"}
    ):
        yield attribute, lambda attribute=attribute: getattr(model, attribute)
    svm = b"".join(b"%d 1:1 3:%d\n" % (i % 2, i) for i in range(8))

    def stream() -> None:
        with streams.open_stream(io.BytesIO(svm), format="libsvm", n_features=4) as opened:
            streams.fit_stream(model, opened)

    def again() -> None:
        save(model, folder / "again.model")
        load(folder / "again.model").predict(dense)

    yield "fit_stream", stream
    yield "save", again
    yield "export_onnx", lambda: export_onnx(model, folder / "a.onnx")
    yield "deepcopy", lambda: copy.deepcopy(model).predict(dense)
    yield "pickle", lambda: pickle.loads(pickle.dumps(model))
    yield "repr", lambda: repr(model)
    yield "strongest", lambda: model.strongest()


def _collections(rng: random.Random, name: str, model: Any) -> dict[str, Any]:
    """What a model of this name takes, and one kind of thing that it does not."""
    import numpy as np
    import scipy.sparse as sp

    state = vars(model)
    n = state.get("n_features_in_", 4)
    width = int(n) if isinstance(n, (int, np.integer)) and 0 < n <= 5000 else 4
    dtype = getattr(getattr(state.get("_space"), "frame", None), "dtype", np.float64)
    dense = np.array([[(i * 7 + j * 3) % 2 for j in range(width)] for i in range(8)], dtype)
    names = list(state["_names"])[:3] if isinstance(state.get("_names"), dict) else []
    words = [
        "abab word1 word2",
        "bbba word3",
        "aaab eggs and ham",
        "word1 word5",
        "abba",
        "baba ab",
        "spam",
        "ba",
    ]
    found = {
        "dense": dense,
        "csr": sp.csr_array(dense),
        "other width": np.ones((8, rng.choice([1, 3, 5, 9])), dtype),
        "texts": words,
        "named": [dict.fromkeys([*names, "feature 0", f"new{i}"], 1.0) for i in range(8)],
    }
    own = {"dense", "csr"}
    if "ext" in name or "strings" in name or "spectrum" in name:
        own = {"texts"}
    elif "named" in name or "grown" in name or names:
        own = {"named"}
    own.add(rng.choice(sorted(found)))
    return {kind: rows for kind, rows in found.items() if kind in own}


if __name__ == "__main__":
    sys.exit(main())
