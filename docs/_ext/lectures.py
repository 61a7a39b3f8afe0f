"""Sphinx extension: the pages of the lectures, written from ``docs/lectures/table.toml`` when a build starts.

The table has one entry for each item of five lectures, keyed by its number, then the theorem index, then the
places where slides are loose. Code in it is written as a doctest, with the output that it had. The build runs
all of it and fails where a line raises or prints something else, so a page never shows an output that the
library does not give. An entry with ``data`` is run where that public set is on the machine; elsewhere the
page shows the stored output and says so. ``PERCEPTRONS_GALLERY=0``, the fast build, runs nothing.

    python docs/_ext/lectures.py           run every line of the table, and say what differs
    python docs/_ext/lectures.py --write   run them, and write the outputs into the table
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
TABLE = DOCS / "lectures" / "table.toml"
EXAMPLES = DOCS.parent / "examples"
#: options of the doctests; the output of a line may be laid out in another way
OPTIONS = doctest.NORMALIZE_WHITESPACE
MARK = "<!-- written from docs/lectures/table.toml by docs/_ext/lectures.py -->\n"


class LectureError(Exception):
    """A line of the table does not run, or prints something else, or the table is not as it should be."""


# ------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Item:
    """One item of a lecture."""

    number: int
    lecture: str  #: key of the lecture
    title: str
    words: str  #: what the lecture says, in a sentence or two
    calls: tuple[str, ...] = ()  #: names of the reference that do it
    run: str = ""  #: a doctest
    data: str = ""  #: public set that the lines need
    picture: str = ""  #: a script of the gallery, or an image under docs/
    theirs: str = ""  #: the lecture's number
    ours: str = ""  #: ours, beside it
    numbers: tuple[list[str], ...] = ()  #: rows of a table with both, the first one the head
    note: str = ""  #: where the slide and the library differ
    out_of_scope: str = ""  #: why nothing does it here
    also: tuple[str, ...] = ()  #: words for it; with "!" those that the search should answer with this item
    section: str = ""  #: heading above this item
    see: tuple[int, ...] = ()  #: other items


@dataclass(frozen=True)
class Lecture:
    """A lecture, or a few of one course."""

    key: str
    title: str
    source: str
    about: str
    first: int
    last: int
    setup: str  #: doctest that runs before each item


@dataclass(frozen=True)
class Theorem:
    """A row of the theorem index."""

    name: str
    bound: str
    calls: tuple[str, ...]
    items: tuple[int, ...] = ()
    section: str = ""


@dataclass(frozen=True)
class Loose:
    """A sentence of a slide that does not hold as it stands."""

    key: str
    title: str
    slide: str
    holds: str
    run: str
    items: tuple[int, ...]
    calls: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True)
class Table:
    """The whole table."""

    lectures: Mapping[str, Lecture]
    items: Mapping[int, Item]
    theorems: tuple[Theorem, ...]
    loose: Mapping[str, Loose]
    loose_setup: str = ""
    text: str = field(repr=False, default="")


def read(path: Path = TABLE) -> Table:
    """The table of a file; LectureError where a field is unknown or missing."""
    text = path.read_text(encoding="utf-8")
    found = tomllib.loads(text)
    lectures = {key: _made(Lecture, {"key": key} | entry) for key, entry in found["lecture"].items()}
    items = {}
    for key, entry in found["item"].items():
        number = int(key)
        of = [one.key for one in lectures.values() if one.first <= number <= one.last]
        if len(of) != 1:
            raise LectureError(f"item {number} is in {len(of)} lectures.")
        items[number] = _made(Item, {"number": number, "lecture": of[0]} | entry)
    theorems = tuple(_made(Theorem, entry) for entry in found["theorem"])
    loose = {key: _made(Loose, {"key": key} | entry) for key, entry in found["loose"].items()}
    return Table(lectures, items, theorems, loose, found["loose_setup"].strip("\n"), text)


def _made(kind: type, entry: Mapping[str, Any]) -> Any:
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
    values = {name: v.strip("\n") if isinstance(v, str) else v for name, v in values.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise LectureError(f"{kind.__name__} {entry!r:.80}: {error}") from None


def found(name: str) -> Any:
    """The object of a dotted name, whose beginning is a module; LectureError where there is none."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[n:]:
                thing = getattr(thing, part)
        except AttributeError:
            break
        return thing
    raise LectureError(f"{name} does not exist.")


# ------------------------------------------------------------------------------------------------- running it


@dataclass(frozen=True)
class Snippet:
    """Code of the table, with what runs before it."""

    name: str
    setup: str
    run: str
    data: str = ""


def snippets(table: Table) -> Iterator[Snippet]:
    """Everything that is run, in the order of the table."""
    for item in table.items.values():
        if item.run:
            yield Snippet(f"item {item.number}", table.lectures[item.lecture].setup, item.run, item.data)
    for one in table.loose.values():
        yield Snippet(f"loose.{one.key}", table.loose_setup, one.run, one.data)


