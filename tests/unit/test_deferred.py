"""Stand-ins for modules: imported when an attribute is read, gone from ``sys.modules`` after the block."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading

import pytest

from perceptrons._deferred import deferred


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package ``slow`` with a module ``slow.part`` that it does not import itself."""
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "__init__.py").write_text("loaded = 'really'\n")
    (folder / "part.py").write_text("inner = 'part'\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield "slow"
    for name in [name for name in sys.modules if name.partition(".")[0] == "slow"]:
        del sys.modules[name]


def test_nothing_is_imported_until_an_attribute_is_read(package):
    with deferred(package):
        stand_in = importlib.import_module(package)
    assert package not in sys.modules
    assert stand_in.loaded == "really"
    real = sys.modules[package]
    assert real is not stand_in and real is importlib.import_module(package)


def test_an_attribute_read_within_the_block_is_an_ordinary_import(package):
    with deferred(package):
        from slow import loaded

        assert loaded == "really"
        assert sys.modules[package].__spec__ is not None
    assert sys.modules[package].loaded == "really"


def test_a_submodule_imported_within_the_block_is_an_attribute_of_the_module(package):
    with deferred(package):
        stand_in = importlib.import_module(package)
        importlib.import_module("slow.part")
    assert sys.modules[package].part.inner == stand_in.part.inner == "part"


def test_modules_that_are_there_or_not_installed_are_left_alone(package):
    real = importlib.import_module(package)
    with deferred(package, "no_such_module", "no_such_package.part"):
        assert importlib.import_module(package) is real
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("no_such_module")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("no_such_package.part")
    assert sys.modules[package] is real


def test_names_are_free_after_an_exception(package):
    with pytest.raises(KeyboardInterrupt), deferred(package):
        raise KeyboardInterrupt
    assert package not in sys.modules
    assert importlib.import_module(package).loaded == "really"


def test_another_thread_may_import_meanwhile(package):
    found = []
    with deferred(package):
        thread = threading.Thread(target=lambda: found.append(importlib.import_module(package).loaded))
        thread.start()
        thread.join()
    assert found == ["really"]
    assert sys.modules[package].loaded == "really"


SCRIPT = """
import sys
from perceptrons import Perceptron
model = Perceptron().fit([[1.0, 2.0], [-1.0, -1.0]], [1, 0])
assert model.predict([[3.0, 3.0]]) == [1]
print([name for name in ("scipy.stats", "pandas") if name in sys.modules])
import sklearn.utils.fixes
import numpy as np
assert sklearn.utils.fixes._mode(np.array([1, 1, 2])).mode == 1
import pandas, scipy.stats
assert type(pandas) is type(scipy.stats) is type(sys)
frame = pandas.DataFrame({"a": [1.0, -1.0], "b": [2.0, -1.0]})
assert list(model.fit(frame, pandas.Series(["x", "y"])).feature_names_in_) == ["a", "b"]
assert sklearn.utils.fixes.pd.DataFrame is pandas.DataFrame
"""


def test_a_first_fit_imports_neither_scipy_stats_nor_pandas():
    """scikit-learn gets both when it calls them, and so do users."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
