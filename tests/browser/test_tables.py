"""Points from a CSV file; what is wrong with one is said in a sentence."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

GOOD = "width,height,kind\n1,2,cat\n2,1.5,cat\n-1,-1,dog\n-2,0.5,dog\n"
BAD = {
    "no_numbers": ("a,b,c\nx,y,z\n", r"number"),
    "one_class": ("1,2,cat\n3,4,cat\n", r"class"),
    "ragged": ("1,2,cat\n3,4\n5,6,dog\n", r"[Ll]ine 2"),
    "not_a_number": ("1,2,cat\n3,nan,dog\n", r"[Ll]ine 2"),
    "empty": ("", r"empty"),
    "binary": ("\x00\x01\x02", r"."),
}


def load(lab, text):
    lab["load-csv"].set_input_files({"name": "rows.csv", "mimeType": "text/csv", "buffer": text.encode()})


def test_a_csv_file(lab):
    answer = lab.changed(lambda: load(lab, GOOD))
    assert answer["scene"]["X"] == [[1, 2], [2, 1.5], [-1, -1], [-2, 0.5]]
    assert answer["scene"]["classes"] == ["cat", "dog"]
    assert answer["scene"]["y"] == [0, 0, 1, 1]
    assert lab.n_points == 4


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_csv_file_is_explained_and_changes_nothing(lab, name):
    text, says = BAD[name]
    before = lab.n_points, lab.position
    load(lab, text)
    expect(lab["run-error"]).to_contain_text(re.compile(r"\w"))
    said = lab["run-error"].inner_text()
    assert re.search(says, said) and "Traceback" not in said and len(said) < 300, said
    assert (lab.n_points, lab.position) == before
    lab.page.wrong[:] = [line for line in lab.page.wrong if "422" not in line]  # Chromium logs refusals
