"""The search of the built manual, without a browser: the index of a page, ranked as its script ranks it.

A translation of ``_performSearch`` of Sphinx's ``searchtools.js``, function by function, with the scores of
``docs/_ext/scorer.js``. ``test_search.py`` compares the two in a browser.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

from sphinx.search.en import SearchEnglish

# a result: page, title, anchor, description, score, file; as the script has it
Result = tuple[str, str, str, str | None, float, str]


class Scores(NamedTuple):
    """The numbers of ``scorer.js``."""

    numbers: dict[str, float]
    priorities: dict[int, float]
    fractions: dict[str, float]

    @classmethod
    def read(cls, path: Path) -> Scores:
        text = path.read_text(encoding="utf-8")
        numbers = {name: float(value) for name, value in re.findall(r"^  (\w+): (-?\d+),$", text, re.M)}
        priorities = re.search(r"objPrio: \{(.*?)\}", text)
        fractions = re.search(r"fractions: (\{.*?\})", text, re.S)
        assert priorities and fractions
        pairs = re.findall(r"(\d+): (-?\d+)", priorities[1])
        return cls(numbers, {int(a): float(b) for a, b in pairs}, json.loads(fractions[1]))

    def final(self, page: str, score: float) -> float:
        return score + next((more for start, more in self.fractions.items() if page.startswith(start)), 0.0)


def as_written(value: float) -> int:
    """JavaScript's ``Math.round``."""
    return math.floor(value + 0.5)


class Search:
    """The index of a built manual."""

    def __init__(self, built: Path, scorer: Path):
        text = (built / "searchindex.js").read_text(encoding="utf-8")
        self.index: dict[str, Any] = json.loads(
            text.removeprefix("Search.setIndex(").rstrip().removesuffix(")")
        )
        self.language = SearchEnglish({})
        self.scores = Scores.read(scorer)
        self.titles: list[str] = self.index["titles"]
        self.pages: list[str] = self.index["docnames"]
        self.files: list[str] = self.index["filenames"]

    def __call__(self, query: str) -> list[Result]:
        """All results, the first one first."""
        lowered = query.lower().strip()
        split = re.findall(r"\w+", query.strip())
        terms = dict.fromkeys(
            self.language.stem(word)
            for word in split
            if word.lower() not in self.language.stopwords and not word.isdecimal()
        )
        objects = dict.fromkeys(word.lower() for word in split)
        main, other = self.index_entries(lowered)
        normal = self.title_matches(lowered) + main
        for term in objects:
            normal += self.object_matches(term, objects)
        normal += self.text_matches(list(terms))
        ordered = [*self.ordered(normal), *self.ordered(other)]
        seen: set[tuple[Any, ...]] = set()
        unique = []
        for result in ordered:
            key = (*result[:4], result[5])
            if key not in seen:
                seen.add(key)
                unique.append(result)
        return unique

    def found(self, query: str) -> list[str]:
        """The pages, each once."""
        return list(dict.fromkeys(result[0] for result in self(query)))

    def ordered(self, results: list[Result]) -> list[Result]:
        """By score, then by title; what was found later first, where both are equal."""
        scored = [(*r[:4], self.scores.final(r[0], r[4]), r[5]) for r in results]
        by_title = sorted(reversed(scored), key=lambda result: result[1].lower())
        return sorted(by_title, key=lambda result: -result[4])

    def title_matches(self, query: str) -> list[Result]:
        results: list[Result] = []
        for title, places in self.index["alltitles"].items():
            if query in title.lower().strip() and len(query) >= len(title) / 2:
                for file, anchor in places:
                    own = self.titles[file] == title
                    score = as_written(self.scores.numbers["title"] * len(query) / len(title)) + own
                    shown = title if own else f"{self.titles[file]} > {title}"
                    results.append(
                        (
                            self.pages[file],
                            shown,
                            f"#{anchor}" if anchor else "",
                            None,
                            score,
                            self.files[file],
                        )
                    )
        return results

    def index_entries(self, query: str) -> tuple[list[Result], list[Result]]:
        main: list[Result] = []
        other: list[Result] = []
        for entry, places in self.index["indexentries"].items():
            if query in entry and len(query) >= len(entry) / 2:
                score = as_written(100 * len(query) / len(entry))
                for file, anchor, is_main in places:
                    anchor = f"#{anchor}" if anchor else ""
                    found = (self.pages[file], self.titles[file], anchor, None, score, self.files[file])
                    (main if is_main else other).append(found)
        return main, other

    def object_matches(self, term: str, terms: dict[str, None]) -> list[Result]:
        results: list[Result] = []
        for prefix, members in self.index["objects"].items():
            for file, kind, priority, anchor, name in members:
                full = f"{prefix}.{name}" if prefix else name
                last = full.lower().rpartition(".")[2]
                if term not in full.lower():
                    continue
                score = 0.0
                if full.lower() == term or last == term:
                    score = self.scores.numbers["objNameMatch"]
                elif term in last:
                    score = self.scores.numbers["objPartialMatch"]
                _, type_name, shown = self.index["objnames"][str(kind)]
                haystack = f"{prefix} {name} {shown} {self.titles[file]}".lower()
                if any(one not in haystack for one in terms if one != term):
                    continue
                place = {"": full, "-": f"{type_name}-{full}"}.get(anchor, anchor)
                score += self.scores.priorities.get(priority, self.scores.numbers["objPrioDefault"])
                described = f"{shown}, in {self.titles[file]}"
                results.append((self.pages[file], full, f"#{place}", described, score, self.files[file]))
        return results

    def text_matches(self, terms: list[str]) -> list[Result]:
        numbers = self.scores.numbers
        score_of: dict[int, dict[str, float]] = {}
        for word in terms:
            in_text, in_titles = self.index["terms"], self.index["titleterms"]
            matches = [
                (known, word, numbers[kind]) for known, kind in ((in_text, "term"), (in_titles, "title"))
            ]
            if len(word) > 2:
                for known, kind in ((in_text, "partialTerm"), (in_titles, "partialTitle")):
                    parts = [one for one in known if word in one] if word not in known else []
                    matches += [(known, one, numbers[kind]) for one in parts]
            for known, match, score in matches:  # a later match replaces an earlier one
                files = known.get(match, [])
                for file in files if isinstance(files, list) else [files]:
                    score_of.setdefault(file, {})[word] = score
        long_terms = sum(len(term) > 2 for term in terms)
        return [
            (self.pages[file], self.titles[file], "", None, max(scores.values()), self.files[file])
            for file, scores in score_of.items()
            if len(scores) in (len(terms), long_terms)
        ]
