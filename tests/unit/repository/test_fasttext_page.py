"""The page for those who come from fastText: its examples run, and the options that it names are there."""

from __future__ import annotations

import doctest
import re

from places import ROOT

from perceptrons import TextClassifier
from perceptrons.cli.commands import COMMANDS
from perceptrons.cli.options import Learning, Reading, Running

PAGE = ROOT / "docs" / "coming_from" / "fasttext.md"


def test_the_session_runs_as_it_is_written():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 8 and not failed


def test_every_option_that_is_named_exists():
    text = PAGE.read_text()
    fields = {name for group in (Learning, Reading, Running) for name in group.__dataclass_fields__}
    known = {f"--{name.replace('_', '-')}" for name in fields}
    known |= {"--checkpoint", "--kind", "--size-mb", "--quiet", "--model", "--k", "--threshold"}
    known |= {"--probabilities"}
    assert {option.rstrip("-") for option in re.findall(r"(?<![\w`-])`?(--[a-z][a-z-]*)", text)} <= known
    named = set(re.findall(r"`(?:TextClassifier\()?([a-z_]+)=", text)) - {"seconds", "size_mb"}
    assert named <= set(TextClassifier().get_params()) and {"lowercase", "ngram_range"} <= named
    assert set(re.findall(r"`perceptrons (\w+)", text)) <= set(COMMANDS)


def test_every_option_of_fasttext_has_a_row():
    """Those of ``fasttext supervised``, but -h, -input and -output."""
    text = PAGE.read_text()
    for option in (
        *(
            "lr",
            "lrUpdateRate",
            "dim",
            "ws",
            "epoch",
            "minCount",
            "minCountLabel",
            "neg",
            "wordNgrams",
            "loss",
        ),
        *(
            "bucket",
            "minn",
            "maxn",
            "thread",
            "t",
            "label",
            "verbose",
            "pretrainedVectors",
            "saveOutput",
            "seed",
        ),
        *("autotune-validation", "autotune-metric", "autotune-predictions", "autotune-duration"),
        *("autotune-modelsize", "qnorm", "retrain", "qout", "cutoff", "dsub"),
    ):
        assert (
            f"`-{option}`" in text or f"`-{option} " in text or f"`-autotune-validation v -{option} " in text
        ), option
