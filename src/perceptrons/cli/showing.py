"""``perceptrons demo``."""

from __future__ import annotations

from . import printing


def demo(as_json: bool) -> int:
    """Run the demonstration, as ``make demo`` does."""
    from .. import demo as shown

    if not as_json:
        shown.main()
        return 0
    groups = [
        {"title": task.title, "learners": [row._asdict() for row in shown.run(task)]}
        for task in shown.tasks()
    ]
    printing.document({"groups": groups, "theorems": shown.THEOREMS})
    return 0
