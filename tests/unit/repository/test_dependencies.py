"""Every dependency has a lowest and a highest version; the lock file keeps to them and names no place."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import lock  # a script of ours, in no package
import lowest

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TESTED = [
    *PROJECT["dependencies"],
    *(one for extra in lowest.EXTRAS for one in PROJECT["optional-dependencies"][extra]),
]
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE))


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


@pytest.mark.parametrize("requirement", TESTED)
def test_bounds_hold_for_the_locked_version(requirement):
    name, low, high = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+),<([\d.]+)", requirement).groups()
    assert number(low) <= number(LOCKED[name]) < number(high)


@pytest.mark.parametrize(
    "extra", sorted(PROJECT["optional-dependencies"].keys() - {"bench", "browser", "dev", "docs"})
)
def test_the_library_imports_what_an_extra_installs(extra):
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    imported = set(re.findall(r"(?:^\s*import |^\s*from |import_module\(\")([\w]+)", text, re.MULTILINE))
    names = {re.match(r"[\w-]+", one)[0] for one in PROJECT["optional-dependencies"][extra]}
    assert names - {"onnxruntime"} <= imported  # it runs what `export_onnx` writes


def test_messages_name_extras_that_exist():
    for folder in ("src", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            named = re.findall(r"perceptrons\[([\w,]+)\]", path.read_text(encoding="utf-8"))
            named = {one for names in named for one in names.split(",")}
            assert named <= set(PROJECT["optional-dependencies"]), path


def test_the_lowest_versions_are_pins():
    assert len(lowest.pins(PROJECT)) == len(TESTED)
    assert all(re.fullmatch(r"[\w.-]+(?:\[[\w,]+\])?==[\d.]+", pin) for pin in lowest.pins(PROJECT))


def test_the_lock_file_has_hashes_and_names_no_place():
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == 2 * len(LOCKED)
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+ \\|    --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert "://" not in text and "/opt" not in text and "/home" not in text


def test_the_lock_file_is_made_from_a_report():
    def package(name, version, url):
        archive = {"hashes": {"sha256": "0" * 64}}
        return {
            "metadata": {"name": name, "version": version},
            "download_info": {"url": url, "archive_info": archive},
        }

    report = {
        "install": [
            package("Two_Words", "1.0", "https://example.org/two.whl"),
            {"metadata": {"name": "perceptrons", "version": "0.1.0"}, "download_info": {"dir_info": {}}},
            package("a", "2.1", "file:///somewhere/a.whl"),
        ]
    }
    text = lock.lock(report, ours="perceptrons")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == [
        "a==2.1 \\",
        "    --hash=sha256:" + "0" * 64,
        "two-words==1.0 \\",
        "    --hash=sha256:" + "0" * 64,
    ]
