"""Draw the packages in their layers, and their imports: ``python tools/architecture.py [--check]``.

Layers are those of the first import contract in pyproject.toml, arrows those of the import graph. An arrow
is left out where other arrows lead from the same package to the same package. ``--check`` writes nothing and
returns 1 where the stored picture is not the one that the graph gives.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "img" / "architecture.svg"

#: what the box of a package, or of a module that is none, says
HOLDS = {
    "cli": "the commands",
    "demo": "the table of make demo",
    "lab": "runs for a live page",
    "plots": "pictures, by matplotlib",
    "mixing": "one model from many shards",
    "tuning": "the choice of parameters",
    "proofs": "certify, separability, advice",
    "models": "model files, checkpoints, ONNX",
    "text": "raw text to hashed rows",
    "estimators": "scikit-learn's contract",
    "datasets": "toy sets, generators, loaders",
    "core": "learners without scikit-learn",
    "io": "readers, streams, fit_stream",
    "engine": "intake, spaces, compiled loops",
    "theorems": "which bound a learner has",
    "certificates": "evidence, claims, checker",
    "rules": "update rules",
    "kernels": "kernels that compose",
    "rows": "dense, sparse, kernel rows",
    "theory": "bounds, margins, run record",
    "reference": "each algorithm in plain NumPy",
    "preprocessing": "buckets, categories, scaling",
    "rule_table": "facts about each rule",
    "user_rule": "rules from outside",
    "_sparse": "sparse matrices",
    "_deferred": "imports put off",
    "_garbage": "no garbage collection",
    "_types": "types with names",
}

BOX_HEIGHT, ROW_HEIGHT, PADDING = 40, 88, 22
NAME_SIZE, NAME_WIDTH = 14, 8.43  # a letter of a monospaced font is 0.6 em wide
HELD_SIZE, HELD_WIDTH = 11, 6.3  # DejaVu Sans is about the widest of the usual sans-serif fonts
GAP, LINE_GAP, SWEEPS = 26, 18, 40

Edge = tuple[str, str]


# ------------------------------------------------------------ the graph


def contract(project: dict[str, Any]) -> tuple[list[list[str]], set[str]]:
    """The packages of each layer, from the top, and modules that have no layer."""
    first = project["tool"]["importlinter"]["contracts"][0]
    return [re.findall(r"\w+", layer) for layer in first["layers"]], set(first["exhaustive_ignores"])


def package_imports(root: str, settings: dict[str, Any]) -> tuple[set[str], set[Edge]]:
    """The packages below the root, and which of them imports which."""
    import grimp

    graph = grimp.build_graph(
        root, exclude_type_checking_imports=settings["exclude_type_checking_imports"], cache_dir=None
    )

    def top(module: str) -> str:
        return module.split(".")[1] if "." in module else ""

    pairs = {
        (top(module), top(other))
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
    }
    return {top(child) for child in graph.find_children(root)}, {
        (a, b) for a, b in pairs if a != b and a and b
    }


def reachable(edges: set[Edge], start: str) -> set[str]:
    """What a path of one edge or more leads to."""
    found: set[str] = set()
    todo = [b for a, b in edges if a == start]
    while todo:
        package = todo.pop()
        if package not in found:
            found.add(package)
            todo += [b for a, b in edges if a == package]
    return found


def reduced(edges: set[Edge]) -> set[Edge]:
    """Without edges that a path of several others replaces; ValueError where packages import each other."""
    beyond = {a: reachable(edges, a) for a, _ in edges}
    circle = sorted(a for a in beyond if a in beyond[a])
    if circle:
        raise ValueError(f"packages import each other in a circle: {', '.join(circle)}")
    next_to: dict[str, set[str]] = {}
    for a, b in edges:
        next_to.setdefault(a, set()).add(b)
    return {
        (a, b) for a, b in edges if not any(b in beyond.get(other, ()) for other in next_to[a] if other != b)
    }


# ------------------------------------------------------------ the layout

#: A package, or the place where a line crosses the row of a layer: (from, to, row)
Node = str | tuple[str, str, int]


def width(node: Node) -> float:
    """How wide the box of a package is; a line is one pixel wide."""
    if not isinstance(node, str):
        return 1.0
    return 20.0 + max(NAME_WIDTH * len(node), HELD_WIDTH * len(HOLDS[node]))


def chains(rows: list[list[str]], edges: Iterable[Edge]) -> list[list[Node]]:
    """For each edge the nodes of its line, one in each row; ValueError where an edge does not go down."""
    at = {package: i for i, row in enumerate(rows) for package in row}
    upwards = [f"{a} imports {b}" for a, b in sorted(edges) if at[a] >= at[b]]
    if upwards:
        raise ValueError(f"imports must go to lower layers: {', '.join(upwards)}")
    return [[a, *((a, b, i) for i in range(at[a] + 1, at[b])), b] for a, b in sorted(edges)]


def crossings(order: list[list[Node]], links: set[tuple[Node, Node]]) -> int:
    """How often lines cross between rows that follow each other."""
    place = {node: i for row in order for i, node in enumerate(row)}
    row_of = {node: i for i, row in enumerate(order) for node in row}
    total = 0
    for i in range(len(order) - 1):
        ends = sorted((place[a], place[b]) for a, b in links if row_of[a] == i)
        total += sum(p < q and r > s for j, (p, r) in enumerate(ends) for q, s in ends[j + 1 :])
    return total


def ordered(rows: list[list[str]], lines: list[list[Node]]) -> list[list[Node]]:
    """The nodes of each row from left to right: with few crossings, then with short lines."""
    order: list[list[Node]] = [list(row) for row in rows]
    for line in lines:
        for node in line[1:-1]:
            order[node[2]].append(node)  # type: ignore[index]  # only the ends are packages
    links = {link for line in lines for link in pairwise(line)}
    best, least = [list(row) for row in order], crossings(order, links)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for i in range(1, len(order)) if down else range(len(order) - 2, -1, -1):
            row = order[i - 1 if down else i + 1]
            beside = {node: j / len(row) for j, node in enumerate(row)}
            mean = {}
            for j, node in enumerate(order[i]):
                near = sorted(beside[a if down else b] for a, b in links if (b if down else a) == node)
                mean[node] = sum(near) / len(near) if near else j / len(order[i])
            order[i].sort(key=mean.__getitem__)
        found = crossings(order, links)
        if found < least:
            best, least = [list(row) for row in order], found
    return exchanged(best, lines, links)


def exchanged(
    order: list[list[Node]], lines: list[list[Node]], links: set[tuple[Node, Node]]
) -> list[list[Node]]:
    """Exchange neighbours as long as that makes fewer crossings or shorter lines."""

    def badness() -> tuple[int, float]:
        x = placed(order, lines, sweeps=4)
        return crossings(order, links), sum(abs(x[a] - x[b]) for a, b in sorted(links, key=repr))

    least, better = badness(), True
    while better:
        better = False
        for row in order:
            for j in range(len(row) - 1):
                row[j], row[j + 1] = row[j + 1], row[j]
                found = badness()
                if found < least:
                    least, better = found, True
                else:
                    row[j], row[j + 1] = row[j + 1], row[j]
    return order


def spaced(row: list[Node], wanted: list[float], weights: list[float]) -> list[float]:
    """Centres near those wanted, in this order, with space between boxes: weighted least squares."""
    offset = [0.0]
    for a, b in pairwise(row):
        both = isinstance(a, str) or isinstance(b, str)
        offset.append(offset[-1] + (width(a) + width(b)) / 2 + (GAP if both else LINE_GAP))
    blocks: list[tuple[float, float, int]] = []  # weighted sum, weight and length of runs without play
    for centre, weight, away in zip(wanted, weights, offset, strict=True):
        blocks.append((weight * (centre - away), weight, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last, before = blocks.pop(), blocks.pop()
            blocks.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    means = [total / weight for total, weight, count in blocks for _ in range(count)]
    return [mean + away for mean, away in zip(means, offset, strict=True)]


def placed(order: list[list[Node]], lines: list[list[Node]], sweeps: int = SWEEPS) -> dict[Node, float]:
    """The centre of each node; a line that crosses several rows is nearly straight."""
    near: dict[Node, list[tuple[Node, float]]] = {node: [] for row in order for node in row}
    for a, b in dict.fromkeys(link for line in lines for link in pairwise(line)):
        stiff = (1.0, 2.0, 8.0)[(not isinstance(a, str)) + (not isinstance(b, str))]
        near[a].append((b, stiff))
        near[b].append((a, stiff))
    weights = [[sum(stiff for _, stiff in near[node]) or 0.01 for node in row] for row in order]
    x: dict[Node, float] = {}
    for row, weight in zip(order, weights, strict=True):
        x.update(zip(row, spaced(row, [0.0] * len(row), weight), strict=True))
    both = list(zip(order, weights, strict=True))
    for row, weight in sweeps * [*both, *reversed(both)]:
        wanted = [
            sum(stiff * x[other] for other, stiff in near[node]) / total if near[node] else x[node]
            for node, total in zip(row, weight, strict=True)
        ]
        x.update(zip(row, spaced(row, wanted, weight), strict=True))
    return x


# ------------------------------------------------------------ the picture


def svg(rows: list[list[str]], edges: set[Edge]) -> str:
    """The picture of packages in rows and of edges that go down."""
    lines = chains(rows, edges)
    order = ordered(rows, lines)
    x = placed(order, lines)
    left = min(x[node] - width(node) / 2 for row in order for node in row) - PADDING
    x = {node: centre - left for node, centre in x.items()}
    right = round(max(x[node] + width(node) / 2 for row in order for node in row) + PADDING)
    top = {node: PADDING + ROW_HEIGHT * i for i, row in enumerate(order) for node in row}
    height = 2 * PADDING + ROW_HEIGHT * (len(order) - 1) + BOX_HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {height}" width="{right}" '
        f'height="{height}" role="img">',
        "<title>Packages and their imports</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0.5L8 4L0 7.5Z" fill="#808080"/></marker></defs>',
        '<g fill="#808080" fill-opacity="0.1">',
    ]
    for i in range(len(order)):
        out.append(
            f'<rect x="0" y="{PADDING + ROW_HEIGHT * i - 10}" width="{right}" height="{BOX_HEIGHT + 20}"/>'
        )
    out.append('</g>\n<g fill="none" stroke="#808080" stroke-width="1.5">')
    for line in lines:
        out.append(f'<path d="{path(line, lines, x, top)}" marker-end="url(#head)"/>')
    out.append('</g>\n<g fill="#f4f4f4" stroke="#606060">')
    packages = [node for row in order for node in row if isinstance(node, str)]
    for package in packages:
        wide = width(package)
        out.append(
            f'<rect x="{x[package] - wide / 2:.1f}" y="{top[package]}" width="{wide:.1f}" '
            f'height="{BOX_HEIGHT}" rx="5"/>'
        )
    out.append(
        f'</g>\n<g fill="#1a1a1a" text-anchor="middle" font-family="ui-monospace, Menlo, Consolas, '
        f'\'DejaVu Sans Mono\', monospace" font-size="{NAME_SIZE}" font-weight="bold">'
    )
    out += [
        f'<text x="{x[package]:.1f}" y="{top[package] + 17}">{escape(package)}</text>' for package in packages
    ]
    out.append(
        f'</g>\n<g fill="#404040" text-anchor="middle" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="{HELD_SIZE}">'
    )
    out += [
        f'<text x="{x[package]:.1f}" y="{top[package] + 32}">{escape(HOLDS[package], quote=False)}</text>'
        for package in packages
    ]
    return "\n".join([*out, "</g>", "</svg>", ""])


def port(line: list[Node], lines: list[list[Node]], x: dict[Node, float], end: int) -> float:
    """Where a line leaves its first package (end 0) or enters its last (end -1)."""
    package, step = line[end], 1 if end == 0 else -2
    beside = sorted(
        (other for other in lines if other[end] == package), key=lambda one: (x[one[step]], repr(one))
    )
    part = (beside.index(line) + 1) / (len(beside) + 1)
    return x[package] + (part - 0.5) * min(width(package), 36.0 * len(beside))


def path(line: list[Node], lines: list[list[Node]], x: dict[Node, float], top: dict[Node, int]) -> str:
    """A line that goes down, straight through rows and bent between them."""
    at, down = port(line, lines, x, 0), top[line[0]] + BOX_HEIGHT
    out = [f"M{at:.1f} {down}"]
    for node in line[1:]:
        last = node is line[-1]
        to, middle = port(line, lines, x, -1) if last else x[node], (down + top[node]) / 2
        out.append(f"C{at:.1f} {middle:g} {to:.1f} {middle:g} {to:.1f} {top[node]}")
        at, down = to, top[node] + BOX_HEIGHT
        if not last:
            out.append(f"V{down}")
    return "".join(out)


def picture() -> str:
    """The picture of this repository."""
    sys.path.insert(0, str(ROOT / "src"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = project["tool"]["importlinter"]
    layers, without = contract(project)
    packages, edges = package_imports(settings["root_package"], settings)
    packages -= without
    unknown = packages - {package for layer in layers for package in layer}
    if unknown or not packages <= HOLDS.keys():
        missing = ", ".join(sorted(unknown or packages - HOLDS.keys()))
        raise ValueError(f"give these packages a layer in pyproject.toml and a line of HOLDS: {missing}")
    rows = [[package for package in layer if package in packages] for layer in layers]
    return svg([row for row in rows if row], reduced({(a, b) for a, b in edges if {a, b} <= packages}))


def main(arguments: list[str]) -> int:
    """Write the picture, or check the one that is stored."""
    try:
        made = picture().encode()
    except ValueError as error:
        print(f"No picture: {error}.")
        return 1
    if "--check" not in arguments:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes(made)
        return 0
    if PICTURE.is_file() and PICTURE.read_bytes() == made:
        return 0
    print(f"docs/img/{PICTURE.name} is not what the imports give: run python tools/architecture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