def there(data: str) -> bool:
    """Whether a public data set is on this machine, or none is needed."""
    from perceptrons import datasets

    return not data or datasets.find(data) is not None


def differs(snippet: Snippet) -> str:
    """What is wrong with the outputs of a snippet; empty where nothing is."""
    return _tested(snippet.setup + "\n" + snippet.run, snippet.name)


def failures(table: Table) -> str:
    """What is wrong with all snippets whose data are on this machine."""
    return "".join(differs(one) for one in snippets(table) if there(one.data))


def _tested(source: str, name: str) -> str:
    test = doctest.DocTestParser().get_doctest(source + "\n", {}, name, str(TABLE), 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    told: list[str] = []
    with _examples_on_path():
        runner.run(test, out=told.append)
    return "".join(told)


@contextlib.contextmanager
def _examples_on_path() -> Iterator[None]:
    """Scripts of ``examples/`` can be imported, as in the gallery."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield
    finally:
        sys.path.remove(str(EXAMPLES))


def outputs(snippet: Snippet) -> str:
    """The lines of a snippet with the outputs that they have now."""
    parser = doctest.DocTestParser()
    names: dict[str, Any] = {}
    with _examples_on_path():
        for example in parser.get_examples(snippet.setup + "\n"):
            exec(compile(example.source, snippet.name, "single"), names)
        lines = []
        for example in parser.get_examples(snippet.run + "\n"):
            heads = [">>> ", *["... "] * example.source.count("\n")]
            lines += [(a + b).rstrip() for a, b in zip(heads, example.source.splitlines())]
            told = io.StringIO()
            try:
                with contextlib.redirect_stdout(told):
                    exec(compile(example.source, snippet.name, "single"), names)
            except Exception as error:
                raise LectureError(f"{snippet.name}: {example.source}{error!r}") from error
            lines += told.getvalue().splitlines()
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------- the pages


def pages(table: Table) -> dict[str, str]:
    """Markdown of every page by its name."""
    return {
        "index.md": _index(table),
        **{f"{key}.md": _lecture(table, lecture) for key, lecture in table.lectures.items()},
        "theorems.md": _theorems(table),
        "loose.md": _loose(table),
    }


def _role(name: str) -> str:
    thing = found(name)
    if inspect.ismodule(thing):
        kind = "mod"
    elif inspect.isclass(thing):
        kind = "class"
    elif inspect.isclass(found(name.rpartition(".")[0])):
        kind = "meth"
    else:
        kind = "func"
    return f"{{{kind}}}`{name.removeprefix('perceptrons.')} <{name}>`"


def _roles(names: tuple[str, ...]) -> str:
    return ", ".join(map(_role, names))


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _ref(item: Item) -> str:
    return f"[{item.number}. {item.title}](#lecture-item-{item.number})"


def _numbers(table: Table, numbers: tuple[int, ...]) -> str:
    return ", ".join(f"[{n}](#lecture-item-{table.items[n].number})" for n in numbers)


def _stored(data: str) -> list[str]:
    if there(data):
        return []
    return [f"*The data set {data} is not on the machine that built this page: the output is stored.*"]


def _picture(picture: str, title: str) -> str:
    """A page of the gallery, by its small picture, or an image."""
    if not picture.startswith("plot_"):
        return f"![{title}](../{picture})"
    page, thumb = f"../gallery/{picture}.rst", f"../gallery/images/thumb/sphx_glr_{picture}_thumb.png"
    return f"[![{_title(picture)}]({thumb})]({page})\n\n*Picture:* [{_title(picture)}]({page})"


def _title(script: str) -> str:
    """The title of a script of the gallery: the first line of its docstring."""
    text = (EXAMPLES / f"{script}.py").read_text(encoding="utf-8")
    return next(line for line in text.split('"""')[1].splitlines() if line.strip())


def _words(item: Item) -> list[str]:
    return [word.removeprefix("!") for word in item.also]


def _item(table: Table, item: Item) -> str:
    parts = [f"(lecture-item-{item.number})=\n### {item.number}. {item.title}", item.words]
    if item.also:
        entries = ", ".join(word.replace("!", "! ") for word in item.also)
        parts.insert(0, f"```{{index}} {entries}\n```")
        parts.append(f"*Keywords:* {', '.join(_words(item))}.")
    if item.calls:
        parts.append(f"**In the library:** {_roles(item.calls)}.")
    if item.run:
        parts += [_code(item.run), *_stored(item.data)]
    if item.theirs:
        parts.append(f"| the lecture | here |\n|---|---|\n| {item.theirs} | {item.ours} |")
    if item.numbers:
        head, *rows = (f"| {' | '.join(row)} |" for row in item.numbers)
        parts.append("\n".join([head, "|---" * len(item.numbers[0]) + "|", *rows]))
    if item.out_of_scope:
        parts.append(f"**Not in the library.** {item.out_of_scope}")
    if item.note:
        parts.append(f"**Note.** {item.note}")
    if item.see:
        parts.append(f"See also {'; '.join(_ref(table.items[n]) for n in item.see)}.")
    if item.picture:
        parts.append(_picture(item.picture, item.title))
    return "\n\n".join(parts)


def _lecture(table: Table, lecture: Lecture) -> str:
    parts = [MARK + f"(lecture-{lecture.key})=\n# {lecture.title}", lecture.source, lecture.about]
    numbers = f"Items {lecture.first} to {lecture.last}, in the order of the lecture."
    parts.append(f"{numbers} The lines of each item run after these:")
    parts.append(_code(lecture.setup))
    for item in table.items.values():
        if item.lecture == lecture.key:
            parts += [f"## {item.section}"] if item.section else []
            parts.append(_item(table, item))
    return "\n\n".join(parts) + "\n"


def _theorems(table: Table) -> str:
    parts = [
        MARK + "(theorem-index)=\n# Theorem index",
        "Each theorem by its name: what it says, the function that computes its bound or checks it, and the "
        "items of the [lectures](index.md) that state it. R is the length of the longest row, γ a margin "
        "that some vector of length 1 has on all rows, M a number of mistakes. "
        f"{_role('perceptrons.certify')} evaluates the theorems of a learner on its own run.",
    ]
    rows: list[str] = []
    for one in table.theorems:
        if one.section:
            parts += ["\n".join(rows)] if rows else []
            parts.append(f"## {one.section}")
            rows = ["| theorem | what it says | function | lecture item |", "|---|---|---|---|"]
        where = _numbers(table, one.items) if one.items else "–"
        rows.append(f"| {one.name} | {one.bound} | {_roles(one.calls)} | {where} |")
    parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _loose(table: Table) -> str:
    parts = [
        MARK + "(loose-slides)=\n# Where the slides are loose",
        "Sentences of the five lectures that do not hold as they stand, or hold only under a condition that "
        "the slide leaves out. Each has a run that shows it. The lines run after these:",
        _code(table.loose_setup),
    ]
    for one in table.loose.values():
        parts += [f"(loose-{one.key})=\n## {one.title}", f"**The slide:** {one.slide}", one.holds]
        parts += [f"**In the library:** {_roles(one.calls)}."] if one.calls else []
        parts += [_code(one.run), *_stored(one.data)]
        parts.append(f"Lecture items: {'; '.join(_ref(table.items[n]) for n in one.items)}.")
    return "\n\n".join(parts) + "\n"


def _index(table: Table) -> str:
    parts = [
        MARK + "(lectures)=\n# The lectures",
        "You hold a lecture on the perceptron and look for its theorem, its algorithm or its picture. Each "
        "item of five lectures has an entry, in the order of the lecture: what the lecture says, the call "
        "that does it, a few lines that were run when this page was built, and the picture. Items that are "
        "not in the library say so.",
    ]
    rows = ["| lecture | items |", "|---|---|"]
    rows += [
        f"| [{one.title}]({one.key}.md) <br> {one.source} | {one.first} to {one.last} |"
        for one in table.lectures.values()
    ]
    parts.append("\n".join(rows))
    parts.append(
        "The [theorem index](theorems.md) goes from the name of a theorem to its bound and its function. "
        "[Where the slides are loose](loose.md) lists sentences that need a condition, each with a run."
    )
    parts.append("## Words of the lectures")
    words: dict[str, list[Item]] = {}
    for item in table.items.values():
        for word in _words(item):
            words.setdefault(word, []).append(item)
    entries = sorted(words, key=lambda word: re.sub(r"\W", "", word).casefold())
    parts.append("\n".join(f"* {word}: {'; '.join(map(_ref, words[word]))}" for word in entries))
    names = "\n".join([*table.lectures, "theorems", "loose"])
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def write(table: Table, folder: Path) -> None:
    """Write the pages; one that has not changed keeps its time, so that Sphinx does not read it again."""
    for name, text in pages(table).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# ------------------------------------------------------------------------------------------ Sphinx, the shell


def build(app: Any) -> None:
    """Run the table and write its pages, before Sphinx looks for pages."""
    table = read()
    if os.environ.get("PERCEPTRONS_GALLERY", "1") != "0":
        wrong = failures(table)
        if wrong:
            raise LectureError(wrong)
    write(table, Path(app.srcdir) / "lectures")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def refreshed(table: Table) -> str:
    """The text of the table with the outputs of now."""
    text = table.text
    for one in snippets(table):
        if there(one.data):
            text = text.replace(f"'''\n{one.run}\n'''", f"'''\n{outputs(one)}\n'''", 1)
    return text


def main(arguments: list[str]) -> int:
    table = read()
    if arguments == ["--write"]:
        TABLE.write_text(refreshed(table), encoding="utf-8")
        return 0
    wrong = failures(table)
    print(wrong, end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
