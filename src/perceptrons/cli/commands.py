"""The commands. Each returns a function that does the work, and :func:`perceptrons.cli.main` calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from .options import Debug, Json, Learning, Plugin, Quiet, Reading, Running, grouped

Job = Callable[[], int]

app = typer.Typer(
    name="perceptrons",
    help="Learn halfspaces online, with the proof attached: perceptron, MIRA, PA, Winnow, AROW and others.",
    epilog="Exit codes: 0 done, 1 the work failed, 2 the command was given wrongly. '-' is standard input.",
    rich_markup_mode=None,  # plain help: rich takes longer to import than everything else
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = ("train", "predict", "evaluate", "certify", "plot", "info", "shrink", "fetch", "demo", "lab")

Data = Annotated[
    list[str],
    Argument(help="Files in any format, plain or compressed; '-' is standard input.", metavar="DATA"),
]
ModelFile = Annotated[str, Argument(help="A model file.", metavar="MODEL")]


def _version(wanted: bool) -> None:
    if wanted:
        from .._version import __version__

        typer.echo(f"perceptrons {__version__}")
        raise typer.Exit


@app.callback()
def _perceptrons(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
@grouped
def train(
    data: Data,
    model: Annotated[str, Option("--model", "-m", help="The model file to write.")],
    learning: Learning,
    running: Running,
    checkpoint: Annotated[
        str | None,
        Option(
            help="A file that stores the run from time to time. The same command, given again, resumes it, "
            "to the same model bit for bit. It is removed when the run is done."
        ),
    ] = None,
    checkpoint_every: Annotated[
        str, Option(help="Seconds, as 30, or rows, as 100000rows.", metavar="TIME|ROWS")
    ] = "30",
    *,
    reading: Reading,
    json: Json = False,
    plugin: Plugin = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Job:
    """Learn from data and store the model.

    The errors reported are those of the online protocol: each row is predicted before it is learned.
    """

    def work() -> int:
        from .training import TrainingRun

        return TrainingRun(
            data, model, reading, learning, running, checkpoint, checkpoint_every, json, quiet
        ).train()

    return work


@app.command()
@grouped
def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[str | None, Option("--output", "-o", help="A file; default: standard output.")] = None,
    scores: Annotated[bool, Option("--scores", help="Also write the scores of each row.")] = False,
    probabilities: Annotated[
        bool,
        Option("--probabilities", help="Also write the probability of each class, in the order of classes."),
    ] = False,
    unlabelled: Annotated[bool, Option("--unlabelled", help="The data have no column of labels.")] = False,
    k: Annotated[
        int | None, Option("--k", help="Texts: the k labels with the highest scores.", min=1)
    ] = None,
    threshold: Annotated[
        float | None,
        Option(help="Texts: the labels with a score above this; 0 where a text may have several."),
    ] = None,
    *,
    reading: Reading,
    plugin: Plugin = None,
    json: Json = False,
    debug: Debug = False,
) -> Job:
    """Predict the label of each row.

    One line per row; several labels have spaces between them. Rows are read as those the model was trained
    on, unless an option differs.
    """

    def work() -> int:
        from .predicting import predict

        return predict(model, data, reading, output, scores, probabilities, unlabelled, json, k, threshold)

    return work


@app.command()
@grouped
def evaluate(
    model: ModelFile,
    data: Data,
    worst: Annotated[
        int | None, Option(help="Also list this many rows that the model is most wrong about.", min=1)
    ] = None,
    *,
    reading: Reading,
    plugin: Plugin = None,
    json: Json = False,
    debug: Debug = False,
) -> Job:
    """Test a model on labelled rows.

    Accuracy; precision, recall and F1 of each class; the confusion matrix. For a model that was trained with
    --probability also a table of its probabilities beside what came true, and their expected error.
    """

    def work() -> int:
        from .evaluating import evaluate

        return evaluate(model, data, reading, worst, json)

    return work


@app.command()
@grouped
def certify(
    model: ModelFile,
    data: Data,
    exact: Annotated[bool, Option("--exact", help="Check in fractions, without rounding.")] = False,
    comparators: Annotated[
        Literal["free", "all"], Option(help="'all' also solves for the best margin.")
    ] = "free",
    delta: Annotated[
        float, Option(help="Probability that a bound on future errors is wrong, at most.")
    ] = 0.05,
    output: Annotated[
        str | None, Option("--output", "-o", help="Also store the certificate as JSON.")
    ] = None,
    html: Annotated[bool, Option("--html", help="The certificate as a table in HTML.")] = False,
    *,
    reading: Reading,
    plugin: Plugin = None,
    json: Json = False,
    debug: Debug = False,
) -> Job:
    """Compare a model's counts with the theorems.

    DATA are the rows it was trained on. The certificate is checked again from the rows alone.
    Exit code 1: a claim does not hold.
    """

    def work() -> int:
        from .certifying import certify

        return certify(model, data, reading, exact, comparators, delta, output, html, json)

    return work


@app.command()
@grouped
def plot(
    model: ModelFile,
    data: Data,
    output: Annotated[str, Option("--output", "-o", help="The picture to write: .svg, .png or .pdf.")],
    kind: Annotated[
        Literal[
            "halfspace",
            "weights",
            "risk",
            "mistakes",
            "proof",
            "bracket",
            "margins",
            "errors",
            "images",
            "features",
            "explanation",
        ],
        Option(
            help="halfspace: rows, regions, slab. weights: rows as half-spaces of w. risk: its contours. "
            "mistakes: under their bound. proof: of convergence. bracket: around the best margin. "
            "margins: their distribution. errors: row by row. images: weights of pixels. features: the "
            "strongest. explanation: of one text."
        ),
    ] = "halfspace",
    axes: Annotated[
        str | None, Option(help="halfspace: the two columns to show, from 0, as 0,3.", metavar="I,J")
    ] = None,
    shape: Annotated[
        str | None, Option(help="images: height and width, as 28x28.", show_default="a square")
    ] = None,
    top: Annotated[int, Option(help="features, explanation: how many.", min=1)] = 10,
    row: Annotated[int, Option(help="explanation: which text of the data, from 0.", min=0)] = 0,
    *,
    reading: Reading,
    plugin: Plugin = None,
    json: Json = False,
    debug: Debug = False,
) -> Job:
    """Draw a picture of a model and data.

    mistakes, proof, bracket and weights run the model's learner again on the data, row by row. Pictures need
    matplotlib: pip install 'perceptrons[plot]'.
    """

    def work() -> int:
        from .plotting import plot

        return plot(model, data, reading, output, kind, axes, shape, top, row, json)

    return work


@app.command()
def info(model: ModelFile, plugin: Plugin = None, json: Json = False, debug: Debug = False) -> Job:
    """Describe a model file."""

    def work() -> int:
        from .describing import info

        return info(model, json)

    return work


@app.command()
def shrink(
    model: ModelFile,
    output: Annotated[str, Option("--output", "-o", help="The small model file to write.")],
    size_mb: Annotated[float, Option(help="Million bytes that the file may have.", metavar="MB")],
    keep_names: Annotated[
        bool, Option("--keep-names", help="Keep the names of features, which take most of the file.")
    ] = False,
    plugin: Plugin = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Job:
    """Make a small copy of a model of texts.

    It keeps the weights that matter most, in a byte each. It predicts and explains, and learns nothing more.
    """

    def work() -> int:
        from .shrinking import shrink

        return shrink(model, output, size_mb, keep_names, json, quiet)

    return work


@app.command()
def fetch(
    names: Annotated[list[str] | None, Argument(help="Public data sets.", metavar="[NAME]")] = None,
    list_: Annotated[bool, Option("--list", help="List them, and which are on this machine.")] = False,
    to: Annotated[str | None, Option(help="A folder; default: the cache.", metavar="FOLDER")] = None,
    json: Json = False,
    debug: Debug = False,
) -> Job:
    """Download public data sets.

    Prints the paths of their files. Files that are on this machine already are not downloaded again.
    """

    def work() -> int:
        from .fetching import fetch

        return fetch(names or [], list_, to, json)

    return work


@app.command()
def demo(json: Json = False, debug: Debug = False) -> Job:
    """Train the learners on embedded data.

    One table, with the bounds beside the counts; no download.
    """

    def work() -> int:
        from .showing import demo

        return demo(json)

    return work


@app.command()
def lab(
    port: Annotated[
        int | None,
        Option(
            help="Of the loopback address; 0: any free one.",
            min=0,
            max=65535,
            show_default="8765, or the next free one",
        ),
    ] = None,
    no_browser: Annotated[bool, Option("--no-browser", help="Print the address and open nothing.")] = False,
    export: Annotated[
        str | None, Option(help="Write a read-only site of recorded runs instead.", metavar="FOLDER")
    ] = None,
    debug: Debug = False,
) -> Job:
    """Show a learner at work on a live page.

    The page is served on this machine only, at the address that is printed. It needs extra packages:
    pip install 'perceptrons[lab]'.
    """

    def work() -> int:
        from .serving import lab

        return lab(port, not no_browser, export)

    return work
