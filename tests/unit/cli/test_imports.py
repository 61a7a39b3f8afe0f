"""What the command line does not import: it drives the core, which has no scikit-learn."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from perceptrons import cli

LIBSVM = "".join(f"{i % 3} 1:{i % 7} 2:{(3 * i) % 5}\n" for i in range(200))
TEXTS = "label,text\n" + "".join(f"{'ham' if i % 2 else 'spam'},word{i % 7} of {i % 5}\n" for i in range(50))
CSV = "a,b,label\n" + "".join(f"{i % 7},{i % 5},{i % 2}\n" for i in range(50))

#: one process that runs several commands and says what is loaded after them
SCRIPT = """
import json, sys
from perceptrons.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["perceptrons", *command]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (command, end.code)
print(json.dumps([name for name in ("sklearn", "pandas", "scipy.stats") if name in sys.modules]))
"""


def commands(folder):
    for name, text in (("rows.svm", LIBSVM), ("rows.csv", CSV), ("texts.csv", TEXTS)):
        (folder / name).write_text(text)
    model, rows, quiet = str(folder / "m.model"), str(folder / "rows.svm"), "--quiet"
    yield ["train", rows, "--model", model, "--passes", "2", "--checkpoint", str(folder / "c"), quiet]
    yield ["predict", model, rows, "--output", str(folder / "labels")]
    yield ["evaluate", model, rows]
    yield ["info", model]
    for rule in ("averaged", "pa1", "arow", "winnow", "margin"):
        data = str(folder / "rows.csv") if rule != "winnow" else str(folder / "zero_one.svm")
        yield ["train", data, "--rule", rule, "--model", model, quiet]
    yield ["train", str(folder / "texts.csv"), "--text", "--rule", "arow", "--model", model, quiet]
    yield ["train", rows, "--kernel", "polynomial", "--rule", "kernel-perceptron", "--model", model, quiet]
    yield ["train", rows, "--rule", "max-margin", "--param", "C=1.0", "--model", model, quiet]


@pytest.mark.parametrize(
    "disable_jit", ["1", pytest.param("0", marks=pytest.mark.exhaustive)], ids=["plain", "compiled"]
)
def test_commands_import_no_scikit_learn(disable_jit, tmp_path, monkeypatch):
    """Loops that only this test would need are not compiled, but for one below."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", disable_jit)
    (tmp_path / "zero_one.svm").write_text("".join(f"{i % 2} {1 + i % 2}:1\n" for i in range(50)))
    wanted = json.dumps(list(commands(tmp_path)))
    done = subprocess.run([sys.executable, "-c", SCRIPT, wanted], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_rows_of_libsvm_are_learned_without_scipy(tmp_path):
    """numba imports the package ``scipy`` itself, to see its version; nothing below it is needed."""
    (tmp_path / "rows.svm").write_text(LIBSVM)
    rows, model = str(tmp_path / "rows.svm"), str(tmp_path / "m.model")
    train = ["train", rows, "--model", model, "--quiet"]
    wanted = [train, [*train, "--rule", "arow"], [*train, "--shuffle", "--passes", "2"]]
    script = SCRIPT.replace('"scipy.stats")', '"scipy.stats", "scipy.sparse", "scipy.linalg")')
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(wanted)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "KernelPerceptron", "TextClassifier"])
def test_the_core_writes_the_files_of_the_estimators(name, tmp_path):
    """A learner of the core, and the estimator of the same name, leave the same bytes."""
    import perceptrons
    from perceptrons.models import registry

    X = [["one two", "two three", "three", "one"], [[1.0, 2.0], [0.5, -1.0], [2.0, 1.0], [-1.0, 0.0]]]
    rows, labels = X[name != "TextClassifier"], ["a", "b", "a", "b"]
    learner = registry.learner(name)(random_state=0)
    estimator = getattr(perceptrons, name)(random_state=0)
    for model, path in ((learner, "core"), (estimator, "estimator")):
        model.partial_fit(rows, labels)
        perceptrons.save(model, tmp_path / path)
    assert (tmp_path / "core").read_bytes() == (tmp_path / "estimator").read_bytes()
    assert isinstance(perceptrons.load(tmp_path / "core"), getattr(perceptrons, name))


def test_the_command_line_reads_no_private_attribute():
    """What it needs of an untrained learner has a public function in ``core.plan``."""
    # of named tuples, of what a notebook shows, and the documented way to end a process at once
    public = {"_asdict", "_fields", "_repr_html_", "_exit"}
    for module in Path(cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and node.attr not in public:
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                assert own or node.attr.endswith("__"), f"{module.name}: line {node.lineno}: {node.attr}"


def test_a_process_of_the_command_looks_for_no_garbage_at_its_end():
    """All that was imported is out of the collector's sight then, and only then."""
    script = """
import atexit, gc, sys
from perceptrons.cli import main
atexit.register(lambda: print(gc.get_freeze_count(), len(gc.get_objects())))
sys.argv = ["perceptrons", "--version"]
main()
print(gc.get_freeze_count())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    _, before, after = done.stdout.splitlines()
    frozen, seen = map(int, after.split())
    assert int(before) == 0 and frozen > 1000 > seen
