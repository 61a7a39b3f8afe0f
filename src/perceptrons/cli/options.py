"""The options of the commands, in groups: a group is a record, and a parameter of a command."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

from typer import BadParameter, Context, Option

from .learners import RULES, complete_rule

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R")

Text = str | None
Whole = int | None
Number = float | None


def complete_format(start: str) -> list[str]:
    """The formats whose names begin with ``start``, for completion in the shell."""
    from ..io.formats import FORMATS

    return [name for name in FORMATS if name.startswith(start)]


def known_format(given: Text) -> Text:
    """The name of a format, if there is one; those that a plugin has registered are among them."""
    if given is not None:
        from ..io.formats import FORMATS

        if given not in FORMATS:
            words = ", ".join(map(repr, FORMATS))
            raise BadParameter(f"{given!r} is not one of {words}.")
    return given


@dataclasses.dataclass(frozen=True)
class Reading:
    """How rows are read. None: as stored with the model, or else by the name and the first lines."""

    format: Annotated[
        Text,
        Option(
            help="Default: by the name of the file, or else by its first lines.",
            metavar="[libsvm|vw|fasttext|csv|tsv|jsonl|parquet]",
            callback=known_format,
            autocompletion=complete_format,
        ),
    ] = None
    label_column: Annotated[
        Text,
        Option(
            help="Number, from 0 (-1 is the last), or name; jsonl: a key. Default: the column named label, "
            "target, class or y; without a header the first."
        ),
    ] = None
    text_column: Annotated[
        Text,
        Option(help="The column of the text. Default with --text: the one named text, or else the second."),
    ] = None
    weight_column: Annotated[Text, Option(help="The column with the weight of each row.")] = None
    delimiter: Annotated[Text, Option(help="Default: a comma; in tsv a tab.")] = None
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = None
    categorical: Annotated[
        Text, Option(help="Columns that hold words, by number or name, with commas between them.")
    ] = None
    columns: Annotated[
        Text, Option(help="Columns that are features, with commas between them. Default: all the others.")
    ] = None
    missing: Annotated[
        Literal["refuse", "zero", "mean", "skip"] | None,
        Option(
            help="Missing numbers in tables (nothing, NA, NaN, null, ?): an error; replaced by 0; replaced "
            "by the mean of the rows before, which is stored with the model; or the row is left out.",
            show_default="refuse",
        ),
    ] = None
    labels: Annotated[
        Literal["auto", "text", "number", "several"] | None,
        Option(
            help="Type of the labels. In fastText's format 'several' takes any number of labels a line; by "
            "default so if a line of the first batch has more than one.",
            show_default="auto",
        ),
    ] = None
    label_prefix: Annotated[
        Text, Option(help="How the labels of fastText's format begin.", show_default="__label__")
    ] = None
    zero_based: Annotated[
        bool | None,
        Option("--zero-based/--one-based", help="The first index of libsvm rows, 0 or 1."),
    ] = None
    features: Annotated[Whole, Option(help="Columns of libsvm rows, where they come from a pipe.", min=1)] = (
        None
    )
    on_bad_line: Annotated[
        Literal["raise", "skip"] | None,
        Option(help="'skip' leaves bad lines out, and counts them.", show_default="raise"),
    ] = None
    encoding_errors: Annotated[
        Literal["refuse", "replace"] | None,
        Option(help="Refuse or replace bytes that are not UTF-8.", show_default="refuse"),
    ] = None
    batch_bytes: Annotated[Whole, Option(help="Bytes read at a time.", show_default="2097152")] = None
    limits: Annotated[
        Text, Option(help="What is refused, as 'line_bytes=33554432,ratio=5000'; see perceptrons.io.Limits.")
    ] = None


@dataclasses.dataclass(frozen=True)
class Learning:
    """Which learner, with which parameters."""

    rule: Annotated[
        Text,
        Option(
            help=f"One of {', '.join(RULES)}.",
            metavar="RULE",
            autocompletion=complete_rule,
            show_default="perceptron; with --text arow, and --r 0.1",
        ),
    ] = None
    text: Annotated[bool, Option("--text", help="Learn from raw text.")] = False
    kernel: Annotated[
        Text, Option(help="Learn with a kernel: 'Gaussian(gamma=0.1)', 'Polynomial(degree=3)', 'linear'.")
    ] = None
    readout: Annotated[
        Literal["last", "average", "vote", "random"] | None,
        Option(help="Which weights predict.", show_default="the learner's own"),
    ] = None
    probability: Annotated[
        bool | None,
        Option("--probability", help="Also learn probabilities, from each row before it is learned."),
    ] = None
    C: Annotated[
        Number,
        Option(
            "--C",
            help="PA-I, PA-II, SCW: a larger C, larger steps; max-margin: the price of an error.",
        ),
    ] = None
    p: Annotated[Number, Option("--p", help="MIRA: the margin required; p-norm: the norm.")] = None
    variant: Annotated[Text, Option(help="PA: hard, I, II; SCW: I, II; MIRA: pa, crammer_singer.")] = None
    gamma: Annotated[Number, Option(help="margin: the margin aimed at.")] = None
    eps: Annotated[Number, Option(help="margin: the share of gamma that may be missed.")] = None
    alpha: Annotated[Number, Option(help="ALMA: how close to the best margin; winnow: the factor.")] = None
    eta: Annotated[Number, Option(help="Balanced winnow: the rate; SCW: the confidence.")] = None
    delta: Annotated[Number, Option(help="Aggressive ROMMA: the share of the margin given away.")] = None
    r: Annotated[Number, Option("--r", help="AROW: a larger r makes smaller steps.")] = None
    param: Annotated[
        list[str] | None, Option(help="name=value: any other parameter of the learner. May be repeated.")
    ] = None
    bits: Annotated[
        Whole, Option(help="2^bits columns for words and names.", show_default="18; with --text 22")
    ] = None
    tokens: Annotated[
        Text,
        Option(
            help="--text: all, with single letters and every punctuation mark, or words, of two or more.",
            show_default="all",
        ),
    ] = None
    ngrams: Annotated[
        Text, Option(help="--text: from how many to how many tokens, as 1-2.", show_default="1-2")
    ] = None
    analyzer: Annotated[Text, Option(help="--text: word, char or char_wb.", show_default="word")] = None
    values: Annotated[Text, Option(help="--text: count, binary or sublinear.", show_default="sublinear")] = (
        None
    )
    idf: Annotated[
        bool | None,
        Option(
            "--idf/--no-idf",
            help="--text: whether rare tokens count more, by the texts learned before.",
            show_default="--idf",
        ),
    ] = None
    hash_seed: Annotated[Whole, Option(help="Seed of the hash.", min=0, show_default="0")] = None


@dataclasses.dataclass(frozen=True)
class Running:
    """Passes, order of the rows, rows held out for testing, and where the work is done."""

    passes: Annotated[
        Whole,
        Option(
            help="How often the data are learned; with --workers or --cluster: rounds.",
            min=1,
            show_default="1; with --text 3, but from a pipe 1",
        ),
    ] = None
    shuffle: Annotated[bool, Option("--shuffle", help="Shuffle the rows of each batch, or shard.")] = False
    seed: Annotated[int, Option(help="Seed of all random choices.", min=0)] = 0
    holdout: Annotated[
        Text, Option(help="Keep this share of the rows for testing: with 0.1 every tenth.")
    ] = None
    max_classes: Annotated[
        Whole,
        Option(help="Refuse more classes than this.", min=1, show_default="1000, and half as many as rows"),
    ] = None
    workers: Annotated[
        Whole,
        Option(
            help="Cut the data into shards, read and learn them in so many threads of this process, and mix "
            "the models after each round. All rows are kept in memory.",
            min=1,
        ),
    ] = None
    cluster: Annotated[
        Text,
        Option(
            help="The same on the workers of a Dask cluster, which read the files themselves: the address of "
            "its scheduler. Needs pip install 'perceptrons[dask]'.",
            metavar="tcp://HOST:PORT",
        ),
    ] = None
    shards: Annotated[
        Whole,
        Option(
            help="--workers, --cluster: how many shards. The model depends on it, and not on the workers.",
            min=1,
            show_default="as many as workers",
        ),
    ] = None
    tune: Annotated[
        Text,
        Option(
            help="Try parameters, on rows that are kept in memory, for so long, as 60s, or so many sets of "
            "them, as 20trials, and learn with the best by errors on rows held out. Parameters that are "
            "given stay. Ctrl-C ends the trials.",
            metavar="TIME|TRIALS",
        ),
    ] = None
    size_mb: Annotated[
        Number, Option(help="--tune --text: the size of the file, in million bytes.", metavar="MB")
    ] = None
    mixing: Annotated[
        Literal["uniform", "mistakes"] | None,
        Option(
            help="--workers, --cluster: equal weights for all shards, or by their updates.",
            show_default="uniform",
        ),
    ] = None


Json = Annotated[bool, Option("--json", help="One JSON document on standard output.")]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]


def import_plugins(context: Context, names: list[str] | None) -> list[str] | None:
    """Import the modules, from where Python finds them or from the current folder."""
    if names and not context.resilient_parsing:
        from .plugins import imported

        for name in names:
            imported(name)
    return names


Plugin = Annotated[
    list[str] | None,
    Option(
        "--plugin",
        metavar="MODULE",
        help="Import a module that registers rules, kernels or formats. Its code is run. May be repeated.",
        callback=import_plugins,
        is_eager=True,
    ),
]

_GROUPS = (Reading, Learning, Running)


def grouped(command: Callable[..., R]) -> Callable[..., R]:
    """The command with the options of its groups in place of the parameters that are groups."""
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    groups = {name: hints[name] for name in own if hints[name] in _GROUPS}
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> R:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    run.__annotations__ = {}
    del run.__dict__["__wrapped__"]  # or typer would read its signature
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return run


def _parameters(group: type[DataclassInstance]) -> list[inspect.Parameter]:
    kinds = get_type_hints(group, include_extras=True)
    only = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, only, default=field.default, annotation=kinds[field.name])
        for field in dataclasses.fields(group)
    ]


def flag(name: str) -> str:
    """The option that sets a field."""
    return "--" + name.replace("_", "-")
