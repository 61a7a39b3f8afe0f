"""Words of lectures, tasks and other libraries lead to the right page by the search of the built manual."""

from __future__ import annotations

import functools
import http.server
import json
import threading

import lab_browser
import pytest

# One page: it is the first. Several: one of them is the first, and all are among the first three.
WORDS = {
    # lectures
    "AMIRA": ("guide/which_learner", "lectures/cuny"),
    "mistake bound": "guide/proofs",
    "Novikoff": "guide/proofs",
    "functional margin": ("guide/proofs", "lectures/joachims"),
    "geometric margin": ("guide/proofs", "lectures/joachims"),
    "hinge loss": "guide/proofs",
    "SVM": ("guide/which_learner", "lectures/blum"),
    "string kernel": ("guide/kernels", "lectures/blum"),
    "kernel trick": ("guide/kernels", "lectures/blum"),
    "voted perceptron": ("guide/which_learner", "lectures/cuny"),
    "averaged perceptron": ("guide/which_learner", "lectures/cuny"),
    "XOR": "lectures/cuny",
    "disjunction": "lectures/gouleakis",
    "slack": "lectures/blum",
    "augmented space": ("lectures/cuny", "lectures/risk"),
    "line search": "lectures/risk",
    "compression bound": "lectures/cuny",
    "decision list": "lectures/blum",
    "version space": ("guide/pictures", "lectures/risk"),
    "maximum margin": ("guide/margins", "glossary"),
    # tasks
    "separability": ("guide/margins", "reference/perceptrons.separability"),
    "partial_fit": "guide/streams_and_files",
    "learn_one": "guide/streams_and_files",
    "out-of-core": "guide/streams_and_files",
    "libsvm files": "guide/streams_and_files",
    "tf-idf": "guide/text",
    "hashing trick": "guide/text",
    "n-grams": "guide/text",
    "support vectors": "guide/kernels",
    "one-vs-rest": "guide/several_classes",
    "multiclass": ("guide/several_classes", "lectures/cuny"),
    "predict_proba": "probabilities",
    "calibration": ("probabilities", "glossary"),
    "Dask": "guide/many_machines",
    "GPU": "guide/gpu",
    "CUDA": "guide/gpu",
    "pickle": "guide/saving",
    "ONNX": "guide/saving",
    "plugin": "guide/own_rules_and_kernels",
    "benchmark": "guide/speed_tables",
    "certificate": ("glossary", "reference/perceptrons.theory", "guide/proofs"),
    # other libraries
    "PassiveAggressiveClassifier": "coming_from/scikit_learn",
    "SGDClassifier": "coming_from/scikit_learn",
    "LinearSVC": ("coming_from/scikit_learn", "coming_from/liblinear"),
    "Vowpal Wabbit": "coming_from/vowpal_wabbit",
    "--passes": "coming_from/vowpal_wabbit",
    "--oaa": "coming_from/vowpal_wabbit",
    "River": "coming_from/river",
    "LIBLINEAR": "coming_from/liblinear",
    "fastText": "coming_from/fasttext",
    # names
    "MarginPerceptron": "reference/perceptrons.MarginPerceptron",
    "HalfspaceDisplay": "reference/perceptrons.plots",
}


def test_there_are_forty():
    assert len(WORDS) >= 40


@pytest.mark.parametrize("word", WORDS)
def test_a_word_leads_to_its_page(word, search):
    right = WORDS[word]
    found = search.found(word)[:3]
    if isinstance(right, str):
        assert found[:1] == [right]
    else:
        assert found[0] in right and set(right) <= set(found)


def test_a_word_that_is_nowhere(search):
    assert search("zyzzyva") == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A handler that prints nothing."""

    def log_message(self, *args):
        pass


def test_the_page_ranks_in_the_same_way(built, search):
    """The script of the page itself, in a browser, gives the results that the tests above look at."""
    if lab_browser.browser_path() is None:
        pytest.skip("there is no browser")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(built)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask = "word => Search._performSearch(...Search._parseQuery(word)).reverse().map(one => one.slice(0, 6))"
    try:
        with lab_browser.browser() as browser:
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_address[1]}/search.html")
            page.wait_for_function("Search.hasIndex()")
            for word in WORDS:
                theirs = page.evaluate(ask, word)
                ours = json.loads(json.dumps(search(word)))
                assert [one[:4] for one in theirs] == [one[:4] for one in ours], word
                assert [one[4] for one in theirs] == pytest.approx([one[4] for one in ours]), word
    finally:
        server.shutdown()
        server.server_close()
