"""Reuters-21578: news in SGML, with topics."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

_STORY = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Story(NamedTuple):
    """One piece of news."""

    number: int  #: its NEWID
    split: str  #: "train", "test", or "" when the split leaves it out
    topics: tuple[str, ...]
    text: str


def stories(sgml: str) -> Iterator[Story]:
    """The stories of one file, each with its side of the ModApte split.

    ModApte trains on the stories with LEWISSPLIT="TRAIN" and TOPICS="YES" and tests on those with
    LEWISSPLIT="TEST" and TOPICS="YES"; all others are left out. Every pattern ends at the first closing tag,
    so that the time is proportional to the text.
    """
    for match in _STORY.finditer(sgml):
        attributes, content = dict(_ATTRIBUTE.findall(match[1])), match[2]
        if not attributes.get("NEWID", "").isdecimal():
            raise ValueError(f"A story of Reuters-21578 has no number: {match[0][:80]!r}.")
        split = attributes.get("LEWISSPLIT", "").lower()
        used = attributes.get("TOPICS") == "YES" and split in ("train", "test")
        topics = _TOPICS.search(content)
        yield Story(
            number=int(attributes["NEWID"]),
            split=split if used else "",
            topics=tuple(_TOPIC.findall(topics[1])) if topics else (),
            text=_text(content),
        )


def _text(content: str) -> str:
    """Title and body; a story that has neither mark is all text."""
    parts = [found[1] for pattern in (_TITLE, _BODY) if (found := pattern.search(content))]
    if not parts and (whole := _TEXT.search(content)):
        parts = [_TAG.sub(" ", whole[1])]
    return html.unescape("\n".join(parts)).strip()  # control characters such as &#3; become nothing
