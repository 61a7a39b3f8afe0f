"""The lab in a notebook: the same page, with messages where the server has addresses.

A message of the page is ``{"id", "ask", "body"}``, where ``ask`` is ``catalog``, ``run`` or ``table``. The
answer has the same ``id`` and either ``answer``, what the server would send, or ``error``, one sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .catalog import catalog
from .runs import run
from .scenes import scene_from, table

STATIC = Path(__file__).with_name("static")


class LabWidget(anywidget.AnyWidget):
    """The lab as a widget; `perceptrons.plots.lab` makes one."""

    _esm = STATIC / "lab.js"
    _css = STATIC / "lab.css"

    #: what the page starts with; None: its own first scene
    scene = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    height = traitlets.Int(760).tag(sync=True)  #: in pixels
    theme = traitlets.Unicode("auto").tag(sync=True)  #: "light", "dark", or "auto"

    def __init__(self, scene: dict[str, Any] | None = None, height: int = 760, theme: str = "auto"):
        super().__init__(scene=scene, height=height, theme=theme)
        self.on_msg(self._reply)

    def _reply(self, _: Any, message: Any, buffers: Any) -> None:
        if isinstance(message, dict) and "id" in message:
            self.send({"id": message["id"], **answer(message.get("ask"), message.get("body"))})


def answer(ask: object, body: Any) -> dict[str, Any]:
    """What a message asks for, or why there is no answer."""
    try:
        if ask == "catalog":
            return {"answer": catalog()}
        if ask == "run":
            return {"answer": run(scene_from(body))}
        if ask == "table":
            fields = body if isinstance(body, dict) else {}
            return {"answer": table(fields.get("text", ""), fields.get("columns"))}
    except ValueError as error:
        return {"error": str(error)}
    return {"error": "The lab answers to catalog, run and table."}
